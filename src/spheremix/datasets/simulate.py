"""Simulated data whose difficulty is known.

The simulator is the one of the paper's section 4.1. Its difficulty is the overlap: the error rate
of crisp assignment by the true parameters. It is governed by one number, the base kappa, which
`calibrate_kappa` finds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import brentq

from spheremix.bessel import log_normalizer
from spheremix.distribution import (
    RandomSource,
    VonMisesFisher,
    as_generator,
    cosine_proposal,
    gamma_odds,
)
from spheremix.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Source = np.random.Generator | np.random.RandomState

_CANDIDATES = 20  # per component: the means are chosen among that many directions
_KAPPA_SPREAD = 0.025  # relative standard deviation of the kappas around their base
_TRIES = 1000  # to draw zeros that leave the means distinct
_DISTINCT = 1e-9  # 1 - cosine of two means that count as distinct
_POINTS = 1 << 14  # numbers per configuration in a calibration
_LOG_KAPPA_LIMIT = 20.0  # below the exponential of minus this, a base kappa is noise
_EVENTS = 10  # errors that a calibration must be able to expect


@dataclass(frozen=True, slots=True, eq=False)
class MixtureTruth:
    """The mixture that a simulated sample was drawn from.

    Attributes
    ----------
    prototypes : ndarray of shape (K, d)
        Mean directions.
    kappas : ndarray of shape (K,)
        Concentrations, rescaled by the separation of the means.
    weights : ndarray of shape (K,)
        Mixing proportions.
    base_kappa : float
        The concentration before the spread and the rescaling.
    overlap : float
        Error rate of crisp assignment by these parameters on the sample itself.
    """

    prototypes: NDArray[np.float64]
    kappas: NDArray[np.float64]
    weights: NDArray[np.float64]
    base_kappa: float
    overlap: float


def make_vmf_mixture(
    n_samples: int = 500,
    n_features: int = 10,
    n_components: int = 4,
    *,
    overlap: float = 0.05,
    sparsity: float = 0.0,
    kappa: float | None = None,
    weights: ArrayLike | None = None,
    random_state: RandomSource = None,
) -> tuple[NDArray[np.float64], NDArray[np.intp], MixtureTruth]:
    """Draw a sample of a von Mises-Fisher mixture of given overlap and sparsity.

    Parameters
    ----------
    n_samples, n_features, n_components : int
        Rows, columns (at least 2) and components (at least 1).
    overlap : float, default=0.05
        Wanted error rate of crisp assignment by the true parameters, a mean over samples: the
        one reached by this sample is in the truth. Not used when ``kappa`` is given.
    sparsity : float, default=0.0
        Rate of zeros in the table of means, in [0, 1).
    kappa : float, default=None
        Base concentration, > 0, instead of the one found by `calibrate_kappa` from ``overlap``.
        A single component overlaps with nothing: it must be given then.
    weights : array-like of shape (n_components,), default=None
        Mixing proportions, > 0, normalised here; None is balanced. Labels are drawn from them.
    random_state : int, numpy Generator, RandomState or None, default=None
        Source of the draws. The calibration does not depend on it.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Rows of norm 1.
    labels : ndarray of shape (n_samples,)
        Components of the rows.
    truth : MixtureTruth

    Notes
    -----
    1. ``20 n_components`` directions are drawn uniformly; starting from one of them, the
       direction whose largest inner product with those already chosen is smallest is added.
    2. Zeros are drawn over the whole table, never the last number of a mean, and redrawn if two
       means coincide; the means are normalised again.
    3. ``kappa_k`` is Gaussian around the base kappa, with 2.5 % of it as standard deviation.
    4. ``kappa_k`` is multiplied by ``2 / (1 - max_l <mu_k, mu_l>)``, with the final means, if
       there are several.

    Examples
    --------
    >>> from spheremix.datasets import make_vmf_mixture
    >>> X, labels, truth = make_vmf_mixture(100, 5, 2, kappa=20.0, random_state=0)
    >>> X.shape, labels.shape, truth.kappas.shape
    ((100, 5), (100,), (2,))
    """
    if n_samples < 1:
        raise ParameterError("{n_samples} must be at least 1, got {got}", got=n_samples)
    alpha = mixing_proportions(n_components, weights)
    check_shape(n_features, n_components, sparsity)
    if kappa is None:
        kappa = calibrate_kappa(
            n_features, n_components, overlap, sparsity=sparsity, weights=weights
        )
    elif not (np.isfinite(kappa) and kappa > 0):
        raise ParameterError("{kappa} must be finite and > 0, got {got}", got=kappa)
    rng = as_generator(random_state)
    prototypes = draw_prototypes(rng, n_features, n_components, sparsity)
    kappas = kappa * draw_kappa_factors(rng, prototypes)
    labels = rng.choice(n_components, n_samples, p=alpha)
    X = np.empty((n_samples, n_features))
    for k in range(n_components):
        rows = np.flatnonzero(labels == k)
        X[rows] = VonMisesFisher(prototypes[k], kappas[k]).rvs(len(rows), rng)
    scores = X @ (kappas[:, None] * prototypes).T
    scores += np.log(alpha) + log_normalizer(n_features, kappas)
    reached = float(np.mean(scores.argmax(axis=1) != labels))
    return X, labels, MixtureTruth(prototypes, kappas, alpha, float(kappa), reached)


# The concentration at which components overlap as much as was asked for


def calibrate_kappa(
    n_features: int,
    n_components: int,
    overlap: float,
    *,
    sparsity: float = 0.0,
    weights: ArrayLike | None = None,
    n_draws: int = 200,
    random_state: int = 0,
) -> float:
    """Find the base kappa of `make_vmf_mixture` that gives a wanted overlap.

    Parameters
    ----------
    n_features, n_components : int
        Columns (at least 2) and components (at least 2).
    overlap : float
        Wanted error rate of crisp assignment by the true parameters (weights, kappas after the
        rescaling, means), averaged over draws of means, kappas and points.
    sparsity : float, default=0.0
        Rate of zeros in the table of means, in [0, 1).
    weights : array-like of shape (n_components,), default=None
        Mixing proportions; None is balanced.
    n_draws : int, default=200
        Configurations drawn.
    random_state : int, default=0
        Seed. Results are kept, so that asking again costs nothing.

    Returns
    -------
    float

    Notes
    -----
    The same random numbers serve all values of kappa, which makes the error rate a nearly
    continuous function of it. With the default number of draws and an overlap of a few per cent,
    the standard error of the result is a quarter of a per cent. The paper gives 17.34 and 15.09
    for overlaps of 2.5 and 5 % with 4 components in 100 dimensions, and 5.37 for 5 % in 10.

    Examples
    --------
    >>> from spheremix.datasets import calibrate_kappa
    >>> 14.8 < calibrate_kappa(100, 4, 0.05) < 15.4
    True
    """
    alpha = mixing_proportions(n_components, weights)
    if n_components == 1:
        raise ParameterError(
            "A single component overlaps with nothing",
            remedies=("give {kappa}", "raise {n_components}"),
        )
    check_shape(n_features, n_components, sparsity)
    if not 0 < overlap < 1:
        raise ParameterError("{overlap} must be in (0, 1), got {got}", got=overlap)
    if overlap >= 1 - alpha.max():
        raise ParameterError(
            f"{{overlap={overlap}}} cannot be reached: assigning every row to the largest "
            "component errs at a rate of {most}",
            remedies=("ask for less {overlap}",),
            most=f"{1 - alpha.max():.6g}",
        )
    if n_draws < 1:
        raise ParameterError("{n_draws} must be at least 1, got {got}", got=n_draws)
    n_points = n_draws * n_components * _points_per_component(n_components)
    if overlap * n_points < _EVENTS:
        raise ParameterError(
            f"{{overlap={overlap}}} is too rare for {{n}} simulated points",
            remedies=("ask for more {overlap}", "take {n_draws} of at least {least}"),
            n=n_points,
            least=int(np.ceil(n_draws * _EVENTS / (overlap * n_points))),
        )
    return _calibrated(
        d=n_features,
        n_components=n_components,
        overlap=overlap,
        sparsity=sparsity,
        alpha=tuple(alpha.tolist()),
        n_draws=n_draws,
        seed=random_state,
    )


@lru_cache(maxsize=256)
def _calibrated(
    *,
    d: int,
    n_components: int,
    overlap: float,
    sparsity: float,
    alpha: tuple[float, ...],
    n_draws: int,
    seed: int,
) -> float:
    rng = np.random.default_rng(seed)
    draws = _draw_configurations(rng, d, n_components, sparsity, n_draws)
    weights = np.array(alpha)

    def excess(log_kappa: float) -> float:
        return _error_rate(d, float(np.exp(log_kappa)), weights, draws) - overlap

    low = high = float(np.log(d))
    while excess(low) <= 0:
        low -= 1
        if low < -_LOG_KAPPA_LIMIT:
            raise ParameterError(
                f"{{overlap={overlap}}} is that of a kappa too close to 0",
                remedies=("ask for less {overlap}",),
            )
    while excess(high) >= 0:
        high += 1
    return float(np.exp(brentq(excess, low, high, xtol=1e-4)))


class _Configurations(NamedTuple):
    """Random numbers of B mixtures, in the span of their means: no more of a point is needed."""

    means: NDArray[np.float64]  # (B, K, r): coordinates of the means
    factors: NDArray[np.float64]  # (B, K): kappas for a base kappa of 1
    odds: NDArray[np.float64]  # (B, K, m): of the cosines
    tangents: NDArray[np.float64]  # (B, K, m, r): of unit vectors orthogonal to the mean


def _draw_configurations(
    rng: Source, d: int, n_components: int, sparsity: float, n_draws: int
) -> _Configurations:
    m = _points_per_component(n_components)
    r = min(n_components, d)
    means = np.empty((n_draws, n_components, r))
    factors = np.empty((n_draws, n_components))
    for i in range(n_draws):
        prototypes = draw_prototypes(rng, d, n_components, sparsity)
        factors[i] = draw_kappa_factors(rng, prototypes)
        means[i] = np.asarray(np.linalg.qr(prototypes.T, mode="r")).T
    tangents = rng.standard_normal((n_draws, n_components, m, r))
    tangents -= np.einsum("bkmr,bkr->bkm", tangents, means)[..., None] * means[:, :, None]
    squares = np.einsum("bkmr,bkmr->bkm", tangents, tangents)
    if d > r:  # the part of the Gaussian vector outside of the span
        squares += rng.chisquare(d - r, squares.shape)
    tangents /= np.sqrt(squares)[..., None]
    return _Configurations(means, factors, gamma_odds(rng, d, squares.shape), tangents)


def _error_rate(
    d: int, base_kappa: float, alpha: NDArray[np.float64], draws: _Configurations
) -> float:
    """Mean error rate of crisp assignment by the true parameters.

    The proposals of the rejection sampler are weighted by their acceptance probability, divided
    by its mean, which is known: smoother in kappa than accepting and rejecting, and unbiased.
    """
    kappas = base_kappa * draws.factors
    gap, log_accept = cosine_proposal(d, kappas[..., None], draws.odds)
    log_c = log_normalizer(d, kappas)
    centre, _ = cosine_proposal(d, kappas, np.ones_like(kappas))
    log_rate = (
        log_normalizer(d, 0.0)
        - log_c
        - kappas * (1 - centre)
        - (d - 1) / 2 * np.log(centre * (2 - centre))
    )
    weights = np.exp(log_accept - log_rate[..., None])
    points = np.sqrt(gap * (2 - gap))[..., None] * draws.tangents
    points += (1 - gap)[..., None] * draws.means[:, :, None]
    n_draws, n_components, m, r = points.shape
    scorers = (kappas[..., None] * draws.means).transpose(0, 2, 1)
    scores = points.reshape(n_draws, n_components * m, r) @ scorers
    scores += (log_c + np.log(alpha))[:, None]
    wrong = scores.argmax(axis=2).reshape(gap.shape) != np.arange(n_components)[:, None]
    return float((weights * wrong).mean(axis=(0, 2)) @ alpha)


def _points_per_component(n_components: int) -> int:
    """Bound the memory of a configuration, K m min(K, d) numbers, whatever K."""
    return max(2, _POINTS // (n_components * max(n_components, 16)))


# Means, concentrations and proportions of the components


def draw_prototypes(rng: Source, d: int, n_components: int, sparsity: float) -> NDArray[np.float64]:
    """Draw separated directions, then zeros in them."""
    candidates = _normalised(rng.standard_normal((_CANDIDATES * n_components, d)))
    chosen = [0]
    closest = candidates @ candidates[0]
    while len(chosen) < n_components:
        # A chosen candidate has inner product 1 with itself, so it is not chosen again.
        chosen.append(int(closest.argmin()))
        closest = np.maximum(closest, candidates @ candidates[chosen[-1]])
    prototypes = candidates[chosen]
    n_zeros = round(sparsity * n_components * d)
    if n_zeros == 0:
        return prototypes
    for _ in range(_TRIES):
        # The zeros are the smallest of random keys; the largest key of each row is safe.
        keys = rng.random((n_components, d))
        keys[np.arange(n_components), keys.argmax(axis=1)] = 1.0
        zeros = np.argpartition(keys, n_zeros - 1, axis=None)[:n_zeros]
        sparse = prototypes.copy()
        sparse.flat[zeros] = 0.0
        sparse = _normalised(sparse)
        if n_components == 1 or 1 - _largest_cosines(sparse).max() > _DISTINCT:
            return sparse
    raise ParameterError(
        f"{{sparsity={sparsity}}} makes some of {{K}} means coincide in {{d}} dimensions, "
        "{tries} times out of {tries}",
        remedies=("take a smaller {sparsity}",),
        K=n_components,
        d=d,
        tries=_TRIES,
    )


def draw_kappa_factors(rng: Source, prototypes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Kappas for a base kappa of 1: their spread, and the rescaling by separation."""
    factors = rng.normal(1.0, _KAPPA_SPREAD, len(prototypes))
    if len(prototypes) > 1:
        factors *= 2 / (1 - _largest_cosines(prototypes))
    return factors


def _largest_cosines(prototypes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inner product of each mean with its closest other."""
    products = prototypes @ prototypes.T
    np.fill_diagonal(products, -np.inf)
    largest: NDArray[np.float64] = products.max(axis=1)
    return largest


def _normalised(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    unit: NDArray[np.float64] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def check_shape(n_features: int, n_components: int, sparsity: float) -> None:
    """Refuse numbers of columns and zeros that no means can have."""
    if n_features < 2:
        raise ParameterError("{n_features} must be at least 2, got {got}", got=n_features)
    if not 0 <= sparsity < 1:
        raise ParameterError("{sparsity} must be in [0, 1), got {got}", got=sparsity)
    if round(sparsity * n_components * n_features) > n_components * (n_features - 1):
        raise ParameterError(
            f"{{sparsity={sparsity}}} leaves less than one number for each mean: with {{d}} "
            "features it can be {most} at most",
            d=n_features,
            most=f"{1 - 1 / n_features:.6g}",
        )


def mixing_proportions(n_components: int, weights: ArrayLike | None) -> NDArray[np.float64]:
    """Check the mixing proportions and make them sum to one; None is balanced."""
    if n_components < 1:
        raise ParameterError("{n_components} must be at least 1, got {got}", got=n_components)
    if weights is None:
        return np.full(n_components, 1 / n_components)
    alpha = np.asarray(weights, dtype=np.float64)
    if alpha.shape != (n_components,):
        raise ParameterError(
            "{weights} must have shape ({K},), got {shape}", K=n_components, shape=alpha.shape
        )
    if not (np.isfinite(alpha).all() and (alpha > 0).all()):
        raise ParameterError("{weights} must be finite and > 0")
    normalised: NDArray[np.float64] = alpha / alpha.sum()
    return normalised

"""The concentration at which simulated components overlap as much as was asked for."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import brentq

from spheremix.bessel import log_normalizer
from spheremix.datasets.components import (
    check_shape,
    draw_kappa_factors,
    draw_prototypes,
    mixing_proportions,
)
from spheremix.distribution import cosine_proposal, gamma_odds
from spheremix.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Source = np.random.Generator | np.random.RandomState

_POINTS = 1 << 14  # numbers per configuration in a calibration
_LOG_KAPPA_LIMIT = 20.0  # below the exponential of minus this, a base kappa is noise
_EVENTS = 10  # errors that a calibration must be able to expect


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

"""Means, concentrations and proportions of simulated components: section 4.1 of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spheremix.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Source = np.random.Generator | np.random.RandomState

_CANDIDATES = 20  # per component: the means are chosen among that many directions
_KAPPA_SPREAD = 0.025  # relative standard deviation of the kappas around their base
_TRIES = 1000  # to draw zeros that leave the means distinct
_DISTINCT = 1e-9  # 1 - cosine of two means that count as distinct


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

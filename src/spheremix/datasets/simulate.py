"""Simulated data whose difficulty is known.

The simulator is the one of the paper's section 4.1. Its difficulty is the overlap: the error rate
of crisp assignment by the true parameters. It is governed by one number, the base kappa, which
`calibrate_kappa` finds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spheremix.bessel import log_normalizer
from spheremix.datasets.calibration import calibrate_kappa
from spheremix.datasets.components import (
    check_shape,
    draw_kappa_factors,
    draw_prototypes,
    mixing_proportions,
)
from spheremix.distribution import RandomSource, VonMisesFisher, as_generator
from spheremix.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


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

"""Information criteria as pure functions; smaller is better."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

KappaMode = Literal["shared", "free", "given"]
Count = Literal["nonzero", "features", "dense"]
EBIC_GAMMA = 0.5


def prices(n: float, d: int) -> dict[str, float]:
    """Return phi(n, d), what a parameter costs, by criterion; n is a weight: 1 or less too."""
    return {
        "aic": 2.0,
        "bic": math.log(n),
        "ric": 2.0 * math.log(d),
        "ricc": 2.0 * (math.log(d) + math.log(math.log(d))),
        "ebic": math.log(n) + 2.0 * EBIC_GAMMA * math.log(d),
    }


CRITERIA = (*prices(1.0, 2), "icl")


def count_parameters(
    prototypes: NDArray[np.float64] | sparse.csr_array,
    kappa: KappaMode,
    count: Count = "nonzero",
) -> int:
    """Count the free parameters of a mixture.

    Parameters
    ----------
    prototypes : ndarray or CSR array of shape (K, d)
        With exact zeros.
    kappa : {"shared", "free", "given"}
        1, K or no concentration.
    count : {"nonzero", "features", "dense"}
        For each prototype: its non-zeros less one, and at least one (the paper's count); the
        features that any prototype uses, less one; or d - 1.

    Returns
    -------
    int
        Weights, concentrations and prototypes together.

    Examples
    --------
    Criteria of a fitted mixture with the count of R's movMF, d - 1 for each prototype:

    >>> import spheremix as sm
    >>> from spheremix.select import count_parameters, criteria
    >>> X, _, _ = sm.datasets.make_vmf_mixture(200, 6, 3, kappa=20.0, random_state=0)
    >>> mix = sm.VMFMixture(3, random_state=0).fit(X)
    >>> count_parameters(mix.prototypes_, "shared", "dense")
    18
    >>> found = criteria(mix.log_likelihood_, 18, n=200, d=6)
    >>> bool(abs(found["bic"] - mix.criteria_["bic"]) < 1e-9)  # no coordinate is zero here
    True
    """
    n_components, n_features = int(prototypes.shape[0]), int(prototypes.shape[1])
    support = prototypes if sparse.issparse(prototypes) else sparse.csr_array(prototypes)
    if count == "nonzero":
        sizes = np.diff(support.indptr)
    elif count == "features":
        sizes = np.full(n_components, len(np.unique(support.indices)))
    elif count == "dense":
        sizes = np.full(n_components, n_features)
    else:
        raise ValueError(f"count must be 'nonzero', 'features' or 'dense', got {count!r}")
    return int(count_from_sizes(sizes, kappa))


def count_from_sizes(sizes: NDArray[np.integer], kappa: KappaMode) -> Any:
    """Count the free parameters from the numbers of coordinates of the prototypes.

    Parameters
    ----------
    sizes : ndarray of int of shape (..., K)
        Coordinates of each prototype, of one mixture or of many.
    kappa : {"shared", "free", "given"}
        1, K or no concentration.

    Returns
    -------
    int or ndarray of int
        One number a mixture.
    """
    n_components = sizes.shape[-1]
    kappas = {"shared": 1, "free": n_components, "given": 0}[kappa]
    return n_components - 1 + kappas + np.maximum(sizes - 1, 1).sum(axis=-1)


def criteria(
    log_likelihood: Any, n_parameters: Any, n: float, d: int, entropy: Any = 0.0
) -> dict[str, Any]:
    """Return every criterion of a fitted mixture, or of many.

    AIC, BIC, RIC, RICc and EBIC (gamma = 0.5) are phi(n, d) times the number of parameters minus
    twice the log-likelihood, with the paper's phi; ICL is the BIC plus twice the entropy of the
    posteriors.

    Parameters
    ----------
    log_likelihood : float or ndarray
        Unpenalised, of all rows.
    n_parameters : int or ndarray
        From :func:`count_parameters`.
    n : float
        Total weight of the rows.
    d : int
        Number of features.
    entropy : float or ndarray
        Summed over the rows; for the ICL.

    Returns
    -------
    dict of str to float or ndarray
        One entry for each of ``CRITERIA``, in their order.

    Examples
    --------
    >>> from spheremix.select import criteria
    >>> criteria(-120.0, 4, n=50.0, d=3)["aic"]
    248.0
    """
    costs = prices(n, d)
    values = {name: phi * n_parameters - 2.0 * log_likelihood for name, phi in costs.items()}
    return values | {"icl": values["bic"] + 2.0 * entropy}

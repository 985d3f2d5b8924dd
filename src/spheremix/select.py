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
CRITERIA = ("aic", "bic", "ric", "ricc", "ebic", "icl")
EBIC_GAMMA = 0.5


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
    """Give every criterion of a fitted mixture, or of many.

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
        Keys ``aic``, ``bic``, ``ric``, ``ricc``, ``ebic``, ``icl``.
    """
    factors = {
        "aic": 2.0,
        "bic": math.log(n),
        "ric": 2.0 * math.log(d),
        "ricc": 2.0 * (math.log(d) + math.log(math.log(d))),
        "ebic": math.log(n) + 2.0 * EBIC_GAMMA * math.log(d),
    }
    values = {name: phi * n_parameters - 2.0 * log_likelihood for name, phi in factors.items()}
    return values | {"icl": values["bic"] + 2.0 * entropy}

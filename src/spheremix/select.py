"""Information criteria as pure functions; smaller is better."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

Count = Literal["nonzero", "features", "dense"]
CRITERIA = ("aic", "bic", "ric", "ricc", "ebic", "icl")
EBIC_GAMMA = 0.5


def count_parameters(
    prototypes: NDArray[np.float64] | sparse.csr_array,
    kappa: Literal["shared", "free", "given"],
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
        means = int(np.maximum(np.diff(support.indptr) - 1, 1).sum())
    elif count == "features":
        means = n_components * max(len(np.unique(support.indices)) - 1, 1)
    elif count == "dense":
        means = n_components * (n_features - 1)
    else:
        raise ValueError(f"count must be 'nonzero', 'features' or 'dense', got {count!r}")
    kappas = {"shared": 1, "free": n_components, "given": 0}[kappa]
    return n_components - 1 + kappas + means


def criteria(
    log_likelihood: float,
    n_parameters: int,
    n: float,
    d: int,
    entropy: float = 0.0,
) -> dict[str, float]:
    """Give every criterion of a fitted mixture.

    AIC, BIC, RIC, RICc and EBIC (gamma = 0.5) are phi(n, d) times the number of parameters minus
    twice the log-likelihood, with the paper's phi; ICL is the BIC plus twice the entropy of the
    posteriors.

    Parameters
    ----------
    log_likelihood : float
        Unpenalised, of all rows.
    n_parameters : int
        From :func:`count_parameters`.
    n : float
        Total weight of the rows.
    d : int
        Number of features.
    entropy : float
        Summed over the rows; for the ICL.

    Returns
    -------
    dict of str to float
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

"""The scorer of a mixture of von Mises-Fisher distributions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from spheremix.scorer import Scorer
from spheremix.vectors import scaled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.scorer import Assignment


class Mixture(Protocol):
    """Parameters of a mixture of von Mises-Fisher distributions."""

    @property
    def prototypes(self) -> NDArray[np.float64]:
        """Unit vectors mu_k."""
        ...

    @property
    def kappas(self) -> NDArray[np.float64]:
        """Concentrations."""
        ...

    @property
    def weights(self) -> NDArray[np.float64]:
        """Mixture weights alpha_k."""
        ...

    @property
    def log_normalizers(self) -> NDArray[np.float64]:
        """Log c_d(kappa_k)."""
        ...


def mixture_scorer(
    parameters: Mixture, assignment: Assignment = "soft", key: tuple[int, int] = (0, 0)
) -> Scorer:
    """Return the scores log alpha_k + log c_d(kappa_k) + kappa_k <mu_k, x>."""
    return Scorer.centred(
        scaled(parameters.prototypes, parameters.kappas),
        np.log(parameters.weights) + parameters.log_normalizers,
        assignment,
        key,
    )

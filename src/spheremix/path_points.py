"""Points of a path: mixtures whose prototypes are stored sparse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from spheremix import em
from spheremix.models.vmf import count_distinct

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.models.vmf import VMFModel, VMFParameters
    from spheremix.resultants import Resultants

    Array = NDArray[np.float64]
    VMFFit = em.Fit[VMFParameters]


@dataclass(frozen=True, slots=True, eq=False)
class PathPoint:
    """One solution on the path, its prototypes stored sparse."""

    beta: float
    values: Array  # of the non-zero coordinates
    places: NDArray[np.int64]  # theirs, counted through the prototypes one after another
    n_features: int
    kappas: Array
    weights: Array
    sizes: Array  # expected numbers of rows: the mass of each component
    log_likelihood: float
    entropy: float
    weight: float
    objective: float
    status: str
    n_iter: int
    gap: float
    n_distinct: int
    n_converged: int = 1  # runs that converged at this beta

    @classmethod
    def of(cls, beta: float, fit: VMFFit, soft: Resultants, n_converged: int = 1) -> PathPoint:
        """Summarise a fit and the resultants of a soft sweep with its parameters."""
        parameters = fit.parameters
        flat = parameters.prototypes.ravel()
        places = flat.nonzero()[0]
        return cls(
            beta,
            flat[places],
            places,
            parameters.prototypes.shape[1],
            parameters.kappas,
            parameters.weights,
            fit.resultants.mass[: len(parameters.kappas)],
            soft.log_likelihood,
            soft.entropy,
            soft.weight,
            fit.objective,
            fit.status,
            fit.n_iter,
            fit.gap,
            count_distinct(parameters.prototypes),
            n_converged,
        )

    @property
    def prototypes(self) -> sparse.csr_array:
        """The prototypes, of shape (K, d)."""
        ends = np.concatenate([[0], np.cumsum(self.support_sizes)])
        parts = (self.values, self.places % self.n_features, ends)
        return sparse.csr_array(parts, shape=(len(self.kappas), self.n_features))

    @property
    def support_sizes(self) -> NDArray[np.int64]:
        """Non-zero coordinates of each prototype."""
        edges = np.arange(len(self.kappas) + 1) * self.n_features
        return np.diff(np.searchsorted(self.places, edges))

    @property
    def ok(self) -> bool:
        """Whether EM ended by itself or was stopped on its way, rather than failed."""
        return self.status in em.ENDED

    @property
    def n_nonzero(self) -> int:
        """Non-zero coordinates of all the prototypes."""
        return len(self.values)

    @property
    def sparsity(self) -> float:
        """Share of the coordinates that are zero."""
        return 1.0 - len(self.values) / (len(self.kappas) * self.n_features)

    def parameters(self, model: VMFModel) -> VMFParameters:
        """Return the parameters, dense again."""
        return model.parameters(self.prototypes.toarray(), self.kappas, self.weights)


def exit_betas(steps: list[PathPoint]) -> Array:
    """Give, for each coordinate, the smallest beta from which it is zero for good.

    0 where it is zero from the start, infinity where it is non-zero at the last step.
    """
    leaves = np.zeros(len(steps[0].kappas) * steps[0].n_features)
    ends = [step.beta for step in steps[1:]] + [np.inf]
    for step, end in zip(steps, ends, strict=True):
        leaves[step.places] = end
    return leaves.reshape(-1, steps[0].n_features)

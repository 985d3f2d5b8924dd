"""What the EM loop and the search ask of a model: a few methods, no row in sight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from spheremix.vectors import divided, lengths

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from spheremix.resultants import Resultants
    from spheremix.scorer import Assignment, Scorer

P = TypeVar("P")


class DegenerateError(Exception):
    """The M-step has no answer; ``status`` names why (see ``Fit.status``)."""

    def __init__(self, status: str, component: int) -> None:
        super().__init__(f"component {component}: {status}")
        self.status = status
        self.component = component


COLLAPSED = 1e-8  # share of the total weight below which a component is gone


def require_mass(resultants: Resultants) -> None:
    """Refuse resultants in which a component has next to nothing."""
    if not resultants.mass.min() > COLLAPSED * resultants.weight:
        raise DegenerateError("collapsed", int(resultants.mass.argmin()))


@dataclass(frozen=True, slots=True)
class MStep(Generic[P]):
    """An M-step: new parameters, and what they gain at least.

    ``gain`` is the exact maximum of the expected completed objective at these resultants minus
    its value at the old parameters: never negative beyond rounding, and zero only at a fixed
    point of exact EM.
    """

    parameters: P
    gain: float


class Model(Protocol[P]):
    """From resultants to parameters."""

    def scorer(
        self, parameters: P, assignment: Assignment = "soft", key: tuple[int, int] = (0, 0)
    ) -> Scorer:
        """Return the affine scores of these parameters.

        One for each component, or the same number for each, those of a component next to each
        other: it is then a mixture itself, and the resultants are those of the scores.
        """
        ...

    def m_step(self, resultants: Resultants, parameters: P) -> MStep[P]:
        """Return the next parameters, or raise DegenerateError."""
        ...

    def penalty(self, parameters: P) -> float:
        """Return what is taken from the log-likelihood to make the objective."""
        ...

    def start(self, resultants: Resultants, prototypes: NDArray[np.float64]) -> P:
        """Return first parameters from prototypes and the resultants of assigning rows to them."""
        ...


class PartitionModel(Model[P], Protocol[P]):
    """A model that a search can work with: it says what a partition of the rows is worth."""

    def for_search(self) -> Sequence[PartitionModel[P]]:
        """Return the models that a search for clusters works with.

        The first one finds partitions; with each of the others rows are moved once more.
        """
        ...

    def from_partition(self, resultants: Resultants) -> P:
        """Return the best parameters for the clusters with these resultants, without a penalty."""
        ...

    def cluster_value(
        self, resultants: Resultants
    ) -> Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]:
        """Return the value of a cluster as a function of its mass and of its resultant's length.

        Summed over the clusters it is the classification likelihood plus the total weight times
        its logarithm where clusters have weights of their own. A concentration that all clusters
        share is held at its estimate from these resultants.
        """
        ...


def cluster_directions(resultants: Resultants) -> NDArray[np.float64]:
    """Return the resultant vectors at length one, or DegenerateError where one is zero."""
    sizes = lengths(resultants.vectors)
    if not sizes.all():
        raise DegenerateError("vanished", int(sizes.argmin()))
    return divided(resultants.vectors, sizes)

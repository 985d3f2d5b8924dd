"""What the EM loop asks of a model: four methods, no row in sight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

if TYPE_CHECKING:
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
        """Give the affine scores of these parameters."""
        ...

    def m_step(self, resultants: Resultants, parameters: P) -> MStep[P]:
        """Give the next parameters, or raise DegenerateError."""
        ...

    def penalty(self, parameters: P) -> float:
        """Give what is taken from the log-likelihood to make the objective."""
        ...

    def start(self, resultants: Resultants, prototypes: NDArray[np.float64]) -> P:
        """Give first parameters from prototypes and the resultants of assigning rows to them."""
        ...

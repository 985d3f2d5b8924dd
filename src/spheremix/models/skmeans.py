"""Spherical k-means: unit prototypes, hard assignment, no concentration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spheremix.models.base import DegenerateError, Step, require_mass
from spheremix.scorer import Scorer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.resultants import Resultants
    from spheremix.scorer import Assignment

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SphericalKMeansModel:
    """The prototypes are the parameters; the objective is the sum of cosines."""

    def scorer(
        self, parameters: Array, assignment: Assignment = "hard", key: tuple[int, int] = (0, 0)
    ) -> Scorer:
        """Give the cosines."""
        return Scorer(parameters, np.zeros(len(parameters)), 0.0, assignment, key)

    def penalty(self, parameters: Array) -> float:  # noqa: ARG002
        """Give zero: nothing is penalised."""
        return 0.0

    def start(self, resultants: Resultants, prototypes: Array) -> Array:
        """Give the prototypes themselves."""
        require_mass(resultants)
        return prototypes

    def m_step(self, resultants: Resultants, parameters: Array) -> Step[Array]:
        """Give the directions of the resultant vectors."""
        require_mass(resultants)
        lengths = np.linalg.norm(resultants.vectors, axis=1)
        if not lengths.all():
            raise DegenerateError("vanished", int(lengths.argmin()))
        gain = float(lengths.sum() - np.einsum("kj,kj->", parameters, resultants.vectors))
        return Step(resultants.vectors / lengths[:, None], gain)

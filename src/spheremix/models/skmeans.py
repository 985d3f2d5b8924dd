"""Spherical k-means: unit prototypes, hard assignment, no concentration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spheremix.models.base import DegenerateError, MStep, cluster_directions, require_mass
from spheremix.scorer import Scorer
from spheremix.vectors import divided, lengths, product

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from spheremix.resultants import Resultants
    from spheremix.scorer import Assignment

    Array = NDArray[np.float64]

SHARPNESS = 2.0**60  # a power of two, so that scaling by it changes no digit


@dataclass(frozen=True, slots=True)
class SphericalKMeansModel:
    """The prototypes are the parameters; the objective is the sum of cosines.

    Prototypes and resultant vectors are dense, or both are sparse: see ``spheremix.vectors``.
    """

    def scorer(
        self, parameters: Array, assignment: Assignment = "hard", key: tuple[int, int] = (0, 0)
    ) -> Scorer:
        """Return the cosines."""
        return Scorer(parameters, np.zeros(parameters.shape[0]), 0.0, assignment, key)

    def penalty(self, parameters: Array) -> float:  # noqa: ARG002
        """Return zero: nothing is penalised."""
        return 0.0

    def start(self, resultants: Resultants, prototypes: Array) -> Array:
        """Return the prototypes themselves."""
        require_mass(resultants)
        zero = np.flatnonzero(lengths(prototypes) == 0.0)
        if zero.size:
            raise DegenerateError("vanished", int(zero[0]))
        return prototypes

    def m_step(self, resultants: Resultants, parameters: Array) -> MStep[Array]:
        """Return the directions of the resultant vectors."""
        if not resultants.mass.all():
            raise DegenerateError("collapsed", int(resultants.mass.argmin()))
        sizes = lengths(resultants.vectors)
        if not sizes.all():
            raise DegenerateError("vanished", int(sizes.argmin()))
        gain = float(sizes.sum()) - product(parameters, resultants.vectors)
        return MStep(divided(resultants.vectors, sizes), gain)

    def for_search(self) -> list[SphericalKMeansModel]:
        """Return the models that a search for clusters works with: itself."""
        return [self]

    def from_partition(self, resultants: Resultants) -> Array:
        """Return the directions of the clusters."""
        require_mass(resultants)
        return cluster_directions(resultants)

    def cluster_value(self, resultants: Resultants) -> Callable[[Array, Array], Array]:  # noqa: ARG002
        """Return the coherence of a cluster: the length of its resultant vector."""
        return lambda mass, lengths: lengths  # noqa: ARG005


def sharp_scorer(prototypes: Array) -> Scorer:
    """Score so sharply that the log-density is ``SHARPNESS`` times the largest cosine.

    The log of the summed exponentials of s times K cosines is at most log K above s times the
    largest: here less than 1e-16, divided by s. It spares the (n, K) array of all cosines.
    """
    return Scorer(SHARPNESS * prototypes, np.zeros(prototypes.shape[0]))

"""Mixtures of several sizes fitted together, so that every fine cluster lies in a coarse one.

Each fine component has one component of every coarser level above it. A row that is assigned to a
fine component counts for those too, so clusters are nested by construction. What is maximised is
the sum, over the levels, of the log-likelihoods of the completed data (plus the entropy of the
assignments when they are soft): no level is the servant of another. The score of a fine component
is the sum of the scores along its branch, which is affine in the row: every engine can sweep it,
and EM runs as for one mixture, with the same certificate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from spheremix.models.base import MStep
from spheremix.resultants import merged_resultants
from spheremix.scorer import Scorer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.models.vmf import VMFModel, VMFParameters
    from spheremix.resultants import Resultants
    from spheremix.scorer import Assignment

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]
    Levels = tuple[VMFParameters, ...]


@dataclass(frozen=True, slots=True, eq=False)
class NestedModel:
    """Levels of clusters, coarse to fine.

    Attributes
    ----------
    model : VMFModel
        How the parameters of each level are estimated.
    above : tuple of ndarray of shape (K,)
        For each level, coarse to fine, its component above each of the K finest ones. The last one
        is 0, 1, ... K - 1.
    """

    model: VMFModel
    above: tuple[Ids, ...]

    @property
    def parents(self) -> tuple[Ids, ...]:
        """For each level but the coarsest, the component one level up of each component."""
        found = []
        for coarse, fine in zip(self.above, self.above[1:], strict=False):
            up = np.zeros(fine.max() + 1, dtype=np.intp)
            up[fine] = coarse
            found.append(up)
        return tuple(found)

    def scorer(
        self, parameters: Levels, assignment: Assignment = "soft", key: tuple[int, int] = (0, 0)
    ) -> Scorer:
        """Return the summed scores of each branch."""
        each = [self.model.scorer(one, assignment, key) for one in parameters]
        matrix = np.sum([one.matrix[up] for one, up in zip(each, self.above, strict=True)], axis=0)
        biases = np.sum([one.biases[up] for one, up in zip(each, self.above, strict=True)], axis=0)
        scorer = Scorer.centred(matrix, biases, assignment, key)
        return replace(scorer, offset=scorer.offset + sum(one.offset for one in each))

    def m_step(self, resultants: Resultants, parameters: Levels) -> MStep[Levels]:
        """Maximise each level at the resultants of its own clusters."""
        steps = [
            self.model.m_step(own, one)
            for own, one in zip(self.levels(resultants), parameters, strict=True)
        ]
        return MStep(tuple(step.parameters for step in steps), sum(step.gain for step in steps))

    def penalty(self, parameters: Levels) -> float:
        """Return the penalties of all levels."""
        return sum(self.model.penalty(one) for one in parameters)

    def start(self, resultants: Resultants, prototypes: Array) -> Levels:
        """Return first parameters from the finest prototypes and the rows assigned to them."""
        *coarse, fine = self.levels(resultants)
        first = [self.model.from_partition(one) for one in coarse]
        return (*first, self.model.start(fine, prototypes))

    def from_partition(self, resultants: Resultants) -> Levels:
        """Return best parameters of each level for the finest clusters with these resultants."""
        return tuple(self.model.from_partition(one) for one in self.levels(resultants))

    def levels(self, resultants: Resultants) -> list[Resultants]:
        """Add up the resultants of the finest clusters, for each level."""
        return [merged_resultants(resultants, up) for up in self.above]

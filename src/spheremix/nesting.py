"""Levels of clusters that are nested: made from free fits of every size, then fitted together.

Each fine component has one component of every coarser level above it. A row that is assigned to a
fine component counts for those too, so clusters are nested by construction. What is maximised is
the sum, over the levels, of the log-likelihoods of the completed data (plus the entropy of the
assignments when they are soft): no level is the servant of another. The score of a fine component
is the sum of the scores along its branch, which is affine in the row: every engine can sweep it,
and EM runs as for one mixture, with the same certificate.

The start comes from free fits. Those of two sizes cut the rows into cells, one for each pair of a
coarse and a fine cluster. One sweep gives the resultants of all cells, since the scores of a pair
add up. Cells are then merged by the least loss, only within a coarse cluster, until the fine number
is left: so the likelihood decides how many fine clusters each coarse one gets. EM over all levels
together moves rows across the borders of both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from spheremix import em
from spheremix.merging import merge
from spheremix.models.base import COLLAPSED, DegenerateError, MStep
from spheremix.resultants import Resultants, merged_resultants
from spheremix.scorer import Scorer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from spheremix.data.base import Directions
    from spheremix.models.vmf import VMFModel, VMFParameters
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


@dataclass(frozen=True, slots=True, eq=False)
class Nested:
    """Nested levels, coarse to fine: the model that ties them, and the fit of all of them."""

    model: NestedModel
    fit: em.Fit[Levels]


def nest(
    model: VMFModel,
    directions: Directions,
    free: Sequence[VMFParameters],
    settings: em.Settings,
    weights: Array | None = None,
) -> Nested:
    """Tie free fits of increasing sizes together, and fit them.

    Raises DegenerateError where a level is left with fewer clusters than asked for.
    """
    first, *finer = free
    nested = NestedModel(model, (np.arange(len(first.kappas)),))
    levels: Levels = (first,)
    for one in finer:
        nested, cells = _below(nested, levels, one, directions, weights)
        levels = nested.from_partition(cells)
        (fit,) = em.fit(nested, directions, [levels], settings, weights=weights)
        levels = fit.parameters
    return Nested(nested, fit)


def _below(
    nested: NestedModel,
    levels: Levels,
    free: VMFParameters,
    directions: Directions,
    weights: Array | None,
) -> tuple[NestedModel, Resultants]:
    """Cut the finest clusters so far by a free fit; return so many parts, and their resultants."""
    coarse, fine = nested.scorer(levels, "hard"), nested.model.scorer(free, "hard")
    n_coarse, n_fine = coarse.n_components, fine.n_components
    parents = np.repeat(np.arange(n_coarse), n_fine)
    pairs = Scorer.centred(
        (coarse.matrix[:, None, :] + fine.matrix[None, :, :]).reshape(n_coarse * n_fine, -1),
        np.add.outer(coarse.biases, fine.biases).ravel(),
        "hard",
    )
    (swept,) = directions.sweep([pairs], weights)
    occupied = swept.mass > COLLAPSED * swept.weight
    cells = replace(swept, mass=swept.mass[occupied], vectors=swept.vectors[occupied])
    groups = parents[occupied]
    if len(cells.mass) < n_fine or len(np.unique(groups)) < n_coarse:
        raise DegenerateError("collapsed", int(swept.mass.argmin()))
    # The value of a cell depends on a shared kappa: that of the free fine clusters is used.
    value = nested.model.cluster_value(
        merged_resultants(swept, np.tile(np.arange(n_fine), n_coarse))
    )
    labels = merge(cells, value, n_fine, groups=groups).labels
    kept = np.zeros(n_fine, dtype=np.intp)
    kept[labels] = groups
    above = tuple(up[kept] for up in nested.above)
    return NestedModel(nested.model, (*above, np.arange(n_fine))), merged_resultants(cells, labels)

"""Levels of clusters that are nested: made from free fits of every size, then fitted together.

The free fits of two sizes cut the rows into cells, one for each pair of a coarse and a fine
cluster. One sweep gives the resultants of all cells, since the scores of a pair add up. Cells are
then merged by the least loss, only within a coarse cluster, until the fine number is left: so the
likelihood decides how many fine clusters each coarse one gets. EM over all levels together
(:class:`~spheremix.models.nested.NestedModel`) moves rows across the borders of both levels.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from spheremix import em
from spheremix.merging import merge
from spheremix.models.base import COLLAPSED, DegenerateError
from spheremix.models.nested import NestedModel
from spheremix.resultants import Resultants, merged_resultants
from spheremix.scorer import Scorer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from spheremix.data.base import Directions
    from spheremix.models.vmf import VMFModel, VMFParameters

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]
    Levels = tuple[VMFParameters, ...]


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

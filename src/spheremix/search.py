"""The search for a partition to start EM from: merged clusters, first variation, crossings.

A run of the search takes three times as many rows as clusters, assigns all rows to these for a few
sweeps, and merges their clusters by the least loss of classification likelihood. Sweeps that
assign rows by first variation refine the partition. Then runs meet in pairs: the clusters of both,
together, are merged back to the number asked for and refined, and the best of parents and child
goes on.

Clusters are kept sparse where there are many of them and rows are sparse (``spheremix.vectors``).

All partitions of a stage share each sweep. What comes out are partitions, by their resultants:
what is published is what EM reaches from the best of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from spheremix import em
from spheremix.merging import merge
from spheremix.models.base import COLLAPSED, DegenerateError
from spheremix.models.views import ViewsModel
from spheremix.resultants import Resultants, merged_resultants
from spheremix.seeding import TRIES, in_form, nearest, random_rows
from spheremix.vectors import (
    SparseForm,
    as_dense,
    as_sparse,
    lengths,
    most_entries,
    product,
    stacked,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from spheremix.data.base import Directions
    from spheremix.models.base import PartitionModel
    from spheremix.scorer import Scorer

    Array = NDArray[np.float64]

P = TypeVar("P")

OVER = 3  # clusters a run begins with, for each one asked for
# Clusters a run begins with at most, unless more are asked for: their pairs take 256 MB.
MOST_MERGED = 4000
ASSIGNING = 2  # sweeps between the first assignment and the merging
CROSSING = 2  # sweeps of the clusters of two parents before they are merged
REFINEMENTS = 50  # sweeps by first variation, at most


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Clusters by their resultants, and how they were found.

    Attributes
    ----------
    resultants : Resultants
        Of the rows assigned to the clusters.
    value : float
        The classification likelihood (for spherical k-means, the coherence).
    start : {"merge", "cross"}
        Merged from more clusters, or from those of two other partitions.
    first_value : float
        The value before the refinement, which never lowers it.
    seed : int or None
        Of the rows that the clusters began with; None for crossings.
    parents : tuple of int
        The places of the two partitions that were crossed, in the list of them all.
    """

    resultants: Resultants
    value: float
    start: str
    first_value: float
    seed: int | None = None
    parents: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A partition, the scores of its best parameters, and its value."""

    resultants: Resultants
    scorer: Scorer
    value: float

    def by_variation(self, model: object) -> Scorer:
        """Return the same scores for an assignment by first variation."""
        if isinstance(model, ViewsModel):
            return model.by_variation(self.scorer, self.resultants)
        rates = 1.0 / lengths(self.resultants.vectors)
        return replace(self.scorer, assignment="variation", rates=rates)


class Search(Generic[P]):
    """A search: the rows, the model, and how many sweeps were made.

    Parameters
    ----------
    model : PartitionModel
        What partitions are judged by.
    directions : Directions
        The rows.
    weights : ndarray of shape (n,) or (R, n), or None
        Of the rows; in two dimensions those of R replicates, which :meth:`replicates` wants.
    tol : float
        A refinement ends when a sweep raises the value by less, per unit of weight.
    callback : callable or None
        Called with the number of sweeps after each of them.
    """

    def __init__(
        self,
        model: PartitionModel[P],
        directions: Directions,
        weights: Array | None = None,
        *,
        tol: float = 1e-4,
        callback: Callable[[int], None] | None = None,
    ) -> None:
        self.model, self.directions, self.weights = model, directions, weights
        self.tol, self.callback = tol, callback
        self.n_sweeps = 0

    def run(self, sizes: Sequence[int], seeds: Sequence[int]) -> list[list[Partition | None]]:
        """Search for partitions of each size, one run for each seed; then cross the runs.

        For each size: the partitions of the runs, None where every try failed, then those of the
        crossings. All sizes share their sweeps; what is found for one does not depend on others.
        """
        each = self.replicates(sizes, seeds)
        rounds = [[i for i, one in enumerate(runs) if one is not None] for runs in each]
        while any(len(members) > 1 for members in rounds):
            pairs = [
                (g, a, b)
                for g, members in enumerate(rounds)
                for a, b in zip(members[::2], members[1::2], strict=False)
            ]
            children = self.crossed([(each[g][a], each[g][b], (a, b)) for g, a, b in pairs])
            ahead: list[list[int]] = [[] for _ in sizes]
            for (g, a, b), child in zip(pairs, children, strict=True):
                family = [a, b]
                if child is not None:
                    each[g].append(child)
                    family.append(len(each[g]) - 1)
                ahead[g].append(max(family, key=lambda i, g=g: each[g][i].value))  # type: ignore[misc,union-attr]
            for g, members in enumerate(rounds):
                ahead[g] += members[len(members) // 2 * 2 :]
            rounds = ahead
        return each

    def replicates(
        self, sizes: Sequence[int], seeds: Sequence[int]
    ) -> list[list[Partition | None]]:
        """Search for partitions of each size, one run for each seed; runs do not meet.

        Where there are several vectors of weights, each seed has its own. All share their sweeps.
        """
        specs = [(size, seed, draw) for size in sizes for draw, seed in enumerate(seeds)]
        found = self.single_runs(specs)
        return [found[i * len(seeds) : (i + 1) * len(seeds)] for i in range(len(sizes))]

    def single_runs(self, specs: list[tuple[int, int, int]]) -> list[Partition | None]:
        """Return the partition of each run; None where every try failed.

        A run has a size, a seed, and the number of its weights, where there are several vectors of
        them. All share their sweeps.
        """
        generators = [np.random.default_rng(seed) for _, seed, _ in specs]
        found: list[Partition | None] = [None] * len(specs)
        for _ in range(TRIES):
            missing = [i for i, one in enumerate(found) if one is None]
            if not missing:
                break
            drawn = em.in_batches(
                [self._drawn_rows(*specs[i][::2], generators[i]) for i in missing],
                self._n_entries,
                partial(self._merged, [specs[i] for i in missing]),
            )
            for i, one in zip(missing, drawn, strict=True):
                if one is not None:
                    found[i] = replace(one, seed=specs[i][1])
        return found

    def refined(
        self, starts: Sequence[Resultants], draws: Sequence[int] | None = None
    ) -> list[Judged | None]:
        """Move rows by first variation; return the best partition met from each start.

        Each row goes where it seems to add most to the value: :attr:`Scorer.pulls` has the formula.
        It is an approximation. The component of the largest score is taken for the one that the row
        is in, weights and concentrations are held, and all rows move at the same time. A sweep may
        therefore lower the value: a run ends when a sweep has not raised it, and the best partition
        is kept. None where a start has no parameters. ``draws`` tells which weights each start
        has, where there are several vectors of them.
        """
        draws = [0] * len(starts) if draws is None else draws
        best = [self._judged(self._in_form(start)) for start in starts]
        active = {i: one for i, one in enumerate(best) if one is not None}
        for _ in range(REFINEMENTS):
            scorers = [one.by_variation(self.model) for one in active.values()]
            swept = self._sweep(scorers, [draws[i] for i in active])
            still = {}
            for (i, before), resultants in zip(active.items(), swept, strict=True):
                after = self._judged(resultants)
                if after is None or after.value <= before.value:
                    continue
                best[i] = after
                if after.value - before.value > self.tol * resultants.weight:
                    still[i] = after
            active = still
        return best

    def improved(self, partitions: Sequence[Partition | None]) -> list[Partition | None]:
        """Refine partitions that another model has found; their values become this model's.

        Where there are several vectors of weights, each partition has its own.
        """

        def refine(draws: list[int], batch: list[Partition]) -> list[Partition | None]:
            found = self._refined_from([one.resultants for one in batch], draws)
            return [
                None if pair is None else replace(one, **pair)
                for one, pair in zip(batch, found, strict=True)
            ]

        return em.in_batches(
            partitions, lambda one: self._n_entries(one.resultants.vectors), refine
        )

    def crossed(
        self, pairs: list[tuple[Partition | None, Partition | None, tuple[int, ...]]]
    ) -> list[Partition | None]:
        """Merge the clusters of two partitions, together, back to the size of one, and refine.

        Both have the same size; the third entry of a pair becomes the child's ``parents``.
        """
        both = [
            [self._in_form(one.resultants) for one in pair[:2] if one is not None] for pair in pairs
        ]
        together = [
            Resultants(
                np.concatenate([one.mass for one in parents]),
                stacked([one.vectors for one in parents]),
                0.0,
                0.0,
                sum(one.weight for one in parents),
            )
            for parents in both
        ]
        children = em.in_batches(
            together,
            lambda one: self._n_entries(one.vectors),
            lambda _, batch: self._finished(
                self._assigned(batch, CROSSING, [0] * len(batch)),
                [len(one.mass) // 2 for one in batch],
                "cross",
                [0] * len(batch),
            ),
        )
        return [
            None if child is None else replace(child, parents=places)
            for child, (_, _, places) in zip(children, pairs, strict=True)
        ]

    # The parts

    def _drawn_rows(self, size: int, draw: int, rng: np.random.Generator) -> Array:
        """Draw the rows that clusters begin with."""
        n_rows, weights = self.directions.n_rows, self.weights
        if weights is not None:
            weights = weights if weights.ndim == 1 else weights[draw]
            n_rows = int(np.count_nonzero(weights))
        over = min(OVER * size, max(size, MOST_MERGED), n_rows)
        return random_rows(self.directions, over, rng, weights, hard=True)

    def _in_form(self, resultants: Resultants) -> Resultants:
        """Return clusters as the directions work with them best: hard ones may be sparse."""
        directions, vectors = self.directions, resultants.vectors
        thin = isinstance(directions, SparseForm) and directions.prefers_sparse(vectors.shape[0])
        return replace(resultants, vectors=as_sparse(vectors) if thin else as_dense(vectors))

    def _n_entries(self, vectors: Array) -> int:
        return most_entries(self.directions, vectors)

    def _merged(
        self, specs: list[tuple[int, int, int]], members: list[int], rows: list[Array]
    ) -> list[Partition | None]:
        """Assign rows to clusters around some, merge these to the members' sizes and refine."""
        sizes, draws = [specs[i][0] for i in members], [specs[i][2] for i in members]
        by_cosine = [nearest(self.model, one) for one in rows]
        assigned = self._assigned(self._sweep(by_cosine, draws), ASSIGNING, draws)
        return self._finished(assigned, sizes, "merge", draws)

    def _assigned(
        self, resultants: Sequence[Resultants], n_sweeps: int, draws: Sequence[int]
    ) -> list[Resultants | None]:
        """Assign all rows to clusters a few times; clusters without rows are dropped."""
        now: list[Resultants | None] = list(resultants)
        for _ in range(n_sweeps):
            scorers = {}
            for i, one in enumerate(now):
                if one is not None:
                    large = only(one, one.mass > COLLAPSED * one.weight)
                    judged = self._judged(large)
                    now[i] = None
                    if judged is not None:
                        scorers[i] = judged.scorer
            found = self._sweep(list(scorers.values()), [draws[i] for i in scorers])
            for i, swept in zip(scorers, found, strict=True):
                now[i] = swept
        return now

    def _finished(
        self, assigned: list[Resultants | None], sizes: list[int], start: str, draws: Sequence[int]
    ) -> list[Partition | None]:
        """Merge clusters to the sizes and refine; None where fewer than that are left."""
        found: list[Partition | None] = [None] * len(assigned)
        merged = {}
        for i, (one, size) in enumerate(zip(assigned, sizes, strict=True)):
            occupied = None if one is None else only(one, one.mass > 0.0)
            if occupied is None or len(occupied.mass) < size:
                continue
            try:
                value = self.model.cluster_value(occupied)
            except DegenerateError:
                continue
            merged[i] = merged_resultants(occupied, merge(occupied, value, size).labels)
        refined = self._refined_from(list(merged.values()), [draws[i] for i in merged])
        for i, better in zip(merged, refined, strict=True):
            if better is not None:
                found[i] = Partition(start=start, **better)
        return found

    def _refined_from(
        self, starts: list[Resultants], draws: Sequence[int]
    ) -> list[dict[str, Any] | None]:
        """Refine; return the resultants and the values before and after, as Partition has them."""
        starts = [self._in_form(start) for start in starts]
        before, after = [self._judged(start) for start in starts], self.refined(starts, draws)
        return [
            {
                "resultants": self._published(last.resultants),
                "value": last.value,
                "first_value": first.value,
            }
            if first is not None and last is not None
            else None
            for first, last in zip(before, after, strict=True)
        ]

    def _published(self, resultants: Resultants) -> Resultants:
        """Return clusters in the form in which the model goes on with them."""
        vectors = in_form(self.model, self.directions, resultants.vectors)
        return replace(resultants, vectors=vectors)

    def _judged(self, resultants: Resultants) -> Judged | None:
        """Return what a partition is worth, or None where a cluster has no parameters."""
        try:
            scorer = self.model.scorer(self.model.from_partition(resultants), "hard")
        except DegenerateError:
            return None
        value = product(resultants.vectors, scorer.matrix)
        value += float(resultants.mass @ scorer.biases) + scorer.offset * resultants.weight
        return Judged(resultants, scorer, value)

    def _sweep(self, scorers: list[Scorer], draws: list[int]) -> list[Resultants]:
        if not scorers:
            return []
        weights = self.weights
        if weights is not None and weights.ndim == 2:
            weights = weights[draws]
        swept = self.directions.sweep(scorers, weights)
        self.n_sweeps += 1
        if self.callback is not None:
            self.callback(self.n_sweeps)
        return swept


def only(resultants: Resultants, kept: NDArray[np.bool_]) -> Resultants:
    """Leave clusters out."""
    if kept.all():
        return resultants
    return replace(resultants, mass=resultants.mass[kept], vectors=resultants.vectors[kept])

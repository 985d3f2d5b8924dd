"""How firm clusters are when the rows are drawn again: replicates, and rows without clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import adjusted_rand_score

from spheremix import em
from spheremix.models.base import DegenerateError
from spheremix.search import Search

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from spheremix.em import Fit
    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel, VMFParameters
    from spheremix.search import Partition

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PartitionStability:
    """How far the clusters of rows that were drawn again agree.

    Attributes
    ----------
    mean : float
        Mean adjusted Rand index of all pairs of replicates; NaN where fewer than two have clusters.
    error : float
        Its standard error, by leaving out one replicate after the other.
    n_replicates : int
        Replicates that have clusters.
    """

    mean: float
    error: float
    n_replicates: int


def drawn_again(
    rng: np.random.Generator, weights: Array | None, n_rows: int, n_draws: int
) -> Array:
    """Draw rows with replacement, in proportion to their weights: new weights (n_draws, n).

    As many rows are drawn as there are, or as the weights sum to if that is more; the new weights
    have the same sum as the old ones.
    """
    base = np.ones(n_rows) if weights is None else weights
    total = base.sum()
    n = max(round(total), np.count_nonzero(base))
    drawn: Array = rng.multinomial(n, base / total, size=n_draws) * (total / n)
    return drawn


def replicate_partitions(
    problem: Problem[VMFModel],
    sizes: Sequence[int],
    n_replicates: int,
    seed: int,
    callback: Callable[[int], None] | None = None,
) -> tuple[Array, list[list[Partition | None]]]:
    """Search for clusters in rows drawn again; give their weights and the partitions of each size.

    A replicate is a vector of weights and one run of the search; None where the run found nothing.
    The replicates of all sizes share each sweep, and every size has the same replicates.
    """
    rng = np.random.default_rng(seed)
    directions, model = problem.directions, problem.model
    weights = drawn_again(rng, problem.weights, directions.n_rows, n_replicates)
    seeds = [int(one) for one in rng.integers(2**31, size=n_replicates)]
    first, *others = model.for_search()
    found = Search(first, directions, weights, callback=callback).replicates(sizes, seeds)
    for other in others:
        again = Search(other, directions, weights, callback=callback)
        found = [again.improved(partitions) for partitions in found]
    return weights, found


def replicate_labels(
    problem: Problem[VMFModel],
    sizes: Sequence[int],
    n_replicates: int,
    seed: int,
    callback: Callable[[int], None] | None = None,
) -> dict[int, list[NDArray[np.intp]]]:
    """Search for clusters in rows drawn again; give the clusters of all rows, for each size."""
    _, found = replicate_partitions(problem, sizes, n_replicates, seed, callback)
    directions, last = problem.directions, problem.model.for_search()[-1]
    return {
        size: [
            directions.map_rows(last.scorer(last.from_partition(one.resultants), "hard"), "labels")
            for one in partitions
            if one is not None
        ]
        for size, partitions in zip(sizes, found, strict=True)
    }


def replicate_fits(
    problem: Problem[VMFModel],
    n_replicates: int,
    seed: int,
    callback: Callable[[int], None] | None = None,
) -> list[Fit[VMFParameters]]:
    """Fit mixtures to rows drawn again, each by EM from a run of the search of its own.

    Those that lose a component are left out. All replicates share each sweep, as many at a time as
    memory allows.
    """
    model, directions = problem.model, problem.directions
    weights, (found,) = replicate_partitions(
        problem, [problem.n_components], n_replicates, seed, callback
    )
    starts = [start_of(model, one) for one in found]

    def run(members: list[int], batch: list[VMFParameters]) -> list[Fit[VMFParameters]]:
        return em.fit(model, directions, batch, problem.settings, weights=weights[members])

    fits = em.in_batches(starts, lambda start: start.prototypes.size, run)
    return [fit for fit in fits if fit is not None and fit.ok]


def start_of(model: VMFModel, partition: Partition | None) -> VMFParameters | None:
    """Return the parameters from which EM starts; None where a partition has none."""
    try:
        return None if partition is None else model.from_partition(partition.resultants)
    except DegenerateError:
        return None


def stability_of(labels: Sequence[NDArray[np.intp]]) -> PartitionStability:
    """Compare the clusters of all pairs of replicates."""
    n = len(labels)
    if n < 2:
        return PartitionStability(float("nan"), float("nan"), n)
    scores = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            scores[i, j] = scores[j, i] = adjusted_rand_score(labels[i], labels[j])
    mean = scores.sum() / (n * (n - 1))
    if n < 3:
        return PartitionStability(float(mean), float("nan"), n)
    without = (scores.sum() - 2.0 * scores.sum(axis=1)) / ((n - 1) * (n - 2))
    spread = np.sum((without - without.mean()) ** 2)
    return PartitionStability(float(mean), float(np.sqrt((n - 1) / n * spread)), n)

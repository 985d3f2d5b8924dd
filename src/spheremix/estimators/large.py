"""Large data: the search for starts reads a sample of the rows, and EM goes on from its best start.

This is the only place that says when data are large, and what is done about it. It concerns the
starts of ``init="merge"`` with ``n_init="auto"``: whoever gives a number of runs gets them all, on
all rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import Directions
    from spheremix.estimators.problem import Problem

# Entries of the rows times components, in one sweep, from which on data are large. At 3.8e9 five
# runs on all rows took much longer than the k-means of other packages; at 3.4e7, on 20 newsgroups,
# a sample costs likelihood and saves half of the time at most. docs/benchmarks.md has the figures.
LARGE = 2e8
ROWS = 128  # of the sample for each component, at least
SHARE = 0.5  # of the rows: where the sample would be more, the search reads them all
RUNS = 2  # of the search, before they are crossed
TOL = 1e-5  # a refinement on a sample ends at gains below it: the sample is not known better

M = TypeVar("M")


@runtime_checkable
class Divisible(Protocol):
    """Directions of which some rows can be had as Directions in memory."""

    n_entries: int  # stored ones of all rows

    def part(self, ids: ArrayLike) -> Directions:
        """Return some rows, by numbers in increasing order."""
        ...


def is_large(problem: Problem[Any]) -> bool:
    """Return whether the search must not read all rows many times.

    Engines that cannot give some of their rows (those of Dask and torch, and those of users) keep
    the search on all rows.
    """
    return isinstance(problem.directions, Divisible) and _work(problem) > LARGE


def sample(problem: Problem[M], seed: int) -> Problem[M]:
    """Return the problem on rows drawn by the seed, or on all of them where the sample is most.

    Rows are drawn without replacement, with equal chances for all rows of positive weight, and
    keep their weights. There are as many as make a sweep ``LARGE``, and not fewer than ``ROWS``
    for each component.
    """
    directions, weights = problem.directions, problem.weights
    rows = _weighted_rows(problem)
    least = ROWS * problem.n_components
    n_drawn = max(least, int(len(rows) * LARGE / _work(problem)))
    if not isinstance(directions, Divisible) or n_drawn > SHARE * len(rows):
        return problem
    ids = np.sort(np.random.default_rng(seed).choice(rows, n_drawn, replace=False))
    own = None if weights is None else weights[ids]
    return replace(problem, directions=directions.part(ids), weights=own)


def _work(problem: Problem[Any]) -> float:
    """Return the entries of the rows that count, times components."""
    directions: Any = problem.directions
    share = len(_weighted_rows(problem)) / directions.n_rows
    return float(directions.n_entries * share * problem.n_components)


def _weighted_rows(problem: Problem[Any]) -> NDArray[np.intp]:
    """Return the numbers of the rows of positive weight."""
    if problem.weights is None:
        return np.arange(problem.directions.n_rows)
    return np.flatnonzero(problem.weights)

"""Sweeps over sparse rows and sparse components; hard ones score only components that have moved.

With many clusters of sparse rows most coordinates of the prototypes are zero: a cluster has the
words of its rows. Prototypes and sums are therefore kept sparse (``spheremix.vectors``), and rows
are scored by an index of the prototypes' non-zeros by columns: a word of a row is multiplied only
with the prototypes that have it.

In a late iteration few rows change their cluster, and a prototype whose rows are the same is the
same to the last bit. For each row the owner (the component of the largest score), its score, and a
bound of all other scores are kept. A sweep scores the components that have moved for all rows:

- A row whose owner has not moved goes to a component that has, where that has a larger score.
- A row whose owner has moved goes to the best of the components that have moved, if its score is
  above the bound. Otherwise all components are scored for this row.

No score is estimated: a score that is kept is the one that would be calculated again, bit for bit.
Sums are taken in the order of the rows, and a component that has the rows of the last sweep keeps
its sum. A sweep has therefore the bits of a sweep over all components, dense ones too.

Sweeps by first variation, which a search for partitions makes, score all components each time.

Beside the rows, each run takes 24 bytes a row, a copy of at most 15 % of the rows while they are
summed, and its components and its sums have at most as many entries each as the rows. The index has
four numbers at most for each entry of many components.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix._optional import kernels
from spheremix.data.base import arithmetic
from spheremix.resultants import Resultants
from spheremix.vectors import from_parts, kernel_form, replaced

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from spheremix.data.base import Stored
    from spheremix.scorer import Scorer

    Array = NDArray[np.float64]
    Integers = NDArray[np.int32]

LEAST_COMPONENTS = 100
LEAST_WORK = 2e7  # entries of all rows times components: below it dense components are as fast
SPARSE = 2.0  # coordinates of all components for each entry of the rows, at least
WORTH = 0.8  # share of the components: where more have moved, all are scored
MOST_SUMMED = 0.15  # share of the rows, which are copied; beyond it, to sum all is faster


def suits(rows: Stored, n_components: int) -> bool:
    """Return whether hard clusters of rows are better kept sparse, when there are so many."""
    return (
        rows.is_sparse
        and n_components >= LEAST_COMPONENTS
        and n_components * rows.n_features >= SPARSE * rows.n_entries
        and n_components * rows.n_entries >= LEAST_WORK
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """The sums of the rows by owner, and the owners."""

    owners: Integers
    vectors: Array
    mass: Array


@dataclass(slots=True, eq=False)
class _Known:
    """What is known of the rows under the last scorer of a run.

    Attributes
    ----------
    vectors, biases : SparseVectors of the kernels, and ndarray of shape (K,)
        Of the last scorer.
    dtype : np.dtype
        In which its products were calculated.
    owners, scores, seconds : ndarray of shape (n,)
        The component of the largest score of each row, that score, and a bound of all others.
    sums : _Sums or None
        Of the last sweep.
    is_full : bool
        Whether the last sweep has scored all components for all rows.
    """

    vectors: Any
    biases: Array
    dtype: np.dtype[Any]
    owners: Integers
    scores: Array
    seconds: Array
    sums: _Sums | None = None
    is_full: bool = True

    @classmethod
    def nothing(
        cls,
        vectors: Any,
        biases: Array,
        dtype: np.dtype[Any],
        n_rows: int,
        sums: _Sums | None = None,
    ) -> _Known:
        """Know a scorer, and nothing of the rows yet."""
        owners = np.zeros(n_rows, dtype=np.int32)
        return cls(vectors, biases, dtype, owners, np.empty(n_rows), np.empty(n_rows), sums)


class MovedComponents:
    """Hard sweeps of one fit: each run has a number, under which its rows are remembered.

    Parameters
    ----------
    rows : Stored
        Sparse rows.
    """

    def __init__(self, rows: Stored) -> None:
        self._rows = rows
        self._known: dict[int, _Known] = {}
        self.n_scores = 0  # that the last sweep has computed

    def sweep(
        self,
        scorer: Scorer,
        weights: Array | None,
        run: int,
        n_runs: int = 1,  # noqa: ARG002
    ) -> Resultants:
        """Return the resultants of a scorer with sparse components, as a sweep does.

        Parameters
        ----------
        scorer : Scorer
            The present one of the run.
        weights : ndarray of shape (n,) or None
            The same in all sweeps of a run.
        run : int
            The number of the run.
        n_runs : int
            How many runs share the memory: no matter here, where a run takes little.
        """
        if scorer.assignment == "variation":
            return self._by_variation(scorer, weights)
        if scorer.assignment != "hard":
            raise ValueError(
                f"Sparse components are swept hard or by variation, not {scorer.assignment!r}."
            )
        rows, K = self._rows, scorer.n_components
        vectors, dtype = kernel_form(scorer.matrix), arithmetic(rows.dtype, [scorer])
        members, known = np.arange(K, dtype=np.int32), self._known.get(run)
        sums = known.sums if known is not None and len(known.biases) == K else None
        if known is not None and known.dtype == dtype and len(known.biases) == K:
            moved = kernels.sparse_differ(known.vectors, vectors) | (known.biases != scorer.biases)
            if np.count_nonzero(moved) <= WORTH * K:
                members = np.flatnonzero(moved).astype(np.int32)
        n = rows.n_rows
        if known is None or len(members) == K:
            self._known[run] = known = _Known.nothing(vectors, scorer.biases, dtype, n, sums)
        known.vectors, known.biases = vectors, scorer.biases
        known.is_full = len(members) == K
        self.n_scores = n * len(members)
        unclear = self._score(known, members, None)
        if unclear.size:
            self._score(known, np.arange(K, dtype=np.int32), unclear)
            self.n_scores += K * len(unclear)
        return self._resultants(known, scorer, weights)

    def _by_variation(self, scorer: Scorer, weights: Array | None) -> Resultants:
        """Score all components, and give each row to the one to which it adds most."""
        vectors, dtype = kernel_form(scorer.matrix), arithmetic(self._rows.dtype, [scorer])
        known = _Known.nothing(vectors, scorer.biases, dtype, self._rows.n_rows)
        members = np.arange(scorer.n_components, dtype=np.int32)
        self._score(known, members, None, scorer.pulls, weights)
        return self._resultants(known, scorer, weights)

    def keep(self, runs: Iterable[int]) -> None:
        """Forget all other runs: they have ended."""
        self._known = {run: self._known[run] for run in runs if run in self._known}

    def forget(self, run: int) -> None:
        """Know nothing of a run: its next sweep scores all components."""
        self._known.pop(run, None)

    def left_out(self, run: int) -> int:
        """Return the number of rows that the last sweep of a run did not score in full."""
        return 0 if self._known[run].is_full else self._rows.n_rows

    def owners(self, run: int) -> Integers:
        """Return the component of the largest score of each row, in the last sweep of a run."""
        return self._known[run].owners

    def _score(
        self,
        known: _Known,
        members: Integers,
        listed: NDArray[np.intp] | None,
        pulls: Array | None = None,
        weights: Array | None = None,
    ) -> NDArray[np.intp]:
        """Score components for all rows, or those listed; return rows whose owner is unclear."""
        rows = self._rows
        unclear = np.zeros(rows.n_rows, dtype=bool)
        if members.size:
            kernels.sweep_columns(
                *rows.rows,
                rows.scale,
                known.vectors,
                known.biases,
                members,
                listed,
                known.owners,
                known.scores,
                known.seconds,
                unclear,
                pulls,
                weights,
                known.dtype == np.float64,
                rows.n_threads,
            )
        return np.flatnonzero(unclear)

    def _resultants(self, known: _Known, scorer: Scorer, weights: Array | None) -> Resultants:
        """Return the sums of the rows of each owner, and the scores of all rows, in their order."""
        rows, K = self._rows, scorer.n_components
        known.sums = sums = self._summed(known.owners, known.sums, weights, K)
        scores = known.scores + scorer.offset
        if weights is not None:
            there = weights != 0.0
            scores = weights[there] * scores[there]
        weight = float(rows.n_rows if weights is None else weights.sum())
        likelihood = float(np.cumsum(scores)[-1]) if scores.size else 0.0
        return Resultants(sums.mass, sums.vectors, likelihood, 0.0, weight)

    def _summed(
        self, owners: Integers, before: _Sums | None, weights: Array | None, K: int
    ) -> _Sums:
        """Sum the rows of each owner; where few rows have another owner, of those owners alone."""
        if before is not None:
            other = owners != before.owners
            changed = np.zeros(K, dtype=bool)
            changed[owners[other]] = changed[before.owners[other]] = True
            listed = np.flatnonzero(changed[owners])
            if not other.any():
                return before
            if len(listed) <= MOST_SUMMED * len(owners):
                own = None if weights is None else weights[listed]
                vectors, mass = _sum(self._rows.part(listed), owners[listed], own, K)
                vectors = replaced(before.vectors, changed, vectors[np.flatnonzero(changed)])
                return _Sums(owners.copy(), vectors, np.where(changed, mass, before.mass))
        return _Sums(owners.copy(), *_sum(self._rows, owners, weights, K))


def _sum(rows: Stored, owners: Integers, weights: Array | None, K: int) -> tuple[Array, Array]:
    """Sum rows and weights by owner, in the order of the rows."""
    found, mass = kernels.sum_columns(
        *rows.rows, rows.scale, owners, weights, K, rows.n_features, rows.n_threads
    )
    return from_parts(found.values, found.indices, found.indptr, rows.n_features), mass


def require_largest(scorer: Scorer) -> None:
    """Refuse sparse components whose labels are not those of the largest scores."""
    if scorer.assignment in {"drawn", "variation"}:
        raise ValueError(f"Sparse components have no labels that are {scorer.assignment!r}.")

"""The compiled CPU engine: rows in memory, read by the kernels of ``csrc/sweep*``."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from spheremix._optional import kernels
from spheremix.data.base import (
    Shown,
    arithmetic,
    check_features,
    check_weights,
    negligible,
    output_array,
    row_numbers,
    split_resultants,
    stack,
)
from spheremix.data.memory import FitMemory
from spheremix.data.moved import MovedComponents, require_largest, suits
from spheremix.data.rows import cut, entries_of, index_arrays, some_rows, unit_rows
from spheremix.vectors import from_parts, is_sparse, kernel_form

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import Stack, Want
    from spheremix.resultants import Resultants
    from spheremix.scorer import Assignment, Scorer

_ASSIGNMENTS = {"soft": 0, "hard": 1, "drawn": 2, "variation": 3}
_WANTS = {"labels": 0, "posteriors": 1, "scores": 2, "log_density": 3}
_WORD = 0xFFFFFFFFFFFFFFFF


class CompiledDirections(Shown):
    """Unit rows ``scale_i * X_i``, swept by compiled kernels; X is neither copied nor changed.

    Parameters
    ----------
    X : ndarray or CSR matrix or array of shape (n, d)
        float32 or float64. An ndarray may have any strides and be read-only or memory-mapped. A
        CSR matrix has sorted indices, each once a row.
    scale : ndarray of shape (n,)
        One over the norm of each row.
    first_row : int
        Number of the first row among all rows, where this engine holds a part of them.
    n_threads : int
        Threads of the kernels, and of the M-step. The results are the same bits for any number.
    """

    def __init__(
        self, X: Any, scale: NDArray[np.float64], *, first_row: int = 0, n_threads: int = 1
    ) -> None:
        self.n_rows: int
        self.n_features: int
        self.n_rows, self.n_features = X.shape
        self.first_row = first_row
        self.n_threads = n_threads
        self.scale = np.ascontiguousarray(scale, dtype=np.float64)
        self._X = X
        self.dtype = np.dtype(X.dtype)
        self.is_sparse = sparse.issparse(X)
        arrays = (*index_arrays(X.indptr, X.indices), X.data) if self.is_sparse else (X,)
        # Arrays that came over a network may lie anywhere in a message.
        self.rows: tuple[Any, ...] = tuple(
            one if one.flags.aligned else one.copy() for one in arrays
        )
        self.n_entries, self.longest = entries_of(X)
        self.unit_columns: Sequence[slice] = (slice(None),)

    def precision(self, scorers: Sequence[Scorer]) -> np.dtype[Any]:
        """Return the type in which scores are calculated."""
        return arithmetic(self.dtype, scorers)

    def remember(self) -> FitMemory:
        """Return what sweeps the rows of one fit, and reads only those that can change."""
        return FitMemory(self)

    def sweep(
        self, scorers: Sequence[Scorer], weights: NDArray[np.float64] | None = None
    ) -> list[Resultants]:
        """Read the rows once; return the resultants of each scorer."""
        if not scorers:
            return []
        weights = check_weights(weights, len(scorers), self.n_rows)
        found: dict[int, Resultants] = {}
        dense = []
        for s, scorer in enumerate(scorers):  # sparse ones are swept one after another
            if is_sparse(scorer.matrix):
                check_features([scorer], self.n_features)
                own = weights if weights is None or weights.ndim == 1 else weights[s]
                found[s] = MovedComponents(self).sweep(scorer, own, 0)
            else:
                dense.append(s)
        if dense:
            own = weights
            if found and weights is not None and weights.ndim == 2:  # otherwise not copied
                own = weights[dense]
            sums = self.begin([scorers[s] for s in dense], own, self.n_rows)
            sums.add(self, 0)
            found |= zip(dense, sums.resultants(), strict=True)
        return [found[s] for s in range(len(scorers))]

    def sweep_listed(
        self,
        scorers: Sequence[Scorer],
        weights: NDArray[np.float64] | None,
        rows: NDArray[np.intp] | None = None,
        onto: Resultants | None = None,
        *,
        held: NDArray[np.int32] | None = None,
        clear: float = np.inf,
    ) -> tuple[list[Resultants], NDArray[np.float64], NDArray[np.int32]]:
        """Sweep the listed rows, or all, and return their margins; see ``Listable``."""
        check_features(scorers, self.n_features)
        sums = CompiledSums(self, scorers, weights, self.n_rows, onto)
        margins = np.empty((len(scorers), self.n_rows))
        owners = np.full((len(scorers), self.n_rows), -1, dtype=np.int32)
        if held is not None:
            owners[0] = held
        sums.add(self, 0, rows, margins, owners, clear)
        return sums.resultants(), margins, owners

    def add_listed(
        self,
        rows: NDArray[np.intp],
        owners: NDArray[np.int32],
        factors: NDArray[np.float64],
        vectors: NDArray[np.float64],
        mass: NDArray[np.float64],
    ) -> None:
        """Add listed rows, times factors, to the sums of their owners."""
        kernel = kernels.add_sparse if self.is_sparse else kernels.add_dense
        listed = rows.astype(np.int64, copy=False)
        kernel(*self.rows, self.scale, listed, owners, factors, vectors, mass, self.n_threads)

    def begin(
        self, scorers: Sequence[Scorer], weights: NDArray[np.float64] | None, n_rows: int
    ) -> CompiledSums:
        """Begin the sums over ``n_rows`` rows, of which these are the first."""
        check_features(scorers, self.n_features)
        return CompiledSums(self, scorers, weights, n_rows)

    def map_rows(self, scorer: Scorer, want: Want) -> NDArray[np.generic]:
        """Apply the scorer to each row; see ``Directions``."""
        check_features([scorer], self.n_features)
        out = output_array(want, self.n_rows, scorer.n_components)
        if not is_sparse(scorer.matrix):
            self.map_onto(scorer, want, out)
            return out
        if want == "labels":
            require_largest(scorer)
        kernels.map_columns(
            *self.rows,
            self.scale,
            self.first_row,
            kernel_form(scorer.matrix),
            scorer.biases,
            scorer.offset,
            _WANTS[want],
            out,
            self.precision([scorer]) == np.float64,
            self.n_threads,
        )
        return out

    def map_onto(
        self,
        scorer: Scorer,
        want: Want,
        out: NDArray[np.generic],
        *,
        rows: NDArray[np.intp] | None = None,
        given: NDArray[np.float64] | None = None,
    ) -> None:
        """Write what is wanted of the rows, or of those listed, into an array.

        Scores that rows have from other columns may be ``given``, without biases: theirs are added.
        """
        kernel = kernels.map_sparse if self.is_sparse else kernels.map_dense
        kernel(
            *self.rows,
            self.scale,
            self.first_row,
            scorer_arrays([scorer], stack([scorer])),
            _WANTS[want],
            out,
            self.precision([scorer]) == np.float64,
            self.n_threads,
            None if rows is None else rows.astype(np.int64, copy=False),
            given,
        )

    def take(self, ids: ArrayLike) -> NDArray[np.float64]:
        """Return a few unit rows, dense."""
        return unit_rows(self._X, self.scale, row_numbers(ids, self.n_rows))

    def prefers_sparse(self, n_components: int) -> bool:
        """Return whether so many components of hard clusters are better kept sparse."""
        return suits(self, n_components)

    def take_sparse(self, ids: ArrayLike) -> NDArray[np.float64]:
        """Return a few unit rows of a CSR matrix, sparse: see ``spheremix.vectors``."""
        rows: Any
        rows, scale = some_rows(self._X, self.scale, row_numbers(ids, self.n_rows))
        values = rows.data * np.repeat(scale, np.diff(rows.indptr))
        return from_parts(values, rows.indices, rows.indptr, self.n_features)

    def part(self, ids: ArrayLike) -> CompiledDirections:
        """Return some rows as an engine of their own, in the type in which they are stored."""
        rows, scale = some_rows(self._X, self.scale, row_numbers(ids, self.n_rows))
        return CompiledDirections(rows, scale, n_threads=self.n_threads)

    def cut(self, tile: slice) -> CompiledDirections:
        """Return rows that follow one another as an engine of their own; nothing is copied."""
        rows, first = cut(self._X, tile.start, tile.stop), self.first_row + tile.start
        return CompiledDirections(rows, self.scale[tile], first_row=first, n_threads=self.n_threads)


class CompiledSums:
    """Sums that the kernels go on with: for dense rows a few lanes of them, added at the end."""

    def __init__(
        self,
        first: CompiledDirections,
        scorers: Sequence[Scorer],
        weights: ArrayLike | None,
        n_rows: int,
        onto: Resultants | None = None,
        least: float | None = None,
    ) -> None:
        self._weights = check_weights(weights, len(scorers), n_rows)
        self._n_rows = n_rows
        self._arithmetic = first.precision(scorers)
        self._least = negligible(self._arithmetic) if least is None else least
        stacked = stack(scorers)
        self._parts = stacked.parts
        self._arrays = scorer_arrays(scorers, stacked)
        n_components, n_features = len(stacked.biases), first.n_features
        self._lanes: tuple[int, ...] = ()
        if not first.is_sparse:
            needed = -(-(first.first_row + n_rows) // kernels.DENSE_BLOCK)
            self._lanes = (min(kernels.dense_lanes(n_components, n_features), needed),)
        self._mass = np.zeros((*self._lanes, n_components))
        self._totals = np.zeros((*self._lanes, len(scorers), 2))
        if onto is None or self._lanes:
            self._vectors = np.zeros((*self._lanes, n_components, n_features))
        if onto is not None:  # resultants of other rows, of a single scorer
            lane = (0,) * len(self._lanes)
            self._mass[lane] = onto.mass
            self._totals[lane] = [[onto.log_likelihood, onto.entropy]]
            if self._lanes:
                self._vectors[lane] = onto.vectors
            else:
                self._vectors = onto.vectors.copy()

    def add(
        self,
        part: CompiledDirections,
        start: int,
        rows: NDArray[np.intp] | None = None,
        margins: NDArray[np.float64] | None = None,
        owners: NDArray[np.int32] | None = None,
        clear: float = np.inf,
        *,
        given: NDArray[np.float64] | None = None,
        complete: bool = False,
    ) -> None:
        """Add the rows of a part, or those listed; ``start`` rows came before.

        Scores that rows have from other columns may be ``given``, (rows, K), without biases: those
        of the part are added, biases too, and the sums left there. ``complete`` ones are taken as
        they are.
        """
        weights = self._weights
        if weights is not None and part.n_rows < self._n_rows:
            weights = np.ascontiguousarray(weights[..., start : start + part.n_rows])
        kernel = kernels.sweep_sparse if part.is_sparse else kernels.sweep_dense
        kernel(
            *part.rows,
            part.scale,
            part.first_row if rows is None else 0,  # listed rows lie on a grid of their own
            self._arrays,
            weights,
            self._least,
            self._vectors,
            self._mass,
            self._totals,
            self._arithmetic == np.float64,
            part.n_threads,
            None if rows is None else rows.astype(np.int64, copy=False),
            margins,
            owners,
            clear,
            given,
            complete,
        )

    def resultants(self) -> list[Resultants]:
        """Return the resultants of each scorer."""
        mass, vectors, totals = self._mass, self._vectors, self._totals
        if self._lanes == (1,):  # large sums, which are not copied
            mass, vectors, totals = mass[0], vectors[0], totals[0]
        elif self._lanes:
            mass, vectors, totals = mass.sum(axis=0), vectors.sum(axis=0), totals.sum(axis=0)
        weight = self._n_rows if self._weights is None else self._weights.sum(axis=-1)
        return split_resultants(self._parts, (mass, vectors, totals), weight)


def scorer_arrays(scorers: Sequence[Scorer], stacked: Stack) -> Any:
    """Return scorers as the kernels read them."""
    begin, assignments, keys = _same_in_all_sweeps(
        tuple(part.stop for part in stacked.parts),
        tuple(scorer.assignment for scorer in scorers),
        tuple(scorer.key for scorer in scorers),
    )
    return kernels.ScorerArrays(
        np.ascontiguousarray(stacked.matrix, dtype=np.float64),
        np.ascontiguousarray(stacked.biases, dtype=np.float64),
        begin,
        assignments,
        keys,
        np.array([scorer.offset for scorer in scorers], dtype=np.float64),
        np.ascontiguousarray(stacked.pulls, dtype=np.float64),
    )


@lru_cache(maxsize=32)
def _same_in_all_sweeps(
    stops: tuple[int, ...], assignments: tuple[Assignment, ...], keys: tuple[tuple[int, int], ...]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint64]]:
    """Return arrays of scorers that do not change while they are fitted, once for all sweeps."""
    return (
        np.array([0, *stops], dtype=np.int64),
        np.array([_ASSIGNMENTS[assignment] for assignment in assignments], dtype=np.int32),
        np.array([[part & _WORD for part in key] for key in keys], dtype=np.uint64),
    )

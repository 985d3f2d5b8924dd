"""Rows of several views: opened together, and swept in one pass.

``spheremix.views`` says how the columns lie. The reference engine has them side by side in one
sparse table. The compiled engine leaves every view where it is. It takes a tile of rows at a time:
the scores of the rows are added up view by view; the last view assigns the rows and sums its own
columns; the other views sum theirs with the scores that are complete by then.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from spheremix.data.base import (
    GRAIN,
    Shown,
    check_features,
    check_weights,
    negligible,
    output_array,
    row_numbers,
)
from spheremix.data.block_sources import is_source, map_array
from spheremix.data.compiled import CompiledDirections, CompiledSums
from spheremix.data.containers import as_table
from spheremix.data.engines import resolve_threads
from spheremix.data.frozen import FrozenRows
from spheremix.data.reference import ReferenceDirections
from spheremix.data.rows import as_rows, measure, refuse_rows, rescaled, some_rows
from spheremix.scorer import Scorer
from spheremix.views import Views

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import Want
    from spheremix.data.rows import Rows
    from spheremix.resultants import Resultants

    Array = NDArray[np.float64]

TILE_SCORES = 2**23  # scores of a tile of rows: 64 MB


class ViewTable(NamedTuple):
    """The rows of one view, and one over the norm of each: zero where a row has nothing in it."""

    rows: Rows
    scale: Array


# Opening


def open_views(X: Mapping[str, Any]) -> tuple[Views, list[ViewTable]]:
    """Open the tables of several views, which have the same rows in the same order."""
    if not X:
        raise ValueError("X is a dictionary without a view: give it a table of rows for each.")
    for name in X:
        if not isinstance(name, str):
            raise TypeError(f"The names of views are strings, and X has {name!r} among them.")
    tables = [_open_view(name, table) for name, table in X.items()]
    sizes = {name: table.rows.shape[0] for name, table in zip(X, tables, strict=True)}
    if len(set(sizes.values())) > 1:
        counts = ", ".join(f"{name!r} {n}" for name, n in sizes.items())
        raise ValueError(f"Views have the same rows, and here they have other numbers: {counts}.")
    nowhere = np.flatnonzero(~np.any([table.scale > 0.0 for table in tables], axis=0))
    if nowhere.size:
        few = ", ".join(str(row) for row in nowhere[:5]) + (", ..." if nowhere.size > 5 else "")
        rows = "1 row" if nowhere.size == 1 else f"{nowhere.size} rows"
        raise ValueError(
            f"X has {rows} with zeros only in every view, which have no direction: {few}. Drop "
            "them from all views, and keep their ids to put them back in the results."
        )
    return Views(tuple(X), tuple(int(table.rows.shape[1]) for table in tables)), tables


def _open_view(name: str, X: Any) -> ViewTable:
    """Open the rows of one view; those with zeros only have nothing in it."""
    if isinstance(X, str | os.PathLike) and Path(X).suffix.lower() == ".npy":
        X = map_array(Path(X))
    elsewhere = type(X).__module__.partition(".")[0] in {"torch", "dask"} or hasattr(X, "sweep")
    if elsewhere or is_source(X):
        raise ValueError(
            f"View {name!r} is no table in memory: several views are read from arrays, sparse "
            "matrices, data frames and .npy files."
        )
    try:
        rows = as_rows(as_table(X))
        norms = measure(rows)
        wrong = norms.odd[norms.largest != 0.0]
        refuse_rows(norms.largest[norms.largest != 0.0], wrong)
    except (TypeError, ValueError) as error:
        raise type(error)(f"View {name!r}: {error}") from error
    scale = norms.scale
    if norms.odd.size:
        zero = norms.largest == 0.0
        rows = rescaled(rows, wrong, norms.largest[~zero]) if wrong.size else rows
        scale[norms.odd[zero]] = 0.0
    return ViewTable(rows, scale)


def make_views(
    views: Views, tables: Sequence[ViewTable], engine: type, n_threads: int | None
) -> ReferenceViews | CompiledViews:
    """Return the rows of several views as an engine of one table would read each of them."""
    make = CompiledViews if engine is CompiledDirections else ReferenceViews
    return make(views, tables, n_threads=resolve_threads(n_threads))


def _absences(tables: Sequence[ViewTable]) -> sparse.csr_array:
    """Return which views each row has nothing in, (n, views)."""
    lacking = np.column_stack([table.scale == 0.0 for table in tables])
    return sparse.csr_array(lacking.astype(np.float64))


def _lacking(tables: Sequence[ViewTable]) -> NDArray[np.intp]:
    """Return the rows that have nothing in some view."""
    return np.flatnonzero(np.any([table.scale == 0.0 for table in tables], axis=0))


def _present(tables: Sequence[ViewTable]) -> tuple[int, ...]:
    """Return how many rows have a part in each view."""
    return tuple(int(np.count_nonzero(table.scale)) for table in tables)


def _take(tables: Sequence[ViewTable], ids: NDArray[np.intp]) -> list[ViewTable]:
    """Copy a few rows of each view, as they are stored."""
    return [ViewTable(*some_rows(*table, ids)) for table in tables]


def _unit_views(
    views: Views, tables: Sequence[ViewTable], ids: NDArray[np.intp]
) -> dict[str, Rows]:
    """Return a few unit rows of each view, sparse or dense as they are stored, in float64."""
    found: dict[str, Rows] = {}
    for name, table in zip(views.names, _take(tables, ids), strict=True):
        rows: Any = table.rows.astype(np.float64)
        scale = table.scale
        dense = isinstance(rows, np.ndarray)
        found[name] = scale[:, None] * rows if dense else sparse.diags_array(scale) @ rows
    return found


def _side_by_side(tables: Sequence[ViewTable]) -> sparse.csr_array:
    """Return unit rows of all views in one table, float64, with the columns of absences."""
    parts: list[Any] = [
        sparse.diags_array(table.scale) @ sparse.csr_array(table.rows.astype(np.float64))
        for table in tables
    ]
    found = sparse.csr_array(sparse.hstack([*parts, _absences(tables)], format="csr"))
    found.sort_indices()
    return found


# Engines


class ReferenceViews(ReferenceDirections):
    """The specification: the rows of all views side by side in one sparse table."""

    def __init__(self, views: Views, tables: Sequence[ViewTable], *, n_threads: int = 1) -> None:
        super().__init__(_side_by_side(tables), np.ones(len(tables[0].scale)), n_threads=n_threads)
        self.views = views
        self.unit_columns = views.columns
        self._tables = tables
        self.n_present = _present(tables)
        self._lacking = _lacking(tables)

    def sweep_listed(
        self, *arguments: Any, **options: Any
    ) -> tuple[list[Resultants], NDArray[np.float64], NDArray[np.int32]]:
        """Sweep the listed rows, or all, and return their margins; see ``Listable``."""
        found, margins, owners = super().sweep_listed(*arguments, **options)
        margins[:, self._lacking] = -np.inf  # the bounds are for rows that have every view
        return found, margins, owners

    def part(self, ids: ArrayLike) -> ReferenceViews:
        """Return some rows as an engine of their own."""
        few = _take(self._tables, row_numbers(ids, self.n_rows))
        return ReferenceViews(self.views, few, n_threads=self.n_threads)

    def take_views(self, ids: ArrayLike) -> dict[str, Rows]:
        """Return a few unit rows of each view, sparse or dense as they are stored."""
        return _unit_views(self.views, self._tables, row_numbers(ids, self.n_rows))


class CompiledViews(Shown):
    """Rows of several views, each read where it is by the compiled kernels.

    Parameters
    ----------
    views : Views
        Their names and sizes.
    tables : sequence of ViewTable
        Their rows, in the same order.
    n_threads : int
        Threads of the kernels, and of the M-step. The results are the same bits for any number.
    """

    def __init__(self, views: Views, tables: Sequence[ViewTable], *, n_threads: int = 1) -> None:
        self.views = views
        self.n_rows = len(tables[0].scale)
        self.n_features = views.width
        self.n_threads = n_threads
        self.n_present = _present(tables)  # rows that have a part in each view
        self.unit_columns: Sequence[slice] = views.columns
        self._tables = tables
        self._parts = [CompiledDirections(*table, n_threads=n_threads) for table in tables]
        self._columns = list(views.columns)
        self._lacking = _lacking(tables)
        if self._lacking.size:
            ones = np.ones(self.n_rows)
            part = CompiledDirections(_absences(tables), ones, n_threads=n_threads)
            self._parts.append(part)
            self._columns.append(views.absences)
        # Rows are assigned in the last part: a dense one, which is read once for both products.
        order = sorted(range(len(self._parts)), key=lambda i: not self._parts[i].is_sparse)
        self._parts = [self._parts[i] for i in order]
        self._columns = [self._columns[i] for i in order]
        self.n_entries = sum(part.n_entries for part in self._parts)
        self.longest = sum(part.longest for part in self._parts)

    def precision(self, scorers: Sequence[Scorer]) -> np.dtype[Any]:
        """Return the coarsest type in which scores of some view are calculated."""
        return self._coarsest(self._split(scorers))

    def remember(self) -> FrozenRows:
        """Return what sweeps the rows of one fit, and reads only those that can change."""
        return FrozenRows(self)

    def sweep(
        self, scorers: Sequence[Scorer], weights: NDArray[np.float64] | None = None
    ) -> list[Resultants]:
        """Read the rows once; return the resultants of each scorer."""
        if not scorers:
            return []
        check_features(scorers, self.n_features)
        split = self._split(scorers)
        each = self._sums(split, check_weights(weights, len(scorers), self.n_rows))
        first = _stacked(split[:-1])
        for tile, parts in self._tiles(_count(scorers)):
            scores = _first_scores(parts, first)
            each[-1].add(parts[-1], tile.start, given=scores)
            for sums, part in zip(each[:-1], parts[:-1], strict=True):
                sums.add(part, tile.start, given=scores, complete=True)
        return self._joined(each)

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
        margins = np.empty((len(scorers), self.n_rows))
        owners = np.full((len(scorers), self.n_rows), -1, dtype=np.int32)
        weights = check_weights(weights, len(scorers), self.n_rows)
        counted = weights
        if held is not None:
            owners[0] = held
            # Rows that stay where they are held add nothing: the last part finds out which.
            counted = np.ones(self.n_rows) if weights is None else weights.copy()
        split = self._split(scorers)
        each, first = self._sums(split, weights, counted, onto), _stacked(split[:-1])
        for start, parts, own in self._readings(_count(scorers), rows):
            ids = own if rows is not None else None
            scores = _first_scores(parts, first, ids)
            leads = margins, owners
            if ids is None:  # each tile has its own rows
                tile = slice(start, start + parts[0].n_rows)
                leads = np.empty((len(scorers), parts[0].n_rows)), owners[:, tile].copy()
            each[-1].add(parts[-1], start, ids, *leads, clear, given=scores)
            if ids is None:
                margins[:, tile], owners[:, tile] = leads
            if held is not None and counted is not None:
                stays = (held[own] == owners[0, own]) & (margins[0, own] >= clear)
                counted[own[stays]] = 0.0
            for sums, part in zip(each[:-1], parts[:-1], strict=True):
                sums.add(part, start, ids, given=scores, complete=True)
        margins[:, self._lacking] = -np.inf  # the bounds are for rows that have every view
        return self._joined(each), margins, owners

    def add_listed(
        self,
        rows: NDArray[np.intp],
        owners: NDArray[np.int32],
        factors: NDArray[np.float64],
        vectors: NDArray[np.float64],
        mass: NDArray[np.float64],
    ) -> None:
        """Add listed rows, times factors, to the sums of their owners."""
        for i, (part, columns) in enumerate(zip(self._parts, self._columns, strict=True)):
            own = np.zeros((len(mass), part.n_features))
            counted = mass if i == 0 else np.zeros(len(mass))
            part.add_listed(rows, owners, factors, own, counted)
            vectors[:, columns] += own

    def map_rows(self, scorer: Scorer, want: Want) -> NDArray[np.generic]:
        """Apply the scorer to each row; see ``Directions``."""
        check_features([scorer], self.n_features)
        out = output_array(want, self.n_rows, scorer.n_components)
        *others, (last,) = self._split([scorer])
        first = _stacked(others)
        for tile, parts in self._tiles(scorer.n_components):
            scores = _first_scores(parts, first)
            parts[-1].map_onto(last, want, out[tile], given=scores)
        return out

    def take(self, ids: ArrayLike) -> NDArray[np.float64]:
        """Return a few rows, dense: the unit vectors of all views side by side."""
        numbers = row_numbers(ids, self.n_rows)
        found = np.zeros((len(numbers), self.n_features))
        for part, columns in zip(self._parts, self._columns, strict=True):
            found[:, columns] = part.take(numbers)
        return found

    def part(self, ids: ArrayLike) -> CompiledViews:
        """Return some rows as an engine of their own, in the types in which they are stored."""
        few = _take(self._tables, row_numbers(ids, self.n_rows))
        return CompiledViews(self.views, few, n_threads=self.n_threads)

    def take_views(self, ids: ArrayLike) -> dict[str, Rows]:
        """Return a few unit rows of each view, sparse or dense as they are stored."""
        return _unit_views(self.views, self._tables, row_numbers(ids, self.n_rows))

    # The parts of a sweep

    def _split(self, scorers: Sequence[Scorer]) -> list[list[Scorer]]:
        """Return the scorers of each part: its own columns, and all else."""
        pulls = [scorer.pulls for scorer in scorers]
        return [
            [
                replace(one, matrix=np.ascontiguousarray(one.matrix[:, columns]), rates=own)
                for one, own in zip(scorers, pulls, strict=True)
            ]
            for columns in self._columns
        ]

    def _coarsest(self, split: Sequence[Sequence[Scorer]]) -> np.dtype[Any]:
        kinds = [part.precision(own) for part, own in zip(self._parts, split, strict=True)]
        return min(kinds, key=lambda kind: kind.itemsize)

    def _sums(
        self,
        split: Sequence[Sequence[Scorer]],
        weights: Array | None,
        counted: Array | None = None,
        onto: Resultants | None = None,
    ) -> list[CompiledSums]:
        """Begin the sums of each part; those of the last one have masses and likelihoods."""
        least = negligible(self._coarsest(split))
        each = []
        for part, columns, own in zip(self._parts, self._columns, split, strict=True):
            last = part is self._parts[-1]
            before = None
            if onto is not None:
                before = replace(onto, vectors=np.ascontiguousarray(onto.vectors[:, columns]))
            used = weights if last or counted is None else counted
            each.append(CompiledSums(part, own, used, self.n_rows, before, least))
        return each

    def _readings(
        self, n_components: int, rows: NDArray[np.intp] | None
    ) -> Iterator[tuple[int, list[CompiledDirections], NDArray[np.intp]]]:
        """Return what is read at a time: a tile of the rows, or some listed ones of them all."""
        if rows is None:
            for tile, parts in self._tiles(n_components):
                yield tile.start, parts, np.arange(tile.start, tile.stop)
            return
        step = _tile_rows(n_components)
        for start in range(0, len(rows), step):
            yield 0, self._parts, rows[start : start + step]

    def _tiles(self, n_components: int) -> Iterator[tuple[slice, list[CompiledDirections]]]:
        """Return the parts of one tile of rows after another."""
        step = _tile_rows(n_components)
        for start in range(0, self.n_rows, step):
            tile = slice(start, min(start + step, self.n_rows))
            yield tile, [part.cut(tile) for part in self._parts]

    def _joined(self, each: Sequence[CompiledSums]) -> list[Resultants]:
        """Put the sums of the parts side by side."""
        found = [sums.resultants() for sums in each]
        joined = []
        for s, one in enumerate(found[-1]):
            vectors = np.zeros((len(one.mass), self.n_features))
            for own, columns in zip(found, self._columns, strict=True):
                vectors[:, columns] = own[s].vectors
            joined.append(replace(one, vectors=vectors))
        return joined


def _stacked(split: Sequence[Sequence[Scorer]]) -> list[Scorer]:
    """Return the components of all scorers in one, for each part: products without biases."""
    found = []
    for scorers in split:
        matrix = np.concatenate([one.matrix for one in scorers])
        found.append(Scorer(matrix, np.zeros(len(matrix))))
    return found


def _first_scores(
    parts: Sequence[CompiledDirections],
    first: Sequence[Scorer],
    rows: NDArray[np.intp] | None = None,
) -> Array:
    """Return the scores that rows have from all parts but the last, without biases."""
    n_rows = parts[0].n_rows if rows is None else len(rows)
    scores = np.empty((n_rows, first[0].n_components))
    for i, (part, scorer) in enumerate(zip(parts[:-1], first, strict=True)):
        part.map_onto(scorer, "scores", scores, rows=rows, given=scores if i else None)
    return scores


def _tile_rows(n_components: int) -> int:
    """Return the rows of a tile, whole grains."""
    return max(1, TILE_SCORES // n_components // GRAIN) * GRAIN


def _count(scorers: Sequence[Scorer]) -> int:
    """Return the components of all scorers."""
    return sum(scorer.n_components for scorer in scorers)

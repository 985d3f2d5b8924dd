"""The engine of rows that do not fit into memory: an engine in memory sweeps block by block."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from scipy import sparse

from spheremix.data.base import GRAIN, Shown, row_numbers
from spheremix.data.block_sources import count_rows, join
from spheremix.data.rows import (
    Norms,
    as_rows,
    cut,
    entries_of,
    measure,
    open_rows,
    refuse_rows,
    rescaled,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import InMemory, Sums, Want
    from spheremix.data.block_sources import Source
    from spheremix.data.rows import Rows
    from spheremix.resultants import Resultants
    from spheremix.scorer import Scorer

T = TypeVar("T")

AHEAD = 2  # blocks that are read in advance while one is swept


class BlockDirections(Shown):
    """Unit rows of a source, a few blocks of them in memory at a time.

    A sweep has the same bits as with all rows in memory. (A fit in memory leaves out rows that
    cannot change, and agrees to rounding.) One number a row stays in memory, its scale.

    Parameters
    ----------
    source : Source
        It is read once to check the rows and to calculate their norms, then once a sweep.
    make : callable
        ``make(rows, scale, first_row=..., n_threads=...)`` gives the engine of one block.
    first_row : int
        Number of the first row among all rows, where this engine holds a part of them.
    n_threads : int
        Threads of that engine.
    """

    def __init__(
        self,
        source: Source,
        make: Callable[..., InMemory],
        *,
        first_row: int = 0,
        n_threads: int = 1,
    ) -> None:
        self._source = source
        self._make = make
        self.first_row = first_row
        self.n_threads = n_threads
        self._kind: tuple[Any, ...] = ()
        self.n_entries = 0
        self._norms = self._measure()
        self.n_rows = len(self._norms.scale)
        if self._norms.odd.size:
            refuse_rows(self._norms.largest, self._norms.odd + first_row)

    def _measure(self) -> Norms:
        """Read all rows for the first time, and return their norms."""
        found: list[Norms] = []
        start = 0
        with closing(read_ahead(self._tables())) as tables:
            for rows in tables:
                norms = measure(rows)
                found.append(norms._replace(odd=norms.odd + start))
                self.n_entries += entries_of(rows)[0]
                start, self.n_features = start + rows.shape[0], rows.shape[1]
        if not found:
            raise ValueError("X has no block: at least one row is needed.")
        return Norms(*map(np.concatenate, zip(*found, strict=True)))

    def sweep(
        self, scorers: Sequence[Scorer], weights: NDArray[np.float64] | None = None
    ) -> list[Resultants]:
        """Read the rows once; return the resultants of each scorer."""
        if not scorers:
            return []
        sums: Sums | None = None
        with closing(read_ahead(self._parts())) as parts:
            for start, part in parts:
                if sums is None:
                    sums = part.begin(scorers, weights, self.n_rows)
                sums.add(part, start)
        return sums.resultants() if sums is not None else []

    def map_rows(self, scorer: Scorer, want: Want) -> NDArray[Any]:
        """Apply the scorer to each row; see ``Directions``."""
        out: NDArray[Any] | None = None
        with closing(read_ahead(self._parts())) as parts:
            for start, part in parts:
                found = part.map_rows(scorer, want)
                if out is None:
                    out = np.empty((self.n_rows, *found.shape[1:]), found.dtype)
                out[start : start + len(found)] = found
        return np.empty(0) if out is None else out

    def take(self, ids: ArrayLike) -> NDArray[np.float64]:
        """Return a few unit rows, dense."""
        numbers = row_numbers(ids, self.n_rows)
        if not numbers.size:
            return np.empty((0, self.n_features))
        distinct, places = np.unique(numbers, return_inverse=True)
        return self._loaded(distinct).take(places)

    def part(self, ids: ArrayLike) -> InMemory:
        """Load some rows, by numbers in increasing order, as an engine in memory."""
        return self._loaded(row_numbers(ids, self.n_rows))

    def _loaded(self, distinct: NDArray[np.intp]) -> InMemory:
        """Load rows, and check that they are the ones that were read first."""
        table = self._source.take(distinct)
        if count_rows(table) != len(distinct):
            raise _rows_changed(int(distinct[-1]))
        rows, scale = open_rows(table)
        if (other := distinct[scale != self._norms.scale[distinct]]).size:
            raise _rows_changed(int(other[0]))
        return self._make(rows, scale, n_threads=self.n_threads)

    def _parts(self) -> Iterator[tuple[int, InMemory]]:
        """Return the engines of the blocks, each with the number of rows before it."""
        start = 0
        scale, odd, largest = self._norms
        for table in self._tables():
            rows, stop = table, start + table.shape[0]
            a, b = np.searchsorted(odd, [start, stop])
            # Detects a source that changed since the first reading, or that shuffles its rows.
            if stop > self.n_rows or measure(cut(rows, 0, 1)).scale[0] != scale[start]:
                break
            if b > a:
                rows = rescaled(rows, odd[a:b] - start, largest[a:b])
            first = self.first_row + start
            own = scale[start:stop]
            yield start, self._make(rows, own, first_row=first, n_threads=self.n_threads)
            start = stop
        if start != self.n_rows:
            raise _rows_changed(start)

    def _tables(self) -> Iterator[Rows]:
        """Read the source as tables of one kind, cut and joined on the grid of GRAIN rows."""
        return on_grid(self._uniform_tables(), self._source.least_rows)

    def _uniform_tables(self) -> Iterator[Rows]:
        """Read the source as tables of floats; refuse a table of another kind than the first."""
        with closing(self._source.tables()) as tables:
            for number, table in enumerate(tables):
                if count_rows(table) == 0:
                    continue
                rows = as_rows(table)
                kind = (rows.shape[1], rows.dtype, "sparse" if sparse.issparse(rows) else "dense")
                self._kind = self._kind or kind
                if kind != self._kind:
                    words = ["{} columns of {} ({})".format(*one) for one in (kind, self._kind)]
                    raise ValueError(
                        f"Block {number} has {words[0]}, the first block {words[1]}: give blocks "
                        "of one kind."
                    )
                yield rows


def read_ahead(items: Iterator[T], ahead: int = AHEAD) -> Generator[T, None, None]:
    """Return the items of an iterator, while a thread produces the next ones.

    An error in the thread is raised here. A generator that is not read to its end must be closed;
    ``close`` returns when the thread has ended.
    """
    end: Any = object()
    try:
        with ThreadPoolExecutor(1, "spheremix-reader") as reader:
            coming = deque(reader.submit(next, items, end) for _ in range(ahead))
            try:
                while (item := coming.popleft().result()) is not end:
                    coming.append(reader.submit(next, items, end))
                    yield item
            finally:
                for future in coming:
                    future.cancel()
    finally:
        items.close()  # type: ignore[attr-defined]


def on_grid(tables: Iterable[Rows], least: int) -> Iterator[Rows]:
    """Cut and join tables so that each has a multiple of GRAIN rows, and ``least`` rows or more.

    The last table has the rest. Large tables are cut without a copy.
    """
    kept: list[Rows] = []
    missing = least
    for table in tables:
        start, n_rows = 0, table.shape[0]
        if kept:
            start = min(missing, n_rows)
            kept.append(cut(table, 0, start))
            missing -= start
            if missing:
                continue
            yield join(kept)
            kept, missing = [], least
        whole = (n_rows - start) // GRAIN * GRAIN
        if whole >= least:
            yield cut(table, start, start + whole)
            start += whole
        if start < n_rows:
            kept, missing = [cut(table, start, n_rows)], least - (n_rows - start)
    if kept:
        yield join(kept)


def _rows_changed(row: int) -> RuntimeError:
    return RuntimeError(
        f"The rows changed while they were read again, near row {row}: every reading must give the "
        "same rows in the same order, without shuffling."
    )

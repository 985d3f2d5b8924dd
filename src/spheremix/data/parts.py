"""Parts of the rows, for those who need more than the three verbs give at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from spheremix.data.engines import engine_class, resolve_threads
from spheremix.data.open import as_directions, is_table
from spheremix.data.rows import as_rows, open_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from spheremix.data.base import Directions, Engine

BLOCK_ENTRIES = 2**22  # of dense rows held at a time: 32 MiB


def open_in_parts(
    X: Any, part_rows: int, engine: Engine = "auto", n_threads: int | None = None
) -> Iterator[Directions]:
    """Open a table in memory ``part_rows`` rows at a time; anything else at once."""
    if not isinstance(X, np.ndarray) and not is_table(X):
        yield as_directions(X, engine=engine, n_threads=n_threads)
        return
    make, threads = engine_class(engine), resolve_threads(n_threads)
    rows, scale = open_rows(X)
    for start in range(0, len(scale), part_rows):
        part = slice(start, start + part_rows)
        yield make(rows[part], scale[part], first_row=start, n_threads=threads)


def nonzero_parts(X: Any) -> Iterator[Any]:
    """Return rows part after part, with a one for every entry that is not zero, as CSR arrays."""
    if sparse.issparse(X) or is_table(X):
        table: Any = as_rows(X)
        n, size = table.shape[0], max(1, BLOCK_ENTRIES // table.shape[1])
        parts: Iterator[Any] = (
            iter([table])
            if sparse.issparse(table)
            else (table[i : i + size] for i in range(0, n, size))
        )
    else:
        directions = as_directions(X)
        n, size = directions.n_rows, max(1, BLOCK_ENTRIES // directions.n_features)
        parts = (directions.take(np.arange(i, min(i + size, n))) for i in range(0, n, size))
    for part in parts:
        yield sparse.csr_array(part != 0.0, dtype=np.float64)


def scaled_parts(X: Any) -> Iterator[tuple[Any, NDArray[np.float64]]]:
    """Return the rows part after part, as they are stored, with what makes each of length one.

    A sparse matrix and an array in memory are one part; nothing of them is copied.
    """
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        rows, scale = open_rows(X)
        yield rows, np.asarray(scale, dtype=np.float64)
        return
    directions = as_directions(X)
    size = max(1, BLOCK_ENTRIES // directions.n_features)
    for i in range(0, directions.n_rows, size):
        part = directions.take(np.arange(i, min(i + size, directions.n_rows)))
        yield part, np.ones(len(part))


def unit_columns(X: Any, columns: NDArray[np.intp]) -> tuple[Any, NDArray[np.uint32]]:
    """Return some columns of the unit rows, and how many columns each row has in all.

    The columns are a CSR array of float64 with sorted indices. Empty rows of a CSR array stay so.
    """
    if isinstance(X, np.ndarray) or sparse.issparse(X):
        table: Any = X
        n = table.shape[0]
        there = np.flatnonzero(np.diff(table.indptr)) if hasattr(X, "indptr") else np.arange(n)
        gaps = len(there) < n
        found, scale = open_rows(table[there] if gaps else X)
        whole: Any = sparse.csr_array(found)
        if gaps:
            whole = spread_rows(whole, there, n)
            scale, own = np.zeros(n), scale
            scale[there] = own
        counts = [_count_nonzero(whole)]
        rows: Any = whole[:, columns].astype(np.float64)
        rows.data *= np.repeat(scale, np.diff(rows.indptr))
    else:
        directions = as_directions(X)
        size = max(1, BLOCK_ENTRIES // directions.n_features)
        ids = np.arange(directions.n_rows)
        parts, counts = [], []
        for i in range(0, len(ids), size):
            whole = sparse.csr_array(directions.take(ids[i : i + size]))
            counts.append(_count_nonzero(whole))
            parts.append(whole[:, columns])
        rows = sparse.vstack(parts, format="csr")
    rows.sort_indices()
    return rows, np.concatenate(counts)


def spread_rows(rows: Any, places: NDArray[np.integer[Any]], n: int) -> sparse.csr_array:
    """Return n sparse rows: these ones at increasing places, and empty ones at the others."""
    ends = np.zeros(n + 1, dtype=rows.indptr.dtype)
    ends[np.asarray(places) + 1] = np.diff(rows.indptr)
    np.cumsum(ends, out=ends)
    return sparse.csr_array((rows.data, rows.indices, ends), shape=(n, rows.shape[1]))


def _count_nonzero(rows: Any) -> NDArray[np.uint32]:
    """Count the entries of each row of a CSR array that are not zero."""
    owners = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    return np.bincount(owners[rows.data != 0.0], minlength=rows.shape[0]).astype(np.uint32)

"""Rows that are not in memory, as tables that can be read again and again."""

from __future__ import annotations

import errno
import glob
import importlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy import sparse

from spheremix._files import open_regular
from spheremix.data.base import GRAIN
from spheremix.data.rows import as_rows, csr_of, index_arrays

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from numpy.typing import NDArray


BLOCK_BYTES = 2**26  # size of a block, if the user gives no number of rows
PAGE = 4096  # bytes of a page of memory, which is a multiple of this on every system
SMALL_TABLES = 8192  # rows of a block that small tables of an iterable are joined to


class Source(Protocol):
    """Rows that are not in memory, such as those of a file."""

    least_rows: int  # of a block, a multiple of GRAIN: smaller tables are joined

    def tables(self) -> Generator[Any, None, None]:
        """Read the rows from the first to the last, in tables of any sizes."""
        ...

    def take(self, ids: NDArray[np.intp]) -> Any:
        """Return a table of a few rows, whose numbers increase; keep no other row in memory."""
        ...


def is_path(X: Any) -> bool:
    """Return whether X is a path, or a list of paths of Parquet files."""
    if isinstance(X, list | tuple):
        return bool(X) and all(isinstance(one, str | os.PathLike) and is_parquet(one) for one in X)
    return isinstance(X, str | os.PathLike)


def is_parquet(path: str | os.PathLike[str]) -> bool:
    """Tell by its name whether a path is one of Parquet."""
    return Path(path).suffix.lower() in {".parquet", ".pq"}


def is_source(X: Any) -> bool:
    """Return whether X is a path or an iterable of tables, rather than an array."""
    if is_path(X):
        return True
    if isinstance(X, list | tuple):
        return bool(X) and getattr(X[0], "ndim", 0) == 2
    arrays = ("shape", "__array__", "__array_interface__", "__dataframe__", "__arrow_c_stream__")
    known = isinstance(X, dict | bytes) or any(hasattr(X, name) for name in arrays)
    return not known and hasattr(X, "__iter__")


def is_mapped(X: Any) -> bool:
    """Return whether X is an array or a CSR on a file, larger than a block."""
    part: Any = X.data if getattr(X, "format", None) == "csr" else X
    if not isinstance(part, np.ndarray) or part.nbytes <= BLOCK_BYTES:
        return False
    while isinstance(part, np.ndarray):
        # The result of a calculation with a memmap is a memmap too, but one without a file.
        if isinstance(part, np.memmap) and getattr(part, "_mmap", None) is not None:
            return True
        part = part.base
    return False


def open_source(X: Any, block_rows: int | None = None, column: str | None = None) -> Source:
    """Return the source that reads X."""
    whole = isinstance(block_rows, int | np.integer) and not isinstance(block_rows, bool)
    if block_rows is not None and (not whole or block_rows < 1):
        raise ValueError(f"block_rows must be None or an integer >= 1, got {block_rows!r}.")
    if is_path(X):
        return _open_path(X, block_rows, column)
    if is_source(X):
        return IterableSource(X, block_rows)
    if type(X) not in {np.ndarray, np.memmap} and getattr(X, "format", None) != "csr":
        X = as_rows(X)
    if isinstance(X, np.ndarray):
        return ArraySource(X, block_rows)
    return CsrSource(X.data, X.indices, X.indptr, X.shape[1], block_rows)


def _open_path(X: Any, block_rows: int | None, column: str | None) -> Source:
    files = _parquet_files(X)
    if files is not None:
        return ParquetSource(X, files, block_rows, column)
    path = Path(X)
    if not _exists(path):
        name = str(path)
        raise FileNotFoundError(
            f"{name if len(name) < 200 else name[:60] + '...'}: no such file or folder. A string "
            "is the path of rows on disk; texts are turned into rows of numbers first, for example "
            "with scikit-learn's TfidfVectorizer."
        )
    if column is not None:
        raise ValueError(f"{path}: column={column!r} is one of a Parquet file, and this is none.")
    if path.is_dir():
        return _open_csr(path, block_rows)
    if path.suffix.lower() == ".npy":
        return ArraySource(map_array(path), block_rows)
    raise ValueError(
        f"{path}: rows on disk are a .npy array, a .parquet file or folder of such files, or a "
        "folder with data.npy, indices.npy, indptr.npy and shape.npy of a CSR matrix. Other files "
        "are read first, for example a .npz with scipy.sparse.load_npz."
    )


def _parquet_files(X: Any) -> list[Path] | None:
    """Return Parquet files of a path, of a folder, a list or a pattern; None for other paths."""
    if isinstance(X, list | tuple):
        return [Path(one) for one in X]
    path = Path(X)
    if not _exists(path):
        known = is_parquet(path) and glob.has_magic(str(path))
        found = glob.glob(str(path)) if known else []  # noqa: PTH207 (folders may be patterns too)
        return sorted(map(Path, found)) or None
    if not path.is_dir():
        return [path] if is_parquet(path) else None
    files = sorted(file for file in path.iterdir() if is_parquet(file))
    return files if files or is_parquet(path) else None


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:  # as a text is
            raise
        return False


def _open_csr(path: Path, block_rows: int | None) -> Source:
    names = ("data", "indices", "indptr", "shape")
    missing = [f"{name}.npy" for name in names if not (path / f"{name}.npy").is_file()]
    if len(missing) == len(names):
        raise ValueError(
            f"{path}: directly in this folder there are neither .parquet files nor the arrays of a "
            "CSR matrix (data.npy, indices.npy, indptr.npy and shape.npy)."
        )
    if missing:
        raise ValueError(
            f"{path}: a folder of a CSR matrix X has data.npy, indices.npy, indptr.npy and "
            f"shape.npy; there is no {' and no '.join(missing)}. Write each with "
            "numpy.save(name, X.data) and so on, shape.npy with X.shape."
        )
    data, indices, indptr, shape = (map_array(path / f"{name}.npy") for name in names)
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or len(indptr) != shape[0] + 1:
        raise ValueError(f"{path}: shape.npy does not say (rows, columns) as indptr.npy has them.")
    return CsrSource(data, indices, indptr, int(shape[1]), block_rows)


def map_array(path: Path) -> NDArray[Any]:
    """Return the array of a file, read where it is."""
    try:
        open_regular(path).close()  # a pipe would be waited for
        return np.lib.format.open_memmap(path, mode="r")
    except ValueError as error:
        raise ValueError(f"{path}: no array of numbers that can be mapped ({error}).") from None


def _grid(block_rows: int | None, row_bytes: float) -> int:
    """Return the number of rows of a block, a multiple of GRAIN."""
    wanted = BLOCK_BYTES / max(row_bytes, 1.0) if block_rows is None else block_rows
    return GRAIN * max(1, round(wanted / GRAIN + 0.499))


def load_pages(*parts: NDArray[Any]) -> None:
    """Have the pages of mapped arrays read from disk, by reading one byte of each."""
    for part in parts:
        if part.size and part.flags.c_contiguous and not part.dtype.hasobject:
            part.reshape(-1).view(np.uint8)[::PAGE].max()


def count_rows(table: Any) -> int:
    """Count the rows of a table of any kind."""
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)


def join(tables: list[Any]) -> Any:
    """Join tables of one kind; an empty list gives a table without rows."""
    if not tables:
        return np.empty((0, 0))
    if len(tables) == 1:
        return tables[0]
    if isinstance(tables[0], np.ndarray):
        return np.concatenate(tables)
    return sparse.vstack(tables, format="csr")


class ArraySource:
    """Rows of an array, mapped from a file or not."""

    def __init__(self, X: NDArray[Any], block_rows: int | None) -> None:
        if X.ndim != 2:
            raise ValueError(f"Expected 2D array, got {X.ndim}D array instead, shape {X.shape}.")
        self._X = X
        self.least_rows = _grid(block_rows, X.nbytes / max(len(X), 1))

    def tables(self) -> Generator[Any, None, None]:
        """Read the rows in blocks."""
        for start in range(0, len(self._X), self.least_rows):
            block = np.asarray(self._X[start : start + self.least_rows])
            load_pages(block)
            yield block if block.flags.c_contiguous else np.ascontiguousarray(block)

    def take(self, ids: NDArray[np.intp]) -> Any:
        """Return a few rows."""
        return np.asarray(self._X[ids])


class CsrSource:
    """Rows of a CSR matrix given by its arrays, mapped from files or not."""

    def __init__(
        self,
        data: NDArray[Any],
        indices: NDArray[Any],
        indptr: NDArray[Any],
        n_features: int,
        block_rows: int | None,
    ) -> None:
        stored = int(indptr[-1]) if len(indptr) else 0
        if min(len(data), len(indices)) < stored or len(indptr) < 2:
            raise ValueError(
                f"The arrays of the CSR matrix do not fit together: indptr speaks of {stored} "
                f"entries, data has {len(data)} and indices {len(indices)}."
            )
        self._parts = data, indices, indptr
        self._n_features = n_features
        self._canonical: set[int] = set()  # first rows of blocks whose indices are sorted, unique
        entry = data.itemsize + indices.itemsize
        self.least_rows = _grid(block_rows, entry * stored / (len(indptr) - 1) + indptr.itemsize)

    def tables(self) -> Generator[Any, None, None]:
        """Read the rows in blocks."""
        n_rows = len(self._parts[2]) - 1
        for start in range(0, n_rows, self.least_rows):
            block = self._rows(start, min(start + self.least_rows, n_rows))
            load_pages(block.data, block.indices)
            # The order of the indices is checked at the first reading only; SciPy would check it
            # at every one.
            if start in self._canonical:
                block.has_canonical_format = True
            elif block.has_canonical_format:
                self._canonical.add(start)
            yield block

    def take(self, ids: NDArray[np.intp]) -> Any:
        """Return a few rows."""
        return join([self._rows(i, i + 1) for i in ids])

    def _rows(self, start: int, stop: int) -> sparse.csr_array:
        data, indices, indptr = self._parts
        ends = np.asarray(indptr[start : stop + 1], dtype=np.int64)
        own = slice(int(ends[0]), int(ends[-1]))
        pointers, columns = index_arrays(ends - ends[0], np.asarray(indices[own]))
        return csr_of(np.asarray(data[own]), columns, pointers, self._n_features)


class IterableSource:
    """Tables of an iterable, which begins again with the first one at every ``iter``."""

    def __init__(self, tables: Iterable[Any], block_rows: int | None) -> None:
        if iter(tables) is tables:
            raise ValueError(
                f"X is an iterator ({type(tables).__name__}), which can be read once, and a fit "
                "reads the rows many times. Give an object whose __iter__ begins again, such as a "
                "class with `def __iter__(self): yield ...`, or call partial_fit on each block."
            )
        self._tables = tables
        self.least_rows = _grid(block_rows or SMALL_TABLES, 1.0)

    def tables(self) -> Generator[Any, None, None]:
        """Read the tables. Those that are not in a list are copied: iterables often refill one."""
        fixed = isinstance(self._tables, list | tuple)
        for table in self._tables:
            copy = None if fixed else getattr(table, "copy", getattr(table, "clone", None))
            yield table if copy is None else copy()

    def take(self, ids: NDArray[np.intp]) -> Any:
        """Return a few rows, reading no further than the last of them."""
        found: list[Any] = []
        start = 0
        tables = iter(self._tables)
        for table in tables:
            stop = start + count_rows(table)
            own = ids[(ids >= start) & (ids < stop)] - start
            if own.size:
                found.append(as_rows(table)[own])
            start = stop
            if start > ids[-1]:
                break
        if hasattr(tables, "close"):
            tables.close()
        return join(found)


BATCH_ROWS = 16_384


class ParquetSource:
    """Rows of a column whose values are lists of numbers, all of one length.

    Parameters
    ----------
    where : path, or list of paths
        What the user gave, for the messages.
    files : list of paths
        Read one after the other.
    block_rows : int or None
        Rows decoded at a time.
    column : str or None
        None takes the only column of lists.
    """

    def __init__(
        self, where: Any, files: list[Path], block_rows: int | None, column: str | None
    ) -> None:
        try:
            self._arrow = importlib.import_module("pyarrow")
            self._parquet = importlib.import_module("pyarrow.parquet")
        except ImportError:
            raise ImportError(
                f"{where}: Parquet is read with pyarrow. Install it: pip install pyarrow."
            ) from None
        self.least_rows = GRAIN * -(-(block_rows or BATCH_ROWS) // GRAIN)
        self._files = files
        if not self._files:
            raise ValueError(
                f"{where}: no .parquet file directly in this folder. Folders below are not read: "
                "give one of them, or put the files side by side."
            )
        self._column = column
        self._length = 0  # numbers of a row, those of the first
        with self._open(self._files[0]) as file:
            self._column = self._choose(self._files[0], file.schema_arrow)

    def tables(self) -> Generator[NDArray[Any], None, None]:
        """Read the rows in batches."""
        start = 0
        for path in self._files:
            with self._open(path) as file:
                self._choose(path, file.schema_arrow)
                batches = file.iter_batches(batch_size=self.least_rows, columns=[self._column])
                for batch in batches:
                    yield self._rows(path, batch.column(0), start)
                    start += batch.num_rows

    def take(self, ids: NDArray[np.intp]) -> NDArray[Any]:
        """Return a few rows, reading only the row groups that hold them."""
        found: list[NDArray[Any]] = []
        start = 0
        for path in self._files:
            with self._open(path) as file:
                self._choose(path, file.schema_arrow)
                for group in range(file.metadata.num_row_groups):
                    stop = start + file.metadata.row_group(group).num_rows
                    own = ids[(ids >= start) & (ids < stop)] - start
                    if own.size:
                        table = file.read_row_group(group, columns=[self._column])
                        few = table.column(0).take(self._arrow.array(own)).combine_chunks()
                        found.append(self._rows(path, few, start))
                    start = stop
        return join(found)  # type: ignore[no-any-return]

    def _open(self, path: Path) -> Any:
        open_regular(path).close()  # a pipe would be waited for
        try:
            return self._parquet.ParquetFile(path)
        except self._arrow.ArrowException as error:
            raise ValueError(f"{path}: damaged, or no Parquet file ({error}).") from None

    def _choose(self, path: Path, schema: Any) -> str:
        """Return the name of the column of lists that a file has."""
        types, column = self._arrow.types, self._column
        lists = [
            field.name
            for field in schema
            if types.is_list(field.type)
            or types.is_large_list(field.type)
            or types.is_fixed_size_list(field.type)
        ]
        if column is None and len(lists) == 1:
            return str(lists[0])
        if column in lists:
            return str(column)
        if column is not None:
            raise ValueError(f"{path}: {column!r} is no column of lists; those are {lists}.")
        if lists:
            raise ValueError(f"{path}: several columns of lists, {lists}: name one with column=.")
        raise ValueError(
            f"{path}: no column of lists among {schema.names}. Write each row as one list of "
            "numbers, in a single column, or load the columns: pyarrow.parquet.read_table(path)."
        )

    def _rows(self, path: Path, lists: Any, start: int) -> NDArray[Any]:
        """Return the lists as a table; ``start`` rows came before."""
        if lists.null_count:
            row = int(np.flatnonzero(lists.is_null().to_numpy(zero_copy_only=False))[0])
            raise ValueError(f"{path}: row {start + row} has no list. Drop such rows.")
        if self._arrow.types.is_fixed_size_list(lists.type):
            lengths = np.full(len(lists), lists.type.list_size)
        else:
            lengths = lists.value_lengths().to_numpy(zero_copy_only=False)
        self._length = self._length or int(lengths[0])
        other = np.flatnonzero(lengths != self._length)
        if other.size:
            raise ValueError(
                f"{path}: row {start + other[0]} has {lengths[other[0]]} numbers, the first row "
                f"{self._length}. All rows need as many."
            )
        values = lists.flatten().to_numpy(zero_copy_only=False)
        return values.reshape(len(lists), self._length)  # type: ignore[no-any-return]

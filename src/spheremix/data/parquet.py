"""Rows in a column of lists of Parquet files."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix._files import open_regular
from spheremix.data.base import GRAIN
from spheremix.data.block_sources import join
from spheremix.errors import MissingPackageError
from spheremix.wording import install

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from numpy.typing import NDArray

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
            raise MissingPackageError(
                "{where}: Parquet is read with the package pyarrow",
                remedies=(install("pyarrow"),),
                where=where,
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

"""A table about text files: its rows, each with the file that it names."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from spheremix.text.columns import missing
from spheremix.text.corpus import ReadError, listed, shown
from spheremix.text.files import checksum, reading
from spheremix.text.names import without_suffix
from spheremix.text.tables import long_fields, open_table
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    Rows = list[tuple[int, Mapping[str, Any]]]

SAID = 3  # examples of what fits nothing


@dataclass(frozen=True, slots=True)
class Joined:
    """Rows of a table, one for each file, in the order of the files.

    Attributes
    ----------
    path : Path
        Of the table.
    unit : str
        What a row is called in messages.
    column : str
        The one with the names of the files.
    rows : list of (int, dict)
        The number of each row, and its values; none of a file that the table does not name.
    notes : list of str
        Which column was used, which files and rows fit nothing.
    checksum : str
        Of the table.
    """

    path: Path
    unit: str
    column: str
    rows: Rows
    notes: list[str]
    checksum: str


def join(
    table: Path, folder: Path, names: Sequence[str], column: str | None, suffixes: Sequence[str]
) -> Joined:
    """Find the row of each file of a folder, by a column of file names, given or found."""
    with reading(table), long_fields():
        opened = open_table(table)
        records = list(opened.records())
        digits = checksum(table)
    if not records:
        raise ReadError.at(table, "there are no rows in it.")
    files = _Files(folder, names, suffixes)
    how = "." if column else " (found)."
    column = column or _fitting(table, records, files)
    there = list(dict.fromkeys(name for _, record in records for name in record))
    if column not in there:
        raise missing(table, column, there)
    rows: dict[int, tuple[int, Mapping[str, Any]]] = {}
    unused = []
    for number, record in records:
        file = files.find(record.get(column))
        if file is None:
            unused.append(shown(record.get(column)))
        elif len(file) > 1:
            raise _twofold(table, f"{opened.unit} {number}", record[column], file, names)
        elif file[0] in rows:
            raise ReadError.at(
                table,
                "the file {file} has another row, {unit} {first}",
                f"{opened.unit} {number}",
                remedies=("leave one row for each file",),
                file=shown(names[file[0]]),
                unit=opened.unit,
                first=rows[file[0]][0],
            )
        else:
            rows[file[0]] = number, record
    if not rows:
        raise _nothing(table, column, records, names)
    notes = [f"Column {shown(column)} of {table.name} names the files{how}"]
    alone = [shown(name) for i, name in enumerate(names) if i not in rows]
    notes += _left(f"{count(len(alone), 'file')} of {len(names):,} not in {table.name}", alone)
    notes += _left(f"{count(len(unused), 'row')} of {table.name} without a file", unused)
    found = [rows.get(i, (0, {})) for i in range(len(names))]
    return Joined(table, opened.unit, column, found, notes, digits)


def _left(what: str, examples: list[str]) -> list[str]:
    more = f" and {len(examples) - SAID:,} more" if len(examples) > SAID else ""
    return [f"{what}: {', '.join(examples[:SAID])}{more}."] if examples else []


class _Files:
    """Files by the names that a table may give them: with or without folders and ends."""

    def __init__(self, folder: Path, names: Sequence[str], suffixes: Sequence[str]) -> None:
        self.first = names[0]
        self._root = f"{folder.resolve().name}/"
        self._whole: dict[str, list[int]] = {}
        self._bare: dict[str, list[int]] = {}  # without folders
        for i, name in enumerate(names):
            path = unicodedata.normalize("NFC", name)
            for found, given in ((self._whole, path), (self._bare, PurePosixPath(path).name)):
                short = without_suffix(given, suffixes)
                for one in dict.fromkeys((given, given.removesuffix(".gz"), short)):
                    found.setdefault(one, []).append(i)

    def find(self, value: Any) -> list[int] | None:
        """Return the positions of the files that a value names."""
        text = unicodedata.normalize("NFC", str(value)).strip().replace("\\", "/")
        text = text.removeprefix("./")
        for one in (text, text.removeprefix(self._root)):
            if found := self._whole.get(one) or self._bare.get(one):
                return found
        return None


def _fitting(table: Path, records: Rows, files: _Files) -> str:
    """Return the column whose values name the most files."""
    hits: dict[str, int] = {}
    for _, record in records:
        for name, value in record.items():
            if isinstance(value, str | int) and not isinstance(value, bool):
                hits[name] = hits.get(name, 0) + (files.find(value) is not None)
    best = max(hits, key=hits.__getitem__, default=None)
    if best is None or not hits[best]:
        raise ReadError.at(
            table,
            "no column has the names of files, as {file}; there are {there}",
            remedies=("write them into a column",),
            file=shown(files.first),
            there=listed(list(records[0][1])),
        )
    return best


def _nothing(table: Path, column: str, records: Rows, names: Sequence[str]) -> ReadError:
    return ReadError.at(
        table,
        "no value of column {column} is the name of a file, as {value}; a file is called {file}",
        remedies=("name the column of file names with {id}",),
        column=shown(column),
        value=shown(records[0][1].get(column)),
        file=shown(names[0]),
    )


def _twofold(
    table: Path, place: str, value: Any, found: Sequence[int], names: Sequence[str]
) -> ReadError:
    return ReadError.at(
        table,
        "{value} may be {one} or {other}",
        place,
        remedies=("write the folder before the name",),
        value=shown(value),
        one=shown(names[found[0]]),
        other=shown(names[found[1]]),
    )

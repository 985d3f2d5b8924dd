"""Records out of files: CSV and TSV, JSON lines, Parquet."""

from __future__ import annotations

import csv
import importlib
import json
import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from spheremix._files import open_regular
from spheremix.text.corpus import ReadError, listed, shown
from spheremix.text.files import lines
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Records = Iterator[tuple[int, Mapping[str, Any]]]

TEXT_SUFFIXES = (".txt", ".text", ".md")
NO_FRACTION = re.compile(r"\.0+$")  # of a second
MATRIX_SUFFIXES = (".npz", ".npy", ".mtx")
KNOWN = (
    ".csv, .tsv, .jsonl, .ndjson, .json (all also with .gz), .parquet, or a folder of text files; "
    "for a matrix .npz, .npy, .mtx"
)


@dataclass(frozen=True, slots=True)
class Table:
    """Records that can be read again and again."""

    format: str
    unit: str
    complete: bool  # every record has every column
    records: Callable[[], Records]


def open_table(path: Path) -> Table:
    """Choose the reader by the end of the name."""
    name = path.name.lower()
    packed = name.endswith(".gz")
    suffix = Path(name.removesuffix(".gz")).suffix
    if suffix in {".csv", ".tsv", ".tab"}:
        delimiter = _delimiter(path) if suffix == ".csv" else "\t"
        kind = {",": "CSV", "\t": "TSV"}.get(delimiter, f"CSV with {shown(delimiter)}")
        return Table(kind, "line", True, lambda: _csv_records(path, delimiter))
    if suffix in {".jsonl", ".ndjson"}:
        return Table("JSON lines", "line", False, lambda: _json_records(path))
    if suffix == ".json":
        if next(filter(str.strip, lines(path)), "").lstrip()[:1] != "[":
            return Table("JSON lines", "line", False, lambda: _json_records(path))
        objects = _json_list(path)
        return Table("JSON", "object", False, lambda: iter(enumerate(objects, 1)))
    if suffix in {".parquet", ".pq"} and not packed:
        return Table("Parquet", "row", True, lambda: _parquet_records(path))
    if suffix in MATRIX_SUFFIXES:
        raise ReadError.at(path, "this is a matrix, not documents: use read_matrix.")
    if suffix in TEXT_SUFFIXES:
        raise ReadError.at(
            path,
            "this is one text: put one file a document into a folder, and name the folder; for a "
            "document a line, make it JSON lines or a CSV with the header text.",
        )
    raise ReadError.at(
        path,
        "the format {suffix} is not known: use {known}.",
        suffix=shown(path.suffix),
        known=KNOWN,
    )


@contextmanager
def long_fields() -> Iterator[None]:
    """Let fields of CSV files be long."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _delimiter(path: Path) -> str:
    """Return what separates the fields of the first line that has any: , or ; or a tab."""
    header = next(filter(str.strip, lines(path)), "")
    return max(",;\t", key=header.count)


def _csv_records(path: Path, delimiter: str) -> Records:
    rows = csv.reader(lines(path), delimiter=delimiter, strict=True)
    header: list[str] = []
    line = 1
    try:
        for row in rows:
            start, line = line, rows.line_num + 1
            if not header:
                header = _header(path, row)
            elif row and len(row) != len(header):
                raise ReadError.at(
                    path,
                    "{fields} where the header has {wanted}: quote fields that have {delimiter} or "
                    "line ends in them, and double quotes in quotes.",
                    f"line {start}",
                    fields=count(len(row), "field"),
                    wanted=len(header),
                    delimiter=shown(delimiter),
                )
            elif row:
                yield start, dict(zip(header, row, strict=True))
    except csv.Error as error:
        raise ReadError.at(
            path,
            "broken CSV ({error}): check the quotes of this record.",
            f"line {line}",
            error=error,
        ) from None


def _header(path: Path, row: list[str]) -> list[str]:
    names = [name.strip() for name in row]
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise ReadError.at(
            path, "two columns are called {name}: rename one.", "line 1", name=shown(twice[0])
        )
    return names


def _json_records(path: Path) -> Records:
    for number, line in enumerate(lines(path), 1):
        if line.strip():
            yield number, _object(path, _parse(path, line, number), f"line {number}")


def _json_list(path: Path) -> list[Mapping[str, Any]]:
    objects = _parse(path, "".join(lines(path)), None)
    return [_object(path, value, f"object {i}") for i, value in enumerate(objects, 1)]


def _parse(path: Path, text: str, line: int | None) -> Any:
    try:
        return json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        place, problem = f"line {line or error.lineno}", f"{error.msg} at column {error.colno}"
    except (ValueError, RecursionError) as error:  # digits without end, lists in lists in lists
        place, problem = f"line {line or 1}", str(error)
    raise ReadError.at(
        path, "broken JSON ({problem}): correct or remove this line.", place, problem=problem
    )


def _object(path: Path, value: Any, place: str) -> Mapping[str, Any]:
    if isinstance(value, dict):
        return value
    raise ReadError.at(
        path,
        '{value} is not an object: write {{"text": "..."}}, one a line.',
        place,
        value=shown(value),
    )


def _parquet_records(path: Path) -> Records:
    try:
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise ReadError.at(
            path, 'Parquet is read with pyarrow: pip install "spheremix[explore]".'
        ) from None
    try:
        with open_regular(path) as content, parquet.ParquetFile(content) as file:
            names = file.schema_arrow.names
            if len(set(names)) < len(names):
                raise ReadError.at(
                    path, "two columns have the same name: {names}.", names=listed(names)
                )
            number = 0
            for batch in file.iter_batches(batch_size=1000):
                table = {
                    name: _plain_values(arrow, column)
                    for name, column in zip(batch.schema.names, batch.columns, strict=True)
                }
                for i in range(batch.num_rows):
                    number += 1
                    yield number, {name: values[i] for name, values in table.items()}
    except (arrow.ArrowException, UnicodeDecodeError) as error:
        raise ReadError.at(path, "damaged Parquet file ({error}).", error=error) from None


def _plain_values(arrow: Any, column: Any) -> list[Any]:
    """Return values of a column as Python's own; times are texts, in UTC if they have a zone."""
    if arrow.types.is_timestamp(column.type):
        written = column.cast(arrow.timestamp(column.type.unit)).cast(arrow.string()).to_pylist()
        return [one and _moment(one, zoned=bool(column.type.tz)) for one in written]
    if arrow.types.is_date(column.type):
        column = column.cast(arrow.date32(), safe=False)
    try:
        return cast("list[Any]", column.to_pylist())
    except (OverflowError, ValueError):  # a time beyond the years that Python knows
        return [_plain_value(arrow, value) for value in column]


def _moment(text: str, *, zoned: bool) -> str:
    """Return a time as it is written; a day alone where the time says nothing."""
    text = NO_FRACTION.sub("", text)
    return f"{text}Z" if zoned else text.removesuffix(" 00:00:00")


def _plain_value(arrow: Any, value: Any) -> Any:
    try:
        return value.as_py()
    except (OverflowError, ValueError):
        return f"{value.value} days after 1970-01-01" if arrow.types.is_date(value.type) else None

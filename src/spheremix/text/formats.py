"""Records out of tables: CSV and TSV, JSON, Parquet, workbooks, and data frames in memory."""

from __future__ import annotations

import importlib
import io
import json
import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard, cast

from spheremix._files import open_regular
from spheremix.errors import MissingPackageError, ParameterError
from spheremix.text.corpus import ReadError, listed, shown
from spheremix.text.csv_files import DELIMITERS, check_names, has_header, open_csv, without_header
from spheremix.text.files import EXPANSION, LEAST_UNPACKED, archive, lines
from spheremix.wording import count, install

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Records = Iterator[tuple[int, Mapping[str, Any]]]

NO_FRACTION = re.compile(r"\.0+$")  # of a second
TEXT_SUFFIXES = (".txt", ".text", ".md")
MATRIX_SUFFIXES = (".npz", ".npy", ".mtx")
CSV_SUFFIXES = (".csv", ".tsv", ".tab")
WORKBOOK_SUFFIXES = (".xlsx", ".xlsm")
JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
PARQUET_SUFFIXES = (".parquet", ".pq")
TABLE_SUFFIXES = (*CSV_SUFFIXES, *WORKBOOK_SUFFIXES, *JSON_SUFFIXES, *PARQUET_SUFFIXES)
KNOWN = (
    ".csv, .tsv, .jsonl, .ndjson, .json (all also with .gz), .parquet, .xlsx, or a folder of text "
    "files; for a matrix .npz, .npy, .mtx"
)
CELL = re.compile(rb"""\br\s*=\s*["']\s*(?:([A-Z]{0,4})(\d{1,8})|[^"']*(&\#))""")
ROW, UNNAMED = re.compile(rb"<(?:\w+:)?row\b"), re.compile(rb"<(?:\w+:)?c[\s>/]")
MOST_CELLS = 2**25  # of a sheet, empty ones included: its reader keeps all of them
WHOLE = 2.0**53  # numbers beyond are not exact


@dataclass(frozen=True, slots=True)
class Table:
    """Records that can be read again and again."""

    place: Path | str  # its file, or what people call a table in memory
    format: str  # what it was read as
    unit: str  # what a record is called in messages
    records: Callable[[], Records]  # the number of each record, and its values by column
    complete: bool = True  # whether every record has every column
    notes: tuple[str, ...] = ()  # sentences for people


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the records are in a file; None finds out."""

    sheet: str | None = None  # of a workbook
    header: str | None = None  # whether names are in the first row: "yes" or "no"

    def __post_init__(self) -> None:
        if self.header not in {None, "yes", "no"}:
            raise ParameterError("{header} must be yes or no, got {got}", got=shown(self.header))

    @property
    def named(self) -> bool | None:
        """Whether the first row has the names of the columns."""
        return None if self.header is None else self.header == "yes"

    def refuse(self, path: Path | str, what: str) -> None:
        """Refuse to look for sheets and headers in what has none."""
        self.refuse_sheet(path, what)
        if self.header is not None:
            raise ReadError.at(
                path, "{header} is for CSV files and workbooks, and this is {what}.", what=what
            )

    def refuse_sheet(self, path: Path | str, what: str) -> None:
        """Refuse to look for sheets in what has none."""
        if self.sheet is not None:
            raise ReadError.at(
                path, "{sheet} is for workbooks (.xlsx), and this is {what}.", what=what
            )


def open_table(path: Path, layout: Layout | None = None) -> Table:
    """Choose the reader by the end of the name."""
    layout = layout or Layout()
    name = path.name.lower()
    packed = name.endswith(".gz")
    suffix = Path(name.removesuffix(".gz")).suffix
    if suffix in WORKBOOK_SUFFIXES and not packed:
        return _open_workbook(path, layout)
    if suffix in CSV_SUFFIXES:
        layout.refuse_sheet(path, "a CSV file")
        file, notes = open_csv(path, DELIMITERS if suffix == ".csv" else "\t", layout.named)
        return Table(path, file.kind, "line", file.records, notes=tuple(notes))
    layout.refuse(path, "neither")
    if suffix == ".json" and _first_line(path).lstrip()[:1] == "[":
        objects = _json_list(path)
        return Table(path, "JSON", "object", lambda: iter(enumerate(objects, 1)), complete=False)
    if suffix in JSON_SUFFIXES:
        return Table(path, "JSON lines", "line", lambda: _json_records(path), complete=False)
    if suffix in PARQUET_SUFFIXES and not packed:
        return Table(path, "Parquet", "row", lambda: _parquet_records(path))
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


def is_files(value: Any) -> TypeGuard[Sequence[str | PathLike[str]]]:
    """Return whether something is a list of files, by the ends of their names, and not of texts."""
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and all(
            isinstance(one, PathLike)
            or (isinstance(one, str) and one.lower().removesuffix(".gz").endswith(TABLE_SUFFIXES))
            for one in value
        )
    )


def open_tables(paths: Sequence[Path], layout: Layout | None = None) -> Table:
    """Open several files as one table: their records one after the other, in the same columns."""
    tables = [open_table(path, layout) for path in paths]
    first, *others = tables
    for path, table in zip(paths[1:], others, strict=True):
        _check_columns(first, path, table)
    return Table(
        f"{paths[0]} and {count(len(others), 'other file')}",
        ", ".join(dict.fromkeys(table.format for table in tables)),
        "record",  # counted through all files
        lambda: enumerate((record for one in tables for _, record in one.records()), 1),
        complete=all(table.complete for table in tables),
        notes=tuple(dict.fromkeys(note for table in tables for note in table.notes)),
    )


def _check_columns(first: Table, path: Path, table: Table) -> None:
    """Refuse a file that has other columns than the first one, where records have all of them."""
    if not (first.complete and table.complete):
        return
    expected, there = (list(next(one.records(), (0, {}))[1]) for one in (first, table))
    if there and expected and set(there) != set(expected):
        missing = [name for name in expected if name not in there]
        raise ReadError.at(
            path,
            "{what} {names}, unlike {first}: files that are read as one table have the same "
            "columns.",
            what="it has no column" if missing else "it also has the column",
            names=listed(missing or [name for name in there if name not in expected]),
            first=first.place,
        )


def _first_line(path: Path) -> str:
    """Return the first line that is not blank."""
    return next(filter(str.strip, lines(path)), "")


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


def arrow_table(columns: Mapping[str, Any]) -> Any:
    """Return columns of one length as a table of Arrow."""
    try:
        arrow = importlib.import_module("pyarrow")
    except ImportError:
        raise MissingPackageError(
            "Parquet and Arrow are written with the package pyarrow", remedies=(install("pyarrow"),)
        ) from None
    return arrow.table(dict(columns))


def parquet_bytes(columns: Mapping[str, Any]) -> bytes:
    """Return columns of one length as a Parquet file."""
    found, sink = arrow_table(columns), io.BytesIO()
    importlib.import_module("pyarrow.parquet").write_table(found, sink)
    return sink.getvalue()


def _parquet_records(path: Path) -> Records:
    try:
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise ReadError.at(
            path, "Parquet is read with the package pyarrow", remedies=(install("pyarrow"),)
        ) from None
    try:
        with open_regular(path) as content, parquet.ParquetFile(content) as file:
            names = check_names(path, file.schema_arrow.names)
            number = 0
            for batch in file.iter_batches(batch_size=1000):
                columns = [_arrow_values(arrow, column) for column in batch.columns]
                for values in zip(*columns, strict=True):
                    number += 1
                    yield number, dict(zip(names, values, strict=True))
    except (arrow.ArrowException, UnicodeDecodeError) as error:
        raise ReadError.at(path, "damaged Parquet file ({error}).", error=error) from None


def _arrow_values(arrow: Any, column: Any) -> list[Any]:
    """Return values of a column as Python's own; times are texts, in UTC if they have a zone."""
    if arrow.types.is_timestamp(column.type):
        written = column.cast(arrow.timestamp(column.type.unit)).cast(arrow.string()).to_pylist()
        return [one and _moment(one, zoned=bool(column.type.tz)) for one in written]
    if arrow.types.is_date(column.type):
        column = column.cast(arrow.date32(), safe=False)
    try:
        return cast("list[Any]", column.to_pylist())
    except (OverflowError, ValueError):  # a time beyond the years that Python knows
        return [_arrow_value(arrow, value) for value in column]


def _arrow_value(arrow: Any, value: Any) -> Any:
    try:
        return value.as_py()
    except (OverflowError, ValueError):
        return f"{value.value} days after 1970-01-01" if arrow.types.is_date(value.type) else None


def _moment(text: str, *, zoned: bool) -> str:
    """Return a time as it is written; a day alone where the time says nothing."""
    text = NO_FRACTION.sub("", text)
    return f"{text}Z" if zoned else text.removesuffix(" 00:00:00")


def _plain_value(value: Any) -> Any:
    """Return a value of a cell as files have it: times are texts, sets and arrays are lists."""
    if isinstance(value, datetime):
        zoned = value.tzinfo is not None
        moment = value.astimezone(UTC).replace(tzinfo=None) if zoned else value
        return _moment(moment.isoformat(" "), zoned=zoned)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if hasattr(value, "dtype") and value.dtype.kind not in "mM":  # of NumPy
        return value.tolist()
    return str(value) if type(value).__name__ == "Period" else value  # a month or year of pandas


def _open_workbook(path: Path, layout: Layout) -> Table:
    """Open a sheet of a workbook: the one that is named, or the first one that people see."""
    try:
        calamine = importlib.import_module("python_calamine")
    except ImportError:
        raise ReadError.at(
            path,
            "workbooks are read with the package python-calamine",
            remedies=(install("python-calamine"), "save it as CSV"),
        ) from None
    _check_cells(path)
    sheet = layout.sheet
    try:
        with open_regular(path) as file:
            book = calamine.CalamineWorkbook.from_filelike(file)
            sheets = [s for s in book.sheets_metadata if s.typ == calamine.SheetTypeEnum.WorkSheet]
            names = [one.name for one in sheets]
            seen = [s.name for s in sheets if s.visible == calamine.SheetVisibleEnum.Visible]
            if sheet is not None and sheet not in names:
                raise ReadError.at(
                    path,
                    "there is no sheet {sheet_name}; there are {there}.",
                    sheet_name=shown(sheet),
                    there=listed(names),
                )
            name = sheet or next(iter(seen or names), None)
            if name is None:
                raise ReadError.at(path, "there are no sheets with cells in it.")
            opened = book.get_sheet_by_name(name)
            rows = opened.to_python(skip_empty_area=False)
            merged = opened.merged_cell_ranges or []
    except (calamine.CalamineError, UnicodeError) as error:
        raise ReadError.at(path, "damaged, or no workbook ({error}).", error=error) from None
    others = [one for one in names if one != name] if sheet is None else []
    notes = [f"Sheet {shown(name)} is read; there are also {listed(others)}."] if others else []
    return _sheet_table(path, rows, merged, notes, layout.named)


def _check_cells(path: Path) -> None:
    """Refuse a sheet with a cell so far off that its reader would end the process."""
    with archive(path) as file:
        unpacked = sum(entry.file_size for entry in file.infolist())
        if unpacked > max(LEAST_UNPACKED, EXPANSION * path.stat().st_size):
            raise ReadError.at(
                path, f"unpacks to more than {EXPANSION} times its size, which no table does."
            )
        for entry in file.namelist():
            content = file.read(entry)
            if b"sheetData" not in content:
                continue
            columns, height = {b""}, 0
            for found in CELL.finditer(content):
                if found[3]:
                    raise ReadError.at(path, "damaged, or no workbook (names of cells).")
                columns.add(found[1])
                height = max(height, int(found[2]))
            unnamed = max(len(UNNAMED.findall(row)) for row in ROW.split(content))
            width = max(unnamed, *map(_column, columns))
            if width * height > MOST_CELLS:
                raise ReadError.at(
                    path,
                    "{entry}: {rows} and {columns}, most of them empty: delete what stands far "
                    "off, or save the sheet as CSV.",
                    entry=entry,
                    rows=count(height, "row"),
                    columns=count(width, "column"),
                )


def _sheet_table(
    path: Path,
    rows: list[list[Any]],
    merged: list[Any],
    notes: list[str],
    header: bool | None,
) -> Table:
    """Find header and records among the rows of a sheet."""
    for (top, left), (bottom, _) in merged:  # what is merged downwards is said of each row
        for row in rows[top + 1 : bottom + 1]:
            if row[left : left + 1] == [""]:
                row[left] = rows[top][left]
    filled = [(i, row) for i, row in enumerate(rows, 1) if any(cell != "" for cell in row)]
    wide = {top for (top, left), (_, right) in merged if right > left}
    widths = [sum(cell != "" for cell in row) for _, row in filled]
    while widths[:1] == [1] and max(widths) > 1:
        title = filled[0][0]
        if title - 1 not in wide and filled[1][0] == title + 1:
            break  # a header of one name
        del widths[0]
        notes.append(f"Row {title} is left out: a title above the table.")
        del filled[0]
    if not filled:
        return Table(path, "Excel", "row", lambda: iter(()), notes=tuple(notes))
    used = [j for j in range(len(rows[0])) if any(row[j] != "" for _, row in filled)]
    cells = [(i, [_cell(row[j]) for j in used]) for i, row in filled]
    (number, first), *body = cells
    names = [f"column {_letters(j)}" for j in used]
    if header is None:
        header = has_header(first, [row for _, row in body])
    if header:
        written = ("" if one is None else str(one).strip() for one in first)
        names = [one or name for one, name in zip(written, names, strict=True)]
        names = check_names(path, names, f"row {number}")
    else:
        body = cells
        notes.append(without_header(f"row {number}", names))
    records = [(i, dict(zip(names, row, strict=True))) for i, row in body]
    return Table(path, "Excel", "row", lambda: iter(records), notes=tuple(notes))


def _cell(value: Any) -> Any:
    """Return the value of a cell; whole numbers are integers, an empty one is missing."""
    if isinstance(value, float) and value.is_integer() and abs(value) < WHOLE:
        return int(value)
    return None if value == "" else _plain_value(value)


def _column(letters: bytes) -> int:
    """Return the number of a column of a sheet, counted from 1."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def _letters(column: int) -> str:
    """Return the letters of a column of a sheet, counted from 0."""
    first, last = divmod(column, 26)
    return (_letters(first - 1) if first else "") + chr(65 + last)


def is_frame(value: Any) -> bool:
    """Return whether something is a data frame, of whatever library; a column alone is none."""
    names = ("columns", "__dataframe__", "schema", "__narwhals_dataframe__")
    return any(hasattr(type(value), name) for name in names)


def open_frame(frame: Any) -> Table:
    """Open a data frame that narwhals knows, or that can be had by one of the common protocols."""
    try:
        narwhals = importlib.import_module("narwhals")
    except ImportError:
        raise MissingPackageError(
            "Data frames are read with the package narwhals", remedies=(install("narwhals"),)
        ) from None
    try:
        found = narwhals.from_native(frame)
    except TypeError:
        found = narwhals.from_native(_arrow_table(frame))
    except narwhals.exceptions.DuplicateError as error:
        raise ReadError.at(
            "data frame", "two columns have the same name: {error}", error=error
        ) from None
    if isinstance(found, narwhals.LazyFrame):
        found = found.collect()
    index = narwhals.maybe_get_index(found)
    if index is not None and any(name is not None for name in index.names):
        found = narwhals.from_native(found.to_native().reset_index())
    place = f"{found.implementation.name.lower()} data frame"
    names = check_names(place, [str(name) for name in found.columns])
    columns = [_frame_values(column) for column in found.iter_columns()]

    def records() -> Records:
        for i, values in enumerate(zip(*columns, strict=True), 1):
            yield i, dict(zip(names, values, strict=True))

    return Table(place, "data frame", "row", records)


def _arrow_table(frame: Any) -> Any:
    try:
        arrow = importlib.import_module("pyarrow")
        interchange = importlib.import_module("pyarrow.interchange")
    except ImportError:
        raise MissingPackageError(
            "Data frames such as {kind} are read with the package pyarrow",
            remedies=(install("pyarrow"),),
            kind=type(frame).__name__,
        ) from None
    try:
        if hasattr(frame, "__arrow_c_stream__"):
            return arrow.table(frame)
        return interchange.from_dataframe(frame)
    except (TypeError, AttributeError, NotImplementedError, arrow.ArrowException) as error:
        raise ReadError.at(
            "data frame",
            "{kind} is not one that can be read ({error}): turn it into one of pandas or polars.",
            kind=type(frame).__name__,
            error=error,
        ) from None


def _frame_values(column: Any) -> list[Any]:
    """Return the values of a column as files have them; None for those that are missing."""
    if column.implementation.is_pyarrow():
        return _arrow_values(importlib.import_module("pyarrow"), column.to_native())
    missing = column.is_null().to_list()
    values = [None if gap else value for value, gap in zip(column.to_list(), missing, strict=True)]
    # Integers of pandas are floats where some are missing.
    numbers = [value for value in values if isinstance(value, float)]
    if any(missing) and column.dtype.is_float() and all(map(float.is_integer, numbers)):
        return [None if value is None else int(value) for value in values]
    return [_plain_value(value) for value in values]

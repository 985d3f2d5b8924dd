"""CSV files as people have them: delimiter, quotes, encoding, and whether a row names columns."""

from __future__ import annotations

import csv
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from spheremix.errors import Message, Said
from spheremix.text.columns import OBVIOUS, bare
from spheremix.text.corpus import ReadError, listed, shown
from spheremix.text.files import encoding_of, lines
from spheremix.text.values import is_missing, is_number
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    Rows = Iterator[tuple[int, list[str]]]
    Records = Iterator[tuple[int, Mapping[str, Any]]]

DELIMITERS = ",;\t|"
NO_DELIMITER = "\x1f"  # of files with a text in each line: a character that texts do not have
DECLARED = re.compile(r'"?sep=(.)"?', re.IGNORECASE)  # Excel's first line
SEEN = 2000  # lines by which the form is found
KINDS = {",": "CSV", "\t": "TSV", NO_DELIMITER: "lines"}
SAID = {"cp1252": "Windows-1252", "utf-16": "UTF-16"}
CUT = "unexpected end of data"
NAMES = frozenset(name for names in OBVIOUS.values() for name in names)
NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*|\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[T ]\d.*)?")
SENTENCE = 6  # words from which a cell is more than a name
SHORT = 0.2  # of the length of texts, below which a cell above them is a name
REPEATED = 2  # documents that have each value of a column of labels, on average


@dataclass(frozen=True, slots=True)
class CSVFile:
    """How a CSV file is written."""

    path: Path
    encoding: str
    delimiter: str
    quote: str = '"'
    backslash: bool = False  # before quotes that are part of a field
    declared: int = 0  # lines up to the one that says the delimiter
    names: tuple[str, ...] | None = None  # of columns, where the first row has none

    @property
    def kind(self) -> str:
        """What to call it."""
        return KINDS.get(self.delimiter, f"CSV with {shown(self.delimiter)}")

    def lines(self) -> Iterator[str]:
        """Return the lines behind the one that says the delimiter."""
        return islice(lines(self.path, self.encoding), self.declared, None)

    def rows(self, written: Iterable[str]) -> Rows:
        """Return rows that are not blank, with the number of the line where each begins."""
        found = csv.reader(
            written,
            delimiter=self.delimiter,
            quotechar=self.quote,
            quoting=csv.QUOTE_NONE if self.delimiter == NO_DELIMITER else csv.QUOTE_MINIMAL,
            escapechar="\\" if self.backslash else None,
            doublequote=not self.backslash,
            strict=True,
        )
        line = before = 1 + self.declared
        longest = csv.field_size_limit(2**31 - 1)  # texts are longer than the fields of most tables
        try:
            for row in found:
                before, line = line, found.line_num + 1 + self.declared
                if row:
                    yield before, row
        except csv.Error as error:
            raise ReadError.at(
                self.path,
                "broken CSV ({error}): check the quotes of this record.",
                f"line {line}",
                error=error,
            ) from None
        finally:
            csv.field_size_limit(longest)

    def records(self) -> Records:
        """Return the records by the names of their columns."""
        rows = self.rows(self.lines())
        if self.names is None:
            number, first = next(rows, (1, []))
            wanted = len(first)
            names = name_columns(self.path, first, f"line {number}")
            named = [bool(cell.strip()) for cell in first]
        else:
            names, wanted = list(self.names), len(self.names)
            named = [True] * wanted
        for number, row in rows:
            if len(row) > wanted and not any(map(str.strip, row[wanted:])):
                del row[wanted:]  # Excel writes delimiters behind the last column too
            if len(row) != wanted:
                raise ReadError.at(
                    self.path,
                    "{fields} where the header has {wanted}: quote fields that have {delimiter} or "
                    "line ends in them, and double quotes in quotes.",
                    f"line {number}",
                    fields=count(len(row), "field"),
                    wanted=wanted,
                    delimiter=shown(self.delimiter),
                )
            fields = zip(names, row, named, strict=True)
            yield number, {name: cell for name, cell, kept in fields if kept or cell.strip()}


def open_csv(path: Path, delimiters: str, header: bool | None) -> tuple[CSVFile, list[str]]:
    """Find out how a file is written, by its first lines; return what is to be said of it too."""
    encoding = encoding_of(path)
    notes = (
        [f"The file is not in UTF-8: it is read as {SAID[encoding]}."] if encoding in SAID else []
    )
    head = list(islice(lines(path, encoding), SEEN))
    first = next(filter(str.strip, head), "")
    declared = DECLARED.fullmatch(first.strip())
    form = CSVFile(path, encoding, delimiters[0])
    if declared:
        form, delimiters = replace(form, declared=head.index(first) + 1), declared[1]
        head = head[form.declared :]
    form = _fitting(form, head, delimiters)
    rows = [row for _, row in _rows(form, head)]
    width = len(rows[0]) if rows else 0
    body = [row[:width] for row in rows[1:] if len(row) >= width]
    if header is None:
        header = not rows or has_header(rows[0], body)
    if not header:
        names = [f"column {i}" for i in range(1, width + 1)]
        form = replace(form, names=tuple(names))
        notes.append(without_header(f"line {form.declared + 1}", names))
    return form, notes


def _rows(form: CSVFile, head: Sequence[str]) -> Rows:
    """Return the rows of the first lines, as far as they can be read."""
    with suppress(ReadError):
        yield from form.rows(head)


def _fitting(form: CSVFile, head: Sequence[str], delimiters: str) -> CSVFile:
    """Return the form by which all rows have as many fields as the first, and that are most."""
    first = next(filter(str.strip, head), "")
    usual = replace(form, delimiter=max(delimiters, key=first.count))
    forms = [replace(form, delimiter=one) for one in delimiters]
    if any('\\"' in line for line in head):
        forms += [replace(one, backslash=True) for one in forms]
    opened = re.compile(rf"(?:^|[{re.escape(delimiters)}])\s?'")
    if 2 * sum(1 for line in head if opened.search(line)) > len(head):
        forms = [*(replace(one, quote="'") for one in forms), *forms]
    widths = [_width(form, head) for form in forms]
    if max(widths) > 1:
        return forms[widths.index(max(widths))]
    if _width(usual, head) or any(one in first for one in delimiters):
        return usual
    # A text in each line, whatever it has in it.
    return usual if any(line[:1] == '"' for line in head) else replace(form, delimiter=NO_DELIMITER)


def _width(form: CSVFile, head: Sequence[str]) -> int:
    """Return the number of fields of all rows, 0 where it is not one."""
    width = 0
    try:
        for _, row in form.rows(head):
            width = width or len(row)
            if len(row) < width or any(map(str.strip, row[width:])):
                return 0
    except ReadError as error:
        cut = len(head) == SEEN and CUT in str(error)  # the last record goes on beyond
        return width if cut else 0
    return width


# The names of the columns of a table: those of its first row, if that is no record


def has_header(first: Sequence[Any], records: Sequence[Sequence[Any]]) -> bool:
    """Tell whether the first row has the names of columns: most columns differ from what is below.

    A name that people give to such columns is enough. Names are no numbers or dates above
    numbers or dates, no values that come again below, and shorter than the texts below.
    """
    if any(isinstance(cell, str) and bare(cell) in NAMES for cell in first):
        return True
    columns = zip(*records, strict=True) if records else ([] for _ in first)
    votes = [_vote(cell, values) for cell, values in zip(first, columns, strict=True)]
    return sum(votes) >= 0


def _vote(cell: Any, values: Sequence[Any]) -> int:
    """Return 1 where a cell is the name of a column, -1 where it is one of its values, or 0."""
    there = [value for value in values if not is_missing(value)]
    if is_missing(cell) or not there:
        return 0
    digits = sum(map(_is_digits, there)) > len(there) / 2
    if digits:
        return -1 if _is_digits(cell) else 1
    text, texts = str(cell).strip(), [str(value).strip() for value in there]
    if len(set(texts)) * REPEATED <= len(texts):
        return -1 if text in texts else 1
    if text.endswith(("?", ":")):  # a question that was asked
        return 0
    words, length = len(text.split()), sum(map(len, texts)) / len(texts)
    if len(text) < SHORT * length and words < SENTENCE:
        return 1
    return -1 if words >= SENTENCE else 0


def _is_digits(value: Any) -> bool:
    return is_number(value) or bool(NUMBER.fullmatch(str(value).strip()))


def name_columns(path: Path | str, cells: Sequence[Any], place: str) -> list[str]:
    """Return the names of columns, which must differ; those without a name are numbered."""
    written = ["" if is_missing(cell) else str(cell).strip() for cell in cells]
    names = [name or f"column {i}" for i, name in enumerate(written, 1)]
    return check_names(path, names, place)


def check_names(path: Path | str, names: list[str], place: str = "") -> list[str]:
    """Return names of columns that differ."""
    if len(set(names)) < len(names):
        twice = next(name for name, n in Counter(names).items() if n > 1)
        raise ReadError.at(
            path, "two columns are called {name}: rename one.", place, name=shown(twice)
        )
    return names


def without_header(place: str, names: Sequence[str]) -> Said:
    """Say that the first row is a record."""
    return Said(
        Message(
            "{place} is read as a document, since it does not look like names of columns; these "
            "are called {names} now",
            {"place": place.capitalize(), "names": listed(list(names), 3)},
            remedies=("if it has the names, say so with {header=yes}",),
        )
    )

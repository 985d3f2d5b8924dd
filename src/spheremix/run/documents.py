"""Tables and texts of documents, as people and programs read them."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.run.files import CORPUS
from spheremix.run.store import RunError
from spheremix.run.typed import FileName, decode
from spheremix.text.corpus import Corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from spheremix.run.store import Reader
    from spheremix.run.writer import Writer

# A spreadsheet runs a cell that begins like this, unless it is a number: an apostrophe makes it
# text. Those that look as if they had one get another, so that tables are read back as they were.
FORMULA = re.compile(r"(?![+-]?[0-9]+(?:\.[0-9]+)?\Z)'*[=+\-@\t\r]")


def csv_lines(columns: Mapping[str, Sequence[Any]], *, short: bool = False) -> Iterable[str]:
    """Return a table as lines of CSV.

    Floats are read back to the same bits; short, for people, they have six significant digits, or
    three decimals where those are more: criteria are large, and compared by their differences.
    Texts that a spreadsheet would run as formulas have an apostrophe before them.
    """
    write = _short if short else repr
    lines = _Lines()
    # Before Python 3.13 cells with "\r" are only quoted where it is part of the end of lines.
    table = csv.writer(lines, lineterminator="\r\n")
    table.writerow([_cell(name, write) for name in columns])
    for row in zip(*columns.values(), strict=True):
        table.writerow([_cell(value, write) for value in row])
        if len(lines) >= 2**13:
            yield "".join(lines)
            lines.clear()
    yield "".join(lines)


class _Lines(list[str]):
    """The lines of a table; csv writes one at a time."""

    def write(self, line: str) -> None:
        self.append(line.removesuffix("\r\n") + "\n")


def _cell(value: Any, write: Callable[[float], str]) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return f"'{value}" if FORMULA.match(value) else value
    return "" if value is None else write(value) if isinstance(value, float) else value


def _text(cell: str) -> str:
    """Return what was written as a cell."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell


def _short(value: float) -> str:
    return f"{value:.6g}" if abs(value) < 1000.0 else f"{value:.3f}"


def is_of_kind(value: Any, kind: type[int | float | str]) -> bool:
    """Return whether a value, once written as a cell, can be read back as this type."""
    try:
        cell = str(_cell(value, repr))
        return not cell or kind(cell) is not None
    except ValueError:
        return False


def unpack_table(reader: Reader, name: Any) -> dict[str, list[str]]:
    """Read a table, column by column, as it was written."""
    try:
        rows = list(csv.reader(io.StringIO(reader.text(name), newline="")))
    except csv.Error as error:
        raise RunError(f"{reader.folder / name}: damaged: {error}.") from None
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise RunError(f"{reader.folder / name}: damaged: rows of different lengths.")
    return {_text(name): [_text(row[i]) for row in rows[1:]] for i, name in enumerate(rows[0])}


def pack_corpus(corpus: Corpus, writer: Writer) -> FileName:
    """Write all that a corpus has, one document a line; give the name of the file."""
    known: dict[str, Any] = {"title": corpus.titles, "date": corpus.dates}
    lines = (
        json.dumps(
            {
                "id": corpus.ids[i],
                "text": text,
                **{name: None if values is None else values[i] for name, values in known.items()},
                "labels": {name: own[i] for name, own in corpus.labels.items()},
                "metadata": {name: own[i] for name, own in corpus.metadata.items()},
            },
            ensure_ascii=False,
            allow_nan=False,
        )
        + "\n"
        for i, text in enumerate(corpus.texts)
    )
    return FileName(writer.packed(CORPUS, lines))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    """A line of the file of documents."""

    id: str
    text: str
    title: str | None
    date: str | None
    labels: dict[str, list[str]]
    metadata: dict[str, Any]


def unpack_corpus(reader: Reader, name: Any) -> Corpus:
    """Read the documents of a run."""
    where = f"{reader.folder / str(name)}"
    try:
        found = [decode(_Document, json.loads(line), where) for line in reader.packed(name)]
        titles, dates = [one.title for one in found], [one.date for one in found]
        labels, metadata = (list(getattr(found[0], key)) for key in ("labels", "metadata"))
        alike = all([*one.labels] == labels and [*one.metadata] == metadata for one in found)
        corpus = Corpus(
            texts=[one.text for one in found],
            ids=[one.id for one in found],
            dates=dates if any(dates) else None,
            labels={name: [tuple(one.labels[name]) for one in found] for name in labels},
            titles=[title or "" for title in titles] if any(titles) else None,
            metadata={name: [one.metadata[name] for one in found] for name in metadata},
        )
    except RunError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        alike = False
    if not alike:
        raise RunError(f"{where}: damaged: not the documents of a run.")
    return corpus

"""The names of the columns of a table: those of its first row, if that is no record."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from spheremix.errors import Message, Said
from spheremix.text.columns import OBVIOUS, bare
from spheremix.text.corpus import ReadError, listed, shown
from spheremix.text.values import is_missing, is_number

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NAMES = frozenset(name for names in OBVIOUS.values() for name in names)
NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d+)*|\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(?:[T ]\d.*)?")
SENTENCE = 6  # words from which a cell is more than a name
SHORT = 0.2  # of the length of texts, below which a cell above them is a name
REPEATED = 2  # documents that have each value of a column of labels, on average


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

"""From the columns of a table to texts, ids, dates and labels: which column is what, and values."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal

from spheremix.text.corpus import Cleaning, ReadError, listed, shown
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    Name = str | Literal[False] | None

# Names that make a column's part obvious, in order of preference.
OBVIOUS = {
    "text": (
        *("text", "texts", "body", "content", "contents", "abstract", "document", "fulltext"),
        *("full_text", "article", "message", "description", "summary", "review", "comment"),
        *("post", "tweet"),
    ),
    "id": ("id", "ids", "_id", "doc_id", "docid", "document_id", "identifier", "uid", "uuid"),
    "date": (
        *("date", "dates", "datetime", "timestamp", "created_at", "published", "published_at"),
        *("publication_date", "time", "month", "year"),
    ),
    "label": (
        *("labels", "label", "categories", "category", "classes", "class", "topics", "topic"),
        *("tags", "tag"),
    ),
}
CLEARLY_LONGER = 3.0  # how many times longer the texts are than any other column
MISSING = {"", "-", "na", "n/a", "nan", "nat", "none", "null"}
YEAR = re.compile(r"(\d{4})(?:\.0)?")
MONTH = re.compile(r"(\d{4})[-/](\d{1,2})")
DAY = re.compile(r"(\d{4})([-/.]?)(\d{1,2})\2(\d{1,2})(?:[T ]\d.*)?", re.DOTALL)
OTHER_IDS = ("name another column with {id}", "use none with {id=False}")  # what helps bad ids
SEVERAL = re.compile(r"[;|]")


@dataclass(frozen=True, slots=True)
class Choice:
    """The column of each part, where there is one, and the parts that were guessed."""

    columns: dict[str, str]
    guessed: set[str]

    def notes(self) -> list[str]:
        """Say which column is read as what."""
        return [self.note(part) for part in self.columns]

    def note(self, part: str) -> str:
        """Say which column is read as this part."""
        how = " (guessed)." if part in self.guessed else "."
        return f"Column {shown(self.columns[part])} is read as the {part}{how}"


def choose(
    path: Path, head: Sequence[Mapping[str, Any]], wanted: Mapping[str, Name], *, complete: bool
) -> Choice:
    """Choose columns: those named by the user, the obvious ones for what was left open.

    ``complete`` says that the first records have all the columns there are.
    """
    there = list(dict.fromkeys(name for record in head for name in record))
    columns: dict[str, str] = {}
    for part, name in wanted.items():
        if isinstance(name, str):
            if name not in there and complete:
                raise missing(path, name, there)
            columns[part] = name
    guessed = set()
    for part, names in OBVIOUS.items():
        free = {_plain(name): name for name in reversed(there) if name not in columns.values()}
        found = [free[name] for name in names if name in free]
        if wanted.get(part) is None and found:
            columns[part] = found[0]
            guessed.add(part)
    if "text" not in columns:
        columns["text"] = _longest(path, head, there, set(columns.values()))
        guessed.add("text")
    return Choice({part: columns[part] for part in OBVIOUS if part in columns}, guessed)


def missing(path: Path, name: str, there: Sequence[str]) -> ReadError:
    """Say that a column is not there, and which ones are."""
    return ReadError.at(
        path, "there is no column {name}; there are {there}.", name=shown(name), there=listed(there)
    )


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().lower())


def _longest(
    path: Path, head: Sequence[Mapping[str, Any]], there: Sequence[str], taken: set[str]
) -> str:
    """Give the only column that looks like texts."""
    lengths = {}
    for name in there:
        values = [record[name] for record in head if not _is_missing(record.get(name))]
        if name not in taken and values and all(isinstance(value, str) for value in values):
            lengths[name] = sum(map(len, values)) / len(values)
    order = sorted(lengths, key=lambda name: -lengths[name])
    if order and (len(order) == 1 or lengths[order[0]] >= CLEARLY_LONGER * lengths[order[1]]):
        return order[0]
    raise ReadError.at(
        path,
        "no column is obviously the text; there are {there}",
        remedies=("say which one it is with {text}",),
        there=listed(there),
    )


def gather(
    path: Path, records: Iterable[tuple[int, Mapping[str, Any]]], choice: Choice, unit: str
) -> dict[str, Any]:
    """Read the chosen columns of all records: the fields of a corpus."""
    columns, notes = dict(choice.columns), choice.notes()
    values: dict[str, list[Any]] = {part: [] for part in columns}
    positions: dict[str, int] = {}  # of each id
    seen: dict[str, None] = {}
    clean = Cleaning()
    for number, record in records:
        seen.update(dict.fromkeys(record))
        place = f"{unit} {number}"
        for part, column in tuple(columns.items()):
            try:
                value = PARSE[part](record.get(column), clean)
            except ReadError as error:
                if part != "date" or part not in choice.guessed:
                    raise _in_column(error, path, column, place) from None
                # A guess that turns out wrong is dropped, and that is said.
                del columns[part], values[part]
                notes.append(f"Column {shown(column)} is not used: {place}: {error}")
                continue
            if part == "id" and positions.setdefault(value, number) != number:
                raise ReadError.at(
                    path,
                    "the id {value} is already that of {unit} {first}",
                    place,
                    remedies=("give each document its own", *OTHER_IDS),
                    value=shown(value),
                    unit=unit,
                    first=positions[value],
                )
            values[part].append(value)
    for column in columns.values():
        if column not in seen:
            raise missing(path, column, list(seen))
    for part in ("date", "label"):
        if part in values and not any(values[part]):
            # Nothing to read: what was said of the column would be misleading.
            del values[part]
            notes.remove(choice.note(part))
            notes.append(f"Column {shown(columns[part])} has no {part}: it is not used.")
    return _fields(values, notes, clean)


def _in_column(error: ReadError, path: Path, column: str, place: str) -> ReadError:
    """Say where a value is that cannot be read."""
    said = error.message
    return ReadError.at(
        path,
        f"column {{column}}: {said.text}",
        place,
        remedies=said.remedies,
        column=shown(column),
        **said.values,
    )


def _fields(values: dict[str, list[Any]], notes: list[str], clean: Cleaning) -> dict[str, Any]:
    """Put values into the form of a corpus, and end the notes."""
    n = len(values["text"])
    if "id" not in values:
        notes.append("Documents have no ids: they are numbered from 1.")
        values["id"] = [str(i) for i in range(1, n + 1)]
    for part in ("date", "label"):
        without = sum(1 for value in values.get(part, ()) if not value)
        if part in values and without:
            notes.append(f"{count(without, 'document')} of {n:,} without {part}.")
    blank = sum(1 for text in values["text"] if not text.strip())
    if blank:
        notes.append(f"{count(blank, 'document')} of {n:,} without text.")
    notes += repeats(values["text"])
    return {
        "texts": values["text"],
        "ids": values["id"],
        "dates": values.get("date"),
        "labels": values.get("label"),
        "notes": [*notes, *clean.notes()],
    }


def repeats(texts: list[str]) -> list[str]:
    """Say how many documents have a text that an earlier one has."""
    filled = [text for text in texts if text.strip()]
    n = len(filled) - len(set(filled))
    if not n:
        return []
    verb = "repeats" if n == 1 else "repeat"
    return [f"{count(n, 'document')} of {len(texts):,} {verb} the text of another one."]


def _is_missing(value: Any) -> bool:
    """Tell the many ways of not giving a value."""
    if isinstance(value, str):
        return value.strip().lower() in MISSING
    return value is None or (isinstance(value, float) and math.isnan(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _kind(value: Any) -> str:
    return {dict: "an object", list: "a list", bool: "true or false"}.get(
        type(value), f"of type {type(value).__name__}"
    )


def parse_text(value: Any, clean: Cleaning) -> str:
    """Give a text; a missing one is empty."""
    if isinstance(value, str):
        return clean(value)
    if _is_missing(value):
        return ""
    if _is_number(value):
        return str(value)
    raise ReadError("the text is {kind}, where a string is needed.", kind=_kind(value))


def parse_id(value: Any, clean: Cleaning) -> str:
    """Give an id, which a document must have where there are ids."""
    if isinstance(value, str) and (name := clean(value).strip()):
        return name
    if _is_number(value) and not _is_missing(value):
        return str(value)
    what = "is missing" if _is_missing(value) else f"is {_kind(value)}"
    raise ReadError("the id {what}", remedies=("fill it in", *OTHER_IDS), what=what)


def parse_date(value: Any, clean: Cleaning) -> date | None:  # noqa: ARG001
    """Give a date of ISO 8601, the first day of a month or of a year, or None."""
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if _is_missing(value):
        return None
    text = str(value).strip() if isinstance(value, str) or _is_number(value) else ""
    try:
        if found := YEAR.fullmatch(text):
            return date(int(found[1]), 1, 1)
        if found := MONTH.fullmatch(text):
            return date(int(found[1]), int(found[2]), 1)
        if (found := DAY.fullmatch(text)) and (found[2] or len(found[3] + found[4]) == 4):
            return date(int(found[1]), int(found[3]), int(found[4]))
    except ValueError:  # month 13, or 30 February
        pass
    raise ReadError(
        "{value} is not a date: write YYYY-MM-DD, YYYY-MM or YYYY, with or without a time.",
        value=shown(value),
    )


def parse_labels(value: Any, clean: Cleaning) -> tuple[str, ...]:
    """Give the values of a list, or of a string that ";" or "|" separates."""
    if isinstance(value, str) and value[:1] == "[" and value[-1:] == "]":
        try:
            value = json.loads(value)
        except ValueError:
            return (clean(value),)
    if isinstance(value, str):
        value = SEVERAL.split(value)
    several = value if isinstance(value, list | tuple) else [value]
    for one in several:
        if isinstance(one, dict | list):
            raise ReadError(
                "a label is {kind}, where a string or a list of them is needed.", kind=_kind(one)
            )
    names = (clean(str(one).strip()) for one in several if not _is_missing(one))
    return tuple(dict.fromkeys(names))


PARSE: dict[str, Callable[[Any, Cleaning], Any]] = {
    "text": parse_text,
    "id": parse_id,
    "date": parse_date,
    "label": parse_labels,
}

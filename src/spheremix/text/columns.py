"""Which column of a table is the text, the id, the date, the title, and which ones are labels."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from spheremix.text.corpus import ReadError, listed, shown
from spheremix.text.values import is_missing

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    Name = str | Literal[False] | None
    Names = str | Sequence[str] | Literal[False] | None

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
    "title": ("title", "titles", "headline", "subject", "name"),
}
CLEARLY_LONGER = 3.0  # how many times longer the texts are than any other column


@dataclass(frozen=True, slots=True)
class Wanted:
    """The columns that were asked for; None guesses, False uses none."""

    text: Name = None
    id: Name = None
    date: Name = None
    label: Names = None
    title: Name = None

    def names(self, part: str) -> list[str]:
        """Return the columns named for a part; several only for labels."""
        given = getattr(self, part)
        if isinstance(given, str):
            return [given]
        return list(dict.fromkeys(given)) if given else []


@dataclass(frozen=True, slots=True)
class Choice:
    """The column of each part, where there is one, the label columns, and what was guessed."""

    columns: dict[str, str]
    labels: list[str] = field(default_factory=list)
    guessed: set[str] = field(default_factory=set)

    def notes(self) -> list[str]:
        """Say which column is read as what."""
        found: dict[str, list[str]] = {part: [name] for part, name in self.columns.items()}
        found["label"] = self.labels
        return [self.note(part, name) for part in OBVIOUS for name in found.get(part, ())]

    def note(self, part: str, column: str) -> str:
        """Say which column is read as this part."""
        how = " (guessed)." if part in self.guessed else "."
        article = "a" if part == "label" and len(self.labels) > 1 else "the"
        return f"Column {shown(column)} is read as {article} {part}{how}"


def choose(
    path: Path,
    head: Sequence[Mapping[str, Any]],
    wanted: Wanted,
    *,
    complete: bool,
    taken: Collection[str] = (),
) -> Choice:
    """Choose columns: those named by the user, the obvious ones for what was left open.

    ``complete`` says that the first records have all the columns there are. Columns that are
    ``taken`` are not guessed.
    """
    there = list(dict.fromkeys(name for record in head for name in record))
    found: dict[str, list[str]] = {part: wanted.names(part) for part in OBVIOUS}
    for names in found.values():
        for name in names:
            if name not in there and complete:
                raise missing(path, name, there)
    guessed = set()
    for part, obvious in OBVIOUS.items():
        used = {*taken, *(name for names in found.values() for name in names)}
        free = {_plain(name): name for name in reversed(there) if name not in used}
        names = [free[name] for name in obvious if name in free]
        if part == "title" and wanted.text is None and not found["text"]:
            # What is the only long column is the text, whatever it is called.
            found["text"] = [_longest(path, head, there, used)]
            guessed.add("text")
            names = [name for name in names if name not in found["text"]]
        if getattr(wanted, part) is None and names:
            found[part] = names[:1]
            guessed.add(part)
    columns = {part: names[0] for part, names in found.items() if names and part != "label"}
    return Choice(columns, found["label"], guessed)


class NoColumnError(ReadError):
    """A column that was asked for is not there."""

    column = ""


def missing(path: Path, name: str, there: Sequence[str]) -> ReadError:
    """Say that a column is not there, and which ones are."""
    error = NoColumnError.at(
        path, "there is no column {name}; there are {there}.", name=shown(name), there=listed(there)
    )
    error.column = name
    return error


def _plain(name: str) -> str:
    return re.sub(r"[\s-]+", "_", name.strip().lower())


def _longest(
    path: Path, head: Sequence[Mapping[str, Any]], there: Sequence[str], taken: set[str]
) -> str:
    """Return the only column that looks like texts."""
    lengths = {}
    for name in there:
        values = [record[name] for record in head if not is_missing(record.get(name))]
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

"""Documents out of folders of text files, with dates and labels from names or from a table."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from spheremix.errors import ParameterError
from spheremix.text.columns import Wanted, choose
from spheremix.text.corpus import Cleaning, Corpus, ReadError, digest, shown
from spheremix.text.files import content_of, decode, reading
from spheremix.text.gather import gather, repeats
from spheremix.text.joined import join
from spheremix.text.listing import text_files
from spheremix.text.names import (
    check_date_from,
    check_label_from,
    find_dates,
    find_labels,
    without_suffix,
)
from spheremix.text.tables import TEXT_SUFFIXES

if TYPE_CHECKING:
    from pathlib import Path

    from spheremix.text.joined import Joined


@dataclass(frozen=True, slots=True)
class FromFiles:
    """Where dates, labels and other columns of text files come from."""

    date_from: str | None = None
    label_from: str | None = None
    metadata: Path | None = None

    def __post_init__(self) -> None:
        if self.date_from is not None:
            check_date_from(self.date_from)
        if self.label_from is not None:
            check_label_from(self.label_from)

    def refuse(self, path: Path) -> None:
        """Refuse what a table has columns for."""
        for name in ("date_from", "label_from", "metadata"):
            if getattr(self, name) is not None:
                raise ReadError.at(
                    path,
                    f"is one file with its own columns: {{{name}}} is for a folder of text files",
                    remedies=("name a column with {date}, {label} or {title}",),
                )


def read_folder(folder: Path, wanted: Wanted, beside: FromFiles) -> Corpus:
    """Read the text files of a folder and its sub-folders."""
    _check(folder, wanted, beside)
    paths, notes = text_files(folder, beside.metadata)
    clean = Cleaning()
    names = [path.relative_to(folder).as_posix() for path in paths]
    contents = [_content(path) for path in paths]
    texts = [clean(decode(path, one)) for path, one in zip(paths, contents, strict=True)]
    both = zip(names, contents, strict=True)
    parts = [part for name, content in both for part in (os.fsencode(name), content)]
    ids = [clean(name) for name in names]
    fields = _beside(folder, ids, wanted, beside)
    notes += fields.pop("notes")
    if table := fields.pop("checksum"):
        parts.append(table.encode())
    return Corpus(
        texts=texts,
        ids=ids,
        source=str(folder),
        format="folder",
        notes=[*notes, *repeats(texts, ids), *clean.notes()],
        checksum=digest(parts),
        **fields,
    )


def _check(folder: Path, wanted: Wanted, beside: FromFiles) -> None:
    """Refuse columns where there is no table, and two places for one thing."""
    parts = ("text",) if beside.metadata else ("text", "id", "date", "label", "title")
    for part in parts:
        for name in wanted.names(part):
            table = "" if part == "text" else ", or give a table of the files with {metadata}"
            raise ReadError.at(
                folder,
                "a folder has no columns, and {name} was asked for",
                remedies=(f"leave out {{{part}}}{table}",),
                name=shown(name),
            )
    if wanted.names("date") and beside.date_from is not None:
        raise ParameterError("Dates come from {date} or from {date_from}: give one of the two")


def _beside(folder: Path, names: list[str], wanted: Wanted, beside: FromFiles) -> dict[str, Any]:
    """Return what is known about the files: titles, dates, labels and other columns."""
    fields: dict[str, Any] = {"dates": None, "labels": {}, "metadata": {}, "notes": []}
    titles = [without_suffix(name.rpartition("/")[2], TEXT_SUFFIXES) for name in names]
    fields |= {"titles": titles, "checksum": ""}
    if beside.metadata is not None:
        column = wanted.id if isinstance(wanted.id, str) else None
        table = join(beside.metadata, folder, names, column, TEXT_SUFFIXES)
        date = False if beside.date_from is not None else wanted.date
        fields |= _from_table(table, replace(wanted, text=False, id=False, date=date))
        known = fields["titles"] or titles
        fields["titles"] = [one or title for one, title in zip(known, titles, strict=True)]
        fields["checksum"] = table.checksum
    if beside.date_from is not None or (wanted.date is None and fields["dates"] is None):
        fields["dates"], notes = find_dates(folder, names, beside.date_from)
        fields["notes"] += notes
    if beside.label_from is not None or (wanted.label is None and not fields["labels"]):
        found, notes = find_labels(folder, names, beside.label_from, TEXT_SUFFIXES)
        for name in found.keys() & fields["labels"].keys():
            raise ParameterError(
                "Two labels are called {name}, one of {metadata} and one of {label_from}",
                remedies=("rename one of them",),
                name=shown(name),
            )
        fields["labels"] |= found
        fields["notes"] += notes
    return fields


def _from_table(table: Joined, wanted: Wanted) -> dict[str, Any]:
    """Read what a table says of the files."""
    records = [record for _, record in table.rows]
    choice = choose(table.path, records, wanted, complete=True, taken={table.column})
    fields = gather(table.path, table.rows, choice, table.unit)
    del fields["texts"], fields["ids"]
    return {**fields, "notes": [*table.notes, *fields["notes"]]}


def _content(path: Path) -> bytes:
    with reading(path):
        return content_of(path)

"""Documents out of folders of text files: which files they are, and what names and tables say."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from spheremix._files import is_run
from spheremix.errors import ParameterError
from spheremix.text.columns import Wanted, choose, gather, missing, repeats
from spheremix.text.corpus import Cleaning, Corpus, ReadError, digest, listed, shown
from spheremix.text.dates import date_of, pattern_of
from spheremix.text.files import checksum, content_of, decode_text, reading
from spheremix.text.formats import (
    MATRIX_SUFFIXES,
    TEXT_SUFFIXES,
    WORKBOOK_SUFFIXES,
    Layout,
    open_table,
)
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Rows = list[tuple[int, Mapping[str, Any]]]

PLURALS = {"folder of a run": "folders of runs", "pipe or device": "pipes or devices"}
KINDS = f"{', '.join(TEXT_SUFFIXES[:-1])} or {TEXT_SUFFIXES[-1]}"
# What is no plain text, by the end of its name, and what to do with it.
TABLES = (
    *(".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json", ".parquet", ".pq"),
    *(*WORKBOOK_SUFFIXES, *MATRIX_SUFFIXES),
)
REMEDIES = {
    "unpack it first": (".zip", ".tar", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar"),
    "save it as .xlsx or CSV, and name that": (".xls", ".xlsb", ".ods"),
    "turn such files into plain text (.txt) first": (
        *(".pdf", ".ps", ".doc", ".docx", ".odt", ".rtf", ".epub", ".ppt", ".pptx", ".odp"),
        *(".html", ".htm", ".xhtml", ".xml"),
        *(".png", ".jpg", ".jpeg", ".gif", ".tif", ".tiff"),
    ),
}
SAID = 3  # examples of what fits nothing


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

    def refuse(self, path: Path | str) -> None:
        """Refuse what a table has columns for."""
        for name in ("date_from", "label_from", "metadata"):
            if getattr(self, name) is not None:
                raise ReadError.at(
                    path,
                    f"is one table with its own columns: {{{name}}} is for a folder of text files",
                    remedies=("name a column with {date}, {label} or {title}",),
                )


def read_folder(folder: Path, wanted: Wanted, beside: FromFiles, layout: Layout) -> Corpus:
    """Read the text files of a folder and its sub-folders; the layout is that of the table."""
    _check(folder, wanted, beside, layout)
    paths, notes = text_files(folder, beside.metadata)
    clean = Cleaning()
    names = [path.relative_to(folder).as_posix() for path in paths]
    texts, parts, windows = [], [], []
    for path, name in zip(paths, names, strict=True):
        with reading(path):
            content = content_of(path)
        text, encoding = decode_text(path, content)
        if encoding == "cp1252":
            windows.append(name)
        texts.append(clean(text))
        parts += [os.fsencode(name), content]
    ids = [clean(name) for name in names]
    if windows:
        n = f"{len(windows):,} of {count(len(names), 'file')}"
        notes.append(f"{n} not in UTF-8, read as Windows-1252: {listed(windows, 3)}.")
    fields = _beside(folder, ids, wanted, beside, layout)
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


def _check(folder: Path, wanted: Wanted, beside: FromFiles, layout: Layout) -> None:
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
    if beside.metadata is None:
        layout.refuse(folder, "a folder")
    if wanted.date_format is not None and (beside.metadata is None or beside.date_from is not None):
        raise ReadError.at(
            folder,
            "{date_format} is for a column of dates",
            remedies=("say how dates are written in the names of files with {date_from}",),
        )
    if wanted.names("date") and beside.date_from is not None:
        raise ParameterError("Dates come from {date} or from {date_from}: give one of the two")


def _beside(
    folder: Path, names: list[str], wanted: Wanted, beside: FromFiles, layout: Layout
) -> dict[str, Any]:
    """Return what is known about the files: titles, dates, labels and other columns."""
    titles = [without_suffix(name.rpartition("/")[2]) for name in names]
    fields: dict[str, Any] = {"dates": None, "labels": {}, "metadata": {}, "notes": []}
    fields |= {"titles": titles, "checksum": ""}
    if beside.metadata is not None:
        date = False if beside.date_from is not None else wanted.date
        about = replace(wanted, text=False, date=date)
        with reading(beside.metadata):
            fields |= _from_table(beside.metadata, folder, names, about, layout)
        known = fields["titles"] or titles
        fields["titles"] = [one or title for one, title in zip(known, titles, strict=True)]
    if beside.date_from is not None or (wanted.date is None and fields["dates"] is None):
        fields["dates"], notes = find_dates(folder, names, beside.date_from)
        fields["notes"] += notes
    if beside.label_from is not None or (wanted.label is None and not fields["labels"]):
        found, notes = find_labels(folder, names, beside.label_from)
        for name in found.keys() & fields["labels"].keys():
            raise ParameterError(
                "Two labels are called {name}, one of {metadata} and one of {label_from}",
                remedies=("rename one of them",),
                name=shown(name),
            )
        fields["labels"] |= found
        fields["notes"] += notes
    return fields


def _from_table(
    path: Path, folder: Path, names: list[str], wanted: Wanted, layout: Layout
) -> dict[str, Any]:
    """Read what a table says of the files: the fields of a corpus, in the order of the files."""
    table = open_table(path, layout)
    records = list(table.records())
    if not records:
        raise ReadError.at(path, "there are no rows in it.")
    files = _Files(folder, names)
    column = wanted.id if isinstance(wanted.id, str) else _fitting(path, records, files)
    there = list(dict.fromkeys(name for _, record in records for name in record))
    if column not in there:
        raise missing(path, column, there)
    rows: dict[int, tuple[int, Mapping[str, Any]]] = {}
    unused = []
    for number, record in records:
        file = files.find(record.get(column))
        place = f"{table.unit} {number}"
        if file is None:
            unused.append(shown(record.get(column)))
        elif len(file) > 1:
            raise ReadError.at(
                path,
                "{value} may be {one} or {other}",
                place,
                remedies=("write the folder before the name",),
                value=shown(record[column]),
                one=shown(names[file[0]]),
                other=shown(names[file[1]]),
            )
        elif file[0] in rows:
            raise ReadError.at(
                path,
                "the file {file} has another row, {unit} {first}",
                place,
                remedies=("leave one row for each file",),
                file=shown(names[file[0]]),
                unit=table.unit,
                first=rows[file[0]][0],
            )
        else:
            rows[file[0]] = number, record
    if not rows:
        raise ReadError.at(
            path,
            "no value of column {column} is the name of a file, as {value}; a file is called "
            "{file}",
            remedies=("name the column of file names with {id}",),
            column=shown(column),
            value=shown(records[0][1].get(column)),
            file=shown(names[0]),
        )
    how = "." if isinstance(wanted.id, str) else " (found)."
    notes = [*table.notes, f"Column {shown(column)} of {path.name} names the files{how}"]
    alone = [shown(name) for i, name in enumerate(names) if i not in rows]
    notes += _left(f"{count(len(alone), 'file')} of {len(names):,} not in {path.name}", alone)
    notes += _left(f"{count(len(unused), 'row')} of {path.name} without a file", unused)
    found = [rows.get(i, (0, {})) for i in range(len(names))]
    head = [record for _, record in found]
    choice = choose(path, head, replace(wanted, id=False), complete=True, taken={column})
    fields = gather(path, found, choice, table.unit)
    del fields["texts"], fields["ids"]
    return {**fields, "notes": [*notes, *fields["notes"]], "checksum": checksum(path)}


def _left(what: str, examples: list[str]) -> list[str]:
    more = f" and {len(examples) - SAID:,} more" if len(examples) > SAID else ""
    return [f"{what}: {', '.join(examples[:SAID])}{more}."] if examples else []


class _Files:
    """Files by the names that a table may give them: with or without folders and ends."""

    def __init__(self, folder: Path, names: Sequence[str]) -> None:
        self.first = names[0]
        self._root = f"{folder.resolve().name}/"
        self._whole: dict[str, list[int]] = {}
        self._bare: dict[str, list[int]] = {}  # without folders
        for i, name in enumerate(names):
            path = unicodedata.normalize("NFC", name)
            for found, given in ((self._whole, path), (self._bare, PurePosixPath(path).name)):
                short = without_suffix(given)
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


def text_files(folder: Path, table: Path | None) -> tuple[list[Path], list[str]]:
    """Return the files that are documents, and say which others there are."""
    found, runs, others = _walk(folder)
    if table is not None:
        found = [path for path in found if not _same(path, table)]
    visible = [p for p in found if not any(s[:1] == "." for s in p.relative_to(folder).parts)]
    paths = [p for p in visible if _suffix(p) in TEXT_SUFFIXES] or _unknown_kinds(folder, visible)
    notes = [
        "The one document is the file of the folder, its id is its path."
        if len(paths) == 1
        else f"Documents are the {len(paths):,} files of the folder, ids are their paths."
    ]
    if len(paths) < len(found):
        left = count(len(found) - len(paths), "other file")
        notes.append(f"{left} left out: hidden, or not {KINDS}.")
    for kind, left_out in (("folder of a run", runs), ("pipe or device", others)):
        if left_out:
            them = count(len(left_out), kind, PLURALS[kind])
            notes.append(f"{them} left out: {listed([p.name for p in left_out], 3)}.")
    return paths, notes


def _same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:
        return False


def _walk(folder: Path) -> tuple[list[Path], list[Path], list[Path]]:
    """List the files of a folder, the folders of runs in it, and what has no end.

    What spheremix wrote itself are no documents: `cd texts; spheremix explore .` writes among them.
    """

    def refuse(error: OSError) -> None:
        raise ReadError.at(error.filename, f"cannot be read: {error.strerror}.")

    if is_run(folder):
        raise ReadError.at(folder, "is the folder of a run of spheremix: name that of documents.")
    found: list[Path] = []
    runs: list[Path] = []
    others: list[Path] = []
    for base, folders, names in os.walk(folder, onerror=refuse):
        inner = [Path(base, name) for name in folders]
        runs += [path for path in sorted(inner) if is_run(path)]
        folders[:] = [path.name for path in inner if path not in runs]
        for path in (Path(base, name) for name in names):
            (found if _is_file(path) else others).append(path)
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix()), runs, others


def _is_file(path: Path) -> bool:
    """Tell what can be read to its end; a link that leads nowhere is missed when it is read."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return True


def _suffix(path: Path) -> str:
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _unknown_kinds(folder: Path, visible: list[Path]) -> list[Path]:
    """Return files that may be texts by another name, or say what to do with those that are not."""
    if not visible:
        raise ReadError.at(folder, "there are no files in this folder.")
    tables = [path for path in visible if _suffix(path) in TABLES]
    remedies = {end: remedy for remedy, ends in REMEDIES.items() for end in ends}
    known = [*tables, *(path for path in visible if _suffix(path) in remedies)]
    if 2 * len(known) < len(visible):  # else they are remarks beside a table
        return [path for path in visible if _suffix(path) not in {*TABLES, *remedies}]
    first = known[0].relative_to(folder).as_posix()
    more = f" and {len(known) - 1:,} more" if len(known) > 1 else ""
    remedy = remedies.get(_suffix(known[0]), "name that file")
    if len(tables) > 1:
        remedy = "name one of them, or put their documents into one"
    raise ReadError.at(
        folder,
        "no {kinds} in it; there is {first}{more}",
        remedies=(remedy,),
        kinds=KINDS,
        first=first,
        more=more,
    )


# What the names of files and folders say: dates and labels

YEAR = r"(?<!\d)(?P<Y>1\d{3}|20\d{2})"
# Dates that are found in names, the most exact first.
DATES = (
    re.compile(YEAR + r"([-_. ])(?P<m>\d{1,2})\2(?P<d>\d{1,2})(?!\d)"),
    re.compile(YEAR + r"(?P<m>\d{2})(?P<d>\d{2})(?!\d)"),
    re.compile(YEAR + r"[-_. ](?P<m>\d{2})(?!\d)"),
    re.compile(YEAR + r"(?!\d)"),
)
GUESSED = DATES[:2]  # days: what else has digits may be a number
FIELD = re.compile(r"\{([^{}]*)\}|(\*)")
PERIODS = {4: "year", 7: "month", 10: "day"}


def without_suffix(name: str) -> str:
    """Return the name of a file, or its path, without its end (.txt, .txt.gz)."""
    bare = name.removesuffix(".gz")
    end = PurePosixPath(bare).suffix
    return bare[: -len(end)] if end.lower() in TEXT_SUFFIXES else bare


def find_dates(
    folder: Path, names: Sequence[str], where: str | None
) -> tuple[list[str | None] | None, list[str]]:
    """Return dates in the names of files, and what should be said; guessed without ``where``."""
    if where is None:
        guessed = [_search(GUESSED, PurePosixPath(name).name) for name in names]
        if not all(guessed):
            return None, []
        return guessed, [_said(names, guessed, "names of the files (guessed)")]
    read = _reader(where)
    found = [read(name) for name in names]
    if not any(found):
        raise ReadError.at(
            folder,
            "no file has a date in its {what}, as {first}",
            remedies=("say how dates are written there with {date_from}, as %Y-%m-%d",),
            what="folder" if where == "folder" else "name",
            first=shown(names[0]),
        )
    notes = [_said(names, found, "folders" if where == "folder" else "names of the files")]
    return found, notes + _without(names, found, "date")


def _said(names: Sequence[str], found: Sequence[str | None], where: str) -> str:
    """Say how exact the dates are, with an example of the least exact ones."""
    kinds = Counter(PERIODS[len(one)] for one in found if one)
    known = ", ".join(count(kinds[kind], kind) for kind in PERIODS.values() if kinds[kind])
    least = min((len(one), i) for i, one in enumerate(found) if one)[1]
    return f"Dates are in the {where}: {known}, as {found[least]} of {shown(names[least])}."


def _without(names: Sequence[str], found: Sequence[object], what: str) -> list[str]:
    none = [name for name, one in zip(names, found, strict=True) if not one]
    if not none:
        return []
    return [f"{count(len(none), 'file')} of {len(names):,} without {what}, as {shown(none[0])}."]


def _reader(where: str) -> Callable[[str], str | None]:
    """Return what reads the date of a path."""
    if where == "name":
        return lambda path: _search(DATES, PurePosixPath(path).name)
    if where == "folder":
        return lambda path: _search(DATES, "-".join(PurePosixPath(path).parts[:-1]))
    form = _form(where)
    return lambda path: _search((form,), path)


def check_date_from(where: str) -> None:
    """Refuse what says nothing about where dates are."""
    if where not in {"name", "folder"}:
        _form(where)


def _form(text: str) -> re.Pattern[str]:
    """Make a pattern of a form of dates such as %d.%m.%Y."""
    inner = pattern_of(text)
    if inner is None:
        raise ParameterError(
            "{date_from} must be name, folder, or how dates are written, as %d.%m.%Y: a year (%Y), "
            "a month (%m, or %b for a word) and a day (%d), each once at most; got {got}",
            got=shown(text),
        )
    return re.compile(rf"(?<!\d){inner}(?!\d)", re.IGNORECASE)


def _search(patterns: Sequence[re.Pattern[str]], text: str) -> str | None:
    """Return the first date in a text that exists in the calendar."""
    for pattern in patterns:
        for found in pattern.finditer(text):
            try:
                return date_of(found)
            except ValueError:
                continue
    return None


def find_labels(
    folder: Path, names: Sequence[str], where: str | None
) -> tuple[dict[str, list[tuple[str, ...]]], list[str]]:
    """Return the labels in the names of files or folders, and what should be said.

    Without ``where`` they are sub-folders, where each file is in one.
    """
    if where is None and not all("/" in name for name in names):
        return {}, []
    found: dict[str, list[tuple[str, ...]]]
    if where in {None, "folder"}:
        firsts = [name.partition("/") for name in names]
        found = {"folder": [(first,) if slash else () for first, slash, _ in firsts]}
    else:
        pattern, fields = _template(without_suffix(str(where)))
        matches = [pattern.search(without_suffix(name)) for name in names]
        found = {
            field: [(one[i],) if one else () for one in matches]
            for i, field in enumerate(fields, 1)
        }
    labels = next(iter(found.values()))
    if not any(labels):
        in_folder = where == "folder"
        raise ReadError.at(
            folder,
            "no file {what}, as {first}",
            remedies=("say how names are made with {label_from}",),
            what="is in a sub-folder" if in_folder else f"has a name made like {shown(where)}",
            first=shown(names[0]),
        )
    i = next(i for i, one in enumerate(labels) if one)
    each = ", ".join(f"{field} {shown(own[i][0])}" for field, own in found.items())
    kind = {None: "sub-folders (guessed)", "folder": "sub-folders"}.get(where, "names of the files")
    said = f"Labels are in the {kind}: {each} of {shown(names[i])}."
    return found, [said, *_without(names, labels, "label")]


def check_label_from(where: str) -> None:
    """Refuse what says nothing about where labels are."""
    if where != "folder":
        _template(where)


def _template(text: str) -> tuple[re.Pattern[str], list[str]]:
    """Make a pattern of how names are made, such as {party}_{speaker}_*, and return its fields.

    It is about the end of a path: one without a slash is about the name of the file alone.
    """
    fields: list[str] = []
    pieces: list[str] = []
    end = 0
    for one in FIELD.finditer(text):
        pieces.append(re.escape(text[end : one.start()]))
        pieces.append("[^/]*?" if one[2] else "([^/]+?)")
        fields += [] if one[2] else [one[1].strip()]
        end = one.end()
    pieces.append(re.escape(text[end:]))
    if not fields or not all(fields) or len(set(fields)) < len(fields):
        raise ParameterError(
            "{label_from} must be folder, or how names are made, with each label in braces, as "
            "{example}; got {got}",
            example="'{party}_{speaker}_*'",
            got=shown(text),
        )
    return re.compile(f"(?:^|/){''.join(pieces)}$"), fields

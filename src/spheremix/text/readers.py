"""Documents out of tables and folders of text files."""

from __future__ import annotations

import os
import stat
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from spheremix._files import is_run, open_regular
from spheremix.text.columns import choose, gather, repeats
from spheremix.text.corpus import Cleaning, Corpus, ReadError, digest, listed, shown
from spheremix.text.files import checksum, content_of, decode, reading
from spheremix.text.tables import MATRIX_SUFFIXES, TEXT_SUFFIXES, long_fields, open_table
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from spheremix.text.columns import Name

PLURALS = {"folder of a run": "folders of runs", "pipe or device": "pipes or devices"}
HEAD = 100  # records that guesses are made on
KINDS = f"{', '.join(TEXT_SUFFIXES[:-1])} or {TEXT_SUFFIXES[-1]}"
# What is no plain text, by the end of its name, and what to do with it.
TABLES = (
    *(".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json", ".parquet", ".pq"),
    *MATRIX_SUFFIXES,
)
REMEDIES = {
    "unpack it first": (".zip", ".tar", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar"),
    "save it as CSV, and name that": (".xls", ".xlsx", ".ods"),
    "turn such files into plain text (.txt) first": (
        *(".pdf", ".ps", ".doc", ".docx", ".odt", ".rtf", ".epub", ".ppt", ".pptx", ".odp"),
        *(".html", ".htm", ".xhtml", ".xml"),
        *(".png", ".jpg", ".jpeg", ".gif", ".tif", ".tiff"),
    ),
}


def read_documents(
    path: str | PathLike[str],
    *,
    text: Name = None,
    id: Name = None,  # noqa: A002
    date: Name = None,
    label: Name = None,
) -> Corpus:
    """Read the documents of a file or folder.

    Parameters
    ----------
    path : str or path
        A CSV or TSV file, JSON lines (one object a line), a JSON list of objects, each also
        gzipped; a Parquet file; or a folder of text files (.txt, .text, .md; where there is none
        of those, files of no known kind), sub-folders included, but not the folders of runs of
        spheremix. All in UTF-8.
    text, id, date, label : str, False or None
        Columns. None guesses: an obvious name such as "body" or "year", and for the text the only
        column that is much longer than the others. What was guessed is in the notes. False uses
        none. In a folder, a document's id is its path and its label its first sub-folder.

    Returns
    -------
    Corpus
        In the order of the file; in a folder, in the order of the names.

    Raises
    ------
    ReadError
        One line with the file, the place, the culprit and the remedy.

    Notes
    -----
    Dates are those of ISO 8601, with or without a time, a month (YYYY-MM) or a year, which stand
    for their first day. A guessed column whose values are no dates is not used, and the notes say
    so. Several labels are a JSON list, or separated by ";" or "|". Ids must differ.

    Examples
    --------
    >>> from pathlib import Path
    >>> import spheremix as sm
    >>> folder = Path("texts")
    >>> folder.mkdir()
    >>> _ = (folder / "one.txt").write_text("Heart and blood.", encoding="utf-8")
    >>> _ = (folder / "two.txt").write_text("Wing and flow.", encoding="utf-8")
    >>> sm.text.read_documents(folder).texts
    ['Heart and blood.', 'Wing and flow.']
    """
    place = Path(path)
    wanted: dict[str, Name] = {"text": text, "id": id, "date": date, "label": label}
    if text is False:
        raise ReadError.at(place, "{text=False}: documents without text cannot be read.")
    with reading(place):
        return _read_folder(place, wanted) if place.is_dir() else _read_table(place, wanted)


def _read_table(path: Path, wanted: dict[str, Name]) -> Corpus:
    with open_regular(path) as file:
        if not file.read(1):
            raise ReadError.at(path, "the file is empty.")
    table = open_table(path)
    with long_fields():
        head = [record for _, record in islice(table.records(None), HEAD)]
        if not head:
            raise ReadError.at(path, "there are no documents in it.")
        choice = choose(path, head, wanted, complete=table.complete)
        records = table.records(list(choice.columns.values()))
        fields = gather(path, records, choice, table.unit)
    return Corpus(**fields, source=str(path), format=table.format, checksum=checksum(path))


def _read_folder(folder: Path, wanted: Mapping[str, Name]) -> Corpus:
    for part, name in wanted.items():
        if name:
            raise ReadError.at(
                folder,
                "a folder has no columns, and {name} was asked for",
                remedies=(f"leave out {{{part}}}",),
                name=shown(name),
            )
    found, runs, others = _walk(folder)
    visible = [p for p in found if not any(s[:1] == "." for s in p.relative_to(folder).parts)]
    paths = [p for p in visible if _suffix(p) in TEXT_SUFFIXES] or _unknown_kinds(folder, visible)
    clean = Cleaning()
    names = [path.relative_to(folder).as_posix() for path in paths]
    contents = [_content(path) for path in paths]
    decoded = zip(paths, contents, strict=True)
    texts = [clean(decode(path, content)) for path, content in decoded]
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
    labels: list[tuple[str, ...]] | None = None
    if wanted["label"] is not False and all("/" in name for name in names):
        labels = [(clean(name.partition("/")[0]),) for name in names]
        notes.append("Sub-folders are read as the label (guessed).")
    return Corpus(
        texts=texts,
        ids=[clean(name) for name in names],
        labels=labels,
        source=str(folder),
        format="folder",
        notes=[*notes, *repeats(texts), *clean.notes()],
        checksum=digest(
            part
            for name, content in zip(names, contents, strict=True)
            for part in (os.fsencode(name), content)
        ),
    )


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
    """Give files that may be texts by another name, or say what to do with those that are not."""
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


def _content(path: Path) -> bytes:
    with reading(path):
        return content_of(path)

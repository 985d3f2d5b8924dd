"""Which files of a folder are documents, and what is said about the others."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from spheremix._files import is_run
from spheremix.text.corpus import ReadError, listed
from spheremix.text.tables import MATRIX_SUFFIXES, TEXT_SUFFIXES
from spheremix.wording import count

PLURALS = {"folder of a run": "folders of runs", "pipe or device": "pipes or devices"}
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

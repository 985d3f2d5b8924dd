"""Documents out of tables and folders of text files."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from spheremix.text.columns import choose, gather
from spheremix.text.corpus import Cleaning, Corpus, ReadError, count, digest, shown
from spheremix.text.files import checksum, decode, open_bytes, reading
from spheremix.text.tables import TEXT_SUFFIXES, long_fields, open_table

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from spheremix.text.columns import Name

HEAD = 100  # records that guesses are made on


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
        gzipped; a Parquet file; or a folder of text files (.txt, .text, .md, or whatever there is
        where there is none of those), sub-folders included. All in UTF-8.
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
        raise ReadError.at(place, "text=False: documents without text cannot be read.")
    with reading(place):
        return _read_folder(place, wanted) if place.is_dir() else _read_table(place, wanted)


def _read_table(path: Path, wanted: dict[str, Name]) -> Corpus:
    if path.stat().st_size == 0:
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
            raise ReadError.at(folder, f"a folder has no columns: leave out {part}={shown(name)}.")
    found = sorted(
        (Path(base, name) for base, _, names in os.walk(folder) for name in names),
        key=lambda path: path.relative_to(folder).as_posix(),
    )
    visible = [p for p in found if not any(s[:1] == "." for s in p.relative_to(folder).parts)]
    texts = [p for p in visible if p.name.lower().removesuffix(".gz").endswith(TEXT_SUFFIXES)]
    paths = texts or visible
    if not paths:
        raise ReadError.at(folder, "there are no files in this folder.")
    clean = Cleaning()
    names = [path.relative_to(folder).as_posix() for path in paths]
    contents = [_content(path) for path in paths]
    decoded = zip(paths, contents, strict=True)
    notes = [f"Documents are the {count(len(paths), 'file')} of the folder, ids are their paths."]
    if len(paths) < len(found):
        others = count(len(found) - len(paths), "other file")
        notes.append(f"{others}, not {', '.join(TEXT_SUFFIXES)}, left out.")
    labels: list[tuple[str, ...]] | None = None
    if wanted["label"] is not False and all("/" in name for name in names):
        labels = [(clean(name.partition("/")[0]),) for name in names]
        notes.append("Sub-folders are read as the label (guessed).")
    return Corpus(
        texts=[clean(decode(path, content)) for path, content in decoded],
        ids=[clean(name) for name in names],
        labels=labels,
        source=str(folder),
        format="folder",
        notes=[*notes, *clean.notes()],
        checksum=digest(
            part
            for name, content in zip(names, contents, strict=True)
            for part in (os.fsencode(name), content)
        ),
    )


def _content(path: Path) -> bytes:
    with reading(path), open_bytes(path) as file:
        return file.read()

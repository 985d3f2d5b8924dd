"""Documents out of tables and folders of text files."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from spheremix._files import open_regular
from spheremix.text.columns import Wanted, choose
from spheremix.text.corpus import Corpus, ReadError
from spheremix.text.files import checksum, reading
from spheremix.text.folders import FromFiles, read_folder
from spheremix.text.gather import gather
from spheremix.text.tables import long_fields, open_table

if TYPE_CHECKING:
    from os import PathLike

    from spheremix.text.columns import Name, Names

HEAD = 100  # records that guesses are made on


def read_documents(
    path: str | PathLike[str],
    *,
    text: Name = None,
    id: Name = None,  # noqa: A002
    date: Name = None,
    label: Names = None,
    title: Name = None,
    date_from: str | None = None,
    label_from: str | None = None,
    metadata: str | PathLike[str] | None = None,
) -> Corpus:
    """Read the documents of a file or folder.

    Parameters
    ----------
    path : str or path
        A CSV or TSV file, JSON lines (one object a line), a JSON list of objects, each also
        gzipped; a Parquet file; or a folder of text files (.txt, .text, .md; where there is none
        of those, files of no known kind), sub-folders included, but not the folders of runs of
        spheremix. All in UTF-8.
    text, id, date, title : str, False or None
        Columns. None guesses: an obvious name such as "body" or "year", and for the text the only
        column that is much longer than the others. What was guessed is in the notes. False uses
        none.
    label : str, list of str, False or None
        One or several columns of labels; None and False as for the others.
    date_from : str, default=None
        For folders: where the dates are. "name" finds 2021-03-04, 20210304, 2021_03 or 2021 in the
        name of each file, "folder" in the names of its folders; anything else says how dates are
        written in the path, as "%d.%m.%Y". None guesses where each name has a date with its day.
    label_from : str, default=None
        For folders: "folder" takes the first sub-folder of each file; anything else says how names
        are made, as "{party}_{speaker}_*", where each name in braces becomes a label and a star
        stands for anything. None guesses "folder" where each file is in a sub-folder.
    metadata : str, path or None
        For folders: a table with a row for each file, in any of the formats above. The column with
        the names of the files, with or without folder and end, is found, or named by ``id``;
        ``date``, ``label`` and ``title`` are columns of this table.

    Returns
    -------
    Corpus
        In the order of the file; in a folder, in the order of the names. All other columns are in
        its ``metadata``. In a folder, the id of a document is its path, its title its name.

    Raises
    ------
    ReadError
        One line with the file, the place, the culprit and the remedy.

    Notes
    -----
    Dates are those of ISO 8601, with or without a time; a month (YYYY-MM) stays a month and a year
    a year. A guessed column whose values are no dates is not used, and the notes say so.
    Several labels are a JSON list, or separated by ";" or "|". Ids must differ.

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
    wanted = Wanted(text, id, date, label, title)
    beside = FromFiles(date_from, label_from, None if metadata is None else Path(metadata))
    if text is False:
        raise ReadError.at(place, "{text=False}: documents without text cannot be read.")
    with reading(place):
        if place.is_dir():
            return read_folder(place, wanted, beside)
        beside.refuse(place)
        return _read_table(place, wanted)


def _read_table(path: Path, wanted: Wanted) -> Corpus:
    with open_regular(path) as file:
        if not file.read(1):
            raise ReadError.at(path, "the file is empty.")
    table = open_table(path)
    with long_fields():
        head = [record for _, record in islice(table.records(), HEAD)]
        if not head:
            raise ReadError.at(path, "there are no documents in it.")
        choice = choose(path, head, wanted, complete=table.complete)
        fields = gather(path, table.records(), choice, table.unit)
    return Corpus(**fields, source=str(path), format=table.format, checksum=checksum(path))

"""Documents out of tables, folders of text files and data frames."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spheremix._files import open_regular
from spheremix.text.columns import Wanted, choose, gather
from spheremix.text.corpus import Corpus, ReadError, digest
from spheremix.text.files import checksum, reading
from spheremix.text.folders import FromFiles, read_folder
from spheremix.text.formats import Layout, is_files, is_frame, open_frame, open_table, open_tables

if TYPE_CHECKING:
    from os import PathLike

    from spheremix.text.columns import Name, Names
    from spheremix.text.formats import Table

HEAD = 100  # records that guesses are made on


def read_documents(
    source: str | PathLike[str] | Any,
    *,
    text: Name = None,
    id: Name = None,  # noqa: A002
    date: Name = None,
    label: Names = None,
    title: Name = None,
    date_format: str | None = None,
    date_from: str | None = None,
    label_from: str | None = None,
    metadata: str | PathLike[str] | None = None,
    sheet: str | None = None,
    header: str | None = None,
) -> Corpus:
    """Read the documents of a file, a folder or a data frame.

    Parameters
    ----------
    source : str, path, list of these, or data frame
        A CSV or TSV file, JSON lines (one object a line), a JSON list of objects, each also
        gzipped; a Parquet file; a workbook (.xlsx); or a folder of text files (.txt, .text, .md;
        where there is none of those, files of no known kind), sub-folders included, but not the
        folders of runs of spheremix. All in UTF-8. Or a data frame of pandas, polars, pyarrow or
        another library that narwhals knows or that speaks Arrow; a named index counts as columns.
        Several files with the same columns, in a list, are read as one table.
    text, id, date, title : str, False or None
        Columns. None guesses: an obvious name such as "body" or "year", and for the text the only
        column that is much longer than the others. What was guessed is in the notes. False uses
        none.
    label : str, list of str, False or None
        One or several columns of labels; None and False as for the others.
    date_format : str, default=None
        How the dates of the column are written, as "%d.%m.%Y". None finds the one usual form that
        fits all of them; where day and month can be exchanged in all of them, it is asked for.
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
    sheet : str or None
        The sheet of a workbook. None takes the first one, and names the others in the notes.
    header : {"yes", "no"}, default=None
        Whether the first row of a CSV file or a sheet has the names of the columns; None finds out.
        Columns without names are called "column 1", in a sheet "column A".

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
    Dates are those of ISO 8601, or written in one other usual form, as 24.02.2015, 2/24/2015 or 24
    February 2015, with or without a time; a month (YYYY-MM) stays a month and a year a year. A
    guessed column whose values are no dates, or ids that are not different, is not used, and the
    notes say so. Several labels are a JSON list, or separated by ";" or "|".

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
    wanted = Wanted(text, id, date, label, title, date_format)
    beside = FromFiles(date_from, label_from, None if metadata is None else Path(metadata))
    files = [Path(one) for one in source] if is_files(source) else []
    framed = is_frame(source)
    place = "data frame" if framed else files[0] if files else Path(source)
    if text is False:
        raise ReadError.at(place, "{text=False}: documents without text cannot be read.")
    layout = Layout(sheet, header)
    if isinstance(place, str):
        beside.refuse(place)
        layout.refuse(place, "a data frame")
        corpus = _read_table(open_frame(source), wanted)
        return replace(corpus, checksum=corpus.content_checksum())
    with reading(place):
        if not files and place.is_dir():
            return read_folder(place, wanted, beside, layout)
    return _read_files(files or [place], wanted, beside, layout)


def _read_files(paths: list[Path], wanted: Wanted, beside: FromFiles, layout: Layout) -> Corpus:
    """Read the documents of a file, or of several as one table."""
    for path in paths:
        beside.refuse(path)
        with reading(path), open_regular(path) as file:
            if not file.read(1):
                raise ReadError.at(path, "the file is empty.")
    with reading(paths[0]):
        one = len(paths) == 1
        table = open_table(paths[0], layout) if one else open_tables(paths, layout)
        corpus = _read_table(table, wanted)
        checksums = [checksum(path) for path in paths]
    return replace(corpus, checksum=checksums[0] if one else digest(map(str.encode, checksums)))


def _read_table(table: Table, wanted: Wanted) -> Corpus:
    """Read the documents of a table; guesses are made on its first records."""
    head = [record for _, record in islice(table.records(), HEAD)]
    if not head:
        raise ReadError.at(table.place, "there are no documents in it.")
    choice = choose(table.place, head, wanted, complete=table.complete)
    fields = gather(table.place, table.records(), choice, table.unit)
    fields["notes"] = [*table.notes, *fields["notes"]]
    return Corpus(**fields, source=str(table.place), format=table.format)

"""New documents of an update: read as those of the run were, and joined to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spheremix.errors import ParameterError
from spheremix.run.assign import refuse_columns, vectorized
from spheremix.run.following import identities, rows_of
from spheremix.run.joining import join_documents
from spheremix.run.new_rows import (
    as_matrix,
    join_rows,
    material_of,
    needs_matrix,
    needs_texts,
    read_rows,
)
from spheremix.run.prepare import is_matrix
from spheremix.run.store import RunError
from spheremix.text import Corpus, Matrix, ReadError, read_documents
from spheremix.text.columns import NoColumnError
from spheremix.text.corpus import shown
from spheremix.text.trouble import Mending, mend

if TYPE_CHECKING:
    from spheremix.run.listener import Listener
    from spheremix.run.options import ExploreOptions
    from spheremix.run.prepare import Material
    from spheremix.run.run import Run

OPTIONAL = ("date", "label", "title")  # columns that new documents can do without


@dataclass(frozen=True, slots=True, eq=False)
class Added:
    """Documents of a run, followed by new ones.

    Attributes
    ----------
    source : Corpus or Matrix
        All of them, as they are explored.
    fresh : Material
        The new ones, in the columns of the run.
    known : list of str
        What the documents of before are known by.
    n_known : int
        Documents that were given as new and were there already; they are left out.
    said : str
        How many documents were added, one of the notes of the source.
    """

    source: Corpus | Matrix
    fresh: Material
    known: list[str]
    n_known: int
    said: str

    @property
    def n_before(self) -> int:
        """Documents of before."""
        return len(self.known)

    @property
    def n_added(self) -> int:
        """New documents."""
        return self.fresh.n_documents


def add_texts(
    before: Run,
    new: Any,
    texts: Any,
    options: ExploreOptions,
    columns: dict[str, Any],
    listener: Listener,
) -> Added:
    """Join new texts to those of a run on texts."""
    new = as_matrix(new)
    if isinstance(new, Matrix):
        raise needs_texts(before, new.source or "The matrix")
    if _is_path(new) and is_matrix(Path(new)):
        raise needs_texts(before, new)
    if texts is not None:
        raise ParameterError(
            "{folder}: a run on texts: {texts} are beside the rows of a matrix",
            remedies=("leave out {texts}",),
            folder=before.folder,
        )
    corpus, about = before.corpus(), before.manifest.corpus
    if corpus is None or about is None:
        raise RunError(f"{before.folder}: damaged: the documents are missing.")
    corpus = replace(corpus, source=about.source, format=about.format, notes=about.notes)
    joined = join_documents(corpus, _read(before, new, options, columns, listener))
    known = identities(joined.corpus)[: len(corpus)]
    fresh = vectorized(before, joined.fresh)
    return Added(joined.corpus, fresh, known, joined.n_known, joined.said)


def add_rows(
    before: Run,
    new: Any,
    texts: Any,
    options: ExploreOptions,
    columns: dict[str, Any],
    listener: Listener,
) -> Added:
    """Join new rows to those of a run on a matrix, with their documents if the run has some."""
    matrix = _rows(before, as_matrix(new), listener)
    if texts is not None:
        matrix = matrix.beside(_read(before, texts, options, columns, listener))
    for name in columns if texts is None else ():
        alone = before.corpus() is None
        raise ParameterError(
            f"{{matrix}}: is a matrix: it has no columns for {{{name}}}",
            remedies=(f"leave out {{{name}}}" if alone else "give its documents with {texts}",),
            matrix=matrix.source or "The matrix",
        )
    found = join_rows(before, matrix)
    for note in found.notes:
        listener.inform(note)
    everything, joined = material_of(found.matrix), found.documents
    known = identities(everything.source, rows_of(everything))
    n_before = everything.n_documents - found.fresh.n_documents
    return Added(found.matrix, found.fresh, known[:n_before], joined.n_known, joined.said)


def _rows(before: Run, new: Any, listener: Listener) -> Matrix:
    """Read rows, where they are not in memory already."""
    if isinstance(new, Matrix):
        return new
    if not _is_path(new):
        raise needs_matrix(before, "These documents")
    path = Path(new)
    if not path.exists():  # before it is said to be of the wrong kind
        raise ReadError.at(path, "there is no such file or folder.")
    if not is_matrix(path):
        raise needs_matrix(before, path)
    listener.begin(f"Reading {path}")
    return read_rows(before, path)


def _read(
    before: Run, new: Any, options: ExploreOptions, columns: dict[str, Any], listener: Listener
) -> Corpus:
    """Read new documents as those of the run were read, and mend them in the same way.

    Columns that are given by name stand in the place of those of the run.
    """
    if _is_path(new):
        path = Path(new)
        listener.begin(f"Reading {path}")
        found = _read_file(path, replace(options, **columns).reading())
    else:
        found = new if isinstance(new, Corpus) else Corpus.from_texts(new)
        refuse_columns(found, columns)
    lines = frozenset(before.manifest.prepared.dropped_lines)
    found = mend(found, Mending(encoding=bool(options.mend_encoding), lines=lines))
    for note in found.notes:
        listener.inform(note)
    return found


def _read_file(path: Path, wanted: dict[str, Any]) -> Corpus:
    """Read a file; columns of dates, labels and titles that the run has may be missing in it."""
    said: list[str] = []
    while True:
        try:
            found = read_documents(path, **wanted)
        except NoColumnError as error:
            parts = [part for part in OPTIONAL if error.column in _names(wanted[part])]
            if not parts:
                raise
            for part in parts:
                left = [one for one in _names(wanted[part]) if one != error.column]
                wanted = {**wanted, part: left or False}
                said.append(
                    f"There is no column {shown(error.column)}: the new documents have no {part} "
                    "from it."
                )
        else:
            return replace(found, notes=[*found.notes, *said])


def _names(wanted: Any) -> list[str]:
    """Return the columns that are asked for by name."""
    return [wanted] if isinstance(wanted, str) else list(wanted or ())


def _is_path(new: Any) -> bool:
    return isinstance(new, str) or hasattr(new, "__fspath__")

"""A run brought up to date with new documents: its groups stay who they are, new ones are added."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from spheremix.errors import ParameterError
from spheremix.reading.new_groups import LEAST_OF_A_GROUP
from spheremix.run import Listener
from spheremix.run.apply_edits import PendingStep, identities
from spheremix.run.colours import add_places
from spheremix.run.edits import Edits, EditStep, UpdateRecord
from spheremix.run.explore import Start, explore, known_options
from spheremix.run.folder.files import RunError
from spheremix.run.folder.store import Store
from spheremix.run.names import UPDATE, taken_over_names
from spheremix.run.new_documents import (
    as_matrix,
    compare_rows,
    join_documents,
    join_rows,
    needs_matrix,
    needs_texts,
    on_texts,
    read_rows,
    refuse_columns,
    vectorized,
)
from spheremix.run.options import ExploreOptions
from spheremix.run.run import load_run
from spheremix.run.stages.rows import is_matrix, mended, rows_of_matrix
from spheremix.text import Corpus, Matrix, ReadError, read_documents, vectorize
from spheremix.text.columns import NoColumnError
from spheremix.text.corpus import shown
from spheremix.text.formats import WORKBOOK_SUFFIXES, is_frame
from spheremix.text.trouble import Mending, mend
from spheremix.wording import count

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from spheremix.run.new_documents import Assigned
    from spheremix.run.run import Run
    from spheremix.run.stages.rows import Rows

    Ids = NDArray[np.intp]

FIRST = 10  # words of a group that are compared


def update_run(
    run: str | PathLike[str],
    new: Any,
    out: str | PathLike[str] | None = None,
    *,
    texts: Any = None,
    text: str | None = None,
    id: str | bool | None = None,  # noqa: A002
    listener: Listener | None = None,
    threads: int | None = None,
) -> Run:
    """Make a run of the documents of another run and new ones, with the groups of that run.

    The run before is only read. Its groups are where the fit starts, so they keep their numbers,
    names, notes and colours; groups that :func:`spheremix.compare_batch` suggests among the new
    documents are added after them. Words of texts are counted again, so new words come in; new
    rows of a matrix have the columns of the run. Called again after it was killed, it goes on.

    Parameters
    ----------
    run : str or path
        Folder of a run of ``spheremix explore``.
    new : str, path, list of str, Corpus, Matrix, ndarray or sparse array
        A file as the run was made of, or what is in it.
    out : str or path, default=None
        Folder of the new run; by default that of the run with "-updated" after its name.
    texts : str, path, list of str or Corpus, default=None
        The documents of new rows, where the run has documents beside its rows.
    text, id : str, default=None
        Columns of the texts and of the ids; by default those of the run. False is no column of ids.
    listener : Listener, default=None
        Hears of progress and notes.
    threads : int, default=None
        Number of threads; all cores by default.

    Returns
    -------
    Run
        The new run.
    """
    hears, before = listener or Listener(), load_run(run)
    folder = _output(before, out)
    if before.info.corpus is None:
        raise RunError(
            f"{before.folder}: this run was not made by spheremix explore and cannot be updated. "
            "Explore old and new documents together."
        )
    options, lines = (
        ExploreOptions(**known_options(before), threads=threads),
        frozenset([] if before.rows is None else before.rows.dropped_lines),
    )
    columns = {name: one for name, one in (("text", text), ("id", id)) if one is not None}
    add = add_texts if on_texts(before) else add_rows
    added = add(before, new, texts, options, columns, hears)
    if added.n_known:
        hears.inform(f"{count(added.n_known, 'document')} left out that the run has already.")
    step = _taken_over(before, added)
    hears.begin(f"Comparing {count(added.n_added, 'document')} with those of the run")
    compared = compare_rows(before, added.fresh)
    labels = _labels(before, compared)
    own = np.empty(0, dtype=np.intp)
    if isinstance(added.source, Corpus):
        unknown = added.n_before + np.array(sorted(added.fresh.reasons), dtype=np.intp)
        own = group_without_known_words(added.source, unknown, options, lines)
    n_suggested = 0 if compared.comparison is None else len(compared.comparison.new_groups)
    K = len(before.mixture.weights_) + n_suggested
    labels[own] = K
    K += int(len(own) > 0)
    start = Start(
        labels,
        _with_findings(step, before, compared, K),
        lines=lines,
        told=frozenset(added.source.notes) - {added.said},
    )
    chosen = replace(options, k=K)
    return explore(added.source, chosen, Store(folder), force=False, listener=hears, start=start)


def _output(before: Run, out: str | PathLike[str] | None) -> Path:
    """Return the folder of the new run; it is not in that of the run before, which is only read."""
    place = before.store.place
    there = place.resolve()
    # A folder such as "." has no name to which something can be added.
    named = place if place.name not in {"", ".."} else there
    folder = Path(f"{named}-updated" if out is None else out)
    if folder.resolve().is_relative_to(there):
        where = "is" if folder.resolve() == there else "is in"
        raise ParameterError(
            f"{{out}} {where} the folder of the run that is updated",
            remedies=("choose another folder",),
        )
    return folder


def _labels(before: Run, compared: Assigned) -> Ids:
    """Return the group of each document, old ones first; -1 where none is known.

    Groups that are suggested come after those of the run.
    """
    K = before.info.n_groups
    fresh = np.full(compared.rows.n_documents, -1, dtype=np.intp)
    found = compared.comparison
    if found is not None:
        added = found.new_group >= 0
        fresh[compared.rows.kept] = np.where(added, K + found.new_group, found.labels)
    return np.concatenate([_known_labels(before), fresh])


def _known_labels(before: Run) -> Ids:
    """Return the group of each document of a run, -1 for none."""
    if before.rows is None or before.assigned is None:
        raise RunError(f"{before.folder}: damaged: the rows are missing.")
    return before.rows.spread(before.assigned.labels)


def _taken_over(before: Run, added: Added) -> PendingStep:
    """Return the names, notes and marks of the run before, and what it was like."""
    reading, info, K = before.reading, before.info, before.info.n_groups
    names = taken_over_names(reading.group_name(k) for k in range(K))
    called = before.store.place.resolve().name
    source = f"{UPDATE}{called}"
    labels = _known_labels(before)
    words = [word for step in before.edits for word in step.edits.drop_words]
    edits = Edits(
        run=str(info.fit),
        names=dict(enumerate(names)),
        notes=info.notes,
        misplaced=info.misplaced,
        drop_words=list(dict.fromkeys(words)),
    )
    first = []
    if before.feature_names is not None:
        first = [[one.word for one in reading.vocabulary.words(k, FIRST)] for k in range(K)]
    update = UpdateRecord(
        before=called,
        n_before=added.n_before,
        n_added=added.n_added,
        sizes=np.bincount(labels[labels >= 0], minlength=K).tolist(),
        names=names,
        words=first,
        n_nowhere=int((before.assigned.labels < 0).sum())
        if reading.has_noise and before.assigned is not None
        else None,
        checks=[],
        alarms=[],
        colours=before.colours,
    )
    step = EditStep(source=source, edits=edits, update=update)
    return PendingStep(step, dict(zip(added.known, labels.tolist(), strict=True)))


def _with_findings(
    pending: PendingStep, before: Run, compared: Assigned, n_groups: int
) -> PendingStep:
    """Add what the comparison of the new documents with the run before found."""
    found, step = compared.comparison, pending.step
    if step.update is None:
        return pending
    update = replace(
        step.update,
        n_unknown=len(compared.rows.reasons) if on_texts(before) else 0,
        checks=[] if found is None else [f"{one.name}: {one.sentence}" for one in found.checks],
        alarms=[] if found is None else found.alarms,
        colours=add_places(step.update.colours, n_groups - before.info.n_groups),
    )
    return replace(pending, step=replace(step, update=update))


def group_without_known_words(
    corpus: Corpus, unknown: Ids, options: ExploreOptions, lines: frozenset[str]
) -> Ids:
    """Return the documents that share words with each other; none where they are too few.

    Words are counted as the new run counts them. A document belongs to the group if it has a word
    that another of them has.

    Parameters
    ----------
    corpus : Corpus
        All documents of the new run.
    unknown : ndarray of int
        Those without a word of the run before.
    options : ExploreOptions
        Of the new run.
    lines : frozenset of str
        Lines that the run before left out of its documents.

    Returns
    -------
    ndarray of int
        The group, by numbers of documents.
    """
    none = np.empty(0, dtype=np.intp)
    if len(unknown) < LEAST_OF_A_GROUP:
        return none
    source, _ = mended(corpus, options, lines)
    if not isinstance(source, Corpus):
        return none
    found = vectorize(source, **options.vectorizer())
    places = np.flatnonzero(np.isin(found.rows, unknown))
    rows = sparse.csr_array(found.X[places])
    several = np.bincount(rows.indices, minlength=rows.shape[1]) > 1  # documents have the word
    shared = rows @ several.astype(np.float64) > 0.0
    group = found.rows[places[shared]]
    return group if len(group) >= LEAST_OF_A_GROUP else none


# New documents, read as those of the run were, and joined to them


OPTIONAL = ("date", "label", "title")  # columns that new documents can do without


@dataclass(frozen=True, slots=True, eq=False)
class Added:
    """Documents of a run, followed by new ones.

    Attributes
    ----------
    source : Corpus or Matrix
        All of them, as they are explored.
    fresh : Rows
        The new ones, in the columns of the run.
    known : list of str
        What the documents of before are known by.
    n_known : int
        Documents that were given as new and were there already; they are left out.
    said : str
        How many documents were added, one of the notes of the source.
    """

    source: Corpus | Matrix
    fresh: Rows
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
    corpus, about = before.corpus(), before.info.corpus
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
    everything, joined = rows_of_matrix(found.matrix), found.documents
    known = identities(everything.corpus, everything)
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
    if is_frame(new):
        found = _read_table(new, replace(options, **columns, sheet=None).reading())
    elif _is_path(new):
        path = Path(new)
        listener.begin(f"Reading {path}")
        if not path.name.lower().endswith(WORKBOOK_SUFFIXES):
            columns = {**columns, "sheet": None}
        found = _read_table(path, replace(options, **columns).reading())
    else:
        found = new if isinstance(new, Corpus) else Corpus.from_texts(new)
        refuse_columns(found, columns)
    lines = frozenset(before.rows.dropped_lines if before.rows else ())
    found = mend(found, Mending(encoding=bool(options.mend_encoding), lines=lines))
    for note in found.notes:
        listener.inform(note)
    return found


def _read_table(path: Any, wanted: dict[str, Any]) -> Corpus:
    """Read a file or a frame; columns of dates, labels and titles of the run may be missing."""
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

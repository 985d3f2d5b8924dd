"""A run brought up to date with new documents: its groups stay who they are, new ones are added."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from spheremix.data.parts import spread_rows
from spheremix.errors import Message, ParameterError
from spheremix.reading.new_groups import LEAST_OF_A_GROUP
from spheremix.run import Listener
from spheremix.run.apply_edits import PendingStep, changes_fit, first_words, identities
from spheremix.run.colour_places import add_places
from spheremix.run.edits import Edits, EditStep, UpdateRecord
from spheremix.run.explore import Start, explore
from spheremix.run.folder.files import RunError, is_path
from spheremix.run.folder.store import Store
from spheremix.run.names import UPDATE, taken_over_names
from spheremix.run.new_documents import (
    compare_rows,
    in_columns,
    new_meaning,
    on_texts,
    read_new,
    refuse_meaning,
    stacked,
    vectorized,
)
from spheremix.run.options import ExploreOptions
from spheremix.run.run import load_run
from spheremix.run.stages.meaning import GIVEN, NONE
from spheremix.run.stages.passages import WHOLE, Cut, cut_corpus, cut_new
from spheremix.run.stages.rows import Rows, check_rows, mended, rows_of_matrix, vectors_beside
from spheremix.text import Corpus, Matrix, ReadError, vectorize
from spheremix.text.corpus import shown
from spheremix.text.formats import CSV_SUFFIXES, WORKBOOK_SUFFIXES
from spheremix.text.passages import Passages
from spheremix.wording import count, joined

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from numpy.typing import NDArray

    from spheremix.reading.batch import BatchComparison
    from spheremix.run.run import Run

    Ids = NDArray[np.intp]

OF_FILES = ("id", "date", "label", "title")  # columns of a table of files


def update_run(
    run: str | PathLike[str],
    new: Any,
    out: str | PathLike[str] | None = None,
    *,
    texts: Any = None,
    text: str | None = None,
    id: str | bool | None = None,  # noqa: A002
    metadata: str | PathLike[str] | None = None,
    meaning: Any = None,
    listener: Listener | None = None,
    threads: int | None = None,
) -> Run:
    """Make a run of the documents of another run and new ones: what ``Run.update`` does.

    The run before is only read. Its groups are where the fit starts, so they keep their numbers,
    names, notes and colours; groups that :func:`spheremix.compare_batch` suggests among the new
    documents are added after them. Words of texts are counted again, so new words come in; new
    rows of a matrix have the columns of the run. Called again after it was killed, it goes on.
    """
    hears, before = listener or Listener(), load_run(run)
    folder = _output(before, out)
    if before.info.corpus is None:
        raise RunError(
            f"{before.folder}: this run was not made by spheremix explore and cannot be updated. "
            "Explore old and new documents together."
        )
    options = ExploreOptions.of_command(before.info.command, threads)
    given = {"text": text, "id": id, "metadata": metadata}
    columns = {name: one for name, one in given.items() if one is not None}
    of_embeddings = before.meaning is not None and before.meaning.model == GIVEN
    if of_embeddings and texts is not None and meaning is None:  # as they were explored
        new, texts, meaning = texts, None, new
    wanted = _wanted(new if texts is None else texts, options, columns, hears)
    added = join(before, read_new(before, new, hears, wanted, columns, texts), hears, meaning)
    found = None
    if added.cut is None:
        n_fresh = count(added.fresh.n_documents, "document")
        hears.begin(f"Comparing {n_fresh} with those of the run")
        found = compare_rows(before, added.fresh)
    lines = frozenset([] if before.rows is None else before.rows.dropped_lines)
    labels, K = _labels(before, added, found, options, lines)
    groups = dict(zip(added.known, added.labels.tolist(), strict=True))
    step = PendingStep(_taken_over(before, added, found, K), groups)
    told = frozenset(added.source.notes)
    start = Start(labels, step, lines=lines, told=told, cut=added.cut)
    model = NONE if before.meaning is None else before.meaning.model
    beside: Any = added.source
    if isinstance(beside, Corpus) and model == GIVEN:
        beside = vectors_beside(beside, added.vectors)
    alone = before.info.command.get("meaning_only", False)
    # Groups that were fitted again after edits are no longer those of the seeds.
    edited = any(changes_fit(one.edits) for one in before.info.edits)
    own: dict[str, Any] = {"seeds": None, "seed_weight": None} if edited else {}
    chosen = replace(options, k=K, free=None, **own, meaning=model, meaning_only=alone)
    if isinstance(added.source, Corpus) and added.cut is None:
        chosen = replace(chosen, split=WHOLE)
    return explore(beside, chosen, Store(folder), force=False, listener=hears, start=start)


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


def _wanted(
    source: Any, options: ExploreOptions, columns: dict[str, Any], listener: Listener
) -> dict[str, Any]:
    """Return how new documents are read: as those of the run were, as far as their kind has it.

    Columns that are given by name stand in the place of those of the run. Files of a folder have
    the columns of their table, if there is one.
    """
    path = Path(source) if is_path(source) else None
    changed: dict[str, Any] = {}
    if path is None or not path.name.lower().endswith(WORKBOOK_SUFFIXES):
        changed["sheet"] = None
    tables = (*WORKBOOK_SUFFIXES, *CSV_SUFFIXES)
    if path is None or not path.name.lower().removesuffix(".gz").endswith(tables):
        changed["header"] = None
    if path is not None and path.is_dir() and "metadata" not in columns:
        lost = [
            name for name in OF_FILES if getattr(options, name) not in {None, "none", ("none",)}
        ]
        changed |= dict.fromkeys(lost)
        if lost:
            text, values = "The new files have no {lost} from a table", {"lost": joined(lost)}
            listener.note(Message(text, values, ("give one with {metadata}",)))
    return replace(options, **{**changed, **columns}).reading()


def _labels(
    before: Run,
    added: Joined,
    found: BatchComparison | None,
    options: ExploreOptions,
    lines: frozenset[str],
) -> tuple[Ids, int]:
    """Return the group of each document, -1 where none is known, and the number of groups.

    Old documents come first. Groups that are suggested come after those of the run; the last one
    has documents that share no word with the run. Of passages no group is suggested: those of one
    document are too much alike.
    """
    old, K, fresh = added.labels, before.info.n_groups, added.fresh
    new = np.full(fresh.n_documents, -1, dtype=np.intp)
    if found is not None:
        new[fresh.kept] = np.where(found.new_group >= 0, K + found.new_group, found.labels)
        K += len(found.new_groups)
    elif added.cut is not None and len(fresh.kept):
        new[fresh.kept] = before.reading.documents(fresh.X).labels
    labels = np.concatenate([old, new])
    if isinstance(added.source, Corpus) and added.cut is None:
        unknown = len(old) + np.array(sorted(fresh.reasons), dtype=np.intp)
        own = group_without_known_words(added.source, unknown, options, lines)
        labels[own] = K
        K += int(len(own) > 0)
    return labels, K


def _taken_over(
    before: Run, added: Joined, found: BatchComparison | None, n_groups: int
) -> EditStep:
    """Return the names, notes and marks of the run before, what it was like, and what is new."""
    reading, info, K, labels = before.reading, before.info, before.info.n_groups, added.labels
    names = taken_over_names(reading.group_name(k) for k in range(K))
    called = before.store.place.resolve().name
    words = [word for step in before.edits for word in step.edits.drop_words]
    edits = Edits(
        run=str(info.fit),
        names=dict(enumerate(names)),
        notes=info.notes,
        misplaced=info.misplaced,
        drop_words=list(dict.fromkeys(words)),
    )
    nowhere = labels[[] if before.rows is None else before.rows.kept] < 0
    update = UpdateRecord(
        before=called,
        n_before=added.n_before,
        n_added=added.n_added,
        sizes=np.bincount(labels[labels >= 0], minlength=K).tolist(),
        names=names,
        words=first_words(before),
        n_nowhere=int(nowhere.sum()) if reading.has_noise else None,
        n_unknown=added.n_unknown if on_texts(before) else 0,
        checks=[] if found is None else [f"{one.name}: {one.sentence}" for one in found.checks],
        alarms=[] if found is None else found.alarms,
        colours=add_places(before.colours, n_groups - K),
    )
    return EditStep(source=f"{UPDATE}{called}", edits=edits, update=update)


def group_without_known_words(
    corpus: Corpus, unknown: Ids, options: ExploreOptions, lines: frozenset[str]
) -> Ids:
    """Return those of some documents that share words with each other; none if they are too few.

    Words are counted as the new run counts them; lines that the run before left out stay out. A
    document belongs to the group if it has a word that another of them has.
    """
    none = np.empty(0, dtype=np.intp)
    if len(unknown) < LEAST_OF_A_GROUP:
        return none
    source: Any = mended(corpus, options)
    found = vectorize(source, **options.vectorizer(lines))
    places = np.flatnonzero(np.isin(found.rows, unknown))
    rows = sparse.csr_array(found.X[places])
    several = np.bincount(rows.indices, minlength=rows.shape[1]) > 1  # documents have the word
    shared = rows @ several.astype(np.float64) > 0.0
    group = found.rows[places[shared]]
    return group if len(group) >= LEAST_OF_A_GROUP else none


# Documents and rows after those of a run


@dataclass(frozen=True, slots=True, eq=False)
class Joined:
    """Documents of a run, followed by new ones."""

    source: Corpus | Matrix  # all of them, as they are explored
    fresh: Rows  # the new ones, in the columns of the run
    labels: Ids  # the groups of the documents of before, -1 for none
    known: list[str]  # what the documents of before are known by
    vectors: Any = None  # the meaning of all, where the run has it
    cut: Cut | None = None  # where they are passages of documents, as those of the run

    @property
    def n_before(self) -> int:
        """Documents of the run, as they were before any was split."""
        return len(self.labels) if self.cut is None else len(self.cut.whole) - self.n_added

    @property
    def n_added(self) -> int:
        """New documents."""
        return self.fresh.n_documents if self.cut is None else len(np.unique(self._owners))

    @property
    def n_unknown(self) -> int:
        """New documents without any word of the run."""
        if self.cut is None:
            return len(self.fresh.reasons)
        return self.n_added - len(np.unique(self._owners[self.fresh.kept]))

    @property
    def _owners(self) -> NDArray[np.int64]:
        """Numbers of the documents of the new passages."""
        return np.empty(0, np.int64) if self.cut is None else self.cut.documents[len(self.labels) :]


def join(run: Run, new: Corpus | Matrix, listener: Listener, meaning: Any = None) -> Joined:
    """Put new documents or rows after those of a run, and say what was done to them.

    Rows are known by their documents. Without documents they are known by their places and values:
    a file that begins with all rows of the run adds what comes after them.
    """
    about, assigned, rows = run.info.corpus, run.assigned, run.rows
    if about is None or rows is None or assigned is None:
        raise RunError(f"{run.folder}: damaged: the rows are missing.")
    labels = rows.spread(assigned.labels)
    if isinstance(new, Corpus):
        whole: dict[str, Any] = {
            "source": about.source,
            "format": about.format,
            "notes": about.notes,
        }
        n, cut, vectors = len(labels), None, None
        if run.cut is None:
            found = new_meaning(run, new, meaning, listener)
            source, kept = join_documents(replace(rows.corpus, **whole), new, listener)
            found = None if found is None else replace(found, vectors=found.vectors[kept])
        else:
            source, cut = _join_passages(run, run.cut, new, whole, listener)
            found = new_meaning(run, source.take(range(n, len(source))), meaning, listener)
        if found is not None:
            vectors = np.concatenate([rows.meaning, found.vectors])
        fresh = vectorized(run, source.take(range(n, len(source))), found)
        return Joined(source, fresh, labels, identities(source)[:n], vectors, cut)
    refuse_meaning(run, meaning)
    matrix, fresh = _join_rows(run, new, listener)
    everything = rows_of_matrix(matrix)
    known = identities(everything.corpus, everything)[: len(labels)]
    return Joined(matrix, fresh, labels, known)


def _join_passages(
    run: Run, cut: Cut, new: Corpus, about: dict[str, Any], listener: Listener
) -> tuple[Corpus, Cut]:
    """Put the passages of new documents after those of a run whose documents were split.

    A document is the same where all of its passages are.
    """
    texts = [] if run.rows is None else run.rows.corpus.texts
    added, fresh = cut_new(new, run.info.command.get("split"), cut.lines)
    old = replace(cut.whole, **about, texts=_put_together(texts, cut))
    given = replace(new, texts=_put_together(added.texts, fresh))
    both, kept = join_documents(old, given, listener)
    number = np.full(len(new), -1)
    number[kept] = np.arange(len(old), len(both))
    here = np.flatnonzero(number[fresh.documents] >= 0)
    unknown = np.zeros(len(texts) + len(here), dtype=np.intp)
    found = Passages(
        [*texts, *(added.texts[i] for i in here)],
        np.concatenate([cut.documents, number[fresh.documents[here]]]),
        unknown,
        unknown,
        np.concatenate([cut.n_words, fresh.n_words[here]]),
        len(both),
    )
    return cut_corpus(both, found, cut.lines)


def _put_together(texts: Sequence[str], cut: Cut) -> list[str]:
    """Return documents with the texts of their passages."""
    ends = np.cumsum(cut.n_passages).tolist()
    return ["\n\n".join(texts[a:b]) for a, b in itertools.pairwise([0, *ends])]


def join_documents(old: Corpus, new: Corpus, listener: Listener) -> tuple[Corpus, list[int]]:
    """Put new documents after the old ones; return all, and which of those given are new.

    A document with the id and the text of an old one is the same document and is left out; one with
    the id of an old one and another text is refused. Ids that only count the documents go on
    counting, unless they are those of the same documents.
    """
    known = dict(zip(old.ids, old.texts, strict=True))
    where = new.source or "The new documents"
    if all(one == str(i) for i, one in enumerate(new.ids, 1)):
        both = zip(new.ids, new.texts, strict=True)
        same = [known[one] == text for one, text in both if one in known]
        if not same or not all(same):
            free = (str(i) for i in itertools.count(len(old) + 1) if str(i) not in known)
            new = replace(new, ids=list(itertools.islice(free, len(new))))
    kept = [i for i, one in enumerate(new.ids) if one not in known]
    for one, text in zip(new.ids, new.texts, strict=True):
        if known.get(one, text) != text:
            raise ReadError.at(
                where,
                "the id {id} is that of another document of the run",
                remedies=("give new documents ids of their own",),
                id=shown(one),
            )
    if not kept:
        raise ReadError.at(where, "all of these documents are in the run already.")
    fresh = new.take(kept)
    if len(fresh) < len(new):
        left = count(len(new) - len(fresh), "document")
        listener.inform(f"{left} left out that the run has already.")
    said = f"{count(len(fresh), 'document')} of {new.source or 'Python'} added."
    listener.inform(said)
    notes = (f"Of the documents that were added: {note}" for note in new.notes)

    def columns(name: str, missing: Any) -> dict[str, list[Any]]:
        """Join columns by name; documents without one have what stands for nothing there."""
        first, last = getattr(old, name), getattr(fresh, name)
        empty = [missing] * len(old), [missing] * len(fresh)
        names = dict.fromkeys((*first, *last))
        return {name: [*first.get(name, empty[0]), *last.get(name, empty[1])] for name in names}

    def listed(name: str, missing: Any) -> list[Any] | None:
        """Join lists, where one of them may be missing; None where both are."""
        first, last = getattr(old, name), getattr(fresh, name)
        if first is None and last is None:
            return None
        return [*(first or [missing] * len(old)), *(last or [missing] * len(fresh))]

    found = Corpus(
        texts=[*old.texts, *fresh.texts],
        ids=[*old.ids, *fresh.ids],
        dates=listed("dates", None),
        labels=columns("labels", ()),
        source=old.source,
        format=old.format,
        notes=[*old.notes, said, *notes],
        titles=listed("titles", ""),
        metadata=columns("metadata", None),
    )
    return replace(found, checksum=found.content_checksum()), kept


def _join_rows(run: Run, new: Matrix, listener: Listener) -> tuple[Matrix, Rows]:
    """Put new rows after those of a run; return all, and the new ones in the columns of now."""
    about: Any = run.info.corpus
    if (run.corpus() is None) != (new.documents is None):
        alone = run.corpus() is None
        raise RunError(
            "{folder} " + ("is a run on rows alone" if alone else "has a document for each row"),
            remedies=(
                "leave out {texts}" if alone else "give the documents of the new rows with {texts}",
            ),
            folder=run.folder,
        )
    # Edits may have dropped columns of the rows that were explored.
    on = run.edits[0].on.get("rows") if run.edits else None
    old: Rows = run.read_stage(on or run.info.parts["rows"], Rows).beside(run.corpus())
    new = in_columns(new, old.words, old.X.shape[1], run.feature_names)
    new = replace(new, X=_like(new.X, old.X))
    for note in new.notes:
        listener.inform(note)
    known = replace(_documents(old, run.corpus()), source=about.texts or "", notes=about.notes)
    given = _documents(rows_of_matrix(new), new.documents, new.source)
    corpus, kept = join_documents(known, given, listener)
    beside = None if new.documents is None else corpus.take(range(len(known), len(corpus)))
    added = replace(new, X=new.X[kept] if len(kept) < len(given) else new.X, documents=beside)
    fresh = rows_of_matrix(added)
    if not len(fresh.kept):
        raise ReadError.at(new.source or "The matrix", "every row is empty.")
    notes = [*corpus.notes, *(f"Of the rows that were added: {one}" for one in new.notes)]
    documents = None if new.documents is None else replace(corpus, notes=[])
    both = stacked([_all_rows(old), added.X], axis=0)
    matrix = Matrix(both, old.words, about.source, about.format, notes, "", documents)
    matrix = replace(matrix, checksum=matrix.content_checksum())
    return matrix, _in_words(fresh, run.feature_names)


def _documents(rows: Rows, documents: Corpus | None, source: str = "") -> Corpus:
    """Return documents, or rows in their place."""
    if documents is not None:
        return documents
    digests = [hashlib.sha256(row).hexdigest() for row in rows.row_bytes()]
    return Corpus(digests, rows.corpus.ids, source=source)


def _all_rows(rows: Rows) -> Any:
    """Return the rows of all documents: those that were set aside are empty."""
    X, kept, n = rows.X, rows.kept, rows.n_documents
    if not rows.reasons:
        return X
    if hasattr(X, "tocsr"):
        return spread_rows(X, kept, n)
    found = np.zeros((n, X.shape[1]), dtype=X.dtype)
    found[kept] = X
    return found


def _like(X: Any, old: Any) -> Any:
    """Return rows as those of a run are: sparse or dense, and of the same precision."""
    if hasattr(old, "tocsr"):
        X = sparse.csr_array(X)
    elif hasattr(X, "tocsr"):
        X = X.toarray()
    return X.astype(old.dtype, copy=False) if X.dtype.kind == old.dtype.kind == "f" else X


def _in_words(rows: Rows, words: Sequence[str] | None) -> Rows:
    """Leave out columns that edits have dropped, and rows that are empty without them."""
    if rows.words is None or words is None or len(words) == len(rows.words):
        return rows
    here = set(words)
    X = rows.X[:, [j for j, word in enumerate(rows.words) if word in here]]
    kept, gone = check_rows(Matrix(X, list(words), "", "", [], ""))
    reasons = {**rows.reasons, **{int(rows.kept[i]): reason for i, reason in gone.items()}}
    return replace(rows, X=X[kept], words=list(words), kept=rows.kept[kept], reasons=reasons)

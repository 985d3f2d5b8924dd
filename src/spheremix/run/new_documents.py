"""New documents: in the groups of a run, or joined to its documents."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from spheremix.errors import ParameterError
from spheremix.reading.batch import LETTERS, compare_batch
from spheremix.run.columns import OF_THE_RUN, TABLES, input_columns, renamed_columns
from spheremix.run.folder.files import RunError, replacing
from spheremix.run.stages.rows import MATRICES, Rows, check_rows, is_matrix, rows_of_matrix
from spheremix.run.tables import Table, as_table, csv_lines, document_columns, known_columns
from spheremix.text import Corpus, Matrix, ReadError, read_documents, read_matrix, vectorize
from spheremix.text.corpus import shown
from spheremix.text.formats import is_frame
from spheremix.text.matrices import named_beside
from spheremix.text.trouble import Mending, mend
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from spheremix.reading.batch import BatchComparison
    from spheremix.run import Listener
    from spheremix.run.run import Run

FALSE_ALARMS = 0.05  # share of the batches without any change that raise an alarm


# Documents in the groups of a run


@dataclass(frozen=True, slots=True, eq=False)
class Assigned:
    """New documents in the groups of a run, compared with its own documents.

    Attributes
    ----------
    run : Run
        The run.
    rows : Rows
        The new documents.
    comparison : BatchComparison or None
        What is new; None where the run has no rows, or no new document has a word of the run.
    """

    run: Run
    rows: Rows
    comparison: BatchComparison | None

    def table(self) -> Table:
        """Return the columns of ``documents.csv``, and how well each document fits."""
        found = _assigned(self.run, self.rows)
        n, kept = self.rows.n_documents, self.rows.kept
        fits: list[Any] = [None] * n
        groups = [""] * n
        if self.comparison is not None:
            for i, row in enumerate(kept.tolist()):
                fits[row] = float(self.comparison.p_values[i])
                if self.comparison.new_group[i] >= 0:
                    groups[row] = LETTERS[self.comparison.new_group[i]]
        return Table({**found, "fit_p_value": fits, "new_group": groups})

    def lines(self) -> list[str]:
        """Say how many documents each group got, and what is new."""
        reading = self.run.reading
        kept = self.rows.kept
        n_without = self.rows.n_documents - len(kept)
        found = np.zeros(0, dtype=np.intp)
        if len(kept):
            found = reading.documents(self.rows.X).labels
        sizes = np.bincount(found[found >= 0], minlength=reading.n_groups)
        nowhere = int((found < 0).sum())
        lost = f", {nowhere:,} that {'belongs' if nowhere == 1 else 'belong'} nowhere"
        assigned = count(int(sizes.sum()), "document")
        first = f"{assigned} assigned{lost * reading.has_noise}, {n_without:,} without a group."
        if self.comparison is None:
            listed = reading.layout.groups
            named = [f"{sizes[k]:7,}  group {k}: {reading.group_name(int(k))}" for k in listed]
            return [first, *named]
        names = [reading.group_name(k) for k in range(reading.n_groups)]
        called = [self.rows.corpus.name(int(row)) for row in kept]
        further = []
        if self.comparison.new_groups and self.run.info.corpus is not None:
            these = "this group" if len(self.comparison.new_groups) == 1 else "these groups"
            beside = not on_texts(self.run) and self.run.corpus() is not None
            documents = ", and its documents with the option texts" * beside
            update = f"spheremix update {self.run.folder} NEW{documents}"
            further = ["", f"To make a run with {these}: {update}"]
        return [first, *self.comparison.lines(names, called), *further]


def compare_documents(
    run: Run,
    new: Any,
    listener: Listener,
    *,
    text: str | None = None,
    id: str | None = None,  # noqa: A002
    false_alarms: float = FALSE_ALARMS,
) -> Assigned:
    """Assign new documents, and compare them with those of the run."""
    rows = _rows(run, new, listener, text, id)
    for note in renamed_columns(rows.corpus):
        listener.inform(note)
    if run.rows is None:
        listener.inform("The run has no rows, so new documents are compared with nothing.")
    else:
        listener.begin(f"Comparing {count(len(rows.kept), 'document')} with those of the run")
    return compare_rows(run, rows, false_alarms)


def compare_rows(run: Run, rows: Rows, false_alarms: float = FALSE_ALARMS) -> Assigned:
    """Compare documents in the columns of a run with those of the run."""
    past = run.matrix()
    if past is None or not len(rows.kept):
        return Assigned(run, rows, None)
    how: dict[str, Any] = {"feature_names": run.feature_names, "false_alarms": false_alarms}
    return Assigned(run, rows, compare_batch(run.mixture, past, rows.X, **how))


def assign_documents(
    run: Run,
    new: Any,
    listener: Listener,
    *,
    text: str | None = None,
    id: str | None = None,  # noqa: A002
) -> Table:
    """Return the groups of new documents, in the columns of ``documents.csv``.

    Columns that only documents of the run have are left out.

    Words are those of the run. Documents that have none of them have no group and a reason.
    """
    rows = _rows(run, new, listener, text, id)
    for note in renamed_columns(rows.corpus):
        listener.inform(note)
    return _assigned(run, rows)


def _assigned(run: Run, rows: Rows) -> Table:
    if len(rows.kept):
        reading = run.reading
        return as_table("documents", document_columns(reading, reading.documents(rows.X), rows))
    corpus, n = rows.corpus, rows.n_documents
    columns = Table(id=corpus.ids) | known_columns(corpus)
    others = {"id", "title", "date", *OF_THE_RUN}
    fitted = [name for name in TABLES["documents"].columns if name not in others]
    columns |= {name: [None] * n for name in fitted}
    columns["set_aside"] = [rows.reasons[i] for i in range(n)]
    return Table(columns | input_columns(corpus))


def write_assigned(table: Table, output: Path) -> None:
    """Write assigned documents as a table for people."""
    with replacing(output) as file:
        for line in csv_lines(table, short=True):
            file.write(line.encode("utf-8"))


def _rows(run: Run, new: Any, listener: Listener, text: str | None, name: str | None) -> Rows:
    """Return the rows of new documents in the columns of the run."""
    new = as_matrix(new)
    columns = {one: given for one, given in (("text", text), ("id", name)) if given is not None}
    if isinstance(new, Matrix):
        refuse_columns(new, columns)
        return _matrix(run, new, listener)
    if is_frame(new):
        return _texts(run, read_documents(new, text=text, id=_or_none(name), label=False))
    if not isinstance(new, str) and not hasattr(new, "__fspath__"):
        corpus = new if isinstance(new, Corpus) else Corpus.from_texts(new)
        refuse_columns(corpus, columns)
        return _texts(run, corpus)
    path = Path(new)
    if not path.exists():  # before it is said to be of the wrong kind
        raise ReadError.at(path, "there is no such file or folder.")
    texts = on_texts(run)
    if texts and is_matrix(path):
        raise needs_texts(run, path)
    if texts:
        corpus = read_documents(path, text=text, id=_or_none(name), label=False)
        for note in corpus.notes:
            listener.inform(note)
        return _texts(run, corpus)
    if not is_matrix(path):
        raise needs_matrix(run, path)
    for parameter in columns:
        raise ParameterError(
            f"{{path}}: is a matrix: it has no columns for {{{parameter}}}", path=path
        )
    return _matrix(run, read_rows(run, path), listener)


def on_texts(run: Run) -> bool:
    """Return whether the rows of a run were made of texts."""
    return run.rows is not None and run.rows.vectorization is not None


def refuse_columns(source: Corpus | Matrix, columns: Iterable[str]) -> None:
    """Refuse names of columns for what is in memory already."""
    for name in columns:
        raise ParameterError(
            f"{{where}}: nothing is read from a file here: {{{name}}} is for files alone",
            remedies=(f"leave out {{{name}}}",),
            where=source.source or "The new documents",
        )


def _matrix(run: Run, matrix: Matrix, listener: Listener) -> Rows:
    if on_texts(run):
        raise needs_texts(run, matrix.source or "The matrix")
    found = in_columns(matrix, run.feature_names, run.mixture.n_features_in_)
    for note in found.notes:
        listener.inform(note)
    return rows_of_matrix(found)


def _or_none(name: str | None) -> Any:
    return False if name == "none" else name


def _texts(run: Run, corpus: Corpus) -> Rows:
    mending = Mending(
        encoding=bool(run.info.command.get("mend_encoding")),
        lines=frozenset([] if run.rows is None else run.rows.dropped_lines),
    )
    return replace(vectorized(run, mend(corpus, mending)), corpus=corpus)


def vectorized(run: Run, corpus: Corpus) -> Rows:
    """Return the rows of documents that are mended already, in the words of a run on texts."""
    vectorizer = run.vectorizer()
    if vectorizer is None:
        raise needs_matrix(run, corpus.source or "These texts")
    found = vectorize(corpus, vectorizer)
    reasons = {one.row: one.reason for one in found.set_aside}
    return Rows(X=found.X, words=run.feature_names, kept=found.rows, reasons=reasons, corpus=corpus)


# Rows in the columns of a run


def needs_matrix(run: Run, where: str | PathLike[str]) -> RunError:
    """Say that a run on a matrix takes rows, and how many columns they must have."""
    embed = "; embed new texts with the same model" if run.feature_names is None else ""
    return RunError(
        f"{where}: {run.folder} is a run on a matrix: give one of "
        f"{run.mixture.n_features_in_:,} columns ({', '.join(MATRICES)}){embed}."
    )


def needs_texts(run: Run, where: str | PathLike[str]) -> RunError:
    """Say that a run on texts takes texts."""
    return RunError(f"{where}: {run.folder} is a run on texts: give documents, not a matrix.")


def as_matrix(new: Any) -> Any:
    """Return rows that are an array of numbers as a matrix; anything else stays as it is."""
    numbers = isinstance(new, np.ndarray) and new.dtype.kind in "biufc"
    return Matrix(new, None, "", "", [], "") if numbers or sparse.issparse(new) else new


def read_rows(run: Run, path: Path) -> Matrix:
    """Read a matrix; where columns of the run have names, with those beside the file."""
    matrix = read_matrix(path)
    return matrix if run.feature_names is None else named_beside(matrix)


def in_columns(
    matrix: Matrix,
    words: Sequence[str] | None,
    n_columns: int,
    needed: Sequence[str] | None = None,
) -> Matrix:
    """Bring a matrix to the columns of a run: by their names where both have them.

    Columns that the run does not have are left out, with a note; one that it has and that is
    missing is an error. Without names the number of columns must be the same. Where only some of
    the columns are needed, since edits have dropped the others, these may be missing.
    """
    matrix, where = _checked(matrix), matrix.source or "The matrix"
    names, d, notes = matrix.vocabulary, matrix.X.shape[1], []
    needed = words if needed is None else needed
    if names is None and needed is not None:
        called = matrix.source or "the matrix"
        notes = [
            f"The columns of {called} have no names: they are taken in the order of the run's."
        ]
        names = list(needed) if d == len(needed) else None
    if names is not None and words is None:
        notes = ["The columns of the run have no names: those of the new rows are not used."]
    if words is None or needed is None or names is None or list(names) == list(words):
        if d != n_columns:
            raise ReadError.at(where, f"{d:,} columns, not the {n_columns:,} of the run.")
        return replace(matrix, vocabulary=None if words is None else list(words), notes=notes)
    places = {word: j for j, word in enumerate(names)}
    missing = [word for word in needed if word not in places]
    if missing:
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        raise ReadError.at(
            where,
            "the run has columns that are missing here: {word}{more}",
            remedies=("give all columns of the run",),
            word=shown(missing[0]),
            more=more,
        )
    if len(set(words)) < len(words) or len(places) < len(names):
        raise ReadError.at(where, "names of columns are repeated, and not those of the run.")
    left = len(names) - sum(word in places for word in words)
    notes += [f"{count(left, 'column')} left out that the run does not have."] if left else []
    X: Any = matrix.X
    if any(word not in places for word in words):
        X = _with_zeros(X)
        notes.append(
            "Columns that edits of the run have dropped are missing; they are zero in the new rows."
        )
    taken = X[:, [places.get(word, d) for word in words]]
    return _checked(replace(matrix, X=taken, vocabulary=list(words), notes=notes))


def _checked(matrix: Matrix) -> Matrix:
    """Return rows of numbers; the entries of sparse ones are in the order of their columns."""
    X: Any = matrix.X
    where = matrix.source or "The matrix"
    if X.ndim != 2 or 0 in X.shape:
        raise ReadError.at(
            where, "the shape {shape} is not that of rows and columns.", shape=X.shape
        )
    n_names = X.shape[1] if matrix.vocabulary is None else len(matrix.vocabulary)
    if n_names != X.shape[1]:
        raise ReadError.at(where, f"{n_names:,} names for {count(X.shape[1], 'column')}.")
    if X.dtype.kind not in "biuf":
        raise ReadError.at(where, "numbers are needed; the values are {dtype}.", dtype=X.dtype)
    if hasattr(X, "tocsr"):
        X = sparse.csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
    return replace(matrix, X=X)


def _with_zeros(X: Any) -> Any:
    """Add a column of zeros after the others."""
    zeros = np.zeros((X.shape[0], 1), dtype=X.dtype)
    if hasattr(X, "tocsr"):
        parts: list[Any] = [X, sparse.csr_array(zeros)]
        return sparse.csr_array(sparse.hstack(parts, format="csr"))
    return np.hstack([X, zeros])


@dataclass(frozen=True, slots=True, eq=False)
class JoinedRows:
    """Rows of a run, followed by new ones.

    Attributes
    ----------
    matrix : Matrix
        All of them, with their documents where the run has some.
    fresh : Rows
        The new ones, in the columns that the run has now.
    documents : Joined
        The same for the documents; where there are none, rows stand for their texts.
    notes : list of str
        What was done to the columns of the new rows.
    """

    matrix: Matrix
    fresh: Rows
    documents: Joined
    notes: list[str]


def explored_rows(run: Run) -> Rows:
    """Return the rows that were explored, with all their columns: edits may have dropped some."""
    on = run.edits[0].on.get("rows") if run.edits else None
    found: Rows = run.read_stage(on or run.info.parts["rows"], Rows)
    return found.beside(run.corpus())


def join_rows(run: Run, new: Matrix) -> JoinedRows:
    """Put new rows after those of a run.

    Rows are known by their documents. Without documents they are known by their places and values:
    a file that begins with all rows of the run adds what comes after them.
    """
    old, about = explored_rows(run), run.info.corpus
    if about is None or (run.corpus() is None) != (new.documents is None):
        alone = run.corpus() is None
        raise RunError(
            "{folder} " + ("is a run on rows alone" if alone else "has a document for each row"),
            remedies=(
                "leave out {texts}" if alone else "give the documents of the new rows with {texts}",
            ),
            folder=run.folder,
        )
    new = in_columns(new, old.words, old.X.shape[1], run.feature_names)
    new = replace(new, X=_like(new.X, old.X))
    fresh = rows_of_matrix(new)
    known = replace(_known(old, run.corpus()), source=about.texts or "", notes=about.notes)
    joined = join_documents(known, _known(fresh, new.documents, new.source))
    beside = None if new.documents is None else joined.fresh
    added = replace(new, X=new.X[joined.kept] if joined.n_known else new.X, documents=beside)
    fresh = rows_of_matrix(added)
    if not len(fresh.kept):
        raise ReadError.at(new.source or "The matrix", "every row is empty.")
    matrix = Matrix(
        _stacked(_all_rows(old), added.X),
        old.words,
        about.source,
        about.format,
        [*joined.corpus.notes, *(f"Of the rows that were added: {one}" for one in new.notes)],
        "",
        None if new.documents is None else replace(joined.corpus, notes=[]),
    )
    matrix = replace(matrix, checksum=matrix.content_checksum())
    return JoinedRows(matrix, _in_words(fresh, run.feature_names), joined, new.notes)


def _known(rows: Rows, documents: Corpus | None, source: str = "") -> Corpus:
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
        ones = np.ones(len(kept), dtype=X.dtype)
        return sparse.csr_array((ones, (kept, np.arange(len(kept)))), shape=(n, len(kept))) @ X
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


def _stacked(old: Any, new: Any) -> Any:
    """Put rows after others of the same kind."""
    if hasattr(old, "tocsr"):
        parts: list[Any] = [old, new]
        return sparse.csr_array(sparse.vstack(parts, format="csr"))
    return np.concatenate([old, new])


def _in_words(rows: Rows, words: Sequence[str] | None) -> Rows:
    """Leave out columns that edits have dropped, and rows that are empty without them."""
    if rows.words is None or words is None or len(words) == len(rows.words):
        return rows
    here = set(words)
    columns = [j for j, word in enumerate(rows.words) if word in here]
    X = rows.X[:, columns]
    kept, reasons = check_rows(Matrix(X, list(words), "", "", [], ""))
    gone = {int(rows.kept[i]): reason for i, reason in reasons.items()}
    reasons = {**rows.reasons, **gone}
    kept_now = rows.kept[kept]
    return Rows(X=X[kept], words=list(words), kept=kept_now, reasons=reasons, corpus=rows.corpus)


# Documents joined to those of a run


@dataclass(frozen=True, slots=True)
class Joined:
    """Documents of the past, followed by new ones.

    Attributes
    ----------
    corpus : Corpus
        All of them.
    fresh : Corpus
        The new ones alone, with the ids that they have in the corpus.
    n_known : int
        Documents that were given as new and were there already; they are left out.
    said : str
        How many documents were added, one of the notes of the corpus.
    kept : list of int
        Which of the documents that were given are new, by position.
    """

    corpus: Corpus
    fresh: Corpus
    n_known: int
    said: str
    kept: list[int]


def join_documents(old: Corpus, new: Corpus) -> Joined:
    """Put new documents after the old ones.

    A document with the id and the text of an old one is the same document and is left out; one with
    the id of an old one and another text is refused. Ids that only count the documents go on
    counting, unless they are those of the same documents.
    """
    known = dict(zip(old.ids, old.texts, strict=True))
    where = new.source or "The new documents"
    if _numbered(new):
        same = [
            known[one] == text for one, text in zip(new.ids, new.texts, strict=True) if one in known
        ]
        if not same or not all(same):
            free = (str(i) for i in itertools.count(len(old) + 1) if str(i) not in known)
            new = replace(new, ids=list(itertools.islice(free, len(new))))
    kept = []
    for i, one in enumerate(new.ids):
        if one not in known:
            kept.append(i)
        elif known[one] != new.texts[i]:
            raise ReadError.at(
                where,
                "the id {id} is that of another document of the run",
                remedies=("give new documents ids of their own",),
                id=shown(one),
            )
    fresh = new.take(kept)
    if not kept:
        raise ReadError.at(where, "all of these documents are in the run already.")
    both = (old, fresh)
    said = f"{count(len(fresh), 'document')} of {new.source or 'Python'} added."
    joined = Corpus(
        texts=[*old.texts, *fresh.texts],
        ids=[*old.ids, *fresh.ids],
        dates=_lists([one.dates for one in both], [None] * len(old), [None] * len(fresh)),
        labels=_columns([one.labels for one in both], [len(one) for one in both], ()),
        source=old.source,
        format=old.format,
        notes=[
            *old.notes,
            said,
            *(f"Of the documents that were added: {note}" for note in new.notes),
        ],
        titles=_lists([one.titles for one in both], [""] * len(old), [""] * len(fresh)),
        metadata=_columns([one.metadata for one in both], [len(one) for one in both], None),
    )
    joined = replace(joined, checksum=joined.content_checksum())
    return Joined(joined, fresh, len(new) - len(kept), said, kept)


def _numbered(corpus: Corpus) -> bool:
    return all(one == str(i) for i, one in enumerate(corpus.ids, 1))


def _lists(parts: Sequence[list[Any] | None], *missing: list[Any]) -> list[Any] | None:
    """Join lists, where one of them may be missing; None where both are."""
    if all(one is None for one in parts):
        return None
    return [
        value
        for one, empty in zip(parts, missing, strict=True)
        for value in (empty if one is None else one)
    ]


def _columns(
    parts: Sequence[dict[str, list[Any]]], sizes: Sequence[int], missing: Any
) -> dict[str, list[Any]]:
    """Join columns by name; documents without a column have what stands for nothing there."""
    names = dict.fromkeys(name for one in parts for name in one)
    return {
        name: [
            value
            for one, n in zip(parts, sizes, strict=True)
            for value in one.get(name, [missing] * n)
        ]
        for name in names
    }

"""New documents: read as a run needs them, in its columns, and in its groups."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from spheremix.errors import ParameterError
from spheremix.reading.batch import LETTERS, compare_batch
from spheremix.run.columns import OF_SHARES, OF_THE_RUN, TABLES, input_columns, renamed_columns
from spheremix.run.folder.files import RunError, is_path, replacing
from spheremix.run.folder.store import Store
from spheremix.run.stages.meaning import GIVEN, find_meaning
from spheremix.run.stages.passages import cut_new
from spheremix.run.stages.rows import (
    MATRICES,
    Rows,
    is_matrix,
    rows_of_matrix,
    rows_of_texts,
    vectors_beside,
)
from spheremix.run.tables import (
    Table,
    as_table,
    csv_lines,
    document_columns,
    known_columns,
    split_columns,
)
from spheremix.text import Corpus, Matrix, ReadError, read_documents, read_matrix, vectorize
from spheremix.text.columns import NoColumnError
from spheremix.text.corpus import shown
from spheremix.text.formats import is_files, is_frame
from spheremix.text.matrices import named_beside
from spheremix.text.trouble import mend
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spheremix.reading.batch import BatchComparison
    from spheremix.run import Listener
    from spheremix.run.run import Run
    from spheremix.run.stages.meaning import Meaning
    from spheremix.run.stages.passages import Cut, Shares

FALSE_ALARMS = 0.05  # share of the batches without any change that raise an alarm
OPTIONAL = ("date", "label", "title")  # columns that new documents can do without


# Documents in the groups of a run


@dataclass(frozen=True, slots=True, eq=False)
class Assigned:
    """New documents in the groups of a run, compared with its own documents."""

    run: Run
    rows: Rows  # the new documents
    comparison: BatchComparison | None  # None where the run or the new documents have no rows
    cut: Cut | None = None  # how the new documents were split, as those of the run were

    def table(self) -> Table:
        """Return the columns of ``documents.csv``, and how well each document fits."""
        if self.cut is not None:
            return assigned(self.run, self.rows, self.cut)
        n, kept = self.rows.n_documents, self.rows.kept
        fits: list[Any] = [None] * n
        groups = [""] * n
        if self.comparison is not None:
            for i, row in enumerate(kept.tolist()):
                fits[row] = float(self.comparison.p_values[i])
                if self.comparison.new_group[i] >= 0:
                    groups[row] = LETTERS[self.comparison.new_group[i]]
        return Table(assigned(self.run, self.rows), fit_p_value=fits, new_group=groups)

    def lines(self) -> list[str]:
        """Say how many documents each group got, and what is new."""
        reading, kept = self.run.reading, self.rows.kept
        if self.cut is not None:
            return _told_by_shares(self.run, self.rows, self.cut)
        n_without = self.rows.n_documents - len(kept)
        found = np.zeros(0, dtype=np.intp)
        if len(kept):
            found = reading.documents(self.rows.views).labels
        sizes = np.bincount(found[found >= 0], minlength=reading.n_groups)
        nowhere = int((found < 0).sum())
        lost = f", {nowhere:,} that {'belongs' if nowhere == 1 else 'belong'} nowhere"
        n = count(int(sizes.sum()), "document")
        first = f"{n} assigned{lost * reading.has_noise}, {n_without:,} without a group."
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

    def write(self, output: Path) -> None:
        """Write the table for people."""
        with replacing(output) as file:
            for line in csv_lines(self.table(), short=True):
                file.write(line.encode("utf-8"))


def _told_by_shares(run: Run, rows: Rows, cut: Cut) -> list[str]:
    """Say how much of the new documents is about each group."""
    shares, reading = new_shares(run, rows, cut).shares, run.reading
    there = shares.any(axis=1)
    n, n_without = int(there.sum()), int((~there).sum())
    passages = f"{len(rows.kept):,} of {count(rows.n_documents, 'passage')}"
    first = f"{count(n, 'document')} assigned by {passages}, {n_without:,} without a group."
    means = shares[there].mean(axis=0) if n else np.zeros(reading.n_groups)
    listed = [
        f"{100.0 * means[k]:6.1f} %  group {k}: {reading.group_name(int(k))}"
        for k in reading.layout.groups
    ]
    return [first, *listed, "These are mean shares in the new documents."]


def compare_documents(
    run: Run,
    new: Any,
    listener: Listener,
    *,
    text: str | None = None,
    id: str | None = None,  # noqa: A002
    meaning: Any = None,
    false_alarms: float = FALSE_ALARMS,
) -> Assigned:
    """Assign new documents, and compare them with those of the run."""
    rows, cut = new_rows(run, new, listener, text, id, meaning)
    if cut is not None:
        listener.inform(
            "The documents of the run were split into passages. So are the new ones, and they are "
            "not compared with those of the run: passages of one document are too much alike."
        )
        return Assigned(run, rows, None, cut)
    if run.rows is None:
        listener.inform("The run has no rows, so new documents are compared with nothing.")
    else:
        listener.begin(f"Comparing {count(len(rows.kept), 'document')} with those of the run")
    return Assigned(run, rows, compare_rows(run, rows, false_alarms))


def compare_rows(
    run: Run, rows: Rows, false_alarms: float = FALSE_ALARMS
) -> BatchComparison | None:
    """Compare documents in the columns of a run with those of the run."""
    past = run.matrix()
    if past is None or not len(rows.kept):
        return None
    how: dict[str, Any] = {"feature_names": run.feature_names, "false_alarms": false_alarms}
    return compare_batch(run.mixture, past, rows.views, **how)


def new_shares(run: Run, rows: Rows, cut: Cut) -> Shares:
    """Return the shares of the groups of a run in new documents."""
    known = run.by_passages
    return cut.shares(run.mixture, rows, temperature=None if known is None else known.temperature)


def assigned(run: Run, rows: Rows, cut: Cut | None = None) -> Table:
    """Return the groups of new documents, in the columns of ``documents.csv``.

    Columns that only documents of the run have are left out. Documents that have no word of the run
    have no group and a reason.
    """
    if cut is not None:
        shares = new_shares(run, rows, cut).shares
        return as_table("documents", split_columns(run.reading, shares, cut))
    if len(rows.kept):
        reading = run.reading
        found = reading.documents(rows.views)
        return as_table("documents", document_columns(reading, found, rows))
    corpus, n = rows.corpus, rows.n_documents
    columns = Table(id=corpus.ids) | known_columns(corpus)
    others = {"id", "title", "date", *OF_THE_RUN, *OF_SHARES}
    fitted = [name for name in TABLES["documents"].columns if name not in others]
    columns |= {name: [None] * n for name in fitted}
    columns["set_aside"] = [rows.reasons[i] for i in range(n)]
    return Table(columns | input_columns(corpus))


def new_rows(
    run: Run,
    new: Any,
    listener: Listener,
    text: str | None = None,
    name: str | None = None,
    meaning: Any = None,
) -> tuple[Rows, Cut | None]:
    """Return the rows of new documents in the columns of the run; their ids are a column.

    Where the documents of the run were split, so are the new ones, and rows are passages. Where the
    meaning of its documents was given, so is that of the new ones.
    """
    cut = None
    columns = {one: given for one, given in (("text", text), ("id", name)) if given is not None}
    wanted = {"text": text, "id": False if name == "none" else name, "label": False}
    found = read_new(run, new, listener, wanted, columns)
    if isinstance(found, Corpus):
        if run.cut is not None:
            found, cut = cut_new(found, run.info.command.get("split"), run.cut.lines)
        rows = vectorized(run, found, new_meaning(run, found, meaning, listener))
    else:
        refuse_meaning(run, meaning)
        matrix = in_columns(found, run.feature_names, run.mixture.n_features_in_)
        rows = rows_of_matrix(matrix)
        for note in matrix.notes:
            listener.inform(note)
    for note in renamed_columns(rows.corpus):
        listener.inform(note)
    return rows, cut


def vectorized(run: Run, corpus: Corpus, meaning: Meaning | None) -> Rows:
    """Return the rows of documents that are mended already, in the words of a run on texts."""
    return rows_of_texts(vectorize(corpus, run.vectorizer()), corpus).with_meaning(meaning)


def new_meaning(run: Run, corpus: Corpus, given: Any, listener: Listener) -> Meaning | None:
    """Find the meaning of new documents as that of the run was found; None for words alone."""
    known = run.meaning
    if known is None or known.model != GIVEN:
        refuse_meaning(run, given)
    if known is None:
        return None
    source: Corpus | Matrix = corpus
    if known.model == GIVEN:
        if given is None:
            raise RunError(
                "{folder}: the meaning of its documents came from a file of embeddings",
                remedies=("give that of the new ones, made by the same model, with {meaning}",),
                folder=run.folder,
            )
        source = vectors_beside(corpus, given)
    found = find_meaning(Store(None), source, known.model, listener)
    if found.vectors.shape[1] != known.vectors.shape[1]:
        raise RunError(
            "{folder}: its embeddings have {own} columns, and the new ones {other}",
            remedies=("embed new documents with the same model",),
            folder=run.folder,
            own=f"{known.vectors.shape[1]:,}",
            other=f"{found.vectors.shape[1]:,}",
        )
    return found


def refuse_meaning(run: Run, given: Any) -> None:
    """Refuse embeddings where the run has none that were given."""
    if given is not None:
        raise ParameterError(
            "{folder}: {meaning} is for runs whose own documents came with embeddings",
            remedies=("leave out {meaning}",),
            folder=run.folder,
        )


# Reading


def on_texts(run: Run) -> bool:
    """Return whether the rows of a run were made of texts."""
    return run.rows is not None and run.rows.vectorization is not None


def read_new(
    run: Run,
    new: Any,
    listener: Listener,
    wanted: dict[str, Any],
    columns: dict[str, Any],
    texts: Any = None,
) -> Corpus | Matrix:
    """Read what is new: documents for a run on texts, else rows, with their documents if given.

    ``wanted`` is what ``read_documents`` takes; ``columns`` are those that were given by name.
    """
    numbers = isinstance(new, np.ndarray) and new.dtype.kind in "biufc"
    new = Matrix(new, None, "", "", [], "") if numbers or sparse.issparse(new) else new
    path = Path(new) if is_path(new) else None
    if path is not None and not path.exists():  # before it is said to be of the wrong kind
        raise ReadError.at(path, "there is no such file or folder.")
    rows = is_matrix(path) if path is not None else isinstance(new, Matrix)
    where: Any = path or getattr(new, "source", None)
    where = where or ("The matrix" if rows else "These documents")
    if rows and on_texts(run):
        known = run.meaning
        beside = ", with their embeddings as meaning" * (known is not None and known.model == GIVEN)
        raise RunError(
            f"{where}: {run.folder} is a run on texts: give documents, not a matrix{beside}."
        )
    if not rows and not on_texts(run):
        embed = "; embed new texts with the same model" if run.feature_names is None else ""
        raise RunError(
            f"{where}: {run.folder} is a run on a matrix: give one of "
            f"{run.mixture.n_features_in_:,} columns ({', '.join(MATRICES)}){embed}."
        )
    if not rows:
        if texts is not None:
            raise ParameterError(
                "{folder}: a run on texts: {texts} are beside the rows of a matrix",
                remedies=("leave out {texts}",),
                folder=run.folder,
            )
        return _read_texts(run, new, listener, wanted, columns)
    matrix: Matrix = new
    if path is not None:
        listener.begin(f"Reading {path}")
        matrix = read_matrix(path)
        matrix = matrix if run.feature_names is None else named_beside(matrix)
    if texts is not None:
        return matrix.beside(_read_texts(run, texts, listener, wanted, columns))
    for name in columns:
        alone = run.corpus() is None
        raise ParameterError(
            f"{{matrix}}: is a matrix: it has no columns for {{{name}}}",
            remedies=(f"leave out {{{name}}}" if alone else "give its documents with {texts}",),
            matrix=where,
        )
    return matrix


def _read_texts(
    run: Run, new: Any, listener: Listener, wanted: dict[str, Any], columns: dict[str, Any]
) -> Corpus:
    """Read new documents, and mend them as those of the run were mended."""
    if is_frame(new) or is_path(new) or is_files(new):
        if is_path(new):
            listener.begin(f"Reading {new}")
        found = _read_table(new, wanted)
    else:
        found = new if isinstance(new, Corpus) else Corpus.from_texts(new)
        for name in columns:
            raise ParameterError(
                f"{{where}}: nothing is read from a file here: {{{name}}} is for files alone",
                remedies=(f"leave out {{{name}}}",),
                where=found.source or "The new documents",
            )
    if run.info.command.get("mend_encoding"):
        found = mend(found)
    for note in found.notes:
        listener.inform(note)
    return found


def _read_table(source: Any, wanted: dict[str, Any]) -> Corpus:
    """Read a file or a frame; columns of dates, labels and titles of the run may be missing."""
    said: list[str] = []
    while True:
        try:
            found = read_documents(source, **wanted)
        except NoColumnError as error:
            parts = [part for part in OPTIONAL if error.column in _names(wanted.get(part))]
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


# Rows in the columns of a run


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
        raise ReadError.at(
            where,
            "the run has columns that are missing here: {word}{more}",
            remedies=("give all columns of the run",),
            word=shown(missing[0]),
            more=f" and {len(missing) - 1:,} more" if len(missing) > 1 else "",
        )
    if len(set(words)) < len(words) or len(places) < len(names):
        raise ReadError.at(where, "names of columns are repeated, and not those of the run.")
    left = len(names) - sum(word in places for word in words)
    notes += [f"{count(left, 'column')} left out that the run does not have."] if left else []
    X: Any = matrix.X
    if any(word not in places for word in words):
        X = stacked([X, np.zeros((X.shape[0], 1), dtype=X.dtype)], axis=1)
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


def stacked(parts: list[Any], axis: int) -> Any:
    """Put rows after rows, or columns after columns, as the first ones are: sparse or dense."""
    if hasattr(parts[0], "tocsr"):
        join: Any = sparse.hstack if axis else sparse.vstack
        return sparse.csr_array(join([sparse.csr_array(one) for one in parts], format="csr"))
    return np.concatenate(parts, axis=axis)

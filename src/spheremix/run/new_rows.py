"""New rows for a run on a matrix: in the columns of the run, and after its own rows."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from spheremix.run.folder import RunFolder
from spheremix.run.following import rows_of
from spheremix.run.joining import join_documents
from spheremix.run.prepare import MATRICES, Material, check_rows, read_material
from spheremix.run.schema import PreparedRecord
from spheremix.run.store import RunError
from spheremix.text import Corpus, Matrix, ReadError, read_matrix
from spheremix.text.corpus import shown
from spheremix.text.matrices import named_beside
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from pathlib import Path

    from spheremix.run.joining import Joined
    from spheremix.run.run import Run


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


def material_of(matrix: Matrix) -> Material:
    """Return the rows of a matrix that have a direction, and the documents of all."""
    kept, reasons = check_rows(matrix)
    documents = matrix.documents or _numbers(matrix.X.shape[0])
    X = matrix.X[kept] if reasons else matrix.X
    return Material(X, matrix.vocabulary, kept, reasons, documents)


def _numbers(n: int) -> Corpus:
    return Corpus([""] * n, [str(i) for i in range(1, n + 1)])


@dataclass(frozen=True, slots=True, eq=False)
class JoinedRows:
    """Rows of a run, followed by new ones.

    Attributes
    ----------
    matrix : Matrix
        All of them, with their documents where the run has some.
    fresh : Material
        The new ones, in the columns that the run has now.
    documents : Joined
        The same for the documents; where there are none, rows stand for their texts.
    notes : list of str
        What was done to the columns of the new rows.
    """

    matrix: Matrix
    fresh: Material
    documents: Joined
    notes: list[str]


def explored_rows(run: Run) -> Material:
    """Return the rows that were explored, with all their columns: edits may have dropped some."""
    folder = RunFolder(run.folder)
    left = folder.done("matrix", folder.key("matrix"), PreparedRecord)
    return read_material(*(left or (run.manifest.prepared, run.reader)), run.corpus())


def join_rows(run: Run, new: Matrix) -> JoinedRows:
    """Put new rows after those of a run.

    Rows are known by their documents. Without documents they are known by their places and values:
    a file that begins with all rows of the run adds what comes after them.
    """
    old, about = explored_rows(run), run.manifest.corpus
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
    fresh = material_of(new)
    known = replace(_known(old, run.corpus()), source=about.texts or "", notes=about.notes)
    joined = join_documents(known, _known(fresh, new.documents, new.source))
    beside = None if new.documents is None else joined.fresh
    added = replace(new, X=new.X[joined.kept] if joined.n_known else new.X, documents=beside)
    fresh = material_of(added)
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


def _known(material: Material, documents: Corpus | None, source: str = "") -> Corpus:
    """Return documents, or rows in their place."""
    if documents is not None:
        return documents
    digests = [hashlib.sha256(row).hexdigest() for row in rows_of(material)]
    return Corpus(digests, material.source.ids, source=source)


def _all_rows(material: Material) -> Any:
    """Return the rows of all documents: those that were set aside are empty."""
    X, kept, n = material.X, material.kept, material.n_documents
    if not material.reasons:
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


def _in_words(material: Material, words: Sequence[str] | None) -> Material:
    """Leave out columns that edits have dropped, and rows that are empty without them."""
    if material.words is None or words is None or len(words) == len(material.words):
        return material
    here = set(words)
    columns = [j for j, word in enumerate(material.words) if word in here]
    X = material.X[:, columns]
    kept, reasons = check_rows(Matrix(X, list(words), "", "", [], ""))
    gone = {int(material.kept[i]): reason for i, reason in reasons.items()}
    reasons = {**material.reasons, **gone}
    return Material(X[kept], list(words), material.kept[kept], reasons, material.source)

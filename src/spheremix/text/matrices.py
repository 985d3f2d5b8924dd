"""Ready matrices: counts with their vocabulary, embeddings."""

from __future__ import annotations

import hashlib
import math
import os
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
from scipy import io, sparse

from spheremix._files import open_regular
from spheremix.text.corpus import ReadError, shown
from spheremix.text.files import check_unpacked, checksum, lines, reading
from spheremix.wording import count

if TYPE_CHECKING:
    from os import PathLike

    from numpy.typing import NDArray

    from spheremix.text.corpus import Corpus

# What NumPy, SciPy and zipfile raise for files that are cut, damaged or made to do harm.
DAMAGE = (
    *(ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, MemoryError),
    *(EOFError, BadZipFile, NotImplementedError, RuntimeError, zlib.error, OSError),
    ZeroDivisionError,  # a BSR matrix whose blocks have no rows
)
BESIDE = "vocabulary.txt"
LEAST_ENTRY = 4  # bytes of an entry in the Matrix Market format: "1 1" and the end of the line
MANY_ROWS = 1_000_000
BLOCK_ENTRIES = 2**22  # values read at a time


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows that are documents already counted or embedded.

    Attributes
    ----------
    X : CSR array, or ndarray (n, d)
        As in the file: neither weighted nor normalised. Embeddings stay on the disk until read.
    vocabulary : list of str or None
        The term of each column, where the columns are terms.
    source, format : str
        Where the rows come from, and as what they were read.
    notes : list of str
        Sentences for people.
    checksum : str
        SHA-256 of the content of the file, in hexadecimal digits.
    documents : Corpus or None
        Texts, ids, dates and labels of the rows, where :meth:`beside` brought them.
    """

    X: sparse.csr_array | NDArray[Any]
    vocabulary: list[str] | None
    source: str
    format: str
    notes: list[str]
    checksum: str
    documents: Corpus | None = None

    def content_checksum(self) -> str:
        """Return the SHA-256 of the rows as they are now, wherever they came from.

        Returns
        -------
        str
            The names of the columns and the documents beside have checksums of their own.
        """
        X: Any = self.X
        parts = [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]
        total = hashlib.sha256(repr((X.shape, [str(part.dtype) for part in parts])).encode())
        for part in parts:
            size = max(1, BLOCK_ENTRIES // max(1, math.prod(part.shape[1:])))
            for i in range(0, len(part), size):  # a mapped file is read some rows at a time
                total.update(np.ascontiguousarray(part[i : i + size]).data)
        return total.hexdigest()

    def beside(self, documents: Corpus) -> Matrix:
        """Put documents beside the rows: one for each row, in the same order.

        Parameters
        ----------
        documents : Corpus
            Those that were counted or embedded.

        Returns
        -------
        Matrix
            With the documents, and their notes.
        """
        if len(documents) != self.X.shape[0]:
            raise ReadError(
                "{matrix} has {rows} and {texts} {documents}: one document for each row is "
                "needed, in the same order.",
                matrix=self.source or "The matrix",
                rows=count(self.X.shape[0], "row"),
                texts=documents.source or "the corpus",
                documents=count(len(documents), "document"),
            )
        return replace(self, documents=documents, notes=[*self.notes, *documents.notes])


def read_matrix(path: str | PathLike[str], vocabulary: str | PathLike[str] | None = None) -> Matrix:
    """Read a matrix of counts or of embeddings.

    Parameters
    ----------
    path : str or path
        ``.npz`` of :func:`scipy.sparse.save_npz`, ``.mtx`` or ``.mtx.gz`` of Matrix Market, or
        ``.npy``, which is mapped and not loaded. Nothing pickled is accepted.
    vocabulary : str, path or None
        A file with one term a line, in the order of the columns. None takes ``vocabulary.txt``
        beside a sparse matrix, where there is one of as many lines, and says so in the notes.

    Returns
    -------
    Matrix
        With at least one row.

    Raises
    ------
    ReadError
        One line with the file, the culprit and the remedy.

    Examples
    --------
    >>> import numpy as np
    >>> import spheremix as sm
    >>> np.save("embeddings.npy", np.eye(4))
    >>> sm.text.read_matrix("embeddings.npy").X.shape
    (4, 4)
    """
    place = Path(path)
    name = place.name.lower().removesuffix(".gz")
    with reading(place):
        with open_regular(place) as file:
            size = os.fstat(file.fileno()).st_size
        if size == 0:
            raise ReadError.at(place, "the file is empty.")
        if name.endswith(".npz"):
            kind, X = "SciPy sparse", _check_sparse(place, _load(place, _unpack))
        elif name.endswith(".mtx"):
            check_unpacked(place)
            _check_market(place, size)
            kind, X = "Matrix Market", _check_sparse(place, _load(place, io.mmread))
        elif name.endswith(".npy"):
            kind, X = "NumPy", _load(place, _map)
        else:
            raise ReadError.at(place, "not a matrix: .npz, .mtx, .mtx.gz and .npy can be read.")
        if X.ndim != 2 or 0 in X.shape:
            raise ReadError.at(
                place, "the shape {shape} is not that of rows and columns.", shape=X.shape
            )
        if X.dtype.kind not in "biuf":
            raise ReadError.at(place, "numbers are needed; the values are {dtype}.", dtype=X.dtype)
        words, notes = _vocabulary(place, vocabulary, X)
        return Matrix(X, words, str(place), kind, notes, checksum(place))


def _load(path: Path, how: Any) -> Any:
    try:
        return how(path)
    except FileNotFoundError:
        raise
    except DAMAGE as error:
        problem = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise ReadError.at(
            path, "damaged, or not such a file ({problem}).", problem=shown(problem)
        ) from None


def _unpack(path: Path) -> Any:
    # NumPy leaves a file open that it opened itself and could not read.
    with open_regular(path) as file:
        return sparse.load_npz(file)


def _map(path: Path) -> Any:
    with open_regular(path) as file:
        np.lib.format.read_magic(file)  # an archive under this name would be opened as one
    return np.load(path, mmap_mode="r", allow_pickle=False)


def _check_sparse(path: Path, X: Any) -> Any:
    """Return a CSR array whose indices lie within it, and whose values are numbers."""
    if 0 in getattr(X, "blocksize", ()):
        raise ReadError.at(
            path,
            "a BSR matrix whose blocks have shape {shape} and hold no entry: save it as CSR.",
            shape=X.blocksize,
        )
    try:
        X = sparse.csr_array(X)
        X.check_format(full_check=True)
        X.sum_duplicates()
    except DAMAGE as error:
        raise ReadError.at(path, "damaged: {error}.", error=shown(str(error))) from None
    if X.dtype.kind == "f" and not np.isfinite(X.data).all():
        bad = np.flatnonzero(~np.isfinite(X.data))
        raise not_finite(path, np.unique(np.searchsorted(X.indptr, bad, side="right") - 1))
    return X


def not_finite(path: str | PathLike[str], bad: NDArray[np.intp], where: str = "") -> ReadError:
    """Name the first of the rows that have no direction, and say what to do with them.

    Where they must go too, ``where``, is a part of the template.
    """
    more = f" and {bad.size - 1:,} more have" if bad.size > 1 else " has"
    them = "it" if bad.size == 1 else "them"
    return ReadError.at(
        path,
        f"row {{row}} (counted from 1){{more}} NaN or infinity: drop {{them}}{where}.",
        row=bad[0] + 1,
        more=more,
        them=them,
    )


def _check_market(path: Path, size: int) -> None:
    """Refuse a header that declares more than the file can hold."""
    rows, columns, entries, layout, *_ = _load(path, io.mminfo)
    least = 2 if layout == "array" else LEAST_ENTRY
    if path.suffix.lower() != ".gz" and entries * least > size:
        raise ReadError.at(
            path,
            "{entries} entries are declared in a file of {size} bytes.",
            entries=entries,
            size=size,
        )
    if max(rows, columns) > max(entries, MANY_ROWS):
        raise ReadError.at(
            path,
            "a shape of {rows} x {columns} is declared for {entries} entries.",
            rows=rows,
            columns=columns,
            entries=entries,
        )


def _vocabulary(
    path: Path, given: str | PathLike[str] | None, X: Any
) -> tuple[list[str] | None, list[str]]:
    """Read the terms of the columns."""
    beside = path.with_name(BESIDE)
    if given is None and not (sparse.issparse(X) and beside.is_file()):
        return None, ["The columns have no names."]
    return _terms(path, given, X)


def named_beside(matrix: Matrix) -> Matrix:
    """Name the columns of a matrix, dense ones too, by ``vocabulary.txt`` beside its file.

    For rows whose columns are known to have names. Without such a file of as many lines the matrix
    stays as it is.
    """
    path = Path(matrix.source)
    if matrix.vocabulary is not None or not path.with_name(BESIDE).is_file():
        return matrix
    words, notes = _terms(path, None, matrix.X)
    return replace(matrix, vocabulary=words, notes=notes)


def _terms(
    path: Path, given: str | PathLike[str] | None, X: Any
) -> tuple[list[str] | None, list[str]]:
    """Read the terms from the file that is given, or from that beside the matrix."""
    place = path.with_name(BESIDE) if given is None else Path(given)
    with reading(place):
        words = [line.rstrip("\r\n") for line in lines(place)]
    if len(words) != X.shape[1]:
        problem = f"{count(len(words), 'term')} for {count(X.shape[1], 'column')}"
        if given is None:
            return None, [f"The columns have no names: {place.name} has {problem}."]
        raise ReadError.at(
            place,
            "{problem} of {matrix}: one term a line is needed.",
            problem=problem,
            matrix=path,
        )
    found = " (found beside the matrix)" if given is None else ""
    notes = [f"Columns are named by {place.name}{found}."]
    twice = len(words) - len(set(words))
    if twice:
        notes.append(f"{count(twice, 'term')} repeated in {place.name}.")
    return words, notes

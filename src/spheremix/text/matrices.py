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
from spheremix.text.files import EXPANSION, archive, check_unpacked, checksum, lines, reading
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
MANY = 2**24  # rows or columns that are believed without as many entries
LARGE_ARCHIVE = 2**28  # bytes of an unpacked archive up to which its size is not compared
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
            _load(place, _check_archive)
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
        words, notes = None, ["The columns have no names."]
        if vocabulary is not None or (sparse.issparse(X) and place.with_name(BESIDE).is_file()):
            words, notes = _terms(place, vocabulary, X)
        return Matrix(X, words, str(place), kind, notes, checksum(place))


def _load(path: Path, how: Any) -> Any:
    try:
        return how(path)
    except (FileNotFoundError, ReadError):
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


def _check_archive(path: Path) -> None:
    """Refuse arrays that are not as large as they say, or too large to be unpacked."""
    headers = {1: np.lib.format.read_array_header_1_0, 2: np.lib.format.read_array_header_2_0}
    with archive(path) as file:
        entries = file.infolist()
        unpacked = sum(entry.file_size for entry in entries)
        for entry in entries:
            with file.open(entry) as content:
                version = np.lib.format.read_magic(content)[0]
                shape, _, dtype = headers[version](content)
                held = entry.file_size - content.tell()
            if not dtype.hasobject and math.prod(shape) * dtype.itemsize != held:
                raise ReadError.at(
                    path,
                    "damaged: {name} has {held} bytes, and declares {dtype} of the shape {shape}.",
                    name=entry.filename,
                    held=held,
                    dtype=dtype,
                    shape=shape,
                )
    free = _free_memory()
    if unpacked > free:
        raise ReadError.at(
            path,
            "unpacks to {unpacked}, and there are {free} of memory.",
            unpacked=_gigabytes(unpacked),
            free=_gigabytes(free),
        )
    size = path.stat().st_size
    if unpacked > max(LARGE_ARCHIVE, EXPANSION * size):
        raise ReadError.at(
            path,
            f"unpacks to {{unpacked}}, more than {EXPANSION} times its size: if it is meant, save "
            "it without compression (scipy.sparse.save_npz with compressed=False).",
            unpacked=_gigabytes(unpacked),
        )


def _free_memory() -> float:
    """Return how many bytes of memory are free, or all that there are; without end if unknown."""
    try:
        about = Path("/proc/meminfo").read_text(encoding="ascii")
        return 1024.0 * int(about.partition("MemAvailable:")[2].split()[0])
    except (OSError, IndexError, ValueError):
        names = ("SC_PHYS_PAGES", "SC_PAGE_SIZE")
        known = getattr(os, "sysconf_names", {})  # not on Windows
        return math.prod(map(os.sysconf, names)) if {*names} <= {*known} else math.inf


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:,.1f} GB"


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
    _check_shape(path, X.shape, X.data.size)
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
    _check_shape(path, (rows, columns), entries)


def _check_shape(path: Path, shape: tuple[int, ...], entries: int) -> None:
    """Refuse rows and columns that nothing is in: there are arrays of as many numbers later."""
    if max(shape, default=0) > max(entries, MANY):
        raise ReadError.at(
            path,
            "a shape of {shape} is declared for {entries} entries.",
            shape=" x ".join(map(str, shape)),
            entries=entries,
        )


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

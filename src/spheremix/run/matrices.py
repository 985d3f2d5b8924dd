"""Rows and words as plain files, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from spheremix.run.files import FORMS, MATRIX, VOCABULARY
from spheremix.run.schema import MatrixRecord
from spheremix.run.store import RunError
from spheremix.run.typed import FileName

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from spheremix.run.store import Reader
    from spheremix.run.writer import Writer


def pack_words(words: Iterable[str], writer: Writer, name: str = VOCABULARY) -> FileName:
    """Write a vocabulary, one word a line; ends of lines within words become spaces."""
    lines = (f"{' '.join(str(w).split(chr(10)))}\n" for w in words)
    return FileName(writer.text(name, lines))


def unpack_words(reader: Reader, name: FileName) -> list[str]:
    """Read a vocabulary."""
    return reader.text(name).split("\n")[:-1]


def pack_forms(forms: Mapping[str, str | None], writer: Writer) -> FileName:
    """Write the word of each form, one form a line; that of a form that is left out is empty."""
    lines = (f"{form}\t{word or ''}\n" for form, word in sorted(forms.items()))
    return FileName(writer.packed(FORMS, lines))


def unpack_forms(reader: Reader, name: FileName) -> dict[str, str | None]:
    """Read the word of each form."""
    parts = (line.removesuffix("\n").partition("\t") for line in reader.packed(name))
    return {form: word or None for form, _, word in parts}


def pack_matrix(X: Any, writer: Writer, prefix: str = MATRIX) -> MatrixRecord:
    """Write rows, sparse or dense; give their description.

    The entries of sparse rows are written in the order of their columns: they are read from the
    disk without being changed, so SciPy cannot sort them there.
    """
    shape = [int(size) for size in X.shape]
    rows = X.tocsr() if hasattr(X, "tocsr") else None
    parts = {"rows": X}
    if rows is not None:
        rows = rows if rows.has_sorted_indices else rows.sorted_indices()
        parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr}
    names = {
        name: FileName(writer.array(f"{prefix}/{name}.npy", array)) for name, array in parts.items()
    }
    return MatrixRecord(shape=shape, **names)


def unpack_matrix(record: MatrixRecord, reader: Reader) -> sparse.csr_array | NDArray[Any]:
    """Open rows, mapped from the disk."""
    if len(record.shape) != 2 or 0 in record.shape:
        raise RunError(f"{reader.folder}: damaged: a matrix of shape {record.shape}.")
    n, d = record.shape
    if record.rows is not None:
        return reader.array(record.rows, (n, d), "fiub", mapped=True)
    indptr = reader.array(record.indptr, (n + 1,), "i")
    if indptr[0] != 0 or np.any(np.diff(indptr) < 0):
        raise RunError(f"{reader.folder}: damaged: rows of the matrix overlap.")
    size = (int(indptr[-1]),)
    data = reader.array(record.data, size, "fiub", mapped=True)
    indices = reader.array(record.indices, size, "i", mapped=True)
    if indices.size and (indices.min() < 0 or indices.max() >= d):
        raise RunError(f"{reader.folder}: damaged: columns of the matrix beyond its width.")
    return sparse.csr_array((data, indices, indptr), shape=(n, d))

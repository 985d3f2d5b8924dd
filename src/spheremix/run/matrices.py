"""Rows and words as plain files, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from spheremix.run.fields import Fields
    from spheremix.run.store import Reader, Writer


def pack_words(words: Iterable[str], writer: Writer, name: str = "vocabulary.txt") -> str:
    """Write a vocabulary, one word a line; ends of lines within words become spaces."""
    return writer.text(name, (f"{' '.join(str(w).split(chr(10)))}\n" for w in words))


def pack_matrix(X: Any, writer: Writer, prefix: str = "matrix") -> dict[str, Any]:
    """Write rows, sparse or dense; give their description."""
    shape = [int(size) for size in X.shape]
    if not hasattr(X, "tocsr"):
        return {"shape": shape, "rows": writer.array(f"{prefix}/rows.npy", X)}
    rows = X.tocsr()
    parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr}
    names = {name: writer.array(f"{prefix}/{name}.npy", array) for name, array in parts.items()}
    return {"shape": shape, **names}


def unpack_matrix(fields: Fields, reader: Reader) -> sparse.csr_array | NDArray[Any]:
    """Open rows, mapped from the disk."""
    shape = fields.listing("shape")
    if len(shape) != 2 or not all(isinstance(size, int) and 0 < size < 2**62 for size in shape):
        raise fields.bad("shape")
    n, d = shape
    if "rows" in fields.content:
        return reader.array(fields.string("rows"), (n, d), "fiub", mapped=True)
    indptr = reader.array(fields.string("indptr"), (n + 1,), "i")
    if indptr[0] != 0 or np.any(np.diff(indptr) < 0):
        raise fields.bad("indptr")
    size = (int(indptr[-1]),)
    data = reader.array(fields.string("data"), size, "fiub", mapped=True)
    indices = reader.array(fields.string("indices"), size, "i", mapped=True)
    if indices.size and (indices.min() < 0 or indices.max() >= d):
        raise fields.bad("indices")
    return sparse.csr_array((data, indices, indptr), shape=(n, d))

"""Tables in every container that engines must take."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.testing.suite import Contain


def _strided(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a view on every second entry both ways; what lies between is NaN."""
    n, d = rows.shape
    around = np.full((2 * n, 2 * d + 1), np.nan)
    view = around[::2, 1::2]
    view[:] = rows
    return view


def _memmap(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    with tempfile.TemporaryFile() as file:
        file.write(np.ascontiguousarray(rows).tobytes())
        file.flush()
        return np.memmap(file, dtype=np.float64, mode="r", shape=rows.shape)


def _csr_int64(rows: NDArray[np.float64]) -> Any:
    """Return a CSR with 64-bit indices, which SciPy's constructor would make smaller."""
    csr = sparse.csr_array(rows)
    csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    return csr


CONTAINERS: dict[str, Contain] = {
    "float64": np.array,
    "float32": lambda rows: rows.astype(np.float32),
    "fortran": lambda rows: np.array(rows, order="F"),
    "strided": _strided,
    "memmap": _memmap,
    "csr_int32": sparse.csr_matrix,
    "csr_int64": _csr_int64,
    "csr_float32": lambda rows: sparse.csr_array(rows.astype(np.float32)),
}

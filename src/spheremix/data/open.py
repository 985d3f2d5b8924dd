"""From what users have to unit rows: the type chooses the engine, rows are checked and normalised.

Normalisation is one number a row, so the user's array is read in place: never changed, and copied
only where its type asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from spheremix import _optional
from spheremix.data.compiled import CompiledDirections
from spheremix.data.reference import ReferenceDirections
from spheremix.data.threads import resolve_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.data.base import Directions
    from spheremix.data.reference import Rows

Engine = Literal["auto", "reference", "compiled"]

BLOCK_ENTRIES = 2**20
# Norms outside these are brought near one in a copy: products with a prototype could overflow.
SAFE_NORMS = {np.dtype(np.float32): (1e-15, 1e15), np.dtype(np.float64): (1e-100, 1e100)}


def as_directions(X: Any, *, engine: Engine = "auto", n_threads: int | None = None) -> Directions:
    """Open data as unit rows.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or Directions
        Arrays and CSR matrices of float32 or float64 are read in place, whatever their strides.
        Other containers are converted once. What is Directions already is given back.
    engine : {"auto", "reference", "compiled"}
        "auto" is the compiled engine where it is built, the reference engine elsewhere.
    n_threads : int or None
        None decides from the surroundings, see :func:`spheremix.data.threads.resolve_threads`.

    Returns
    -------
    Directions
        The rows, each divided by its norm.

    Raises
    ------
    ValueError
        Where a row has no direction (NaN, infinities, zeros only), where the shape is wrong, or
        where the entries are no real numbers.
    """
    if all(callable(getattr(X, verb, None)) for verb in ("sweep", "map_rows", "take")):
        return cast("Directions", X)
    make = engine_class(engine)
    rows, scale = open_rows(X)
    directions: Directions = make(rows, scale, n_threads=resolve_threads(n_threads))
    return directions


def engine_class(engine: Engine) -> Any:
    """Give the class of an engine by its name."""
    if engine not in get_args(Engine):
        raise ValueError(f"engine must be one of {', '.join(get_args(Engine))}, got {engine!r}.")
    if engine == "reference":
        return ReferenceDirections
    if _optional.kernels is None and engine == "auto":
        return ReferenceDirections
    if _optional.kernels is None:
        raise ImportError(
            "engine='compiled' needs the extension spheremix._kernels, which is not built here. "
            "Reinstall spheremix where a C++ compiler is found, or use engine='reference'."
        )
    return CompiledDirections


def open_rows(X: Any, *, first_row: int = 0) -> tuple[Rows, NDArray[np.float64]]:
    """Give the rows as engines read them, and one over the norm of each.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        As for :func:`as_directions`.
    first_row : int
        Number of the first row, for the messages, where X is a block of a larger data set.

    Returns
    -------
    rows : ndarray or SciPy CSR
        float32 or float64; X itself or a view of it where that is possible.
    scale : ndarray of shape (n,)
        float64.
    """
    rows = _csr(X) if sparse.issparse(X) else _dense(X)
    squares = _blockwise_squares(rows)
    low, high = SAFE_NORMS[rows.dtype]
    odd = np.flatnonzero(~((squares >= low**2) & (squares <= high**2)))
    if odd.size:
        largest = _largest_entries(rows, odd)
        _refuse_rows(largest, odd + first_row)
        rows = _rescaled(rows, odd, largest)
        squares = _blockwise_squares(rows)
    return rows, 1.0 / np.sqrt(squares)


def _dense(X: Any) -> Rows:
    """Give an aligned array of float32 or float64, or a CSR where a data frame holds one."""
    if np.ma.is_masked(X):
        raise ValueError("X is a masked array with masked entries: fill them in or drop the rows.")
    if not isinstance(X, np.ndarray):
        X = check_array(
            X,
            accept_sparse=True,
            dtype=None,
            ensure_all_finite=False,
            ensure_2d=False,
            allow_nd=True,
            ensure_min_samples=0,
            ensure_min_features=0,
            input_name="X",
        )
        if sparse.issparse(X):
            return _csr(X)
    X = np.asarray(X)
    dtype = np.dtype(np.float64) if X.dtype == object else _real_dtype(X.dtype)
    _check_shape(X)
    try:
        rows: Rows = np.require(X.astype(dtype, copy=False), requirements=["ALIGNED"])
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"X holds objects that are no numbers: {error}.") from error
    return rows


def _csr(X: Any) -> Rows:
    """Give a CSR of float32 or float64 without duplicates, in contiguous arrays."""
    dtype = _real_dtype(X.dtype)
    _check_shape(X)
    csr = X.tocsr().astype(dtype, copy=False)
    counts = np.diff(csr.indptr)
    stored = int(csr.indptr[-1])
    indices = csr.indices[:stored]
    if (
        csr.indptr[0] != 0
        or (counts < 0).any()
        or min(len(csr.indices), len(csr.data)) < stored
        or (stored and not 0 <= indices.min() <= indices.max() < X.shape[1])
    ):
        raise ValueError(
            f"X is no valid CSR matrix of shape {X.shape}: its indptr decreases, or its indices "
            "are outside the columns. Build it again from its entries."
        )
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    parts = (csr.data, csr.indices, csr.indptr)
    if not all(part.flags.c_contiguous and part.flags.aligned for part in parts):
        data, indices, indptr = (np.require(part, requirements=["C", "A"]) for part in parts)
        csr = sparse.csr_array((data, indices, indptr), shape=csr.shape)
    return cast("Rows", csr)


def _real_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Give the dtype rows are kept in."""
    native = dtype.newbyteorder("=")
    if native in SAFE_NORMS:
        return native
    if dtype.kind in "biuf":
        return np.dtype(np.float32 if native == np.float16 else np.float64)
    if dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported: X has dtype {dtype}, and directions are real. Take its "
            "real part, or put real and imaginary parts side by side."
        )
    if dtype.kind in "SUT":
        raise ValueError(
            f"X holds strings (dtype {dtype}). Turn texts into rows of numbers first, for example "
            "with scikit-learn's TfidfVectorizer."
        )
    raise ValueError(f"X has dtype {dtype}, which holds no real numbers. Give an array of floats.")


def _check_shape(X: Any) -> None:
    """Refuse what is no table of at least one row and two columns, in scikit-learn's words."""
    if X.ndim != 2:
        got = "scalar" if X.ndim == 0 else f"{X.ndim}D"
        raise ValueError(
            f"Expected 2D array, got {got} array instead, of shape {X.shape}. Reshape your data to "
            "(rows, features), with array.reshape(1, -1) if it is a single sample."
        )
    for count, minimum, noun in zip(X.shape, (1, 2), ("sample", "feature"), strict=True):
        if count < minimum:
            raise ValueError(
                f"Found array with {count} {noun}(s) (shape={X.shape}) while a minimum of "
                f"{minimum} is required."
            )


def _blockwise_squares(rows: Rows) -> NDArray[np.float64]:
    """Give the squared norms of the rows; those of bad or extreme rows are not finite, or zero."""
    n_rows, n_features = rows.shape
    per_row = n_features if isinstance(rows, np.ndarray) else 1 + rows.nnz // n_rows
    step = max(1, BLOCK_ENTRIES // per_row)
    squares = np.empty(n_rows)
    with np.errstate(all="ignore"):
        for start in range(0, n_rows, step):
            block = slice(start, min(start + step, n_rows))
            if isinstance(rows, np.ndarray):
                entries = rows[block].astype(np.float64, copy=False)
                squares[block] = np.einsum("ij,ij->i", entries, entries)
            else:
                owners, data = _entries(rows, block.start, block.stop)
                size = block.stop - block.start
                squares[block] = np.bincount(owners, data**2, minlength=size)
    return squares


def _largest_entries(rows: Rows, ids: NDArray[np.intp]) -> NDArray[np.float64]:
    """Give the largest absolute entry of some rows: NaN where a row has one."""
    largest = np.zeros(len(ids))
    for i, row in enumerate(ids):
        if isinstance(rows, np.ndarray):
            largest[i] = np.abs(rows[row]).max()
        else:
            largest[i] = np.abs(_entries(rows, row, row + 1)[1]).max(initial=0.0)
    return largest


def _entries(rows: Any, start: int, stop: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Give the entries of a range of CSR rows, and to which of these rows each belongs."""
    indptr = rows.indptr[start : stop + 1]
    owners = np.repeat(np.arange(stop - start), np.diff(indptr))
    return owners, rows.data[indptr[0] : indptr[-1]].astype(np.float64, copy=False)


def _refuse_rows(largest: NDArray[np.float64], ids: NDArray[np.intp]) -> None:
    """Raise where rows have no direction, given the largest entries of the rows with these ids."""
    for found, what in ((np.isnan(largest), "NaN"), (np.isinf(largest), "infinity")):
        if found.any():
            raise ValueError(
                f"Input X contains {what}: row {ids[found][0]} contains {what} "
                f"({_rows(found)} in all). Drop such rows, or fill in their entries."
            )
    found = largest == 0
    if found.any():
        first = ", ".join(str(row) for row in ids[found][:5]) + (", ..." if found.sum() > 5 else "")
        raise ValueError(
            f"X has {_rows(found)} with zeros only, which have no direction: {first}. Drop them "
            "before fitting, and keep their ids to put them back in the results."
        )


def _rows(found: NDArray[np.bool_]) -> str:
    count = int(found.sum())
    return f"{count} row" if count == 1 else f"{count} rows"


def _rescaled(rows: Rows, ids: NDArray[np.intp], largest: NDArray[np.float64]) -> Rows:
    """Copy the rows with some of them brought near one, by powers of two and so exactly."""
    shifts = np.zeros(rows.shape[0], dtype=np.int32)
    shifts[ids] = -np.frexp(largest)[1]
    if isinstance(rows, np.ndarray):
        return np.ldexp(rows, shifts[:, None])
    data = np.ldexp(rows.data[: rows.indptr[-1]], np.repeat(shifts, np.diff(rows.indptr)))
    return sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)

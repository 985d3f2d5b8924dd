"""From the containers of users to a table of floats, and one over the norm of each row.

Rows are normalised by one number a row, so the user's array is read in place: it is never changed,
and copied only if its type requires it. The norm of a row depends on that row alone, to the last
bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows: TypeAlias = NDArray[np.floating] | sparse.csr_array | sparse.csr_matrix

BLOCK_ENTRIES = 2**20
# Rows with norms outside these bounds are copied and rescaled: their products could overflow.
SAFE_NORMS = {np.dtype(np.float32): (1e-15, 1e15), np.dtype(np.float64): (1e-100, 1e100)}
TEXTS = (
    "X holds {}. Turn texts into rows of numbers first, for example with scikit-learn's "
    "TfidfVectorizer."
)


class Norms(NamedTuple):
    """The norms of some rows."""

    scale: NDArray[np.float64]  # one over the norm of each row, rescaled where it is odd
    odd: NDArray[np.intp]  # numbers of rows whose norm is extreme, zero or not finite
    largest: NDArray[np.float64]  # the largest absolute entry of each of these


def open_rows(X: Any, *, first_row: int = 0) -> tuple[Rows, NDArray[np.float64]]:
    """Return the rows as engines read them, and one over the norm of each.

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
    rows = as_rows(X)
    norms = measure(rows)
    if norms.odd.size:
        refuse_rows(norms.largest, norms.odd + first_row)
        rows = rescaled(rows, norms.odd, norms.largest)
    return rows, norms.scale


def as_rows(X: Any) -> Rows:
    """Return a table of float32 or float64 as engines read it: X itself where that is possible."""
    return _csr(X) if sparse.issparse(X) else _dense(X)


def measure(rows: Rows) -> Norms:
    """Return one over the norm of each row; ``refuse_rows`` refuses rows without a norm."""
    low, high = SAFE_NORMS[rows.dtype]
    with np.errstate(all="ignore"):
        squares = _squares(rows)
        odd = np.flatnonzero(~((squares >= low**2) & (squares <= high**2)))
        largest = np.zeros(0)
        if odd.size:
            few = rows[odd]
            largest = _largest_entries(few)
            squares[odd] = _squares(rescaled(few, np.arange(len(odd)), largest))
        return Norms(1.0 / np.sqrt(squares), odd, largest)


def _dense(X: Any) -> Rows:
    """Return an aligned array of float32 or float64, or a CSR where a data frame holds one."""
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
    if X.dtype == object:
        _refuse_objects(X)
    dtype = np.dtype(np.float64) if X.dtype == object else _real_dtype(X.dtype)
    check_shape(X)
    try:
        converted = X.astype(dtype, copy=False) if X.dtype == object else _converted(X, dtype)
    except (TypeError, ValueError) as error:
        if X.dtype != object:
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"X holds objects that are no numbers: {error}.") from error
    rows: Rows = np.require(converted, requirements=["ALIGNED"])
    return rows


def _refuse_objects(X: NDArray[Any]) -> None:
    """Refuse strings and arrays as entries, with a message that says what to do."""
    if not X.size or X.ndim not in {1, 2}:
        return
    first, one_a_row = X.flat[0], X.size == len(X)
    if one_a_row and isinstance(first, str):
        raise ValueError(TEXTS.format("strings"))
    if one_a_row and isinstance(first, np.ndarray | list | tuple):
        raise ValueError("X holds one array a row: make a table of them with np.stack.")
    for j, value in enumerate(X[0] if X.ndim == 2 else ()):
        if isinstance(value, str):
            raise ValueError(
                f"Column {j} of X holds strings, the first one {value[:30]!r}: keep the columns of "
                "numbers (of a data frame, X.select_dtypes('number'))."
            )


def _csr(X: Any) -> Rows:
    """Return CSR of float32 or float64 without duplicates, in contiguous arrays of its entries."""
    dtype = _real_dtype(X.dtype)
    check_shape(X)
    if 0 in getattr(X, "blocksize", ()):
        raise ValueError(
            f"X is a BSR matrix of shape {X.shape} whose blocks have shape {X.blocksize} and hold "
            "no entry. Build it again from its entries, for example with scipy.sparse.csr_array."
        )
    csr = _converted(X.tocsr(), dtype)
    indptr, indices = index_arrays(csr.indptr, csr.indices)
    stored = int(indptr[-1])
    data, indices = (part[:stored] if len(part) > stored else part for part in (csr.data, indices))
    if (
        len(indptr) != X.shape[0] + 1
        or indptr[0] != 0
        or (np.diff(indptr) < 0).any()
        or min(len(indices), len(data)) < stored
        or not _in_columns(indices, X.shape[1])
    ):
        raise ValueError(
            f"X is no valid CSR matrix of shape {X.shape}: its indptr decreases, or its indices "
            "are outside the columns. Build it again from its entries."
        )
    parts = (np.require(part, requirements=["C", "A"]) for part in (data, indices, indptr))
    data, indices, indptr = parts
    if data is not csr.data or indices is not csr.indices or indptr is not csr.indptr:
        csr = csr_of(data, indices, indptr, csr.shape[1])
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return cast("Rows", csr)


def _converted(X: Any, dtype: np.dtype[Any]) -> Any:
    """Return X in a type of engines; refuse rows of a longer type that are beyond its range."""
    if X.dtype.kind != "f" or X.dtype.itemsize <= dtype.itemsize:
        return X.astype(dtype, copy=False)
    with np.errstate(all="ignore"):
        found = X.astype(dtype)
    parts = (abs(X) == np.inf, abs(found) == np.inf, X != 0, found != 0)
    infinite, overflown, there, left = (np.asarray(part.sum(axis=1)).ravel() for part in parts)
    lost = (overflown > infinite) | ((there > 0) & (left == 0))
    if lost.any():
        raise ValueError(
            f"X has dtype {X.dtype}, and {_rows(lost)} with numbers beyond the range of {dtype}, "
            "in which rows are kept. Divide such rows by their largest absolute entry: their "
            "directions stay."
        )
    return found


def _in_columns(indices: NDArray[Any], n_features: int) -> bool:
    # Read without a sign, a negative index is larger than any column.
    return not indices.size or bool(indices.view(f"u{indices.itemsize}").max() < n_features)


def taken(rows: Rows, ids: slice | NDArray[np.intp]) -> Rows:
    """Copy a few rows; refuse CSR rows whose pointers or indices became invalid after opening.

    SciPy does not look at them: it would read and write outside the arrays. It copies rows by
    their pointers alone, so the indices are looked at in the copy.
    """
    if isinstance(rows, np.ndarray):
        return rows[ids]
    starts, stops = rows.indptr[:-1][ids], rows.indptr[1:][ids]
    stored = min(len(rows.indices), len(rows.data))
    if ((starts >= 0) & (starts <= stops) & (stops <= stored)).all():
        found = rows[ids]
        if _in_columns(found.indices, rows.shape[1]):
            return found
    raise RuntimeError(
        "An index of the CSR matrix is outside its columns: the matrix was changed after it "
        "was opened. Leave X as it is while it is in use, or open a copy of it."
    )


def index_arrays(
    indptr: NDArray[Any], indices: NDArray[Any]
) -> tuple[NDArray[np.integer], NDArray[np.integer]]:
    """Return both in one type, int32 or int64, which holds the last pointer as well."""
    small = np.can_cast(indices.dtype, np.int32) and indptr[-1] <= np.iinfo(np.int32).max
    index = np.dtype(np.int32 if small else np.int64)
    return indptr.astype(index, copy=False), indices.astype(index, copy=False)


def _real_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype rows are kept in."""
    native = dtype.newbyteorder("=")
    if native in SAFE_NORMS:
        return native
    if dtype.type.__module__ == "ml_dtypes":  # bfloat16 and shorter ones, which NumPy does not know
        return np.dtype(np.float32)
    if dtype.kind in "biuf":
        return np.dtype(np.float32 if native == np.float16 else np.float64)
    if dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported: X has dtype {dtype}, and directions are real. Take its "
            "real part, or put real and imaginary parts side by side."
        )
    if dtype.kind in "SUT":
        raise ValueError(TEXTS.format(f"strings (dtype {dtype})"))
    raise ValueError(f"X has dtype {dtype}, which holds no real numbers. Give an array of floats.")


def check_shape(X: Any) -> None:
    """Refuse X unless it has at least one row and two columns, in scikit-learn's words."""
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


def _squares(rows: Rows) -> NDArray[np.float64]:
    """Return squared norms of the rows; those of bad or extreme rows are not finite, or zero."""
    n_rows, n_features = rows.shape
    per_row = n_features if isinstance(rows, np.ndarray) else 1 + rows.nnz // n_rows
    step = max(1, BLOCK_ENTRIES // per_row)
    squares = np.empty(n_rows)
    for start in range(0, n_rows, step):
        stop = min(start + step, n_rows)
        if isinstance(rows, np.ndarray):
            # Always in C order, so that the entries of a row are added in the same order.
            entries = np.array(rows[start:stop], dtype=np.float64, order="C")
            squares[start:stop] = np.square(entries, out=entries).sum(axis=1)
        else:
            owners, data = _entries(rows, start, stop)
            squares[start:stop] = np.bincount(owners, data**2, minlength=stop - start)
    return squares


def _largest_entries(rows: Rows) -> NDArray[np.float64]:
    """Return the largest absolute entry of each row: NaN where a row has one."""
    if isinstance(rows, np.ndarray):
        largest: NDArray[np.float64] = np.abs(rows).max(axis=1).astype(np.float64)
        return largest
    owners, data = _entries(rows, 0, rows.shape[0])
    largest = np.zeros(rows.shape[0])
    np.maximum.at(largest, owners, np.abs(data))
    return largest


def _entries(rows: Any, start: int, stop: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the entries of a range of CSR rows, and to which of these rows each belongs."""
    indptr = rows.indptr[start : stop + 1]
    owners = np.repeat(np.arange(stop - start), np.diff(indptr))
    return owners, rows.data[indptr[0] : indptr[-1]].astype(np.float64, copy=False)


def refuse_rows(largest: NDArray[np.float64], ids: NDArray[np.intp]) -> None:
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
            "(of a CSR matrix, X[X.getnnz(axis=1) > 0]), and keep their ids to put them back in "
            "the results."
        )


def _rows(found: NDArray[np.bool_]) -> str:
    count = int(found.sum())
    return f"{count} row" if count == 1 else f"{count} rows"


def rescaled(rows: Rows, ids: NDArray[np.intp], largest: NDArray[np.float64]) -> Rows:
    """Copy the rows with some of them brought near one, by powers of two and so exactly."""
    shifts = np.zeros(rows.shape[0], dtype=np.int32)
    shifts[ids] = -np.frexp(largest)[1]
    if isinstance(rows, np.ndarray):
        return np.ldexp(rows, shifts[:, None])
    data = np.ldexp(rows.data, np.repeat(shifts, np.diff(rows.indptr)))
    return csr_of(data, rows.indices, rows.indptr, rows.shape[1])


def entries_of(rows: Rows) -> tuple[int, int]:
    """Return the stored entries of all rows, and the most of one row."""
    if isinstance(rows, np.ndarray):
        return rows.size, rows.shape[1]
    return int(rows.indptr[-1]), int(np.diff(rows.indptr).max(initial=0))


def some_rows(
    rows: Rows, scale: NDArray[np.float64], ids: NDArray[np.intp]
) -> tuple[Rows, NDArray[np.float64]]:
    """Copy a few rows as they are stored, and one over the norm of each."""
    return taken(rows, ids), scale[ids]


def cut(rows: Any, start: int, stop: int) -> Rows:
    """Return some rows as a view of the same memory."""
    if (start, stop) == (0, rows.shape[0]):
        return rows  # type: ignore[no-any-return]
    if isinstance(rows, np.ndarray):
        return rows[start:stop]
    ends = rows.indptr[start : stop + 1]
    own = slice(int(ends[0]), int(ends[-1]))
    return csr_of(rows.data[own], rows.indices[own], ends - ends[0], rows.shape[1])


def unit_rows(rows: Rows, scale: NDArray[np.float64], ids: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return a few rows divided by their norms, dense."""
    few, lengths = some_rows(rows, scale, ids)
    dense = few if isinstance(few, np.ndarray) else few.toarray()
    unit: NDArray[np.float64] = np.multiply(dense, lengths[:, None], order="C")
    return unit


def csr_of(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], n_features: int
) -> sparse.csr_array:
    """Return CSR that shares these arrays; SciPy's constructor would check and may convert them."""
    csr = sparse.csr_array((len(indptr) - 1, n_features), dtype=data.dtype)
    csr.data, csr.indices, csr.indptr = data, indices, indptr
    return csr

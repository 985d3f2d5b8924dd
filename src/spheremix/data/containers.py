"""Rows in the containers of other packages: lists in a column, tensors, sparse arrays.

Types are recognised by the name of their package, which is not imported here: whoever has such an
object has imported it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

FRAMES = ("pandas", "polars", "pyarrow")
CPU = (1, 3, 11)  # devices of DLPack whose memory the CPU reads: its own, pinned for CUDA or ROCm


def is_views(X: Any) -> bool:
    """Return whether X is a dictionary of views; a sparse matrix of SciPy can be one of entries."""
    return isinstance(X, Mapping) and not hasattr(X, "shape")


def as_table(X: Any) -> Any:
    """Return X, or the table of numbers that it holds in a form that NumPy does not take.

    Parameters
    ----------
    X : object
        A column of lists of pandas, polars or pyarrow, or a table of such a column alone, becomes
        an array; so does a tensor that knows nothing but DLPack. A table of several such columns
        becomes a dictionary of views. An array of pydata/sparse becomes one of SciPy. Everything
        else is given back.

    Returns
    -------
    object
        What the openers of :func:`spheremix.as_directions` know.
    """
    package = type(X).__module__.partition(".")[0]
    if package in FRAMES:
        return _frame(X)
    if package == "datasets":
        raise ValueError(
            "X is a data set of the package datasets: give its column of vectors as an array, "
            "np.asarray(X['embedding']) with the name of your column."
        )
    if package == "sparse" and hasattr(X, "to_scipy_sparse"):
        return X.to_scipy_sparse()
    if package not in {"numpy", "torch", "jax", "dask"} and hasattr(X, "__dlpack_device__"):
        return _tensor(X, package)
    return X


def _tensor(X: Any, package: str) -> Any:
    """Read a tensor of the CPU in place; refuse one that is elsewhere."""
    if X.__dlpack_device__()[0] not in CPU:
        raise ValueError(
            f"X is an array of {package} on another device than the CPU. To work there, give "
            "torch.from_dlpack(X); otherwise copy it to the CPU first (of cupy, X.get())."
        )
    return X if hasattr(X, "__array__") else np.from_dlpack(X)


def _frame(X: Any) -> Any:
    """Return the lists of a column as an array; refuse a frame that has other columns as well."""
    # Of polars; a frame that is there has no such method, and may have a column of that name.
    if hasattr(type(X), "collect"):
        raise ValueError("X is a LazyFrame, which has no rows yet: give X.collect().")
    if len(getattr(X, "shape", (0,))) != 2:
        return _column(X)
    names = list(getattr(X, "column_names", X.columns))
    if len(names) == 1:
        table = _column(X[names[0]])
        return X if np.ndim(table) != 2 else table
    kinds = X.schema.types if hasattr(X, "column_names") else X.dtypes
    lists = [
        name
        for name, kind in zip(names, kinds, strict=True)
        if _may_hold_lists(kind) and _holds_lists(X[name])
    ]
    if lists and len(lists) == len(names):
        return {str(name): _column(X[name]) for name in names}
    if lists:
        raise ValueError(
            f"Column {lists[0]!r} of X holds lists, and X has {len(names)} columns: give that "
            f"column alone, X[{lists[0]!r}], or only columns of lists, one for each view."
        )
    return X


def _holds_lists(column: Any) -> bool:
    """Return whether a column holds lists, by its type; objects of pandas by the first of them."""
    kind = getattr(column, "dtype", getattr(column, "type", ""))
    if str(kind) == "object":
        return len(column) > 0 and isinstance(column.iloc[0], list | tuple | np.ndarray)
    return _may_hold_lists(kind)


def _may_hold_lists(kind: Any) -> bool:
    """Tell by the type of a column."""
    return (
        str(kind).lower().startswith(("object", "list", "array", "fixed_size_list", "large_list"))
    )


def _column(column: Any) -> Any:
    """Return a column of lists as an array of two dimensions, and any other column as it is."""
    if not _holds_lists(column):
        return column
    lists = column.to_numpy(**_copying(column))
    if lists.ndim == 2:  # arrays of polars
        return lists
    if not len(lists):
        raise ValueError("X has no rows.")
    lengths = np.array([-1 if one is None else np.size(one) for one in lists])
    other = np.flatnonzero(lengths != lengths[0])
    if lengths[0] < 0 or (lengths < 0).any():
        row = int(np.flatnonzero(lengths < 0)[0])
        raise ValueError(f"Row {row} of X has no list: drop such rows.")
    if other.size:
        row = int(other[0])
        raise ValueError(
            f"Row {row} of X has {lengths[row]} numbers, the first row {lengths[0]}. All rows need "
            "as many."
        )
    return np.stack([np.asarray(one) for one in lists])


def _copying(column: Any) -> dict[str, bool]:
    """Return what an array of pyarrow, and nobody else, needs to be told before it copies."""
    whole = type(column).__module__.partition(".")[0] == "pyarrow" and not hasattr(column, "chunks")
    return {"zero_copy_only": False} if whole else {}

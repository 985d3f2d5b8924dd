"""Groups of documents as integers; what stands for no value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Ids = NDArray[np.intp]


def as_groups(labels: ArrayLike) -> Ids:
    """Return the group of each document as an integer; a negative one is none."""
    ids = np.asarray(labels)
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
        raise ValueError(
            "Groups must be integers, one a document: got an array of shape "
            f"{ids.shape} and dtype {ids.dtype}."
        )
    return ids.astype(np.intp)


def count_groups(ids: Ids, n_groups: int | None) -> int:
    """Return the number of groups, if none of them is beyond it."""
    found = int(ids.max(initial=-1)) + 1
    if n_groups is not None and n_groups < found:
        raise ValueError(f"There is a group {found - 1}, but n_groups={n_groups}.")
    return found if n_groups is None else int(n_groups)


def is_missing(value: Any) -> bool:
    """Return whether a value stands for none: None, NaN, NaT, NA or an empty string."""
    if value is None or (isinstance(value, str) and not value):
        return True
    try:
        return bool(value != value)  # noqa: PLR0124
    except (TypeError, ValueError):  # pandas' NA answers neither yes nor no
        return True

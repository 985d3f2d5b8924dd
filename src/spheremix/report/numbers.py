"""Numbers with as many digits as are told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsFloat

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def digits(value: SupportsFloat, n: int = 7) -> float:
    """Return a number with n significant digits: a file of many is half as long."""
    return float(f"{float(value):.{n}g}")


def numbered(labels: NDArray[np.intp], n_clusters: int) -> NDArray[np.intp]:
    """Return documents that belong nowhere the number after the last: small arrays have no sign."""
    return np.where(labels < 0, n_clusters, labels)

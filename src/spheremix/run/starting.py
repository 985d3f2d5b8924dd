"""Groups from which a run starts instead of searching for them: those of the run before it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.run.edit_schema import CarriedEdits

    Ids = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """Where a run starts.

    Attributes
    ----------
    labels : ndarray of int
        The group of each document, -1 where it is not known.
    carried : CarriedEdits
        Names, notes and marks that the run takes over.
    """

    labels: Ids
    carried: CarriedEdits

    def digest(self) -> str:
        """Give what tells this start from others."""
        return hashlib.sha256(np.ascontiguousarray(self.labels, dtype="<i8").tobytes()).hexdigest()


def complete_labels(labels: Ids, X: Any) -> Ids:
    """Give rows without a group the one whose mean direction is nearest."""
    unknown = np.flatnonzero(labels < 0)
    if not len(unknown):
        return labels
    sums = np.zeros((int(labels.max()) + 1, X.shape[1]))
    for k in range(len(sums)):
        sums[k] = np.asarray(X[np.flatnonzero(labels == k)].sum(axis=0)).ravel()
    sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-300)
    found = labels.copy()
    found[unknown] = np.asarray(X[unknown] @ sums.T).argmax(axis=1)
    return found

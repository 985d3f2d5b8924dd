"""Groups from which a run starts instead of searching for them: those of the run before it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.run.store import as_json
from spheremix.run.typed import encode

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
    lines : frozenset of str
        Lines that the run before left out of its documents.
    told : frozenset of str
        Notes about the documents that were told already.
    """

    labels: Ids
    carried: CarriedEdits
    lines: frozenset[str] = frozenset()
    told: frozenset[str] = frozenset()

    def command(self) -> dict[str, str]:
        """Return what tells this start from others: the groups, and what is said of them."""
        groups = np.ascontiguousarray(self.labels, dtype="<i8").tobytes()
        parts = {"start": groups, "carried": as_json(encode(self.carried))}
        return {name: hashlib.sha256(one).hexdigest() for name, one in parts.items()}


def complete_labels(labels: Ids, X: Any) -> Ids:
    """Return rows without a group the one whose mean direction is nearest.

    Rows that share no word with any group start in the largest group.
    """
    unknown = np.flatnonzero(labels < 0)
    if not len(unknown):
        return labels
    sums = np.zeros((int(labels.max()) + 1, X.shape[1]))
    for k in range(len(sums)):
        sums[k] = np.asarray(X[np.flatnonzero(labels == k)].sum(axis=0)).ravel()
    sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-300)
    found = labels.copy()
    products = np.asarray(X[unknown] @ sums.T)
    largest = np.bincount(labels[labels >= 0]).argmax()
    found[unknown] = np.where(products.any(axis=1), products.argmax(axis=1), largest)
    return found

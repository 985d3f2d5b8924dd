"""Groups against labels, one or several a document: counts, shares, agreement."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from numpy.typing import ArrayLike, NDArray

    Ids = NDArray[np.intp]
    Array = NDArray[np.float64]


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


@dataclass(frozen=True, slots=True, eq=False)
class Contingency:
    """How many documents of each group have each label.

    A document may have several labels: then the counts of a group add up to more than its size.

    Attributes
    ----------
    labels : tuple
        Their values, the most frequent first; of equals, in the order of their names.
    counts : ndarray of shape (K, n_labels)
        Documents of the group with the label.
    group_sizes : ndarray of shape (K,)
        Documents of each group, those without label included.
    label_sizes : ndarray of shape (n_labels,)
        Documents of each label.
    n_unlabelled : int
        Documents without any label.
    """

    labels: tuple[Hashable, ...]
    counts: Ids
    group_sizes: Ids
    label_sizes: Ids
    n_unlabelled: int

    @property
    def share_of_group(self) -> Array:
        """Share of the group's documents that have the label, of shape (K, n_labels)."""
        return _shares(self.counts, self.group_sizes[:, None])

    @property
    def share_of_label(self) -> Array:
        """Share of the label's documents that are in the group: its columns sum to one."""
        return _shares(self.counts, self.label_sizes[None, :])


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far groups and labels are the same partition.

    Attributes
    ----------
    ari : float
        Adjusted Rand index: 1 for the same partition, 0 on average for independent ones.
    nmi : float
        Normalised mutual information, by the arithmetic mean of the entropies.
    n_documents : int
        Documents compared: those that have a group and a label.
    """

    ari: float
    nmi: float
    n_documents: int


def contingency(
    groups: ArrayLike,
    labels: Iterable[Any],
    *,
    n_groups: int | None = None,
    shares: Array | None = None,
) -> Contingency:
    """Count the labels of the documents of each group.

    Parameters
    ----------
    groups : array-like of shape (n,)
        Group of each document; documents without one (-1) are left out.
    labels : iterable of length n
        A value a document, or a list, tuple or set of values. None, NaN, an empty string and an
        empty list are no label.
    n_groups : int, default=None
        K, where the last groups may be empty.
    shares : ndarray of shape (n, K), default=None
        Shares of the groups in each document, where it can be in several: it counts in each group
        for its share, and sizes are sums of shares.

    Returns
    -------
    Contingency
        The table.

    Examples
    --------
    >>> from spheremix.reading import contingency
    >>> table = contingency([0, 0, 1], ["sea", "sky", "sky"])
    >>> table.labels, table.counts.tolist()
    (('sky', 'sea'), [[1, 1], [1, 0]])
    """
    ids, values = _paired(groups, labels)
    K = count_groups(ids, n_groups)
    kept = [(int(k), value) for k, value in zip(ids, values, strict=True) if k >= 0]
    numbers: dict[Hashable, int] = {}
    places = [(k, numbers.setdefault(one, len(numbers))) for k, value in kept for one in value]
    counts: NDArray[Any] = np.zeros((K, len(numbers)), dtype=np.intp)
    sizes: NDArray[Any] = np.bincount(ids[ids >= 0], minlength=K)
    if shares is None:
        np.add.at(counts, tuple(np.array(places, dtype=np.intp).reshape(-1, 2).T), 1)
    else:
        own = shares[ids >= 0]
        counts, sizes = counts.astype(np.float64), own.sum(axis=0)
        for share, (_, value) in zip(own, kept, strict=True):
            for one in value:
                counts[:, numbers[one]] += share
    found = list(numbers)
    totals = counts.sum(axis=0)
    order = sorted(range(len(found)), key=lambda i: (-totals[i], str(found[i])))
    return Contingency(
        tuple(found[i] for i in order),
        counts[:, order],
        sizes,
        totals[order],
        sum(not value for _, value in kept),
    )


def agreement(groups: ArrayLike, labels: Iterable[Any]) -> Agreement:
    """Compare groups with labels, or with the groups of another model.

    Parameters
    ----------
    groups : array-like of shape (n,)
        Group of each document; documents without one (-1) are left out.
    labels : iterable of length n
        A value a document; documents without one are left out. (A -1 among labels is a value.)

    Returns
    -------
    Agreement
        The indices of scikit-learn; NaN where no document is left.

    Examples
    --------
    >>> from spheremix.reading import agreement
    >>> agreement([0, 0, 1, 1], ["sea", "sea", "sky", "sky"]).ari
    1.0
    """
    ids, values = _paired(groups, labels)
    kept = [(int(k), value) for k, value in zip(ids, values, strict=True) if k >= 0 and value]
    if any(len(value) > 1 for _, value in kept):
        raise ValueError("Documents have several labels: no single partition to compare with.")
    if not kept:
        return Agreement(np.nan, np.nan, 0)
    numbers: dict[Hashable, int] = {}
    mine = [k for k, _ in kept]
    theirs = [numbers.setdefault(value[0], len(numbers)) for _, value in kept]
    with warnings.catch_warnings():
        # Many groups of few documents are no mistake here.
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        ari = float(adjusted_rand_score(theirs, mine))
        nmi = float(normalized_mutual_info_score(theirs, mine))
    return Agreement(ari, nmi, len(kept))


def _paired(groups: ArrayLike, labels: Iterable[Any]) -> tuple[Ids, list[tuple[Hashable, ...]]]:
    """Return the groups as integers, and the labels of each document, each once."""
    ids = as_groups(groups)
    values = [_values(value) for value in labels]
    if len(values) != len(ids):
        raise ValueError(f"There are {len(values)} labels for {len(ids)} documents.")
    return ids, values


def _values(value: Any) -> tuple[Hashable, ...]:
    several = isinstance(value, list | tuple | set | frozenset | np.ndarray)
    listed = list(value) if several else [value]
    return tuple(
        dict.fromkeys(
            one.item() if isinstance(one, np.generic) else one
            for one in listed
            if not is_missing(one)
        )
    )


def _shares(counts: Ids, totals: Ids) -> Array:
    """Divide, with zero for nothing out of nothing."""
    shares: Array = counts / np.where(totals > 0, totals, 1)
    return shares

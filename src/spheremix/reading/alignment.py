"""Who became what: groups of two models, or of two steps of a path, matched one to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from spheremix.metrics import count_common, jaccard
from spheremix.reading.labels import as_groups, count_groups
from spheremix.vectors import as_dense

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Match:
    """A group before, the group it became, and how similar they are."""

    before: int
    after: int
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """Groups of two models, matched one to one.

    Attributes
    ----------
    matches : tuple of Match
        By group before.
    lost : tuple of int
        Groups before that became nothing.
    new : tuple of int
        Groups after that come from nothing.
    similarities : ndarray of shape (K before, K after)
        Between all groups; read it where groups were split or merged.
    """

    matches: tuple[Match, ...]
    lost: tuple[int, ...]
    new: tuple[int, ...]
    similarities: Array

    @property
    def became(self) -> dict[int, int]:
        """Group after of each matched group before."""
        return {match.before: match.after for match in self.matches}


@dataclass(frozen=True, slots=True)
class Flow:
    """How many documents are in a group before and in a group after."""

    before: int
    after: int
    n_documents: int


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """Documents whose group changed.

    Attributes
    ----------
    documents : ndarray of int
        Their numbers.
    flows : tuple of Flow
        Between which groups, the largest flow first.
    """

    documents: Ids
    flows: tuple[Flow, ...]


def align_prototypes(before: Any, after: Any) -> Alignment:
    """Match groups by the cosines of their prototypes.

    Parameters
    ----------
    before, after : array-like or sparse of shape (K before, d) and (K after, d)
        Prototypes over the same features.

    Returns
    -------
    Alignment
        The matches whose cosines have the largest sum; those of no positive cosine are dropped.

    Examples
    --------
    >>> from spheremix.reading import align_prototypes
    >>> align_prototypes([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.8, 0.6]]).became
    {0: 1, 1: 0}
    """
    old, new = (np.atleast_2d(as_dense(one)) for one in (before, after))
    if old.shape[1] != new.shape[1]:
        raise ValueError(
            f"The prototypes have {old.shape[1]} and {new.shape[1]} features: they can "
            "only be matched over the same ones."
        )
    return _match(_unit(old) @ _unit(new).T)


def align_partitions(
    before: ArrayLike,
    after: ArrayLike,
    *,
    n_before: int | None = None,
    n_after: int | None = None,
) -> Alignment:
    """Match groups by the documents they have in common.

    Parameters
    ----------
    before, after : array-like of shape (n,)
        Groups of the same documents; those without one (-1) on either side are left out.
    n_before, n_after : int, default=None
        Numbers of groups, where the last ones may be empty.

    Returns
    -------
    Alignment
        The similarity of two groups is the share, of the documents in either, that are in both;
        the matches have the largest sum. Groups without a common document are not matched.

    Examples
    --------
    >>> from spheremix.reading import align_partitions
    >>> align_partitions([0, 0, 1, 1], [1, 1, 0, 2]).became
    {0: 1, 1: 0}
    """
    old, new = _labels(before, after)
    kept = (old >= 0) & (new >= 0)
    shape = (count_groups(old, n_before), count_groups(new, n_after))
    return _match(jaccard(count_common(old[kept], new[kept], shape)))


def moves(before: ArrayLike, after: ArrayLike, alignment: Alignment | None = None) -> Moves:
    """Return which documents changed group, and between which.

    Parameters
    ----------
    before, after : array-like of shape (n,)
        Groups of the same documents; those without one (-1) on either side are left out.
    alignment : Alignment, default=None
        A document stays if it is in the group that its own became. By default a group keeps
        its number, as along a path.

    Returns
    -------
    Moves
        Documents and flows.

    Examples
    --------
    >>> from spheremix.reading import moves
    >>> moves([0, 0, 1, 1], [0, 1, 1, 1]).flows
    (Flow(before=0, after=1, n_documents=1),)
    """
    old, new = _labels(before, after)
    kept = (old >= 0) & (new >= 0)
    expected = old.copy()
    if alignment is not None:
        table = np.full(max(old.max(initial=-1) + 1, len(alignment.similarities)), -1)
        for match in alignment.matches:
            table[match.before] = match.after
        expected[kept] = table[old[kept]]
    ids = np.flatnonzero(kept & (expected != new))
    largest = sorted(_flows(old[ids], new[ids]), key=lambda flow: -flow.n_documents)
    return Moves(ids, tuple(largest))


def flows(before: ArrayLike, after: ArrayLike) -> tuple[Flow, ...]:
    """Count the documents that each pair of groups of two levels has in common.

    These are the values of an alluvial (Sankey) diagram. Between nested levels every fine group
    has one flow; between free cuts it may have several.

    Parameters
    ----------
    before, after : array-like of shape (n,)
        Groups of the same documents; those without one (-1) on either side are left out.

    Returns
    -------
    tuple of Flow
        By group before, then after; pairs without documents are left out.

    Examples
    --------
    >>> from spheremix.reading import flows
    >>> [(flow.before, flow.after, flow.n_documents) for flow in flows([0, 0, 1, 1], [0, 1, 2, 2])]
    [(0, 0, 1), (0, 1, 1), (1, 2, 2)]
    """
    old, new = _labels(before, after)
    kept = (old >= 0) & (new >= 0)
    return _flows(old[kept], new[kept])


def _flows(before: Ids, after: Ids) -> tuple[Flow, ...]:
    pairs, counts = np.unique(np.stack([before, after]), axis=1, return_counts=True)
    return tuple(
        Flow(int(one), int(other), int(count))
        for one, other, count in zip(*pairs, counts, strict=True)
    )


def _match(similarities: Array) -> Alignment:
    """Choose the matches of the largest total similarity."""
    rows, columns = linear_sum_assignment(similarities, maximize=True)
    matches = tuple(
        Match(int(i), int(j), float(similarities[i, j]))
        for i, j in zip(rows, columns, strict=True)
        if similarities[i, j] > 0.0
    )
    left = sorted(set(range(similarities.shape[0])) - {match.before for match in matches})
    right = sorted(set(range(similarities.shape[1])) - {match.after for match in matches})
    return Alignment(matches, tuple(left), tuple(right), similarities)


def _unit(rows: Array) -> Array:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0.0, lengths, 1.0)


def _labels(before: ArrayLike, after: ArrayLike) -> tuple[Ids, Ids]:
    old, new = as_groups(before), as_groups(after)
    if old.shape != new.shape:
        raise ValueError(
            f"Groups of the same documents are needed: got shapes {old.shape} and {new.shape}."
        )
    return old, new

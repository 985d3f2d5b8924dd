"""The paper's order of features and groups, and the blocks of vocabulary it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Ids = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring features that are non-zero in exactly the same groups.

    Attributes
    ----------
    start, stop : int
        Places in the order of the features, ``stop`` excluded.
    groups : tuple of int
        Where the features are non-zero, in the order of the groups; empty for nobody's.
    """

    start: int
    stop: int
    groups: tuple[int, ...]

    @property
    def n_groups(self) -> int:
        """Groups that share the features: the paper's n_j."""
        return len(self.groups)


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Where groups and features stand in a picture of the prototypes.

    Attributes
    ----------
    groups : ndarray of shape (K,)
        Groups, row by row.
    features : ndarray of shape (d,)
        Features, column by column.
    n_sharing : ndarray of shape (d,)
        Groups that share each of these columns, falling from left to right.
    blocks : tuple of Block
        One after another, they cover all the columns.
    """

    groups: Ids
    features: Ids
    n_sharing: Ids
    blocks: tuple[Block, ...]

    @property
    def by_sharing(self) -> dict[int, slice]:
        """Columns of each number of sharing groups: what the paper draws in one hue."""
        counts, starts = np.unique(-self.n_sharing, return_index=True)
        stops = [*starts[1:], len(self.features)]
        return {
            -int(count): slice(int(start), int(stop))
            for count, start, stop in zip(counts, starts, stops, strict=True)
        }


def group_order(weights: ArrayLike) -> Ids:
    """Order groups by decreasing weight.

    Parameters
    ----------
    weights : array-like of shape (K,)
        Mixture weights or sizes.

    Returns
    -------
    ndarray of shape (K,)
        Numbers of groups; of equals, the first one first.

    Examples
    --------
    >>> from spheremix.reading import group_order
    >>> group_order([0.2, 0.5, 0.3]).tolist()
    [1, 2, 0]
    """
    return np.argsort(-np.asarray(weights, dtype=float), kind="stable")


def layout(prototypes: ArrayLike, weights: ArrayLike | None = None) -> Layout:
    """Order groups and features as the paper does, and find the blocks of one pattern.

    First come features that are non-zero in more prototypes; then by their pattern of zeros, a
    feature of the first group coming before one that is not of it, and so on; then by decreasing
    intensity, the sum of their absolute values over the prototypes; then as they come.

    Parameters
    ----------
    prototypes : array-like of shape (K, d)
        Its exact zeros are the pattern.
    weights : array-like of shape (K,), default=None
        Groups are ordered by decreasing weight, or as they come without weights.

    Returns
    -------
    Layout
        Their order, and the blocks.

    Examples
    --------
    >>> from spheremix.reading import layout
    >>> found = layout([[0.0, 0.6, 0.8], [1.0, 0.0, 0.2]])
    >>> [block.groups for block in found.blocks]
    [(0, 1), (0,), (1,)]
    """
    prototypes = np.asarray(prototypes, dtype=float)
    rows = np.arange(len(prototypes)) if weights is None else group_order(weights)
    if rows.shape != prototypes.shape[:1]:
        raise ValueError(f"weights must have one value a prototype: {len(prototypes)} are there.")
    support = prototypes[rows] != 0.0
    patterns = _patterns(support)
    counts = support.sum(axis=0)
    intensities = np.abs(prototypes).sum(axis=0)
    # The last key decides first; complements put ones before zeros.
    features = np.lexsort((-intensities, *(~word for word in patterns[::-1]), -counts))
    return Layout(rows, features, counts[features], _blocks(support, patterns, rows, features))


def _patterns(support: NDArray[np.bool_]) -> list[NDArray[np.uint64]]:
    """Return the columns as numbers of 64 bits, the first row in the highest bit of the first."""
    packed = np.packbits(support, axis=0)
    words = []
    for first in range(0, len(packed), 8):
        word = np.zeros(support.shape[1], dtype=np.uint64)
        for i, byte in enumerate(packed[first : first + 8]):
            word |= byte.astype(np.uint64) << np.uint64(56 - 8 * i)
        words.append(word)
    return words


def _blocks(
    support: NDArray[np.bool_], patterns: list[NDArray[np.uint64]], rows: Ids, features: Ids
) -> tuple[Block, ...]:
    """Cut the ordered features where the pattern changes."""
    if not features.size:
        return ()
    changes = np.any([np.diff(word[features]) != 0 for word in patterns], axis=0)
    starts = np.concatenate([[0], np.flatnonzero(changes) + 1])
    stops = np.append(starts[1:], features.size)
    members = support[:, features[starts]]
    return tuple(
        Block(int(start), int(stop), tuple(rows[member].tolist()))
        for start, stop, member in zip(starts, stops, members.T, strict=True)
    )

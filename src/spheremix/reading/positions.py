"""Where documents stand on a map: positions in the plane that keep neighbours together.

The layout is that of t-SNE (van der Maaten and Hinton, JMLR 9, 2008): documents attract their
nearest neighbours, and all documents push each other apart. Neighbours of another group attract
less, so that groups are islands with white water between them. There is nothing random in it: it
begins with the leading coordinates of the rows, and the same rows give the same map.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from spheremix.reading.neighbours import attractions, leading_coordinates, nearest_rows
from spheremix.reading.repulsion import Repulsion

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

COORDINATES = 100  # in which neighbours are looked for
NEIGHBOURS = 50
PERPLEXITY = 25.0
APART = 0.2  # attraction of a neighbour in another group, compared with one in the same
GATHERING, SPREADING = 100, 250  # steps
EXAGGERATIONS = (12.0, 1.0)  # of attractions, while documents gather and while they spread
MOMENTA = (0.5, 0.8)
START = 1e-4  # standard deviation of the first positions
LONGEST = 5.0  # step of a document
OUTER = 0.005  # share of documents at each side that may be far out
SAME = 5  # decimals in which rows with the same coordinates agree


def document_positions(
    X: Any,
    labels: ArrayLike,
    *,
    callback: Callable[[float], None] | None = None,
) -> Array:
    """Place documents in the plane so that those next to each other are alike.

    Parameters
    ----------
    X : array, sparse matrix or Directions of shape (n, d)
        The rows; they are normalised.
    labels : array-like of int of shape (n,)
        The group of each row; any other number, as -1 for noise, is a group too.
    callback : callable, default=None
        Gets the share of the work that is done, now and then.

    Returns
    -------
    ndarray of shape (n, 2)
        Between 0 and 1, both axes on one scale; the longer side of the map is the horizontal one.
        Documents with equal rows stand close together, not at one point.

    Examples
    --------
    >>> import spheremix as sm
    >>> from spheremix.reading import document_positions
    >>> X, labels, _ = sm.datasets.make_vmf_mixture(60, 5, 2, kappa=50.0, random_state=0)
    >>> positions = document_positions(X, labels)
    >>> positions.shape, bool(positions.min() >= 0.0), bool(positions.max() <= 1.0)
    ((60, 2), True, True)
    """
    groups = np.asarray(labels, dtype=np.intp)
    with threadpool_limits(1):  # sums of several threads differ in their last bits
        coordinates = leading_coordinates(X, COORDINATES)
        if len(coordinates) != len(groups):
            raise ValueError(f"There are {len(groups)} labels for {len(coordinates)} rows of X.")
        first, members, counts = _distinct(coordinates, groups)
        masses = counts.astype(np.float64)
        places = _spread_out(coordinates[first], groups[first], masses, callback)
        return _framed(_fanned_out(places, members, counts))


def _distinct(coordinates: Array, groups: Ids) -> tuple[Ids, Ids, Ids]:
    """Find equal rows: the first row of each kind, the kind of each row, and their numbers."""
    rounded = np.column_stack([coordinates.round(SAME) + 0.0, groups])
    _, first, members, counts = np.unique(
        rounded, axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)  # as they come, not as their numbers are sorted
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[members.ravel()], counts[order]


def _spread_out(
    coordinates: Array, groups: Ids, masses: Array, callback: Callable[[float], None] | None
) -> Array:
    """Let neighbours attract and all rows push each other until they have found their places."""
    n = len(coordinates)
    positions = _first_positions(coordinates)
    k = min(NEIGHBOURS, n - 1)
    if k < 2:
        return positions / START
    distances, neighbours = nearest_rows(coordinates, k)
    factors = np.where(groups[neighbours] == groups[:, None], 1.0, APART)
    pull = attractions(distances, neighbours, min(PERPLEXITY, 0.6 * k), masses, factors)
    push = Repulsion(masses)
    rows, columns = np.repeat(np.arange(n), np.diff(pull.indptr)), pull.indices
    strengths, weighted = pull.data.copy(), pull
    velocity, gains = np.zeros_like(positions), np.ones_like(positions)
    total, shorter = float(masses.sum()), min(1.0, max(0.3, (n / 1000.0) ** 0.5))
    turn, end = int(shorter * GATHERING), int(shorter * (GATHERING + SPREADING))
    for step in range(end):
        late = int(step >= turn)
        difference = positions[rows] - positions[columns]
        weighted.data = strengths / (1.0 + np.einsum("ij,ij->i", difference, difference))
        marked = np.column_stack([positions, np.ones(n)])
        sums = weighted @ marked + weighted.T @ marked
        pulled = sums[:, 2:] * positions - sums[:, :2]
        pushed, pairs = push(positions)
        slope = EXAGGERATIONS[late] * pulled / masses[:, None] - pushed / pairs
        gains = np.where((slope > 0.0) == (velocity > 0.0), 0.8 * gains, gains + 0.2)
        gains = np.maximum(gains, 0.01)
        rate = 4.0 * max(10.0, total / EXAGGERATIONS[late])
        velocity = MOMENTA[late] * velocity - rate * gains * slope
        lengths = np.linalg.norm(velocity, axis=1, keepdims=True)
        velocity *= LONGEST / np.maximum(lengths, LONGEST)
        positions = positions + velocity
        positions -= positions.mean(axis=0)
        if callback is not None and step % 10 == 9:
            callback((step + 1) / end)
    return positions


def _first_positions(coordinates: Array) -> Array:
    """Return two leading principal components, small, and a trace of noise to part equal ones."""
    centred = coordinates - coordinates.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    leading = vectors[:, : -3 if vectors.shape[1] > 2 else None : -1][:, :2]
    leading = leading * np.sign(
        leading[np.abs(leading).argmax(axis=0), np.arange(leading.shape[1])]
    )
    found = centred @ leading
    found /= max(float(found.std()), 1e-12)
    found += 0.01 * np.random.default_rng(0).standard_normal(found.shape)
    small: Array = START * found
    return small


def _fanned_out(places: Array, members: Ids, counts: Ids) -> Array:
    """Place rows that are equal around their place, in a spiral without gaps."""
    n, order = len(members), np.argsort(members, kind="stable")
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    number = np.empty(n)
    number[order] = np.arange(n) - starts
    extent = float(np.ptp(places, axis=0).max()) or 1.0
    spacing = 0.25 * extent / np.sqrt(n)
    radius, angle = spacing * np.sqrt(number / np.pi), number * np.pi * (3.0 - np.sqrt(5.0))
    offsets = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    spread: Array = places[members] + offsets
    return spread


def _gathered(positions: Array) -> Array:
    """Bring a few documents far out nearer, in their order: they would make the others small."""
    low, high = np.quantile(positions, [OUTER, 1.0 - OUTER], axis=0)
    low, high = low - 0.05 * (high - low), high + 0.05 * (high - low)
    inside = np.clip(positions, low, high)
    return inside + (positions - inside) / 5.0


def _framed(positions: Array) -> Array:
    """Turn the longer side into the horizontal one, and scale all into the unit square."""
    centred = positions - positions.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    axes = vectors[:, ::-1] * np.sign(vectors[np.abs(vectors).argmax(axis=0), [0, 1]])[::-1]
    turned = centred @ axes
    if np.ptp(turned[:, 1]) > np.ptp(turned[:, 0]):
        turned = turned[:, ::-1]
    turned = _gathered(turned)
    low, high = turned.min(axis=0), turned.max(axis=0)
    extent = float((high - low).max()) or 1.0
    framed: Array = np.clip((turned - (low + high) / 2.0) / extent + 0.5, 0.0, 1.0)
    return framed

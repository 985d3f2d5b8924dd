"""Which rows are near: a few coordinates, nearest rows, and how strongly they attract."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from spheremix.data.parts import scaled_parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

OVERSAMPLED = 10  # more columns than coordinates are asked for, so that the last ones are good
READINGS = 2  # of the rows, to find the directions
BISECTIONS = 40
ALL_PAIRS = 20_000  # rows: of more, neighbours are looked for in near cells only
CELLS = 12  # near cells in which the neighbours of a row are looked for
BLOCK = 2**24  # cosines that are held at a time


def leading_coordinates(X: Any, n_coordinates: int) -> Array:
    """Return the coordinates of unit rows in the directions that explain most of them.

    The singular vectors of the rows, found by random projections (Halko, Martinsson and Tropp,
    SIAM Review 53, 2011) from a fixed seed. Rows in fewer dimensions are given as they are.

    Parameters
    ----------
    X : array, sparse matrix or Directions of shape (n, d)
        The rows; they are normalised.
    n_coordinates : int
        How many directions.

    Returns
    -------
    ndarray of shape (n, min(d, n_coordinates))
        Inner products with orthonormal directions, the most important one first.
    """
    d = int(X.shape[1] if hasattr(X, "shape") else X.n_features)
    if d <= n_coordinates:
        return np.concatenate([_dense(rows) * scale[:, None] for rows, scale in scaled_parts(X)])
    rng = np.random.default_rng(0)
    basis = rng.standard_normal((d, min(d, n_coordinates + OVERSAMPLED)))
    for _ in range(READINGS):
        total = np.zeros_like(basis)
        for rows, scale in scaled_parts(X):
            seen = (rows @ basis) * scale[:, None]
            total += rows.T @ (seen * scale[:, None])
        basis, _ = np.linalg.qr(total)
    found = np.concatenate([(rows @ basis) * scale[:, None] for rows, scale in scaled_parts(X)])
    _, vectors = np.linalg.eigh(found.T @ found)
    vectors = vectors[:, : -n_coordinates - 1 : -1]
    largest = np.abs(vectors).argmax(axis=0)
    vectors *= np.sign(vectors[largest, np.arange(vectors.shape[1])])
    coordinates: Array = found @ vectors
    return coordinates


def _dense(rows: Any) -> Array:
    found: Array = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)
    return found


def nearest_rows(coordinates: Array, n_neighbours: int) -> tuple[Array, Ids]:
    """Find the rows with the largest cosines with each row.

    Up to 20,000 rows are all compared. Of more rows, which would take time and time again as their
    number grows, each is compared with those in the twelve cells that are nearest to its own. The
    cells are around as many rows as the square root of their number; most neighbours are found.

    Parameters
    ----------
    coordinates : ndarray of shape (n, m)
        Rows of any length.
    n_neighbours : int
        Less than n.

    Returns
    -------
    distances : ndarray of shape (n, n_neighbours)
        Between the rows at length 1, the smallest first.
    neighbours : ndarray of int of shape (n, n_neighbours)
        Numbers of rows, without the row itself.
    """
    lengths = np.linalg.norm(coordinates, axis=1, keepdims=True)
    unit = np.divide(coordinates, lengths, out=np.zeros_like(coordinates), where=lengths > 0.0)
    if len(unit) > ALL_PAIRS:
        return _in_near_cells(unit.astype(np.float32), n_neighbours)
    search = NearestNeighbors(n_neighbors=n_neighbours, algorithm="brute", n_jobs=1)
    distances, neighbours = search.fit(unit.astype(np.float32)).kneighbors()
    return distances.astype(np.float64), neighbours.astype(np.intp)


def _in_near_cells(unit: NDArray[np.float32], n_neighbours: int) -> tuple[Array, Ids]:
    """Find near rows in the cells around each row, by steps as many as n to the power of 1.5."""
    n, n_cells = len(unit), max(2, round(len(unit) ** 0.5))
    centres = unit[np.random.default_rng(0).choice(n, n_cells, replace=False)]
    step = max(1, BLOCK // n_cells)
    cells = np.concatenate(
        [(unit[i : i + step] @ centres.T).argmax(axis=1) for i in range(0, n, step)]
    )
    order = np.argsort(cells, kind="stable")
    ends = np.searchsorted(cells[order], np.arange(n_cells + 1))
    sizes = np.diff(ends)
    distances, neighbours = np.empty((n, n_neighbours)), np.empty((n, n_neighbours), dtype=np.intp)
    for cell in np.flatnonzero(sizes):
        near = np.argsort(-(centres @ centres[cell]), kind="stable")
        enough = int(np.searchsorted(np.cumsum(sizes[near]), n_neighbours + 1)) + 1
        near = near[: max(CELLS, enough)]
        others = np.concatenate([order[ends[one] : ends[one + 1]] for one in near])
        own = order[ends[cell] : ends[cell + 1]]
        for begin in range(0, len(own), max(1, BLOCK // len(others))):
            part = own[begin : begin + max(1, BLOCK // len(others))]
            cosines = unit[part] @ unit[others].T
            cosines[part[:, None] == others] = -np.inf  # not the row itself
            best = np.argpartition(-cosines, n_neighbours - 1, axis=1)[:, :n_neighbours]
            found = np.take_along_axis(cosines, best, axis=1)
            sort = np.argsort(-found, axis=1, kind="stable")
            neighbours[part] = others[np.take_along_axis(best, sort, axis=1)]
            found = np.take_along_axis(found, sort, axis=1).astype(np.float64)
            distances[part] = np.sqrt(np.maximum(2.0 - 2.0 * found, 0.0))
    return distances, neighbours


def attractions(
    distances: Array, neighbours: Ids, perplexity: float, masses: Array, factors: Array
) -> Any:
    """Return how strongly neighbours attract each other: the affinities of t-SNE.

    Row i gives its neighbours weights exp(-b_i d^2) whose entropy is log(perplexity). The weights
    of both directions are added, and all of them add up to 1.

    Parameters
    ----------
    distances, neighbours : ndarray of shape (n, k)
        Of :func:`nearest_rows`.
    perplexity : float
        The number of neighbours that count, less than k.
    masses : ndarray of shape (n,)
        How many documents a row stands for: its weights are multiplied by it.
    factors : ndarray of shape (n, k)
        What the weights are multiplied by in addition.

    Returns
    -------
    CSR array of shape (n, n)
        The weight of each pair, once: above the diagonal.
    """
    n, k = neighbours.shape
    squares = distances**2 - distances[:, :1] ** 2
    low, high = np.zeros(n), np.full(n, np.inf)
    rates = 1.0 / np.maximum(squares.mean(axis=1), 1e-12)
    for _ in range(BISECTIONS):
        weights = np.exp(-squares * rates[:, None])
        sums = weights.sum(axis=1)
        entropies = np.log(sums) + rates * (squares * weights).sum(axis=1) / sums
        wide = entropies > np.log(perplexity)
        low, high = np.where(wide, rates, low), np.where(wide, high, rates)
        rates = np.where(np.isinf(high), 2.0 * rates, (low + high) / 2.0)
    weights = np.exp(-squares * np.minimum(rates, 1e12)[:, None])
    weights *= (masses / weights.sum(axis=1))[:, None] * factors
    ends = np.arange(0, n * k + 1, k)
    one_way = sparse.csr_array((weights.ravel(), neighbours.ravel(), ends), shape=(n, n))
    both = sparse.csr_array(sparse.triu(one_way + one_way.T, 1, format="csr"))
    both.sort_indices()
    both.data /= 2.0 * both.data.sum()
    return both

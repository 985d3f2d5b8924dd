"""Where documents stand on a map: positions in the plane that keep neighbours together.

The layout is that of t-SNE (van der Maaten and Hinton, JMLR 9, 2008): documents attract their
nearest neighbours, and all documents push each other apart. Neighbours of another group attract
less, so that groups are islands with white water between them. There is nothing random in it: it
begins with the leading coordinates of the rows, and the same rows give the same map.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import fft, sparse
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from spheremix.data.parts import scaled_parts

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
# Neighbours
OVERSAMPLED = 10  # more columns than coordinates are asked for, so that the last ones are good
READINGS = 2  # of the rows, to find the directions
BISECTIONS = 40
ALL_PAIRS = 20_000  # rows: of more, neighbours are looked for in near cells only
CELLS = 12  # near cells in which the neighbours of a row are looked for
BLOCK = 2**24  # cosines that are held at a time
# Repulsion
STEP = 0.5  # between nodes, at most; the force changes over a distance of 1
LEAST = 32  # steps from end to end, at least: points that begin close together need smaller ones
MOST = 1000  # steps from end to end: a grid of more nodes takes seconds
GROWTH = 1.25  # of a grid that has become too small
STENCIL = 4  # nodes a dimension that a point is spread over


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


# Neighbours: a few coordinates, nearest rows, and how strongly they attract


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


# Repulsion


class Repulsion:
    """How points push each other apart, on a grid: all pairs at the price of a few FFTs.

    The force is the one of t-SNE: two points at a distance r push each other with r / (1 + r^2)^2.
    The points are spread over the nodes of a grid by cubic interpolation, the forces at the nodes
    are convolutions, and the forces on the points are interpolated back, after Linderman et al.
    (Nature Methods 16, 2019). The force between points closer than a step of the grid is off by up
    to a fifth, and the sum of the forces on a point by a few per cent; a grid with steps of a fifth
    takes four times as long and keeps hardly more neighbours. The grid is kept from call to call.

    Parameters
    ----------
    masses : ndarray of shape (n,)
        How many points stand at each position.
    """

    def __init__(self, masses: Array) -> None:
        self._masses = masses
        self._nodes = 0
        self._step = 0.0
        self._size = 0
        self._kernels: list[NDArray[np.complex128]] = []
        self._closeness = np.zeros((0, 0))

    def __call__(self, positions: Array) -> tuple[Array, float]:
        """Return the force on each point, and the sum of 1 / (1 + r^2) over all ordered pairs.

        Parameters
        ----------
        positions : ndarray of shape (n, 2)
            Where the points are.

        Returns
        -------
        forces : ndarray of shape (n, 2)
            Sum over the other points of (y_i - y_j) / (1 + |y_i - y_j|^2)^2.
        total : float
            Pairs of points at the same position count 1; a point with itself does not count.
        """
        low = positions.min(axis=0)
        self._prepare(float((positions.max(axis=0) - low).max()))
        places, weights = self._spread(positions - low)
        n_nodes = self._nodes
        shares = (weights * self._masses[:, None]).ravel()
        density = np.bincount(places.ravel(), shares, minlength=n_nodes**2)
        shape = (self._size, self._size)
        spectrum = fft.rfft2(density.reshape(n_nodes, n_nodes), shape)
        forces = np.empty_like(positions)
        for axis in range(2):
            field = fft.irfft2(spectrum * self._kernels[axis], shape)[:n_nodes, :n_nodes]
            forces[:, axis] = np.einsum("ij,ij->i", field.ravel()[places], weights)
        powers = spectrum.real**2 + spectrum.imag**2
        total = float(np.vdot(powers, self._closeness)) - float(self._masses.sum())
        return forces, total

    def _prepare(self, extent: float) -> None:
        """Choose the grid, and transform the forces between its nodes, unless they are there."""
        step = STEP
        while step * LEAST > max(extent, 1e-9):
            step /= 2.0
        while step * MOST < extent:
            step *= 2.0
        needed = int(np.ceil(extent / step)) + STENCIL
        if step == self._step and needed <= self._nodes <= 2 * needed:
            return
        self._step = step
        self._nodes = int(needed * GROWTH)
        self._size = fft.next_fast_len(2 * self._nodes, real=True)
        places = np.arange(self._size)
        offsets = np.where(places <= self._size // 2, places, places - self._size) * step
        rows, columns = offsets[:, None], offsets[None, :]
        closeness = 1.0 / (1.0 + rows**2 + columns**2)
        squared = closeness**2
        self._kernels = [fft.rfft2(kernel) for kernel in (rows * squared, columns * squared)]
        # A real transform has half of the frequencies: most of them stand for two.
        twice = np.full(self._size // 2 + 1, 2.0)
        twice[0] = 1.0
        if self._size % 2 == 0:
            twice[-1] = 1.0
        self._closeness = fft.rfft2(closeness).real * twice / self._size**2

    def _spread(self, positions: Array) -> tuple[NDArray[np.intp], Array]:
        """Return the sixteen nodes around each point, and the weights of a cubic interpolation."""
        scaled = positions / self._step + 1.0
        nodes = scaled.astype(np.intp)
        t = scaled - nodes
        near = np.stack(
            [
                -t * (t - 1.0) * (t - 2.0) / 6.0,
                (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0,
                -(t + 1.0) * t * (t - 2.0) / 2.0,
                (t + 1.0) * t * (t - 1.0) / 6.0,
            ],
            axis=-1,
        )
        around = np.arange(STENCIL)
        shifts = (around[:, None] * self._nodes + around).ravel()
        first = (nodes[:, 0] - 1) * self._nodes + nodes[:, 1] - 1
        weights = near[:, 0, :, None] * near[:, 1, None, :]
        return first[:, None] + shifts, weights.reshape(len(positions), -1)

"""Where documents stand on a map: positions in the plane that keep neighbours together.

The layout is that of t-SNE (van der Maaten and Hinton, JMLR 9, 2008): documents attract their
nearest neighbours, and all documents push each other apart. A few thousand documents are placed
first, beginning with their leading coordinates. The others begin among their neighbours, some at a
time, and all find their places together: the work grows little faster than the number of documents.

This map is made of the rows alone: another number of groups leaves it as it is. From there, where
groups are given, neighbours of another group attract less for some steps more. So groups are
islands with white water between them, and a document is found again close to where it was.

There is nothing random in it: the same rows give the same map, on any number of threads.
"""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import fft, sparse
from threadpoolctl import threadpool_limits

from spheremix._optional import kernels
from spheremix.data.containers import is_views
from spheremix.data.engines import resolve_threads
from spheremix.data.parts import scaled_parts
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.problem import ConvergenceWarning, NoFitError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]
    Singles = NDArray[np.float32]
    Ids = NDArray[np.intp]
    Progress = Callable[[float], None]

COORDINATES = 100  # in which neighbours are looked for
NEIGHBOURS = 50
FEWER = 15  # neighbours, of more rows than are all compared
APART = 0.2  # attraction of a neighbour in another group, compared with one in the same
PARTITIONS = (8, 32)  # groups of the rows, whatever the groups that are asked for
MEMBERS = 10  # rows for each of these groups, at least
FIRST = 20_000  # rows that are placed first, at most
RATIO = 6  # of the rows that are placed together, to those that were placed before
GATHERING, SPREADING = 100, 180  # steps of the first rows
LATER = 100  # steps of all rows once the others are among them
SORTING, PARTING = 60, 120  # steps in which groups become islands
EXAGGERATIONS = (12.0, 1.0)  # of attractions, while documents gather and while they spread
MOMENTA = (0.5, 0.8)
START = 1e-4  # standard deviation of the first positions
BESIDE = 0.1  # standard deviation of positions around the neighbours that a row begins among
LONGEST = 5.0  # step of a document
EXTENT = 100.0  # of a map before it is scaled, more or less
DECIMALS = 5  # of a position: more than any screen shows
OUTER = 0.005  # share of documents at each side that may be far out
SAME = 5  # decimals in which rows with the same coordinates agree
# Neighbours
OVERSAMPLED = 10  # more columns than coordinates are asked for, so that the last ones are good
READINGS = 2  # of the rows, to find the directions
PARTS = 32  # of the rows: one thread works on one part
BISECTIONS = 30
ALL_PAIRS = 20_000  # rows: of more, neighbours are looked for in near cells only
CELLS = 14  # near cells in which the neighbours of a row are looked for
BLOCK = 2**22  # cosines that a thread holds at a time
# Repulsion
STEP = 0.5  # between nodes, at most; the force changes over a distance of 1
LEAST = 32  # steps from end to end, at least: points that begin close together need smaller ones
MOST = 1000  # steps from end to end: a grid of more nodes takes seconds
GROWTH = 1.1  # of a grid that has become too small
STENCIL = 4  # nodes a dimension that a point is spread over


def document_positions(
    X: Any,
    labels: ArrayLike | None = None,
    *,
    n_threads: int | None = None,
    callback: Progress | None = None,
) -> Array:
    """Place documents in the plane so that those next to each other are alike.

    Parameters
    ----------
    X : array, sparse matrix or Directions of shape (n, d), or a dictionary of them by view
        The rows; they are normalised, each view by itself.
    labels : array-like of int of shape (n,), default=None
        The group of each row; any other number, as -1 for noise, is a group too. Groups become
        islands. None places the rows as they are.
    n_threads : int, default=None
        Number of threads; all cores by default. The result does not depend on it.
    callback : callable, default=None
        Gets the share of the work that is done, now and then.

    Returns
    -------
    ndarray of shape (n, 2)
        Between 0 and 1, both axes on one scale. Documents with equal rows stand close together, not
        at one point.

    Examples
    --------
    >>> import spheremix as sm
    >>> from spheremix.reading import document_positions
    >>> X, labels, _ = sm.datasets.make_vmf_mixture(60, 5, 2, kappa=50.0, random_state=0)
    >>> positions = document_positions(X, labels)
    >>> positions.shape, bool(positions.min() >= 0.0), bool(positions.max() <= 1.0)
    ((60, 2), True, True)
    """
    found = DocumentMap(X, n_threads=n_threads)
    if labels is None:
        return found.positions(callback)
    found.check_labels(labels)
    alone = found.positions(_part_of(callback, 0.0, 0.6))
    return found.islands(alone, labels, _part_of(callback, 0.6, 0.4))


class DocumentMap:
    """The map of some rows: positions of the rows alone, and groups as islands on it.

    Parameters
    ----------
    X : array, sparse matrix or Directions of shape (n, d), or a dictionary of them by view
        The rows; they are normalised, and read when they are needed.
    n_threads : int, default=None
        Number of threads; all cores by default. Results do not depend on it.
    """

    def __init__(self, X: Any, *, n_threads: int | None = None) -> None:
        self._X = X
        self._n_threads = resolve_threads(n_threads)

    def positions(self, callback: Progress | None = None) -> Array:
        """Place the rows, whatever their groups.

        Parameters
        ----------
        callback : callable, default=None
            Gets the share of the work that is done, now and then.

        Returns
        -------
        ndarray of shape (n, 2)
            As :func:`document_positions` returns them.
        """
        with threadpool_limits(1):  # sums of several threads differ in their last bits
            kinds = self._kinds
            return _framed(_fanned_out(self._places(callback), kinds.members, kinds.counts))

    def islands(
        self, positions: Array, labels: ArrayLike, callback: Progress | None = None
    ) -> Array:
        """Let groups become islands on a map of the rows.

        Parameters
        ----------
        positions : ndarray of shape (n, 2)
            Those of the rows alone.
        labels : array-like of int of shape (n,)
            The group of each row; any other number, as -1 for noise, is a group too.
        callback : callable, default=None
            Gets the share of the work that is done, now and then.

        Returns
        -------
        ndarray of shape (n, 2)
            As :func:`document_positions` returns them.
        """
        groups = self.check_labels(labels)
        with threadpool_limits(1):
            kinds = self._kinds
            if kinds.n < 4:
                return positions
            places = EXTENT * (positions[kinds.first] - 0.5)
            graph = self._graph.among(groups[kinds.first])
            schedule = _schedule(SORTING, PARTING)
            places = self._relaxed(graph, kinds.masses, places, schedule, callback)
            return _scaled(_fanned_out(places, kinds.members, kinds.counts))

    def check_labels(self, labels: ArrayLike) -> Ids:
        """Return the group of each row; refuse labels that are not those of the rows."""
        groups = np.asarray(labels, dtype=np.intp)
        n = len(self._kinds.members)
        if len(groups) != n:
            raise ValueError(f"There are {len(groups)} labels for {n} rows of X.")
        return groups

    @cached_property
    def _kinds(self) -> Kinds:
        """Rows that differ, by their coordinates."""
        with threadpool_limits(1):
            if not is_views(self._X):
                return _distinct(leading_coordinates(self._X, COORDINATES, self._n_threads))
            views = self._X.values()
            return _distinct(np.hstack([_coordinates_of_some(X, self._n_threads) for X in views]))

    @cached_property
    def _graph(self) -> Graph:
        return self._neighbours(self._kinds.n)

    def _neighbours(self, n: int) -> Graph:
        """Return the attractions among the first n rows that differ."""
        kinds = self._kinds
        k = min(NEIGHBOURS if n <= ALL_PAIRS else FEWER, n - 1)
        distances, neighbours = nearest_rows(kinds.unit[:n], k, self._n_threads)
        perplexity = 0.5 * k if k >= FEWER else 0.6 * k
        return attractions(distances, neighbours, perplexity, kinds.masses[:n], self._n_threads)

    @cached_property
    def _partitions(self) -> list[Ids]:
        """Group the rows, coarsely and finely, by what the first ones say."""
        unit = self._kinds.unit
        some: NDArray[np.bool_] = np.abs(unit).max(axis=1) > 0.0
        sample = unit[:FIRST][some[:FIRST]].astype(np.float64)
        found = []
        for n_groups in PARTITIONS:
            if len(sample) < MEMBERS * n_groups:
                continue
            model = VMFMixture(n_groups, n_init=1, random_state=0, n_threads=1)
            try:
                with warnings.catch_warnings():  # nobody asked for these groups
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    model.fit(sample)
            except NoFitError:
                continue
            groups = np.full(len(unit), -1, dtype=np.intp)
            groups[some] = model.predict(unit[some])
            found.append(groups)
        return found

    def _places(self, callback: Progress | None) -> Array:
        """Place the first rows, then more and more of them."""
        kinds = self._kinds
        sizes = [kinds.n]
        while sizes[0] > FIRST:
            sizes.insert(0, -(-sizes[0] // RATIO))
        places = _first_positions(kinds.unit[: sizes[0]])
        if kinds.n < 4:
            return places / START
        done = 0
        for size in sizes:
            graph = self._graph if size == kinds.n else self._neighbours(size)
            graph = graph.among(*(groups[:size] for groups in self._partitions))
            masses = kinds.masses[:size]
            if size == sizes[0]:
                shorter = min(1.0, max(0.3, (size / 1000.0) ** 0.5))
                schedule = _schedule(int(shorter * GATHERING), int(shorter * SPREADING))
            else:
                places = _among(graph, places)
                schedule = _schedule(0, LATER)
            follow = _part_of(callback, done / sum(sizes), size / sum(sizes))
            places = self._relaxed(graph, masses, places, schedule, follow)
            done += size
        return places

    def _relaxed(
        self,
        graph: Graph,
        masses: Array,
        places: Array,
        schedule: Sequence[tuple[float, float]],
        callback: Progress | None,
    ) -> Array:
        """Let neighbours attract and all rows push each other."""
        push = Repulsion(masses, self._n_threads)
        velocity, gains = np.zeros_like(places), np.ones_like(places)
        total = float(masses.sum())
        for step, (exaggeration, momentum) in enumerate(schedule):
            rate = 4.0 * max(10.0, total / exaggeration)
            forces = push.forces(places)
            moving = Moving(exaggeration, momentum, rate)
            places = _step(graph, forces, masses, moving, places, velocity, gains, self._n_threads)
            if callback is not None and step % 10 == 9:
                callback((step + 1) / len(schedule))
        return places


class Kinds(NamedTuple):
    """Rows that differ, in an order in which the first ones are a sample of all."""

    unit: Singles  # their coordinates at length 1, or 0
    first: Ids  # a row of each kind
    members: Ids  # the kind of each row
    counts: Ids  # rows of each kind

    @property
    def n(self) -> int:
        """How many there are."""
        return len(self.first)

    @property
    def masses(self) -> Array:
        """Return the rows of each kind, as numbers to compute with."""
        return self.counts.astype(np.float64)


def _distinct(coordinates: Singles) -> Kinds:
    """Find equal rows, by their rounded coordinates."""
    rng = np.random.default_rng(0)
    n, m = coordinates.shape
    factors = rng.integers(2**63, size=m, dtype=np.int64) * 2 + 1
    keys = np.empty(n, dtype=np.int64)
    for part in _parts(n):
        whole = np.rint(coordinates[part].astype(np.float64) * 10.0**SAME).astype(np.int64)
        keys[part] = whole @ factors  # modulo 2^64: rows that differ hardly ever agree in it
    _, first, members, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first)  # as they come,
    order = order[rng.permutation(len(order))]  # shuffled
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    first = first[order]
    unit = coordinates[first]
    lengths = np.linalg.norm(unit, axis=1, keepdims=True)
    np.divide(unit, lengths, out=unit, where=lengths > 0.0)
    return Kinds(unit, first, rank[members.ravel()], counts[order])


def _first_positions(coordinates: Singles) -> Array:
    """Return two leading principal components, small, and a trace of noise to part equal ones."""
    centred = coordinates.astype(np.float64)
    centred -= centred.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    leading = vectors[:, : -3 if vectors.shape[1] > 2 else None : -1][:, :2]
    leading = leading * np.sign(
        leading[np.abs(leading).argmax(axis=0), np.arange(leading.shape[1])]
    )
    found = np.zeros((len(centred), 2))
    found[:, : leading.shape[1]] = centred @ leading
    found /= max(float(found.std()), 1e-12)
    found += 0.01 * np.random.default_rng(0).standard_normal(found.shape)
    small: Array = START * found
    return small


def _among(graph: Graph, places: Array) -> Array:
    """Place new rows, after those that have places, among the neighbours that have one."""
    n, known = graph.n, len(places)
    pull = sparse.csr_array((graph.strengths, graph.indices, graph.indptr), shape=(n, n))
    marked = np.zeros((n, 3))
    marked[:known] = np.column_stack([places, np.ones(known)])
    left = np.arange(known, n)
    while left.size:
        sums = np.asarray(pull[left] @ marked)
        reached = sums[:, 2] > 0.0
        if not reached.any():  # neighbours of each other only: in the middle
            break
        marked[left[reached]] = sums[reached] / sums[reached, 2:]
        left = left[~reached]
    found = marked[:, :2].copy()
    found[known:] += BESIDE * np.random.default_rng(n).standard_normal((n - known, 2))
    return found


def _schedule(gathering: int, spreading: int) -> list[tuple[float, float]]:
    """Return the exaggeration of attractions and the momentum of each step."""
    early, late = zip(EXAGGERATIONS, MOMENTA, strict=True)
    return [early] * gathering + [late] * spreading


def _part_of(callback: Progress | None, begin: float, share: float) -> Progress | None:
    """Return what tells the progress of a part of the work."""
    return None if callback is None else lambda done: callback(begin + share * done)


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
    """Turn the map so that it is as wide as it is high, and scale it into the unit square.

    Between the principal axes, at 45 degrees, both coordinates have one variance.
    """
    centred = positions - positions.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    axes = vectors[:, ::-1] * np.sign(vectors[np.abs(vectors).argmax(axis=0), [0, 1]])[::-1]
    return _scaled(centred @ axes @ (np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2.0)))


def _scaled(positions: Array) -> Array:
    """Scale positions into the unit square, both axes alike."""
    near = _gathered(positions)
    low, high = near.min(axis=0), near.max(axis=0)
    extent = float((high - low).max()) or 1.0
    scaled: Array = np.clip((near - (low + high) / 2.0) / extent + 0.5, 0.0, 1.0)
    return scaled.round(DECIMALS)


# Threads: fixed parts of the rows, and results in their order


def _parts(n: int, least: int = 2**10) -> Iterator[slice]:
    """Cut n rows into parts, the same ones for any number of threads."""
    size = max(least, -(-n // PARTS))
    return (slice(i, min(i + size, n)) for i in range(0, n, size))


def _by_parts(
    function: Callable[[Any], Any], parts: Iterable[Any], n_threads: int
) -> Iterator[Any]:
    """Return what the parts give, in their order."""
    if n_threads == 1:
        yield from map(function, parts)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        yield from pool.map(function, parts)


# Neighbours: a few coordinates, nearest rows, and how strongly they attract


def leading_coordinates(X: Any, n_coordinates: int, n_threads: int = 1) -> Singles:
    """Return the coordinates of unit rows in the directions that explain most of them.

    The singular vectors of the rows, found by random projections (Halko, Martinsson and Tropp,
    SIAM Review 53, 2011) from a fixed seed. Rows in fewer dimensions are given as they are.

    Parameters
    ----------
    X : array, sparse matrix or Directions of shape (n, d)
        The rows; they are normalised.
    n_coordinates : int
        How many directions.
    n_threads : int, default=1
        Number of threads.

    Returns
    -------
    ndarray of float32 of shape (n, min(d, n_coordinates))
        Inner products with orthonormal directions, the most important one first.
    """
    d = int(X.shape[1] if hasattr(X, "shape") else X.n_features)
    if d <= n_coordinates:
        return np.concatenate(
            [(_dense(rows) * scale[:, None]).astype(np.float32) for rows, scale in scaled_parts(X)]
        )

    def readings(function: Callable[[Any, Array], Any]) -> Iterator[Any]:
        for rows, scale in scaled_parts(X):
            yield from _by_parts(
                lambda part: function(rows[part], scale[part, None]),  # noqa: B023
                _parts(len(scale)),
                n_threads,
            )

    rng = np.random.default_rng(0)
    basis = rng.standard_normal((d, min(d, n_coordinates + OVERSAMPLED)))
    for _ in range(READINGS):
        total = np.zeros_like(basis)
        for one in readings(lambda rows, scale: rows.T @ ((rows @ basis) * scale**2)):  # noqa: B023
            total += one
        basis, _ = np.linalg.qr(total)
    n = int(X.shape[0] if hasattr(X, "shape") else X.n_rows)
    found, end = np.empty((n, basis.shape[1]), dtype=np.float32), 0
    for one in readings(lambda rows, scale: (rows @ basis) * scale):
        found[end : end + len(one)] = one
        end += len(one)
    squares = np.zeros((basis.shape[1], basis.shape[1]))
    for part in _parts(len(found)):
        squares += found[part].T.astype(np.float64) @ found[part]
    _, vectors = np.linalg.eigh(squares)
    vectors = vectors[:, : -n_coordinates - 1 : -1]
    largest = np.abs(vectors).argmax(axis=0)
    vectors *= np.sign(vectors[largest, np.arange(vectors.shape[1])])
    for part in _parts(len(found)):
        found[part, :n_coordinates] = found[part] @ vectors
    return found[:, :n_coordinates]


def _coordinates_of_some(X: Any, n_threads: int) -> Singles:
    """Return the leading coordinates of the rows of one view, zeros for rows without it."""
    there = np.diff(X.indptr) > 0 if hasattr(X, "indptr") else np.any(X, axis=1)
    some = leading_coordinates(X[np.flatnonzero(there)], COORDINATES, n_threads)
    found = np.zeros((len(there), some.shape[1]), dtype=np.float32)
    found[there] = some
    return found


def _dense(rows: Any) -> Array:
    found: Array = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)
    return found


def nearest_rows(unit: Singles, n_neighbours: int, n_threads: int = 1) -> tuple[Singles, Ids]:
    """Find the rows with the largest cosines with each row.

    Up to 20,000 rows are all compared. Of more rows, which would take time and time again as their
    number grows, each is compared with those in the fourteen cells that are nearest to its own;
    most neighbours are found. There are twice as many cells as the square root of the number of
    rows, each around one of them.

    Parameters
    ----------
    unit : ndarray of float32 of shape (n, m)
        Rows at length 1.
    n_neighbours : int
        Less than n.
    n_threads : int, default=1
        Number of threads.

    Returns
    -------
    distances : ndarray of float32 of shape (n, n_neighbours)
        Between the rows, the smallest first.
    neighbours : ndarray of int of shape (n, n_neighbours)
        Numbers of rows, without the row itself.
    """
    n = len(unit)
    cosines, neighbours = (
        np.empty((n, n_neighbours), dtype=np.float32),
        np.empty((n, n_neighbours), dtype=np.intp),
    )

    def compare(rows: Ids, others: Ids | None) -> None:
        """Find the neighbours of some rows among others, which are numbered upwards, or all."""
        among = unit if others is None else unit[others]
        step = max(1, BLOCK // len(among))
        for i in range(0, len(rows), step):
            part = rows[i : i + step]
            own = part if others is None else np.searchsorted(others, part)
            best, places = _largest(unit[part] @ among.T, own, n_neighbours)
            cosines[part] = best
            neighbours[part] = places if others is None else others[places]

    if n <= ALL_PAIRS:
        tasks: Iterable[Any] = ((np.arange(n)[part], None) for part in _parts(n, 256))
    else:
        tasks = _near_cells(unit, n_neighbours, n_threads)
    for _ in _by_parts(lambda task: compare(*task), tasks, n_threads):
        pass
    return np.sqrt(np.maximum(2.0 - 2.0 * cosines, np.float32(0.0))), neighbours


def _near_cells(unit: Singles, n_neighbours: int, n_threads: int) -> Iterator[tuple[Ids, Ids]]:
    """Return the rows of each cell, and those of the cells that are nearest to it."""
    n, n_cells = len(unit), max(2, round(2.0 * len(unit) ** 0.5))
    centres = unit[np.random.default_rng(0).choice(n, n_cells, replace=False)]
    step = max(1, BLOCK // n_cells)
    nearest = lambda i: (unit[i : i + step] @ centres.T).argmax(axis=1)  # noqa: E731
    cells = np.concatenate(list(_by_parts(nearest, range(0, n, step), n_threads)))
    order = np.argsort(cells, kind="stable")
    ends = np.searchsorted(cells[order], np.arange(n_cells + 1))
    sizes = np.diff(ends)
    for cell in np.flatnonzero(sizes):
        near = np.argsort(-(centres @ centres[cell]), kind="stable")
        enough = int(np.searchsorted(np.cumsum(sizes[near]), n_neighbours + 1)) + 1
        near = near[: max(CELLS, enough)]
        others = np.concatenate([order[ends[one] : ends[one + 1]] for one in near])
        yield order[ends[cell] : ends[cell + 1]], np.sort(others)


def _largest(values: Singles, own: Ids, k: int) -> tuple[Singles, Ids]:
    """Return the largest numbers of each row, the largest first, and their columns.

    The column ``own`` of a row does not count.
    """
    if kernels is not None:
        found: tuple[Singles, Ids] = kernels.largest(values, own, k)
        return found
    values[np.arange(len(values)), own] = -np.inf
    best = np.sort(np.argpartition(-values, k - 1, axis=1)[:, :k], axis=1)
    order = np.argsort(-np.take_along_axis(values, best, axis=1), axis=1, kind="stable")
    places = np.take_along_axis(best, order, axis=1)
    return np.take_along_axis(values, places, axis=1), places


class Graph(NamedTuple):
    """How strongly rows attract their neighbours, as the arrays of a symmetric CSR matrix."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    strengths: Array  # they add up to 1

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.indptr) - 1

    @property
    def owners(self) -> Ids:
        """Return the row of each entry."""
        return np.repeat(np.arange(self.n), np.diff(self.indptr))

    def among(self, *partitions: Ids) -> Graph:
        """Return weaker attractions between groups, the mean of what several partitions say."""
        if not partitions:
            return self
        owners, factors = self.owners, np.zeros(len(self.indices))
        for groups in partitions:
            factors += np.where(groups[owners] == groups[self.indices], 1.0, APART)
        strengths = self.strengths * factors
        return self._replace(strengths=strengths / strengths.sum())


def attractions(
    distances: Singles, neighbours: Ids, perplexity: float, masses: Array, n_threads: int = 1
) -> Graph:
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
    n_threads : int, default=1
        Number of threads.

    Returns
    -------
    Graph
        The weights.
    """
    n, k = neighbours.shape

    def weigh(part: slice) -> Array:
        squares = distances[part].astype(np.float64) ** 2
        squares -= squares[:, :1]
        low, high = np.zeros(len(squares)), np.full(len(squares), np.inf)
        rates = 1.0 / np.maximum(squares.mean(axis=1), 1e-12)
        for _ in range(BISECTIONS):
            weights = np.exp(-squares * rates[:, None])
            sums = weights.sum(axis=1)
            entropies = np.log(sums) + rates * (squares * weights).sum(axis=1) / sums
            wide = entropies > np.log(perplexity)
            low, high = np.where(wide, rates, low), np.where(wide, high, rates)
            rates = np.where(np.isinf(high), 2.0 * rates, (low + high) / 2.0)
        weights = np.exp(-squares * np.minimum(rates, 1e12)[:, None])
        found: Array = weights * (masses[part] / weights.sum(axis=1))[:, None]
        return found

    weights = np.concatenate(list(_by_parts(weigh, _parts(n), n_threads)))
    ends = np.arange(0, n * k + 1, k)
    one_way = sparse.csr_array(
        (weights.ravel(), neighbours.ravel().astype(np.int32), ends), shape=(n, n)
    )
    both = sparse.csr_array(one_way + one_way.T)
    both.sort_indices()
    return Graph(
        both.indptr.astype(np.int64), both.indices.astype(np.int32), both.data / both.data.sum()
    )


# Forces


class Moving(NamedTuple):
    """How points move in a step."""

    exaggeration: float  # of attractions
    momentum: float
    rate: float


class Forces(NamedTuple):
    """How all points push each other, at the nodes of a grid."""

    x: Array  # (nodes, nodes): the first coordinate of the force
    y: Array
    low: Array  # where the grid begins
    step: float  # from node to node
    pairs: float  # the sum of 1 / (1 + r^2) over all ordered pairs of points

    def at(self, places: Array) -> Array:
        """Return the forces at points."""
        nodes, weights = _spread(places, self.low, self.step, len(self.x))
        found = [np.einsum("ij,ij->i", field.ravel()[nodes], weights) for field in (self.x, self.y)]
        return np.column_stack(found)


def _step(
    graph: Graph,
    forces: Forces,
    masses: Array,
    moving: Moving,
    places: Array,
    velocity: Array,
    gains: Array,
    n_threads: int,
) -> Array:
    """Return where the points are after one step; velocity and gains are changed."""
    if kernels is not None:
        after: Array = kernels.map_step(
            places,
            masses,
            *graph,
            forces.x,
            forces.y,
            *forces.low.tolist(),
            forces.step,
            moving.exaggeration,
            forces.pairs,
            moving.momentum,
            moving.rate,
            LONGEST,
            velocity,
            gains,
            n_threads,
        )
        return after
    owners = graph.owners
    between = places[owners] - places[graph.indices]
    weights = graph.strengths / (1.0 + np.einsum("ij,ij->i", between, between))
    pulled = np.column_stack([np.bincount(owners, weights * one, graph.n) for one in between.T])
    slope = moving.exaggeration * pulled / masses[:, None] - forces.at(places) / forces.pairs
    gains[:] = np.where((slope > 0.0) == (velocity > 0.0), 0.8 * gains, gains + 0.2)
    np.maximum(gains, 0.01, out=gains)
    velocity[:] = moving.momentum * velocity - moving.rate * gains * slope
    velocity *= LONGEST / np.maximum(np.linalg.norm(velocity, axis=1, keepdims=True), LONGEST)
    return places + velocity


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
    n_threads : int, default=1
        Number of threads.
    """

    def __init__(self, masses: Array, n_threads: int = 1) -> None:
        self._masses = masses
        self._n_threads = n_threads
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
        found = self.forces(positions)
        return found.at(positions), found.pairs

    def forces(self, positions: Array) -> Forces:
        """Return the forces at the nodes of the grid."""
        low = positions.min(axis=0)
        self._prepare(float((positions.max(axis=0) - low).max()))
        n_nodes, size = self._nodes, self._size
        lines = fft.rfft(self._density(positions, low), size, axis=1)  # the others are empty
        spectrum = fft.fft(lines, size, axis=0)

        def field(kernel: NDArray[np.complex128]) -> Array:
            lines = fft.ifft(spectrum * kernel, axis=0, overwrite_x=True)[:n_nodes]
            return np.ascontiguousarray(fft.irfft(lines, size, axis=1)[:, :n_nodes])

        x, y = _by_parts(field, self._kernels, min(2, self._n_threads))
        powers = spectrum.real**2 + spectrum.imag**2
        total = float(np.vdot(powers, self._closeness)) - float(self._masses.sum())
        return Forces(x, y, low, self._step, total)

    def _density(self, positions: Array, low: Array) -> Array:
        """Spread the points over the nodes."""
        n_nodes = self._nodes
        if kernels is not None:
            found: Array = kernels.map_density(
                positions, self._masses, *low.tolist(), self._step, n_nodes, self._n_threads
            )
            return found
        places, weights = _spread(positions, low, self._step, n_nodes)
        shares = (weights * self._masses[:, None]).ravel()
        density: Array = np.bincount(places.ravel(), shares, n_nodes**2).astype(np.float64)
        return density.reshape(n_nodes, n_nodes)

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


def _spread(places: Array, low: Array, step: float, n_nodes: int) -> tuple[Ids, Array]:
    """Return the sixteen nodes around each point, and the weights of a cubic interpolation."""
    scaled = (places - low) / step + 1.0
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
    shifts = (around[:, None] * n_nodes + around).ravel()
    first = (nodes[:, 0] - 1) * n_nodes + nodes[:, 1] - 1
    weights = near[:, 0, :, None] * near[:, 1, None, :]
    return first[:, None] + shifts, weights.reshape(len(places), -1)

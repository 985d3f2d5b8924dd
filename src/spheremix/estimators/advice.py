"""The advice on the number of groups: what is measured on the rows.

The rows are halved again and again, and each half is searched for many clusters, which are merged
to one: a tree. Cut at a number of groups and refined, it gives a group to every row. How far the
groups of different halves agree is the evidence; it is the same procedure for VMFMixtureIC, for
VMFTree and for explorations. Large data are read in a sample.

Rows without groups are made as well: they have the shape of the rows, so that a long or a heavy
cloud is not taken for groups. And what lies between two groups should be emptier than they are.
Rows of several views are made view by view: without groups, views know nothing of each other.
:mod:`spheremix.advice` says what follows from the evidence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular
from scipy.stats import rankdata

from spheremix.advice import LOOSE, NOT_DISSOLVED, Advice, Evidence, advise
from spheremix.data.open import as_directions
from spheremix.merging import merge
from spheremix.metrics import count_common, jaccard
from spheremix.models.base import DegenerateError
from spheremix.resultants import merged_resultants
from spheremix.scorer import Scorer
from spheremix.search import Partition, Search, only
from spheremix.vectors import as_dense

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from spheremix.data.base import Directions
    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel
    from spheremix.resultants import Resultants

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]
    Draw = Callable[[np.random.Generator], Any]  # of rows without groups

ADVICE = "advice"  # the value of a parameter that asks for it
N_SPLITS = 4  # times that the rows are halved
READ_ROWS = 20_000  # of large data, at most
READ_ENTRIES = 2**22  # stored entries of these rows, at most
EVERY = 10  # numbers of groups up to it are all tried, further ones in steps
STEP = 1.2
FIRST_LEAVES = 40  # of the trees; twice as many while groups still come back
MOST_LEAVES = 320
NEAR_END = 0.7  # share of the leaves from which on more are tried
STILL_BACK = 0.85  # share of the rows in groups that come back there, or better
FEW = 16  # rows for each leaf, at least
TOGETHER = 2**20  # entries of the groups that are refined at a time: a few copies of 8 MB
TOL = 3e-4  # nats a row: the groups of a half need not be known better

CHANCE_ROWS = 1200  # compared with rows without groups
CHANCE_ENTRIES = 2**22  # stored entries of them, at most; and of a dense matrix
CHANCE_SIZES = (2, 4, 8)  # and the number that is best
CHANCE_FEW = 10  # rows for each group, at least
CHANCE_SETS = 5  # of rows without groups, of each shape
EXCESS = 0.08  # share of the gain that rows without groups must not have
SPARSE = 0.5  # share of zeros from which on rows are compared as texts
WEIGHT_MAX = 10.0
N_STRETCHED = 30
VALLEY_ROWS = 4000
VALLEY_FEW = 20  # rows for each group, at least
NEIGHBOURS = 10  # whose mean cosine is the density around a row
BETWEEN = 0.2  # share of the rows of a group that are nearest to another group
ALONE = 0.95  # share of their neighbours of a group that nothing connects with others


@dataclass(slots=True, eq=False)
class Adviser:
    """Measures on rows what speaks for each number of groups.

    Attributes
    ----------
    problem : Problem
        The rows, and the model of their mixtures.
    seed : int
        Of all that is drawn.
    candidates : sequence of int or None
        Numbers of groups that may be recommended. None tries larger ones while groups come back.
    progress : callable or None
        Called with the share of the work that is done, and what is at work.
    documents : ndarray of int or None
        Number of the document of each row, where rows are passages: a half has whole documents.
    """

    problem: Problem[VMFModel]
    seed: int
    candidates: Sequence[int] | None = None
    progress: Callable[[float, str], None] | None = None
    documents: Ids | None = None

    def advise(self) -> Advice:
        """Gather the evidence, and weigh it."""
        return advise(self.evidence())

    def evidence(self) -> Evidence:
        """Return what speaks for each number of groups."""
        problem, ids = read_some(self.problem, self.seed)
        documents = self.documents
        if documents is not None and ids is not None:
            documents = documents[ids]
        n_rows = int(np.count_nonzero(problem.row_weights))
        most = max(2, min(MOST_LEAVES, n_rows // FEW, int(2.0 * n_rows**0.5)))
        asked = None if self.candidates is None else sorted(set(self.candidates))
        n_leaves = min(FIRST_LEAVES, most) if asked is None else min(max(asked), n_rows)
        numbers = numbers_up_to(n_leaves) if asked is None else asked
        found = self._measured(problem, n_leaves, numbers, documents)
        found = replace(found, of_passages=documents is not None)
        while asked is None and n_leaves < most and _goes_on(found, n_leaves):
            before, n_leaves = n_leaves, min(2 * n_leaves, most)
            further = [K for K in numbers_up_to(n_leaves) if before < K]
            found = _joined(found, self._measured(problem, n_leaves, further, documents))
        limit = "candidates" if asked is not None or most == MOST_LEAVES else "rows"
        self._tell(0.95, "rows without groups")
        best = int(found.candidates[found.fine])
        return replace(
            found,
            n_rows=n_rows,
            apart=apart_from_chance(problem, best, self.seed),
            valley=valley_between(problem, best, self.seed),
            ended_by="" if asked is None and n_leaves < most else limit,
        )

    def _measured(
        self,
        problem: Problem[VMFModel],
        n_leaves: int,
        numbers: Sequence[int],
        documents: Ids | None,
    ) -> Evidence:
        """Compare the groups of halves of the rows, for each number of groups."""
        several = [K for K in numbers if K > 1]
        seeds = np.random.default_rng([self.seed, n_leaves])
        counted = problem.row_weights > 0.0
        whole = grouped(problem, np.flatnonzero(counted), n_leaves, several, seeds, n_runs=2)
        halves: list[dict[int, Ids]] = []
        for split in range(N_SPLITS if whole else 0):
            self._tell((split + 1) / (N_SPLITS + 2), f"up to {n_leaves} groups")
            halves += [
                grouped(problem, half, n_leaves, several, seeds)
                for half in halved(problem, seeds, documents)
            ]
        if n_leaves > 2 and sum(map(bool, halves)) < 2:  # few rows, or rows that are the same
            return self._measured(problem, n_leaves // 2, numbers, documents)
        rows = []
        for K in numbers:
            own = whole.get(K)
            others = [half[K][counted] for half in halves if K in half]
            rows.append(_compared(K, None if own is None else own[counted], others))
        agreement, stability, back, n_back, largest = np.array(rows, dtype=np.float64).T
        return Evidence(
            candidates=np.array(numbers, dtype=np.intp),
            agreement=agreement,
            stability=stability,
            coming_back=back,
            n_coming_back=n_back.astype(np.intp),
            largest=largest,
            n_rows=0,
        )

    def _tell(self, share: float, what: str) -> None:
        if self.progress is not None:
            self.progress(share, what)


def numbers_up_to(most: int) -> list[int]:
    """Return the numbers of groups that are tried: all small ones, then in growing steps."""
    numbers = list(range(2, min(EVERY, most) + 1))
    while numbers[-1] < most:
        numbers.append(min(max(numbers[-1] + 1, round(STEP * numbers[-1])), most))
    return numbers


def _goes_on(found: Evidence, n_leaves: int) -> bool:
    """Return whether groups still come back, or are agreed on best, near the largest number."""
    good = (found.coming_back >= STILL_BACK) | (found.scores == found.scores.max())
    good &= found.agreement >= LOOSE
    return bool(found.candidates[good].max(initial=0) >= NEAR_END * n_leaves)


def _joined(first: Evidence, second: Evidence) -> Evidence:
    names = ("candidates", "agreement", "stability", "coming_back", "n_coming_back", "largest")
    return replace(
        first,
        **{name: np.r_[getattr(first, name), getattr(second, name)] for name in names},
    )


def read_some(problem: Problem[VMFModel], seed: int) -> tuple[Problem[VMFModel], Ids | None]:
    """Return the problem on some of the rows, drawn by the seed, where there are many; and which.

    None: all of them. Halves are parts of the rows: rows that are not had in parts are copied.
    """
    directions, rows = problem.directions, np.flatnonzero(problem.row_weights)
    most = min(READ_ROWS, int(READ_ENTRIES / entries_a_row(directions)))
    if len(rows) <= most and hasattr(directions, "part"):
        return problem, None
    if len(rows) > most:
        rows = np.sort(np.random.default_rng([seed, 0]).choice(rows, most, replace=False))
    if hasattr(directions, "part"):
        return part_of(problem, rows), rows
    own = None if problem.weights is None else problem.weights[rows]
    again = as_directions(light_rows(directions, rows), n_threads=directions.n_threads)
    return replace(problem, directions=again, weights=own), rows


def entries_a_row(directions: Directions) -> float:
    """Return the mean number of stored entries of a row; all, where an engine does not say."""
    entries = getattr(directions, "n_entries", directions.n_rows * directions.n_features)
    return max(entries / directions.n_rows, 1.0)


def light_rows(directions: Directions, ids: Ids) -> Any:
    """Return some rows; those that are mostly zeros as a sparse matrix."""
    size = max(1, CHANCE_ENTRIES // directions.n_features)
    parts = [sparse.csr_array(directions.take(ids[i : i + size])) for i in range(0, len(ids), size)]
    return lighter(sparse.vstack(parts, format="csr"))


def lighter(rows: Any) -> Any:
    """Return rows as a sparse matrix where they are mostly zeros, else as an array."""
    found = sparse.csr_array(rows)
    return found if found.nnz <= (1.0 - SPARSE) * np.prod(found.shape) else found.toarray()


def halved(
    problem: Problem[VMFModel], rng: np.random.Generator, documents: Ids | None = None
) -> tuple[Ids, Ids]:
    """Return the numbers of the rows in each of two random halves of those that count.

    Rows of one document, by its number, are in the same half.
    """
    weights = problem.row_weights
    owners = np.arange(len(weights)) if documents is None else documents
    units = rng.permutation(np.unique(owners[weights > 0.0]))
    first = np.isin(owners, units[: len(units) // 2])
    return np.flatnonzero(first & (weights > 0.0)), np.flatnonzero(~first & (weights > 0.0))


def grouped(
    problem: Problem[VMFModel],
    ids: Ids,
    n_leaves: int,
    numbers: Sequence[int],
    rng: np.random.Generator,
    n_runs: int = 1,
) -> dict[int, Ids]:
    """Search some rows for a tree; return the groups that its cuts give to all rows, by number.

    Numbers are missing where the tree has fewer leaves. Of several runs the best one counts.
    """
    part, models = part_of(problem, ids), problem.model.for_search()
    first, last = models[0], models[-1]
    seeds = [int(one) for one in rng.integers(2**31, size=n_runs)]
    weights = part.row_weights * (problem.row_weights.sum() / part.row_weights.sum())
    runs = Search(first, part.directions, weights, tol=TOL).run([n_leaves], seeds)[0]
    known = [one for one in runs if one is not None]
    groups: dict[int, Ids] = {}
    if not known:
        return groups
    tree = Merged(first, max(known, key=lambda one: one.value).resultants)
    few = [K for K in numbers if tree.n_leaves >= K]
    turns = np.cumsum(few) * problem.n_features // TOGETHER
    for turn in np.unique(turns):
        some = [K for K, one in zip(few, turns, strict=True) if one == turn]
        cuts: list[Partition | None] = [tree.cut(K) for K in some]
        for model in models:
            cuts = Search(model, part.directions, weights, tol=TOL).improved(cuts)
        for K, cut in zip(some, cuts, strict=True):
            if cut is not None:
                scorer = last.scorer(last.from_partition(cut.resultants), "hard")
                groups[K] = problem.directions.map_rows(scorer, "labels")
    return groups


def part_of(problem: Problem[VMFModel], ids: Ids) -> Problem[VMFModel]:
    """Return the problem on some rows, by numbers in increasing order."""
    directions: Any = problem.directions
    if len(ids) == directions.n_rows:
        return problem
    own = None if problem.weights is None else problem.weights[ids]
    return replace(problem, directions=directions.part(ids), weights=own)


class Merged:
    """Clusters merged to one; any number of them is a cut of this tree."""

    def __init__(self, model: VMFModel, clusters: Resultants) -> None:
        self.leaves = only(clusters, clusters.mass > 0.0)
        self.n_leaves = len(self.leaves.mass)
        self.pairs = merge(self.leaves, model.cluster_value(self.leaves), 1).pairs

    def cut(self, n_groups: int) -> Partition:
        """Return the partition into so many groups."""
        owner = np.arange(self.n_leaves)
        for a, b in self.pairs[: self.n_leaves - n_groups]:
            owner[owner == b] = a
        labels = np.unique(owner, return_inverse=True)[1]
        return Partition(merged_resultants(self.leaves, labels), np.nan, "tree", np.nan)


def _compared(K: int, own: Ids | None, others: list[Ids]) -> tuple[float, ...]:
    """Return agreement, stability, what comes back and the largest share, of K groups."""
    if K == 1:
        return np.nan, 1.0, 1.0, 1, 1.0
    if own is None or len(others) < 2:
        return np.nan, 0.0, 0.0, 0, 1.0
    shares = np.bincount(own, minlength=K) / len(own)
    similar = np.mean(
        [jaccard(count_common(own, one, (K, K))).max(axis=1) for one in others], axis=0
    )
    back = (similar >= NOT_DISSOLVED) & (shares > 0.0)
    pairs = [
        agreement_of(count_common(others[i], others[j], (K, K)))
        for i in range(len(others))
        for j in range(i)
    ]
    return (
        float(np.mean(pairs)),
        float(shares @ similar),
        float(shares[back].sum()),
        int(back.sum()),
        float(shares.max()),
    )


def agreement_of(common: Array) -> float:
    """Return the adjusted Rand index of two partitions by their common rows."""

    def pairs(counts: Array) -> float:
        return float((counts * (counts - 1.0)).sum() / 2.0)

    rows, columns, both = pairs(common.sum(axis=1)), pairs(common.sum(axis=0)), pairs(common)
    expected = rows * columns / max(pairs(common.sum()[None]), 1.0)
    most = (rows + columns) / 2.0
    return 1.0 if most == expected else (both - expected) / (most - expected)


# Rows without groups


def apart_from_chance(problem: Problem[VMFModel], n_groups: int, seed: int) -> float | None:
    """Return by how many standard deviations groups gain more than in rows without groups.

    Each shape of rows without groups counts: the least difference over the shapes, and the largest
    over the numbers of groups, which are some small ones and the given one. A number at which rows
    without groups gain nearly as much does not count, however little they vary. None where such
    rows cannot be made.
    """
    rng = np.random.default_rng([seed, 1])
    rows = _taken(problem, CHANCE_ROWS, rng)
    most = max(2, _count(rows) // CHANCE_FEW)
    sizes = sorted({min(K, most) for K in (*CHANCE_SIZES, n_groups) if K > 1})
    model = problem.model.for_search()[0]
    try:
        own = _gains(model, rows, sizes, int(rng.integers(2**31)))
        least = np.full(len(sizes), np.inf)
        for draw in draws_of(rows):
            drawn = np.array(
                [
                    _gains(model, draw(rng), sizes, int(rng.integers(2**31)))
                    for _ in range(CHANCE_SETS)
                ]
            )
            chance = drawn.mean(axis=0)
            beyond = own - chance
            spread = np.maximum(drawn.std(axis=0, ddof=1), 1e-12)
            enough = beyond > EXCESS * np.maximum(np.abs(own), np.abs(chance))
            least = np.minimum(least, np.where(enough, beyond / spread, 0.0))
    except DegenerateError:  # the rows cancel out
        return None
    return float(least[np.isfinite(least)].max(initial=0.0))


def _taken(problem: Problem[VMFModel], most: int, rng: np.random.Generator) -> Any:
    """Take some of the rows that count; those that are mostly zeros as a sparse matrix.

    Rows of several views are a dictionary of them, as an estimator takes them.
    """
    known = np.flatnonzero(problem.row_weights)
    most = max(50, min(most, int(CHANCE_ENTRIES / entries_a_row(problem.directions))))
    if len(known) > most:
        known = np.sort(rng.choice(known, most, replace=False))
    directions: Any = problem.directions
    if hasattr(directions, "take_views"):
        return {name: lighter(part) for name, part in directions.take_views(known).items()}
    return light_rows(directions, known)


def _count(rows: Any) -> int:
    """Return the number of rows, of one table or of each view."""
    table = next(iter(rows.values())) if isinstance(rows, dict) else rows
    return int(table.shape[0])


def _some(rows: Any, ids: Ids) -> Any:
    """Return some of the rows, of one table or of each view."""
    if isinstance(rows, dict):
        return {name: part[ids] for name, part in rows.items()}
    return rows[ids]


def _gains(model: VMFModel, rows: Any, sizes: Sequence[int], seed: int) -> Array:
    """Return what groups of each number gain over one group, in nats a row; NaN where none do."""
    directions = as_directions(rows, n_threads=1)
    search = Search(model, directions, tol=TOL)
    everywhere = Scorer(np.zeros((1, directions.n_features)), np.zeros(1), 0.0, "hard")
    [whole] = search.refined(directions.sweep([everywhere]))
    if whole is None:
        raise DegenerateError("vanished", 0)
    found = [partitions[0] for partitions in search.replicates(sizes, [seed])]
    values = np.array([np.nan if one is None else one.value for one in found])
    gains: Array = (values - whole.value) / directions.n_rows
    return gains


def same_words(rows: Any) -> Draw:
    """Draw texts of the same lengths, with words that are as frequent, which say nothing.

    Every row has as many different words as before. They are drawn without replacement, by the
    number of rows that have them, and their values from those that the word has.
    """
    n, d = rows.shape
    columns = sparse.csc_array(rows)
    has, lengths = np.diff(columns.indptr), np.diff(rows.indptr)
    used = np.flatnonzero(has)

    def draw(rng: np.random.Generator) -> Any:
        # The first of waiting times with these rates are a draw without replacement.
        words = [
            np.argpartition(rng.exponential(size=len(used)) / has[used], length - 1)[:length]
            for length in lengths
        ]
        drawn = used[np.concatenate(words)]
        places = columns.indptr[drawn] + (rng.random(len(drawn)) * has[drawn]).astype(np.intp)
        mixed = sparse.csr_array((columns.data[places], drawn, rows.indptr), shape=(n, d))
        mixed.sort_indices()
        sums = np.sqrt(np.add.reduceat(mixed.data**2, mixed.indptr[:-1]))
        mixed.data /= np.repeat(sums, lengths)
        return mixed

    return draw


def long_cloud(rows: Array) -> Draw:
    """Draw directions of a cloud around the origin with the shape of the rows, and no groups.

    They follow the angular central Gaussian distribution, whose likelihood Tyler's shape maximises:
    all clouds of one shape around the origin, with light or heavy tails, have these directions.
    A direction is there as often as its opposite, which makes two groups where the rows have one
    mean direction: so directions are turned until as many as of the rows are on its side.
    """
    cloud = few_rows_cloud(rows) if len(rows) < 2 * rows.shape[1] else tyler_cloud(rows)
    mean = rows.sum(axis=0)
    ahead = float(np.mean(rows @ mean > 0.0))

    def draw(rng: np.random.Generator) -> Array:
        drawn = cloud(rng)
        turned = (drawn @ mean > 0.0) != (rng.random(len(drawn)) < ahead)
        found: Array = np.where(turned[:, None], -drawn, drawn)
        return found

    return draw


def tyler_cloud(rows: Array) -> Draw:
    """Draw directions that have Tyler's shape matrix of the rows."""
    root = np.linalg.cholesky(tyler_shape(rows))
    return lambda rng: _unit(rng.normal(size=rows.shape) @ root.T)


def few_rows_cloud(rows: Array) -> Draw:
    """Draw directions whose second moments along the principal axes of the rows are theirs.

    With fewer rows than columns, or hardly more, no shape matrix can be estimated. So the very
    moments of the rows are kept: rows of an orthogonal matrix are stretched until, at length one,
    they have them.
    """
    _, singular, axes = np.linalg.svd(rows, full_matrices=False)
    moments = np.maximum(singular**2 / len(rows), 1e-12)

    def draw(rng: np.random.Generator) -> Array:
        squares = np.linalg.qr(rng.normal(size=(len(rows), len(moments))))[0]
        signs, squares = np.sign(squares), squares**2
        stretch = moments.copy()
        for _ in range(N_STRETCHED):
            parts = squares * stretch
            found = (parts / parts.sum(axis=1, keepdims=True)).mean(axis=0)
            stretch *= moments / found
            stretch /= stretch.sum()
        drawn: Array = _unit(signs * np.sqrt(squares * stretch)) @ axes
        return drawn

    return draw


def cloud_around_mean(rows: Array) -> Draw:
    """Draw rows of one cloud around the mean direction, as long and as heavy, without groups.

    In the plane that touches the sphere at the mean direction (by arc lengths) the cloud is
    elliptical: Tyler's shape, with the radii that the rows have. The rows then get the arc lengths
    that the rows have, in their order: groups off the long axes have large radii, which along the
    long axes would reach to the other side of the sphere.
    """
    total = rows.sum(axis=0)
    length = float(np.linalg.norm(total))
    if length < 1e-9 * len(rows):
        raise DegenerateError("vanished", 0)
    mean = total / length
    cosines = np.clip(rows @ mean, -1.0, 1.0)
    across = rows - cosines[:, None] * mean
    lengths = np.linalg.norm(across, axis=1, keepdims=True)
    own = np.arccos(cosines)
    plane = own[:, None] * across / np.maximum(lengths, 1e-12)
    known = lengths[:, 0] > 1e-9
    if known.sum() < 2:
        raise DegenerateError("vanished", 0)
    shape = tyler_shape(plane[known] / np.linalg.norm(plane[known], axis=1, keepdims=True))
    root = np.linalg.cholesky(shape)
    radii = np.linalg.norm(np.linalg.solve(root, plane.T), axis=0)

    def draw(rng: np.random.Generator) -> Array:
        some = rng.choice(radii, len(rows))
        drawn = _unit(rng.normal(size=rows.shape)) @ root.T * some[:, None]
        drawn -= np.outer(drawn @ mean, mean)
        arcs = np.linalg.norm(drawn, axis=1, keepdims=True)
        far = np.empty_like(arcs)
        far[np.argsort(arcs[:, 0]), 0] = np.sort(own)
        found: Array = np.cos(far) * mean + np.sin(far) * drawn / np.maximum(arcs, 1e-12)
        return found

    return draw


DENSE_SHAPES = (long_cloud, cloud_around_mean)
TEXT_SHAPES = (same_words,)


def draws_of(rows: Any) -> Iterator[Draw]:
    """Return what draws rows without groups, one for each shape.

    Of several views each has its shapes, and is drawn apart from the others. A row has nothing in
    the views in which it had nothing.
    """
    if not isinstance(rows, dict):
        for shape in TEXT_SHAPES if sparse.issparse(rows) else DENSE_SHAPES:
            yield shape(rows)
        return
    for draws in product(*(draws_with_gaps(part) for part in rows.values())):
        yield partial(_draw_views, dict(zip(rows, draws, strict=True)))


def _draw_views(draws: dict[str, Draw], rng: np.random.Generator) -> dict[str, Any]:
    return {name: draw(rng) for name, draw in draws.items()}


def draws_with_gaps(rows: Any) -> list[Draw]:
    """Return what draws the rows of one view, some of which may be zero and stay so."""
    has = np.flatnonzero(abs(rows).sum(axis=1))
    if len(has) < 2:
        return [partial(_at, rows, None)]
    place = sparse.csr_array(
        (np.ones(len(has)), (has, np.arange(len(has)))), shape=(_count(rows), len(has))
    )
    return [partial(_at, place, draw) for draw in draws_of(rows[has])]


def _at(place: Any, draw: Draw | None, rng: np.random.Generator) -> Any:
    """Draw rows to their places; without a draw, they are there."""
    return place if draw is None else place @ draw(rng)


def tyler_shape(rows: Array, n_steps: int = 30) -> Array:
    """Return Tyler's shape matrix of directions, of trace d.

    It is the fixed point of ``S = d/n sum x x' / (x' S^-1 x)``. Where there are few rows for the
    columns it is drawn to the identity, just as far as it needs to exist: a rounder cloud than the
    rows would make groups of a long one. Rows that are nearly the same would draw it to themselves
    alone: no row counts more than ``WEIGHT_MAX`` times the middle one.
    """
    n, d = rows.shape
    ridge = max(1e-3, 1.1 - n / d)  # there is a fixed point where n / d > 1 - ridge
    shape = np.eye(d)
    for _ in range(n_steps):
        root = np.linalg.cholesky(shape)
        across = solve_triangular(root, rows.T, lower=True, check_finite=False)
        weights = 1.0 / np.einsum("ij,ij->j", across, across)
        weights = np.minimum(weights, WEIGHT_MAX * np.median(weights))
        found = (rows * weights[:, None]).T @ rows
        found = (1.0 - ridge) * found * (d / np.trace(found)) + ridge * np.eye(d)
        moved = np.abs(found - shape).max()
        shape = found
        if moved < 5e-4:
            break
    return shape


def _unit(rows: Array) -> Array:
    scaled: Array = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return scaled


# What lies between groups


def valley_between(problem: Problem[VMFModel], n_groups: int, seed: int) -> float | None:
    """Return how likely a row inside a group is in denser surroundings than one between groups.

    Half of some rows is searched for groups; the other half is looked at, and the other way round.
    The density around a row is its mean cosine with its nearest rows of the other half. Within each
    group, the rows whose margin to the next group is smallest are compared with the others. It is
    1/2 where density does not fall between groups, as in one continuous cloud. None where there
    are too few rows.
    """
    rng = np.random.default_rng([seed, 2])
    rows = _with_every_view(_taken(problem, VALLEY_ROWS, rng))
    n = _count(rows)
    if n < 2 * VALLEY_FEW or n_groups < 2:
        return None
    n_groups = max(2, min(n_groups, n // VALLEY_FEW))
    mixed = rng.permutation(n)
    first, second = (_some(rows, np.sort(part)) for part in (mixed[: n // 2], mixed[n // 2 :]))
    model, run = problem.model.for_search()[0], int(rng.integers(2**31))
    found = []
    for searched, seen in ((first, second), (second, first)):
        search = Search(model, as_directions(searched, n_threads=1), tol=TOL)
        [[partition]] = search.replicates([n_groups], [run])
        if partition is None:
            continue
        prototypes, scales = _prototypes(model, partition)
        cosines = _cosines(seen, searched, scales)
        k = min(NEIGHBOURS, cosines.shape[1])
        near = np.argpartition(cosines, -k, axis=1)[:, -k:]
        density = np.take_along_axis(cosines, near, axis=1).mean(axis=1)
        owners = _cosines(searched, prototypes, scales).argmax(axis=1)
        scores = _cosines(seen, prototypes, scales)
        denser = _valley(scores, prototypes, scales, density, owners[near])
        found += [] if denser is None else [denser]
    return float(np.mean(found)) if found else None


def _with_every_view(rows: Any) -> Any:
    """Return the rows that have a part in each view: others have other densities."""
    if not isinstance(rows, dict):
        return rows
    has = [np.asarray(abs(part).sum(axis=1)).ravel() > 0.0 for part in rows.values()]
    return _some(rows, np.flatnonzero(np.all(has, axis=0)))


def _prototypes(model: Any, partition: Partition) -> tuple[Any, dict[str, float]]:
    """Return the prototypes of the clusters, and by how much the cosines of each view count.

    That is by the concentration of the view, as in the scores of the mixture. Of one view there
    is nothing to weigh.
    """
    if not hasattr(model, "views"):
        return _unit(as_dense(partition.resultants.vectors)), {}
    parameters = model.from_partition(partition.resultants)
    prototypes = as_dense(parameters.prototypes)
    parts = {
        name: prototypes[:, own] for name, own in zip(model.views.names, model.columns, strict=True)
    }
    scales = np.array(model.view_weights) * parameters.kappas.mean(axis=0)
    return parts, dict(zip(model.views.names, scales.tolist(), strict=True))


def _cosines(rows: Any, others: Any, scales: dict[str, float]) -> Array:
    """Return the cosines of rows with others; of several views, the sum of scaled ones."""
    if isinstance(rows, dict):
        parts = [scale * _cosines(rows[name], others[name], {}) for name, scale in scales.items()]
        total: Array = np.sum(parts, axis=0)
        return total
    products: Any = rows @ others.T
    return np.asarray(products.toarray() if hasattr(products, "toarray") else products)


def _distances(prototypes: Any, best: Ids, second: Ids, scales: dict[str, float]) -> Array:
    """Return how far the best and the second prototype of each row are apart, so scaled."""
    if isinstance(prototypes, dict):
        parts = [
            scale * _distances(prototypes[name], best, second, {}) ** 2
            for name, scale in scales.items()
        ]
        apart: Array = np.sqrt(np.sum(parts, axis=0))
        return apart
    found: Array = np.linalg.norm(prototypes[best] - prototypes[second], axis=1)
    return found


def _valley(
    scores: Array, prototypes: Any, scales: dict[str, float], density: Array, neighbours: Ids
) -> float | None:
    """Return the mean probability over the groups of one partition, weighted by their rows.

    ``neighbours`` are the groups of the nearest rows. It is 1 for a group that has (nearly) all of
    them where it comes nearest to another: there are no rows between the two.
    """
    order = np.argsort(scores, axis=1)
    best, second = order[:, -1], order[:, -2]
    each = np.arange(len(best))
    gaps = _distances(prototypes, best, second, scales)
    margins = (scores[each, best] - scores[each, second]) / np.maximum(gaps, 1e-12)
    total, weight = 0.0, 0
    for k in range(scores.shape[1]):
        own = np.flatnonzero(best == k)
        between = margins[own] <= np.quantile(margins[own], BETWEEN) if len(own) else own > 0
        n, m = int(between.sum()), int((~between).sum())
        if n < 2 or m < 2:
            continue
        ranks = rankdata(density[own])
        denser = 1.0 - (ranks[between].sum() - n * (n + 1) / 2.0) / (n * m)
        denser = 1.0 if np.mean(neighbours[own[between]] == k) > ALONE else denser
        total, weight = total + denser * len(own), weight + len(own)
    return total / weight if weight else None

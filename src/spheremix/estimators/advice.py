"""The advice on the number of clusters: what is measured on the rows, and in which order.

:class:`Adviser` is the only place that does so: for VMFMixtureIC, for VMFTree and for explorations,
which keep each measurement. :mod:`spheremix.advice` says what follows from the evidence.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from spheremix import em
from spheremix.advice import Advice, Evidence, advise
from spheremix.bessel import concentration
from spheremix.data.open import as_directions
from spheremix.distribution import MEAN_LENGTH_MAX, VonMisesFisher
from spheremix.estimators import validation as check
from spheremix.estimators.problem import require_one_view
from spheremix.estimators.replicates import (
    PartitionStability,
    replicate_labels,
    stability_of,
    start_of,
)
from spheremix.merging import merge
from spheremix.models.base import DegenerateError
from spheremix.scorer import Scorer
from spheremix.search import Search
from spheremix.select import CRITERIA

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from spheremix.data.base import Directions
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel

    Array = NDArray[np.float64]

ADVICE = "advice"  # the value of a parameter that asks for it
N_REPLICATES = 8  # of the rows, for the stability of each number of clusters
CHANCE_SIZES = (2, 4, 8)  # numbers of clusters that are compared with chance
CHANCE_SETS = 10  # of rows without clusters
CHANCE_STABLE = 2  # of these sets, those that are drawn again for the stability
CHANCE_REPLICATES = 4  # of each of them
MOST_ROWS = 2000  # taken from the data
MOST_ENTRIES = 2**23  # of the rows that are taken: 64 MB
SPARSE = 0.5  # share of zeros from which on rows without clusters are made by permuting columns
LEAST_RANGE = 6  # numbers of clusters are tried at least up to it

T = TypeVar("T")


class Remember(Protocol):
    """Keeps measurements: reads the one of this name, or makes and stores it."""

    def __call__(self, name: str, make: Callable[[], T], /) -> T:
        """Return the measurement of this name: a dataclass of numbers, tuples and arrays."""
        ...


@dataclass(slots=True, eq=False)
class Adviser:
    """Measures on rows what speaks for each number of clusters, and weighs it.

    Attributes
    ----------
    problem : Problem
        The rows, and the model of their mixtures.
    seeds : (int, int)
        Of the rows that are drawn again, and of the rows without clusters.
    remember : callable or None
        Called with the name of a measurement, "chance" or "stability-5", and a function that makes
        it. Without it all numbers of clusters share their sweeps.
    progress : callable or None
        Called with each number of clusters whose stability is known from now on.
    most : int or None
        Where it is given, "chance" also says which number of clusters up to it is the last one
        worth trying.
    """

    problem: Problem[VMFModel]
    seeds: tuple[int, int]
    remember: Remember | None = None
    progress: Callable[[int], None] | None = None
    most: int | None = None
    _chance: Chance | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        require_one_view(self.problem, "The advice on the number of groups")

    @classmethod
    def of(cls, problem: Problem[VMFModel], random_state: Any) -> Self:
        """Return the adviser of an estimator."""
        again, beside = check.draw_seeds(random_state, 2)
        return cls(problem, (again, beside))

    @property
    def chance(self) -> Chance:
        """What rows without clusters give."""
        if self._chance is None:
            self._chance = self._known(
                "chance", lambda: measure_chance(self.problem, self.seeds[1], self.most)
            )
        return self._chance

    def stability(self, sizes: Sequence[int]) -> dict[int, PartitionStability]:
        """Return how far the clusters of rows drawn again agree, for each number of clusters."""
        several = [size for size in sizes if size > 1]
        if self.remember is None:
            return measure_stability(self.problem, several, self.seeds[0])
        found = {}
        for size in several:
            found[size] = self.remember(f"stability-{size}", partial(self._alone, size))
            if self.progress is not None:
                self.progress(size)
        return found

    def advise(
        self,
        models: Mapping[int, VMFMixture],
        *,
        n_rows: float | None = None,
        lengths: Array | None = None,
        merge_costs: Array | None = None,
        n_folds: int = 0,
        by_label: tuple[str, float] | None = None,
    ) -> Advice:
        """Gather the evidence for the mixtures of several numbers of clusters, and weigh it.

        ``n_rows`` may be their weight; ``merge_costs``, of a tree, are those of the numbers in
        increasing order; ``lengths`` and ``by_label`` say what two clusters may be instead.
        """
        numbers, problem = sorted(models), self.problem
        each = [models[K] for K in numbers]
        stability, chance = self.stability(numbers), self.chance
        if n_rows is None:
            base = problem.weights
            n_rows = float(problem.directions.n_rows if base is None else base.sum())
        return advise(
            Evidence(
                candidates=np.array(numbers, dtype=np.intp),
                n_rows=n_rows,
                n_features=int(each[0].n_features_in_),
                log_likelihoods=np.array([model.log_likelihood_ for model in each]),
                one_cluster=chance.one_cluster,
                n_parameters=np.array([float(model.n_parameters_) for model in each]),
                criteria={name: np.array([m.criteria_[name] for m in each]) for name in CRITERIA},
                stability=np.array(
                    [stability[K].mean if K in stability else np.nan for K in numbers]
                ),
                chance=chance.stability_at(numbers),
                agreement=np.array([model.agreement_ for model in each]),
                largest=np.array([_largest_share(model.labels_) for model in each]),
                merge_costs=merge_costs,
                held_out=held_out_likelihoods(problem, numbers, n_folds, self.seeds[0])
                if n_folds
                else None,
                apart=chance.apart,
                chance_gain=chance.gain(n_rows),
                by_length=None
                if lengths is None or 2 not in models
                else split_by_length(models[2].labels_, lengths),
                by_label=by_label,
            )
        )

    def _known(self, name: str, make: Callable[[], T]) -> T:
        return make() if self.remember is None else self.remember(name, make)

    def _alone(self, size: int) -> PartitionStability:
        return measure_stability(self.problem, [size], self.seeds[0])[size]


def measure_stability(
    problem: Problem[VMFModel], sizes: Sequence[int], seed: int
) -> dict[int, PartitionStability]:
    """Draw the rows again and search for clusters in them, for each number of clusters."""
    labels = replicate_labels(problem, sizes, N_REPLICATES, seed)
    counted = slice(None) if problem.weights is None else problem.weights > 0.0
    return {size: stability_of([one[counted] for one in labels[size]]) for size in sizes}


def _largest_share(labels: NDArray[np.intp]) -> float:
    """Return the share of the largest cluster; noise has the label -1."""
    return float(np.bincount(labels + 1)[1:].max() / len(labels))


# Rows without clusters


@dataclass(frozen=True, slots=True, eq=False)
class Chance:
    """What as many rows without clusters give, beside what the rows themselves give.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of clusters that were tried; none where such rows cannot be made.
    gains : ndarray of shape (S,)
        Classification log-likelihood of the rows, a row, minus that of one cluster.
    chance_gains : ndarray of shape (D, S)
        The same for each set of rows without clusters.
    stability : ndarray of shape (S,)
        Mean adjusted Rand index of replicates of rows without clusters.
    n_taken : int
        The number of rows that were compared.
    one_cluster : float
        Log-likelihood of a mixture of one component; NaN where the rows cancel out.
    last_useful : int or None
        Largest number of clusters that is worth trying, where it was asked for.
    """

    sizes: tuple[int, ...] = ()
    gains: Array = field(default_factory=lambda: np.empty(0))
    chance_gains: Array = field(default_factory=lambda: np.empty((0, 0)))
    stability: Array = field(default_factory=lambda: np.empty(0))
    n_taken: int = 0
    one_cluster: float = float("nan")
    last_useful: int | None = None

    @property
    def apart(self) -> float | None:
        """By how many standard deviations the rows gain more than rows without clusters.

        The largest value over the numbers of clusters; None where no division was found.
        """
        if not self.sizes:
            return None
        spread = np.maximum(self.chance_gains.std(axis=0, ddof=1), 1e-12)
        apart = (self.gains - self.chance_gains.mean(axis=0)) / spread
        largest = float(np.max(apart, initial=-np.inf, where=np.isfinite(apart)))
        return largest if np.isfinite(largest) else None

    def gain(self, n_rows: float) -> float:
        """Return what a second cluster gains in so many rows without clusters, in nats a row.

        What a cluster gains by chance does not grow with the rows, so a row gains less of it.
        """
        if not self.sizes:
            return 0.0
        gain = float(np.nan_to_num(self.chance_gains[:, 0].mean()))
        return max(gain, 0.0) * self.n_taken / n_rows

    def stability_at(self, candidates: Sequence[int]) -> Array:
        """Return the stability that chance gives to each number of clusters: a line in log K."""
        known = np.isfinite(self.stability)
        if not known.any():
            return np.zeros(len(candidates))
        logs = np.log(np.array(self.sizes, dtype=float)[known])
        line = np.polyfit(logs, self.stability[known], min(1, len(logs) - 1))
        return np.clip(np.polyval(line, np.log(np.array(candidates, dtype=float))), 0.0, 0.9)


def measure_chance(problem: Problem[VMFModel], seed: int, most: int | None = None) -> Chance:
    """Compare the rows with rows without clusters, where these can be made."""
    one = one_cluster(problem)
    try:
        found = chance_of(problem, CHANCE_SIZES, seed)
    except DegenerateError:  # the rows cancel out
        return Chance(one_cluster=one, last_useful=most)
    last = None if most is None else last_useful(problem, found, most, seed)
    return replace(found, one_cluster=one, last_useful=last)


def chance_of(problem: Problem[VMFModel], sizes: Sequence[int], seed: int) -> Chance:
    """Compare some of the rows with as many rows without clusters."""
    rng = np.random.default_rng(seed)
    taken = _taken(problem.directions, problem.weights, rng)
    model = problem.model.for_search()[0]
    sizes = tuple(size for size in sizes if 3 * size <= len(taken)) or (2,)
    run = int(rng.integers(2**31))
    gains = _gains(model, as_directions(_light(taken), n_threads=1), sizes, run)
    by_chance, stabilities = [], []
    for i in range(CHANCE_SETS):
        rows = as_directions(_light(without_clusters(taken, rng)), n_threads=1)
        by_chance.append(_gains(model, rows, sizes, int(rng.integers(2**31))))
        if i < CHANCE_STABLE:
            own = replace(problem, directions=rows, weights=None)
            labels = replicate_labels(own, sizes, CHANCE_REPLICATES, int(rng.integers(2**31)))
            stabilities.append([stability_of(labels[size]).mean for size in sizes])
    stability = np.mean(stabilities, axis=0)
    return Chance(sizes, gains, np.array(by_chance), stability, len(taken))


def last_useful(problem: Problem[VMFModel], chance: Chance, most: int, seed: int) -> int:
    """Return the largest number of clusters that is worth trying, and two more to see what follows.

    Clusters of one search are merged one by one. A number is worth trying if merging two of its
    clusters loses more than a second cluster gains in rows without clusters, and more than BIC
    asks for the parameters of one cluster.
    """
    directions, model = problem.directions, problem.model.for_search()[0]
    [[found]] = Search(model, directions, problem.weights).replicates([most], [seed])
    if found is None:
        return most
    resultants, weight = found.resultants, found.resultants.weight
    n_parameters = np.count_nonzero(resultants.vectors) / most
    losses = merge(resultants, model.cluster_value(resultants), 1).losses
    return last_worth(losses, chance.gain(weight), n_parameters, weight)


def last_worth(losses: Array, chance_gain: float, n_parameters: float, weight: float) -> int:
    """Return the largest number of clusters worth trying, by the losses of merges down to one.

    ``chance_gain`` is what a second cluster gains in rows without clusters, in nats a row;
    ``n_parameters`` are those of one cluster.
    """
    least = max(chance_gain, n_parameters * np.log(max(weight, 2.0)) / (2.0 * weight))
    worth = np.flatnonzero(losses[::-1] / weight > least) + 2
    return int(min(len(losses) + 1, max(worth.max(initial=2) + 2, LEAST_RANGE)))


def without_clusters(rows: Array, rng: np.random.Generator) -> Array:
    """Return rows of length one that resemble others, but have no clusters.

    Where most coordinates are zero, as in text, each column is permuted: words keep their
    frequencies and go together by chance only. Other rows are drawn from one von Mises-Fisher
    distribution with the mean direction and the concentration of all rows.
    """
    if np.count_nonzero(rows) > (1.0 - SPARSE) * rows.size:
        total = rows.sum(axis=0)
        length = np.linalg.norm(total)
        mean = min(float(length) / len(rows), MEAN_LENGTH_MAX)
        kappa = float(concentration(rows.shape[1], mean))
        return VonMisesFisher(total / length, kappa).rvs(len(rows), rng)
    mixed = rng.permuted(rows, axis=0)
    lengths = np.linalg.norm(mixed, axis=1)
    kept: Array = mixed[lengths > 0.0] / lengths[lengths > 0.0, None]
    return kept


def _taken(directions: Directions, weights: Array | None, rng: np.random.Generator) -> Array:
    """Take some of the rows that count."""
    known = np.arange(directions.n_rows) if weights is None else np.flatnonzero(weights)
    most = max(50, min(MOST_ROWS, MOST_ENTRIES // directions.n_features))
    if len(known) > most:
        known = np.sort(rng.choice(known, most, replace=False))
    return directions.take(known)


def _light(rows: Array) -> Array | csr_array:
    """Return rows that are mostly zeros as a sparse matrix."""
    if np.count_nonzero(rows) > (1.0 - SPARSE) * rows.size:
        return rows
    return sparse.csr_array(rows)


def _gains(model: VMFModel, rows: Directions, sizes: tuple[int, ...], seed: int) -> Array:
    """Return what clusters of each size gain over one cluster, in nats a row; NaN where none do."""
    search = Search(model, rows)
    everywhere = Scorer(np.zeros((1, rows.n_features)), np.zeros(1), 0.0, "hard")
    [whole] = search.refined(rows.sweep([everywhere]))
    if whole is None:
        raise DegenerateError("vanished", 0)
    found = [partitions[0] for partitions in search.replicates(sizes, [seed])]
    values = np.array([np.nan if one is None else one.value for one in found])
    gains: Array = (values - whole.value) / rows.n_rows
    return gains


def one_cluster(problem: Problem[VMFModel]) -> float:
    """Return the log-likelihood of a mixture of one component; NaN where the rows cancel out."""
    directions, model = problem.directions, problem.model
    everywhere = Scorer(np.zeros((1, directions.n_features)), np.zeros(1), 0.0, "hard")
    [whole] = directions.sweep([everywhere], problem.weights)
    try:
        parameters = model.from_partition(whole)
    except DegenerateError:
        return float("nan")
    [found] = directions.sweep([model.scorer(parameters)], problem.weights)
    return found.log_likelihood


# Other evidence


def split_by_length(labels: NDArray[Any], lengths: Array) -> float:
    """Return the rank correlation of two clusters with lengths: 1 where one has all the long rows.

    It is twice the probability that a row of the second cluster is longer than one of the first,
    minus one; equal lengths count a half. Noise, which has the label -1, does not count.
    """
    labels, lengths = labels[labels >= 0], lengths[labels >= 0]
    second = labels == labels.max(initial=0)
    n, m = int(second.sum()), int((~second).sum())
    if not n or not m:
        return 0.0
    above = rankdata(lengths)[second].sum() - n * (n + 1) / 2.0
    return float(2.0 * above / (n * m) - 1.0)


def lengths_of(X: Any) -> Array | None:
    """Return the number of different words of each row of a sparse matrix; None for other data."""
    if not sparse.issparse(X):
        return None
    matrix: Any = X
    rows = matrix.nonzero()[0]
    counts: Array = np.bincount(rows, minlength=matrix.shape[0]).astype(np.float64)
    return counts


def held_out_likelihoods(
    problem: Problem[VMFModel], sizes: Sequence[int], n_folds: int, seed: int
) -> Array:
    """Return the mean log-likelihood of a row under mixtures of the other folds, for each size.

    Rows are dealt to the folds at random. For each fold one run of the search, and EM after it,
    fits a mixture to the rows of the others; the folds of all sizes share the sweeps of the search.
    NaN where a fold has no mixture.
    """
    rng = np.random.default_rng(seed)
    directions, model, n = problem.directions, problem.model, problem.directions.n_rows
    base = problem.row_weights
    folds = rng.permutation(np.arange(n) % n_folds)
    left_out = np.where(folds == np.arange(n_folds)[:, None], base, 0.0)
    kept = base - left_out
    first, *others = model.for_search()
    seeds = [int(one) for one in rng.integers(2**31, size=n_folds)]
    found = Search(first, directions, kept).replicates(sizes, seeds)
    for other in others:
        again = Search(other, directions, kept)
        found = [again.improved(partitions) for partitions in found]
    last = others[-1] if others else first
    means = np.full(len(sizes), np.nan)
    for i, partitions in enumerate(found):
        starts = [one for one in (start_of(last, part) for part in partitions) if one is not None]
        if len(starts) < n_folds:
            continue
        fits = em.fit(model, directions, starts, problem.settings, weights=kept)
        if all(fit.ok for fit in fits):
            swept = directions.sweep([model.scorer(fit.parameters) for fit in fits], left_out)
            means[i] = sum(one.log_likelihood for one in swept) / base.sum()
    return means

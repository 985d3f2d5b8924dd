"""What rows without clusters give: how firm their clusters seem, and what two of them gain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from spheremix.bessel import concentration
from spheremix.data.open import as_directions
from spheremix.distribution import MEAN_LENGTH_MAX, VonMisesFisher
from spheremix.estimators.replicates import replicate_labels, stability_of
from spheremix.merging import merge
from spheremix.models.base import DegenerateError
from spheremix.scorer import Scorer
from spheremix.search import Search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from spheremix.data.base import Directions
    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel

    Array = NDArray[np.float64]

MOST_ROWS = 2000  # taken from the data
MOST_ENTRIES = 2**23  # of the rows that are taken: 64 MB
SPARSE = 0.5  # share of zeros from which on rows without clusters are made by permuting columns
DRAWS = 10  # sets of rows without clusters
REPLICATES = 4  # of each of the first sets, for the stability
STABLE_SETS = 2
LEAST_RANGE = 6  # numbers of clusters are tried at least up to it


@dataclass(frozen=True, slots=True, eq=False)
class Chance:
    """What as many rows without clusters give, beside what the rows themselves give.

    Attributes
    ----------
    sizes : tuple of int
        Numbers of clusters that were tried.
    gains : ndarray of shape (S,)
        Classification log-likelihood of the rows, a row, minus that of one cluster.
    chance_gains : ndarray of shape (D, S)
        The same for each set of rows without clusters.
    stability : ndarray of shape (S,)
        Mean adjusted Rand index of replicates of rows without clusters.
    n_taken : int
        The number of rows that were compared.
    """

    sizes: tuple[int, ...]
    gains: Array
    chance_gains: Array
    stability: Array
    n_taken: int

    @property
    def apart(self) -> float:
        """By how many standard deviations the rows gain more than rows without clusters.

        The largest value over the numbers of clusters; minus infinity where no division was found.
        """
        spread = np.maximum(self.chance_gains.std(axis=0, ddof=1), 1e-12)
        apart = (self.gains - self.chance_gains.mean(axis=0)) / spread
        return float(np.max(apart, initial=-np.inf, where=np.isfinite(apart)))

    def gain(self, n_rows: float) -> float:
        """Return what a second cluster gains in so many rows without clusters, in nats a row.

        What a cluster gains by chance does not grow with the rows, so a row gains less of it.
        """
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


def chance_of(problem: Problem[VMFModel], sizes: Sequence[int], seed: int) -> Chance:
    """Compare some of the rows with as many rows without clusters."""
    rng = np.random.default_rng(seed)
    taken = _taken(problem.directions, problem.weights, rng)
    model = problem.model.for_search()[0]
    sizes = tuple(size for size in sizes if 3 * size <= len(taken)) or (2,)
    run = int(rng.integers(2**31))
    gains = _gains(model, as_directions(_light(taken), n_threads=1), sizes, run)
    by_chance, stabilities = [], []
    for i in range(DRAWS):
        rows = as_directions(_light(without_clusters(taken, rng)), n_threads=1)
        by_chance.append(_gains(model, rows, sizes, int(rng.integers(2**31))))
        if i < STABLE_SETS:
            own = replace(problem, directions=rows, weights=None)
            labels = replicate_labels(own, sizes, REPLICATES, int(rng.integers(2**31)))
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

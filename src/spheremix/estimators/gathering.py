"""The evidence for each number of clusters, gathered from fitted mixtures and their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from spheremix.estimators.chance import Chance, chance_of
from spheremix.estimators.replicates import PartitionStability, replicate_labels, stability_of
from spheremix.evidence import Evidence
from spheremix.models.base import DegenerateError
from spheremix.scorer import Scorer
from spheremix.select import CRITERIA

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel

    Array = NDArray[np.float64]

N_REPLICATES = 8
CHANCE_SIZES = (2, 4, 8)  # numbers of clusters that are compared with chance


def measure_stability(
    problem: Problem[VMFModel],
    sizes: Sequence[int],
    seed: int,
    callback: Callable[[int], None] | None = None,
) -> dict[int, PartitionStability]:
    """Draw the rows again and search for clusters in them, for each number of clusters."""
    several = [size for size in sizes if size > 1]
    labels = replicate_labels(problem, several, N_REPLICATES, seed, callback)
    counted = slice(None) if problem.weights is None else problem.weights > 0.0
    return {size: stability_of([one[counted] for one in labels[size]]) for size in several}


def measure_chance(problem: Problem[VMFModel], seed: int) -> Chance | None:
    """Compare the rows with rows without clusters; None where these cannot be made."""
    try:
        return chance_of(problem, CHANCE_SIZES, seed)
    except DegenerateError:  # the rows cancel out
        return None


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


def collect_evidence(
    models: Mapping[int, VMFMixture],
    stability: Mapping[int, PartitionStability],
    chance: Chance | None,
    *,
    one: float,
    n_rows: float,
    lengths: Array | None = None,
    merge_costs: Array | None = None,
    held_out: Array | None = None,
) -> Evidence:
    """Put together what is known of the mixtures of each number of clusters.

    ``merge_costs``, of a tree, and ``held_out`` are those of the numbers in increasing order.
    """
    candidates = np.array(sorted(models), dtype=np.intp)
    each = [models[int(K)] for K in candidates]
    first = each[0]
    expected = np.zeros(len(each)) if chance is None else chance.stability_at(candidates.tolist())
    return Evidence(
        candidates=candidates,
        n_rows=n_rows,
        n_features=int(first.n_features_in_),
        log_likelihoods=np.array([model.log_likelihood_ for model in each]),
        one_cluster=one,
        n_parameters=np.array([float(model.n_parameters_) for model in each]),
        criteria={name: np.array([m.criteria_[name] for m in each]) for name in CRITERIA},
        stability=np.array(
            [stability[int(K)].mean if int(K) in stability else np.nan for K in candidates]
        ),
        chance=expected,
        agreement=np.array([model.agreement_ for model in each]),
        largest=np.array([np.bincount(m.labels_ + 1)[1:].max() / len(m.labels_) for m in each]),
        merge_costs=merge_costs,
        held_out=held_out,
        apart=None if chance is None or not np.isfinite(chance.apart) else chance.apart,
        chance_gain=0.0 if chance is None else chance.gain(n_rows),
        by_length=None
        if lengths is None or 2 not in models
        else split_by_length(models[2].labels_, lengths),
    )


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

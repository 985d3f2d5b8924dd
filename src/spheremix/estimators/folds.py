"""The likelihood of rows that were left out: a fold is a vector of weights with zeros."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spheremix import em
from spheremix.estimators.replicates import start_of
from spheremix.search import Search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel

    Array = NDArray[np.float64]


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
    base = np.ones(n) if problem.weights is None else problem.weights
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

"""The number of components of a study: advice, and warnings about the ends of its candidates."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.advice import Advice, advise
from spheremix.errors import NotedWarning
from spheremix.estimators import validation as check
from spheremix.estimators.chance import last_worth
from spheremix.estimators.folds import held_out_likelihoods
from spheremix.estimators.gathering import (
    collect_evidence,
    measure_chance,
    measure_stability,
    one_cluster,
)
from spheremix.select import CRITERIA

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.problem import Problem
    from spheremix.hierarchy import Hierarchy
    from spheremix.models.vmf import VMFModel

ADVICE = "advice"
K_CRITERIA = (ADVICE, *CRITERIA)


def advise_on(
    problem: Problem[VMFModel],
    models: dict[int, VMFMixture],
    lengths: NDArray[np.float64] | None,
    random_state: Any,
    *,
    n_folds: int = 0,
) -> Advice:
    """Gather the evidence for the mixtures of several numbers of components, and weigh it."""
    again, beside = check.draw_seeds(random_state, 2)
    numbers = sorted(models)
    held_out = held_out_likelihoods(problem, numbers, n_folds, again) if n_folds else None
    n_rows = problem.directions.n_rows if problem.weights is None else problem.weights.sum()
    evidence = collect_evidence(
        models,
        measure_stability(problem, list(models), again),
        measure_chance(problem, beside),
        one=one_cluster(problem),
        n_rows=float(n_rows),
        lengths=lengths,
        held_out=held_out,
    )
    return advise(evidence)


def advise_on_tree(
    problem: Problem[VMFModel],
    tree: Hierarchy,
    cut: Callable[[list[int]], dict[int, VMFMixture]],
    lengths: NDArray[np.float64] | None,
    random_state: Any,
) -> Advice:
    """Gather the evidence for the cuts of a tree, and weigh it.

    The numbers of clusters are 2, 3, ... up to the last one at which merging two clusters loses
    more than chance, and two more.
    """
    again, beside = check.draw_seeds(random_state, 2)
    weight = float(tree.leaves.mass.sum())
    chance = measure_chance(problem, beside)
    most = last_worth(
        tree.losses,
        0.0 if chance is None else chance.gain(weight),
        np.count_nonzero(tree.leaves.vectors) / tree.n_leaves,
        weight,
    )
    numbers = list(range(2, most + 1))
    evidence = collect_evidence(
        cut(numbers),
        measure_stability(problem, numbers, again),
        chance,
        one=one_cluster(problem),
        n_rows=weight,
        lengths=lengths,
        merge_costs=np.diff(tree.values)[: most - 1],
    )
    return advise(evidence)


def warn_of_ends(
    best: int,
    candidates: Sequence[int],
    criterion: str,
    advice: Advice | None,
    stacklevel: int,
) -> None:
    """Warn of a number at an end of three candidates or more, and where there are no clusters."""
    if advice is not None and advice.n_clusters == 1 and best > 1:
        warnings.warn(NotedWarning(advice.recommended[0].sentence), stacklevel=stacklevel)
    tested = 1 if advice is None else 2  # numbers below which nothing is left to try
    at_an_end = best in {min(candidates), max(candidates)}
    if len(candidates) < 3 or not at_an_end or best <= tested:
        return
    largest = best == max(candidates)
    warnings.warn(
        NotedWarning(
            "{best} components are at the {end} end of the candidates, by {k_criterion} "
            "{criterion}: this is no answer yet",
            remedies=("try {other} numbers with {n_components}",),
            best=best,
            end="upper" if largest else "lower",
            criterion=criterion,
            other="larger" if largest else "smaller",
        ),
        stacklevel=stacklevel,
    )

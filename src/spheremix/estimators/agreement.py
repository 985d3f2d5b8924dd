"""How far the runs of a fit agree on the clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from spheremix.estimators.standing import standing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from spheremix.em import Fit
    from spheremix.estimators.problem import Problem
    from spheremix.estimators.starts import Start


def agreement(
    problem: Problem[Any],
    starts: Sequence[Start],
    fits: Sequence[Fit[Any] | None],
    labels: Mapping[int, NDArray[Any]] | None = None,
) -> float:
    """Return the mean adjusted Rand index of the other runs with the best one; NaN with one run.

    A run that combines two others ("cross") depends on them, and one that gives a cluster up to the
    noise ("noise") starts in another way. They can be the best run, but are not counted among the
    others. On large data, where one start goes on, it is the agreement of what the search has found
    in the rows that it read. ``labels`` has those of runs that are known, by the place of the run.
    """
    reached = [fit for fit in fits if fit is not None and fit.ok]
    if not reached:
        return float("nan")
    best = max(reached, key=lambda fit: standing(problem.model, fit))
    place = next(i for i, fit in enumerate(fits) if fit is best)
    others = {
        i: fit
        for i, (start, fit) in enumerate(zip(starts, fits, strict=True))
        if fit is not None and fit.ok and start.kind not in {"cross", "noise"} and i != place
    }
    if not others:
        return starts[place].agreement  # with those that it has outdone, or NaN
    known, own = labels or {}, partition(problem, best)
    scores: dict[int, float] = {id(best): 1.0}  # runs that met are one fit
    for i, fit in others.items():
        if id(fit) not in scores:
            found = known[i] if i in known else partition(problem, fit)
            scores[id(fit)] = float(adjusted_rand_score(own, found))
    return float(np.mean([scores[id(fit)] for fit in others.values()]))


def partition(problem: Problem[Any], fit: Fit[Any]) -> NDArray[Any]:
    """Return the clusters of the rows."""
    scorer = problem.model.scorer(fit.parameters, "hard")
    found: NDArray[Any] = scorer.clusters_of(problem.directions.map_rows(scorer, "labels"))
    return found

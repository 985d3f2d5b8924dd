"""How the solutions at each beta are started: the four strategies of the paper's section 4.2."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.estimators.problem import restarts
from spheremix.path import Follower, Step, Trail

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from spheremix.estimators.problem import Problem

    Array = NDArray[np.float64]

STRATEGIES = ("path", "dense", "random", "grid")
GRID_SIZE = 50


@dataclass(frozen=True, slots=True)
class PathProgress:
    """What a callback learns after each step of a path."""

    n_steps: int
    beta: float
    sparsity: float
    status: str


def walk(
    estimator: Any, problem: Problem, follower: Follower, trail: Trail, betas: Array | None
) -> Iterator[Step]:
    """Take the steps that the estimator's strategy asks for."""
    limits = (estimator.max_steps, estimator.max_sparsity)
    beta = trail.steps[-1].beta
    if estimator.strategy == "path":
        if betas is None:
            yield from trail.take(follower.follow(beta, trail.fit), "maximal_sparsity", *limits)
        else:
            yield from trail.take(
                follower.visit(betas[betas > beta], trail.fit), "grid_end", *limits
            )
        return
    if betas is None:
        scout = Trail.begin(trail.fit)
        for _ in scout.take(follower.follow(0.0, trail.fit), "maximal_sparsity", *limits):
            pass
        betas = np.array([step.beta for step in scout.steps])
        if estimator.strategy == "grid":
            betas = np.linspace(0.0, betas[-1], GRID_SIZE)
    if estimator.strategy == "random":
        yield from _from_random_starts(estimator, problem, follower, trail, betas[betas > beta])
    else:
        route = follower.visit(betas[betas > beta], trail.fit, from_dense=True)
        yield from trail.take(route, "grid_end", *limits)


def _from_random_starts(
    estimator: Any, problem: Problem, follower: Follower, trail: Trail, betas: Array
) -> Iterator[Step]:
    trail.status = "grid_end"
    for beta in betas:
        model = follower.at(float(beta))
        try:
            fit, runs = restarts(estimator, replace(problem, model=model), None)
        except RuntimeError:
            trail.status = "no_restart_converged"
            return
        n_converged = sum(run.status == "converged" for run in runs)
        trail.steps.append(Step.of(float(beta), fit, n_converged))
        trail.fit = fit
        yield trail.steps[-1]

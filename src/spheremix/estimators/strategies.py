"""How the solutions at each beta are started: the four strategies of the paper's section 4.2."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.estimators.problem import NoFitError, restarts
from spheremix.path import Trail

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel
    from spheremix.path import Follower, Step

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
    trail: Trail  # all the steps: stored, they are where a path can go on


def walk(
    estimator: Any,
    problem: Problem[VMFModel],
    follower: Follower,
    trail: Trail,
    betas: Array | None,
) -> Iterator[Step]:
    """Take the steps that the estimator's strategy asks for."""
    limits = (estimator.max_steps, estimator.max_sparsity)
    beta = trail.steps[-1].beta
    if estimator.strategy == "path":
        if betas is None:
            route, end = follower.follow(beta, trail.fit), "maximal_sparsity"
        else:
            route, end = follower.visit(betas[betas > beta], trail.fit), "grid_end"
        yield from trail.take(follower, route, end, *limits)
        return
    if betas is None:
        scout = Trail.begin(follower, trail.dense)
        route = follower.follow(0.0, trail.dense)
        # A grid is laid over the whole path, however few of its values are then visited.
        reach = (None, 1.0) if estimator.strategy == "grid" else limits
        for _ in scout.take(follower, route, "maximal_sparsity", *reach):
            pass
        betas = np.array([step.beta for step in scout.steps])
        if estimator.strategy == "grid":
            betas = np.linspace(0.0, betas[-1], GRID_SIZE)
    if estimator.strategy == "random":
        yield from _from_random_starts(estimator, problem, follower, trail, betas[betas > beta])
    else:
        route = follower.visit(betas[betas > beta], trail.dense, from_dense=True)
        yield from trail.take(follower, route, "grid_end", *limits)


def _from_random_starts(
    estimator: Any, problem: Problem[VMFModel], follower: Follower, trail: Trail, betas: Array
) -> Iterator[Step]:
    for beta in betas:
        if trail.is_over(estimator.max_steps, estimator.max_sparsity):
            return
        model = follower.at(float(beta))
        try:
            fit, runs = restarts(estimator, replace(problem, model=model), None)
        except NoFitError:
            trail.status = "no_restart"
            return
        n_converged = sum(run.status == "converged" for run in runs)
        yield trail.add(follower.summarise(float(beta), fit, n_converged), fit)
    trail.status = "grid_end"

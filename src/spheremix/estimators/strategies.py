"""How the solutions at each beta are started: the four strategies of the paper's section 4.2."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.estimators.problem import NoFitError, restarts
from spheremix.path import PathState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel
    from spheremix.path import PathPoint, PathSolver

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
    state: PathState  # all the steps: stored, they are where a path can go on


def take_steps(
    estimator: Any,
    problem: Problem[VMFModel],
    solver: PathSolver,
    state: PathState,
    betas: Array | None,
) -> Iterator[PathPoint]:
    """Take the steps that the estimator's strategy asks for."""
    limits = (estimator.max_steps, estimator.max_sparsity)
    beta = state.steps[-1].beta
    if estimator.strategy == "path":
        if betas is None:
            route, end = solver.follow(beta, state.fit), "maximal_sparsity"
        else:
            route, end = solver.visit(betas[betas > beta], state.fit), "grid_end"
        yield from state.take(solver, route, end, *limits)
        return
    if betas is None:
        scout = PathState.begin(solver, state.dense)
        route = solver.follow(0.0, state.dense)
        # A grid is laid over the whole path, however few of its values are then visited.
        reach = (None, 1.0) if estimator.strategy == "grid" else limits
        for _ in scout.take(solver, route, "maximal_sparsity", *reach):
            pass
        betas = np.array([step.beta for step in scout.steps])
        if estimator.strategy == "grid":
            betas = np.linspace(0.0, betas[-1], GRID_SIZE)
    if estimator.strategy == "random":
        yield from _from_random_starts(estimator, problem, solver, state, betas[betas > beta])
    else:
        route = solver.visit(betas[betas > beta], state.dense, from_dense=True)
        yield from state.take(solver, route, "grid_end", *limits)


def _from_random_starts(
    estimator: Any, problem: Problem[VMFModel], solver: PathSolver, state: PathState, betas: Array
) -> Iterator[PathPoint]:
    for beta in betas:
        if state.is_over(estimator.max_steps, estimator.max_sparsity):
            return
        model = solver.at(float(beta))
        try:
            outcome = restarts(estimator, replace(problem, model=model), None)
        except NoFitError:
            state.status = "no_restart"
            return
        n_converged = sum(run.status == "converged" for run in outcome.runs)
        fit = outcome.best
        yield state.add(solver.summarise(float(beta), fit, n_converged), fit)
    state.status = "grid_end"

"""How a path is followed; each beta is started by one of the paper's four strategies (4.2)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from spheremix.em import Remembering
from spheremix.errors import NotedWarning, ParameterError
from spheremix.estimators.problem import NoFitError
from spheremix.estimators.restarts import restarts, warn_of_limit
from spheremix.path import PathSolver, PathState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from spheremix.estimators.options import MixtureOptions, PathOptions
    from spheremix.estimators.problem import Problem
    from spheremix.estimators.restarts import Restart
    from spheremix.models.vmf import VMFModel
    from spheremix.path import PathPoint

    Array = NDArray[np.float64]

GRID_SIZE = 50


@dataclass(frozen=True, slots=True)
class PathProgress:
    """What a callback learns after each step of a path."""

    n_steps: int
    beta: float
    sparsity: float
    status: str
    state: PathState  # all the steps: stored, they are where a path can go on
    runs: list[Restart]  # the dense restarts


def path_solver(
    options: MixtureOptions, route: PathOptions, problem: Problem[VMFModel]
) -> PathSolver:
    """Return what solves the problem at each beta."""
    rows = problem.directions
    return PathSolver(
        problem.model,
        rows,
        problem.weights,
        problem.settings,
        route.min_relative_increase,
        route.beta_min_ratio,
        options.zero_tol,
        rows.remember() if isinstance(rows, Remembering) else None,
    )


def follow(
    options: MixtureOptions,
    route: PathOptions,
    problem: Problem[VMFModel],
    solver: PathSolver,
    state: PathState,
    runs: list[Restart],
) -> None:
    """Take all steps of a path and tell the callback of each; Ctrl-C ends it with what there is."""
    try:
        for step in take_steps(options, route, problem, solver, state):
            _tell(options, state, step, runs)
        if route.refine is not None:
            for step in state.refine(solver, route.refine):
                _tell(options, state, step, runs)
    except KeyboardInterrupt:
        state.status = "interrupted"


def _tell(options: MixtureOptions, state: PathState, step: PathPoint, runs: list[Restart]) -> None:
    n_steps = len(state.steps)
    if options.callback is not None:
        options.callback(PathProgress(n_steps, step.beta, step.sparsity, step.status, state, runs))
    if options.verbose and n_steps % 100 == 0:
        print(f"step {n_steps}: beta {step.beta:.4g}, sparsity {step.sparsity:.3f}")  # noqa: T201


def take_steps(
    options: MixtureOptions,
    route: PathOptions,
    problem: Problem[VMFModel],
    solver: PathSolver,
    state: PathState,
) -> Iterator[PathPoint]:
    """Take the steps that the strategy asks for."""
    limits = (route.max_steps, route.max_sparsity)
    beta, betas = state.steps[-1].beta, route.betas
    if route.strategy == "path":
        if betas is None:
            visits, end = solver.follow(beta, state.fit), "maximal_sparsity"
        else:
            visits, end = solver.visit(betas[betas > beta], state.fit), "grid_end"
        yield from state.take(solver, visits, end, *limits)
        return
    if betas is None:
        scout = PathState.begin(solver, state.dense)
        visits = solver.follow(0.0, state.dense)
        # A grid is laid over the whole path, however few of its values are then visited.
        reach = (None, 1.0) if route.strategy == "grid" else limits
        for _ in scout.take(solver, visits, "maximal_sparsity", *reach):
            pass
        betas = np.array([step.beta for step in scout.steps])
        if route.strategy == "grid":
            betas = np.linspace(0.0, betas[-1], GRID_SIZE)
    betas = betas[betas > beta]
    if route.strategy == "random":
        yield from _from_random_starts(options, route, problem, solver, state, betas)
    else:
        visits = solver.visit(betas, state.dense, from_dense=True)
        yield from state.take(solver, visits, "grid_end", *limits)


def _from_random_starts(
    options: MixtureOptions,
    route: PathOptions,
    problem: Problem[VMFModel],
    solver: PathSolver,
    state: PathState,
    betas: Array,
) -> Iterator[PathPoint]:
    for beta in betas:
        if state.is_over(route.max_steps, route.max_sparsity):
            return
        model = solver.at(float(beta))
        try:
            outcome = restarts(options, replace(problem, model=model), None)
        except NoFitError:
            state.status = "no_restart"
            return
        converged = count_converged(outcome.runs)
        yield state.add(solver, float(beta), outcome.best, converged, anew=True)
    state.status = "grid_end"


def count_converged(runs: list[Restart]) -> int:
    """Count the restarts that converged."""
    return sum(run.status == "converged" for run in runs)


def warn_of_steps(state: PathState, max_iter: int, stacklevel: int = 3) -> None:
    """Warn of an interrupted path, of steps whose EM was stopped, and of refits that failed."""
    statuses = [step.status for step in state.steps]
    refits = [refit.status for refit in state.refits or state.steps]
    if state.status == "interrupted":
        warnings.warn(
            NotedWarning(
                "The path was interrupted after {n} steps, which are kept",
                remedies=("fit it (of a study, best_path_) with {warm_start=True} to go on",),
                n=len(statuses),
            ),
            stacklevel=stacklevel,
        )
    unfinished = sum("max_iter" in both for both in zip(statuses, refits, strict=True))
    if unfinished:
        where = f" at {unfinished} of {len(statuses)} steps"
        warn_of_limit(max_iter, where, stacklevel=stacklevel + 1)
    lost = sum(not refit.ok for refit in state.refits)
    if lost:
        warnings.warn(
            NotedWarning(
                "{relaxed}: a component was lost when {lost} of {steps} steps were refitted on "
                "their supports; these steps keep their penalised mixtures",
                remedies=("lower {n_components}", "set {relaxed=False}"),
                lost=lost,
                steps=len(statuses),
            ),
            stacklevel=stacklevel,
        )


def go_on(
    state: PathState, problem: Problem[VMFModel], solver: PathSolver, route: PathOptions
) -> PathState:
    """Return the state of the previous call, if it belongs to this problem."""
    shape = (problem.n_components, problem.n_features)
    if state.steps[0].prototypes.shape != shape:
        raise _cannot_go_on("has another number of components or features")
    if not state.model.estimates_as(problem.model):
        raise _cannot_go_on(
            "had another {kappa}, {kappa_max}, {kappa_prior}, {noise}, {m_step}, {kappa_solver}, "
            "{feature_weights}, {seeds}, {seed_weight} or {labels}"
        )
    if state.relaxed != route.relaxed:
        raise _cannot_go_on("had another {relaxed}")
    # The same rows and weights give the very bits that the last step was left with.
    scorer = problem.model.scorer(state.fit.parameters, solver.settings.e_step)
    (again,) = problem.directions.sweep([scorer], problem.weights)
    if not np.isclose(again.log_likelihood, state.fit.resultants.log_likelihood, rtol=1e-9):
        raise _cannot_go_on("had other rows, weights or {e_step}")
    return state.copy(problem.model)


def _cannot_go_on(why: str) -> ParameterError:
    """Refuse to go on with the path of the previous call."""
    return ParameterError(
        f"{{warm_start}}: the previous path {why}", remedies=("set {warm_start=False}",)
    )

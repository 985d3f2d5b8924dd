"""The path that begins at a dense mixture which is fitted already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spheremix.estimators.fitted import set_path_attributes
from spheremix.estimators.noise import label_chosen
from spheremix.estimators.restarts import restarts
from spheremix.estimators.strategies import count_converged, follow, path_solver, warn_of_steps
from spheremix.path import PathState

if TYPE_CHECKING:
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.options import MixtureOptions, PathOptions
    from spheremix.estimators.path import VMFPath
    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel


def follow_from(
    options: MixtureOptions,
    route: PathOptions,
    problem: Problem[VMFModel],
    dense: VMFMixture,
    path: VMFPath,
) -> VMFPath:
    """Follow the path from a dense mixture, and set the fitted attributes of the estimator."""
    start = problem.model.parameters(dense.prototypes_, dense.kappas_, dense.weights_)
    solver = path_solver(options, route, problem)
    again = restarts(options, problem, start)
    converged = count_converged(again.runs)
    state = PathState.begin(solver, again.best, converged, relaxed=route.relaxed)
    follow(options, route, problem, solver, state, dense.runs_)
    set_path_attributes(
        path,
        state,
        dense.runs_,
        dense.agreement_,
        problem.columns,
        lambda one, first: label_chosen(one, first, problem.directions, problem.weights),
    )
    warn_of_steps(state, options.max_iter, stacklevel=5)
    return path

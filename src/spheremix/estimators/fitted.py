"""The fitted attributes of estimators, out of what EM or a path has reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.estimators import validation as check
from spheremix.models.vmf import count_distinct
from spheremix.path import exit_betas
from spheremix.select import count_from_sizes, criteria

if TYPE_CHECKING:
    from spheremix.em import Fit
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.path import VMFPath
    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel, VMFParameters
    from spheremix.path import PathState


def set_fitted_attributes(
    mixture: VMFMixture, problem: Problem[VMFModel], best: Fit[VMFParameters]
) -> None:
    """Set what a mixture knows after a fit, but its restarts."""
    check.remember_columns(mixture, problem.columns)
    model, directions = problem.model, problem.directions
    mixture.model_, mixture.kappa_max_ = model, model.kappa_max
    mixture.prototypes_ = best.parameters.prototypes
    mixture.kappas_ = best.parameters.kappas
    mixture.weights_ = best.parameters.weights
    mixture.status_, mixture.n_iter_ = best.status, best.n_iter
    mixture.objective_, mixture.stationarity_gap_ = best.objective, best.gap
    mixture.kkt_residual_ = model.kkt_residual(best.resultants, best.parameters)
    mixture.n_distinct_prototypes_ = count_distinct(mixture.prototypes_)
    soft = best.resultants
    if mixture.e_step == "hard":  # its sweep gives the likelihood of the completed data
        (soft,) = directions.sweep([mixture.scorer_], problem.weights)
    mixture.log_likelihood_ = soft.log_likelihood
    mixture.criteria_ = criteria(
        soft.log_likelihood,
        mixture.n_parameters_,
        soft.weight,
        directions.n_features,
        soft.entropy,
    )
    mixture.labels_ = directions.map_rows(mixture.scorer_, "labels")


def set_path_attributes(path: VMFPath, state: PathState, columns: dict[str, Any]) -> None:
    """Set what a path knows of its steps, but the labels, which need the rows."""
    check.remember_columns(path, columns)
    steps = state.steps
    path.state_, path.status_, path.kappa_max_ = state, state.status, state.model.kappa_max
    path.betas_ = np.array([step.beta for step in steps])
    path.log_likelihoods_ = np.array([step.log_likelihood for step in steps])
    path.entropies_ = np.array([step.entropy for step in steps])
    path.objectives_ = np.array([step.objective for step in steps])
    path.n_nonzero_ = np.array([step.n_nonzero for step in steps])
    path.sparsity_ = np.array([step.sparsity for step in steps])
    path.n_iters_ = np.array([step.n_iter for step in steps])
    path.stationarity_gaps_ = np.array([step.gap for step in steps])
    path.n_distinct_prototypes_ = np.array([step.n_distinct for step in steps])
    path.n_converged_ = np.array([step.n_converged for step in steps])
    path.statuses_ = [step.status for step in steps]
    path.kappas_ = np.array([step.kappas for step in steps])
    path.weights_ = np.array([step.weights for step in steps])
    path.sizes_ = np.array([step.sizes for step in steps])
    path.exit_betas_ = exit_betas(steps)
    path.criteria_ = criteria(
        path.log_likelihoods_,
        count_from_sizes(np.array([step.support_sizes for step in steps]), state.model.kappa_mode),
        steps[0].weight,
        steps[0].n_features,
        path.entropies_,
    )
    path.selected_ = path.select(path.criterion)
    path.best_estimator_ = path.model(path.selected_)

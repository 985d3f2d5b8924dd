"""A chosen mixture fitted again without penalty, on the zeros that the penalty found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from spheremix.estimators.fitted import FittedMixture
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.problem import NoFitError
from spheremix.path import PathSolver

if TYPE_CHECKING:
    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel


def refit_on_support(mixture: VMFMixture, problem: Problem[VMFModel]) -> VMFMixture:
    """Fit a mixture again without penalty, its zeros kept; ``beta`` says where they come from."""
    solver = PathSolver(
        problem.model,
        problem.directions,
        problem.weights,
        problem.settings,
        zero_tol=mixture.zero_tol,
    )
    plain = solver.at(0.0)
    start = plain.parameters(mixture.prototypes_, mixture.kappas_, mixture.weights_)
    scorer = plain.scorer(start, problem.settings.e_step)
    (resultants,) = problem.directions.sweep([scorer], problem.weights)
    support = mixture.prototypes_ != 0.0
    fit = solver.refit(support, start, resultants)
    if not fit.ok:
        raise NoFitError(
            "{refit}: a component of the mixture on the selected support has {status}",
            remedies=("use {refit=False}", "use a {beta_criterion} that keeps more"),
            status=fit.status,
        )
    again = VMFMixture(**mixture.get_params(deep=False))
    # First-order conditions are those of the support: forces outside of it do not count.
    pulls = fit.resultants.vectors.copy()  # those of the noise, if any, come last
    pulls[: len(support)][~support] = 0.0
    inside = replace(fit, resultants=replace(fit.resultants, vectors=pulls))
    FittedMixture.of_fit(
        replace(problem, model=plain), inside, mixture.runs_, mixture.agreement_
    ).set_on(again)
    return again

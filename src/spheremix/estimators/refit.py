"""A chosen mixture fitted again without penalty, on the zeros that the penalty found."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from spheremix import em
from spheremix.estimators.fitted import FittedMixture
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.problem import NoFitError
from spheremix.models.vmf import SupportModel
from spheremix.penalties import L1

if TYPE_CHECKING:
    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel


def refit_on_support(mixture: VMFMixture, problem: Problem[VMFModel]) -> VMFMixture:
    """Fit a mixture again without penalty, its zeros kept; ``beta`` says where they come from."""
    settings = problem.settings
    plain = replace(problem.model, l1=L1(0.0, problem.model.l1.weights))
    model = SupportModel(plain, mixture.prototypes_ != 0.0)
    (fit,) = em.fit(
        model,
        problem.directions,
        [plain.parameters(mixture.prototypes_, mixture.kappas_, mixture.weights_)],
        settings,
        weights=problem.weights,
    )
    if not fit.ok:
        raise NoFitError(
            "{refit}: a component of the mixture on the selected support has {status}",
            remedies=("use {refit=False}", "use a {beta_criterion} that keeps more"),
            status=fit.status,
        )
    parameters = plain.zero_small(fit.parameters, mixture.zero_tol)
    fit = em.evaluate(model, problem.directions, fit, parameters, settings, weights=problem.weights)
    again = VMFMixture(**mixture.get_params(deep=False))
    # First-order conditions are those of the support: forces outside of it do not count.
    pulls = np.where(model.support, fit.resultants.vectors, 0.0)
    inside = replace(fit, resultants=replace(fit.resultants, vectors=pulls))
    FittedMixture.of_fit(
        replace(problem, model=plain), inside, mixture.runs_, mixture.agreement_
    ).set_on(again)
    return again

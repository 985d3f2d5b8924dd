"""With free concentrations a run with a component at the cap loses to a run without one."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import adjusted_rand_score

import spheremix as sm
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.problem import ConvergenceWarning, build_problem
from spheremix.estimators.restarts import agreement, rank, restarts

HOW = {"kappa": "free", "init": "random", "n_init": 8, "random_state": 0, "n_threads": 1}


def rows():
    X, _, _ = sm.datasets.make_vmf_mixture(60, 20, 3, overlap=0.05, random_state=0)
    return X


def test_a_run_without_a_runaway_wins():
    mix = sm.VMFMixture(8, **HOW).fit(rows())
    capped = [run.objective for run in mix.runs_ if run.kappa_capped]
    others = [run.objective for run in mix.runs_ if not run.kappa_capped]
    assert max(capped) > max(others) + 100.0  # by objective alone a runaway would win
    assert_allclose(mix.objective_, max(others))
    assert mix.kappas_.max() < mix.kappa_max_


def test_the_others_are_compared_with_the_run_that_won():
    options = MixtureOptions.of(sm.VMFMixture(8, **HOW))
    problem = build_problem(options, rows(), None)
    found = restarts(options, problem, None)

    def labels(fit):
        return problem.directions.map_rows(problem.model.scorer(fit.parameters), "labels")

    place = [run.objective for run in found.runs].index(found.best.objective)
    assert not found.runs[place].kappa_capped
    others = [fit for i, fit in enumerate(found.fits) if i != place]
    expected = [adjusted_rand_score(labels(found.best), labels(fit)) for fit in others]
    assert_allclose(agreement(problem, found.starts, found.fits), np.mean(expected))


def test_a_study_takes_the_same_run():
    mix = sm.VMFMixture(8, **HOW).fit(rows())
    study = sm.VMFMixtureIC([8], paths="none", k_criterion="bic", **HOW).fit(rows())
    assert_allclose(study.best_estimator_.prototypes_, mix.prototypes_)


def test_where_all_runs_have_one_the_best_objective_wins_and_the_fit_warns():
    X = np.vstack([np.eye(3, 12).repeat(20, axis=0), np.eye(12)[5]])
    with pytest.warns(ConvergenceWarning, match=r"at its cap.*kappa_prior as \(1, 0\.9\)"):
        mix = sm.VMFMixture(4, **HOW | {"init": "merge", "n_init": 2}).fit(X)
    assert_allclose(mix.objective_, max(run.objective for run in mix.runs_))


@pytest.mark.parametrize("mode", ["shared", "free"])
def test_one_shared_concentration_at_the_cap_is_no_runaway(mode):
    """Where the rows are K directions exactly, the run that has found them is the best one."""
    model = SimpleNamespace(kappa_mode=mode, kappa_max=9.0)
    capped, other = (
        SimpleNamespace(parameters=SimpleNamespace(kappas=np.array([kappa])), objective=objective)
        for kappa, objective in ((9.0, 2.0), (3.0, 1.0))
    )
    assert (rank(model, capped) > rank(model, other)) is (mode == "shared")

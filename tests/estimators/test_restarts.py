"""Runs of a fit: their memory, and how they are compared."""

from __future__ import annotations

import tracemalloc
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import spheremix as sm
from spheremix import em
from spheremix.estimators import restarts as module
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.problem import ConvergenceWarning, NoFitError, build_problem
from spheremix.estimators.restarts import agreement, rank, restarts


@pytest.fixture(name="X", scope="module")
def documents():
    rng = np.random.default_rng(0)
    topics = rng.integers(6, size=240)
    words = rng.random((240, 90)) < np.where(np.arange(90) // 15 == topics[:, None], 0.3, 0.04)
    X = np.where(words, rng.exponential(size=(240, 90)), 0.0)
    X[:, 0] += 0.1  # no row is empty
    return sparse.csr_array(X)


def fitted(X, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sm.VMFMixture(8, n_init=7, random_state=3, max_iter=40, **options).fit(X)


@pytest.mark.parametrize("init", ["random", "k-means++", "spherical-k-means"])
@pytest.mark.parametrize(
    "options",
    [{}, {"kappa": "free"}, {"e_step": "hard"}, {"noise": "uniform"}, {"beta": 2.0}, "dense"],
    ids=str,
)
def test_groups_of_starts_change_no_bit(X, monkeypatch, init, options):
    if options == "dense":
        X, options = np.random.default_rng(1).standard_normal((120, 90)), {}
    together = fitted(X, init=init, **options)
    for entries in (0, 3 * 8 * 90):  # one start at a time, and three
        monkeypatch.setattr(em, "BATCH_ENTRIES", entries)
        found = fitted(X, init=init, **options)
        assert_array_equal(found.prototypes_, together.prototypes_)
        assert_array_equal(found.kappas_, together.kappas_)
        assert_array_equal(found.labels_, together.labels_)
        assert [str(run) for run in found.runs_] == [str(run) for run in together.runs_]
        assert found.agreement_ == together.agreement_


def test_all_starts_may_fail(X, monkeypatch):
    monkeypatch.setattr(em, "BATCH_ENTRIES", 0)
    same = X[[0] * 30]
    with pytest.raises(NoFitError, match="no_start"):
        fitted(same, init="random")


def test_memory_does_not_grow_with_the_number_of_restarts(monkeypatch):
    """Ten restarts take hardly more than two; all at once they take several times as much."""
    X = sparse.random_array((300, 8000), density=0.01, rng=np.random.default_rng(2), format="csr")
    X = sparse.csr_array(X + sparse.csr_array(([0.01] * 300, (range(300), [0] * 300)), X.shape))

    def peak(n_init):
        mixture = sm.VMFMixture(20, init="random", n_init=n_init, max_iter=3, random_state=0)
        tracemalloc.start()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mixture.fit(X)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    matrix = 8 * 20 * 8000
    peak(1)
    assert peak(10) > 20 * matrix
    monkeypatch.setattr(em, "BATCH_ENTRIES", 0)
    few = peak(2)
    assert peak(10) < few + 0.5 * matrix
    assert few < 8 * matrix


def test_only_the_best_fit_keeps_its_prototypes(X, monkeypatch):
    monkeypatch.setattr(em, "BATCH_ENTRIES", 0)
    outcomes, restarts = [], module.restarts

    def kept(*given):
        outcomes.append(restarts(*given))
        return outcomes[-1]

    monkeypatch.setattr("spheremix.estimators.mixture.restarts", kept)
    found = fitted(X, init="random")
    (outcome,) = outcomes
    sizes = [fit.parameters.prototypes.shape[0] for fit in outcome.fits]
    objectives = [run.objective for run in found.runs_]
    assert sizes == [8 if i == np.argmax(objectives) else 0 for i in range(7)]
    assert all(start.parameters is None for start in outcome.starts)


# With free concentrations a run with a component at the cap loses to a run without one


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


@pytest.mark.parametrize(("make", "most"), [(sm.VMFMixture, 6.5), (sm.SphericalKMeans, 4.5)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_holds_few_matrices_at_a_time(make, most):
    """Above its input, in matrices of K x d doubles: what NumPy has at its peak."""
    rng, K, d = np.random.default_rng(0), 40, 20_000
    columns = rng.integers(d, size=(400, 20)) // 2 + np.repeat([[0], [d // 2]], 200, axis=0)
    entries = np.ones(columns.size), columns.ravel(), np.arange(0, columns.size + 1, 20)
    X = sparse.csr_array(entries, shape=(400, d))
    estimator = make(K, init="random", n_init=1, max_iter=3, random_state=0, n_threads=1)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        estimator.fit(X)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert peak < most * 8 * K * d

"""A relaxed path: every step fitted again without penalty, its zeros kept."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from relaxed_common import em_on_support, scores
from scipy.special import logsumexp

import spheremix as sm
from spheremix import em
from spheremix.models.maximise import maximise_in_python
from spheremix.path import PathSolver
from spheremix.penalties import L1

GRID = [20.0, 60.0, 97.0, 125.0]


@pytest.fixture(scope="module")
def relaxed(rows):
    return sm.VMFPath(n_components=4, random_state=0, relaxed=True).fit(rows)


def bic_by_hand(mixture, X, n, n_kappas):
    K, counts = len(mixture.prototypes_), np.count_nonzero(mixture.prototypes_, axis=1)
    n_parameters = K - 1 + n_kappas + np.maximum(counts - 1, 1).sum()
    return np.log(n) * n_parameters - 2 * logsumexp(scores(X, mixture), axis=1).sum()


# ------------------------------------------------------------- the refit against plain computation


@pytest.mark.parametrize(
    ("kappa", "weighted"), [("shared", False), ("shared", True), ("free", False), (12.0, False)]
)
def test_a_refit_is_em_on_the_columns_of_the_support(rows, kappa, weighted):
    weights = np.random.default_rng(0).uniform(0.8, 1.2, len(rows)) if weighted else None
    options = {"betas": GRID, "random_state": 0, "tol": 1e-12, "kappa": kappa}
    path = sm.VMFPath(4, relaxed=True, **options).fit(rows, sample_weight=weights)
    assert path.n_nonzero_[0] == 40
    assert path.n_nonzero_[-1] < 30
    for i in range(1, len(GRID) + 1):
        penalised, refit = path.model(i, refit=False), path.model(i, refit=True)
        mu, kappas, alpha, trace = em_on_support(rows, penalised, kappa, weights)
        assert_array_equal(refit.prototypes_ != 0, penalised.prototypes_ != 0)
        assert_allclose(refit.log_likelihood_, trace[-1], rtol=1e-10)
        assert_allclose(refit.prototypes_, mu, atol=1e-4)
        assert_allclose(refit.kappas_, kappas, rtol=1e-4)
        assert_allclose(refit.weights_, alpha, atol=1e-4)
        assert np.all(np.diff(trace) > -1e-12 * abs(trace[-1]))
        assert_allclose(trace[0], penalised.log_likelihood_, rtol=1e-12)
        assert refit.log_likelihood_ > penalised.log_likelihood_


def test_bic_judges_the_refits(rows, relaxed):
    by_hand = [bic_by_hand(relaxed.model(i), rows, 500, 1) for i in range(len(relaxed.betas_))]
    assert_allclose(relaxed.criteria_["bic"], by_hand, rtol=1e-11)
    assert relaxed.selected_ == len(by_hand) - 1 - int(np.argmin(by_hand[::-1]))
    penalised = relaxed.model(5, refit=False)
    assert_allclose(penalised.criteria_["bic"], bic_by_hand(penalised, rows, 500, 1), rtol=1e-11)


def test_a_hard_e_step(rows):
    options = {"betas": GRID, "random_state": 0, "e_step": "hard", "relaxed": True}
    path = sm.VMFPath(4, **options).fit(rows)
    for i in (1, 3):
        refit = path.model(i)
        again = em_on_support(rows, refit, "shared", hard=True)
        assert_allclose(again[0], refit.prototypes_, atol=1e-9)  # a fixed point
        assert_allclose(refit.objective_, scores(rows, refit).max(axis=1).sum(), rtol=1e-11)
        soft = logsumexp(scores(rows, refit), axis=1).sum()
        assert_allclose(path.log_likelihoods_[i], soft, rtol=1e-11)


def test_the_gap_is_that_of_the_m_step_on_the_support(rows):
    """Stopped early, so that there is something to gain."""
    path = sm.VMFPath(4, betas=GRID, random_state=0, max_iter=2, tol=0.0, relaxed=True)
    with pytest.warns(UserWarning, match="EM stopped at its limit of 2 iterations at 5 of 5 steps"):
        path.fit(rows)
    assert path.statuses_ == ["max_iter"] * 5
    for i in (2, 4):
        refit = path.model(i)
        mu, kappas, alpha = refit.prototypes_, refit.kappas_, refit.weights_
        parts = refit.predict_proba(rows)
        mass, vectors = parts.sum(axis=0), np.where(mu != 0, parts.T @ rows, 0.0)
        best = maximise_in_python(vectors, mass, L1(), "shared", path.kappa_max_, mu, kappas)
        old = refit.model_.parameters(mu, kappas, alpha)

        def value(mu, kappas, alpha, normalizers, mass=mass, vectors=vectors):
            return mass @ (np.log(alpha) + normalizers) + (kappas[:, None] * mu * vectors).sum()

        after = value(best.prototypes, best.kappas, mass / mass.sum(), best.log_normalizers)
        gap = (after - value(mu, kappas, alpha, old.log_normalizers)) / len(rows)
        assert gap > 1e-9
        assert_allclose(path.stationarity_gaps_[i], gap, rtol=1e-4, atol=1e-11)


def test_refits_are_stationary_and_never_fall(rows, relaxed, monkeypatch):
    assert set(relaxed.statuses_) == {"converged"}
    assert np.all(relaxed.stationarity_gaps_ < relaxed.tol)
    traces = []
    plain = PathSolver.refit

    def watched(self, *arguments):
        traces.append(plain(self, *arguments).trace)
        return plain(self, *arguments)

    monkeypatch.setattr(PathSolver, "refit", watched)
    sm.VMFPath(4, random_state=0, relaxed=True).fit(rows)
    assert len(traces) > 10
    for trace in traces:
        assert np.all(np.diff(trace) >= -1e-12 * abs(trace[-1]))


# ------------------------------------------------------------------------------- the path is plain


def test_the_path_is_the_plain_one_to_the_last_bit(rows, path, relaxed):
    for name in ("betas_", "exit_betas_", "n_converged_"):
        assert_array_equal(getattr(relaxed, name), getattr(path, name))
    assert relaxed.status_ == path.status_
    for i in range(len(path.betas_)):
        one, other = relaxed.model(i, refit=False), path.model(i)
        assert_array_equal(one.prototypes_, other.prototypes_)
        assert (one.objective_, one.criteria_) == (other.objective_, other.criteria_)
    assert_array_equal(relaxed.model(0).prototypes_, path.model(0).prototypes_)
    assert relaxed.criteria_["bic"].min() < path.criteria_["bic"].min()
    assert_array_equal(relaxed.labels_, relaxed.model(relaxed.selected_, refit=True).predict(rows))


def test_a_step_with_the_support_of_the_one_before_has_its_refit(rows):
    path = sm.VMFPath(4, betas=[61.0, 61.001, 97.0], random_state=0, relaxed=True).fit(rows)
    one, two = path.model(1), path.model(2)
    assert path.model(1, refit=False).n_iter_ > 0
    assert np.any(path.model(1, refit=False).prototypes_ != path.model(2, refit=False).prototypes_)
    assert_array_equal(one.prototypes_, two.prototypes_)
    assert (path.n_iters_[1] > 0, path.n_iters_[2]) == (True, 0)
    assert (one.beta, two.beta) == (61.0, 61.001)
    alone = sm.VMFPath(4, betas=[61.0, 97.0], random_state=0, relaxed=True).fit(rows)
    assert_allclose(path.log_likelihoods_[3], alone.log_likelihoods_[2], rtol=1e-9)


def test_one_word_a_prototype(relaxed):
    penalised, refit = relaxed.model(-1, refit=False), relaxed.model(-1)
    assert relaxed.n_nonzero_[-1] == 4
    assert_allclose(np.abs(refit.prototypes_[penalised.prototypes_ != 0]), 1.0, rtol=1e-14)
    assert_allclose(refit.prototypes_, penalised.prototypes_, rtol=1e-14)
    assert refit.log_likelihood_ >= penalised.log_likelihood_ - 1e-3  # to the tolerance of both


def test_coordinates_that_a_refit_loses_are_zero(rows):
    options = {"betas": [60.0], "random_state": 0, "zero_tol": 0.15, "relaxed": True}
    path = sm.VMFPath(4, **options).fit(rows)
    refit, penalised = path.model(1), path.model(1, refit=False)
    assert path.n_nonzero_[1] == np.count_nonzero(refit.prototypes_)
    assert path.n_nonzero_[1] <= np.count_nonzero(penalised.prototypes_)
    assert np.abs(refit.prototypes_[refit.prototypes_ != 0]).min() >= 0.15
    assert np.all(penalised.prototypes_[refit.prototypes_ != 0] != 0)


@pytest.mark.parametrize("strategy", ["dense", "random", "grid"])
def test_other_strategies(rows, strategy):
    options = {"betas": GRID, "strategy": strategy, "n_init": 2, "random_state": 0}
    path = sm.VMFPath(4, relaxed=True, **options).fit(rows)
    for i in range(1, len(path.betas_)):
        penalised = path.model(i, refit=False)
        trace = em_on_support(rows, penalised, "shared")[3]
        assert_allclose(path.log_likelihoods_[i], trace[-1], atol=1e-2)


def test_inserted_steps_are_refitted(rows):
    path = sm.VMFPath(4, betas=GRID, refine=0.1, random_state=0, relaxed=True).fit(rows)
    assert path.state_.n_inserted > 0
    assert len(path.state_.refits) == len(path.state_.steps) == len(path.betas_)
    for i, point in enumerate(path.state_.refits):
        assert point.beta == path.betas_[i]
        assert_array_equal(point.places, path.state_.steps[i].places)
        assert point.log_likelihood >= path.state_.steps[i].log_likelihood - 1e-3


# -------------------------------------------------------------------------------- refits that fail


def fail_at(n, monkeypatch):
    """Let the n-th refit of a path lose a component."""
    plain, count = PathSolver.refit, iter(range(1000))

    def refit(self, support, start, resultants):
        if next(count) == n:
            value = resultants.log_likelihood
            return em.Fit(start, resultants, value, np.nan, "collapsed", 3, [value])
        return plain(self, support, start, resultants)

    monkeypatch.setattr(PathSolver, "refit", refit)


def test_a_step_whose_refit_fails_keeps_its_mixture(rows, monkeypatch):
    fail_at(1, monkeypatch)
    path = sm.VMFPath(4, betas=GRID, random_state=0, relaxed=True)
    with pytest.warns(UserWarning, match=r"relaxed: a component was lost when 1 of 5 steps"):
        path.fit(rows)
    assert path.statuses_ == ["converged", "converged", "collapsed", "converged", "converged"]
    kept, penalised = path.model(2), path.model(2, refit=False)
    assert_array_equal(kept.prototypes_, penalised.prototypes_)
    assert kept.log_likelihood_ == kept.objective_ == penalised.log_likelihood_
    assert kept.criteria_ == penalised.criteria_
    assert np.isnan(kept.stationarity_gap_)
    trace = em_on_support(rows, path.model(3, refit=False), "shared")[3]
    assert_allclose(path.log_likelihoods_[3], trace[-1], atol=1e-3)
    assert all(np.isfinite(values).all() for values in path.criteria_.values())


def test_a_component_without_rows_fails():
    """Two directions, and only the rows of one of them are left."""
    X = np.repeat(np.eye(3)[:2], 10, axis=0) + 0.01 * np.random.default_rng(0).normal(size=(20, 3))
    path = sm.VMFPath(2, kappa=500.0, init=np.repeat([0, 1], 10), max_steps=1).fit(X)
    far = sm.as_directions(X[:10])
    solver = PathSolver(path.state_.model, far, None, em.Settings())
    parameters = path.state_.dense.parameters
    (swept,) = far.sweep([path.state_.model.scorer(parameters)])
    found = solver.refit(parameters.prototypes != 0, parameters, swept)
    assert (found.status, found.n_iter) == ("collapsed", 0)
    assert found.parameters is parameters


# ---------------------------------------------------------------------- going on, and what uses it


def test_in_parts_and_with_threads_the_same_bits(rows, relaxed):
    options = {"n_components": 4, "random_state": 0, "relaxed": True}
    parts = sm.VMFPath(max_steps=5, warm_start=True, n_threads=2, **options).fit(rows)
    parts.set_params(max_steps=None).fit(rows)
    assert_array_equal(parts.log_likelihoods_, relaxed.log_likelihoods_)
    assert_array_equal(parts.n_iters_, relaxed.n_iters_)
    for i in range(len(relaxed.betas_)):
        assert_array_equal(parts.model(i).prototypes_, relaxed.model(i).prototypes_)


def test_what_is_refused(path, relaxed):
    with pytest.raises(ValueError, match=r"refit=True is for a path .*: fit the path with relaxed"):
        path.model(3, refit=True)
    with pytest.raises(ValueError, match="refit must be True or False, got 'yes'"):
        relaxed.model(3, refit="yes")


def test_stability_starts_from_the_penalised_mixture(rows, path, relaxed):
    step = relaxed.selected_
    one = sm.stability_selection(relaxed, rows, 5, random_state=0)
    other = sm.stability_selection(path, rows, 5, step=step, random_state=0)
    assert_array_equal(one, other)


def test_a_study_passes_it_on(rows):
    study = sm.VMFMixtureIC([3, 4], n_init=2, random_state=0, relaxed=True).fit(rows)
    path = study.best_path_
    assert path.relaxed
    assert study.best_estimator_ is path.best_estimator_
    refit = path.model(path.selected_, refit=True)
    assert_array_equal(study.best_estimator_.prototypes_, refit.prototypes_)
    assert_allclose(refit.criteria_["bic"], bic_by_hand(refit, rows, 500, 1), rtol=1e-11)
    with pytest.raises(ValueError, match=r"refit=True fits again what relaxed=True .* leave refit"):
        sm.VMFMixtureIC([3], relaxed=True, refit=True).fit(rows)
    with pytest.raises(ValueError, match="relaxed=True is for the zeros of a path"):
        sm.VMFMixtureIC([3], relaxed=True, paths="none").fit(rows)
    with pytest.raises(ValueError, match="refit must be True or False, got 'no'"):
        sm.VMFMixtureIC([3], refit="no").fit(rows)

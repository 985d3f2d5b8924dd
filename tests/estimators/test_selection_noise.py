"""Noise and priors in VMFMixtureIC: every number of components decides anew."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score, f1_score

import spheremix as sm
from spheremix.errors import ParameterError

N, N_NOISE = 240, 48


@pytest.fixture(scope="module")
def planted():
    rows, labels, _ = sm.datasets.make_vmf_mixture(N, 12, 3, kappa=60.0, random_state=0)
    noise = np.random.default_rng(0).normal(size=(N_NOISE, 12))
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    return np.vstack([rows, noise]), np.append(labels, np.full(N_NOISE, -1))


def study(X, candidates=(2, 3, 4), **parameters):
    given = {"noise": "uniform", "n_init": 2, "random_state": 0, "n_threads": 1, **parameters}
    return sm.VMFMixtureIC(candidates, **given).fit(X)


@pytest.fixture(scope="module")
def noisy(planted):
    return study(planted[0], k_criterion="bic", min_relative_increase=0.1, paths="all")


def test_the_number_of_components_is_that_of_the_clusters(noisy, planted):
    X, truth = planted
    assert noisy.best_n_components_ == 3
    assert f1_score(truth < 0, noisy.labels_ < 0) > 0.9
    kept = (truth >= 0) & (noisy.labels_ >= 0)
    assert adjusted_rand_score(truth[kept], noisy.labels_[kept]) > 0.99
    assert_array_equal(noisy.predict(X), noisy.labels_)
    assert noisy.n_noise_ == np.sum(noisy.labels_ < 0)


def test_dense_mixtures_are_those_of_the_mixture(noisy, planted):
    for K in (2, 3, 4):
        given = {"noise": "uniform", "n_init": 2, "random_state": 0, "n_threads": 1}
        alone = sm.VMFMixture(K, **given).fit(planted[0])
        dense = noisy.dense_models_[K]
        assert [run.start for run in dense.runs_].count("noise") == 1
        assert_allclose(dense.model_.noise.level, alone.model_.noise.level)
        if K == 3:  # other seeds may find other clusters where the number is wrong
            assert_allclose(dense.log_likelihood_, alone.log_likelihood_)
            assert_array_equal(dense.labels_ < 0, alone.labels_ < 0)


def test_the_table_counts_the_noise(noisy, planted):
    table, n = noisy.table_, len(planted[0])
    best = noisy.dense_models_[3]
    row = np.flatnonzero((table["n_components"] == 3) & (table["objective"] >= best.objective_))[0]
    parameters = (table["bic"][row] + 2.0 * table["log_likelihood"][row]) / np.log(n)
    assert_allclose(parameters, best.n_parameters_)


def test_a_limit_is_kept_to_on_the_path_and_without(planted):
    X, truth = planted
    for paths in ("none", "best"):
        found = study(X, [3], paths=paths, max_noise=0.05, min_relative_increase=0.2)
        assert 0 < found.n_noise_ <= 0.05 * len(X)
        assert np.all(truth[found.labels_ < 0] < 0)


def test_the_advice_and_a_refit_take_noise(planted):
    found = study(planted[0], refit=True, min_relative_increase=0.2)
    assert found.best_n_components_ == 3
    assert found.best_estimator_.status_ == "converged"
    assert f1_score(planted[1] < 0, found.labels_ < 0) > 0.9


def test_a_refit_with_a_limit_is_refused(planted):
    with pytest.raises(ParameterError, match="relaxed=True"):
        study(planted[0], refit=True, max_noise=0.05)


def test_a_prior_reaches_the_mixtures(planted):
    rows, truth = planted[0][:N], planted[1][:N]
    given = {"kappa": "free", "kappa_prior": (5, 0.0)}
    found = study(rows, [3], noise=None, paths="none", **given).dense_models_[3].kappas_
    alone = sm.VMFMixture(3, init=truth, n_threads=1, **given).fit(rows).kappas_
    assert_allclose(np.sort(found), np.sort(alone), rtol=1e-4)
    loose = study(rows, [3], noise=None, paths="none", kappa="free").dense_models_[3].kappas_
    assert np.all(np.sort(found) < 0.99 * np.sort(loose))

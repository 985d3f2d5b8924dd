"""Restarts whose starts are drawn a few at a time, against all at once."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import spheremix as sm
from spheremix import em
from spheremix.estimators import restarts as module
from spheremix.estimators.problem import NoFitError


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
    [{}, {"kappa": "free"}, {"e_step": "hard"}, {"noise": "uniform"}, {"beta": 2.0}],
    ids=str,
)
def test_groups_of_starts_change_no_bit(X, monkeypatch, init, options):
    together = fitted(X, init=init, **options)
    for entries in (0, 3 * 8 * 90):  # one start at a time, and three
        monkeypatch.setattr(em, "BATCH_ENTRIES", entries)
        found = fitted(X, init=init, **options)
        assert_array_equal(found.prototypes_, together.prototypes_)
        assert_array_equal(found.kappas_, together.kappas_)
        assert_array_equal(found.labels_, together.labels_)
        assert [str(run) for run in found.runs_] == [str(run) for run in together.runs_]
        assert found.agreement_ == together.agreement_


def test_dense_rows_are_kept_dense(monkeypatch):
    rows = np.random.default_rng(1).standard_normal((120, 10))
    together = fitted(rows, init="random")
    monkeypatch.setattr(em, "BATCH_ENTRIES", 0)
    found = fitted(rows, init="random")
    assert_array_equal(found.prototypes_, together.prototypes_)
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

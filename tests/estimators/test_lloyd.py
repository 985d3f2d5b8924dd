"""Spherical k-means with sparse components, against dense ones."""

from __future__ import annotations

import numpy as np
import pytest
from moved_common import both, densified, documents, walk
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import spheremix as sm
from spheremix import em
from spheremix.data.moved import MovedComponents
from spheremix.estimators.skmeans import lloyd
from spheremix.models.skmeans import SphericalKMeansModel
from spheremix.testing.suite import assert_resultants_same_bits
from spheremix.vectors import as_dense, as_sparse, is_sparse


@pytest.fixture
def eager(monkeypatch):
    """Keep the clusters of every sparse matrix sparse, however small it is; count the scores."""
    for name in ("LEAST_WORK", "LEAST_COMPONENTS", "SPARSE"):
        monkeypatch.setattr(f"spheremix.data.moved.{name}", 0)
    counts = []
    sweep = MovedComponents.sweep

    def counted(self, scorer, weights, run, n_runs=1):
        found = sweep(self, scorer, weights, run, n_runs)
        counts.append(self.n_scores / self._rows.n_rows / scorer.n_components)
        return found

    monkeypatch.setattr(MovedComponents, "sweep", counted)
    return counts


def test_spherical_k_means_is_the_same(eager):
    rng = np.random.default_rng(9)
    X = documents(rng, n=1500, n_topics=40)
    directions = sm.as_directions(X)
    rows = directions.take(np.arange(X.shape[0]))
    start = plain = rows[rng.choice(500, 30, replace=False)]
    [(fit, n_reseeded)] = lloyd(directions, [start], em.Settings(e_step="hard"))
    assert fit.status == "converged"
    assert n_reseeded == 0
    assert eager[-1] == 1.0  # all rows and components, once more
    assert np.mean(eager[-4:-1]) < 0.3
    for _ in range(fit.n_iter):
        labels = (rows @ plain.T).argmax(axis=1)
        sums = np.array([rows[labels == k].sum(axis=0) for k in range(30)])
        plain = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    assert_allclose(as_dense(fit.parameters), plain, rtol=0, atol=1e-10)
    dense = SphericalKMeansModel().scorer(as_dense(fit.parameters))
    [expected] = directions.sweep([dense])
    assert_resultants_same_bits(densified(fit.resultants), expected)
    assert fit.objective == expected.log_likelihood == fit.trace[-1]


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("init", ["random", "k-means++", "merge", "prototypes", "labels"])
def test_the_estimator_gives_what_dense_prototypes_give(init, monkeypatch):
    rng = np.random.default_rng(10)
    X = documents(rng, n=600)
    weights = np.where(rng.random(600) < 0.1, 0.0, rng.exponential(size=600))
    if init == "prototypes":
        init = sm.as_directions(X).take(np.arange(8))
    elif init == "labels":
        init = np.arange(600) % 8
    options = {"init": init, "n_init": 1 if isinstance(init, str) else "auto", "random_state": 0}

    def fitted():
        return sm.SphericalKMeans(8, **options).fit(X, sample_weight=weights)

    found = fitted()
    monkeypatch.setattr("spheremix.data.moved.LEAST_COMPONENTS", 10**9)
    expected = fitted()
    assert isinstance(found.prototypes_, np.ndarray)
    assert_allclose(found.prototypes_, expected.prototypes_, rtol=0, atol=1e-12)
    assert_array_equal(found.labels_, expected.labels_)
    assert found.coherence_ == pytest.approx(expected.coherence_, rel=1e-13)
    assert found.n_iter_ == expected.n_iter_
    assert found.stationarity_gap_ == pytest.approx(expected.stationarity_gap_, abs=1e-14)
    batch = X[:200]
    assert_allclose(
        found.partial_fit(batch).prototypes_, expected.partial_fit(batch).prototypes_, atol=1e-12
    )


def test_clusters_that_lose_their_rows_are_put_on_rows(eager):
    rng = np.random.default_rng(11)
    X = documents(rng)
    directions = sm.as_directions(X)
    start = directions.take(np.arange(12))
    start[4] = -start[0]
    start[7] = -start[1]
    settings = em.Settings(e_step="hard")
    [(fit, n_reseeded)] = lloyd(directions, [as_sparse(start)], settings)
    assert n_reseeded == 2
    assert len(eager) > 2
    assert fit.ok
    assert is_sparse(fit.parameters)
    assert_allclose(np.linalg.norm(as_dense(fit.parameters), axis=1), 1.0)
    assert np.all(fit.resultants.mass > 0.0)


@pytest.mark.usefixtures("eager")
def test_random_starts_are_the_same_rows_and_no_row_twice():
    rng = np.random.default_rng(12)
    X = documents(rng)
    X = sparse.csr_array(sparse.vstack([X[:30], X[:30], X[:5]]))
    options = {"init": "random", "n_init": 3, "random_state": 1}
    found = sm.SphericalKMeans(28, **options).fit(X)
    dense = sm.SphericalKMeans(28, **options).fit(X.toarray())
    assert [run.seed for run in found.runs_] == [run.seed for run in dense.runs_]
    for one, other in zip(found.runs_, dense.runs_, strict=True):
        assert one.start_coherence == pytest.approx(other.start_coherence, rel=1e-12)


def test_a_run_begins_anew(eager):
    rng = np.random.default_rng(13)
    X = documents(rng)
    memory = sm.as_directions(X).remember()
    scorers = [both(*step)[1] for step in walk(rng, X, "few")]
    memory.sweep([scorers[0]], None, [0])
    assert memory.left_out(0) == 0
    memory.sweep([scorers[1]], None, [0])
    assert memory.left_out(0) == X.shape[0]
    memory.begin(scorers[2], None, 0)
    memory.sweep([scorers[2]], None, [0])
    memory.sweep_all([scorers[3]], None, [0])
    assert [count == 1.0 for count in eager] == [True, False, True, True]


def test_few_clusters_and_small_matrices_stay_dense():
    rng = np.random.default_rng(14)
    directions = sm.as_directions(documents(rng))
    assert not directions.prefers_sparse(40)
    assert not sm.as_directions(documents(rng).toarray()).prefers_sparse(10**6)
    large = sm.as_directions(sparse.random_array((2000, 5000), density=0.02, rng=rng))
    assert large.prefers_sparse(150)
    assert not large.prefers_sparse(99)
    crowded = sm.as_directions(sparse.random_array((20_000, 100), density=0.1, rng=rng))
    assert not crowded.prefers_sparse(150)

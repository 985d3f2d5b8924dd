"""Hard sweeps with sparse components that score only what has moved, against full dense sweeps."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import spheremix as sm
from spheremix import em
from spheremix._optional import kernels
from spheremix.data.compiled import CompiledDirections
from spheremix.data.moved import MovedComponents
from spheremix.data.rows import open_rows
from spheremix.estimators.lloyd import lloyd
from spheremix.models.skmeans import SphericalKMeansModel
from spheremix.scorer import Scorer
from spheremix.testing.suite import assert_resultants_same_bits
from spheremix.vectors import as_dense, as_sparse, is_sparse


def long_indices(X):
    X = X.copy()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


KINDS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "int64 indices": long_indices,
}
kinds = pytest.mark.parametrize("contain", KINDS.values(), ids=KINDS)


def opened(X, n_threads=1):
    return CompiledDirections(*open_rows(X), n_threads=n_threads)


def documents(rng, n=400, d=150, n_topics=12, length=15):
    """Rows of few words, some of them everywhere; some rows twice; negative entries too."""
    words = rng.integers(d, size=(n_topics, 30))
    X = np.zeros((n, d))
    for i, topic in enumerate(rng.integers(n_topics, size=n)):
        own = rng.choice(words[topic], length)
        X[i, own] += rng.exponential(size=length)
        X[i, rng.integers(4, size=3)] += 0.5  # words that most prototypes have
    X[:: n // 20, d // 2] = -0.3
    X[n // 2 : n // 2 + 20] = X[n // 2]
    X[-3:] = X[0] + X[1]
    return sparse.csr_array(X)


def walk(rng, X, kind, K=40, n_sweeps=9):
    """Give dense matrices and biases as a fit has them in turn, or as an enemy would choose."""
    rows = opened(X).take(np.arange(X.shape[0]))
    start = rows[rng.choice(len(rows), K, replace=False)]
    start[K // 2] = start[3]  # the first of equals wins
    start[5] = 0.0
    goal = np.where(start != 0.0, start + 0.3 * rng.normal(size=start.shape), 0.0)
    biases = np.zeros(K)
    for i in range(n_sweeps):
        M = start.copy()
        if kind == "lloyd":
            labels = (rows @ start.T).argmax(axis=1)
            sums = np.array([rows[labels == k].sum(axis=0) for k in range(K)])
            start = np.where(sums.any(axis=1, keepdims=True), sums, start)
            start /= np.maximum(np.linalg.norm(start, axis=1, keepdims=True), 1e-300)
        elif kind == "few":
            for k in rng.choice(K, 3, replace=False):
                start[k] = rows[rng.integers(len(rows))]
        elif kind == "back and forth":
            M[: K // 4] += 0.2 * (i % 2) * (goal - start)[: K // 4]
        elif kind == "away":  # the owners of many rows leave them
            start[(5 * i) % K :: 9] *= -0.5 if i % 2 else 0.1
        elif kind == "swap":
            start[[i, i + 1]] = start[[i + 1, i]]
        elif kind == "all":
            M += 0.5**i * (goal - start)
        elif kind == "biases":
            biases = biases.copy()
            biases[rng.integers(K, size=4)] = rng.normal(size=4)
            biases[i % 3 :: 20] = -np.inf
        yield M, biases


WALKS = ["lloyd", "few", "back and forth", "away", "swap", "still", "all", "biases"]


def both(M, biases, offset=0.25):
    """Give one scorer with dense components, and one with sparse ones."""
    one = Scorer(M, biases, offset, "hard")
    return one, replace(one, matrix=as_sparse(M))


def densified(found):
    return replace(found, vectors=as_dense(found.vectors))


@kinds
@pytest.mark.parametrize("kind", WALKS)
def test_a_sequence_of_sweeps_has_the_bits_of_full_dense_sweeps(contain, kind):
    rng = np.random.default_rng(0)
    X = contain(documents(rng))
    n = X.shape[0]
    weights = np.where(rng.random(n) < 0.2, 0.0, rng.exponential(size=n))
    directions = opened(X)
    for own in (None, weights):
        moved = MovedComponents(directions)
        computed = []
        for M, biases in walk(rng, X, kind):
            dense, thin = both(M, biases)
            found = moved.sweep(thin, own, 5)
            assert is_sparse(found.vectors)
            [expected] = directions.sweep([dense], own)
            assert_resultants_same_bits(densified(found), expected)
            assert_array_equal(moved._known[5].owners, directions.map_rows(dense, "labels"))
            computed.append(moved.n_scores / n / len(M))
        assert computed[0] == 1.0
        if kind == "still":
            assert computed[1:] == [0.0] * (len(computed) - 1)
        elif kind != "all":
            assert min(computed) < 0.5


@pytest.mark.parametrize("kind", WALKS)
def test_the_bounds_hold(kind):
    """Scores of owners are exact, and no other score is above the bound."""
    rng = np.random.default_rng(1)
    X = documents(rng)
    directions = opened(X)
    moved = MovedComponents(directions)
    rows = np.arange(X.shape[0])
    for M, biases in walk(rng, X, kind):
        dense, thin = both(M, biases, 0.0)
        moved.sweep(thin, None, 0)
        known = moved._known[0]
        scores = directions.map_rows(dense, "scores")
        assert_array_equal(scores[rows, known.owners], known.scores)
        scores[rows, known.owners] = -np.inf
        assert np.all(scores.max(axis=1) <= known.seconds)


def test_most_rows_whose_owner_has_moved_need_no_full_scan():
    rng = np.random.default_rng(2)
    X = documents(rng, n=1000)
    moved = MovedComponents(opened(X))
    for M, biases in walk(rng, X, "few"):
        moved.sweep(both(M, biases)[1], None, 0)
    assert moved.n_scores < 0.25 * 1000 * len(M)


@kinds
def test_the_bits_do_not_depend_on_threads(contain):
    rng = np.random.default_rng(3)
    X = contain(documents(rng, n=1000))
    scorers = [both(*step)[1] for step in walk(rng, X, "few")]
    each = []
    for n_threads in (1, 3):
        moved = MovedComponents(opened(X, n_threads))
        each.append([densified(moved.sweep(scorer, None, 0)) for scorer in scorers])
    for one, other in zip(*each, strict=True):
        assert_resultants_same_bits(one, other)


@pytest.mark.parametrize("level", ["baseline", "avx2"])
def test_every_instruction_set(level):
    """The instruction set is chosen once a process, so the lesser ones are tried in another."""
    job = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_moved import *
for contain in KINDS.values():
    rng = np.random.default_rng(0)
    X = contain(documents(rng))
    directions = opened(X, 2)
    moved = MovedComponents(directions)
    for step in walk(rng, X, "few"):
        dense, thin = both(*step)
        found, [expected] = moved.sweep(thin, None, 0), directions.sweep([dense])
        assert_resultants_same_bits(densified(found), expected)
"""
    environment = {**os.environ, "SPHEREMIX_SIMD": level}
    subprocess.run([sys.executable, "-c", job], env=environment, check=True)  # noqa: S603


@kinds
@pytest.mark.parametrize("want", ["labels", "scores", "posteriors", "log_density"])
def test_rows_are_mapped_as_by_dense_components(contain, want):
    rng = np.random.default_rng(4)
    X = contain(documents(rng))
    directions = opened(X, 2)
    M, _ = next(walk(rng, X, "few"))
    for factor in (1.0, 2.0**60):  # products in float32, and in float64
        dense, thin = both(factor * M, rng.normal(size=len(M)))
        assert_array_equal(directions.map_rows(thin, want), directions.map_rows(dense, want))


def test_sums_need_no_room_for_zeros():
    rng = np.random.default_rng(5)
    X = documents(rng)
    M, biases = next(walk(rng, X, "few"))
    found = MovedComponents(opened(X)).sweep(both(M, biases)[1], None, 0)
    assert found.vectors.nnz <= X.nnz
    assert found.vectors.has_canonical_format


def test_several_scorers_and_weights_of_each():
    rng = np.random.default_rng(6)
    X = documents(rng)
    directions = opened(X)
    steps = list(walk(rng, X, "few"))[:3]
    thin, dense = [both(*step)[1] for step in steps], [both(*step)[0] for step in steps]
    for weights in (None, rng.exponential(size=X.shape[0]), rng.exponential(size=(3, X.shape[0]))):
        for s, found in enumerate(directions.sweep(thin, weights)):
            own = weights if weights is None or weights.ndim == 1 else weights[s]
            assert_resultants_same_bits(densified(found), directions.sweep([dense[s]], own)[0])


def test_sparse_components_are_for_hard_assignment():
    rng = np.random.default_rng(7)
    X = documents(rng)
    directions = opened(X)
    thin = both(*next(walk(rng, X, "few")))[1]
    with pytest.raises(ValueError, match="hard, not 'soft'"):
        directions.sweep([replace(thin, assignment="soft")])
    with pytest.raises(ValueError, match="drawn"):
        directions.map_rows(replace(thin, assignment="drawn"), "labels")


def test_a_matrix_that_was_changed_is_refused():
    rng = np.random.default_rng(8)
    X = documents(rng)
    directions = opened(X)
    thin = both(*next(walk(rng, X, "few")))[1]
    directions.rows[1][3] = 10_000
    with pytest.raises(RuntimeError, match="outside its columns"):
        directions.sweep([thin])
    with pytest.raises(RuntimeError, match="outside its columns"):
        kernels.sum_columns(
            *directions.rows, directions.scale, np.zeros(X.shape[0], np.int32), None, 1, 150, 1
        )


def test_kernels_refuse_arrays_that_do_not_fit():
    starts, columns, values = np.array([0, 1, 3]), np.array([1, 0, 2], np.int32), np.ones(3)
    good = kernels.SparseVectors(starts, columns, values, 3)
    for bad in (
        (np.array([0, 2, 1]), columns, values, 3),
        (np.array([0, 1, 2]), columns, values, 3),
        (starts, np.array([1, 2, 2], np.int32), values, 3),
        (starts, np.array([1, 0, 3], np.int32), values, 3),
        (starts, np.array([1, 0, -1], np.int32), values, 3),
        (starts, columns, np.ones(2), 3),
    ):
        with pytest.raises(ValueError, match="do not fit together"):
            kernels.SparseVectors(*bad)
    X = sparse.csr_array(np.eye(3))
    rows = (X.indptr, X.indices, X.data, np.ones(3))

    def sweep(biases=2, members=(0, 1), owners=(0, 0, 0), n_scores=3):
        known = np.zeros(n_scores), np.zeros(3), np.zeros(3, bool)
        owned, scored = np.array(owners, np.int32), np.array(members, np.int32)
        kernels.sweep_columns(*rows, good, np.zeros(biases), scored, None, owned, *known, True, 1)
        return owned

    assert_array_equal(sweep(), [1, 0, 1])
    for wrong in (
        {"biases": 3},
        {"members": ()},
        {"members": (1, 0)},
        {"members": (0, 2)},
        {"owners": (0, 2, 0)},
        {"owners": (0, -1, 0)},
        {"n_scores": 2},
    ):
        with pytest.raises(ValueError, match=r"fit|increase|no such component"):
            sweep(**wrong)
    for owners, weights in (((0, 2, 0), None), ((0, 0), None), ((0, 0, 0), np.ones(2))):
        with pytest.raises(ValueError, match=r"fit|no such component|weights"):
            kernels.sum_columns(*rows, np.array(owners, np.int32), weights, 2, 3, 1)
    other = kernels.SparseVectors(np.array([0, 3]), np.arange(3, dtype=np.int32), values, 3)
    for compare in (kernels.sparse_dots, kernels.sparse_differ):
        with pytest.raises(ValueError, match="shapes"):
            compare(good, other)


# ------------------------------------------------------------------------------------ in a fit


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

"""SphericalKMeans: what it maximises, how it ends, its parameters, and Lloyd's iterations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from moved_common import both, densified, documents, walk
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, special
from sklearn.metrics import adjusted_rand_score, silhouette_score

import spheremix as sm
from spheremix import em
from spheremix.data.moved import MovedComponents
from spheremix.estimators.skmeans import lloyd, reseed
from spheremix.metrics import calinski_harabasz_cosine
from spheremix.models.skmeans import SphericalKMeansModel
from spheremix.seeding import largest_cosines
from spheremix.testing.suite import assert_resultants_same_bits
from spheremix.vectors import as_dense, as_sparse, is_sparse


def k_means(**parameters):
    return sm.SphericalKMeans(**{"n_components": 3, "random_state": 0, **parameters})


def plain_lloyd(X, prototypes, weights=None):
    """Iterate until no row moves."""
    weights = np.ones(len(X)) if weights is None else weights
    labels = None
    while True:
        before, labels = labels, (X @ prototypes.T).argmax(axis=1)
        if before is not None and (labels == before).all():
            return prototypes, labels
        sums = np.array([weights[labels == k] @ X[labels == k] for k in range(len(prototypes))])
        prototypes = sums / np.linalg.norm(sums, axis=1, keepdims=True)


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


# --------------------------------------------------------------------------------- what is found


@pytest.mark.parametrize("contain", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_is_lloyd(seed, contain, weighted):
    rng = np.random.default_rng(seed)
    X = unit(rng.normal(size=(200, 5)) + 0.3)
    weights = rng.uniform(0.1, 3.0, 200) if weighted else None
    weight = weights.sum() if weighted else 200
    start = X[:6]
    prototypes, labels = plain_lloyd(X, start, weights)
    fit = k_means(n_components=6, init=start, tol=0.0).fit(contain(3 * X), sample_weight=weights)
    assert fit.status_ == "converged"
    assert_array_equal(fit.labels_, labels)
    assert_allclose(fit.prototypes_, prototypes, atol=1e-13)
    cosines = np.einsum("ij,ij->i", X, prototypes[labels])
    assert_allclose(fit.coherence_, np.average(cosines, weights=weights) * weight, rtol=1e-13)
    assert fit.stationarity_gap_ < 1e-14


def test_abstracts_from_their_true_classes(cstr):
    X, labels = cstr
    fit = sm.SphericalKMeans(n_components=4, init=labels).fit(X)
    assert round(adjusted_rand_score(labels, fit.labels_), 3) == 0.843
    assert len(fit.runs_) == 1


def test_abstracts_from_random_rows(cstr):
    """The paper has 0.802, with a standard deviation of 0.018, for the best of 50 starts."""
    X, labels = cstr
    found = [
        adjusted_rand_score(
            labels, sm.SphericalKMeans(4, n_init=50, random_state=seed).fit(X).labels_
        )
        for seed in range(6)
    ]
    assert abs(np.mean(found) - 0.802) < 0.025


def test_starts_are_those_of_the_mixture(clouds):
    X, _ = clouds()
    seeds = [run.seed for run in k_means().fit(X).runs_]
    mix = sm.VMFMixture(n_components=3, random_state=0).fit(X)
    assert seeds == [run.seed for run in mix.runs_]


# ------------------------------------------------------------------------------- empty clusters


def test_largest_cosines(clouds):
    X, _ = clouds()
    prototypes = np.concatenate([X[:4], X[:1], -X[:1]])  # two alike
    for rows in (X, X.astype(np.float32), sparse.csr_array(X), sparse.csr_array(np.float32(X))):
        exact = sparse.csr_array(rows).toarray().astype(np.float64)
        cosines = exact @ prototypes.T / np.linalg.norm(exact, axis=1, keepdims=True)
        for engine in ("reference", "auto"):
            directions = sm.as_directions(rows, engine=engine)
            found = largest_cosines(directions, prototypes)
            assert_allclose(found, cosines.max(axis=1), rtol=0, atol=1e-15)


def test_an_empty_cluster_goes_to_the_row_served_worst(clouds):
    X, _ = clouds(n=90, d=8)
    start = X[[0, 1, 0]]  # equal cosines: all to the first
    served = (X @ unit(plain_step(X, X[:2])).T).max(axis=1)
    directions = sm.as_directions(X)
    (failed,) = em.fit(SphericalKMeansModel(), directions, [start], em.Settings(e_step="hard"))
    assert failed.status == "collapsed"
    prototypes, n = reseed(directions, failed)
    assert n == 1
    assert_allclose(prototypes[2], X[served.argmin()])
    ((fit, n),) = lloyd(directions, [start], em.Settings(e_step="hard"))
    assert fit.status == "converged"
    assert n == 1
    assert fit.resultants.mass.min() > 0


def plain_step(X, prototypes):
    labels = (X @ prototypes.T).argmax(axis=1)
    return np.array([X[labels == k].sum(axis=0) for k in range(len(prototypes))])


def test_rows_of_no_weight_are_no_seeds(clouds):
    X, _ = clouds(n=90, d=8)
    start = X[[0, 1, 0]]
    weights = np.ones(len(X))
    weights[(X @ unit(plain_step(X, X[:2])).T).max(axis=1).argmin()] = 0.0
    directions = sm.as_directions(X)
    settings = em.Settings(e_step="hard")
    (failed,) = em.fit(SphericalKMeansModel(), directions, [start], settings, weights=weights)
    prototypes, _ = reseed(directions, failed, weights)
    assert not (X[weights == 0] @ prototypes[2] > 1 - 1e-9).any()


def test_reseeding_never_lowers_the_coherence():
    rng = np.random.default_rng(3)
    X = unit(rng.normal(size=(60, 4)))
    n_reseeded = 0
    for _ in range(20):
        one = unit(rng.normal(size=(1, 4)))
        start = np.concatenate([X[:3], -np.tile(X.sum(axis=0) + one, (5, 1))])
        ((fit, n),) = lloyd(sm.as_directions(X), [unit(start)], em.Settings(e_step="hard"))
        n_reseeded += n
        assert fit.ok
        assert np.diff(fit.trace).min() >= -1e-12
        assert fit.resultants.mass.min() > 0
    assert n_reseeded > 20


def test_runs_without_trouble_are_not_touched(clouds):
    X, _ = clouds()
    directions, settings = sm.as_directions(X), em.Settings(e_step="hard")
    bad = X[[0, 1, 0]]
    (first, n_first), (second, n_second) = lloyd(directions, [bad, X[:3]], settings)
    ((alone, _),) = lloyd(directions, [X[:3]], settings)
    assert (n_first, n_second) == (1, 0)
    assert second.n_iter == alone.n_iter
    assert_allclose(second.objective, alone.objective, rtol=1e-13)
    assert first.ok


def test_fewer_distinct_rows_than_clusters():
    X = np.repeat(np.eye(3), 5, axis=0)
    fit = k_means(init="k-means++").fit(X)
    assert_allclose(fit.coherence_, 15)
    with pytest.raises(RuntimeError, match="fewer different rows"):
        k_means(n_components=4).fit(X)
    with pytest.raises(ValueError, match="3 of the 4 prototypes are nearest to no row, and there"):
        k_means(n_components=4, init=np.ones((4, 3))).fit(X)


def test_rows_that_cancel_out():
    X = np.array([[1.0, 0.0], [-1.0, 0.0]])
    with pytest.raises(RuntimeError, match="vanished"):
        k_means(n_components=1, init="random", n_init=1).fit(X)
    with pytest.raises(RuntimeError, match="no_start"):
        k_means(n_components=1).fit(X)
    # A cluster of two opposite rows, and one of two others: the first is put on a row.
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.6, 0.8], [0.6, 0.8]])
    fit = k_means(n_components=2, init=np.array([[0.0, -1.0], [0.6, 0.8]])).fit(X)
    assert fit.status_ == "converged"


# ------------------------------------------------------------------------------------ parameters


# ----------------------------------------------------------------------------------------- using


def test_using(clouds):
    X, _ = clouds(noise=0.8)
    fit = k_means().fit(X)
    Y = 7 * clouds(n=40, noise=0.8, seed=3)[0]
    cosines = unit(Y) @ fit.prototypes_.T
    assert_allclose(fit.transform(Y), cosines, atol=1e-14)
    assert_array_equal(fit.predict(Y), cosines.argmax(axis=1))
    assert_allclose(fit.score(Y), cosines.max(axis=1).mean())
    assert_allclose(fit.score(X), fit.coherence_ / len(X))
    assert_array_equal(fit.labels_, fit.predict(X))


# -------------------------------------------------------------------------------------- validity


def test_calinski_harabasz_is_its_definition(clouds):
    X, labels = clouds(n=60, noise=0.7)
    centres = unit(np.array([X[labels == k].sum(axis=0) for k in range(3)]))
    within = (1 - np.einsum("ij,ij->i", X, centres[labels])).sum()
    total = (1 - X @ unit(X.sum(axis=0, keepdims=True))[0]).sum()
    expected = ((total - within) / 2) / (within / 57)
    for rows in (5 * X, sparse.csr_array(X), sm.as_directions(X)):
        assert_allclose(calinski_harabasz_cosine(rows, labels), expected)
    names = np.array(["a", "b", "c"])[labels]
    assert_allclose(calinski_harabasz_cosine(X, names), expected)


def test_validity_prefers_the_true_number(clouds):
    X, _ = clouds(n=300, n_clouds=4, noise=0.4)
    found = {}
    for k in range(2, 7):
        labels = k_means(n_components=k, n_init=20).fit(X).labels_
        found[k] = (
            calinski_harabasz_cosine(X, labels),
            silhouette_score(sparse.csr_array(X), labels, metric="cosine"),
        )
    for measure in range(2):
        assert max(found, key=lambda k: found[k][measure]) == 4


def test_validity_at_its_limits(clouds):
    X, _ = clouds(n=6, n_clouds=2, noise=0.0)
    assert calinski_harabasz_cosine(X, np.arange(6) % 2) == np.inf
    with pytest.raises(ValueError, match="2 to 5 classes"):
        calinski_harabasz_cosine(X, np.zeros(6))
    with pytest.raises(ValueError, match="one value a row"):
        calinski_harabasz_cosine(X, np.zeros(5))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_mixture_of_spherical_k_means(form):
    """The same labels, and the concentration whose mean cosine is that of the clusters."""
    X = np.abs(np.random.default_rng(3).standard_normal((200, 5)))
    model = k_means(n_init=1, init="random", sparse_prototypes=form is sparse.csr_array)
    model.fit(form(X), sample_weight=np.arange(200.0))
    mixture = model.as_mixture()
    assert_array_equal(mixture.predict(form(X)), model.labels_)
    assert_allclose(mixture.weights_, 1 / 3)
    cosines = np.einsum("ij,ij->i", unit(X), mixture.prototypes_[model.labels_])
    kappa = mixture.kappas_[0]
    ratio = special.ive(2.5, kappa) / special.ive(1.5, kappa)  # A_5, the expected cosine
    assert_allclose(ratio, np.average(cosines, weights=np.arange(200.0)), rtol=1e-10)


def test_the_mixture_of_a_stream_has_its_columns():
    X = pd.DataFrame(np.abs(np.random.default_rng(4).standard_normal((80, 4))), columns=[*"abcd"])
    model = k_means(n_init=1).fit(X[:60])
    model.partial_fit(X[60:])
    mixture = model.as_mixture()
    assert list(mixture.feature_names_in_) == [*"abcd"]
    assert_array_equal(mixture.predict(X), model.predict(X))


# Spherical k-means with sparse components, against dense ones


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


def test_inertia_is_that_of_unit_rows(clouds):
    """Against the definition of KMeans, with weights and rows of other lengths."""
    rows, _ = clouds(noise=0.8)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(rows))
    lengths = np.random.default_rng(1).uniform(0.1, 9.0, (len(rows), 1))
    fit = k_means().fit(rows * lengths, sample_weight=weights)
    squares = ((rows - fit.prototypes_[fit.labels_]) ** 2).sum(axis=1)
    assert fit.inertia_ == pytest.approx(weights @ squares, rel=1e-12)

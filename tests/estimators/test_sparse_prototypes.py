"""SphericalKMeans with sparse prototypes, against dense ones."""

from __future__ import annotations

import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.reading import Reading, align_prototypes

OPTIONS = {"init": "random", "n_init": 1, "random_state": 0}


@pytest.fixture(name="X")
def documents():
    rng = np.random.default_rng(0)
    words = np.where(rng.random((300, 80)) < 0.1, rng.exponential(size=(300, 80)), 0.0)
    words[:, 0] += 0.1  # no row is empty
    return sparse.csr_array(words)


@pytest.fixture(params=[False, True], ids=["dense fit", "sparse fit"])
def eager(request, monkeypatch):
    """Make the fit itself dense, as small ones are, or sparse."""
    if request.param:
        for name in ("LEAST_WORK", "LEAST_COMPONENTS", "SPARSE"):
            monkeypatch.setattr(f"spheremix.data.moved.{name}", 0)


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("engine", ["auto", "reference"])
@pytest.mark.parametrize("init", ["random", "k-means++", "merge", "prototypes", "labels"])
def test_all_methods_give_what_dense_prototypes_give(X, engine, init):
    """Sparse ones, and dense ones of a fit that is sparse inside, against the plain engine."""
    weights = np.random.default_rng(1).exponential(size=300) * (np.arange(300) % 7 > 0)
    start = {"prototypes": X[:9].toarray(), "labels": np.arange(300) % 9}.get(init, init)
    options = {"init": start, "n_init": 2, "random_state": 0}
    plain = sm.SphericalKMeans(9, engine="reference", **options).fit(X, sample_weight=weights)
    found, dense = (
        sm.SphericalKMeans(9, sparse_prototypes=thin, engine=engine, **options).fit(
            X, sample_weight=weights
        )
        for thin in (True, False)
    )
    assert isinstance(dense.prototypes_, np.ndarray)
    assert isinstance(found.prototypes_, sparse.csr_array)
    assert found.prototypes_.nnz == np.count_nonzero(plain.prototypes_)
    assert_allclose(found.prototypes_.toarray(), plain.prototypes_, atol=1e-12)
    assert_allclose(dense.prototypes_, plain.prototypes_, atol=1e-12)
    for one in (found, dense):
        assert_array_equal(one.labels_, plain.labels_)
        assert one.coherence_ == pytest.approx(plain.coherence_, rel=1e-12)
        assert one.n_iter_ == plain.n_iter_
        assert one.stationarity_gap_ == pytest.approx(plain.stationarity_gap_, abs=1e-13)
    for other in (X[50:], X[50:].toarray(), X[50:].astype(np.float32)):
        assert_array_equal(found.predict(other), plain.predict(other))
        assert_allclose(found.transform(other), plain.transform(other), atol=1e-7)
        assert found.score(other) == pytest.approx(plain.score(other), abs=1e-7)
    again = pickle.loads(pickle.dumps(found))  # noqa: S301
    assert_array_equal(again.predict(X), found.labels_)
    assert list(found.get_feature_names_out()) == list(plain.get_feature_names_out())


def test_sparse_prototypes_are_read_as_dense_ones(X):
    names = [f"w{j}" for j in range(80)]
    found = sm.SphericalKMeans(5, sparse_prototypes=True, **OPTIONS).fit(X)
    plain = sm.SphericalKMeans(5, **OPTIONS).fit(X)
    one, other = (Reading(model, names).groups() for model in (found, plain))
    assert [cluster.words for cluster in one] == [cluster.words for cluster in other]
    same = align_prototypes(found.prototypes_, plain.prototypes_)
    assert same.became == {k: k for k in range(5)}


@pytest.mark.usefixtures("eager")
def test_streams_of_sparse_and_dense_batches(X):
    found = sm.SphericalKMeans(6, sparse_prototypes=True, **OPTIONS)
    plain = sm.SphericalKMeans(6, **OPTIONS)
    for batch in (X[:150], X[150:200], X[200:250].toarray(), X[250:]):
        found.partial_fit(batch)
        plain.partial_fit(batch)
        assert isinstance(found.prototypes_, sparse.csr_array)
        assert_allclose(found.prototypes_.toarray(), plain.prototypes_, atol=1e-12)
        assert_array_equal(found.labels_, plain.labels_)


def test_sums_of_a_stream_stay_sparse_after_a_dense_batch(X, monkeypatch):
    """A table of mostly zeros leaves them sparse; one without zeros makes them dense."""
    for name in ("LEAST_WORK", "LEAST_COMPONENTS", "SPARSE"):
        monkeypatch.setattr(f"spheremix.data.moved.{name}", 0)
    found = sm.SphericalKMeans(40, sparse_prototypes=True, **OPTIONS).fit(X[:200])
    plain = sm.SphericalKMeans(40, engine="reference", **OPTIONS).fit(X[:200])
    for batch in (X[200:230].toarray(), X[230:260], X[260:].toarray()):
        found.partial_fit(batch)
        plain.partial_fit(batch)
        sums = found._stream.resultants.vectors
        assert isinstance(sums, sparse.csr_array)
        assert_allclose(sums.toarray(), plain._stream.resultants.vectors, atol=1e-12)
    found.partial_fit(X[:200].toarray() + 0.01)
    assert isinstance(found._stream.resultants.vectors, np.ndarray)
    assert_array_equal(found.partial_fit(X[200:]).labels_, found.predict(X[200:]))


@pytest.mark.usefixtures("eager")
def test_sparse_prototypes_are_a_start(X):
    start = X[:7]
    found = sm.SphericalKMeans(7, init=start, sparse_prototypes=True).fit(X)
    plain = sm.SphericalKMeans(7, init=start.toarray()).fit(X)
    assert_allclose(found.prototypes_.toarray(), plain.prototypes_, atol=1e-14)
    for given in (start.tocoo(), start.tocsc(), found):
        again = sm.SphericalKMeans(7, init=given).fit(X)
        assert_allclose(again.prototypes_, plain.prototypes_, atol=1e-14)
    warm = sm.SphericalKMeans(7, init=start, sparse_prototypes=True, warm_start=True)
    assert warm.fit(X).fit(X).n_iter_ == 1
    mixture = sm.VMFMixture(7, init=found, max_iter=2, tol=1.0).fit(X)
    other = sm.VMFMixture(7, init=plain, max_iter=2, tol=1.0).fit(X)
    assert_allclose(mixture.prototypes_, other.prototypes_, atol=1e-10)


def test_bad_starts_are_refused(X):
    with pytest.raises(ParameterError, match=r"prototypes of shape \(7, 80\)"):
        sm.SphericalKMeans(7, init=X[:6]).fit(X)
    empty = X[:7].tolil()
    empty[3] = 0.0
    with pytest.raises(ParameterError, match="prototype 3 is zero"):
        sm.SphericalKMeans(7, init=empty).fit(X)


@pytest.mark.parametrize("n_lost", [0, 200])
def test_many_clusters_in_many_dimensions_need_no_dense_matrix(n_lost):
    """Dense they would be 4 GB, each time."""
    rng = np.random.default_rng(1)
    K, d, n, length = 1000, 500_000, 1500, 20
    columns = rng.integers(d, size=(n, length))
    columns[:, 0] = 0
    entries = (
        rng.exponential(size=n * length),
        columns.ravel(),
        np.arange(0, n * length + 1, length),
    )
    X = sparse.csr_array(entries, shape=(n, d))
    X.sum_duplicates()
    start = sparse.vstack([X[: K - n_lost], -X[:n_lost]]) if n_lost else "random"
    options = {**OPTIONS, "init": start, "n_threads": 1}
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of prototypes that are nearest to no row
        model = sm.SphericalKMeans(K, sparse_prototypes=True, **options).fit(X)
    assert_array_equal(model.predict(X), model.labels_)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6
    assert model.prototypes_.shape == (K, d)
    assert model.prototypes_.nnz <= X.nnz

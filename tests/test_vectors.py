"""Vectors of all components, dense and sparse, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from spheremix import vectors
from spheremix.models.base import DegenerateError
from spheremix.models.skmeans import SphericalKMeansModel
from spheremix.resultants import Resultants
from spheremix.vectors import as_dense, as_sparse, is_sparse


def some(rng, K=7, d=20):
    M = np.where(rng.random((K, d)) < 0.3, rng.normal(size=(K, d)), 0.0)
    M[2] = 0.0
    return M


FORMS = {"dense": np.asarray, "sparse": as_sparse}
forms = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
pure = pytest.mark.parametrize("pure", [False, True], ids=["compiled", "pure"])


@pure
@forms
def test_what_is_calculated(form, pure, monkeypatch):
    if pure:
        monkeypatch.setattr(vectors, "kernels", None)
    rng = np.random.default_rng(0)
    one, other = some(rng), some(rng)
    expected = np.array([sum(a * b for a, b in zip(*rows)) for rows in zip(one, other)])  # noqa: B905
    assert_allclose(vectors.dots(form(one), form(other)), expected, atol=1e-14)
    assert vectors.product(form(one), form(other)) == pytest.approx(expected.sum(), abs=1e-14)
    lengths = vectors.lengths(form(one))
    assert_allclose(lengths, [sum(a * a for a in row) ** 0.5 for row in one], rtol=1e-14)
    by = np.where(lengths > 0.0, lengths, 1.0)
    found = vectors.divided(form(one), by)
    assert is_sparse(found) == is_sparse(form(one))
    assert_array_equal(as_dense(found), one / by[:, None])
    found = vectors.scaled(form(one), by)
    assert is_sparse(found) == is_sparse(form(one))
    assert_array_equal(as_dense(found), one * by[:, None])
    assert_allclose(vectors.inner_products(as_sparse(one)), one @ one.T, atol=1e-14)


@forms
def test_several_parts_and_sums_of_labels(form):
    rng = np.random.default_rng(5)
    one, other = some(rng), some(rng, K=3)
    given = form(one), form(other)
    found = vectors.stacked(given)
    assert is_sparse(found) == is_sparse(given[0])
    assert_array_equal(as_dense(found), [*one, *other])
    labels = np.array([2, 0, 2, 2, 0, 3, 2])  # nobody has label 1
    found = vectors.added_up(given[0], labels, 5)
    expected = [sum((one[i] for i in np.flatnonzero(labels == k)), np.zeros(20)) for k in range(5)]
    assert is_sparse(found) == is_sparse(given[0])
    assert_allclose(as_dense(found), expected, atol=1e-15)


@forms
def test_some_are_replaced(form):
    rng = np.random.default_rng(1)
    M, rows = some(rng), some(rng, K=3)
    places = np.array([False, True, True, False, False, True, False])
    given = form(M)
    found = vectors.replaced(given, places, rows)
    expected = M.copy()
    expected[places] = rows
    assert_array_equal(as_dense(found), expected)
    assert_array_equal(as_dense(given), M)
    assert is_sparse(found) == is_sparse(given)


def test_products_of_both_forms():
    rng = np.random.default_rng(4)
    one, other = some(rng), some(rng)
    expected = (one * other).sum(axis=1)
    assert_allclose(vectors.dots(as_sparse(one), other), expected, atol=1e-14)
    assert vectors.product(one, as_sparse(other)) == pytest.approx(expected.sum(), abs=1e-14)


def test_any_sparse_matrix_is_taken_and_not_changed():
    parts = ([1.0, 2.0, 4.0, 8.0], ([1, 0, 0, 1], [2, 3, 1, 2]))
    given = sparse.coo_array(parts, shape=(2, 5), dtype=np.float32)
    found = vectors.canonical(given)
    assert_array_equal(as_dense(found), [[0, 4, 0, 2, 0], [0, 0, 9, 0, 0]])
    assert_array_equal(found.indices, [1, 3, 2])
    assert given.nnz == 4
    unsorted = sparse.csr_array(([1.0, 2.0], [3, 0], [0, 2]), shape=(1, 4))
    assert_array_equal(vectors.canonical(unsorted).indices, [0, 3])
    assert_array_equal(unsorted.indices, [3, 0])


def test_there_and_back():
    M = some(np.random.default_rng(2))
    assert_array_equal(as_dense(as_sparse(M)), M)
    thin = as_sparse(M)
    assert as_sparse(thin) is thin
    assert as_dense(M) is M
    assert vectors.suited(object(), M) is M


def test_spherical_k_means_takes_both_forms():
    rng = np.random.default_rng(3)
    model, M = SphericalKMeansModel(), some(rng)
    M[2, 0] = 1.0
    prototypes = some(rng)
    mass = rng.exponential(size=len(M))
    dense = model.m_step(Resultants(mass, M, 1.0, 0.0, mass.sum()), prototypes)
    thin = Resultants(mass, as_sparse(M), 1.0, 0.0, mass.sum())
    found = model.m_step(thin, as_sparse(prototypes))
    assert_allclose(as_dense(found.parameters), dense.parameters, atol=1e-15)
    assert found.gain == pytest.approx(dense.gain, abs=1e-13)
    for form in FORMS.values():
        M[2] = 0.0
        gone = Resultants(mass, form(M), 1.0, 0.0, mass.sum())
        with pytest.raises(DegenerateError, match="component 2: vanished"):
            model.m_step(gone, form(prototypes))
        with pytest.raises(DegenerateError, match="component 2: vanished"):
            model.start(gone, form(M))

"""Memory of a fit above its input, in matrices of K x d doubles: what NumPy has at its peak."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

import spheremix as sm

K, D = 40, 20_000


def rows():
    rng = np.random.default_rng(0)
    columns = rng.integers(D, size=(400, 20)) // 2 + np.repeat([[0], [D // 2]], 200, axis=0)
    indptr = np.arange(0, columns.size + 1, 20)
    return sparse.csr_array((np.ones(columns.size), columns.ravel(), indptr), shape=(400, D))


@pytest.mark.parametrize(("make", "most"), [(sm.VMFMixture, 6.5), (sm.SphericalKMeans, 4.5)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_holds_few_matrices_at_a_time(make, most):
    X, estimator = rows(), make(K, init="random", n_init=1, max_iter=3, random_state=0, n_threads=1)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        estimator.fit(X)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert peak < most * 8 * K * D

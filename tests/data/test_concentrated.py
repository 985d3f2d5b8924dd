"""What model.md and big.md say of float32 rows holds from kappa = 1 to 1e8, on every engine."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import spheremix as sm
from spheremix._optional import kernels
from spheremix.data.base import FLOAT32_LENGTH, arithmetic
from spheremix.scorer import Scorer

N, D = 1200, 32
KAPPAS = [1.0, 30.0, 300.0, 1e3, 1e4, 1e6, 1.5e7, 1e8]
# Nats a row and unit of kappa by which the objective of float32 rows may be wrong.
# Of a product, in units of kappa; libraries differ by a few roundings.
NOISE = {"float32": 3e-8, "float64": 1e-15}

OPEN = {
    "dense": sm.as_directions,
    "csr": lambda X: sm.as_directions(sparse.csr_array(X)),
    "blocks": lambda X: sm.as_directions(X, block_rows=512),
    "csr in blocks": lambda X: sm.as_directions(sparse.csr_array(X), block_rows=512),
    "dask": lambda X: sm.as_directions(da.from_array(X, chunks=(500, D))),
    "reference": lambda X: sm.as_directions(X, engine="reference"),
    "torch": lambda X: sm.as_directions(X, engine="torch"),
    "torch csr": lambda X: sm.as_directions(sparse.csr_array(X), engine="torch"),
}


def open_as(engine, X):
    if engine.startswith("torch"):
        pytest.importorskip("torch")
    return OPEN[engine](X)


def rows_and_centres(kappa):
    """Return float32 rows of groups that overlap, however concentrated they are."""
    rng = np.random.default_rng(7)
    K = 1 if kappa < 10 else 3  # nearly uniform groups are one group
    apart = min(1.0, 2.5 / kappa**0.5)
    centres = rng.normal(size=D) / D**0.5 + apart * rng.normal(size=(K, D)) / D**0.5
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    groups = [
        sm.VonMisesFisher(centre, kappa).rvs(N // K, random_state=k)
        for k, centre in enumerate(centres)
    ]
    lengths = np.exp(rng.normal(size=(N, 1)))  # norms that float32 does not hold exactly
    return (np.concatenate(groups) * lengths).astype(np.float32), centres


def noise_of(kappas):
    """Return what float32 rows may cost at these concentrations, in nats a row."""
    scorer = Scorer(np.diag(np.atleast_1d(kappas)), np.zeros(np.size(kappas)))
    return NOISE[arithmetic(np.dtype(np.float32), [scorer]).name] * np.max(kappas)


@pytest.mark.parametrize("kappa", KAPPAS)
@pytest.mark.parametrize("engine", OPEN)
def test_a_fit_of_float32_rows_is_what_is_said(engine, kappa):
    X, centres = rows_and_centres(kappa)
    directions = open_as(engine, X)
    traced = []
    mixture = sm.VMFMixture(
        len(centres),
        kappa="free",
        kappa_max=1e10,
        init=centres,
        random_state=0,
        callback=lambda progress: traced.append(progress.objective),
    )
    mixture.fit(directions)
    assert mixture.status_ == "converged"
    noise = N * noise_of(mixture.kappas_)
    objectives = np.array(traced)
    rounding = noise + 1e-12 * np.abs(objectives).max()
    assert (np.diff(objectives) >= -rounding).all()

    exact = sm.as_directions(X.astype(float), engine="reference")
    scorer = mixture.scorer_
    true = exact.map_rows(scorer, "log_density").sum()
    assert_allclose(mixture.objective_, true, 0, rounding)

    scores = exact.map_rows(scorer, "scores")
    ordered = np.sort(scores, axis=1)
    clear = (ordered[:, -1:] - ordered[:, :-1] > 100 * noise / N).all(axis=1)
    assert clear.mean() > 0.99
    assert_array_equal(mixture.labels_[clear], scores.argmax(axis=1)[clear])


@pytest.mark.parametrize("kappa", [kappa for kappa in KAPPAS if kappa > FLOAT32_LENGTH])
@pytest.mark.parametrize("engine", OPEN)
def test_concentrated_float32_rows_are_fitted_as_float64_ones(engine, kappa):
    X, centres = rows_and_centres(kappa)
    options = {"kappa": "free", "kappa_max": 1e10, "init": centres, "random_state": 0}
    single = sm.VMFMixture(len(centres), **options).fit(open_as(engine, X))
    double = sm.VMFMixture(len(centres), **options).fit(X.astype(float))
    assert_array_equal(single.labels_, double.labels_)
    assert_allclose(single.kappas_, double.kappas_, 1e-4)
    assert_allclose(single.objective_, double.objective_, 0, N * (2 * single.tol + 1e-15 * kappa))


def test_the_longest_prototype_of_a_sweep_decides():
    double, single = np.dtype(np.float64), np.dtype(np.float32)
    short = Scorer(np.eye(3) * FLOAT32_LENGTH, np.zeros(3))
    long = Scorer(np.diag([1.0, FLOAT32_LENGTH * (1 + 1e-9), 1.0]), np.zeros(3))
    broken = Scorer(np.diag([1.0, np.nan, 1.0]), np.zeros(3))
    assert arithmetic(single, [short, short]) == single
    assert arithmetic(single, [short, long]) == double
    assert arithmetic(single, [broken]) == double
    assert arithmetic(double, [short]) == double
    assert arithmetic(single, []) == single


@pytest.mark.skipif(kernels is None, reason="no compiled kernels")
@pytest.mark.parametrize("sparse_rows", [False, True])
def test_short_prototypes_are_multiplied_in_float32(sparse_rows):
    """Ordinary concentrations cost nothing: the last digits show which arithmetic was used."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, D)).astype(np.float32)
    rows = sm.as_directions(sparse.csr_array(X) if sparse_rows else X)
    exact = sm.as_directions(X.astype(float))
    matrix = rng.normal(size=(3, D))
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    for length, low, high in (
        (0.99 * FLOAT32_LENGTH, 1e-9, 1e-6),
        (1.01 * FLOAT32_LENGTH, 0, 1e-14),
    ):
        scorer = Scorer(length * matrix, np.zeros(3))
        error = rows.map_rows(scorer, "scores") - exact.map_rows(scorer, "scores")
        assert low * length <= np.abs(error).max() <= high * length

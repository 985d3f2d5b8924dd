"""The prior of concentrations: no kappa does better, in Python and compiled; no more caps."""

from __future__ import annotations

import numpy as np
import pytest
from maximise_common import modes, old, solvers, some_resultants
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from spheremix import as_directions, em
from spheremix.bessel import mean_length
from spheremix.models.profile import FLAT, KappaPrior
from spheremix.models.vmf import VMFModel
from spheremix.penalties import L1
from spheremix.testing import check_model


def solved(solve, vectors, mass, l1, mode, prior, kappa_max=1e6):
    return solve(vectors, mass, l1, mode, kappa_max, *old(vectors), prior=prior)


@solvers
@modes
@pytest.mark.parametrize("beta", [0.0, 4.0, 40.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("prior", [(1.0, 0.0), (200.0, 0.9)])
def test_no_kappa_on_a_grid_is_better(solve, mode, beta, weighted, prior, log_c_grid):
    prior = KappaPrior(prior[0], prior[0] * prior[1])
    grid = np.geomspace(1e-3, 1e6, 120)
    for seed, (d, spread) in enumerate([(3, 0.0), (12, 0.3)]):
        vectors, mass = some_resultants(seed, d, 2, 9, spread)
        weights = np.linspace(0.0, 2.0, d) if weighted else None
        l1 = L1(beta, weights)
        best = solved(solve, vectors, mass, l1, mode, prior)

        def values(kappas, vectors=vectors, mass=mass, l1=l1, d=d):
            """Return the objective of each component and kappa, from the definition."""
            margins = kappas[:, None, None] * np.abs(vectors) - l1.thresholds
            above = np.sqrt((np.maximum(margins, 0.0) ** 2).sum(axis=2))
            profiles = np.where(above > 0.0, above, margins.max(axis=2))
            return profiles + mass * log_c_grid(d, kappas)[:, None]

        def log_prior(kappas, d=d):
            return prior.mass * log_c_grid(d, kappas) + prior.length * kappas

        slack = 1e-12 * (mass.sum() + prior.mass) * (1 + best.kappas.max() + abs(beta))
        if mode == "shared":
            there = values(best.kappas[:1]).sum() + log_prior(best.kappas[:1])[0]
            assert (values(grid).sum(axis=1) + log_prior(grid)).max() <= there + slack
        else:
            there = np.diag(values(best.kappas)) + log_prior(best.kappas)
            assert np.all((values(grid) + log_prior(grid)[:, None]).max(axis=0) <= there + slack)
        assert_allclose(best.prototypes, l1.directions(best.kappas, vectors), atol=1e-9)


@solvers
@modes
def test_without_penalty_it_adds_to_both_sums(solve, mode):
    prior = KappaPrior(3.0, 1.2)
    vectors, mass = some_resultants(1, 12, 3, 9, 0.4)
    lengths = np.linalg.norm(vectors, axis=1)
    best = solved(solve, vectors, mass, L1(), mode, prior)
    for k in range(3):
        mine = slice(None) if mode == "shared" else slice(k, k + 1)
        wanted = (lengths[mine].sum() + 1.2) / (mass[mine].sum() + 3.0)
        kappa = brentq(lambda kappa, wanted=wanted: mean_length(12, kappa) - wanted, 1e-6, 1e5)
        assert_allclose(best.kappas[k], kappa, rtol=1e-9)
    assert_allclose(best.prototypes, vectors / lengths[:, None], rtol=1e-12)


@solvers
@modes
def test_identical_rows_have_a_finite_concentration(solve, mode):
    """Without a prior they end at the cap."""
    row = np.random.default_rng(0).normal(size=20)
    vectors = np.array([5.0, 2.0])[:, None] * row / np.linalg.norm(row)
    mass = np.array([5.0, 2.0])
    assert np.all(solved(solve, vectors, mass, L1(), mode, FLAT).kappas == 1e6)
    kappas = solved(solve, vectors, mass, L1(), mode, KappaPrior(1.0, 0.0)).kappas
    means = mean_length(20, kappas)
    assert_allclose(means, [7 / 8] * 2 if mode == "shared" else [5 / 6, 2 / 3], rtol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        VMFModel(8, "shared", prior=KappaPrior(4.0, 1.0)),
        VMFModel(8, "free", prior=KappaPrior(1.0, 0.0)),
        VMFModel(8, "free", L1(5.0, np.linspace(0.0, 2.0, 8)), prior=KappaPrior(4.0, 3.0)),
        VMFModel(8, 10.0, prior=KappaPrior(4.0, 3.0)),
    ],
    ids=["shared", "free", "sparse", "given"],
)
def test_gains_include_the_prior(model):
    check_model(model)


def test_it_is_the_posterior_of_rows_seen_before():
    """Two batches: the resultant of the first along its direction is the prior of the second."""
    rng = np.random.default_rng(0)
    rows = np.abs(rng.normal(size=(40, 6)) + 3.0 * np.eye(6)[0])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    length = np.linalg.norm(rows.sum(axis=0))
    plain = VMFModel(6, "free")
    (swept,) = as_directions(rows).sweep(
        [plain.scorer(plain.parameters(np.eye(6)[:1], np.ones(1), np.ones(1)))]
    )
    halved = VMFModel(6, "free", prior=KappaPrior(40.0, float(length)))
    start = plain.parameters(np.eye(6)[:1], np.ones(1), np.ones(1))
    one = plain.m_step(swept, start).parameters
    two = halved.m_step(swept, start).parameters
    assert_allclose(one.kappas, two.kappas, rtol=1e-9)  # twice the rows, the same mean length
    fits = em.fit(halved, as_directions(rows), [start], em.Settings())
    assert (
        fits[0].objective
        < 2 * em.fit(plain, as_directions(rows), [start], em.Settings())[0].objective + 1e-6
    )

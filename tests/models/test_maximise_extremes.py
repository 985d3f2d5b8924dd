"""The exact M-step where its answer is known: closed forms and extremes."""

from __future__ import annotations

import numpy as np
import pytest
from maximise_common import modes, solved, solvers, some_resultants
from numpy.testing import assert_allclose, assert_array_equal

from spheremix.penalties import L1

# ------------------------------------------------------------------------------------- closed forms


@solvers
@pytest.mark.parametrize("d", [2, 3, 10, 300])
@pytest.mark.parametrize("spread", [0.05, 1.0, 20.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_without_a_penalty_it_is_the_closed_form(solve, d, spread, weighted, mean_length_oracle):
    vectors, mass = some_resultants(d, d, 3, 15, spread)
    lengths = np.linalg.norm(vectors, axis=1)
    weights = np.linspace(0, 2, d) if weighted else None
    given_kappas = np.array([0.5, 20.0, 1e4])
    for mode in ("shared", "free", given_kappas):
        best = solved(solve, vectors, mass, 0.0, mode, weights)
        assert_allclose(best.prototypes, vectors / lengths[:, None], rtol=1e-13, atol=1e-15)
        assert_allclose(best.dots, lengths, rtol=1e-13)
        if isinstance(mode, np.ndarray):
            assert_array_equal(best.kappas, mode)
            continue
        means = [mean_length_oracle(d, kappa) for kappa in best.kappas]
        wanted = lengths / mass if mode == "free" else [lengths.sum() / mass.sum()] * 3
        # 1 - A is what decides a large kappa.
        assert_allclose(1 - np.array(means), 1 - np.array(wanted), rtol=1e-9)
        assert_allclose(means, wanted, rtol=1e-12)


@solvers
@pytest.mark.parametrize("beta", [0.0, 5.0, 200.0])
def test_given_kappas_are_kept_whatever_the_cap(solve, beta):
    vectors, mass = some_resultants(3, 20, 3, 10, 1.0)
    kappas = np.array([0.1, 40.0, 1e5])
    best = solved(solve, vectors, mass, beta, kappas, kappa_max=100.0)
    assert_array_equal(best.kappas, kappas)
    for k in range(3):
        alone = L1(beta).directions(kappas[k : k + 1], vectors[k : k + 1])[0]
        assert_allclose(best.prototypes[k], alone, rtol=1e-12, atol=1e-15)


# ----------------------------------------------------------------------------------------- extremes


@solvers
@modes
@pytest.mark.parametrize("d", [2, 7, 500])
@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_identical_rows_reach_the_cap(solve, mode, d, beta):
    row = np.random.default_rng(d).normal(size=d)
    row /= np.linalg.norm(row)
    for length in (1 - 1e-16, 1.0, 1 + 4e-16, 1 + 1e-12):  # rounding goes both ways
        vectors, mass = 17 * length * row[None], np.array([17.0])
        best = solved(solve, vectors, mass, beta, mode, kappa_max=1e4)
        assert_array_equal(best.kappas, [1e4])
        assert np.all(np.isfinite(best.prototypes))


@solvers
@modes
@pytest.mark.parametrize("beta", [0.0, 2.0])
@pytest.mark.parametrize("size", [1e-17, 1e-12, 1e-5])
def test_tiny_kappa(solve, mode, size, beta):
    """A_d(kappa) is kappa / d there."""
    vectors, mass = np.array([[3.0, -4.0, 0.0, 0.0, 0.0]]) * size, np.array([10.0])
    best = solved(solve, vectors, mass, beta, mode)
    if beta == 0.0:
        assert_allclose(best.prototypes, [[0.6, -0.8, 0, 0, 0]], rtol=1e-14)
    else:
        assert_array_equal(best.prototypes, [[0, -1, 0, 0, 0]])
    # Without a penalty <mu, r> is 5 and what a kappa is worth, d (|r| / n)^2, is below rounding
    # for the smaller sizes: any kappa between those of one coordinate and of all is as good.
    closed = 5 * np.array([4, 5]) * size / 10
    if size == 1e-5 or beta:
        assert_allclose(best.kappas, closed[0 if beta else 1], rtol=2e-9)
    assert np.all((best.kappas >= closed[0] * (1 - 2e-9)) & (best.kappas <= closed[1] * (1 + 2e-9)))


@solvers
@modes
@pytest.mark.parametrize("gap", [1e-4, 1e-7, 1e-10])
def test_huge_kappa(solve, mode, gap):
    """1 - A_d(kappa) is (d - 1) / (2 kappa) there."""
    row = np.array([[0.6, 0.0, -0.8]])
    best = solved(solve, 50 * (1 - gap) * row, np.array([50.0]), 0.0, mode, kappa_max=1e14)
    assert_allclose(best.kappas, 1 / gap, rtol=2 * gap + 1e-16 / gap * 10)


@solvers
def test_duplicated_coordinates_leave_together(solve):
    vectors = np.repeat([[3.0, -2.0, 1.0]], 4, axis=0).reshape(1, -1)
    for beta in (0.0, 3.0, 10.0, 30.0):
        (mu,) = solved(solve, vectors, np.array([20.0]), beta, "free").prototypes
        if np.count_nonzero(mu) > 1:
            assert_allclose(mu, np.tile(mu[:3], 4), rtol=1e-14)
        else:
            assert_array_equal(mu, np.eye(12)[0])  # the first of the largest


@solvers
def test_huge_penalty_is_one_hot_with_the_kappa_of_one_coordinate(solve, mean_length_oracle):
    vectors, mass = some_resultants(5, 30, 3, 25, 1.0)
    largest = np.abs(vectors).max(axis=1)
    best = solved(solve, vectors, mass, 1e6, "free")
    expected = np.zeros_like(vectors)
    index = np.abs(vectors).argmax(axis=1)
    expected[range(3), index] = np.sign(vectors[range(3), index])
    assert_array_equal(best.prototypes, expected)
    assert_allclose(
        [mean_length_oracle(30, kappa) for kappa in best.kappas], largest / mass, rtol=1e-12
    )
    best = solved(solve, vectors, mass, 1e6, "shared")
    assert_allclose(mean_length_oracle(30, best.kappas[0]), largest.sum() / mass.sum(), rtol=1e-12)


@solvers
@modes
def test_features_without_weight_are_kept_and_heavy_ones_leave(solve, mode):
    vectors, mass = some_resultants(6, 10, 2, 30, 1.0)
    weights = np.array([0.0, 0.0, 1e9, 1e9, *np.ones(6)])
    best = solved(solve, vectors, mass, 1.0, mode, weights)
    assert np.all(best.prototypes[:, :2] != 0)
    assert_array_equal(best.prototypes[:, 2:4], 0)


@solvers
def test_inputs_are_not_changed_and_the_guess_does_not_matter(solve):
    vectors, mass = some_resultants(7, 25, 3, 30, 1.0)
    copies = vectors.copy(), mass.copy()
    answers = [solved(solve, vectors, mass, 4.0, "free", guess=g) for g in (1e-6, 5.0, 30.0, 1e8)]
    assert_array_equal(vectors, copies[0])
    assert_array_equal(mass, copies[1])
    for answer in answers[1:]:
        assert_allclose(answer.kappas, answers[0].kappas, rtol=1e-11)

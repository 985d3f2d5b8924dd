"""The exact M-step: no concentration and no prototype does better, in Python and compiled."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from maximise_common import modes, old, solved, solvers, some_resultants
from numpy.testing import assert_allclose, assert_array_equal

from spheremix._optional import kernels
from spheremix.models.maximise import maximise, maximise_in_python
from spheremix.penalties import L1


def profile(kappas, r, thresholds):
    """Return the largest kappa <mu, r> - sum of t_j |mu_j| over unit mu, for each kappa."""
    values = []
    for kappa in kappas:
        margin = kappa * np.abs(r) - thresholds
        above = margin[margin > 0]
        values.append(np.sqrt(above @ above) if above.size else margin.max())
    return np.array(values)


def heights(kappas, vectors, mass, beta, weights, log_c):
    """Return the value of each kappa, one curve a component, with the best prototypes for it."""
    thresholds = beta * (np.ones(vectors.shape[1]) if weights is None else weights)
    normalizers = log_c(vectors.shape[1], kappas)
    return np.array(
        [
            m * normalizers + profile(kappas, r, thresholds)
            for r, m in zip(vectors, mass, strict=True)
        ]
    )


def reached(best, vectors, mass, beta, weights, log_c):
    """Return what each component of an answer is worth, from the definition."""
    thresholds = beta * (np.ones(vectors.shape[1]) if weights is None else weights)
    return (
        mass * log_c(vectors.shape[1], best.kappas)
        + best.kappas * (best.prototypes * vectors).sum(axis=1)
        - np.abs(best.prototypes) @ thresholds
    )


@st.composite
def problems(draw, spreads=(0.0, 0.05, 0.5, 2.0, 30.0)):
    d = draw(st.sampled_from([2, 3, 5, 12, 40, 150]))
    n_components = draw(st.integers(1, 3))
    n_each = draw(st.integers(1, 40))
    spread = draw(st.sampled_from(spreads))
    seed = draw(st.integers(0, 10**6))
    vectors, mass = some_resultants(seed, d, n_components, n_each, spread)
    kind = draw(st.sampled_from(["none", "mixed", "zeros"]))
    rng = np.random.default_rng(seed)
    weights = {"none": None, "mixed": rng.uniform(0.2, 3, d), "zeros": rng.choice([0.0, 1.0], d)}
    ratio = draw(st.sampled_from([0.0, 1e-3, 0.1, 0.5, 1.0, 3.0, 30.0]))
    # Around kappa |r_j| of a spread-out resultant, where coordinates come and go.
    beta = ratio * np.sqrt(d) * mass.max() / 4
    mode = draw(st.sampled_from(["shared", "free"]))
    return vectors, mass, float(beta), weights[kind], mode


def test_quadrature_agrees_with_interval_arithmetic(log_c, log_c_grid):
    """The oracle of this file, against a slower one."""
    for d in (2, 3, 40, 400):
        kappas = np.array([1e-3, 0.5, 30.0, 4e3, 1e6])
        exact = [log_c(d, kappa) for kappa in kappas]
        assert_allclose(log_c_grid(d, kappas), exact, rtol=1e-12, atol=1e-12)


# -------------------------------------------------------------------------------------- brute force


@solvers
@settings(max_examples=50)
@given(problem=problems())
def test_no_kappa_on_a_grid_is_better(solve, problem, log_c_grid):
    vectors, mass, beta, weights, mode = problem
    best = solved(solve, vectors, mass, beta, mode, weights, kappa_max=1e6)
    value = reached(best, vectors, mass, beta, weights, log_c_grid)
    near = np.outer(best.kappas, 1 + np.array([-1e-2, -1e-4, 1e-4, 1e-2])).ravel()
    grid = np.sort(np.concatenate([np.geomspace(1e-4, 1e6, 400), near[near <= 1e6]]))
    curves = heights(grid, vectors, mass, beta, weights, log_c_grid)
    if mode == "shared":
        assert len(set(best.kappas)) == 1
        curves, value = curves.sum(axis=0, keepdims=True), value.sum(keepdims=True)
    # Each value is a difference of terms of the size of mass kappa.
    slack = 1e-13 * (mass.sum() * (np.abs(log_c_grid(vectors.shape[1], grid)) + grid) + beta)
    allowed = 1e-13 * mass.sum() * (1 + best.kappas.max())
    assert np.all((curves - slack).max(axis=1) <= value + allowed)


@solvers
@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("beta", [0.0, 2.0, 8.0, 60.0])
def test_nothing_on_a_grid_of_prototypes_and_kappas_is_better(solve, d, beta, log_c_grid):
    """No formula of the profile here: every mu and kappa of a grid, valued by definition."""
    angles = np.linspace(0, np.pi, 61)
    if d == 2:
        grid = np.column_stack([np.cos(2 * angles), np.sin(2 * angles)])
    else:
        polar, azimuth = (axis.ravel() for axis in np.meshgrid(angles, 2 * angles))
        grid = np.column_stack(
            [np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)]
        )
    kappas = np.geomspace(1e-2, 1e3, 300)
    for seed in range(5):
        vectors, mass = some_resultants(seed, d, 1, 12, 0.7)
        values = (
            mass * log_c_grid(d, kappas)[:, None]
            + kappas[:, None] * (grid @ vectors[0])
            - beta * np.abs(grid).sum(axis=1)
        )
        best = solved(solve, vectors, mass, beta, "free")
        (value,) = reached(best, vectors, mass, beta, None, log_c_grid)
        assert values.max() <= value + 1e-10
        assert values.max() >= value - 0.1 * mass[0]  # the grid comes near


@solvers
@modes
@pytest.mark.parametrize("beta", [0.0, 3.0])
def test_the_cap_binds_exactly_where_the_maximum_is_beyond_it(solve, mode, beta, log_c_grid):
    vectors, mass = some_resultants(0, 12, 2, 20, 0.3)
    free = solved(solve, vectors, mass, beta, mode)
    for share, capped in ((0.5, True), (2.0, False)):
        cap = share * free.kappas.min()
        if mode == "free" and not capped:
            cap = share * free.kappas.max()
        best = solved(solve, vectors, mass, beta, mode, kappa_max=cap)
        if capped:
            assert_array_equal(best.kappas, cap)
        else:
            assert_allclose(best.kappas, free.kappas, rtol=1e-10)
        assert_allclose(
            best.prototypes, L1(beta).directions(best.kappas, vectors), rtol=1e-10, atol=1e-14
        )
        grid = np.linspace(1e-3, cap, 400)
        curves = heights(grid, vectors, mass, beta, None, log_c_grid)
        value = reached(best, vectors, mass, beta, None, log_c_grid)
        if mode == "shared":
            assert curves.sum(axis=0).max() <= value.sum() + 1e-9
        else:
            assert np.all(curves.max(axis=1) <= value + 1e-9)


# ------------------------------------------------------------------------ several stationary points


def several_maxima(seed, beta):
    """Return the resultant of 68 rows without a common direction, in 400 dimensions."""
    rows = np.random.default_rng(seed).normal(size=(68, 400))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows.sum(axis=0)[None], np.array([68.0]), beta


@pytest.fixture(scope="module")
def landscape(log_c_grid):
    """Return the curve over kappa, each computed once."""

    @functools.cache
    def landscape(seed, beta):
        kappas = np.geomspace(2, 80, 4001)
        return kappas, heights(kappas, *several_maxima(seed, beta), None, log_c_grid)[0]

    return landscape


@solvers
@pytest.mark.parametrize(
    ("seed", "beta", "n_stationary", "winner"),
    [
        (10, 10.94, 3, "last"),  # 8.2, 8.5 and 47.7
        (2, 10.94, 5, "last"),
        (10, 20.0, 3, "first"),
    ],
)
@pytest.mark.parametrize("guess", [1e-3, 8.2, 8.5, 47.7, 1e5])
def test_best_of_several_stationary_points(
    solve, seed, beta, n_stationary, winner, guess, landscape, log_c_grid
):
    kappas, curve = landscape(seed, beta)
    rises = np.diff(curve) > 0
    turns = np.flatnonzero(rises[1:] != rises[:-1]) + 1
    assert len(turns) == n_stationary
    assert rises[0]
    assert not rises[-1]
    maxima = turns[::2]
    expected = kappas[maxima[curve[maxima].argmax()]]
    assert expected == kappas[{"first": maxima[0], "last": maxima[-1]}[winner]]
    vectors, mass, _ = several_maxima(seed, beta)
    best = solved(solve, vectors, mass, beta, "free", guess=guess)
    assert_allclose(best.kappas, expected, rtol=2 * (kappas[1] / kappas[0] - 1))
    assert reached(best, vectors, mass, beta, None, log_c_grid)[0] >= curve.max() - 1e-9


@solvers
def test_the_answer_jumps_where_two_maxima_are_worth_the_same(solve):
    before, after = (
        solved(solve, *several_maxima(10, beta), "free").kappas[0] for beta in (19.459, 19.4595)
    )
    assert before > 38
    assert after < 9


# ------------------------------------------------------------------- what is reported, and compiled


@solvers
@settings(max_examples=60)
@given(problem=problems())
def test_old_and_new_terms_are_what_they_say(solve, problem, log_c_grid):
    vectors, mass, beta, weights, mode = problem
    best = solved(solve, vectors, mass, beta, mode, weights, kappa_max=1e6)
    prices = np.ones(vectors.shape[1]) if weights is None else weights
    before, _ = old(vectors)
    scale = np.abs(vectors).sum()
    assert_allclose(
        best.dots, (best.prototypes * vectors).sum(axis=1), rtol=1e-13, atol=1e-14 * scale
    )
    assert_allclose(best.old_dots, (before * vectors).sum(axis=1), rtol=1e-13, atol=1e-14 * scale)
    assert_allclose(best.norms, np.abs(best.prototypes) @ prices, rtol=1e-13)
    assert_allclose(best.old_norms, np.abs(before) @ prices, rtol=1e-13)
    normalizers = log_c_grid(vectors.shape[1], best.kappas)
    assert_allclose(best.log_normalizers, normalizers, rtol=1e-11, atol=1e-11)
    assert_allclose(np.linalg.norm(best.prototypes, axis=1), 1.0, rtol=1e-13)


@pytest.mark.skipif(kernels is None, reason="no compiled kernels")
@settings(max_examples=150)
@given(problem=problems(), guess=st.sampled_from([1e-5, 7.0, 1e4]))
def test_compiled_equals_the_specification(problem, guess, log_c_grid):
    vectors, mass, beta, weights, mode = problem
    expected = solved(maximise_in_python, vectors, mass, beta, mode, weights, 1e6, guess)
    actual = solved(maximise, vectors, mass, beta, mode, weights, 1e6, guess)
    worth = [reached(best, vectors, mass, beta, weights, log_c_grid) for best in (actual, expected)]
    # Values are differences of terms of the size of mass kappa.
    assert_allclose(*worth, rtol=1e-12, atol=1e-13 * mass.sum() * (1 + expected.kappas.max()))
    assert_allclose(actual.kappas, expected.kappas, rtol=1e-10)
    assert_allclose(actual.prototypes, expected.prototypes, rtol=1e-10, atol=1e-12)
    scale = np.abs(vectors).sum()
    assert_allclose(actual.dots, expected.dots, rtol=1e-10)
    assert_allclose(actual.old_dots, expected.old_dots, rtol=1e-10, atol=1e-14 * scale)
    assert_allclose(actual.norms, expected.norms, rtol=1e-10)
    assert_allclose(actual.old_norms, expected.old_norms, rtol=1e-10)
    assert_allclose(actual.log_normalizers, expected.log_normalizers, rtol=1e-10, atol=1e-10)

"""The exact M-step: the best kappa and prototypes, with a prior too, and at the extremes."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq

from spheremix import as_directions, em
from spheremix._optional import kernels
from spheremix.bessel import mean_length
from spheremix.models.maximise import maximise, maximise_in_python
from spheremix.models.profile import FLAT, KappaPrior
from spheremix.models.vmf import VMFModel
from spheremix.penalties import L1

SOLVERS = {"python": maximise_in_python} | ({} if kernels is None else {"compiled": maximise})

solvers = pytest.mark.parametrize("solve", SOLVERS.values(), ids=SOLVERS)
modes = pytest.mark.parametrize("mode", ["shared", "free"])


def old(vectors):
    """Return some old parameters: they serve as a guess and for the old terms."""
    prototypes = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return prototypes[:, ::-1].copy(), np.full(len(vectors), 7.0)


def solved(solve, vectors, mass, beta, mode, weights=None, kappa_max=1e9, guess=None):
    prototypes, kappas = old(vectors)
    kappas = kappas if guess is None else np.full(len(vectors), float(guess))
    return solve(vectors, mass, L1(beta, weights), mode, kappa_max, prototypes, kappas)


def some_resultants(seed, d, n_components, n_each, spread):
    """Return resultants of rows around random directions; spread 0 repeats one row."""
    rng = np.random.default_rng(seed)
    vectors, mass = np.empty((n_components, d)), np.empty(n_components)
    for k in range(n_components):
        rows = rng.normal(size=d) + spread * rng.normal(size=(n_each, d))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        weights = rng.uniform(0.1, 2, n_each)
        vectors[k], mass[k] = weights @ rows, weights.sum()
    return vectors, mass


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


def solved_with(solve, vectors, mass, l1, mode, prior, kappa_max=1e6):
    return solve(vectors, mass, l1, mode, kappa_max, *old(vectors), prior=prior)


@solvers
@modes
@pytest.mark.parametrize("beta", [0.0, 4.0, 40.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("prior", [(1.0, 0.0), (200.0, 0.9)])
def test_no_kappa_on_a_grid_is_better_with_a_prior(solve, mode, beta, weighted, prior, log_c_grid):
    prior = KappaPrior(prior[0], prior[0] * prior[1])
    grid = np.geomspace(1e-3, 1e6, 120)
    for seed, (d, spread) in enumerate([(3, 0.0), (12, 0.3)]):
        vectors, mass = some_resultants(seed, d, 2, 9, spread)
        weights = np.linspace(0.0, 2.0, d) if weighted else None
        l1 = L1(beta, weights)
        best = solved_with(solve, vectors, mass, l1, mode, prior)

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
    best = solved_with(solve, vectors, mass, L1(), mode, prior)
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
    assert np.all(solved_with(solve, vectors, mass, L1(), mode, FLAT).kappas == 1e6)
    kappas = solved_with(solve, vectors, mass, L1(), mode, KappaPrior(1.0, 0.0)).kappas
    means = mean_length(20, kappas)
    assert_allclose(means, [7 / 8] * 2 if mode == "shared" else [5 / 6, 2 / 3], rtol=1e-9)


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

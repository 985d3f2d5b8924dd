"""Sweeps that leave frozen rows out, against sweeps over all rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import spheremix as sm
from spheremix import em
from spheremix.data.compiled import CompiledDirections
from spheremix.data.frozen import FrozenRows, distances, dots, losses
from spheremix.data.reference import ReferenceDirections
from spheremix.data.rows import open_rows
from spheremix.models.vmf import VMFModel
from spheremix.scorer import Scorer
from spheremix.testing.suite import assert_resultants_close, assert_resultants_same_bits

ENGINES = [ReferenceDirections, CompiledDirections]
KINDS = [
    np.asarray,
    sparse.csr_array,
    lambda X: X.astype(np.float32),
    np.asfortranarray,
    lambda X: sparse.csr_array(X.astype(np.float32)),
]
engines = pytest.mark.parametrize("engine", ENGINES)
kinds = pytest.mark.parametrize("contain", KINDS, ids=["dense", "csr", "f32", "fortran", "csr32"])


def opened(engine, X, n_threads=1, first_row=0):
    return engine(*open_rows(X), n_threads=n_threads, first_row=first_row)


def blobs(rng, n=900, d=20, K=4, noise=0.15):
    """Rows around K directions, a few of them twice, and some half-way between two directions."""
    centres = np.linalg.qr(rng.normal(size=(d, K)))[0].T
    labels = rng.integers(0, K, n)
    X = centres[labels] + noise * rng.normal(size=(n, d))
    X[: n // 20] = centres[0] + centres[1] + 1e-3 * rng.normal(size=(n // 20, d))
    X[n // 2 : n // 2 + 30] = X[n // 2]
    X[-3:] = centres[0] + centres[1]  # margins of zero, to rounding
    return X, centres


def walk(rng, centres, kind, n_sweeps=9, kappa=200.0):
    """Return scorers as a fit has them in turn: steady, jumping, or going back and forth.

    Or rows that are held all leave their components, twice.
    """
    K, d = centres.shape
    if kind == "turn":
        turned = np.roll(centres, 1, axis=0)
        each = [centres, centres, 1.001 * centres, turned, turned, 1.001 * turned, centres, centres]
        yield from ((2 * kappa * M, np.zeros(K)) for M in each)
        return
    target = centres + 0.3 * rng.normal(size=(K, d))
    for i in range(n_sweeps):
        if kind == "steady":
            at = 0.5**i
        elif kind == "jump":
            at = [0.01, 0.009, 0.008, 1.0, 0.99, 0.989, 0.0, 0.001, 0.002][i % 9]
        else:
            at = 0.02 * (i % 2)
        M = centres + at * (target - centres)
        M *= kappa * (1 + 0.01 * at) / np.linalg.norm(M, axis=1, keepdims=True)
        yield M, 0.5 * at * np.arange(K) - 1e4


def tolerance(X):
    return 2e-4 if X.dtype == np.float32 else 1e-10


@engines
@kinds
@pytest.mark.parametrize("kind", ["steady", "jump", "back and forth", "turn"])
@pytest.mark.parametrize("assignment", ["soft", "hard"])
def test_a_sequence_of_sweeps_equals_sweeps_over_all_rows(engine, contain, kind, assignment):
    rng = np.random.default_rng(0)
    X, centres = blobs(rng)
    X = contain(X)
    weights = rng.exponential(size=X.shape[0])
    weights[rng.random(X.shape[0]) < 0.2] = 0.0
    for own in (None, weights):
        directions = opened(engine, X)
        frozen = FrozenRows(directions, least_work=-np.inf)
        left_out = []
        for M, biases in walk(rng, centres, kind):
            scorer = Scorer.centred(M, biases, assignment)
            [found] = frozen.sweep([scorer], own, [7])
            [expected] = directions.sweep([scorer], own)
            assert_resultants_close(found, expected, scorer, tolerance(X))
            left_out.append(frozen.left_out(7))
        assert left_out[0] == 0
        assert max(left_out) > 0.5 * X.shape[0]


@engines
def test_rows_left_out_are_settled(engine):
    """No row that is left out has another component whose posterior is not negligible."""
    rng = np.random.default_rng(1)
    X, centres = blobs(rng, noise=0.25)
    directions = opened(engine, X)
    frozen = FrozenRows(directions, least_work=-np.inf)
    some = 0
    for M, biases in walk(rng, centres, "steady", n_sweeps=15, kappa=400.0):
        scorer = Scorer.centred(M, biases)
        frozen.sweep([scorer], None, [0])
        if not frozen.left_out(0):
            continue
        out = frozen._known[0].held
        posteriors = np.sort(directions.map_rows(scorer, "posteriors")[out], axis=1)
        assert posteriors[:, :-1].sum(axis=1).max(initial=0.0) <= 1e-16
        some += 0 < out.sum() < len(X)
    assert some > 3


def test_losses_bound_what_margins_lose():
    """For rows of length one, any component, biases that move too, and one that is impossible."""
    rng = np.random.default_rng(2)
    for trial in range(20):
        K, d = 1 + trial % 5, 6
        before, after = rng.normal(size=(2, K, d)) * 10
        b, c = rng.normal(size=(2, K))
        if K > 2:
            b[1] = c[1] = -np.inf
        rows = rng.normal(size=(2000, d))
        rows = np.concatenate([rows, after - before])
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        first, second = rows @ before.T + b, rows @ after.T + c
        owner = first.argmax(axis=1)
        lost = losses(distances(before, after), b, c)[owner]
        for k in range(K):
            other = (owner != k) & np.isfinite(b[k])
            i = np.flatnonzero(other)
            margin = first[i, owner[i]] - first[i, k]
            now = second[i, owner[i]] - second[i, k]
            assert np.all(now >= margin - lost[i])


def test_distances_and_dots_are_those_of_numpy():
    rng = np.random.default_rng(11)
    for d in (1, 7, 8, 8192, 8195):
        before, after = rng.normal(size=(2, 9, d))
        expected = np.linalg.norm(after - before, axis=1)
        for n_threads in (1, 3):
            found = distances(before, after, n_threads)
            assert np.all(found >= expected)
            assert_allclose(found, expected, rtol=1e-8)
            products = dots(before, after, n_threads)
            assert_allclose(products, (before * after).sum(axis=1), rtol=0, atol=1e-11)
            assert_array_equal(products, dots(before, after))


def test_a_component_that_becomes_possible_wakes_every_row():
    before = np.array([0.0, 0.0, -np.inf])
    assert_array_equal(losses(np.zeros(3), before, np.zeros(3)), [np.inf, np.inf, 0.0])


@kinds
def test_the_bits_do_not_depend_on_threads(contain):
    rng = np.random.default_rng(3)
    X, centres = blobs(rng, n=3000, d=40, K=9)
    X = contain(X)
    walks = list(walk(rng, centres, "steady"))
    each = []
    for n_threads in (1, 3):
        frozen = FrozenRows(opened(CompiledDirections, X, n_threads), least_work=-np.inf)
        each.append([frozen.sweep([Scorer.centred(*one)], None, [0])[0] for one in walks])
        assert frozen.left_out(0) > 0
    for one, other in zip(*each, strict=True):
        assert_resultants_same_bits(one, other)


def test_runs_do_not_meet():
    """Several runs, each with its weights; one ends before the others."""
    rng = np.random.default_rng(4)
    X, centres = blobs(rng)
    directions = opened(CompiledDirections, X)
    weights = rng.exponential(size=(3, len(X)))
    together = FrozenRows(directions, least_work=-np.inf)
    alone = [FrozenRows(directions, least_work=-np.inf) for _ in range(3)]
    walks = [list(walk(rng, centres, kind)) for kind in ("steady", "jump", "back and forth")]
    for i in range(9):
        runs = [0, 1, 2] if i < 5 else [0, 2]
        scorers = [Scorer.centred(*walks[run][i]) for run in runs]
        found = together.sweep(scorers, weights[runs], runs)
        for scorer, run, one in zip(scorers, runs, found, strict=True):
            [expected] = alone[run].sweep([scorer], weights[run], [0])
            assert_resultants_close(one, expected, scorer, 1e-10)


@engines
def test_what_the_bounds_say_nothing_of_is_swept_plainly(engine):
    rng = np.random.default_rng(5)
    X, centres = blobs(rng)
    directions = opened(engine, X)
    drawn = Scorer.centred(200 * centres, np.zeros(4), "drawn", (3, 4))
    soft = Scorer.centred(200 * centres, np.zeros(4))
    for frozen, scorer in (
        (FrozenRows(directions, least_work=-np.inf), drawn),
        (directions.remember(), soft),
    ):
        for _ in range(3):
            [found] = frozen.sweep([scorer], None, [0])
            assert_resultants_same_bits(found, directions.sweep([scorer])[0])
            assert frozen.left_out(0) == 0


@kinds
def test_listed_rows_equal_the_reference(contain):
    """Some rows, in both engines: sums, margins and owners, onto sums of others."""
    rng = np.random.default_rng(6)
    X, centres = blobs(rng, n=700)
    X = contain(X)
    rows = np.flatnonzero(rng.random(700) < 0.3)
    weights = np.where(rng.random(700) < 0.1, 0.0, rng.exponential(size=700))
    scorer = Scorer.centred(20 * centres + rng.normal(size=centres.shape), rng.normal(size=4))
    results = []
    for engine in ENGINES:
        directions = opened(engine, X, first_row=130)
        [onto] = directions.sweep([scorer], np.ones(700))
        vectors, mass = onto.vectors.copy(), onto.mass.copy()
        owners = (rows % 4).astype(np.int32)
        directions.add_listed(rows, owners, weights[rows], vectors, mass)
        # Held by components 0 and 1, right or wrong, or not at all.
        held = (np.arange(700) % 3 - 1).astype(np.int32)
        [found], margins, own = directions.sweep_listed(
            [scorer], weights, rows, onto, held=held, clear=5.0
        )
        stays = (own[0, rows] == held[rows]) & (margins[0, rows] >= 5.0)
        assert 10 < stays.sum() < len(rows) / 2
        [rest], _, _ = directions.sweep_listed([scorer], weights, rows[~stays], onto)
        assert_resultants_close(found, rest, scorer, tolerance(X))
        results.append((found, margins[0, rows], own[0, rows], vectors, mass))
    (one, margins, own, vectors, mass), (other, margins2, own2, vectors2, mass2) = results
    size = tolerance(X)
    assert_resultants_close(other, one, scorer, size)
    assert_allclose(margins2, margins, rtol=0, atol=100 * size)
    clear = (margins > 1e-2) & (weights[rows] > 0.0)
    assert_array_equal(own2[clear], own[clear])
    assert np.isinf(margins[weights[rows] == 0.0]).all()
    assert_allclose(vectors2, vectors, rtol=0, atol=size * np.abs(vectors).max())
    assert_allclose(mass2, mass, rtol=size)


def test_kernels_refuse_rows_and_owners_that_are_not_there():
    directions = opened(CompiledDirections, np.eye(4))
    sums = np.zeros((2, 4)), np.zeros(2)
    one, zero = np.ones(1), np.zeros(1, dtype=np.int32)
    for rows, owners in (([4], zero), ([-1], zero), ([0], zero + 2), ([0], zero - 1)):
        with pytest.raises(ValueError, match="is not there"):
            directions.add_listed(np.array(rows), owners, one, *sums)


# ------------------------------------------------------------------------------------ in a fit


@pytest.fixture
def eager(monkeypatch):
    """Make every fit leave frozen rows out, however small it is."""
    monkeypatch.setattr("spheremix.data.frozen.LEAST_WORK", -np.inf)
    counts = []
    sweep = FrozenRows.sweep

    def counted(self, scorers, weights, runs):
        found = sweep(self, scorers, weights, runs)
        counts.append(sum(self.left_out(run) for run in runs))
        return found

    monkeypatch.setattr(FrozenRows, "sweep", counted)
    return counts


@pytest.mark.parametrize("contain", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("e_step", ["soft", "hard"])
def test_a_fit_ends_with_a_sweep_over_all_rows(eager, contain, e_step):
    rng = np.random.default_rng(7)
    X, centres = blobs(rng, noise=0.08)
    directions = sm.as_directions(contain(X))
    model = VMFModel(20, "shared")
    starts = [model.parameters(centres, np.full(4, 30.0), np.full(4, 0.25))]
    (fit,) = em.fit(model, directions, starts, em.Settings(tol=1e-9, e_step=e_step))
    assert max(eager) > 0
    assert fit.status == "converged"
    assert fit.gap <= 1e-9
    [expected] = directions.sweep([model.scorer(fit.parameters, e_step)])
    assert_resultants_same_bits(fit.resultants, expected)
    assert fit.objective == expected.log_likelihood == fit.trace[-1]
    steps = np.diff(fit.trace)
    assert steps.min() >= -1e-12 * abs(fit.objective)


def test_a_path_equals_one_that_reads_all_rows(eager, monkeypatch):
    rng = np.random.default_rng(10)
    X, _ = blobs(rng, n=400, noise=0.08)
    options = {"n_init": 1, "random_state": 0, "min_relative_increase": 0.2, "tol": 1e-12}
    path = sm.VMFPath(4, **options).fit(X)
    assert max(eager) > 0
    monkeypatch.setattr("spheremix.data.frozen.LEAST_WORK", np.inf)
    plain = sm.VMFPath(4, **options).fit(X)
    assert_array_equal(path.n_nonzero_, plain.n_nonzero_)
    assert_allclose(path.betas_, plain.betas_, rtol=1e-9)
    assert_allclose(path.objectives_, plain.objectives_, rtol=1e-10)


@pytest.mark.parametrize("assignment", ["soft", "hard"])
def test_a_run_begins_with_the_same_bits_whatever_came_before(assignment):
    """It may go on where another ended, be handed something else, or know nothing."""
    rng = np.random.default_rng(12)
    X, centres = blobs(rng)
    directions = opened(CompiledDirections, X)
    weights = rng.exponential(size=len(X))
    scorers = [Scorer.centred(*one, assignment) for one in walk(rng, centres, "steady")]
    before, start, after = scorers[:5], scorers[5], scorers[6:]
    results = []
    for prelude in ("none", "other", "same"):
        frozen = FrozenRows(directions, least_work=-np.inf)
        for scorer in [] if prelude == "none" else before:
            frozen.sweep([scorer], weights, [0])
        if prelude == "same":
            [found] = frozen.sweep_all([start], weights, [0])
            assert_resultants_same_bits(found, directions.sweep([start], weights)[0])
        frozen.begin(start, weights, 0)
        results.append([frozen.sweep([scorer], weights, [0])[0] for scorer in after])
        assert frozen.left_out(0) > 0.5 * len(X)
    for other in results[1:]:
        for one, same in zip(results[0], other, strict=True):
            assert_resultants_same_bits(one, same)


def test_held_rows_that_go_one_after_another_leave_nothing_behind():
    """Bounds that say little: every held row is read in every sweep, and many go and come back."""
    rng = np.random.default_rng(14)
    X, centres = blobs(rng, noise=0.2)
    directions = opened(CompiledDirections, sparse.csr_array(X))
    frozen = FrozenRows(directions, least_work=-np.inf)
    counts = []
    for i in range(60):
        M = centres + 0.1 * np.sin(i / 3) * np.roll(centres, 1, axis=0)
        scorer = Scorer.centred(90.0 * M, np.zeros(4))
        [found] = frozen.sweep([scorer], None, [0])
        assert_resultants_close(found, directions.sweep([scorer])[0], scorer, 1e-10)
        counts.append(frozen.left_out(0))
    assert len(set(counts)) > 10
    assert max(counts) > 0.5 * len(X)

"""Hard sweeps that score only the components that may win, against sweeps over all components."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import spheremix as sm
from spheremix import em
from spheremix.data.compiled import CompiledDirections
from spheremix.data.near import Moves, NearComponents, in_groups, plan
from spheremix.data.rows import open_rows
from spheremix.models.skmeans import SphericalKMeansModel
from spheremix.models.vmf import VMFModel
from spheremix.scorer import Scorer
from spheremix.testing.suite import assert_resultants_close, assert_resultants_same_bits

KINDS = {
    "float64": np.asarray,
    "float32": lambda X: X.astype(np.float32),
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
}
kinds = pytest.mark.parametrize("contain", KINDS.values(), ids=KINDS)


def opened(X, n_threads=1):
    return CompiledDirections(*open_rows(X), n_threads=n_threads)


def blobs(rng, n=1500, d=12, n_blobs=60, noise=0.25):
    """Rows around many directions; some several times, some half-way between two directions."""
    centres = rng.normal(size=(n_blobs, d))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    X = centres[rng.integers(n_blobs, size=n)] + noise * rng.normal(size=(n, d))
    X[: n // 20] = centres[0] + centres[1] + 1e-3 * rng.normal(size=(n // 20, d))
    X[n // 2 : n // 2 + 30] = X[n // 2]
    X[-3:] = centres[0] + centres[1]
    return X * np.exp(rng.normal(size=(n, 1)))


def walk(rng, X, kind, K=100, n_sweeps=10):
    """Return scorers as a fit has them in turn, or as an enemy of all bounds would choose them."""
    rows = np.array(X, dtype=np.float64, order="C")
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    start = rows[rng.choice(len(X), K, replace=False)]
    start[K // 2] = start[3]  # the first of equals wins
    goal = start + 0.3 * rng.normal(size=start.shape)
    biases = np.zeros(K)
    for i in range(n_sweeps):
        M = start.copy()
        if kind == "lloyd":
            labels = (rows @ start.T).argmax(axis=1)
            sums = np.array([rows[labels == k].sum(axis=0) for k in range(K)])
            start = np.where(sums.any(axis=1, keepdims=True), sums, start)
            start /= np.linalg.norm(start, axis=1, keepdims=True)
        elif kind == "steady":
            M += 0.5**i * (goal - start)
        elif kind == "jump":
            M += [0.01, 0.009, 0.008, 1.0, 0.99, 0.989, 0.0, 0.001, 0.0][i % 9] * (goal - start)
        elif kind == "back and forth":
            M += 0.02 * (i % 2) * (goal - start)
        elif kind == "one at a time":
            start[7 * i % K] = -start[7 * i % K] if i % 3 else goal[i]
        elif kind == "swap":
            start[[i, i + 1]] = start[[i + 1, i]]
        elif kind == "biases":
            M *= 30.0
            biases = 3.0 * rng.normal(size=K) * 0.3**i
            biases[i % 3 :: 20] = -np.inf
        yield Scorer.centred(M, biases, "hard")


WALKS = ["lloyd", "steady", "jump", "back and forth", "one at a time", "swap", "biases"]


@kinds
@pytest.mark.parametrize("kind", WALKS)
def test_a_sequence_of_sweeps_equals_sweeps_over_all_components(contain, kind):
    rng = np.random.default_rng(0)
    X = contain(blobs(rng))
    weights = np.where(rng.random(len(X)) < 0.2, 0.0, rng.exponential(size=len(X)))
    tolerance = 2e-4 if X.dtype == np.float32 else 1e-10
    for own in (None, weights):
        directions = opened(X)
        near = NearComponents(directions)
        computed = []
        for scorer in walk(rng, X, kind):
            found = near.sweep(scorer, own, 5)
            [expected] = directions.sweep([scorer], own)
            finite = replace(scorer, biases=np.maximum(scorer.biases, -100.0))
            assert_resultants_close(found, expected, finite, tolerance)
            assert_array_equal(found.mass == 0.0, expected.mass == 0.0)
            labels, known = directions.map_rows(scorer, "labels"), near._known[5]
            counted = slice(None) if own is None else own > 0.0
            assert_array_equal(known.owners[counted], labels[counted])
            computed.append(near.n_scores / len(labels[counted]) / scorer.n_components)
        assert computed[0] >= 1.0
        if kind != "biases":  # where a component becomes possible, all are scored
            assert min(computed) < 0.5


@pytest.mark.parametrize("kind", WALKS)
def test_the_bounds_hold(kind):
    """No score of another component than the owner is above the bound of its group."""
    rng = np.random.default_rng(1)
    X = blobs(rng)
    directions = opened(X)
    near = NearComponents(directions)
    for scorer in walk(rng, X, kind):
        near.sweep(scorer, None, 0)
        known = near._known[0]
        scores = directions.map_rows(scorer, "scores") - scorer.offset
        rows = np.arange(len(X))
        own = scores[rows, known.owners]
        assert np.all(own >= known.scores - 1e-13)
        assert_allclose(own[known.sure], known.scores[known.sure], rtol=0, atol=1e-13)
        scores[rows, known.owners] = -np.inf
        size = len(known.members) // len(known.grown)
        for g, ids in enumerate(known.members.reshape(-1, size)):
            highest = scores[:, ids[ids >= 0]].max(axis=1)
            bounds = known.bounds[g].astype(float)  # the sum of the next line must not be rounded
            assert np.all(highest <= bounds + known.grown[g])


@kinds
def test_the_bits_do_not_depend_on_threads(contain):
    rng = np.random.default_rng(2)
    X = contain(blobs(rng, n=5000))
    scorers = list(walk(rng, X, "steady"))
    each = []
    for n_threads in (1, 3):
        near = NearComponents(opened(X, n_threads))
        each.append([near.sweep(scorer, None, 0) for scorer in scorers])
    for one, other in zip(*each, strict=True):
        assert_resultants_same_bits(one, other)


@pytest.mark.parametrize("level", ["baseline", "avx2"])
def test_every_instruction_set(level):
    """The instruction set is chosen once a process, so the lesser ones are tried in another."""
    job = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_near import *
for contain in KINDS.values():
    rng = np.random.default_rng(0)
    X = contain(blobs(rng))
    directions = opened(X, 2)
    near = NearComponents(directions)
    for scorer in walk(rng, X, "one at a time"):
        near.sweep(scorer, None, 0)
        assert_array_equal(near.owners(0), directions.map_rows(scorer, "labels"))
"""
    environment = {**os.environ, "SPHEREMIX_SIMD": level}
    subprocess.run([sys.executable, "-c", job], env=environment, check=True)  # noqa: S603


def test_rows_of_one_component_that_lose_it_leave_nothing_behind():
    """Sums that fall back to nothing are zero, not rounding."""
    rng = np.random.default_rng(3)
    X = blobs(rng)
    weights = rng.exponential(size=len(X))
    near = NearComponents(opened(X))
    scorers = list(walk(rng, X, "steady"))
    near.sweep(scorers[0], weights, 0)
    gone = scorers[0].matrix.copy()
    gone[5] *= 1e-3
    found = near.sweep(replace(scorers[0], matrix=gone), weights, 0)
    assert found.mass[5] == 0.0
    assert not found.vectors[5].any()


def test_moves_bound_what_scores_lose_and_gain():
    rng = np.random.default_rng(4)
    for _ in range(20):
        before, after = rng.normal(size=(2, 6, 5)) * 10
        b, c = rng.normal(size=(2, 6))
        b[1] = c[1] = -np.inf
        moves = Moves.between(Scorer(before, b), Scorer(after, c))
        rows = np.concatenate([rng.normal(size=(2000, 5)), after - before, before - after])
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        gained = np.delete(rows @ (after - before).T, 1, axis=1) + np.delete(c, 1) - np.delete(b, 1)
        assert np.all(gained <= np.delete(moves.gained, 1))
        assert np.all(-gained <= np.delete(moves.lost, 1))
        assert gained.max(axis=0) == pytest.approx(np.delete(moves.gained, 1), rel=1e-6)
    assert Moves.between(Scorer(before, b), Scorer(after, np.zeros(6))) is None
    still = Moves.between(Scorer(before, b), Scorer(before, b))
    assert not still.moved.any()


def test_groups_are_of_neighbours():
    rng = np.random.default_rng(5)
    centres = np.diag([10.0, 20.0, 40.0, 80.0])
    vectors = np.repeat(centres, 16, axis=0) + 0.1 * rng.normal(size=(64, 4))
    vectors = vectors[rng.permutation(64)]
    members, place = in_groups(vectors, 16)
    assert_array_equal(members[place], np.arange(64))
    for ids in members.reshape(4, 16):
        assert len(np.unique(vectors[ids].argmax(axis=1))) == 1
        assert np.all(np.diff(ids) > 0)
    members, place = in_groups(np.zeros((37, 3)), 16)
    assert_array_equal(np.sort(members), [*[-1] * 11, *range(37)])
    assert_array_equal(members[place], np.arange(37))


def test_a_component_that_moves_far_is_taken_out_of_its_group():
    gained = np.zeros(8)
    gained[3] = 0.5
    members = np.array([0, 1, 2, 3, 4, 5, 6, 7], dtype=np.int32)
    chosen = plan(gained, members, np.ones((10, 2)), 4)
    assert_array_equal(chosen.far, [3, -1, -1, -1])
    assert_array_equal(chosen.growth, [0.0, 0.0])
    assert_allclose(chosen.beyond, [0.5, 0.0, 0.0, 0.0], rtol=1e-8)
    assert chosen.cost == pytest.approx(1 / 8)
    # Where all move alike, the bounds of the groups grow.
    chosen = plan(np.full(8, 0.01), members, np.ones((10, 2)), 4)
    assert_array_equal(chosen.far, [])
    assert_array_equal(chosen.growth, [0.01, 0.01])
    assert chosen.cost == pytest.approx(0.01)


# ------------------------------------------------------------------------------------ in a fit


@pytest.fixture
def eager(monkeypatch):
    """Make every hard fit score only what may win, however small it is; count the scores."""
    monkeypatch.setattr("spheremix.data.near.LEAST_WORK", 0.0)
    counts = []
    sweep = NearComponents.sweep

    def counted(self, scorer, weights, run, n_runs=1):
        found = sweep(self, scorer, weights, run, n_runs)
        counts.append(self.n_scores / self._rows.n_rows / scorer.n_components)
        return found

    monkeypatch.setattr(NearComponents, "sweep", counted)
    return counts


def test_spherical_k_means_is_the_same(eager):
    rng = np.random.default_rng(6)
    X = blobs(rng, n=4000)
    directions = sm.as_directions(X)
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    start = plain = rows[rng.choice(len(X), 80, replace=False)]
    (fit,) = em.fit(SphericalKMeansModel(), directions, [start], em.Settings(e_step="hard"))
    assert fit.status == "converged"
    assert np.mean(eager[-5:]) < 0.2
    for _ in range(fit.n_iter):
        labels = (rows @ plain.T).argmax(axis=1)
        sums = np.array([rows[labels == k].sum(axis=0) for k in range(80)])
        plain = sums / np.linalg.norm(sums, axis=1, keepdims=True)
    assert_allclose(fit.parameters, plain, rtol=0, atol=1e-10)
    [expected] = directions.sweep([SphericalKMeansModel().scorer(fit.parameters)])
    assert_resultants_same_bits(fit.resultants, expected)
    assert fit.objective == expected.log_likelihood == fit.trace[-1]


def test_hard_mixtures_and_several_runs(eager):
    """Runs of different lengths, weights of their own; each ends as it would alone."""
    rng = np.random.default_rng(7)
    X = blobs(rng, n=3000)
    directions = sm.as_directions(X)
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    model = VMFModel(X.shape[1], "shared")
    drawn = [rows[rng.choice(len(X), 70, replace=False)] for _ in range(3)]
    starts = [model.parameters(one, np.full(70, 60.0), np.full(70, 1 / 70)) for one in drawn]
    weights = rng.exponential(size=(3, len(X)))
    settings = em.Settings(e_step="hard", max_iter=25)
    fits = em.fit(model, directions, starts, settings, weights=weights)
    assert min(eager) < 0.3
    for fit, start, own in zip(fits, starts, weights, strict=True):
        (alone,) = em.fit(model, directions, [start], settings, weights=own)
        assert fit.objective == pytest.approx(alone.objective, rel=1e-10)
        [expected] = directions.sweep([model.scorer(fit.parameters, "hard")], own)
        assert_resultants_same_bits(fit.resultants, expected)


@pytest.mark.usefixtures("eager")
def test_a_run_begins_anew():
    """What a step of a path knew is not used by the next: a path that goes on has the same bits."""
    rng = np.random.default_rng(9)
    X = blobs(rng)
    directions = sm.as_directions(X)
    one, other = directions.remember(), directions.remember()
    scorers = list(walk(rng, X, "steady", n_sweeps=6))
    for scorer in scorers[:4]:
        one.sweep([scorer], None, [0])
    for memory in (one, other):
        memory.begin(scorers[4], None, 0)
    for scorer in scorers[4:]:
        [found], [expected] = (memory.sweep([scorer], None, [0]) for memory in (one, other))
        assert_resultants_same_bits(found, expected)
    [found] = one.sweep_all(scorers[:1], None, [0])
    assert_resultants_same_bits(found, directions.sweep(scorers[:1])[0])


def test_few_components_and_soft_ones_are_swept_as_before(eager):
    rng = np.random.default_rng(8)
    X = blobs(rng)
    memory = sm.as_directions(X).remember()
    for K, assignment in ((60, "hard"), (100, "soft"), (100, "drawn")):
        scorer = replace(next(walk(rng, X, "steady", K=K)), assignment=assignment)
        memory.sweep([scorer], None, [0])
    assert eager == []
    assert memory.left_out(0) == 0

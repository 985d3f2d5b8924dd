"""Hard sweeps with sparse components that score only what has moved, against full dense sweeps."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from moved_common import WALKS, both, densified, documents, kinds, opened, walk
from numpy.testing import assert_array_equal

from spheremix._optional import kernels
from spheremix.data import moved as moved_module
from spheremix.data.moved import MovedComponents
from spheremix.testing.suite import assert_resultants_same_bits
from spheremix.vectors import as_dense, as_sparse, is_sparse


@kinds
@pytest.mark.parametrize("kind", WALKS)
def test_a_sequence_of_sweeps_has_the_bits_of_full_dense_sweeps(contain, kind):
    rng = np.random.default_rng(0)
    X = contain(documents(rng))
    n = X.shape[0]
    weights = np.where(rng.random(n) < 0.2, 0.0, rng.exponential(size=n))
    directions = opened(X)
    for own in (None, weights):
        moved = MovedComponents(directions)
        computed = []
        for M, biases in walk(rng, X, kind):
            dense, thin = both(M, biases)
            found = moved.sweep(thin, own, 5)
            assert is_sparse(found.vectors)
            [expected] = directions.sweep([dense], own)
            assert_resultants_same_bits(densified(found), expected)
            assert_array_equal(moved._known[5].owners, directions.map_rows(dense, "labels"))
            computed.append(moved.n_scores / n / len(M))
        assert computed[0] == 1.0
        if kind == "still":
            assert computed[1:] == [0.0] * (len(computed) - 1)
        elif kind != "all":
            assert min(computed) < 0.5


@pytest.mark.parametrize("kind", WALKS)
def test_the_bounds_hold(kind):
    """Scores of owners are exact, and no other score is above the bound."""
    rng = np.random.default_rng(1)
    X = documents(rng)
    directions = opened(X)
    moved = MovedComponents(directions)
    rows = np.arange(X.shape[0])
    for M, biases in walk(rng, X, kind):
        dense, thin = both(M, biases, 0.0)
        moved.sweep(thin, None, 0)
        known = moved._known[0]
        scores = directions.map_rows(dense, "scores")
        assert_array_equal(scores[rows, known.owners], known.scores)
        scores[rows, known.owners] = -np.inf
        assert np.all(scores.max(axis=1) <= known.seconds)


def varied(scorer, rng):
    """Return a scorer for an assignment by first variation."""
    rates = rng.exponential(0.3, size=scorer.n_components)
    return replace(scorer, assignment="variation", rates=rates)


@kinds
@pytest.mark.parametrize("kind", ["lloyd", "biases"])
def test_sweeps_by_variation_have_the_bits_of_dense_ones(contain, kind):
    rng = np.random.default_rng(11)
    X = contain(documents(rng))
    n = X.shape[0]
    weights = np.where(rng.random(n) < 0.2, 0.0, rng.exponential(size=n))
    n_moved = 0
    for own in (None, weights):
        for M, biases in walk(rng, X, kind):
            dense = varied(both(M, biases)[0], rng)
            thin = replace(dense, matrix=as_sparse(M))
            [expected] = opened(X).sweep([dense], own)
            for n_threads in (1, 3):
                [found] = opened(X, n_threads).sweep([thin], own)
                assert is_sparse(found.vectors)
                # Rates are multiplied with lengths, which both forms sum in another order.
                assert_array_equal(found.mass, expected.mass)
                assert_array_equal(as_dense(found.vectors), expected.vectors)
                assert found.log_likelihood == expected.log_likelihood
            [hard] = opened(X).sweep([replace(dense, assignment="hard")], own)
            n_moved += int(np.any(hard.mass != found.mass))
    assert n_moved > 9  # variation is not the same as hard


@kinds
def test_the_bits_do_not_depend_on_threads(contain):
    rng = np.random.default_rng(3)
    X = contain(documents(rng, n=1000))
    scorers = [both(*step)[1] for step in walk(rng, X, "few")]
    each = []
    for n_threads in (1, 3):
        moved = MovedComponents(opened(X, n_threads))
        each.append([densified(moved.sweep(scorer, None, 0)) for scorer in scorers])
    for one, other in zip(*each, strict=True):
        assert_resultants_same_bits(one, other)


@pytest.mark.parametrize("level", ["baseline", "avx2"])
def test_every_instruction_set(level):
    """The instruction set is chosen once a process, so the lesser ones are tried in another."""
    job = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[1] / "common")!r})
from moved_common import *
from spheremix.data.moved import MovedComponents
from spheremix.testing.suite import assert_resultants_same_bits
for contain in KINDS.values():
    rng = np.random.default_rng(0)
    X = contain(documents(rng))
    directions = opened(X, 2)
    moved = MovedComponents(directions)
    for step in walk(rng, X, "few"):
        dense, thin = both(*step)
        found, [expected] = moved.sweep(thin, None, 0), directions.sweep([dense])
        assert_resultants_same_bits(densified(found), expected)
        by_variation = [
            replace(one, assignment="variation", rates=np.full(len(one.biases), 0.3))
            for one in (dense, thin)
        ]
        expected, found = (directions.sweep([one])[0] for one in by_variation)
        assert_resultants_same_bits(densified(found), expected)
"""
    environment = {**os.environ, "SPHEREMIX_SIMD": level}
    subprocess.run([sys.executable, "-c", job], env=environment, check=True)  # noqa: S603


@kinds
@pytest.mark.parametrize("want", ["labels", "scores", "posteriors", "log_density"])
def test_rows_are_mapped_as_by_dense_components(contain, want):
    rng = np.random.default_rng(4)
    X = contain(documents(rng))
    directions = opened(X, 2)
    M, _ = next(walk(rng, X, "few"))
    for factor in (1.0, 2.0**60):  # products in float32, and in float64
        dense, thin = both(factor * M, rng.normal(size=len(M)))
        assert_array_equal(directions.map_rows(thin, want), directions.map_rows(dense, want))


def test_sums_need_no_room_for_zeros():
    rng = np.random.default_rng(5)
    X = documents(rng)
    M, biases = next(walk(rng, X, "few"))
    found = MovedComponents(opened(X)).sweep(both(M, biases)[1], None, 0)
    assert found.vectors.nnz <= X.nnz
    assert found.vectors.has_canonical_format


@pytest.mark.parametrize("weighted", [False, True])
def test_only_components_with_other_rows_are_summed_again(monkeypatch, weighted):
    """Two components change places in each sweep: the rows of these two alone are read."""
    rng = np.random.default_rng(9)
    X = documents(rng, n=1000)
    directions, n_summed = opened(X), []
    moved, summed = MovedComponents(directions), moved_module._sum
    weights = np.where(rng.random(1000) < 0.2, 0.0, rng.exponential(size=1000))
    own = weights if weighted else None

    def counted(rows, *others):
        n_summed.append(rows.n_rows)
        return summed(rows, *others)

    monkeypatch.setattr(moved_module, "_sum", counted)
    for M, biases in walk(rng, X, "swap"):
        dense, thin = both(M, biases)
        [expected] = directions.sweep([dense], own)
        assert_resultants_same_bits(densified(moved.sweep(thin, own, 0)), expected)
    assert n_summed[0] == 1000
    assert 0 < np.median(n_summed[1:]) < 100
    moved.forget(0)
    moved.sweep(thin, own, 0)
    assert n_summed[-1] == 1000


def test_several_scorers_and_weights_of_each():
    rng = np.random.default_rng(6)
    X = documents(rng)
    directions = opened(X)
    steps = list(walk(rng, X, "few"))[:3]
    thin, dense = [both(*step)[1] for step in steps], [both(*step)[0] for step in steps]
    for weights in (None, rng.exponential(size=X.shape[0]), rng.exponential(size=(3, X.shape[0]))):
        for s, found in enumerate(directions.sweep(thin, weights)):
            own = weights if weights is None or weights.ndim == 1 else weights[s]
            assert_resultants_same_bits(densified(found), directions.sweep([dense[s]], own)[0])


def test_sparse_components_are_for_hard_assignment():
    rng = np.random.default_rng(7)
    X = documents(rng)
    directions = opened(X)
    thin = both(*next(walk(rng, X, "few")))[1]
    with pytest.raises(ValueError, match="hard or by variation, not 'soft'"):
        directions.sweep([replace(thin, assignment="soft")])
    with pytest.raises(ValueError, match="drawn"):
        directions.map_rows(replace(thin, assignment="drawn"), "labels")


def test_a_matrix_that_was_changed_is_refused():
    rng = np.random.default_rng(8)
    X = documents(rng)
    directions = opened(X)
    thin = both(*next(walk(rng, X, "few")))[1]
    directions.rows[1][3] = 10_000
    with pytest.raises(RuntimeError, match="outside its columns"):
        directions.sweep([thin])
    with pytest.raises(RuntimeError, match="outside its columns"):
        kernels.sum_columns(
            *directions.rows, directions.scale, np.zeros(X.shape[0], np.int32), None, 1, 150, 1
        )

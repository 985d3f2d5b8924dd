"""Every engine keeps the protocol; the reference engine does what a naive computation does."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from spheremix._optional import kernels
from spheremix.data import reference
from spheremix.data.engines import engine_class
from spheremix.data.reference import ReferenceDirections
from spheremix.data.rows import open_rows
from spheremix.resultants import Resultants
from spheremix.scorer import Scorer
from spheremix.testing import (
    CONTAINERS,
    ENGINE_CHECKS,
    assert_resultants_close,
    assert_resultants_same_bits,
    check_engine,
)


def make_reference(X, *, first_row=0, n_threads=1):
    rows, scale = open_rows(X)
    return ReferenceDirections(rows, scale, first_row=first_row, n_threads=n_threads)


def make_compiled(X, *, first_row=0, n_threads=1):
    rows, scale = open_rows(X)
    return engine_class("compiled")(rows, scale, first_row=first_row, n_threads=n_threads)


ENGINES = {"reference": make_reference}
if kernels is not None:  # tests/house/test_build.py sees to it where there is a compiler
    ENGINES["compiled"] = make_compiled


@pytest.mark.parametrize("check", ENGINE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("engine", ENGINES)
def test_engine(engine, container, check):
    check(ENGINES[engine], CONTAINERS[container], np.random.default_rng(0))


# ------------------------------------------------------------- a naive oracle, row by row

MASK = 2**64 - 1


def naive_uniform(key, row):
    def mix(state):
        state = (state + 0x9E3779B97F4A7C15) & MASK
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & MASK
        return state ^ (state >> 31)

    seed, sweep = (part & MASK for part in key)
    return (mix(mix(mix(seed) ^ sweep) ^ row) >> 11) / 2**53


def naive_sweep(rows, scorer, weights, first_row, threshold):
    K, d = scorer.matrix.shape
    mass, vectors = np.zeros(K), np.zeros((K, d))
    likelihood = entropy = 0.0
    for i, row in enumerate(rows):
        unit = [x / math.hypot(*row) for x in row]
        scores = [
            math.fsum(x * m for x, m in zip(unit, scorer.matrix[k], strict=True)) + scorer.biases[k]
            for k in range(K)
        ]
        top = max(scores)
        log_sum = top + math.log(math.fsum(math.exp(score - top) for score in scores))
        posteriors = [math.exp(score - log_sum) for score in scores]
        if scorer.assignment == "soft":
            shares = [t if t >= threshold else 0.0 for t in posteriors]
            value, doubt = log_sum, math.fsum(-t * math.log(t) for t in posteriors if t > 0)
        elif scorer.assignment == "hard":
            shares = [float(k == scores.index(top)) for k in range(K)]
            value, doubt = top, 0.0
        else:
            u, total, z = naive_uniform(scorer.key, first_row + i), 0.0, None
            for k, t in enumerate(posteriors):
                total += t
                if total > u:
                    z = k
                    break
            if z is None:
                z = max(k for k, t in enumerate(posteriors) if t > 0)
            shares = [float(k == z) for k in range(K)]
            value, doubt = log_sum, log_sum - scores[z]
        likelihood += weights[i] * (value + scorer.offset)
        entropy += weights[i] * doubt
        for k, share in enumerate(shares):
            mass[k] += weights[i] * share
            vectors[k] += weights[i] * share * np.array(unit)
    return Resultants(mass, vectors, likelihood, entropy, math.fsum(weights))


@pytest.mark.parametrize("assignment", ["soft", "hard", "drawn"])
@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("engine", ENGINES)
def test_equals_naive_computation(engine, container, assignment):
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(47, 6)) * (rng.random((47, 6)) < 0.7)
    rows[:, 0] += 0.5
    X = CONTAINERS[container](rows)
    single = X.dtype == np.float32
    weights = rng.exponential(size=47)
    biases = np.array([0.3, -1.0, 0.0, 1e-3, -40.0]) - 7
    scorer = Scorer.centred(rng.normal(size=(5, 6)) * 9, biases, assignment, (12, 34))
    rows = rows.astype(np.float32).astype(float) if single else rows
    expected = naive_sweep(rows, scorer, weights, 10, 1e-9 if single else 1e-16)
    [found] = ENGINES[engine](X, first_row=10).sweep([scorer], weights)
    assert_resultants_close(found, expected, scorer, 2e-5 if single else 1e-12)


# --------------------------------------------------------------------- the reference alone


def test_draw_beyond_the_last_sum_goes_to_the_last_possible_component(monkeypatch):
    """Rounding can leave the posteriors summing below the uniform number."""
    monkeypatch.setattr(reference, "uniforms", lambda key, rows: np.ones(len(rows)))  # noqa: ARG005
    scorer = Scorer(np.zeros((4, 3)), np.array([0.0, 0.0, -np.inf, -np.inf]), 0.0, "drawn")
    assert_array_equal(make_reference(np.eye(3)).map_rows(scorer, "labels"), [1, 1, 1])


def test_draws_have_the_frequencies_of_the_posteriors():
    n, posteriors = 40_000, np.array([0.5, 0.3, 0.15, 0.05])
    X = np.tile([1.0, 2.0], (n, 1))
    scorer = Scorer(np.zeros((4, 2)), np.log(posteriors), 0.0, "drawn", (1, 2))
    [found] = make_reference(X).sweep([scorer])
    deviation = np.sqrt(n * posteriors * (1 - posteriors))
    assert (np.abs(found.mass - n * posteriors) < 4 * deviation).all()


def test_rows_converted_at_a_time_do_not_matter(monkeypatch):
    rng = np.random.default_rng(0)
    rows = make_reference(rng.normal(size=(2100, 4)).astype(np.float32))
    scorer = Scorer(5 * rng.normal(size=(3, 4)), np.zeros(3))
    [expected] = rows.sweep([scorer])
    for block_rows in (512, 1024, 10**6 // 512 * 512):
        monkeypatch.setattr(reference, "BLOCK_ROWS", block_rows)
        assert_resultants_same_bits(rows.sweep([scorer])[0], expected)


def test_check_engine_finds_a_wrong_engine():
    class Wrong(ReferenceDirections):
        def sweep(self, scorers, weights=None):
            return [one + one for one in super().sweep(scorers, weights)]

    with pytest.raises(AssertionError):
        check_engine(lambda X, *, first_row=0, n_threads=1: Wrong(*open_rows(X)))  # noqa: ARG005


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_wanted_of_rows_is_one_of_four(engine):
    with pytest.raises(ValueError, match="want"):
        ENGINES[engine](np.eye(3)).map_rows(Scorer(np.eye(3), np.zeros(3)), "nothing")

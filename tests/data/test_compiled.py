"""What is particular to the compiled engine; what it shares with others is in test_engines."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

pytest.importorskip("spheremix._kernels")

import spheremix._kernels as kernels

from spheremix.data.base import arithmetic, stack
from spheremix.data.compiled import CompiledDirections, scorer_arrays
from spheremix.data.reference import ReferenceDirections
from spheremix.scorer import Scorer
from spheremix.testing import (
    assert_resultants_close,
    assert_resultants_same_bits,
)


def unit_scale(X):
    dense = X.toarray() if sparse.issparse(X) else X
    return 1 / np.linalg.norm(dense.astype(float), axis=1)


def make_rows(kind, n=3000, d=300, seed=0):
    """Return rows that are large enough for several tiles, blocks and threads."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 3 * (rng.integers(8, size=n)[:, None] == np.arange(d) % 8)
    if kind.startswith("csr"):
        X[rng.random((n, d)) > 0.15] = 0
        X[:, 0] = 1
    X = X.astype(np.float32 if kind.endswith("32") else np.float64)
    return sparse.csr_array(X) if kind.startswith("csr") else X


def make_scorer(X, K, length, assignment="soft", seed=0):
    rng = np.random.default_rng(seed)
    own = np.arange(X.shape[1]) % 8 == np.arange(K)[:, None] % 8
    matrix = rng.normal(size=own.shape) + own
    matrix *= length / np.linalg.norm(matrix, axis=1, keepdims=True)
    return Scorer(matrix, 0.1 * rng.normal(size=K), 5.0, assignment, (seed, 3))


HERE = str(Path(__file__).parent)
KINDS = ["csr64", "csr32", "dense64", "dense32"]


@pytest.mark.parametrize("length", [3000.0, 30.0, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_same_bits_for_any_number_of_threads(kind, length):
    X = make_rows(kind)
    scorers = [
        make_scorer(X, 21, length),
        make_scorer(X, 5, length, "hard", 1),
        make_scorer(X, 3, length, "drawn", 2),
    ]
    weights = np.random.default_rng(3).random((3, X.shape[0]))
    alone = CompiledDirections(X, unit_scale(X)).sweep(scorers, weights)
    for n_threads in (2, 7):
        several = CompiledDirections(X, unit_scale(X), n_threads=n_threads).sweep(scorers, weights)
        for a, b in zip(alone, several, strict=True):
            assert_resultants_same_bits(a, b)


@pytest.mark.parametrize("length", [3000.0, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_calls_on_successive_rows_continue_each_other(kind, length):
    X = make_rows(kind)
    n, d = X.shape
    scale = unit_scale(X)
    scorers = [make_scorer(X, 21, length), make_scorer(X, 5, length, "drawn", 2)]
    whole = CompiledDirections(X, scale, n_threads=2).sweep(scorers)
    stacked = stack(scorers)
    begin = [0, *(part.stop for part in stacked.parts)]
    arrays = scorer_arrays(scorers, stacked)
    block = kernels.DENSE_BLOCK
    lanes = (kernels.dense_lanes(begin[-1], d),) if kind.startswith("dense") else ()
    vectors, mass = np.zeros((*lanes, begin[-1], d)), np.zeros((*lanes, begin[-1]))
    totals = np.zeros((*lanes, 2, 2))
    cuts = [0, block, 4 * block, 5 * block, n] if lanes else [0, 1, 70, 71, 1500, n]
    for a, b in pairwise(cuts):
        part = X[a:b]
        rows = (part,) if lanes else (part.indptr, part.indices, part.data)
        kernel = kernels.sweep_dense if lanes else kernels.sweep_sparse
        double = arithmetic(X.dtype, scorers) == np.float64
        cut = 1e-16 if double else 1e-9
        kernel(*rows, scale[a:b], a, arrays, None, cut, vectors, mass, totals, double, 1)
    if lanes:
        vectors, mass, totals = vectors.sum(axis=0), mass.sum(axis=0), totals.sum(axis=0)
    for s, resultants in enumerate(whole):
        own = slice(begin[s], begin[s + 1])
        assert_array_equal(vectors[own], resultants.vectors)
        assert_array_equal(mass[own], resultants.mass)
        assert_array_equal(totals[s], [resultants.log_likelihood, resultants.entropy])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("level", ["baseline", "avx2"])
def test_every_instruction_set(kind, level):
    """The instruction set is chosen once a process, so the lesser ones are tried in another."""
    known = ["baseline", "neon" if platform.machine() in {"aarch64", "arm64"} else "avx2", "avx512"]
    lesser = min(level, kernels.simd_level(), key=known.index) if level in known else known[1]
    job = f"""
import sys
sys.path.insert(0, {HERE!r})
from test_compiled import *
assert kernels.simd_level() == {lesser!r}
X = make_rows({kind!r}, n=700, d=203)
for length in (3000.0, 30.0, 1.0):
    for K in (1, 4, 21, 70):
        scorer = make_scorer(X, K, length)
        [actual] = CompiledDirections(X, unit_scale(X), n_threads=2).sweep([scorer])
        [expected] = ReferenceDirections(X, unit_scale(X)).sweep([scorer])
        double = arithmetic(X.dtype, [scorer]) == np.float64
        tolerance = (1e-10 if double else 1e-5) * max(1, length / 20)
        assert_resultants_close(actual, expected, scorer, tolerance)
"""
    environment = {**os.environ, "SPHEREMIX_SIMD": level}
    subprocess.run([sys.executable, "-c", job], env=environment, check=True)  # noqa: S603


def test_lanes_are_few_where_sums_are_large():
    assert kernels.dense_lanes(50, 384) == 16
    assert kernels.dense_lanes(100, 4096) == 10
    assert kernels.dense_lanes(20, 100_000) == 4
    assert kernels.dense_lanes(2000, 384) == 1


@pytest.mark.parametrize("length", [3000.0, 30.0, 1.0])
@pytest.mark.parametrize("kind", ["dense64", "dense32"])
def test_large_sums_are_shared_out_by_components(kind, length):
    """One lane: any number of threads, and calls on successive rows, give the same bits."""
    X = make_rows(kind, n=2000, d=1001)
    scale = unit_scale(X)
    scorers = [
        make_scorer(X, 210, length),
        make_scorer(X, 50, length, "hard", 1),
        make_scorer(X, 3, length, "drawn", 2),
    ]
    assert kernels.dense_lanes(263, X.shape[1]) == 1
    weights = np.random.default_rng(3).random((3, X.shape[0]))
    alone = CompiledDirections(X, scale).sweep(scorers, weights)
    expected = ReferenceDirections(X, scale).sweep(scorers, weights)
    double = arithmetic(X.dtype, scorers) == np.float64
    tolerance = (1e-10 if double else 1e-5) * max(1, length / 20)
    for actual, right, scorer in zip(alone, expected, scorers, strict=True):
        assert_resultants_close(actual, right, scorer, tolerance)
    for n_threads in (2, 7):
        several = CompiledDirections(X, scale, n_threads=n_threads).sweep(scorers, weights)
        for a, b in zip(alone, several, strict=True):
            assert_resultants_same_bits(a, b)
    cut = 9 * kernels.DENSE_BLOCK
    first = CompiledDirections(X[:cut], scale[:cut], n_threads=3)
    sums = first.begin(scorers, weights, len(X))
    sums.add(first, 0)
    sums.add(CompiledDirections(X[cut:], scale[cut:], first_row=cut, n_threads=2), cut)
    for a, b in zip(alone, sums.resultants(), strict=True):
        assert_resultants_same_bits(a, b)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_has_its_own_threads():
    job = f"""
import os, sys
sys.path.insert(0, {HERE!r})
from test_compiled import *
X = make_rows("dense32")
rows = CompiledDirections(X, unit_scale(X), n_threads=3)
scorer = make_scorer(X, 20, 30.0)
[before] = rows.sweep([scorer])
child = os.fork()
[after] = rows.sweep([scorer])
assert_resultants_same_bits(before, after)
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    run = [sys.executable, "-W", "ignore", "-c", job]
    subprocess.run(run, check=True, timeout=60)  # noqa: S603


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers on this system")
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("kind", ["csr", "dense"])
def test_ctrl_c_stops_a_sweep_and_breaks_nothing(kind, n_threads):
    X = make_rows(kind, n=400, d=64)
    scorer = make_scorer(X, 150, 5.0)
    [expected] = CompiledDirections(X, unit_scale(X), n_threads=n_threads).sweep([scorer])
    long = sparse.vstack([X] * 2500).tocsr() if kind == "csr" else np.tile(X, (2500, 1))
    rows = CompiledDirections(long, np.tile(unit_scale(X), 2500), n_threads=n_threads)

    def raise_interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, raise_interrupt)
    start = time.perf_counter()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.15)
        with pytest.raises(KeyboardInterrupt):
            rows.sweep([scorer] * 12)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.perf_counter() - start < 5
    [again] = CompiledDirections(X, unit_scale(X), n_threads=n_threads).sweep([scorer])
    assert_resultants_same_bits(expected, again)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_pointers_that_go_backwards_are_refused(index):
    scorer = Scorer(np.eye(2), np.zeros(2))
    arrays = scorer_arrays([scorer], stack([scorer]))
    for indptr in ([0, -5], [3, 2], [-1, 2], [0, 9, 3]):
        rows = np.array(indptr, dtype=index), np.zeros(3, dtype=index), np.ones(3)
        n = len(indptr) - 1
        with pytest.raises(ValueError, match="do not fit together"):
            kernels.map_sparse(*rows, np.ones(n), 0, arrays, 2, np.empty((n, 2)), True, 1)

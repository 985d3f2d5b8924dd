"""What must not matter: how rows are cut, weighted, scored together and read."""

from __future__ import annotations

import inspect
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.testing import assert_array_equal

from spheremix.data.base import GRAIN
from spheremix.resultants import Resultants
from spheremix.testing.suite import (
    ASSIGNMENTS,
    assert_raises,
    assert_resultants_close,
    assert_resultants_same_bits,
    draw_rows,
    draw_scorer,
    engine_check,
    map_rows,
    tolerance_of,
)

if TYPE_CHECKING:
    from numpy.random import Generator

    from spheremix.testing.suite import Contain, Make


@engine_check
def check_additive(make: Make, contain: Contain, rng: Generator) -> None:
    """Parts of the rows, split anywhere, add up, drawn assignments included."""
    rows = draw_rows(rng, 300, 13)
    weights = rng.exponential(size=300)
    cuts = [0, 1, 2, 131, 300]
    for how in ASSIGNMENTS:
        scorer = draw_scorer(rng, 6, 13, how)
        [whole] = make(contain(rows)).sweep([scorer], weights)
        total = Resultants.zero(6, 13)
        for start, stop in pairwise(cuts):
            part = make(contain(rows[start:stop]), first_row=start)
            total += part.sweep([scorer], weights[start:stop])[0]
        assert_resultants_close(total, whole, scorer, tolerance_of(contain(rows), scorer))


@engine_check
def check_weights_repeat(make: Make, contain: Contain, rng: Generator) -> None:
    """Weight m is m rows, and weight zero is none."""
    rows = draw_rows(rng, 120, 9)
    counts = rng.integers(0, 4, size=120)
    X, repeated = contain(rows), contain(np.repeat(rows, counts, axis=0))
    for how in ASSIGNMENTS[:2]:
        scorer = draw_scorer(rng, 5, 9, how)
        [weighted] = make(X).sweep([scorer], counts.astype(float))
        [expected] = make(repeated).sweep([scorer])
        assert_resultants_close(weighted, expected, scorer, tolerance_of(X, scorer))


@engine_check
def check_zero_weights(make: Make, contain: Contain, rng: Generator) -> None:
    """Rows of weight zero add nothing, to the last bit, also where all of them are."""
    for n, K in ((1, 1), (1, 6), (40, 1), (40, 19)):
        X = contain(draw_rows(rng, n, 8))
        for how in ASSIGNMENTS:
            [nothing] = make(X).sweep([draw_scorer(rng, K, 8, how)], np.zeros(n))
            assert_resultants_same_bits(nothing, Resultants.zero(K, 8))


@engine_check
def check_several_scorers(make: Make, contain: Contain, rng: Generator) -> None:
    """Several scorers in one sweep are as good as one sweep each, whatever their weights."""
    X = contain(draw_rows(rng, 220, 10))
    tested = make(X)
    scorers = [draw_scorer(rng, K, 10, how) for K in (1, 5, 18) for how in ASSIGNMENTS]
    one_each = rng.exponential(size=(len(scorers), 220)) * (rng.random((len(scorers), 220)) < 0.7)
    for weights in (None, one_each[0], one_each):
        together = tested.sweep(scorers, weights)
        assert len(together) == len(scorers)
        for s, scorer in enumerate(scorers):
            own = weights[s] if weights is one_each else weights
            [alone] = tested.sweep([scorer], own)
            assert_resultants_close(together[s], alone, scorer, tolerance_of(X, scorer))


@engine_check
def check_weight_shapes(make: Make, contain: Contain, rng: Generator) -> None:
    """Weights of the wrong shape are an error, not a broadcast."""
    tested = make(contain(draw_rows(rng, 12, 3)))
    scorers = [draw_scorer(rng, 2, 3), draw_scorer(rng, 2, 3)]
    for shape in ((11,), (1,), (12, 1), (3, 12), (12, 2), (1, 12)):
        assert_raises(ValueError, tested.sweep, scorers, np.ones(shape))


@engine_check
def check_threads(make: Make, contain: Contain, rng: Generator) -> None:
    """One, two and seven threads give the same bits."""
    X = contain(draw_rows(rng, 20_000, 23))
    scorers = [draw_scorer(rng, 14, 23, how) for how in ASSIGNMENTS]
    scorers.append(draw_scorer(rng, 3, 23, "soft", 500.0))
    weights = rng.exponential(size=20_000)
    expected, *others = (make(X, n_threads=n_threads) for n_threads in (1, 2, 7))
    assert [one.n_threads for one in (expected, *others)] == [1, 2, 7]
    resultants = expected.sweep(scorers, weights)
    posteriors = map_rows(expected, scorers[0], "posteriors")
    for tested in others:
        for found, wanted in zip(tested.sweep(scorers, weights), resultants, strict=True):
            assert_resultants_same_bits(found, wanted)
        assert_array_equal(map_rows(tested, scorers[0], "posteriors"), posteriors)


@engine_check
def check_concurrent_sweeps(make: Make, contain: Contain, rng: Generator) -> None:
    """Threads of the user's program may sweep the same rows at the same time."""
    tested = make(contain(draw_rows(rng, 3000, 9)), n_threads=2)
    scorers = [draw_scorer(rng, 6, 9, how) for how in ASSIGNMENTS]
    expected = tested.sweep(scorers)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: tested.sweep(scorers), range(12)):
            for one, other in zip(found, expected, strict=True):
                assert_resultants_same_bits(one, other)


@engine_check
def check_block_rows(make: Make, contain: Contain, rng: Generator) -> None:
    """Blocks of any size give the same bits, where the engine has a ``block_rows`` option."""
    if "block_rows" not in inspect.signature(make).parameters:
        return
    X = contain(draw_rows(rng, 2100, 12))
    scorers = [draw_scorer(rng, 5, 12, how) for how in ASSIGNMENTS]
    weights = rng.exponential(size=2100)
    whole = make(X)
    expected = whole.sweep(scorers, weights)
    open_blocks: Any = make
    for block_rows in (1, 700, 10**6):
        tested = open_blocks(X, block_rows=block_rows)
        for one, other in zip(tested.sweep(scorers, weights), expected, strict=True):
            assert_resultants_same_bits(one, other)
        assert_array_equal(
            map_rows(tested, scorers[2], "labels"), map_rows(whole, scorers[2], "labels")
        )
        assert_array_equal(tested.take([2099, 0, 512]), whole.take([2099, 0, 512]))


@engine_check
def check_begun_sums(make: Make, contain: Contain, rng: Generator) -> None:
    """Parts that go on with the same sums give the bits of all rows, where engines can be parts."""
    rows = draw_rows(rng, 2100, 12)
    whole: Any = make(contain(rows))
    if not hasattr(whole, "begin"):
        return
    scorers = [draw_scorer(rng, 5, 12, how) for how in ASSIGNMENTS]
    cuts = [0, GRAIN, 3 * GRAIN, 2100]
    parts = [make(contain(rows[a:b]), first_row=a) for a, b in pairwise(cuts)]
    one_each = rng.exponential(size=(len(scorers), 2100))
    for weights in (None, one_each[0], one_each):
        sums = parts[0].begin(scorers, weights, 2100)  # type: ignore[attr-defined]
        for part, start in zip(parts, cuts, strict=False):
            sums.add(part, start)
        found, expected = sums.resultants(), whole.sweep(scorers, weights)
        for one, other in zip(found, expected, strict=True):
            assert_resultants_same_bits(one, other)


@engine_check
def check_input_unchanged(make: Make, contain: Contain, rng: Generator) -> None:
    """Read-only rows are read, and are the same afterwards."""
    X = contain(draw_rows(rng, 70, 6))
    parts = [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]
    before = [part.copy() for part in parts]
    for part in parts:
        part.flags.writeable = False
    tested = make(X)
    scorer = draw_scorer(rng, 3, 6)
    weights = rng.exponential(size=70)
    weights.flags.writeable = scorer.matrix.flags.writeable = scorer.biases.flags.writeable = False
    tested.sweep([scorer, scorer], weights)
    tested.map_rows(scorer, "posteriors")
    tested.take([0, 1])
    for part, old in zip(parts, before, strict=True):
        assert_array_equal(part, old)

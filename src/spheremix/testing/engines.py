"""What every engine must do, one small function a property."""

from __future__ import annotations

import inspect
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from spheremix.data.base import FLOAT32_LENGTH, GRAIN, negligible
from spheremix.resultants import Resultants
from spheremix.scorer import Scorer
from spheremix.testing.suite import (
    ASSIGNMENTS,
    assert_equals_reference,
    assert_raises,
    assert_resultants_close,
    assert_resultants_same_bits,
    by_reference,
    draw_rows,
    draw_scorer,
    engine_check,
    map_rows,
    tolerance_of,
)

if TYPE_CHECKING:
    from numpy.random import Generator

    from spheremix.testing.suite import Contain, Make

# What a sweep must return


@engine_check
def check_equals_reference(make: Make, contain: Contain, rng: Generator) -> None:
    """Every assignment, below and above the widths of vector registers."""
    X = contain(draw_rows(rng, 203, 37))
    weights = rng.exponential(size=203)
    for K in (1, 3, 8, 17, 33, 70):
        assert_equals_reference(make, X, [draw_scorer(rng, K, 37, how) for how in ASSIGNMENTS])
        assert_equals_reference(make, X, [draw_scorer(rng, K, 37, "soft", 200.0)], weights)
        assert_equals_reference(make, X, [draw_scorer(rng, K, 37, "variation")], weights)


@engine_check
def check_odd_shapes(make: Make, contain: Contain, rng: Generator) -> None:
    """One row, two columns, more columns than rows, more components than both."""
    for n, d, K in ((1, 2, 1), (1, 5, 9), (2, 130, 3), (65, 2, 4), (513, 3, 5)):
        X = contain(draw_rows(rng, n, d))
        assert_equals_reference(make, X, [draw_scorer(rng, K, d, how) for how in ASSIGNMENTS])


@engine_check
def check_single_entries(make: Make, contain: Contain, rng: Generator) -> None:
    """Rows with a single non-zero, columns with none."""
    rows = np.zeros((60, 40))
    rows[np.arange(60), rng.integers(0, 20, size=60) * 2] = rng.normal(size=60)
    assert_equals_reference(
        make, contain(rows), [draw_scorer(rng, 6, 40, how) for how in ASSIGNMENTS]
    )


@engine_check
def check_sparse_prototypes(make: Make, contain: Contain, rng: Generator) -> None:
    """Columns that no prototype uses, and a scorer of zeros only, still add to the vectors."""
    X = contain(draw_rows(rng, 150, 41))
    for keep in (np.arange(41) % 5 == 0, np.zeros(41, dtype=bool)):
        for how in ASSIGNMENTS:
            scorer = draw_scorer(rng, 7, 41, how)
            scorer = replace(scorer, matrix=np.ascontiguousarray(scorer.matrix * keep))
            assert_equals_reference(make, X, [scorer])


@engine_check
def check_noise(make: Make, contain: Contain, rng: Generator) -> None:
    """Noise: a last component without a prototype, among others that have one."""
    X = contain(draw_rows(rng, 150, 41))
    for K in (2, 9, 34):
        for how in ("soft", "hard"):
            scorer = draw_scorer(rng, K, 41)
            matrix, biases = scorer.matrix.copy(), scorer.biases.copy()
            matrix[-1], biases[-1] = 0.0, 8.0
            scorer = Scorer(matrix, biases, scorer.offset, how, has_noise=True)
            assert_equals_reference(make, X, [scorer])
            assert (make(X).map_rows(scorer, "labels") == K - 1).any()


@engine_check
def check_negligible_posteriors(make: Make, contain: Contain, rng: Generator) -> None:
    """Posteriors just below the threshold add nothing at all, those just above do."""
    X = contain(draw_rows(rng, 20, 4))
    threshold = negligible(X.dtype)
    biases = np.log([1.0, threshold / 2, threshold * 2])
    [resultants] = make(X).sweep([Scorer(np.zeros((3, 4)), biases)])
    assert resultants.mass[1] == 0
    assert not resultants.vectors[1].any()
    assert_allclose(resultants.mass[2], 20 * 2 * threshold, 1e-3)


@engine_check
def check_long_prototypes(make: Make, contain: Contain, rng: Generator) -> None:
    """Close prototypes of a concentrated mixture are told apart, also on float32 rows."""
    middle = rng.normal(size=33) / 33**0.5
    for length in (FLOAT32_LENGTH * 1.01, 1e5, 1e8):
        rows = middle + rng.normal(size=(300, 33)) / length**0.5
        X = contain(rows * np.exp(rng.normal(size=(300, 1))))
        near = middle + rng.normal(size=(4, 33)) / length**0.5
        near *= length / np.linalg.norm(near, axis=1, keepdims=True)
        for how in ASSIGNMENTS:
            scorer = Scorer.centred(near, np.zeros(4))
            scorer = replace(scorer, assignment=how, rates=rng.exponential(size=4))
            assert_equals_reference(make, X, [scorer])
        tested, reference = make(X), by_reference(X)
        scorer = Scorer.centred(near, np.log([1.0, 1e-12, 1e-12, 1e-12]))
        scores = np.asarray(reference.map_rows(scorer, "scores"), dtype=np.float64)
        found_scores = np.asarray(tested.map_rows(scorer, "scores"), dtype=np.float64)
        assert_allclose(found_scores, scores, 0, 1e-14 * length)
        [found], [expected] = tested.sweep([scorer]), reference.sweep([scorer])
        assert_allclose(found.mass, expected.mass, 1e-6 + 1e-13 * length)


@engine_check
def check_ties(make: Make, contain: Contain, rng: Generator) -> None:
    """Of equal scores the first wins, wherever it stands."""
    d, K = 6, 21
    X = contain(np.eye(d)[rng.integers(0, d, size=50)] * 4.0)
    scorer = Scorer(rng.integers(0, 3, size=(K, d)).astype(float), np.zeros(K), 0.0, "hard")
    tested, reference = make(X), by_reference(X)
    assert_array_equal(tested.map_rows(scorer, "labels"), reference.map_rows(scorer, "labels"))
    assert_array_equal(tested.sweep([scorer])[0].mass, reference.sweep([scorer])[0].mass)


@engine_check
def check_variation(make: Make, contain: Contain, rng: Generator) -> None:
    """By variation a row goes where the length of the resultant, itself included, gains most."""
    n, d, K = 60, 8, 6  # ten rows a component: one of them turns it visibly
    X = contain(draw_rows(rng, n, d))
    weights = rng.exponential(size=n)
    tested, unit = make(X), by_reference(X).take(np.arange(n))
    scorer = draw_scorer(rng, K, d, "hard", 4.0)
    [before] = by_reference(X).sweep([scorer], weights)
    lengths = np.linalg.norm(before.vectors, axis=1)
    kappas = rng.uniform(2.0, 6.0, size=K)
    matrix = before.vectors * (kappas / lengths)[:, None]
    scorer = replace(scorer, matrix=matrix, assignment="variation", rates=1.0 / lengths)
    own = (unit @ matrix.T + scorer.biases).argmax(axis=1)
    parts = weights[:, None] * unit
    joined = np.linalg.norm(before.vectors + parts[:, None], axis=2) - lengths
    left = lengths - np.linalg.norm(before.vectors - parts[:, None], axis=2)
    each = np.where(own[:, None] == np.arange(K), left, joined) * kappas / weights[:, None]
    labels = (each + scorer.biases).argmax(axis=1)
    assert (labels != own).any()
    [found] = tested.sweep([scorer], weights)
    tolerance = tolerance_of(X, scorer)
    assert_allclose(found.mass, np.bincount(labels, weights, K), 0, tolerance * found.weight)
    scores = unit @ matrix.T + scorer.biases + scorer.offset
    likelihood = weights @ scores[np.arange(n), labels]
    assert_allclose(found.log_likelihood, likelihood, 0, 30 * tolerance * found.weight)
    assert found.entropy == 0.0


@engine_check
def check_extreme_scores(make: Make, contain: Contain, rng: Generator) -> None:
    """Scores of tens of thousands neither overflow nor lose a row."""
    X = contain(draw_rows(rng, 100, 12))
    for how in ASSIGNMENTS:
        [resultants] = make(X).sweep([draw_scorer(rng, 5, 12, how, 1e5)])
        assert_allclose(resultants.mass.sum(), 100, 1e-6)
        assert np.isfinite(resultants.vectors).all()
        assert np.isfinite(resultants.log_likelihood)
        assert -1e-9 <= resultants.entropy < 100 * np.log(5)


@engine_check
def check_long_sums(make: Make, contain: Contain, rng: Generator) -> None:
    """Long sums of entries of one sign do not drift, also where the rows are float32."""
    for n, d in ((100_000, 3), (20_000, 64)):  # wide ones may have kernels of their own
        X = contain(np.abs(draw_rows(rng, n, d)))
        scorer = draw_scorer(rng, 1, d)
        [found], [expected] = make(X).sweep([scorer]), by_reference(X).sweep([scorer])
        assert_resultants_close(found, expected, scorer, 5e-7 if X.dtype == np.float32 else 1e-11)


@engine_check
def check_impossible_components(make: Make, contain: Contain, rng: Generator) -> None:
    """Components with a bias of -inf get nothing, and change nothing for the others."""
    X = contain(draw_rows(rng, 70, 6))
    tested, possible = make(X), [0, 2, 3]
    for how in ASSIGNMENTS:
        scorer = draw_scorer(rng, 5, 6, how)
        scorer.biases[[1, 4]] = -np.inf
        parts = {name: getattr(scorer, name)[possible] for name in ("matrix", "biases", "rates")}
        fewer = replace(scorer, **parts)
        [found], [expected] = tested.sweep([scorer]), by_reference(X).sweep([fewer])
        assert not found.mass[[1, 4]].any()
        assert not found.vectors[[1, 4]].any()
        found = replace(found, mass=found.mass[possible], vectors=found.vectors[possible])
        assert_resultants_close(found, expected, fewer, tolerance_of(X, fewer))
        assert (map_rows(tested, scorer, "scores")[:, [1, 4]] == -np.inf).all()
        assert (map_rows(tested, scorer, "posteriors")[:, [1, 4]] == 0).all()
        assert np.isin(map_rows(tested, scorer, "labels"), possible).all()


@engine_check
def check_wrong_features(make: Make, contain: Contain, rng: Generator) -> None:
    """Scorers of rows with fewer or more features are refused."""
    tested = make(contain(draw_rows(rng, 30, 7)))
    for d in (2, 6, 8, 40):
        scorer = draw_scorer(rng, 3, d)
        assert_raises(ValueError, tested.sweep, [scorer])
        for want in ("labels", "posteriors", "scores", "log_density"):
            assert_raises(ValueError, map_rows, tested, scorer, want)


@engine_check
def check_no_scorers(make: Make, contain: Contain, rng: Generator) -> None:
    """Nothing asked for is nothing given."""
    assert make(contain(draw_rows(rng, 30, 7))).sweep([]) == []


@engine_check
def check_completed_likelihood(make: Make, contain: Contain, rng: Generator) -> None:
    """``log_likelihood - entropy`` is the completed log-likelihood, of any assignment."""
    X = contain(draw_rows(rng, 180, 15))
    weights = rng.exponential(size=180)
    for how in ASSIGNMENTS:
        scorer = draw_scorer(rng, 9, 15, how)
        [found] = make(X).sweep([scorer], weights)
        completed = (found.vectors * scorer.matrix).sum() + found.mass @ scorer.biases
        completed += scorer.offset * found.weight
        bound = 50 * max(tolerance_of(X, scorer), 1e-10) * found.weight
        assert_allclose(found.log_likelihood - found.entropy, completed, 0, bound)


@engine_check
def check_offset(make: Make, contain: Contain, rng: Generator) -> None:
    """Offsets move likelihoods, scores and log-densities, and nothing else."""
    tested = make(contain(draw_rows(rng, 90, 11)))
    for how in ASSIGNMENTS:
        near = replace(draw_scorer(rng, 4, 11, how), offset=0.0)
        far = replace(near, offset=-96_000.0)
        [here], [there] = tested.sweep([near]), tested.sweep([far])
        likelihood = there.log_likelihood + 96_000.0 * there.weight
        assert_allclose(likelihood, here.log_likelihood, 0, 1e-12 * 96_000 * 90)
        assert_resultants_same_bits(replace(there, log_likelihood=here.log_likelihood), here)
        for want in ("labels", "posteriors"):
            assert_array_equal(map_rows(tested, near, want), map_rows(tested, far, want))
        for want in ("scores", "log_density"):
            moved = map_rows(tested, far, want) + 96_000.0
            assert_allclose(moved, map_rows(tested, near, want), 0, 1e-9)


# What must not matter: how rows are cut, weighted, scored together and read


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


# What is given row by row


@engine_check
def check_map_rows(make: Make, contain: Contain, rng: Generator) -> None:
    """Row by row, the scorer says what its sweep adds up."""
    X = contain(draw_rows(rng, 160, 14))
    tested, reference = make(X), by_reference(X)
    for scorer in (
        draw_scorer(rng, 1, 14),
        draw_scorer(rng, 11, 14),
        draw_scorer(rng, 4, 14, "hard"),
    ):
        tolerance, K = tolerance_of(X, scorer), scorer.n_components
        labels, posteriors = (
            map_rows(tested, scorer, "labels"),
            map_rows(tested, scorer, "posteriors"),
        )
        scores, density = (
            map_rows(tested, scorer, "scores"),
            map_rows(tested, scorer, "log_density"),
        )
        assert labels.shape == density.shape == (160,)
        assert posteriors.shape == scores.shape == (160, K)
        assert np.issubdtype(labels.dtype, np.integer)
        assert_array_equal(labels, map_rows(reference, scorer, "labels"))
        assert_allclose(posteriors.sum(axis=1), 1.0, 0, tolerance)
        assert_allclose(posteriors, map_rows(reference, scorer, "posteriors"), 0, tolerance)
        assert_allclose(scores, map_rows(reference, scorer, "scores"), 0, 30 * tolerance)
        assert_allclose(density, map_rows(reference, scorer, "log_density"), 0, 30 * tolerance)
        chosen = scorer.assignment in {"hard", "variation"}
        likelihood = scores[np.arange(160), labels] if chosen else density
        [swept] = tested.sweep([scorer])
        assert_allclose(likelihood.sum(), swept.log_likelihood, 0, 30 * tolerance * 160)
    assert_raises(ValueError, map_rows, tested, scorer, "colours")


@engine_check
def check_draws(make: Make, contain: Contain, rng: Generator) -> None:
    """Draws are those of the reference: functions of seed, sweep and row, and of nothing else."""
    rows = draw_rows(rng, 400, 5)
    X = contain(rows)
    scorer = draw_scorer(rng, 6, 5, "drawn", 3.0)
    labels = make(X, first_row=7).map_rows(scorer, "labels")
    assert_array_equal(labels, by_reference(X, first_row=7).map_rows(scorer, "labels"))
    later = make(contain(rows[150:]), first_row=157)
    assert_array_equal(later.map_rows(scorer, "labels"), labels[150:])
    [swept] = make(X, first_row=7).sweep([scorer])
    assert_array_equal(swept.mass, np.bincount(labels, minlength=6))
    for key in ((scorer.key[0] + 1, scorer.key[1]), (scorer.key[0], scorer.key[1] + 1)):
        other = make(X, first_row=7).map_rows(replace(scorer, key=key), "labels")
        assert (other != labels).any()


@engine_check
def check_take(make: Make, contain: Contain, rng: Generator) -> None:
    """Rows come dense, in float64, of norm one and in the order asked for, or by a mask."""
    rows = draw_rows(rng, 30, 7)
    X = contain(rows)
    tested = make(X)
    ids = [3, 29, 0, 3, -1]
    found = tested.take(ids)
    assert found.dtype == np.float64
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert_allclose(found, unit[ids], 0, 1e-6 if X.dtype == np.float32 else 1e-15)
    assert_allclose(np.linalg.norm(found, axis=1), 1.0, 0, 1e-12)
    mask = rng.random(30) < 0.4
    assert_array_equal(tested.take(mask), tested.take(np.flatnonzero(mask)))
    assert_array_equal(tested.take(3), found[:1])
    assert_array_equal(tested.take(np.array([29, 0], dtype=np.uint8)), found[1:3])
    assert tested.take([]).shape == (0, 7)
    assert (tested.n_rows, tested.n_features) == (30, 7)
    for nonsense in ([30], [-31], [0.5], [True, False], mask[1:], [[0, 1], [2, 3]], ["first"]):
        assert_raises(IndexError, tested.take, nonsense)

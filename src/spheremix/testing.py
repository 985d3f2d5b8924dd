"""Conformance suites: what every engine must do, one small function a property.

A new engine is right when all of these pass::

    from spheremix.testing import check_engine

    def make(X, *, first_row=0, n_threads=1):
        return MyDirections(*open_rows(X), first_row=first_row, n_threads=n_threads)

    check_engine(make)

Under pytest, parametrise over ``CONTAINERS`` and ``ENGINE_CHECKS`` instead, to see which property
fails on which container.
Results are compared with the reference engine to 1e-10 on float64 rows and to 2e-5 on float32
rows, of the largest entry for masses and vectors, of the size of the scores for likelihoods. The
tolerance grows with the length of the prototypes beyond 20, as the rounding of the scores does.

Memory is not checked: beyond the input it should be O(K d), K counting the components of all
scorers of the sweep, and never n times K.
"""

from __future__ import annotations

import inspect
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from spheremix.data.base import negligible
from spheremix.data.reference import ReferenceDirections
from spheremix.data.rows import open_rows
from spheremix.resultants import Resultants
from spheremix.scorer import Assignment, Scorer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from spheremix.data.base import Directions

    Contain: TypeAlias = Callable[[NDArray[np.float64]], Any]

ASSIGNMENTS: tuple[Assignment, ...] = ("soft", "hard", "drawn")


class Make(Protocol):
    """A way to open a container with the engine under test."""

    def __call__(self, X: Any, *, first_row: int = 0, n_threads: int = 1) -> Directions:
        """Open the rows; ``first_row`` is the number of the first of them in the whole data."""
        ...


Check: TypeAlias = "Callable[[Make, Contain, Generator], None]"
ENGINE_CHECKS: list[Check] = []


def _engine_check(check: Check) -> Check:
    ENGINE_CHECKS.append(check)
    return check


# ------------------------------------------------------------------------------------ containers


def _strided(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give a view on every second entry both ways; what lies between is NaN."""
    n, d = rows.shape
    around = np.full((2 * n, 2 * d + 1), np.nan)
    view = around[::2, 1::2]
    view[:] = rows
    return view


def _memmap(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    with tempfile.TemporaryFile() as file:
        file.write(np.ascontiguousarray(rows).tobytes())
        file.flush()
        return np.memmap(file, dtype=np.float64, mode="r", shape=rows.shape)


def _csr_int64(rows: NDArray[np.float64]) -> Any:
    """Give a CSR with 64-bit indices, which SciPy's constructor would make smaller."""
    csr = sparse.csr_array(rows)
    csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    return csr


CONTAINERS: dict[str, Contain] = {
    "float64": np.array,
    "float32": lambda rows: rows.astype(np.float32),
    "fortran": lambda rows: np.array(rows, order="F"),
    "strided": _strided,
    "memmap": _memmap,
    "csr_int32": sparse.csr_matrix,
    "csr_int64": _csr_int64,
    "csr_float32": lambda rows: sparse.csr_array(rows.astype(np.float32)),
}

# ------------------------------------------------------------------------- data and comparisons


def _rows(rng: Generator, n: int, d: int) -> NDArray[np.float64]:
    """Give rows of many lengths, half of their entries zero, none of them all zeros."""
    rows = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    rows[np.arange(n), np.arange(n) % d] = 1 + rng.random(n)
    return rows * np.exp(rng.normal(size=(n, 1)))


def _scorer(
    rng: Generator, K: int, d: int, assignment: Assignment = "soft", length: float = 20.0
) -> Scorer:
    directions = rng.normal(size=(K, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    biases = rng.normal(size=K) - 100
    return Scorer.centred(length * directions, biases, assignment, key=(int(rng.integers(99)), K))


def _tolerance(X: Any, scorer: Scorer) -> float:
    lengths = np.linalg.norm(scorer.matrix, axis=1)
    return float((2e-5 if X.dtype == np.float32 else 1e-10) * max(1.0, lengths.max() / 20))


def assert_resultants_close(
    actual: Resultants, expected: Resultants, scorer: Scorer, tolerance: float
) -> None:
    """Compare the resultants of one scorer, each part on its own scale."""
    for name in ("mass", "vectors"):
        wanted = getattr(expected, name)
        size = np.abs(wanted).max()
        assert_allclose(getattr(actual, name), wanted, 0, tolerance * size, err_msg=name)
    spread = np.linalg.norm(scorer.matrix, axis=1).max() + np.abs(scorer.biases).max() + 1
    size = tolerance * spread + 1e-13 * abs(scorer.offset)
    for name in ("log_likelihood", "entropy"):
        wanted = getattr(expected, name)
        assert_allclose(getattr(actual, name), wanted, 0, size * expected.weight, err_msg=name)
    assert_allclose(actual.weight, expected.weight, 1e-12, err_msg="weight")


def assert_resultants_same_bits(actual: Resultants, expected: Resultants) -> None:
    """Compare two resultants to the last bit."""
    for name in ("mass", "vectors", "log_likelihood", "entropy", "weight"):
        assert_array_equal(getattr(actual, name), getattr(expected, name), err_msg=name)


def _reference(X: Any, first_row: int = 0) -> ReferenceDirections:
    return ReferenceDirections(*open_rows(X), first_row=first_row)


def _assert_equals_reference(
    make: Make, X: Any, scorers: Iterable[Scorer], weights: NDArray[np.float64] | None = None
) -> None:
    tested, reference = make(X, first_row=5), _reference(X, first_row=5)
    for scorer in scorers:
        [actual], [expected] = tested.sweep([scorer], weights), reference.sweep([scorer], weights)
        assert actual.vectors.dtype == actual.mass.dtype == np.float64
        assert_resultants_close(actual, expected, scorer, _tolerance(X, scorer))


# ---------------------------------------------------------------------------------- the sweep


@_engine_check
def check_equals_reference(make: Make, contain: Contain, rng: Generator) -> None:
    """Every assignment, below and above the widths of vector registers."""
    X = contain(_rows(rng, 203, 37))
    weights = rng.exponential(size=203)
    for K in (1, 3, 8, 17, 33, 70):
        _assert_equals_reference(make, X, [_scorer(rng, K, 37, how) for how in ASSIGNMENTS])
        _assert_equals_reference(make, X, [_scorer(rng, K, 37, "soft", 200.0)], weights)


@_engine_check
def check_odd_shapes(make: Make, contain: Contain, rng: Generator) -> None:
    """One row, two columns, more columns than rows, more components than both."""
    for n, d, K in ((1, 2, 1), (1, 5, 9), (2, 130, 3), (65, 2, 4), (513, 3, 5)):
        X = contain(_rows(rng, n, d))
        _assert_equals_reference(make, X, [_scorer(rng, K, d, how) for how in ASSIGNMENTS])


@_engine_check
def check_single_entries(make: Make, contain: Contain, rng: Generator) -> None:
    """Rows with a single non-zero, columns with none."""
    rows = np.zeros((60, 40))
    rows[np.arange(60), rng.integers(0, 20, size=60) * 2] = rng.normal(size=60)
    _assert_equals_reference(make, contain(rows), [_scorer(rng, 6, 40, how) for how in ASSIGNMENTS])


@_engine_check
def check_sparse_prototypes(make: Make, contain: Contain, rng: Generator) -> None:
    """Columns that no prototype uses, and a scorer of zeros only, still add to the vectors."""
    X = contain(_rows(rng, 150, 41))
    for keep in (np.arange(41) % 5 == 0, np.zeros(41, dtype=bool)):
        for how in ASSIGNMENTS:
            scorer = _scorer(rng, 7, 41, how)
            scorer = replace(scorer, matrix=np.ascontiguousarray(scorer.matrix * keep))
            _assert_equals_reference(make, X, [scorer])


@_engine_check
def check_negligible_posteriors(make: Make, contain: Contain, rng: Generator) -> None:
    """Posteriors just below the threshold add nothing at all, those just above do."""
    X = contain(_rows(rng, 20, 4))
    threshold = negligible(X.dtype)
    biases = np.log([1.0, threshold / 2, threshold * 2])
    [resultants] = make(X).sweep([Scorer(np.zeros((3, 4)), biases)])
    assert resultants.mass[1] == 0
    assert not resultants.vectors[1].any()
    assert_allclose(resultants.mass[2], 20 * 2 * threshold, 1e-3)


@_engine_check
def check_ties(make: Make, contain: Contain, rng: Generator) -> None:
    """Of equal scores the first wins, wherever it stands."""
    d, K = 6, 21
    X = contain(np.eye(d)[rng.integers(0, d, size=50)] * 4.0)
    scorer = Scorer(rng.integers(0, 3, size=(K, d)).astype(float), np.zeros(K), 0.0, "hard")
    tested, reference = make(X), _reference(X)
    assert_array_equal(tested.map_rows(scorer, "labels"), reference.map_rows(scorer, "labels"))
    assert_array_equal(tested.sweep([scorer])[0].mass, reference.sweep([scorer])[0].mass)


@_engine_check
def check_extreme_scores(make: Make, contain: Contain, rng: Generator) -> None:
    """Scores of tens of thousands neither overflow nor lose a row."""
    X = contain(_rows(rng, 100, 12))
    for how in ASSIGNMENTS:
        [resultants] = make(X).sweep([_scorer(rng, 5, 12, how, 1e5)])
        assert_allclose(resultants.mass.sum(), 100, 1e-6)
        assert np.isfinite(resultants.vectors).all()
        assert np.isfinite(resultants.log_likelihood)
        assert -1e-9 <= resultants.entropy < 100 * np.log(5)


@_engine_check
def check_long_sums(make: Make, contain: Contain, rng: Generator) -> None:
    """Long sums of entries of one sign do not drift, also where the rows are float32."""
    X = contain(np.abs(_rows(rng, 100_000, 3)))
    scorer = _scorer(rng, 1, 3)
    [found], [expected] = make(X).sweep([scorer]), _reference(X).sweep([scorer])
    assert_resultants_close(found, expected, scorer, 5e-7 if X.dtype == np.float32 else 1e-11)


@_engine_check
def check_completed_likelihood(make: Make, contain: Contain, rng: Generator) -> None:
    """``log_likelihood - entropy`` is the completed log-likelihood, of any assignment."""
    X = contain(_rows(rng, 180, 15))
    weights = rng.exponential(size=180)
    for how in ASSIGNMENTS:
        scorer = _scorer(rng, 9, 15, how)
        [found] = make(X).sweep([scorer], weights)
        completed = (found.vectors * scorer.matrix).sum() + found.mass @ scorer.biases
        completed += scorer.offset * found.weight
        bound = 50 * max(_tolerance(X, scorer), 1e-10) * found.weight
        assert_allclose(found.log_likelihood - found.entropy, completed, 0, bound)


@_engine_check
def check_offset(make: Make, contain: Contain, rng: Generator) -> None:
    """Offsets move likelihoods, scores and log-densities, and nothing else."""
    tested = make(contain(_rows(rng, 90, 11)))
    for how in ASSIGNMENTS:
        near = replace(_scorer(rng, 4, 11, how), offset=0.0)
        far = replace(near, offset=-96_000.0)
        [here], [there] = tested.sweep([near]), tested.sweep([far])
        likelihood = there.log_likelihood + 96_000.0 * there.weight
        assert_allclose(likelihood, here.log_likelihood, 0, 1e-12 * 96_000 * 90)
        assert_resultants_same_bits(replace(there, log_likelihood=here.log_likelihood), here)
        for want in ("labels", "posteriors"):
            assert_array_equal(_map(tested, near, want), _map(tested, far, want))
        for want in ("scores", "log_density"):
            moved = _map(tested, far, want) + 96_000.0
            assert_allclose(moved, _map(tested, near, want), 0, 1e-9)


# --------------------------------------------------------------------- rows, weights, scorers


@_engine_check
def check_additive(make: Make, contain: Contain, rng: Generator) -> None:
    """Parts of the rows, split anywhere, add up, drawn assignments included."""
    rows = _rows(rng, 300, 13)
    weights = rng.exponential(size=300)
    cuts = [0, 1, 2, 131, 300]
    for how in ASSIGNMENTS:
        scorer = _scorer(rng, 6, 13, how)
        [whole] = make(contain(rows)).sweep([scorer], weights)
        total = Resultants.zero(6, 13)
        for start, stop in pairwise(cuts):
            part = make(contain(rows[start:stop]), first_row=start)
            total += part.sweep([scorer], weights[start:stop])[0]
        assert_resultants_close(total, whole, scorer, _tolerance(contain(rows), scorer))


@_engine_check
def check_weights_repeat(make: Make, contain: Contain, rng: Generator) -> None:
    """Weight m is m rows, and weight zero is none."""
    rows = _rows(rng, 120, 9)
    counts = rng.integers(0, 4, size=120)
    X, repeated = contain(rows), contain(np.repeat(rows, counts, axis=0))
    for how in ASSIGNMENTS[:2]:
        scorer = _scorer(rng, 5, 9, how)
        [weighted] = make(X).sweep([scorer], counts.astype(float))
        [expected] = make(repeated).sweep([scorer])
        assert_resultants_close(weighted, expected, scorer, _tolerance(X, scorer))


@_engine_check
def check_zero_weights(make: Make, contain: Contain, rng: Generator) -> None:
    """Rows of weight zero add nothing, to the last bit, also where all of them are."""
    for n, K in ((1, 1), (1, 6), (40, 1), (40, 19)):
        X = contain(_rows(rng, n, 8))
        for how in ASSIGNMENTS:
            [nothing] = make(X).sweep([_scorer(rng, K, 8, how)], np.zeros(n))
            assert_resultants_same_bits(nothing, Resultants.zero(K, 8))


@_engine_check
def check_several_scorers(make: Make, contain: Contain, rng: Generator) -> None:
    """Several scorers in one sweep are as good as one sweep each, whatever their weights."""
    X = contain(_rows(rng, 220, 10))
    tested = make(X)
    scorers = [_scorer(rng, K, 10, how) for K in (1, 5, 18) for how in ASSIGNMENTS]
    one_each = rng.exponential(size=(len(scorers), 220)) * (rng.random((len(scorers), 220)) < 0.7)
    for weights in (None, one_each[0], one_each):
        together = tested.sweep(scorers, weights)
        assert len(together) == len(scorers)
        for s, scorer in enumerate(scorers):
            own = weights[s] if weights is one_each else weights
            [alone] = tested.sweep([scorer], own)
            assert_resultants_close(together[s], alone, scorer, _tolerance(X, scorer))


@_engine_check
def check_weight_shapes(make: Make, contain: Contain, rng: Generator) -> None:
    """Weights of the wrong shape are an error, not a broadcast."""
    tested = make(contain(_rows(rng, 12, 3)))
    scorers = [_scorer(rng, 2, 3), _scorer(rng, 2, 3)]
    for shape in ((11,), (1,), (12, 1), (3, 12), (12, 2), (1, 12)):
        _assert_raises(ValueError, tested.sweep, scorers, np.ones(shape))


# ----------------------------------------------------------------- reproducibility and inputs


@_engine_check
def check_threads(make: Make, contain: Contain, rng: Generator) -> None:
    """One, two and seven threads give the same bits."""
    X = contain(_rows(rng, 20_000, 23))
    scorers = [_scorer(rng, 14, 23, how) for how in ASSIGNMENTS]
    scorers.append(_scorer(rng, 3, 23, "soft", 500.0))
    weights = rng.exponential(size=20_000)
    expected, *others = (make(X, n_threads=n_threads) for n_threads in (1, 2, 7))
    resultants = expected.sweep(scorers, weights)
    posteriors = _map(expected, scorers[0], "posteriors")
    for tested in others:
        for found, wanted in zip(tested.sweep(scorers, weights), resultants, strict=True):
            assert_resultants_same_bits(found, wanted)
        assert_array_equal(_map(tested, scorers[0], "posteriors"), posteriors)


@_engine_check
def check_concurrent_sweeps(make: Make, contain: Contain, rng: Generator) -> None:
    """Threads of the user's program may sweep the same rows at the same time."""
    tested = make(contain(_rows(rng, 3000, 9)), n_threads=2)
    scorers = [_scorer(rng, 6, 9, how) for how in ASSIGNMENTS]
    expected = tested.sweep(scorers)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: tested.sweep(scorers), range(12)):
            for one, other in zip(found, expected, strict=True):
                assert_resultants_same_bits(one, other)


@_engine_check
def check_block_rows(make: Make, contain: Contain, rng: Generator) -> None:
    """Blocks of any size give the same bits, where the engine has a ``block_rows`` option."""
    if "block_rows" not in inspect.signature(make).parameters:
        return
    X = contain(_rows(rng, 2100, 12))
    scorers = [_scorer(rng, 5, 12, how) for how in ASSIGNMENTS]
    weights = rng.exponential(size=2100)
    whole = make(X)
    expected = whole.sweep(scorers, weights)
    open_blocks: Any = make
    for block_rows in (1, 700, 10**6):
        tested = open_blocks(X, block_rows=block_rows)
        for one, other in zip(tested.sweep(scorers, weights), expected, strict=True):
            assert_resultants_same_bits(one, other)
        assert_array_equal(_map(tested, scorers[2], "labels"), _map(whole, scorers[2], "labels"))
        assert_array_equal(tested.take([2099, 0, 512]), whole.take([2099, 0, 512]))


@_engine_check
def check_input_unchanged(make: Make, contain: Contain, rng: Generator) -> None:
    """Read-only rows are read, and are the same afterwards."""
    X = contain(_rows(rng, 70, 6))
    parts = [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]
    before = [part.copy() for part in parts]
    for part in parts:
        part.flags.writeable = False
    tested = make(X)
    scorer = _scorer(rng, 3, 6)
    weights = rng.exponential(size=70)
    weights.flags.writeable = scorer.matrix.flags.writeable = scorer.biases.flags.writeable = False
    tested.sweep([scorer, scorer], weights)
    tested.map_rows(scorer, "posteriors")
    tested.take([0, 1])
    for part, old in zip(parts, before, strict=True):
        assert_array_equal(part, old)


# ------------------------------------------------------------------------------- row by row


@_engine_check
def check_map_rows(make: Make, contain: Contain, rng: Generator) -> None:
    """Row by row, the scorer says what its sweep adds up."""
    X = contain(_rows(rng, 160, 14))
    tested, reference = make(X), _reference(X)
    for scorer in (_scorer(rng, 1, 14), _scorer(rng, 11, 14), _scorer(rng, 4, 14, "hard")):
        tolerance, K = _tolerance(X, scorer), scorer.n_components
        labels, posteriors = _map(tested, scorer, "labels"), _map(tested, scorer, "posteriors")
        scores, density = _map(tested, scorer, "scores"), _map(tested, scorer, "log_density")
        assert labels.shape == density.shape == (160,)
        assert posteriors.shape == scores.shape == (160, K)
        assert np.issubdtype(labels.dtype, np.integer)
        assert_array_equal(labels, _map(reference, scorer, "labels"))
        assert_allclose(posteriors.sum(axis=1), 1.0, 0, tolerance)
        assert_allclose(posteriors, _map(reference, scorer, "posteriors"), 0, tolerance)
        assert_allclose(scores, _map(reference, scorer, "scores"), 0, 30 * tolerance)
        assert_allclose(density, _map(reference, scorer, "log_density"), 0, 30 * tolerance)
        likelihood = scores.max(axis=1) if scorer.assignment == "hard" else density
        [swept] = tested.sweep([scorer])
        assert_allclose(likelihood.sum(), swept.log_likelihood, 0, 30 * tolerance * 160)
    _assert_raises(ValueError, _map, tested, scorer, "colours")


@_engine_check
def check_draws(make: Make, contain: Contain, rng: Generator) -> None:
    """Draws are those of the reference: functions of seed, sweep and row, and of nothing else."""
    rows = _rows(rng, 400, 5)
    X = contain(rows)
    scorer = _scorer(rng, 6, 5, "drawn", 3.0)
    labels = make(X, first_row=7).map_rows(scorer, "labels")
    assert_array_equal(labels, _reference(X, first_row=7).map_rows(scorer, "labels"))
    later = make(contain(rows[150:]), first_row=157)
    assert_array_equal(later.map_rows(scorer, "labels"), labels[150:])
    [swept] = make(X, first_row=7).sweep([scorer])
    assert_array_equal(swept.mass, np.bincount(labels, minlength=6))
    for key in ((scorer.key[0] + 1, scorer.key[1]), (scorer.key[0], scorer.key[1] + 1)):
        other = make(X, first_row=7).map_rows(replace(scorer, key=key), "labels")
        assert (other != labels).any()


@_engine_check
def check_take(make: Make, contain: Contain, rng: Generator) -> None:
    """Rows come dense, in float64, of norm one and in the order asked for."""
    rows = _rows(rng, 30, 7)
    X = contain(rows)
    tested = make(X)
    ids = [3, 29, 0, 3, -1]
    found = tested.take(ids)
    assert found.dtype == np.float64
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert_allclose(found, unit[ids], 0, 1e-6 if X.dtype == np.float32 else 1e-15)
    assert_allclose(np.linalg.norm(found, axis=1), 1.0, 0, 1e-12)
    assert tested.take([]).shape == (0, 7)
    assert (tested.n_rows, tested.n_features) == (30, 7)
    _assert_raises(IndexError, tested.take, [30])


def _map(directions: Directions, scorer: Scorer, want: str) -> Any:
    return directions.map_rows(scorer, want)  # type: ignore[arg-type]


def _assert_raises(error: type[Exception], call: Callable[..., object], *arguments: Any) -> None:
    try:
        call(*arguments)
    except error:
        return
    raise AssertionError(f"{error.__name__} was not raised.")


def check_engine(make: Make, *, seed: int = 0) -> None:
    """Run every check on every container.

    Parameters
    ----------
    make : callable
        ``make(X, *, first_row=0, n_threads=1)`` opens a container with the engine under test.
    seed : int
        Of the data that the checks draw.
    """
    for contain in CONTAINERS.values():
        for check in ENGINE_CHECKS:
            check(make, contain, np.random.default_rng(seed))

"""What the checks share: how they are listed, their data, their comparisons."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from spheremix.data.base import arithmetic
from spheremix.data.reference import ReferenceDirections
from spheremix.data.rows import open_rows
from spheremix.scorer import Assignment, Scorer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from spheremix.data.base import Directions
    from spheremix.resultants import Resultants

    Contain: TypeAlias = Callable[[NDArray[np.float64]], Any]

ASSIGNMENTS: tuple[Assignment, ...] = ("soft", "hard", "drawn", "variation")


class Make(Protocol):
    """A way to open a container with the engine under test."""

    def __call__(self, X: Any, *, first_row: int = 0, n_threads: int = 1) -> Directions:
        """Open the rows; ``first_row`` is the number of the first of them in the whole data."""
        ...


Check: TypeAlias = "Callable[[Make, Contain, Generator], None]"
ENGINE_CHECKS: list[Check] = []


def engine_check(check: Check) -> Check:
    """List a check among those of engines."""
    ENGINE_CHECKS.append(check)
    return check


def draw_rows(rng: Generator, n: int, d: int) -> NDArray[np.float64]:
    """Return rows of many lengths, half of their entries zero, none of them all zeros."""
    rows = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    rows[np.arange(n), np.arange(n) % d] = 1 + rng.random(n)
    return rows * np.exp(rng.normal(size=(n, 1)))


def draw_scorer(
    rng: Generator, K: int, d: int, assignment: Assignment = "soft", length: float = 20.0
) -> Scorer:
    """Return random scores with prototypes of a length."""
    directions = rng.normal(size=(K, d))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    biases = rng.normal(size=K) - 100
    key = (int(rng.integers(99)), K)
    scorer = Scorer.centred(length * directions, biases, "hard", key)
    # Resultants about as long as a row make rows count for the directions of components.
    return replace(scorer, assignment=assignment, rates=rng.exponential(size=K))


def tolerance_of(X: Any, scorer: Scorer) -> float:
    """Return the relative error that is allowed: more in float32, and for long prototypes."""
    lengths = np.linalg.norm(scorer.matrix, axis=1)
    single = arithmetic(X.dtype, [scorer]) == np.float32
    return float((2e-5 if single else 1e-10) * max(1.0, lengths.max() / 20))


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


def by_reference(X: Any, first_row: int = 0) -> ReferenceDirections:
    """Open rows with the engine that is the specification."""
    return ReferenceDirections(*open_rows(X), first_row=first_row)


def assert_equals_reference(
    make: Make, X: Any, scorers: Iterable[Scorer], weights: NDArray[np.float64] | None = None
) -> None:
    """Compare the sweeps of the engine under test with the specification's."""
    tested, reference = make(X, first_row=5), by_reference(X, first_row=5)
    for scorer in scorers:
        [actual], [expected] = tested.sweep([scorer], weights), reference.sweep([scorer], weights)
        assert actual.vectors.dtype == actual.mass.dtype == np.float64
        assert_resultants_close(actual, expected, scorer, tolerance_of(X, scorer))


def map_rows(directions: Directions, scorer: Scorer, want: str) -> Any:
    """Ask for anything, also for what there is not."""
    return directions.map_rows(scorer, want)  # type: ignore[arg-type]


def assert_raises(error: type[Exception], call: Callable[..., object], *arguments: Any) -> None:
    """Call, and be refused."""
    try:
        call(*arguments)
    except error:
        return
    raise AssertionError(f"{error.__name__} was not raised.")


# Tables in every container that engines must take


def _strided(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a view on every second entry both ways; what lies between is NaN."""
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
    """Return a CSR with 64-bit indices, which SciPy's constructor would make smaller."""
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

"""What all engines share: three methods over unit rows, their arithmetic, and stacked scorers."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, get_args

import numpy as np

from spheremix.resultants import Resultants
from spheremix.vectors import dots

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from spheremix.scorer import Scorer

    Array = NDArray[np.float64]

Engine = Literal["auto", "reference", "compiled", "torch"]
Precision = Literal["highest", "tf32", "bf16"]
Want = Literal["labels", "posteriors", "scores", "log_density"]


class Directions(Protocol):
    """n unit rows in d dimensions, wherever they live."""

    n_rows: int
    n_features: int
    n_threads: int  # that calculations on resultants, in this process, may use

    def sweep(
        self, scorers: Sequence[Scorer], weights: NDArray[np.float64] | None = None
    ) -> list[Resultants]:
        """Read the rows once; return the resultants of each scorer.

        Weights are non-negative, of shape (n,), or (len(scorers), n) for one vector a scorer.
        """
        ...

    def map_rows(self, scorer: Scorer, want: Want) -> NDArray[Any]:
        """Apply the scorer to each row, and return one of these for all rows.

        ``"labels"`` (n,): the component of the largest score, or the drawn one, or the one chosen
        by variation for a row of weight one.
        ``"posteriors"`` (n, K): the softmax of the scores, nothing skipped.
        ``"scores"`` (n, K): offset included.
        ``"log_density"`` (n,): log of the summed exponentials of the scores.
        """
        ...

    def take(self, ids: ArrayLike) -> NDArray[np.float64]:
        """Return a few unit rows, dense, by numbers or by a mask: see ``row_numbers``."""
        ...


class Shown:
    """How engines show themselves."""

    n_rows: int
    n_features: int

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__}: {self.n_rows:,} directions in {self.n_features:,} dimensions>"
        )


class Sums(Protocol):
    """The unfinished sums of a sweep, to which parts of the rows are added one after another.

    If every part begins at a multiple of ``GRAIN`` rows, the result has the same bits as a sweep
    over all rows at once.
    """

    def add(self, part: Any, start: int) -> None:
        """Add the rows of a part, an engine of the same kind; ``start`` rows came before."""
        ...

    def resultants(self) -> list[Resultants]:
        """Return the resultants of each scorer."""
        ...


class InMemory(Directions, Protocol):
    """Directions whose sums can be continued, which blocks of a larger data set need."""

    def begin(
        self, scorers: Sequence[Scorer], weights: NDArray[np.float64] | None, n_rows: int
    ) -> Sums:
        """Begin the sums over ``n_rows`` rows, of which these are the first."""
        ...


class Listable(Directions, Protocol):
    """Directions in memory that can read some of their rows: see ``data/frozen.py``."""

    n_entries: int  # stored ones of all rows
    longest: int  # most entries of a row
    unit_columns: Sequence[slice]  # parts of a row, none of which is longer than one

    def precision(self, scorers: Sequence[Scorer]) -> np.dtype[Any]:
        """Return the type in which scores are calculated: the coarsest, where there are several."""
        ...

    def sweep_listed(
        self,
        scorers: Sequence[Scorer],
        weights: NDArray[np.float64] | None,
        rows: NDArray[np.intp] | None = None,
        onto: Resultants | None = None,
        *,
        held: NDArray[np.int32] | None = None,
        clear: float = np.inf,
    ) -> tuple[list[Resultants], NDArray[np.float64], NDArray[np.int32]]:
        """Sweep the listed rows, or all; the resultants of other rows, for one scorer, are added.

        ``held``, for one scorer, tells of each row the component whose sums hold it already, or
        -1. A row whose largest score is that component's, by a margin of at least ``clear``, adds
        nothing.

        Also returns, of shape (len(scorers), n), the margins of the rows (by how much their largest
        score leads the next one; infinite where there is none, or no weight) and the component of
        the first largest score. Those of rows that are not listed are undefined. Weights are those
        of all rows, and the weight of the resultants too.
        """
        ...

    def add_listed(
        self,
        rows: NDArray[np.intp],
        owners: NDArray[np.int32],
        factors: NDArray[np.float64],
        vectors: NDArray[np.float64],
        mass: NDArray[np.float64],
    ) -> None:
        """Add listed rows, times factors, to the vectors (K, d) and mass (K,) of their owners."""
        ...


class Stored(Listable, Protocol):
    """Directions in memory whose arrays the compiled kernels read."""

    dtype: np.dtype[Any]
    rows: tuple[Any, ...]  # the table, or the three arrays of CSR
    scale: NDArray[np.float64]  # one over the norm of each row
    is_sparse: bool

    def part(self, ids: ArrayLike) -> Stored:
        """Return some rows as directions of their own, in the type in which they are stored."""
        ...


class Memory(Protocol):
    """What sweeps the rows of one fit, and remembers enough of them not to read all each time."""

    def sweep(
        self,
        scorers: Sequence[Scorer],
        weights: NDArray[np.float64] | None,
        runs: Sequence[int],
    ) -> list[Resultants]:
        """Return the resultants of each scorer, as a sweep does, to rounding.

        ``runs`` are the numbers of the runs that the scorers belong to; a run has the same weights
        in all its sweeps.
        """
        ...

    def sweep_all(
        self,
        scorers: Sequence[Scorer],
        weights: NDArray[np.float64] | None,
        runs: Sequence[int],
    ) -> list[Resultants]:
        """Read all rows in full."""
        ...

    def begin(self, scorer: Scorer, weights: NDArray[np.float64] | None, run: int) -> None:
        """Know the rows under the scorer where a run begins, or nothing: not what came before."""
        ...

    def left_out(self, run: int) -> int:
        """Return the number of rows that the last sweep of a run did not read in full."""
        ...


GRAIN = 512  # rows; every engine sums over groups of rows whose size divides it


def check_weights(
    weights: ArrayLike | None, n_scorers: int, n_rows: int
) -> NDArray[np.float64] | None:
    """Return the weights as contiguous floats; refuse weights of a wrong shape."""
    if weights is None:
        return None
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    if weights.shape not in {(n_rows,), (n_scorers, n_rows)}:
        raise ValueError(
            f"weights must have shape {(n_rows,)} or {(n_scorers, n_rows)}, got {weights.shape}."
        )
    return weights


def check_features(scorers: Iterable[Scorer], n_features: int) -> None:
    """Refuse scorers whose prototypes have another number of features than the rows."""
    for scorer in scorers:
        if scorer.matrix.shape[1] != n_features:
            raise ValueError(
                f"X has {n_features} features, and the scorer is for {scorer.matrix.shape[1]}."
            )


def output_array(want: Want, n_rows: int, n_components: int) -> NDArray[Any]:
    """Return the array that ``map_rows`` fills."""
    if want not in get_args(Want):
        raise ValueError(f"want must be one of {', '.join(get_args(Want))}, got {want!r}.")
    shape = (n_rows, n_components) if want in {"posteriors", "scores"} else (n_rows,)
    return np.empty(shape, np.int64 if want == "labels" else np.float64)


def row_numbers(ids: ArrayLike, n_rows: int) -> NDArray[np.intp]:
    """Return row numbers from 0, for rows given by numbers (-1 is the last row) or by a mask."""
    given = np.atleast_1d(ids)
    if given.dtype == bool and given.shape == (n_rows,):
        return np.flatnonzero(given)
    integers = given.dtype.kind in "iu" or (given.dtype == np.float64 and not given.size)
    if given.ndim != 1 or not integers:
        raise IndexError(
            f"Rows are given by integers, or by a mask of {n_rows} entries, and this is an array "
            f"of {given.dtype} of shape {given.shape}."
        )
    outside = given[(given < -n_rows) | (given >= n_rows)]
    if outside.size:
        raise IndexError(f"There is no row {outside[0]}: X has {n_rows} rows.")
    numbers = given.astype(np.intp)
    return np.where(numbers < 0, numbers + n_rows, numbers)


FLOAT32_LENGTH = 1024.0  # longest prototype M_k that float32 arithmetic is used for


def arithmetic(dtype: np.dtype[Any], scorers: Iterable[Scorer]) -> np.dtype[Any]:
    """Return the type in which the products and sums of one sweep, or one map, are calculated.

    Part of the specification of every engine. It is float64 for float64 rows. For float32 rows it
    is float32 while no prototype of the scorers is longer than ``FLOAT32_LENGTH``, and float64
    otherwise. A float32 score has an error of about 1e-7 times the length of its prototype, in
    nats; so that error stays below 1e-4, and does not grow with the concentration of a mixture.

    Parameters
    ----------
    dtype : np.dtype
        Of the rows, float32 or float64.
    scorers : iterable of Scorer
        All those that read the rows together.
    """
    short = dtype == np.float32 and all(
        dots(scorer.matrix, scorer.matrix).max() <= FLOAT32_LENGTH**2 for scorer in scorers
    )
    return np.dtype(np.float32 if short else np.float64)


def negligible(dtype: np.dtype[Any]) -> float:
    """Return the posterior below which a row adds nothing to a component's mass and vector.

    Part of the specification of every engine, for the type given by ``arithmetic``. In float64
    leaving such posteriors out changes no visible digit, and a sweep takes no time for components
    that a row does not belong to.
    """
    return 1e-9 if dtype == np.float32 else 1e-16


def uniforms(key: tuple[int, int], rows: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return each row its uniform number in [0, 1), a function of (seed, sweep, row) alone."""
    seed, sweep = (np.uint64(part & 0xFFFFFFFFFFFFFFFF) for part in key)
    state = _mix(_mix(_mix(np.array([seed])) ^ sweep) ^ rows)
    return (state >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """One round of a 64-bit finaliser (the constants are those of SplitMix64)."""
    state = state + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


# Several scorers in one sweep


class Stack(NamedTuple):
    """The components of several scorers, K of them in all."""

    matrix: Array  # (K, d)
    biases: Array  # (K,)
    parts: list[slice]  # the components of each scorer
    pulls: Array  # (K, 2): for assignment by variation


def stack(scorers: Sequence[Scorer]) -> Stack:
    """Put scorers one under the other; a single one is not copied."""
    parts = parts_of(scorers)
    if len(scorers) == 1:
        return Stack(scorers[0].matrix, scorers[0].biases, parts, scorers[0].pulls)
    return Stack(
        np.concatenate([scorer.matrix for scorer in scorers]),
        np.concatenate([scorer.biases for scorer in scorers]),
        parts,
        np.concatenate([scorer.pulls for scorer in scorers]),
    )


def parts_of(scorers: Sequence[Scorer]) -> list[slice]:
    """Return the places of the components of each scorer in a stack of them."""
    ends = accumulate((scorer.n_components for scorer in scorers), initial=0)
    return [slice(a, b) for a, b in pairwise(ends)]


def split_resultants(
    parts: Sequence[slice], sums: tuple[Array, Array, Array], weight: float | Array
) -> list[Resultants]:
    """Split stacked sums into the resultants of each scorer.

    Parameters
    ----------
    parts : sequence of slices
        Those of the stack.
    sums : (ndarray of shape (K,), ndarray of shape (K, d), ndarray of shape (n_scorers, 2))
        Masses, vectors, and log-likelihood and entropy a scorer.
    weight : float or ndarray of shape (n_scorers,)
        The summed weights of the rows, one for all scorers or one each.
    """
    mass, vectors, totals = sums
    each = [float(weight)] * len(parts) if np.ndim(weight) == 0 else np.asarray(weight).tolist()
    return [
        Resultants(mass[part], vectors[part], likelihood, entropy, own)
        for part, (likelihood, entropy), own in zip(parts, totals.tolist(), each, strict=True)
    ]

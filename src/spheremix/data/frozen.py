"""Rows that cannot change are not read again: the sweeps of one fit, over rows in memory.

A row is *frozen* when the posteriors of all components but one are negligible (with a hard
assignment: when one score is the largest beyond rounding). It then adds its whole weight to that
component, its owner, and the owner's score to the log-likelihood. Both are sums over rows, so that
frozen rows need not be read while they stay frozen: their vectors are summed once, and their part
of the log-likelihood is <vectors, M> + <mass, b> + offset * mass.

How long a row stays frozen is known without reading it. A sweep gives the *margin* of each row it
reads: by how much the largest score leads the next one. From one scorer to the next a row of length
one loses at most

    |M'_own - M_own| - (b'_own - b_own) + max over others of (|M'_j - M_j| + b'_j - b_j)

of its margin; where it has several parts of length one (views of a document), lengths add up over
them. All bounds are rounded outward: a row that is not read would be frozen by what a
sweep over all rows calculates, too.

A frozen row is *held*: its vector is in sums that are kept from sweep to sweep. If its bound does
not say that it is still frozen, its scores are calculated again; if these say so, it stays held
and adds nothing.

The bits of a fit do not depend on what was swept before it. A run begins without knowledge of the
rows, or, as the steps of a path do, with that of a sweep over all rows under its first scorer.

Beside the rows it takes 13 bytes a row and scorer, and twice the size of the scorer's matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from spheremix._optional import kernels
from spheremix.data.base import negligible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from spheremix.data.base import Listable
    from spheremix.resultants import Resultants
    from spheremix.scorer import Scorer

    Array = NDArray[np.float64]

LEAST_WORK = 2e6  # entries of all rows times components: below it a sweep is faster than this is
# Entries of all rows that count as the work on one column of the parameters: how far components
# have moved, and the sums of held rows. How many threads there are must not decide, since all
# numbers of them give the same bits.
ENTRIES_OF_A_COLUMN = 24
MOST_UNHELD = 0.6  # share of the rows: where more could not be held, none are
MOST_READ = 0.9  # share of the rows: where more must be read, nothing is held any more
AHEAD = 1.0  # movements as large as the last one that a row must outlast before it is left out
LONGEST_PAUSE = 16  # sweeps without a try, after tries that found most rows not frozen
OUTWARD = 1.0 + 1e-9  # covers rounding in lengths of vectors


@dataclass(slots=True, eq=False)
class _Known:
    """What is known of the rows under the last scorer of a run.

    Attributes
    ----------
    scorer : Scorer
        The last one.
    size : float
        No component of the scorer is longer.
    owners : ndarray of shape (n,), int32
        The component of the largest score of each row, when it was read.
    heights : ndarray of shape (n,)
        The margin of each row less rounding, plus what ``lowered`` of its owner was then.
    lowered : ndarray of shape (K,)
        What rows have lost at most since the first sweep, by owner.
    held : ndarray of shape (n,), bool, or None
        The rows whose vectors are in ``sums``; None after a sweep over all rows.
    sums : Resultants
        Mass and vectors of the rows that are held; after a sweep over all rows, of all of them.
    """

    scorer: Scorer
    size: float
    owners: NDArray[np.int32]
    heights: Array
    lowered: Array
    held: NDArray[np.bool_] | None
    sums: Resultants


class FrozenRows:
    """The sweeps of one fit: each run has a number, under which its rows are remembered.

    Parameters
    ----------
    rows : Listable
        The engine that reads the rows.
    least_work : float or None
        Scorers for which the entries of all rows, less those that columns count for, times the
        components are fewer are swept plainly.
    """

    def __init__(self, rows: Listable, *, least_work: float | None = None) -> None:
        self._rows = rows
        self._least_work = LEAST_WORK if least_work is None else least_work
        self._known: dict[int, _Known] = {}
        # Sweeps of a run before its margins are asked for; one at first, since many fits end soon.
        self._pauses: dict[int, int] = {}
        self._waiting: dict[int, int] = {}

    def sweep(
        self, scorers: Sequence[Scorer], weights: Array | None, runs: Sequence[int]
    ) -> list[Resultants]:
        """Return the resultants of each scorer, as a sweep does, to rounding.

        Parameters
        ----------
        scorers : sequence of Scorer
            The present one of each run.
        weights : ndarray of shape (n,) or (len(scorers), n), or None
            A run has the same weights in all its sweeps.
        runs : sequence of int
            The number of the run of each scorer.
        """
        if not all(self._is_worth_it(scorer) for scorer in scorers):
            return self._rows.sweep(scorers, weights)
        found: list[Resultants | None] = [None] * len(scorers)
        for s, (scorer, run) in enumerate(zip(scorers, runs, strict=True)):
            own = weights if weights is None or weights.ndim == 1 else weights[s]
            found[s] = self._sweep_unfrozen(scorer, own, run)
        whole = [s for s, one in enumerate(found) if one is None]
        plain = [s for s in whole if self._waits(runs[s])]
        asked = [s for s in whole if s not in plain]
        for members, read in ((plain, self._sweep_plainly), (asked, self.sweep_all)):
            if members:
                own = weights if weights is None or weights.ndim == 1 else weights[members]
                each = read([scorers[s] for s in members], own, [runs[s] for s in members])
                for s, one in zip(members, each, strict=True):
                    found[s] = one
        return [one for one in found if one is not None]

    def left_out(self, run: int) -> int:
        """Return the number of rows that added to the last sweep of a run without being read."""
        known = self._known.get(run)
        return 0 if known is None or known.held is None else int(np.count_nonzero(known.held))

    def begin(self, scorer: Scorer, weights: Array | None, run: int) -> None:
        """Know the rows under the scorer where a run begins, so that its first sweep can use that.

        What is known from a sweep over all rows under the very same scorer is not swept again.
        """
        if not self._is_worth_it(scorer):
            return
        known = self._known.get(run)
        if known is None or known.held is not None or not _same(known.scorer, scorer):
            self.sweep_all([scorer], weights, [run])
        self._pauses.pop(run, None)
        self._waiting[run] = 0

    def sweep_all(
        self, scorers: Sequence[Scorer], weights: Array | None, runs: Sequence[int]
    ) -> list[Resultants]:
        """Read all rows, and remember their margins where that is of use."""
        if not all(self._is_worth_it(scorer) for scorer in scorers):
            return self._rows.sweep(scorers, weights)
        swept, margins, owners = self._rows.sweep_listed(scorers, weights)
        for s, (scorer, run) in enumerate(zip(scorers, runs, strict=True)):
            size = float(self._by_parts(lengths, scorer.matrix).max())
            heights = margins[s] - self._rounding(scorer, size, scorers)
            lowered = np.zeros(scorer.n_components)
            self._known[run] = _Known(scorer, size, owners[s], heights, lowered, None, swept[s])
        return swept

    def _is_worth_it(self, scorer: Scorer) -> bool:
        entries = self._rows.n_entries - ENTRIES_OF_A_COLUMN * self._rows.n_features
        large = entries * scorer.n_components >= self._least_work
        return large and scorer.assignment in {"soft", "hard"}

    def _waits(self, run: int) -> bool:
        """Return whether a run sweeps without asking for margins; count that sweep."""
        left = self._waiting.get(run, 1)
        self._waiting[run] = max(left - 1, 0)
        return left > 0

    def _sweep_plainly(
        self,
        scorers: Sequence[Scorer],
        weights: Array | None,
        runs: Sequence[int],  # noqa: ARG002
    ) -> list[Resultants]:
        """Read all rows, and remember nothing."""
        return self._rows.sweep(scorers, weights)

    def _sweep_unfrozen(self, scorer: Scorer, weights: Array | None, run: int) -> Resultants | None:
        """Read the rows that may not be frozen; None where these are most rows."""
        known = self._known.get(run)
        if known is None:
            return None
        both = known.scorer.matrix, scorer.matrix
        moved = self._by_parts(partial(distances, n_threads=self._rows.n_threads), *both)
        lost = losses(moved, known.scorer.biases, scorer.biases)
        lowered = np.nextafter(known.lowered + lost, np.inf)
        size = (known.size + float(moved.max())) * OUTWARD
        rounding, clear = self._rounding(scorer, size, [scorer]), self._clear(scorer)
        unsure = known.heights < (lowered + clear + rounding)[known.owners]
        most = MOST_UNHELD if known.held is None else MOST_READ
        if np.count_nonzero(unsure) > most * len(unsure):
            del self._known[run]
            self._waiting[run] = self._pauses.get(run, 1)
            self._pauses[run] = min(2 * self._waiting[run], LONGEST_PAUSE)
            return None
        self._pauses[run] = 1
        if known.held is None:
            known.held, known.sums = ~unsure, self._without(known, unsure, weights)
        known.scorer, known.size, known.lowered = scorer, size, lowered
        rows = np.flatnonzero(unsure | ~known.held)
        held = np.where(known.held, known.owners, np.int32(-1))
        onto = replace(known.sums, log_likelihood=0.0, entropy=0.0)
        [found], leads, owners = self._rows.sweep_listed(
            [scorer], weights, rows, onto, held=held, clear=clear
        )
        margins, before, after = leads[0][rows], held[rows], owners[0][rows]
        gone = (before >= 0) & ~((before == after) & (margins >= clear))
        come = (before < 0) & (margins > (clear + 2.0 * rounding + AHEAD * lost)[after])
        for sums in (known.sums, found):
            self._add(rows[gone], before[gone], weights, -1.0, sums)
        found = replace(found, log_likelihood=found.log_likelihood + self._held_score(known))
        self._add(rows[come], after[come], weights, 1.0, known.sums)
        known.held[rows[gone]], known.held[rows[come]] = False, True
        known.owners[rows] = after
        known.heights[rows] = margins - rounding + lowered[after]
        return found

    def _without(self, known: _Known, rows: NDArray[np.bool_], weights: Array | None) -> Resultants:
        """Return the sums of a sweep over all rows without what some rows added to them."""
        [some], _, _ = self._rows.sweep_listed([known.scorer], weights, np.flatnonzero(rows))
        mass, vectors = known.sums.mass - some.mass, known.sums.vectors - some.vectors
        return replace(known.sums, mass=mass, vectors=vectors)

    def _add(
        self,
        rows: NDArray[np.intp],
        owners: NDArray[np.int32],
        weights: Array | None,
        sign: float,
        sums: Resultants,
    ) -> None:
        """Add rows, times a sign, to the sums of their owners."""
        if rows.size:
            factors = np.full(len(rows), sign) if weights is None else sign * weights[rows]
            self._rows.add_listed(rows, owners, factors, sums.vectors, sums.mass)

    def _held_score(self, known: _Known) -> float:
        """Return the log-likelihood of the rows that are held, under the present scorer."""
        scorer, mass = known.scorer, known.sums.mass
        biases = np.where(mass != 0.0, scorer.biases, 0.0)
        products = dots(known.sums.vectors, scorer.matrix, self._rows.n_threads)
        return float(products.sum() + mass @ biases + scorer.offset * mass.sum())

    def _by_parts(self, measured: Callable[..., Array], *matrices: Array) -> Array:
        """Add up lengths over the parts of a row, none of which is longer than one."""
        first, *others = (
            measured(*(matrix[:, own] for matrix in matrices)) for own in self._rows.unit_columns
        )
        return sum(others, first)

    def _clear(self, scorer: Scorer) -> float:
        """Return the margin from which on all posteriors but one are negligible together."""
        if scorer.assignment == "hard":
            return 0.0
        least = negligible(self._rows.precision([scorer]))
        return float(np.log(scorer.n_components / least))

    def _rounding(self, scorer: Scorer, size: float, together: Sequence[Scorer]) -> float:
        """Bound the error of a margin that a sweep of these scorers calculates."""
        epsilon = float(np.finfo(self._rows.precision(together)).eps)
        finite = scorer.biases[np.isfinite(scorer.biases)]
        size += float(np.abs(finite).max(initial=0.0))
        return 2.0 * (self._rows.longest + 8) * epsilon * size


def lengths(vectors: Array) -> Array:
    """Return the lengths of vectors, rounded up."""
    found: Array = np.sqrt(np.einsum("kj,kj->k", vectors, vectors)) * OUTWARD
    return found


def distances(before: Array, after: Array, n_threads: int = 1) -> Array:
    """Return how far vectors have moved, rounded up."""
    if kernels is None:
        return lengths(after - before)
    both = np.ascontiguousarray(before), np.ascontiguousarray(after)
    found: Array = kernels.distances(*both, n_threads) * OUTWARD
    return found


def dots(vectors: Array, matrix: Array, n_threads: int = 1) -> Array:
    """Return the products of vectors, one by one."""
    found: Array
    if kernels is None:
        found = np.einsum("kj,kj->k", vectors, matrix)
    else:
        both = np.ascontiguousarray(vectors), np.ascontiguousarray(matrix)
        found = kernels.dots(*both, n_threads)
    return found


def losses(moved: Array, before: Array, after: Array) -> Array:
    """Return for each component what a row that it owns may lose of its margin, at most.

    Parameters
    ----------
    moved : ndarray of shape (K,)
        How far each component has moved.
    before, after : ndarray of shape (K,)
        The biases.
    """
    with np.errstate(invalid="ignore"):
        shift = after - before
    shift[np.isnan(shift)] = 0.0  # impossible before and after
    gains = moved + shift
    order = np.argsort(gains)[::-1]
    most = np.full(len(gains), gains[order[0]])
    most[order[0]] = gains[order[1]] if len(gains) > 1 else -np.inf
    lost: Array = np.maximum(moved - shift + most, 0.0) * OUTWARD
    return lost


def _same(one: Scorer, other: Scorer) -> bool:
    """Return whether two scorers give the same scores, to the bit."""
    return (
        one.assignment == other.assignment
        and np.array_equal(one.biases, other.biases)
        and np.array_equal(one.matrix, other.matrix)
    )

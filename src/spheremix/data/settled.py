"""Rows that cannot change are not read again: the sweeps of one fit, over rows in memory.

A row is *settled* when the posteriors of all components but one are negligible (with a hard
assignment: when one score is the largest beyond rounding). It then adds its whole weight to that
component, its owner, and the owner's score to the log-likelihood. Both are sums over rows, so that
settled rows need not be read while they stay settled: their vectors are summed once, and their part
of the log-likelihood is <vectors, M> + <mass, b> + offset * mass.

How long a row stays settled is known without reading it. A sweep gives the *margin* of each row it
reads: by how much the largest score leads the next one. From one scorer to the next a row of length
one loses at most

    |M'_own - M_own| - (b'_own - b_own) + max over others of (|M'_j - M_j| + b'_j - b_j)

of its margin. All bounds are rounded outward: a row that is not read would be settled by what a
sweep over all rows calculates, too.

Beside the rows it takes 13 bytes a row and scorer, and twice the size of the scorer's matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spheremix.data.base import arithmetic, negligible
from spheremix.resultants import Resultants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from spheremix.data.base import Listable
    from spheremix.scorer import Scorer

    Array = NDArray[np.float64]

LEAST_WORK = 2e6  # entries of all rows times components: below it a sweep is faster than this is
# Entries of all rows that count as the work on one column of the parameters. A sweep is shared by
# threads and that work is not: with many threads and few rows, what it costs is more than it saves.
# How many threads there are must not decide, since all numbers of them give the same bits.
ENTRIES_OF_A_COLUMN = 256
MOST_READ = 0.6  # share of the rows: where more must be read, all are
AHEAD = 1.0  # movements as large as the last one that a row must outlast before it is left out
LONGEST_PAUSE = 16  # sweeps without a try, after tries that found most rows unsettled
OUTWARD = 1.0 + 1e-9  # covers rounding in lengths of vectors


@dataclass(slots=True, eq=False)
class _Known:
    """What is known of the rows under the last scorer of a run.

    Attributes
    ----------
    scorer : Scorer
        The last one.
    owners : ndarray of shape (n,), int32
        The component of the largest score of each row, when it was read.
    heights : ndarray of shape (n,)
        The margin of each row less rounding, plus what ``lowered`` of its owner was then.
    lowered : ndarray of shape (K,)
        What rows have lost at most since the first sweep, by owner.
    out : ndarray of shape (n,), bool
        The rows that are not read.
    mass, vectors : ndarray of shape (K,) and (K, d)
        The sums of these rows.
    """

    scorer: Scorer
    owners: NDArray[np.int32]
    heights: Array
    lowered: Array
    out: NDArray[np.bool_]
    mass: Array
    vectors: Array


class SettledRows:
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
        """Give the resultants of each scorer, as a sweep does, to rounding.

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
            found[s] = self._sweep_unsettled(scorer, own, run)
        whole = [s for s, one in enumerate(found) if one is None]
        plain = [s for s in whole if self._waits(runs[s])]
        asked = [s for s in whole if s not in plain]
        for members, read in ((plain, self._sweep_plainly), (asked, self._sweep_all)):
            if members:
                own = weights if weights is None or weights.ndim == 1 else weights[members]
                each = read([scorers[s] for s in members], own, [runs[s] for s in members])
                for s, one in zip(members, each, strict=True):
                    found[s] = one
        return [one for one in found if one is not None]

    def left_out(self, run: int) -> int:
        """Give the number of rows that the last sweep of a run did not read."""
        return int(np.count_nonzero(self._known[run].out)) if run in self._known else 0

    def _is_worth_it(self, scorer: Scorer) -> bool:
        entries = self._rows.n_entries - ENTRIES_OF_A_COLUMN * self._rows.n_features
        large = entries * scorer.n_components >= self._least_work
        return large and scorer.assignment in {"soft", "hard"}

    def _waits(self, run: int) -> bool:
        """Tell whether a run sweeps without asking for margins; count that sweep."""
        left = self._waiting.get(run, 1)
        self._waiting[run] = max(left - 1, 0)
        return left > 0

    def _sweep_plainly(
        self,
        scorers: list[Scorer],
        weights: Array | None,
        runs: list[int],  # noqa: ARG002
    ) -> list[Resultants]:
        """Read all rows, and remember nothing."""
        return self._rows.sweep(scorers, weights)

    def _sweep_all(
        self, scorers: list[Scorer], weights: Array | None, runs: list[int]
    ) -> list[Resultants]:
        """Read all rows, and remember their margins."""
        swept, margins, owners = self._rows.sweep_listed(scorers, weights)
        for s, (scorer, run) in enumerate(zip(scorers, runs, strict=True)):
            shape = scorer.matrix.shape
            heights = margins[s] - self._rounding(scorer, scorers)
            out = np.zeros(len(heights), dtype=bool)
            sums = np.zeros(shape[0]), np.zeros(shape)
            self._known[run] = _Known(scorer, owners[s], heights, np.zeros(shape[0]), out, *sums)
        return swept

    def _sweep_unsettled(
        self, scorer: Scorer, weights: Array | None, run: int
    ) -> Resultants | None:
        """Read the rows that may not be settled; None where these are most rows."""
        known = self._known.get(run)
        if known is None:
            return None
        lost = losses(known.scorer, scorer)
        known.lowered = np.nextafter(known.lowered + lost, np.inf)
        rounding = self._rounding(scorer, [scorer])
        least = known.lowered + self._clear(scorer) + rounding
        unsure = known.heights < least[known.owners]
        if np.count_nonzero(unsure) > MOST_READ * len(unsure):
            del self._known[run]
            self._waiting[run] = self._pauses.get(run, 1)
            self._pauses[run] = min(2 * self._waiting[run], LONGEST_PAUSE)
            return None
        self._pauses[run] = 1
        lasting = known.heights > (least + AHEAD * lost)[known.owners]
        self._leave_out(known, unsure & known.out, lasting & ~known.out, weights)
        rows = np.flatnonzero(~known.out)
        [found], margins, owners = self._rows.sweep_listed(
            [scorer], weights, rows, _sums_of(known, scorer)
        )
        known.owners[rows] = owners[0][rows]
        known.heights[rows] = margins[0][rows] - rounding + known.lowered[owners[0][rows]]
        known.scorer = scorer
        return found

    def _leave_out(
        self,
        known: _Known,
        back: NDArray[np.bool_],
        more: NDArray[np.bool_],
        weights: Array | None,
    ) -> None:
        """Take rows back into what is read, and leave more rows out."""
        stay = known.out & ~back
        if np.count_nonzero(back) > np.count_nonzero(stay):  # fewer rows to add than to subtract
            known.vectors[:], known.mass[:] = 0.0, 0.0
            more, back = more | stay, np.zeros_like(back)
        known.out = stay | more
        for chosen, sign in ((back, -1.0), (more, 1.0)):
            ids = np.flatnonzero(chosen)
            factors = np.full(len(ids), sign) if weights is None else sign * weights[ids]
            owners = known.owners[ids]
            self._rows.add_listed(ids, owners, factors, known.vectors, known.mass)

    def _clear(self, scorer: Scorer) -> float:
        """Give the margin from which on all posteriors but one are negligible together."""
        if scorer.assignment == "hard":
            return 0.0
        least = negligible(arithmetic(self._rows.dtype, [scorer]))
        return float(np.log(scorer.n_components / least))

    def _rounding(self, scorer: Scorer, together: Sequence[Scorer]) -> float:
        """Bound the error of a margin that a sweep of these scorers calculates."""
        epsilon = float(np.finfo(arithmetic(self._rows.dtype, together)).eps)
        finite = scorer.biases[np.isfinite(scorer.biases)]
        size = lengths(scorer.matrix).max() + np.abs(finite).max(initial=0.0)
        return 2.0 * (self._rows.longest + 8) * epsilon * float(size)


def lengths(vectors: Array) -> Array:
    """Give the lengths of vectors, rounded up."""
    found: Array = np.sqrt(np.einsum("kj,kj->k", vectors, vectors)) * OUTWARD
    return found


def losses(before: Scorer, after: Scorer) -> Array:
    """Give for each component what a row that it owns may lose of its margin, at most."""
    moved = lengths(after.matrix - before.matrix)
    with np.errstate(invalid="ignore"):
        shift = after.biases - before.biases
    shift[np.isnan(shift)] = 0.0  # impossible before and after
    gains = moved + shift
    order = np.argsort(gains)[::-1]
    most = np.full(len(gains), gains[order[0]])
    most[order[0]] = gains[order[1]] if len(gains) > 1 else -np.inf
    lost: Array = np.maximum(moved - shift + most, 0.0) * OUTWARD
    return lost


def _sums_of(known: _Known, scorer: Scorer) -> Resultants:
    """Give the resultants of the rows that are left out, under the present scorer."""
    vectors, mass = known.vectors, known.mass
    weight = float(mass.sum())
    biases = np.where(mass != 0.0, scorer.biases, 0.0)
    likelihood = float(np.einsum("kj,kj->", vectors, scorer.matrix) + mass @ biases)
    return Resultants(mass, vectors, likelihood + scorer.offset * weight, 0.0, weight)

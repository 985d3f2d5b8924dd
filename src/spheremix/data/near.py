"""Components that cannot win a row are not scored: hard sweeps of one fit, with many components.

The components are put into groups of neighbours. For each row the owner (the component of the
largest score) and its score are kept, and for each group a bound: no other component of that group
has a larger score. When the scorer changes, a score of a row of length one grows by at most
|M'_k - M_k| + b'_k - b_k. A bound grows by the largest growth in its group, and a row is read again
only where a bound reaches the score of its owner: then the components of that group are scored, and
the bound is set anew.

Few components move far, and in late iterations most do not move at all. A component that would
raise the bound of its whole group too much is therefore taken out for this sweep: it is scored on
its own for the rows that it may win soon, and raises the bound for the others only. Which ones are
taken out is decided on a sample of the rows, by what either way is likely to cost.

All bounds are rounded outward, and every score has the bits that a sweep over all components gives
it: each row has the owner that such a sweep finds. Sums of rows are kept, and only rows that have
changed their owner are added and subtracted.

Beside the rows it takes four bytes for each row and group, at most ``SHARE`` of the size of the
rows for all runs together, 17 bytes a row and run, and four times the size of the scorer's matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix._optional import kernels
from spheremix.data.base import arithmetic
from spheremix.data.frozen import OUTWARD, distances, lengths
from spheremix.resultants import Resultants

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from spheremix.data.base import Stored
    from spheremix.scorer import Scorer

    Array = NDArray[np.float64]
    Integers = NDArray[np.int32]

EAGERNESS = 8.0  # moves like this one: rows that so many of them would win are scored now


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """How far each component has moved.

    Attributes
    ----------
    moved : ndarray of shape (K,), bool
        Whether anything of a component is new.
    lost, gained : ndarray of shape (K,)
        What the score of a row of length one has lost and gained, at most.
    """

    moved: NDArray[np.bool_]
    lost: Array
    gained: Array

    @classmethod
    def none(cls, n_components: int) -> Moves:
        """Return the moves of a scorer that follows itself."""
        zeros = np.zeros(n_components)
        return cls(zeros != 0.0, zeros, zeros)

    @classmethod
    def between(cls, before: Scorer, after: Scorer, n_threads: int = 1) -> Moves | None:
        """Bound what scores lose and gain; None where a component becomes possible, or stops so."""
        possible = np.isfinite(after.biases)
        if not np.array_equal(np.isfinite(before.biases), possible):
            return None
        step = distances(before.matrix, after.matrix, n_threads)
        shift = np.zeros(len(step))
        shift[possible] = after.biases[possible] - before.biases[possible]
        outward = np.abs(shift) * (OUTWARD - 1.0)
        moved = (step > 0.0) | (shift != 0.0)
        return cls(moved, step - shift + outward, step + shift + outward)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What a sweep does about the moves.

    Attributes
    ----------
    growth : ndarray of shape (n_groups,)
        By how much the bounds of each group grow.
    far : ndarray of int32
        Components that are taken out of their groups, those of a group together; then -1 up to
        whole vectors.
    beyond : ndarray of shape (len(far),)
        By how much each of these has grown beyond the bounds of its group.
    cost : float
        The share of all scores that is likely to be computed, now or later.
    """

    growth: Array
    far: Integers
    beyond: Array
    cost: float

    @classmethod
    def none(cls, n_groups: int) -> Plan:
        """Return the plan where nothing has moved."""
        return cls(np.zeros(n_groups), np.zeros(0, dtype=np.int32), np.zeros(0), 0.0)


def in_groups(vectors: Array, size: int) -> tuple[Integers, Integers]:
    """Put vectors into groups of neighbours: halves of halves, along the longest direction.

    Returns the numbers of the vectors group by group, in rising order in each, -1 where a group has
    fewer than ``size``, and the place of each vector.
    """
    parts, groups = [np.arange(len(vectors))], []
    while parts:
        ids = parts.pop()
        if len(ids) <= size:
            groups.append(np.sort(ids))
            continue
        centred = vectors[ids] - vectors[ids].mean(axis=0)
        axis = centred[np.argmax(np.einsum("kj,kj->k", centred, centred))]
        for _ in range(4):
            axis = centred.T @ (centred @ axis)
            axis /= np.linalg.norm(axis) or 1.0
        order = np.argsort(centred @ axis, kind="stable")
        cut = -(-len(ids) // size) // 2 * size
        parts += [ids[order[cut:]], ids[order[:cut]]]
    members = np.full(size * len(groups), -1, dtype=np.int32)
    place = np.empty(len(vectors), dtype=np.int32)
    for g, ids in enumerate(groups):
        members[g * size : g * size + len(ids)] = ids
        place[ids] = g * size + np.arange(len(ids), dtype=np.int32)
    return members, place


def plan(gained: Array, members: Integers, slack: Array, multiple: int) -> Plan:
    """Choose the components that are taken out of their groups, by what either way costs.

    By a growth of g a bound loses the part g / slack of its way to the score of the owner, at whose
    end its whole group is scored. A component that is taken out is scored at once where
    ``EAGERNESS`` such moves would reach that end. It adds its part of the way elsewhere.

    Parameters
    ----------
    gained : ndarray of shape (K,)
        Of ``Moves``.
    members : ndarray of shape (n_groups * size,)
        Of ``in_groups``.
    slack : ndarray of shape (n_sampled, n_groups)
        By how much the score of the owner is above the bound of each group, for some rows.
    multiple : int
        The length of ``far`` is one of it.
    """
    n_groups = slack.shape[1]
    size = len(members) // n_groups
    real = members >= 0
    flat = np.full(len(members), -np.inf)
    flat[real] = gained[members[real]]
    growths = flat.reshape(n_groups, size)
    order = np.argsort(-growths, axis=1, kind="stable")
    falling = np.take_along_axis(growths, order, axis=1)
    n_real = real.reshape(n_groups, size).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        part = np.maximum(falling, 0.0)[None] / np.maximum(slack, 0.0)[:, :, None]
    part[np.isnan(part)] = 0.0
    alone = np.minimum(EAGERNESS * part, 1.0).mean(axis=0)
    alone = np.cumsum(alone, axis=1) - alone  # of those before
    together = n_real[:, None] * np.minimum(part, 1.0).mean(axis=0)
    cost = np.where(np.isfinite(falling), alone + together, np.inf)
    n_out = np.argmin(cost, axis=1)
    growth = falling[np.arange(n_groups), n_out]
    out = np.arange(size) < n_out[:, None]
    chosen = members[(np.arange(n_groups)[:, None] * size + order)[out]]
    far = np.full(-(-len(chosen) // multiple) * multiple, -1, dtype=np.int32)
    far[: len(chosen)] = chosen
    beyond = np.zeros(len(far))
    beyond[: len(chosen)] = (falling - growth[:, None])[out] * OUTWARD
    return Plan(growth, far, beyond, float(cost.min(axis=1).sum() / len(gained)))


LEAST_COMPONENTS = 64  # with fewer, bounds of whole rows (data/frozen.py) serve
LEAST_WORK = 2e7  # entries of all rows times components: below it a sweep is faster than this is
GROUP_SIZE = 16  # places of a group, at least
SHARE = 0.5  # of the size of the rows, for the bounds of all runs
SAMPLE = 256  # rows on which costs are counted
WORTH = 0.8  # share of all scores: from there on all are computed
MOST_MOVED = 0.5  # share of the rows: where more have changed their owner, all are summed anew


@dataclass(slots=True, eq=False)
class _Known:
    """What is known of the rows under the last scorer of a run.

    Attributes
    ----------
    scorer : Scorer
        The last one.
    dtype : np.dtype
        In which its products were calculated.
    rounding : float
        The error of its scores, at most.
    members : ndarray of shape (n_groups * size,), int32
        The components in groups; -1 for places without one.
    place : ndarray of shape (K,), int32
        Where a component is in ``members``.
    grown : ndarray of shape (n_groups,)
        By how much the bounds of a group have grown since the first sweep.
    bounds : ndarray of shape (n_groups, n), float32
        The bounds when they were stored, less what ``grown`` was then.
    scores, sure, owners : ndarray of shape (n,)
        The score of the owner, at least; whether it is just that; and the owner.
    mass, vectors : ndarray of shape (K,) and (K, d)
        The sums of the rows by owner.
    counts : ndarray of shape (K,)
        The number of these rows that have a weight.
    """

    scorer: Scorer
    dtype: np.dtype[Any]
    rounding: float
    members: Integers
    place: Integers
    grown: Array
    bounds: NDArray[np.float32]
    scores: Array
    sure: NDArray[np.bool_]
    owners: Integers
    mass: Array
    vectors: Array
    counts: NDArray[np.intp]


class NearComponents:
    """Hard sweeps of one fit: each run has a number, under which its rows are remembered.

    Parameters
    ----------
    rows : Stored
        Dense rows.
    """

    def __init__(self, rows: Stored) -> None:
        self._rows = rows
        self._known: dict[int, _Known] = {}
        self.n_scores = 0  # that the last sweep has computed

    def sweep(self, scorer: Scorer, weights: Array | None, run: int, n_runs: int = 1) -> Resultants:
        """Return the resultants of a scorer with hard assignment, as a sweep does, to rounding.

        Parameters
        ----------
        scorer : Scorer
            The present one of the run.
        weights : ndarray of shape (n,) or None
            The same in all sweeps of a run.
        run : int
            The number of the run.
        n_runs : int
            How many runs share the memory.
        """
        dtype = arithmetic(self._rows.dtype, [scorer])
        known = self._known.get(run)
        moves = None if known is None else Moves.between(known.scorer, scorer, self._rows.n_threads)
        chosen = None
        if known is not None and moves is not None and known.dtype == dtype:
            chosen = plan(moves.gained, known.members, _slack(known, moves), kernels.NEAR_MULTIPLE)
        if known is None or moves is None or chosen is None or chosen.cost > WORTH:
            known = self._known[run] = self._begin(scorer, dtype, n_runs)
            moves, chosen = Moves.none(scorer.n_components), Plan.none(len(known.grown))
        before = known.owners.copy()
        self._score(known, scorer, moves, chosen, weights)
        self._sum(known, before, weights)
        return _resultants(known, scorer, self._rows.n_rows, weights)

    def keep(self, runs: Iterable[int]) -> None:
        """Forget all other runs: they have ended."""
        self._known = {run: self._known[run] for run in runs if run in self._known}

    def forget(self, run: int) -> None:
        """Know nothing of a run: its next sweep scores all components."""
        self._known.pop(run, None)

    def left_out(self, run: int) -> int:  # noqa: ARG002
        """Return the number of rows that the last sweep of a run did not score in full: any."""
        return self._rows.n_rows

    def owners(self, run: int) -> Integers:
        """Return the component of the largest score of each row, in the last sweep of a run."""
        return self._known[run].owners

    def _begin(self, scorer: Scorer, dtype: np.dtype[Any], n_runs: int) -> _Known:
        """Know nothing of the rows: every component may win."""
        n, K = self._rows.n_rows, scorer.n_components
        multiple = kernels.NEAR_MULTIPLE
        most = SHARE * self._rows.n_features * self._rows.dtype.itemsize / 4.0 / n_runs
        size = max(GROUP_SIZE, multiple * -(-K // int(multiple * max(most, 1.0))))
        members, place = in_groups(scorer.matrix, size)
        n_groups = len(members) // size
        return _Known(
            scorer,
            dtype,
            0.0,
            members,
            place,
            np.zeros(n_groups),
            np.full((n_groups, n), kernels.NEAR_BEYOND, dtype=np.float32),
            np.full(n, -kernels.NEAR_BEYOND),
            np.zeros(n, dtype=bool),
            np.zeros(n, dtype=np.int32),
            np.zeros(K),
            np.zeros(scorer.matrix.shape),
            np.zeros(K, dtype=np.intp),
        )

    def _score(
        self, known: _Known, scorer: Scorer, moves: Moves, chosen: Plan, weights: Array | None
    ) -> None:
        """Find the owners under a scorer."""
        known.grown = np.nextafter(known.grown + chosen.growth, np.inf)
        places = np.concatenate([known.members, chosen.far])
        real = places >= 0
        matrix = np.zeros((len(places), scorer.matrix.shape[1]))
        matrix[real] = scorer.matrix[places[real]]
        biases = np.zeros(len(places))
        biases[real] = scorer.biases[places[real]]
        rounding = self._rounding(scorer, known.dtype)
        arrays = kernels.NearArrays(
            matrix,
            biases,
            places,
            known.place,
            moves.moved,
            moves.lost,
            known.grown,
            chosen.beyond,
            EAGERNESS,
            rounding,
            known.rounding,
            known.bounds,
            known.scores,
            known.sure,
            known.owners,
        )
        rows = self._rows
        in_double = known.dtype == np.float64
        self.n_scores = kernels.near_dense(
            *rows.rows, rows.scale, arrays, weights, in_double, rows.n_threads
        )
        known.scorer, known.rounding = scorer, rounding

    def _sum(self, known: _Known, before: Integers, weights: Array | None) -> None:
        """Bring the sums up to date with the owners."""
        K, n = len(known.mass), self._rows.n_rows
        moved = np.flatnonzero(known.owners != before)
        steps = [(moved, before, -1.0), (moved, known.owners, 1.0)]
        if not known.counts.any() or len(moved) > MOST_MOVED * n:
            known.mass[:], known.vectors[:], known.counts[:] = 0.0, 0.0, 0
            steps = [(np.arange(n), known.owners, 1.0)]
        for ids, owners, sign in steps:
            factors = np.full(len(ids), sign) if weights is None else sign * weights[ids]
            own = owners[ids]
            self._rows.add_listed(ids, own, factors, known.vectors, known.mass)
            known.counts += int(sign) * np.bincount(own[factors != 0.0], minlength=K)
        empty = known.counts == 0  # nothing but rounding is left of their rows
        known.mass[empty], known.vectors[empty] = 0.0, 0.0

    def _rounding(self, scorer: Scorer, dtype: np.dtype[Any]) -> float:
        """Bound the error of a score."""
        finite = scorer.biases[np.isfinite(scorer.biases)]
        size = lengths(scorer.matrix).max() + np.abs(finite).max(initial=0.0)
        return float((self._rows.longest + 8) * np.finfo(dtype).eps * size)


def _slack(known: _Known, moves: Moves) -> Array:
    """Return by how much the owner leads the bounds of the groups, for a sample of the rows."""
    rows = np.arange(0, len(known.owners), -(-len(known.owners) // SAMPLE))
    least = known.scores[rows] - np.maximum(moves.lost[known.owners[rows]], 0.0) - known.rounding
    slack: Array = least[:, None] - (known.bounds[:, rows].T + known.grown)
    return slack


def _resultants(known: _Known, scorer: Scorer, n_rows: int, weights: Array | None) -> Resultants:
    """Return the resultants of all rows from their sums."""
    mass, vectors = known.mass.copy(), known.vectors.copy()
    weight = float(n_rows if weights is None else weights.sum())
    biases = np.where(mass != 0.0, scorer.biases, 0.0)
    likelihood = float(np.einsum("kj,kj->", vectors, scorer.matrix) + mass @ biases)
    return Resultants(mass, vectors, likelihood + scorer.offset * weight, 0.0, weight)

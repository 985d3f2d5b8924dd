"""How far components have moved from one scorer to the next, and which of them are scored alone.

These are the decisions of ``data/near.py``. None of them changes a result, only what it costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spheremix.data.settled import OUTWARD, distances

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

    Gives the numbers of the vectors group by group, in rising order in each, with -1 where a group
    has fewer than ``size``, and the place of each vector.
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

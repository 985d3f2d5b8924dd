"""A tree over clusters that are given: fine groups inside each of them, and merges down to one.

Every cluster is searched by itself, for about twice as many groups as it may keep: a vector of
weights that is zero outside of the cluster stands for its rows, and all clusters share each sweep.
The groups of all clusters are then merged by the least loss, only within a cluster, until the
number asked for is left: so the likelihood decides how many groups each cluster gets. Rows move
inside their cluster once more. The clusters themselves are never changed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from spheremix import hierarchy
from spheremix.merging import merge
from spheremix.resultants import Resultants, merged_resultants
from spheremix.scorer import Scorer
from spheremix.search import Partition, Search
from spheremix.seeding import BATCH_WEIGHTS, class_resultants

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from spheremix.estimators.problem import Problem
    from spheremix.hierarchy import Hierarchy
    from spheremix.models.vmf import VMFModel

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

FEW = 5  # rows of a fine group, at least
SCORES = 2**24  # of rows and groups, held at a time: 128 MB
OVER = 2  # groups that are searched for, for each one that a cluster may keep


@dataclass(frozen=True, slots=True, eq=False)
class ClusterTree:
    """A tree whose leaves lie inside clusters that were given.

    Attributes
    ----------
    hierarchy : Hierarchy
        The tree. Its cut into as many clusters as there are with rows is those clusters.
    leaves : ndarray of shape (n,)
        The leaf of each row; -1 for rows of no cluster.
    clusters : ndarray of shape (M,)
        The cluster of each leaf.
    """

    hierarchy: Hierarchy
    leaves: Ids
    clusters: Ids


def tree_inside(
    problem: Problem[VMFModel],
    labels: Ids,
    n_leaves: int,
    seed: int,
    callback: Callable[[int], None] | None = None,
) -> ClusterTree:
    """Divide clusters into fine groups, ``n_leaves`` in all at most, and build the tree of them.

    Clusters of fewer than ten rows, and those whose rows hardly differ, stay one group. Groups of
    fewer than five rows are merged with others of their cluster. ``labels`` is -1 for rows that
    are left out; clusters of rows without weight are left out, too.
    """
    (first, *_), directions = problem.model.for_search(), problem.directions
    base = problem.row_weights
    clusters = np.unique(labels[(labels >= 0) & (base > 0.0)])
    sizes = np.array([base[labels == k].sum() for k in clusters])
    wanted = np.ceil(OVER * n_leaves * sizes / sizes.sum()).astype(np.intp)
    wanted = np.maximum(np.minimum(np.maximum(wanted, OVER), sizes // FEW), 1).astype(np.intp)
    seeds = np.random.default_rng(seed).integers(2**31, size=len(clusters)).tolist()
    found: list[Resultants] = []
    together = max(1, BATCH_WEIGHTS // directions.n_rows)
    parts = [slice(i, i + together) for i in range(0, len(clusters), together)]
    for part in parts:
        own = np.where(labels == clusters[part, None], base, 0.0)
        sized = list(zip(wanted[part].tolist(), seeds[part], range(len(own)), strict=True))
        partitions = Search(first, directions, own, callback=callback).single_runs(sized)
        whole = _whole(problem, labels, clusters[part])
        found += [
            one if groups is None else groups.resultants
            for one, groups in zip(whole, partitions, strict=True)
        ]
    cells, owners = _together(found), np.repeat(np.arange(len(found)), [len(r.mass) for r in found])
    n_left = max(min(n_leaves, len(owners)), len(clusters))
    kept = merge(cells, first.cluster_value(cells), n_left, groups=owners).labels
    cells, owners = merged_resultants(cells, kept), _first_of(owners, kept)
    leaves = np.full(directions.n_rows, -1, dtype=np.intp)
    for part in parts:
        own = np.where(labels == clusters[part, None], base, 0.0)
        numbers = range(len(clusters))[part]
        starts = [_only(cells, owners == k) for k in numbers]
        members = [np.flatnonzero(labels == clusters[k]) for k in numbers]
        divided = _divide(problem, own, starts, members, callback)
        for k, rows, inner in zip(numbers, members, divided, strict=True):
            leaves[rows] = int(np.searchsorted(owners, k)) + inner
    return _grown(problem, leaves, owners, clusters)


def _whole(problem: Problem[VMFModel], labels: Ids, clusters: Ids) -> list[Resultants]:
    """Return the resultants of each cluster, as one group each."""
    places = np.full(int(labels.max()) + 2, -1)  # the last one: rows of no cluster
    places[clusters] = np.arange(len(clusters))
    sums = class_resultants(problem.directions, places[labels], len(clusters), problem.weights)
    return [_only(sums, np.arange(len(clusters)) == i) for i in range(len(clusters))]


def _divide(
    problem: Problem[VMFModel],
    own: Array,
    starts: Sequence[Resultants],
    members: Sequence[Ids],
    callback: Callable[[int], None] | None,
) -> list[Ids]:
    """Move rows inside clusters; return the group of each of their members."""
    partitions: list[Partition | None] = [
        Partition(one, np.nan, "merge", np.nan) if len(one.mass) > 1 else None for one in starts
    ]
    for model in problem.model.for_search():
        search = Search(model, problem.directions, own, callback=callback)
        moved = search.improved(partitions)
        partitions = [after or before for before, after in zip(partitions, moved, strict=True)]
    found = [np.zeros(len(rows), dtype=np.intp) for rows in members]
    scorers = {
        i: model.scorer(model.from_partition(one.resultants))
        for i, one in enumerate(partitions)
        if one is not None
    }
    for part in _together_in_memory(scorers, problem.directions.n_rows):
        matrix = np.vstack([scorers[i].matrix for i in part])
        biases = np.concatenate([scorers[i].biases for i in part])
        scores = problem.directions.map_rows(Scorer(matrix, biases), "scores")
        first = 0
        for i in part:
            last = first + scorers[i].n_components
            found[i] = scores[members[i], first:last].argmax(axis=1)
            first = last
    return found


def _together_in_memory(scorers: dict[int, Scorer], n_rows: int) -> list[list[int]]:
    """Put clusters together whose groups are scored in one reading of the rows."""
    parts: list[list[int]] = []
    room = 0
    for i, scorer in scorers.items():
        if scorer.n_components > room:
            parts.append([])
            room = max(SCORES // n_rows, scorer.n_components)
        parts[-1].append(i)
        room -= scorer.n_components
    return parts


def _grown(problem: Problem[VMFModel], leaves: Ids, owners: Ids, clusters: Ids) -> ClusterTree:
    """Merge what is too small, and build the tree."""
    sums = class_resultants(problem.directions, leaves, len(owners), problem.weights)
    model = problem.model.for_search()[-1]
    kept = absorb(model, sums, owners)
    for empty in np.flatnonzero(kept < 0):  # rows without weight may be in it
        leaves = np.where(leaves == empty, _occupied(kept, owners, owners[empty]), leaves)
    merged = merged_resultants(
        replace(sums, mass=sums.mass[kept >= 0], vectors=sums.vectors[kept >= 0]), kept[kept >= 0]
    )
    groups = _first_of(owners[kept >= 0], kept[kept >= 0])
    tree = hierarchy.build(model, merged, groups)
    places = np.append(np.argsort(tree.origins)[kept], -1)  # the last one: rows of no cluster
    return ClusterTree(tree, places[leaves], clusters[groups[tree.origins]])


def _occupied(kept: Ids, owners: Ids, owner: int) -> int:
    """Return the first group of a cluster that has rows."""
    return int(np.flatnonzero((kept >= 0) & (owners == owner))[0])


def absorb(model: VMFModel, sums: Resultants, owners: Ids) -> Ids:
    """Merge groups of fewer than five rows with others of their cluster, the smallest first.

    Returns the new number of each group; -1 for groups without rows.
    """
    occupied = np.flatnonzero(sums.mass > 0.0)
    owner, mass, vectors = owners[occupied], sums.mass[occupied], sums.vectors[occupied]
    into = np.arange(len(occupied))
    value = model.cluster_value(replace(sums, mass=mass, vectors=vectors))

    def worth(mass: Array, vectors: Array) -> Array:
        return value(mass, np.linalg.norm(vectors, axis=1))

    mass, vectors = mass.copy(), vectors.copy()
    while True:
        alive = np.flatnonzero(into == np.arange(len(into)))
        several = np.bincount(owner[alive], minlength=owner.max() + 1)[owner[alive]] > 1
        small = alive[several & (mass[alive] < FEW)]
        if not len(small):
            break
        a = int(small[mass[small].argmin()])
        others = alive[(owner[alive] == owner[a]) & (alive != a)]
        gains = worth(mass[others] + mass[a], vectors[others] + vectors[a])
        b = int(others[(gains - worth(mass[others], vectors[others])).argmax()])
        mass[b] += mass[a]
        vectors[b] += vectors[a]
        into[into == a] = b
    kept = np.full(len(owners), -1)
    kept[occupied] = np.unique(into, return_inverse=True)[1]
    return kept


def _first_of(values: Ids, labels: Ids) -> Ids:
    """Return the value of the first member of each label."""
    return values[np.unique(labels, return_index=True)[1]]


def _only(resultants: Resultants, kept: NDArray[np.bool_]) -> Resultants:
    """Return some of the clusters, as if there were no others."""
    mass = resultants.mass[kept]
    return replace(
        resultants, mass=mass, vectors=resultants.vectors[kept], weight=float(mass.sum())
    )


def _together(parts: Sequence[Resultants]) -> Resultants:
    """Put clusters of several partitions side by side."""
    return Resultants(
        np.concatenate([one.mass for one in parts]),
        np.concatenate([one.vectors for one in parts]),
        0.0,
        0.0,
        sum(one.weight for one in parts),
    )

"""A tree of clusters: merged pair after pair by the least loss of classification likelihood.

Resultants of clusters add up, so the tree is made from the resultants of its leaves and no row is
read. The nodes have SciPy's numbers: leaf k is node k, and merge t makes node M + t of M leaves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.merging import merge
from spheremix.models.views import ViewsModel
from spheremix.resultants import Resultants, merged_resultants

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.merging import ClusterValue, Merging
    from spheremix.models.base import PartitionModel

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

CANCELLED = 1e-12  # mean length of rows that cancel out
NOTHING = 0.01  # of the largest loss of a tree: smaller losses are alike


@dataclass(frozen=True, slots=True, eq=False)
class Hierarchy:
    """Who was merged with whom, and what it cost.

    Attributes
    ----------
    leaves : Resultants
        Of the M clusters that the tree begins with, in an order in which no branches cross.
    origins : ndarray of shape (M,)
        The numbers that they had before.
    pairs : ndarray of shape (M - 1, 2)
        The two nodes of each merge, the heavier one first.
    values : ndarray of shape (M,)
        The classification likelihood of the tree's partition into 1, 2, ... M clusters.
    """

    leaves: Resultants
    origins: Ids
    pairs: Ids
    values: Array

    @property
    def n_leaves(self) -> int:
        """M."""
        return len(self.leaves.mass)

    @property
    def losses(self) -> Array:
        """What each merge, from M clusters to one, takes from the classification likelihood."""
        lost: Array = np.diff(self.values)[::-1]
        return lost

    @property
    def linkage(self) -> Array:
        """The tree as SciPy has it: two nodes, a height and a number of leaves for each merge.

        A height is the loss of the merge in nats, or that of the dearest merge before it if that
        is larger: heights never fall, and a cut at a height undoes the last merges.
        """
        counts = np.concatenate([np.ones(self.n_leaves), np.zeros(len(self.pairs))])
        for t, pair in enumerate(self.pairs):
            counts[self.n_leaves + t] = counts[pair].sum()
        heights = np.maximum.accumulate(np.maximum(self.losses, 0.0))
        return np.column_stack([self.pairs, heights, counts[self.n_leaves :]])

    @property
    def parents(self) -> Ids:
        """Return the node that each node was merged into; -1 for the root."""
        parents = np.full(self.n_leaves + len(self.pairs), -1)
        for t, pair in enumerate(self.pairs):
            parents[pair] = self.n_leaves + t
        return parents

    def nodes_of(self, n_clusters: int) -> tuple[Ids, Ids]:
        """Return the nodes of the cut into so many clusters, and the cluster of each leaf.

        Clusters are numbered from left to right.
        """
        owner = np.arange(self.n_leaves)
        for t, pair in enumerate(self.pairs[: self.n_leaves - n_clusters]):
            owner[np.isin(owner, pair)] = self.n_leaves + t
        nodes = np.array(list(dict.fromkeys(owner.tolist())), dtype=np.intp)
        numbers = np.full(2 * self.n_leaves - 1, -1)
        numbers[nodes] = np.arange(len(nodes))
        return nodes, numbers[owner]

    def cut(self, n_clusters: int) -> Resultants:
        """Return the resultants of the clusters of a cut."""
        return merged_resultants(self.leaves, self.nodes_of(n_clusters)[1])

    def every_node(self) -> tuple[Array, Array]:
        """Return the mass (2M - 1,) and the resultant vector (2M - 1, d) of every node."""
        return self.added_up(self.leaves.mass), self.added_up(self.leaves.vectors)

    def added_up(self, values: Array) -> Array:
        """Return the sum over the leaves of every node, for values (M, ...) of the leaves."""
        sums = list(values)
        for left, right in self.pairs:
            sums.append(sums[left] + sums[right])
        return np.array(sums)


def build(model: PartitionModel[Any], leaves: Resultants, groups: Ids | None = None) -> Hierarchy:
    """Merge clusters down to one, each time the two whose union loses the least likelihood.

    A concentration that clusters share is estimated anew after each merge; it is held while the
    next pair is chosen. ``values`` have it at its estimate. With ``groups`` (M,) clusters of the
    same group are merged first, until each group is one cluster: so the groups are one of the
    cuts.
    """
    M = len(leaves.mass)

    def renew(mass: Array, lengths: Array) -> ClusterValue:
        return _value_by_lengths(model, mass, lengths)

    def pairs_of(clusters: Resultants, n_left: int, apart: Ids | None = None) -> Merging:
        value = renew(clusters.mass, _lengths(model, clusters.vectors))
        return merge(clusters, value, n_left, groups=apart, renew=renew)

    if groups is None:
        merged = pairs_of(leaves, 1).pairs
    else:
        inside = pairs_of(leaves, len(np.unique(groups)), groups)
        across = pairs_of(merged_resultants(leaves, inside.labels), 1)
        first = np.unique(inside.labels, return_index=True)[1]  # which stands for its group
        merged = np.concatenate([inside.pairs, first[across.pairs]])
    lengths = _lengths(model, leaves.vectors)
    mass, vectors = leaves.mass.copy(), leaves.vectors.copy()
    alive, node = np.ones(M, dtype=bool), np.arange(M)
    values, pairs = [_value(model, leaves.mass, lengths)], []
    for t, (a, b) in enumerate(merged):
        pairs.append([node[a], node[b]] if mass[a] >= mass[b] else [node[b], node[a]])
        mass[a] += mass[b]
        vectors[a] += vectors[b]
        alive[b], node[a] = False, M + t
        lengths = _lengths(model, vectors[alive])
        values.append(_value(model, mass[alive], lengths))
    tree = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    order = _left_to_right(M, tree)
    ordered = replace(leaves, mass=leaves.mass[order], vectors=leaves.vectors[order])
    places = np.concatenate([np.argsort(order), np.arange(M, 2 * M - 1)])
    return Hierarchy(ordered, order, places[tree], np.array(values[::-1]))


def _left_to_right(n_leaves: int, pairs: Ids) -> Ids:
    """Return the leaves in the order of the tree."""
    under: dict[int, list[int]] = {k: [k] for k in range(n_leaves)}
    for t, (left, right) in enumerate(pairs.tolist()):
        under[n_leaves + t] = under[left] + under[right]
    return np.array(under[n_leaves + len(pairs) - 1], dtype=np.intp)


def _value(model: PartitionModel[Any], mass: Array, lengths: Array) -> float:
    """Return the classification likelihood of clusters."""
    total = mass.sum()
    value = _value_by_lengths(model, mass, lengths)
    return float(value(mass, lengths).sum() - total * np.log(total))


def _lengths(model: PartitionModel[Any], vectors: Array) -> Array:
    """Return the lengths of resultant vectors, (M,), or of their parts where there are views."""
    if isinstance(model, ViewsModel):
        return model.lengths(vectors)
    lengths: Array = np.linalg.norm(vectors, axis=1)
    return lengths


def _value_by_lengths(model: PartitionModel[Any], mass: Array, lengths: Array) -> ClusterValue:
    """Return what clusters are worth, from the lengths of their resultant vectors alone.

    Where all rows cancel out they are taken for nearly uniform, so that the root has a value.
    """
    known = np.maximum(lengths, CANCELLED * mass)
    if isinstance(model, ViewsModel):
        return model.value_of(mass, known)
    return model.cluster_value(Resultants(mass, known[:, None], 0.0, 0.0, float(mass.sum())))


def largest_jump(losses: Array) -> int:
    """Return the number of clusters from which the next merge costs most times the one before.

    ``losses`` are those of the merges from M clusters to one. Numbers from 2 to M - 1 compete; of
    equals the smallest wins. Losses are compared as heights are, and none counts as less than a
    hundredth of the largest: below that, merges undo splits by chance.
    """
    M = len(losses) + 1
    if M <= 2:
        return M
    heights = np.maximum.accumulate(np.maximum(losses, 0.0))
    if not heights[-1] > 0.0:
        return 2
    later = np.maximum(heights, NOTHING * heights[-1])[::-1]  # of merges from 2, 3, ... clusters
    return 2 + int((later[:-1] / later[1:]).argmax())

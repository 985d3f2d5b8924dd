"""What a tree of clusters says: a row for each node, with its words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.reading.reading import require_model

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A node of a tree of clusters.

    Attributes
    ----------
    node : int
        Its number: leaves first, then the merges in their order, the root last.
    parent : int or None
        The node that it was merged into; None for the root.
    children : tuple of int
        The two nodes that were merged; empty for leaves.
    size : float
        Its rows, or their weight.
    n_leaves : int
        The finest clusters in it.
    height : float
        What the merge loses, in nats, as in ``linkage_``; 0 for leaves.
    against_sibling : tuple of str
        Words that tell it from the node that it was merged with; empty for the root.
    against_rest : tuple of str
        Words that tell it from all other rows; for the root, its most important words.
    """

    node: int
    parent: int | None
    children: tuple[int, ...]
    size: float
    n_leaves: int
    height: float
    against_sibling: tuple[str, ...]
    against_rest: tuple[str, ...]


def tree_nodes(
    tree: Any, feature_names: Iterable[str] | None = None, *, n_words: int = 5
) -> tuple[TreeNode, ...]:
    """Describe every node of a tree: a table with one row a node.

    Parameters
    ----------
    tree : VMFTree
        Fitted.
    feature_names : iterable of str, default=None
        The vocabulary; by default the names of the columns of the fit, or "x0", "x1", ...
    n_words : int, default=5
        Words of each kind, at most.

    Returns
    -------
    tuple of TreeNode
        By number; give it to ``pandas.DataFrame``.

    Examples
    --------
    >>> import numpy as np
    >>> import spheremix as sm
    >>> X = np.array([[3, 1, 0, 0], [4, 1, 0, 0], [1, 5, 0, 0], [1, 6, 0, 0], [0, 0, 1, 3]])
    >>> tree = sm.VMFTree(3, kappa=50.0, random_state=0).fit(X)
    >>> nodes = sm.reading.tree_nodes(tree, ["heart", "blood", "the", "wing"], n_words=1)
    >>> [(node.n_leaves, node.against_sibling) for node in nodes[3:]]
    [(2, ('blood',)), (3, ())]
    """
    require_model(tree, "hierarchy_")
    names = _names(tree, feature_names)
    hierarchy = tree.hierarchy_
    mass, vectors = hierarchy.every_node()
    M, parents, linkage = hierarchy.n_leaves, hierarchy.parents, hierarchy.linkage
    counts = np.concatenate([np.ones(M), linkage[:, 3]]).astype(int)

    def words(node: int, other_mass: float, other: Array) -> tuple[str, ...]:
        scores = excess(vectors[node], mass[node], other, other_mass)
        best = np.argsort(-scores, kind="stable")[:n_words]
        return tuple(names[j] for j in best if scores[j] > 0.0)

    rows = []
    for node, parent in enumerate(parents.tolist()):
        children = () if node < M else tuple(hierarchy.pairs[node - M].tolist())
        against: tuple[str, ...] = ()
        if parent >= 0:
            left, right = hierarchy.pairs[parent - M].tolist()
            sibling = right if node == left else left
            against = words(node, mass[sibling], vectors[sibling])
        rows.append(
            TreeNode(
                node,
                None if parent < 0 else parent,
                children,
                float(mass[node]),
                int(counts[node]),
                0.0 if node < M else float(linkage[node - M, 2]),
                against,
                words(node, mass[-1] - mass[node], vectors[-1] - vectors[node]),
            )
        )
    return tuple(rows)


def excess(vector: Array, mass: float, other: Array, other_mass: float) -> Array:
    """Score words by how much of a prototype they are and how much of the word is its own.

    The square of the prototype's coordinate, times what its mean coordinate has above that of the
    other rows, as a share of both. Negative coordinates count as zero.
    """
    mine = np.maximum(vector, 0.0) / mass
    theirs = np.maximum(other, 0.0) / other_mass if other_mass > 0.0 else np.zeros(len(vector))
    both = mine + theirs
    above = np.divide(np.maximum(mine - theirs, 0.0), both, out=np.zeros_like(both), where=both > 0)
    length = np.linalg.norm(vector)
    scores: Array = np.square(np.maximum(vector, 0.0) / (length if length > 0.0 else 1.0)) * above
    return scores


def _names(tree: Any, feature_names: Iterable[str] | None) -> list[str]:
    d = tree.n_features_in_
    if feature_names is None:
        feature_names = getattr(tree, "feature_names_in_", [f"x{j}" for j in range(d)])
    names = [str(name) for name in feature_names]
    if len(names) != d:
        raise ValueError(f"There are {len(names)} names for {d} features.")
    return names

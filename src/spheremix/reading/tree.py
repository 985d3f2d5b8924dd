"""What a tree of groups says: a row for each node, with its name and its words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.reading.names import (
    CONSIDERED,
    alike,
    alike_parts,
    beyond,
    choose_names,
    ranked_parts,
    words_in,
    write_names,
)
from spheremix.reading.reading import names_of_features, require_model
from spheremix.reading.words import ONLY_HERE_SHARE, characteristic_scores

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from spheremix.hierarchy import Hierarchy
    from spheremix.reading.names import Part
    from spheremix.text.writing import Writing

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

EVERYTHING = "all"  # the name of the root
NAMING = 3  # words of a name
_NOTHING = np.empty(0, dtype=np.intp)
NEARLY_ALL = 0.95  # share of the documents with a word that must be here, if it is only here


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A node of a tree of groups.

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
        The finest groups in it.
    height : float
        What the merge loses, in nats, as in ``linkage_``; 0 for leaves.
    name : str
        Up to three words that tell it from the node that it was merged with and from the rest,
        chosen as those of :func:`naming_words`; the names of the two share one word at most, and
        none with the node that they make. "all" for the root.
    against_sibling : tuple of str
        Words that tell it from the node that it was merged with; empty for the root.
    against_rest : tuple of str
        Words that tell it from all other rows; for the root, its most important words.
    only_here : tuple of str
        Words that at least 5 % of its documents contain and hardly any other document: at least
        95 % of the documents with the word are here. Empty for the root, and where it is not known
        which documents contain a word.
    """

    node: int
    parent: int | None
    children: tuple[int, ...]
    size: float
    n_leaves: int
    height: float
    name: str
    against_sibling: tuple[str, ...]
    against_rest: tuple[str, ...]
    only_here: tuple[str, ...] = ()


def tree_nodes(
    tree: Any, feature_names: Iterable[str] | None = None, *, n_words: int = 5
) -> tuple[TreeNode, ...]:
    """Describe every node of a tree: a table with one row a node.

    Words are ranked as those of groups are
    (:func:`~spheremix.reading.characteristic_scores`), in a comparison of two groups: a node and
    its sibling, or a node and all other rows. The sum of the rows of a group, at length one, is its
    prototype, and the length of the sum is its mass. Only words are listed of which a row of the
    node has more, on average, than a row of the other group.

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
    hierarchy: Hierarchy = tree.hierarchy_
    words = names_of_features(tree, tree.n_features_in_, feature_names)
    return describe_nodes(hierarchy, words, hierarchy.leaves.vectors, n_words=n_words)


def describe_nodes(
    hierarchy: Hierarchy,
    words: Sequence[str],
    sums: Array,
    *,
    containing: Array | None = None,
    n_words: int = 5,
    writing: Writing | None = None,
    given: Mapping[int, str] | None = None,
) -> tuple[TreeNode, ...]:
    """Describe every node of a tree by words, as :func:`tree_nodes` does.

    ``sums`` has, for each leaf and word, the sum of the directions of the leaf's documents, and
    ``containing`` the number of its documents that contain the word. Nodes with a ``given`` name
    keep it.
    """
    M, parents, linkage = hierarchy.n_leaves, hierarchy.parents.tolist(), hierarchy.linkage
    mass, vectors = hierarchy.added_up(hierarchy.leaves.mass), hierarchy.added_up(sums)
    having = None if containing is None else hierarchy.added_up(containing)
    counts = np.concatenate([np.ones(M), linkage[:, 3]]).astype(int)
    siblings = np.full(len(parents), -1)
    for pair in hierarchy.pairs:
        siblings[pair] = pair[::-1]
    apart: list[Ids] = []
    naming: list[list[Part]] = []
    for node, other in enumerate(siblings.tolist()):
        ranked, scores = _NOTHING, np.zeros(0)
        if other >= 0:
            ranked, scores = _telling(vectors[node], mass[node], vectors[other], mass[other])
        apart.append(ranked[:n_words])
        first, worth = ranked[:CONSIDERED], np.sqrt(scores[:CONSIDERED])
        if having is not None:  # a name should be about many of its documents, and few others
            here, there = having[node, first] / mass[node], having[other, first] / mass[other]
            rest = (having[-1] - having[node])[first] / max(mass[-1] - mass[node], 1.0)
            worth = worth * beyond(here, rest, there)
        naming.append(ranked_parts(first, worth, words, writing))
    names = _named(hierarchy, naming, words, writing, given or {})
    found = []
    for node, parent in enumerate(parents):
        rest, rest_mass = vectors[-1] - vectors[node], mass[-1] - mass[node]
        alone = parent < 0
        ranked, _ = _telling(vectors[node], mass[node], None if alone else rest, rest_mass)
        only: Sequence[int] = ()
        if having is not None and not alone:
            here = having[node] >= np.maximum(ONLY_HERE_SHARE * mass[node], NEARLY_ALL * having[-1])
            only = ranked[here[ranked]].tolist()
        found.append(
            TreeNode(
                node,
                None if alone else parent,
                () if node < M else tuple(hierarchy.pairs[node - M].tolist()),
                float(mass[node]),
                int(counts[node]),
                0.0 if node < M else float(linkage[node - M, 2]),
                names[node],
                tuple(words[j] for j in apart[node].tolist()),
                tuple(words[j] for j in ranked[:n_words].tolist()),
                tuple(words[j] for j in only[:n_words]),
            )
        )
    return tuple(found)


def _telling(own: Array, mass: float, other: Array | None, other_mass: float) -> tuple[Ids, Array]:
    """Rank the words that a group has more of than another one; all its words without another.

    Returns their numbers and their scores.
    """
    groups = own[None] if other is None else np.stack([own, other])
    lengths = np.linalg.norm(groups, axis=1)
    if not lengths[0] > 0.0:
        return _NOTHING, np.zeros(0)
    prototypes = groups / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    scores = characteristic_scores(prototypes, lengths)[0]
    more = scores > 0.0
    if other is not None and other_mass > 0.0:
        more &= np.abs(own) / mass > np.abs(other) / other_mass
    features = np.flatnonzero(more)
    ranked = features[np.argsort(-scores[features], kind="stable")]
    return ranked, scores[ranked]


def _named(
    hierarchy: Hierarchy,
    naming: Sequence[Sequence[Part]],
    words: Sequence[str],
    writing: Writing | None,
    given: Mapping[int, str],
) -> list[str]:
    """Name the two nodes of each merge, from the root on: without words of what they make."""
    M = hierarchy.n_leaves
    names = [given.get(node, EVERYTHING) for node in range(len(naming))]

    def without(node: int, *others: int) -> list[Part]:
        """Return the parts of a name that repeat no word of other names."""
        taken = set().union(*(words_in(names[other]) for other in others))
        return [
            part
            for part in naming[node]
            if not any(alike(words[j].lower(), word) for j in part for word in taken)
        ]

    for merge in range(M - 2, -1, -1):
        pair = hierarchy.pairs[merge].tolist()
        mine = [node for node in pair if node not in given]
        ranked = []
        for node in mine:
            below = hierarchy.pairs[node - M].tolist() if node >= M else []
            known = [other for other in (*pair, *below) if other in given]
            above = [M + merge] if merge < M - 2 else []
            ranked.append(without(node, *above, *known) or list(naming[node]))
        chosen = choose_names(ranked, range(len(mine)), NAMING, alike_parts(words))
        for node, parts, others in zip(mine, chosen, ranked, strict=True):
            several = [[*parts[:-1], one] for one in others if one not in parts]
            several += [[*parts, one] for one in naming[node] if one not in parts]
            written = [one for one in write_names([parts, *several], words, writing) if one]
            fresh = (name for name in written if name not in names)  # two nodes never share one
            names[node] = next(fresh, written[0] if written else names[node])
    return names

"""The tree of an exploration: the chosen groups, divided into fine ones and merged to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from spheremix.data.open import as_directions
from spheremix.estimators.cluster_tree import FEW, tree_inside
from spheremix.hierarchy import Hierarchy
from spheremix.reading.contrast import group_counts, text_sums
from spheremix.reading.document_map import DocumentMap
from spheremix.reading.tree import describe_nodes
from spheremix.run.folder.files import RunError
from spheremix.run.folder.fitted import check_labels, check_merges
from spheremix.run.folder.store import key_of
from spheremix.run.stages.dense import problem_of
from spheremix.seeding import class_resultants
from spheremix.text.corpus import digest

if TYPE_CHECKING:
    from spheremix.advice import Advice
    from spheremix.reading import Reading
    from spheremix.run.stages import Context
    from spheremix.run.stages.rows import Rows

Ids = NDArray[np.int64]

MOST = 40  # fine groups, unless more groups were chosen
LISTED = 20  # words of a node


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Tree:
    """A tree over the chosen groups: fine groups inside them, and who was merged with whom.

    Fine groups are the first nodes; each merge makes the next.
    """

    archive_version: ClassVar[int] = 1

    leaves: Ids  # (n,): the fine group of each row; -1 for rows that belong nowhere
    groups: Ids  # (M,): the chosen group of each fine group
    pairs: Ids  # (M - 1, 2): the two nodes of each merge
    values: NDArray[np.float64]  # (M,): classification likelihood of 1, 2, ... M groups


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node of the tree: a fine group, or several of them together."""

    parent: int | None
    height: float
    size: int
    n_leaves: int
    group: int | None  # the chosen group that it lies in
    chosen: bool  # whether it is this group
    name: str
    words: list[str]
    sibling_words: list[str]
    only_here_words: list[str]


def labels_key(labels: NDArray[np.intp]) -> str:
    """Return what tells groups from others: the documents that are in them."""
    return digest([np.ascontiguousarray(labels, dtype="<i8").tobytes()])


def count_leaves(n_clusters: int, advice: Advice | None, n_documents: int) -> int:
    """Say into how many fine groups the chosen clusters are divided, at most.

    Twice as many as clusters, or the finest number that the advice recommends if that is more; 40
    at most, and one for every five documents. Never fewer than clusters.
    """
    finest = 0 if advice is None else max(one.n_clusters for one in advice.recommended)
    wanted = min(max(2 * n_clusters, finest), MOST, n_documents // FEW)
    return max(wanted, n_clusters)


def grow_tree(
    x: Context, rows: Rows, labels: NDArray[np.intp], advice: Advice | None
) -> Tree | None:
    """Divide the chosen groups and build their tree; None where there is one group only."""
    n_groups = len(np.unique(labels[labels >= 0]))
    n_leaves = count_leaves(n_groups, advice, len(labels))
    if n_leaves < 2:
        return None
    options = x.options

    def make() -> Tree:
        x.listener.begin("Dividing the groups into fine ones")
        found = tree_inside(problem_of(rows, options), labels, n_leaves, options.seed)
        return Tree(
            leaves=found.leaves.astype(np.int64),
            groups=found.clusters.astype(np.int64),
            pairs=found.hierarchy.pairs.astype(np.int64),
            values=found.hierarchy.values,
        )

    key = key_of(x.rows_key, "tree", labels_key(labels), n_leaves, options.kappa, options.seed)
    return x.store.stage("tree", key, Tree, make)


def check_tree(tree: Tree, n_rows: int, n_groups: int) -> None:
    """Refuse a tree that is none, or of other rows or groups."""
    check_merges(tree.pairs, tree.values, len(tree.groups))
    check_labels(tree.leaves, len(tree.groups), noise=True)
    check_labels(tree.groups, n_groups)
    if len(tree.leaves) != n_rows:
        raise RunError("damaged: the tree is not that of these rows.")


def describe_tree(
    tree: Tree, rows: Rows, reading: Reading, n_threads: int | None = None
) -> list[Node]:
    """Describe the nodes of a tree: those that are groups as the groups are described."""
    M = len(tree.groups)
    leaves, pairs = tree.leaves.astype(np.intp), tree.pairs.astype(np.intp).reshape(-1, 2)
    sums = class_resultants(as_directions(rows.views, n_threads=n_threads), leaves, M)
    hierarchy = Hierarchy(sums, np.arange(M), pairs, tree.values)
    words, vectors, containing = _words(leaves, hierarchy, rows, reading)
    owners: list[set[int]] = [{int(k)} for k in tree.groups]
    for left, right in pairs.tolist():
        owners.append(owners[left] | owners[right])
    chosen = set(hierarchy.nodes_of(len(np.unique(tree.groups)))[0].tolist())
    groups = {one.group: one for one in reading.groups(n_listed=LISTED)}
    nodes = describe_nodes(
        hierarchy,
        words,
        vectors,
        containing=containing,
        n_words=LISTED,
        writing=reading.writing,
        given={node: groups[next(iter(owners[node]))].name for node in chosen},
    )
    found = []
    for node in nodes:
        own = next(iter(owners[node.node])) if len(owners[node.node]) == 1 else None
        listed = list(node.against_rest)
        if own is not None and node.node in chosen:
            listed = (
                [word.word for word in groups[own].words]
                if reading.contrast is None
                else list(groups[own].contrast_words)
            )
        found.append(
            Node(
                parent=node.parent,
                height=node.height if node.node >= M else 0.0,
                size=round(node.size),
                n_leaves=node.n_leaves,
                group=own,
                chosen=node.node in chosen,
                name=node.name,
                words=listed,
                sibling_words=list(node.against_sibling),
                only_here_words=list(node.only_here),
            )
        )
    return found


def ancestors(nodes: list[Node], n_groups: int) -> list[int]:
    """Return the node that each chosen group lies in, where the tree is cut into so many groups."""
    n_leaves = (len(nodes) + 1) // 2
    first_merged = 2 * n_leaves - n_groups  # nodes from here on are merges that the cut undoes
    own = {node.group: i for i, node in enumerate(nodes) if node.chosen and node.group is not None}
    found = []
    for k in sorted(own):
        at = own[k]
        while (parent := nodes[at].parent) is not None and parent < first_merged:
            at = parent
        found.append(at)
    return found


def _words(
    leaves: NDArray[np.intp], tree: Hierarchy, rows: Rows, reading: Reading
) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64] | None]:
    """Return words, sums of directions and numbers of documents with a word, for each leaf."""
    M = tree.n_leaves
    if rows.words is not None:
        has = group_counts(sparse.csr_array(rows.X != 0), leaves, n_groups=M)
        return rows.words, tree.leaves.vectors[:, : len(rows.words)], has
    if rows.counts is not None and rows.terms is not None:
        groups = rows.spread(leaves)
        has = group_counts(sparse.csr_array(rows.counts != 0), groups, n_groups=M)
        return rows.terms, text_sums(rows.counts, groups, M), has
    return reading.feature_names, tree.leaves.vectors, None


# The map


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The rows on a map: two coordinates each, between 0 and 1."""

    archive_version: ClassVar[int] = 1

    positions: NDArray[np.float64]


def place_documents(x: Context, rows: Rows, labels: NDArray[np.intp]) -> Layout:
    """Return the positions of the rows, where documents of a group are islands.

    The map of the rows alone is kept: with other groups, only its islands are made again.
    """
    found = DocumentMap(rows.views, n_threads=x.options.threads)
    follow = lambda share: x.listener.update(share, "")  # noqa: E731

    def place() -> Layout:
        x.listener.begin("Placing the documents on a map")
        return Layout(found.positions(follow))

    placed = x.store.stage("map", key_of(x.rows_key, "map"), Layout, place)

    def part() -> Layout:
        x.listener.begin("Making islands of the groups")
        return Layout(found.islands(placed.positions, labels, follow))

    return x.store.stage("layout", key_of(x.rows_key, "layout", labels_key(labels)), Layout, part)

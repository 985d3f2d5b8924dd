"""The tree of an exploration: the chosen clusters, divided into fine groups and merged to one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from spheremix.estimators.cluster_tree import FEW, ClusterTree, tree_inside
from spheremix.hierarchy import Hierarchy
from spheremix.reading.contrast import cluster_counts, text_sums
from spheremix.reading.tree import describe_nodes
from spheremix.run.advising import problem_of
from spheremix.run.files import TREE
from spheremix.run.store import RunError
from spheremix.run.tables import all_clusters
from spheremix.run.tree_codecs import check_merges
from spheremix.run.tree_schema import GrownRecord, NodeRecord, TreeRecord
from spheremix.run.typed import FileName
from spheremix.seeding import class_resultants

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.advice import Advice
    from spheremix.reading import Reading
    from spheremix.run.folder import RunFolder
    from spheremix.run.keys import Keys
    from spheremix.run.listener import Listener
    from spheremix.run.options import ExploreOptions
    from spheremix.run.prepare import Material
    from spheremix.run.store import Reader

    Ids = NDArray[np.intp]

MOST = 40  # fine groups, unless more clusters were chosen
LISTED = 20  # words of a node


@dataclass(frozen=True, slots=True, eq=False)
class Grown(ClusterTree):
    """The tree of an exploration, and the key of its stage."""

    key: str


def count_leaves(n_clusters: int, advice: Advice | None, n_documents: int) -> int:
    """Say into how many fine groups the chosen clusters are divided, at most.

    Twice as many as clusters, or the finest number that the advice recommends if that is more; 40
    at most, and one for every five documents. Never fewer than clusters.
    """
    finest = 0 if advice is None else max(one.n_clusters for one in advice.recommended)
    wanted = min(max(2 * n_clusters, finest), MOST, n_documents // FEW)
    return max(wanted, n_clusters)


def grow_tree(
    folder: RunFolder,
    material: Material,
    labels: Ids,
    advice: Advice | None,
    options: ExploreOptions,
    keys: Keys,
    listener: Listener,
) -> Grown | None:
    """Divide the chosen clusters and build their tree, or take up what is there.

    None where nothing can be divided: then there is one group only.
    """
    n_clusters = len(np.unique(labels[labels >= 0]))
    n_leaves = count_leaves(n_clusters, advice, len(labels))
    if n_leaves < 2:
        return None
    problem, key = problem_of(material, options), keys.tree(labels, n_leaves)

    def make() -> None:
        listener.begin("Dividing the clusters into fine groups")
        found = tree_inside(problem, labels, n_leaves, options.seed)
        writer, tree = folder.writer(), found.hierarchy
        name = writer.array(f"{TREE}/leaves.npy", found.leaves.astype(np.int64))
        record = GrownRecord(
            leaves=FileName(name),
            clusters=found.clusters.tolist(),
            pairs=tree.pairs.tolist(),
            values=tree.values.tolist(),
        )
        folder.commit("tree", key, writer, record)

    def read(record: GrownRecord, reader: Reader) -> Grown:
        leaves = read_leaves(record, reader, len(labels))
        M = len(record.clusters)
        sums = class_resultants(problem.directions, leaves, M)
        pairs = np.array(record.pairs, dtype=np.intp).reshape(-1, 2)
        tree = Hierarchy(sums, np.arange(M), pairs, np.array(record.values))
        return Grown(tree, leaves, np.array(record.clusters, dtype=np.intp), key)

    return folder.stage("tree", key, GrownRecord, make, read)


def read_leaves(record: GrownRecord, reader: Reader, n_rows: int | None = None) -> Ids:
    """Read the fine group of each row, and check that the tree is one."""
    M = len(record.clusters)
    check_merges(record, M, reader)
    leaves: Ids = reader.array(record.leaves, (n_rows,), "i").astype(np.intp)
    if not (leaves.size and -1 <= leaves.min() <= leaves.max() < M):
        raise RunError(f"{reader.folder / record.leaves}: damaged: not the leaves of a tree.")
    return leaves


def describe_tree(
    record: GrownRecord, tree: Grown, material: Material, reading: Reading
) -> TreeRecord:
    """Describe the nodes of a tree: those that are clusters as the clusters are described."""
    hierarchy, M = tree.hierarchy, tree.hierarchy.n_leaves
    words, sums, containing = _words(tree, material, reading)
    nodes = describe_nodes(hierarchy, words, sums, containing=containing, n_words=LISTED)
    owners: list[set[int]] = [{int(k)} for k in tree.clusters]
    for left, right in hierarchy.pairs.tolist():
        owners.append(owners[left] | owners[right])
    chosen = set(hierarchy.nodes_of(len(np.unique(tree.clusters)))[0].tolist())
    clusters = {one.cluster: one for one in reading.clusters(n_listed=LISTED)}
    found = []
    for node in nodes:
        own = next(iter(owners[node.node])) if len(owners[node.node]) == 1 else None
        name, listed = node.name, list(node.against_rest)
        if own is not None and node.node in chosen:
            name = clusters[own].name
            listed = (
                [word.word for word in clusters[own].words]
                if reading.contrast is None
                else (list(clusters[own].contrast_words))
            )
        found.append(
            NodeRecord(
                parent=node.parent,
                height=node.height if node.node >= M else 0.0,
                size=round(node.size),
                n_leaves=node.n_leaves,
                cluster=own,
                chosen=node.node in chosen,
                name=name,
                words=listed,
                sibling_words=list(node.against_sibling),
                only_here_words=list(node.only_here),
            )
        )
    return TreeRecord(grown=record, nodes=found)


def _words(
    tree: ClusterTree, material: Material, reading: Reading
) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64] | None]:
    """Return words, sums of directions and numbers of documents with a word, for each leaf."""
    M = tree.hierarchy.n_leaves
    if material.words is not None:
        has = cluster_counts(sparse.csr_array(material.X != 0), tree.leaves, n_clusters=M)
        return material.words, tree.hierarchy.leaves.vectors, has
    if material.counts is not None and material.terms is not None:
        groups = all_clusters(tree.leaves, material)
        has = cluster_counts(sparse.csr_array(material.counts != 0), groups, n_clusters=M)
        return material.terms, text_sums(material.counts, groups, M), has
    return reading.feature_names, tree.hierarchy.leaves.vectors, None

"""Fitted trees as arrays and a description, and back: the same bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.estimators.cuts import Trees
from spheremix.estimators.fitted import columns_of
from spheremix.estimators.tree import VMFTree
from spheremix.hierarchy import Hierarchy
from spheremix.resultants import Resultants
from spheremix.run.codecs import check_positive, pack_params, unpack_params
from spheremix.run.store import RunError
from spheremix.run.tree_schema import FittedTreeRecord, HierarchyRecord
from spheremix.run.typed import FileName

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spheremix.estimators.mixture import VMFMixture
    from spheremix.run.store import Reader
    from spheremix.run.tree_schema import GrownRecord
    from spheremix.run.writer import Writer


def pack_tree(tree: VMFTree, writer: Writer, prefix: str) -> FittedTreeRecord:
    """Write a fitted tree without its cuts; give its description."""
    second = tree.trees_.second
    return FittedTreeRecord(
        params=pack_params(tree, writer, prefix),
        tree=_pack(tree.hierarchy_, writer, prefix),
        second=None if second is None else _pack(second, writer, f"{prefix}/second"),
    )


def _pack(tree: Hierarchy, writer: Writer, prefix: str) -> HierarchyRecord:
    return HierarchyRecord(
        mass=FileName(writer.array(f"{prefix}/mass.npy", tree.leaves.mass)),
        vectors=FileName(writer.array(f"{prefix}/vectors.npy", tree.leaves.vectors)),
        origins=tree.origins.tolist(),
        pairs=tree.pairs.tolist(),
        values=tree.values.tolist(),
        n_features=tree.leaves.vectors.shape[1],
        weight=float(tree.leaves.weight),
    )


def unpack_tree(
    record: FittedTreeRecord, reader: Reader, cuts: Mapping[int, VMFMixture], n_clusters: int
) -> VMFTree:
    """Read a fitted tree, whose cuts were read before."""
    tree: VMFTree = unpack_params(VMFTree, record.params, reader, {})
    first = _unpack(record.tree, reader)
    second = None if record.second is None else _unpack(record.second, reader)
    chosen = cuts[n_clusters]
    if first.leaves.vectors.shape[1] != chosen.n_features_in_ or max(cuts) > first.n_leaves:
        raise RunError(f"{reader.folder}: damaged: the tree is not that of the mixtures.")
    trees = Trees(first, second, cuts.get(first.n_leaves))
    return tree.restore(trees, dict(cuts), n_clusters, columns_of(chosen))


def _unpack(record: HierarchyRecord, reader: Reader) -> Hierarchy:
    M = len(record.origins)
    check_merges(record, M, reader)
    if sorted(record.origins) != list(range(M)):
        raise RunError(f"{reader.folder}: damaged: not the leaves of a tree.")
    mass = check_positive(reader, record.mass, (M,))
    vectors = reader.array(record.vectors, (M, record.n_features))
    return Hierarchy(
        Resultants(mass, vectors, 0.0, 0.0, record.weight),
        np.array(record.origins, dtype=np.intp),
        np.array(record.pairs, dtype=np.intp).reshape(-1, 2),
        np.array(record.values),
    )


def check_merges(record: HierarchyRecord | GrownRecord, n_leaves: int, reader: Reader) -> None:
    """Refuse merges that make no tree: every node but the last is merged once, into a later one."""
    pairs: list[Any] = record.pairs
    merged = sorted(node for pair in pairs for node in pair)
    whole = merged == list(range(2 * n_leaves - 2)) and len(record.values) == n_leaves
    early = all(len(pair) == 2 and max(pair) < n_leaves + t for t, pair in enumerate(pairs))
    if not (n_leaves and whole and early):
        raise RunError(f"{reader.folder}: damaged: merges that make no tree.")

"""The tree of a run in its report: parents, heights, sizes, names and words of the nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.report.numbers import digits, numbered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spheremix.run.tree_schema import TreeRecord

LISTED = 10  # words of a node


def tree_entry(
    tree: TreeRecord | None, names: Sequence[str], *, words: bool
) -> dict[str, Any] | None:
    """Describe the tree, one value a node; ``names`` are those of the chosen clusters.

    Without ``words``, nodes are named by coordinates, which say nothing to a reader: these are left
    out, and groups have numbers. Nodes are numbered as in tables/tree.csv: fine groups first, each
    merge after its parts.
    """
    if tree is None:
        return None
    nodes = tree.nodes
    called = [
        one.name if words or one.parent is None else f"group {i}" for i, one in enumerate(nodes)
    ]
    listed = LISTED if words else 0
    return {
        "leaves": len(tree.grown.clusters),
        "chosen": sum(one.chosen for one in nodes),
        "parents": [-1 if one.parent is None else one.parent for one in nodes],
        "heights": [digits(one.height) for one in nodes],
        "sizes": [one.size for one in nodes],
        "names": [
            names[one.cluster] if one.chosen and one.cluster is not None else name
            for one, name in zip(nodes, called, strict=True)
        ],
        "words": [one.words[:listed] for one in nodes],
        "sibling_words": [one.sibling_words[:listed] for one in nodes],
        "only": [one.only_here_words[:listed] for one in nodes],
        "clusters": [-1 if one.cluster is None else one.cluster for one in nodes],
        "is_chosen": [one.chosen for one in nodes],
    }


def packed_leaves(leaves: Any, tree: TreeRecord | None) -> Any:
    """Return the fine group of each document as a small array; None where there is no tree."""
    if leaves is None or tree is None:
        return None
    return numbered(np.asarray(leaves), len(tree.grown.clusters)).astype(np.uint16)

"""The tree of a run in its report: parents, heights, sizes, names and words of the nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.report.numbers import digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spheremix.run.schema import TreeRecord

LISTED = 10  # words of a node


def tree_entry(tree: TreeRecord | None, names: Sequence[str]) -> dict[str, Any] | None:
    """Describe the tree, one value a node; ``names`` are those of the chosen clusters.

    Nodes are numbered as in tables/tree.csv: fine groups first, each merge after its parts.
    """
    if tree is None:
        return None
    nodes = tree.nodes
    return {
        "leaves": len(tree.grown.clusters),
        "chosen": sum(one.chosen for one in nodes),
        "parents": [-1 if one.parent is None else one.parent for one in nodes],
        "heights": [digits(one.height) for one in nodes],
        "sizes": [one.size for one in nodes],
        "names": [
            names[one.cluster] if one.chosen and one.cluster is not None else one.name
            for one in nodes
        ],
        "words": [one.words[:LISTED] for one in nodes],
        "sibling_words": [one.sibling_words[:LISTED] for one in nodes],
        "only": [one.only_here_words[:LISTED] for one in nodes],
        "clusters": [-1 if one.cluster is None else one.cluster for one in nodes],
        "is_chosen": [one.chosen for one in nodes],
    }


def packed_leaves(leaves: Any) -> Any:
    """Give the fine group of each document as a small array; None where there is no tree."""
    return None if leaves is None else np.asarray(leaves).astype(np.uint16)

"""What a run says about its trees: the records of trees in ``run.json``, with their meanings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spheremix.run.typed import FileName, about


@dataclass(frozen=True, slots=True, kw_only=True)
class HierarchyRecord:
    """A tree of clusters: the resultants of its leaves, and who was merged with whom."""

    mass: FileName = about("Weight of the rows of each leaf.")
    vectors: FileName = about("Sums of the rows of each leaf.")
    origins: list[int] = about("The numbers that the leaves had before they were put in order.")
    pairs: list[list[int]] = about("The two nodes of each merge.")
    values: list[float] = about("Classification likelihood of the cuts into 1, 2, ... clusters.")
    n_features: int = about("Number of columns.")
    weight: float = about("Total weight of the rows.")


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedTreeRecord:
    """A fitted VMFTree; its cuts are the mixtures of the run."""

    params: dict[str, Any] = about("Parameters of the estimator.")
    tree: HierarchyRecord = about("The tree.")
    second: HierarchyRecord | None = about(
        "The tree of other leaves, with which cuts are combined.", default=None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GrownRecord:
    """A tree over the chosen clusters: fine groups inside them, and who was merged with whom."""

    leaves: FileName = about("The fine group of each row.")
    clusters: list[int] = about("The chosen cluster of each fine group.")
    pairs: list[list[int]] = about(
        "The two nodes of each merge. Fine groups are the first nodes; each merge makes the next."
    )
    values: list[float] = about(
        "Classification likelihood of the partitions of the tree into 1, 2, ... groups."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeRecord:
    """A node of the tree: a fine group, or several of them together."""

    parent: int | None = about("The node that it is a part of.", default=None)
    height: float = about("What the merge of its two parts loses, in nats; 0 for fine groups.")
    size: int = about("Number of its documents.")
    n_leaves: int = about("Number of its fine groups.")
    cluster: int | None = about("The chosen cluster that it lies in.", default=None)
    chosen: bool = about("Whether it is this cluster.")
    name: str = about("Its name.")
    words: list[str] = about("Its characteristic words.")
    sibling_words: list[str] = about("Words that tell it from the other part of its parent.")
    only_here_words: list[str] = about("Words that hardly any other document contains.")


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeRecord:
    """The tree of the run, for readers."""

    grown: GrownRecord = about("The tree.")
    nodes: list[NodeRecord] = about("Its nodes, by number.")

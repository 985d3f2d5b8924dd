"""Colours of groups: their places on the circle of colours, which edits and updates keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from spheremix.run.stages.tree import Node

Place = list[float]  # a share of the circle, and 0 or 1: dark or light in turn


def colour_places(nodes: list[Node] | None, n_groups: int) -> list[Place]:
    """Return the place of each group: the middle of its leaves in the order of the tree.

    It is what ``grouping.js`` of the report computes for groups without a place of their own.
    """
    if nodes is None:
        return [[k / n_groups, float(k % 2)] for k in range(n_groups)]
    order = _leaves(nodes)
    groups = [nodes[leaf].group for leaf in order]
    ranks = {k: i for i, k in enumerate(dict.fromkeys(groups))}
    found = []
    for k in range(n_groups):
        at = [i for i, one in enumerate(groups) if one == k]
        share = ((sum(at) / len(at) if at else 0.0) + 0.5) / len(order)
        found.append([share, float(ranks.get(k, k) % 2)])
    return found


def _leaves(nodes: list[Node]) -> list[int]:
    """Return the leaves in the order of the report: the branch with the largest group first."""
    children: list[list[int]] = [[] for _ in nodes]
    for i, node in enumerate(nodes):
        if node.parent is not None:
            children[node.parent].append(i)
    largest: list[int] = []
    for i, node in enumerate(nodes):
        whole = node.chosen or not children[i]
        largest.append(node.size if whole else max(largest[one] for one in children[i]))
    found = []
    stack = [next(i for i, node in enumerate(nodes) if node.parent is None)]
    while stack:
        one = stack.pop()
        if not children[one]:
            found.append(one)
        stack += sorted(children[one], key=lambda i: (-largest[i], i))[::-1]
    return found


def add_places(places: list[Place], n_new: int) -> list[Place]:
    """Return new groups places in the middle of the widest gaps between those that there are."""
    found = [list(one) for one in places]
    for _ in range(n_new):
        shares = np.sort([0.0, *(share for share, _ in found), 1.0])
        widest = int(np.diff(shares).argmax())
        found.append([float(shares[widest : widest + 2].mean()), float(len(found) % 2)])
    return found

"""The dendrogram: where nodes stand, what is written, and that nothing overlaps."""

from __future__ import annotations

import numpy as np
import pytest
from tree_common import themes

import spheremix as sm

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def tree():
    rows, _, _ = themes(n_themes=5, n_topics=8, d=40, n=12)
    return sm.VMFTree(40, random_state=0).fit(np.abs(rows))


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


NAMES = [f"word{j}" for j in range(40)]


def test_leaves_and_branches(tree):
    display = sm.TreeDisplay.from_estimator(tree, NAMES)
    assert len(display.leaves_) == 40
    first = display.leaves_[0].get_text()
    assert first.startswith(f"{tree.sizes_[0]:,.0f}  word")
    # One line for each node, and one for each merge.
    assert len(display.ax_.lines) == 79 + 39
    lowest, highest = display.ax_.get_xlim()[::-1]
    heights = np.sqrt(tree.linkage_[:, 2])
    assert lowest < heights.min() < heights.max() < highest


def test_nothing_written_overlaps(tree):
    display = sm.TreeDisplay.from_estimator(tree, NAMES)
    display.figure_.draw_without_rendering()
    assert display.words_
    boxes = [text.get_window_extent() for text in [*display.leaves_, *display.words_.values()]]
    # The rows of letters may touch: a pixel of their boxes is above and below them.
    boxes = [box.padded(-1.0) for box in boxes]
    assert not [
        (i, j)
        for i, one in enumerate(boxes)
        for j, other in enumerate(boxes[:i])
        if one.overlaps(other)
    ]


def test_colours_are_the_clusters_of_the_cut(tree):
    display = sm.TreeDisplay.from_estimator(tree, NAMES, n_clusters=4)
    colours = display._colours()
    nodes, clusters = tree.hierarchy_.nodes_of(4)
    assert len({colours[node] for node in nodes}) == 4
    for leaf, cluster in enumerate(clusters):
        assert colours[leaf] == colours[nodes[cluster]]
    assert len({colours[node] for node in range(79) if node >= 76}) == 1


def test_in_given_axes_and_a_bad_number(tree):
    _, ax = plt.subplots()
    assert sm.TreeDisplay.of(tree, NAMES).plot(ax).ax_ is ax
    with pytest.raises(ValueError, match=r"n_clusters must be in 1\.\.40, got 41"):
        sm.TreeDisplay.of(tree, n_clusters=41)


def test_two_leaves():
    rows, _, _ = themes(n=10)
    display = sm.TreeDisplay.from_estimator(sm.VMFTree(2, random_state=0).fit(rows))
    assert len(display.leaves_) == 2
    assert len(sm.TreeDisplay.from_estimator(sm.VMFTree(1, random_state=0).fit(rows)).leaves_) == 1

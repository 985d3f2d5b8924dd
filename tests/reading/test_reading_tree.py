"""The table of a tree's nodes, their words, and flows between levels."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import spheremix as sm
from spheremix.reading.tree import excess

WORDS = ["pupil", "school", "goal", "match", "bank", "share", "the"]


@pytest.fixture(scope="module")
def tree():
    """Two topics of sport and school each with a word of its own, and one apart."""
    rng = np.random.default_rng(0)
    means = np.array(
        [[5, 2, 0, 0, 0, 0, 1], [2, 5, 0, 0, 0, 0, 1], [0, 0, 5, 4, 0, 0, 1], [0, 0, 0, 0, 4, 5, 1]]
    )
    rows = np.repeat(means, 20, axis=0) + rng.uniform(0.0, 0.5, size=(80, 7))
    return sm.VMFTree(4, random_state=0).fit(rows)


def test_one_row_a_node(tree):
    nodes = sm.reading.tree_nodes(tree, WORDS)
    assert [node.node for node in nodes] == list(range(7))
    assert nodes[-1].parent is None
    for node in nodes:
        assert node.size == tree.sizes_[node.node]
        for child in node.children:
            assert nodes[child].parent == node.node
        if node.children:
            assert node.size == sum(nodes[child].size for child in node.children)
            assert node.n_leaves == sum(nodes[child].n_leaves for child in node.children)
            assert node.height == tree.linkage_[node.node - 4, 2]
        else:
            assert (node.n_leaves, node.height) == (1, 0.0)


def test_words_against_the_sibling_and_the_rest(tree):
    nodes = sm.reading.tree_nodes(tree, WORDS, n_words=2)
    pair = nodes[4].children  # the two topics that share their words
    assert {nodes[child].against_sibling[0] for child in pair} == {"pupil", "school"}
    assert set(nodes[4].against_rest) == {"pupil", "school"}
    assert all("the" not in node.against_rest for node in nodes[:-1])
    assert nodes[-1].against_sibling == ()
    assert len(nodes[-1].against_rest) == 2


def test_the_score_is_its_formula():
    mine, other = np.array([3.0, 4.0, -1.0]), np.array([1.0, 8.0, 2.0])
    length = np.sqrt(26.0)
    expected = [(3 / length) ** 2 * (1.5 - 0.25) / (1.5 + 0.25), 0.0, 0.0]
    assert_allclose(excess(mine, 2.0, other, 4.0), expected)
    assert_allclose(excess(mine, 2.0, np.zeros(3), 0.0), np.array([9.0, 16.0, 0.0]) / 26.0)


def test_names_of_columns(tree):
    assert sm.reading.tree_nodes(tree)[0].against_rest[0].startswith("x")
    with pytest.raises(ValueError, match="There are 2 names for 7 features"):
        sm.reading.tree_nodes(tree, ["one", "two"])
    with pytest.raises(TypeError, match="A fitted estimator is needed"):
        sm.reading.tree_nodes("tree")


def test_flows_count_every_pair():
    rng = np.random.default_rng(0)
    before, after = rng.integers(-1, 3, size=200), rng.integers(-1, 5, size=200)
    found = {(one.before, one.after): one.n_documents for one in sm.reading.flows(before, after)}
    for k in range(3):
        for j in range(5):
            assert found.get((k, j), 0) == np.sum((before == k) & (after == j))
    assert sum(found.values()) == np.sum((before >= 0) & (after >= 0))
    assert list(found) == sorted(found)

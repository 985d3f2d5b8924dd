"""The table of a tree's nodes, their words, and flows between levels."""

from __future__ import annotations

import numpy as np
import pytest

import spheremix as sm
from spheremix.hierarchy import Hierarchy
from spheremix.reading.tree import describe_nodes
from spheremix.resultants import Resultants

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


def two_leaves(sums, sizes):
    leaves = Resultants(np.array(sizes), np.asarray(sums), 0.0, 0.0, float(sum(sizes)))
    return Hierarchy(leaves, np.arange(2), np.array([[0, 1]]), np.array([-9.0, -5.0]))


def test_words_are_ranked_by_the_formula_of_groups():
    """Coordinate to the power 1.5 times the share of the word, if a row has more of it."""
    sums = np.array([[3.0, 4.0, 1.0, 0.5], [1.0, 9.0, 0.1, 3.0]])
    tree = two_leaves(sums, [2.0, 4.0])
    nodes = describe_nodes(tree, ["a", "b", "c", "d"], sums)
    weights = sums[0] / np.sqrt(sums[0] @ sums[0])
    scores = weights**1.5 * sums[0] / sums.sum(axis=0)
    more = sums[0] / 2.0 > sums[1] / 4.0
    expected = [w for _, w in sorted(zip(-scores, "abcd", strict=True)) if more["abcd".index(w)]]
    assert expected == ["a", "c"]  # a row has less of b (2 against 2.25) and of d
    assert nodes[0].against_sibling == nodes[0].against_rest == ("a", "c")
    assert nodes[1].against_sibling == ("b", "d")
    assert nodes[2].against_rest == ("b", "a", "d", "c")
    assert [node.name for node in nodes] == ["a · c", "b · d", "all"]


def test_names_have_words_of_many_documents_and_no_word_twice():
    words = ["rare", "often", "oftener", "some", "other"]
    sums = np.array([[5.0, 4.0, 3.9, 3.0, 0.0], [0.0, 0.0, 0.0, 0.0, 5.0]])
    containing = np.array([[3, 90, 80, 60, 0], [0, 0, 0, 0, 70]])
    tree = two_leaves(sums, [100.0, 100.0])
    assert describe_nodes(tree, words, sums)[0].name == "rare · often · some"
    named = describe_nodes(tree, words, sums, containing=containing)
    assert named[0].name == "often · some · rare"
    assert named[0].against_sibling[0] == "rare"


def test_nodes_of_a_tree_have_names_of_their_own():
    """Two far nodes are told from their siblings by the same words."""
    words = ["beef", "coffee", "bottle", "north", "south", "wine", "tea", "milk"]
    left = [[4.0, 3.0, 2.0, 9.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 9.0, 0.0, 0.1, 5.0, 0.0]]
    right = [[4.0, 3.0, 2.0, 0.0, 9.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 9.0, 0.1, 0.0, 5.0]]
    sums = np.array([*left, *right])
    leaves = Resultants(np.full(4, 10.0), sums, 0.0, 0.0, 40.0)
    pairs, values = np.array([[0, 1], [2, 3], [4, 5]]), np.array([-9.0, -8.0, -7.0, -5.0])
    tree = Hierarchy(leaves, np.arange(4), pairs, values)
    names = [node.name for node in describe_nodes(tree, words, sums)]
    assert names[2] == "beef · coffee · bottle"
    assert names[0] == "beef · coffee · wine"
    given = describe_nodes(tree, words, sums, given={3: "beef · coffee · bottle"})
    assert len({node.name for node in given}) == len(given)


def test_names_of_siblings_share_one_word_at_most():
    """Negative coordinates count by their size, so that both nodes may have the same words."""
    rng = np.random.default_rng(0)
    sums = rng.normal(size=(2, 12))
    words = [f"w{j}" for j in range(12)]
    nodes = describe_nodes(two_leaves(sums, [5.0, 7.0]), words, sums)
    first, second = (set(node.name.split(" · ")) for node in nodes[:2])
    assert len(first & second) <= 1
    assert len(first) == len(second) == 3


def test_words_that_hardly_any_other_document_has():
    words = ["only", "rare", "most", "both"]
    sums = np.array([[5.0, 0.1, 4.0, 4.0], [0.0, 0.0, 0.5, 6.0]])
    containing = np.array([[40, 4, 19, 60], [0, 0, 1, 90]])
    nodes = describe_nodes(two_leaves(sums, [100.0, 100.0]), words, sums, containing=containing)
    assert nodes[0].only_here == ("only", "most")  # 4 of 100 are too few; 19 of 20 are enough
    assert nodes[1].only_here == nodes[2].only_here == ()
    containing[:, 2] = 18, 2
    nodes = describe_nodes(two_leaves(sums, [100.0, 100.0]), words, sums, containing=containing)
    assert nodes[0].only_here == ("only",)


def test_names_of_columns(tree):
    assert sm.reading.tree_nodes(tree)[0].against_rest[0].startswith("x")
    with pytest.raises(ValueError, match="feature_names has 2 names, the model 7 features"):
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

"""A tree of merged clusters: losses by brute force, the greedy choice, SciPy's format."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster import hierarchy as scipy_hierarchy
from tree_common import classification_likelihood, resultants_of, themes

from spheremix.bessel import concentration
from spheremix.hierarchy import build, largest_jump
from spheremix.merging import merge
from spheremix.models.vmf import VMFModel
from spheremix.resultants import Resultants

D = 20


def model(kappa="shared", d=D):
    return VMFModel(d, kappa, kappa_max=float(concentration(d, 1 - 1e-6)))


def planted(kappa="shared", *, weighted=True, seed=0, **shape):
    rows, _, topics = themes(seed=seed, **shape)
    rng = np.random.default_rng(seed)
    weights = rng.exponential(size=len(rows)) if weighted else np.ones(len(rows))
    return rows, topics, weights, build(model(kappa), resultants_of(rows, topics, weights))


def labels_at(tree, topics, K):
    """Return the clusters of the rows in a cut."""
    leaf = np.argsort(tree.origins)[topics]
    return tree.nodes_of(K)[1][leaf]


@pytest.mark.parametrize("kappa", ["shared", "free", 25.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_losses_are_differences_of_classification_likelihoods(kappa, weighted):
    rows, topics, weights, tree = planted(kappa, weighted=weighted)
    brute = [
        classification_likelihood(rows, labels_at(tree, topics, K), weights, kappa)
        for K in range(1, tree.n_leaves + 1)
    ]
    assert_allclose(tree.values, brute, rtol=1e-9)
    assert_allclose(tree.losses, np.diff(brute)[::-1], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kappa", ["free", 25.0])
def test_each_merge_is_the_cheapest_of_all_pairs(kappa):
    """Without a concentration that all share, the loss of a pair is a difference of likelihoods."""
    rows, topics, weights, tree = planted(kappa, n_topics=2)
    for K in range(tree.n_leaves, 1, -1):
        now = labels_at(tree, topics, K)
        before = classification_likelihood(rows, now, weights, kappa)
        losses = [
            before - classification_likelihood(rows, np.where(now == b, a, now), weights, kappa)
            for a, b in itertools.combinations(range(K), 2)
        ]
        assert_allclose(tree.losses[tree.n_leaves - K], min(losses), rtol=1e-6, atol=1e-6)


def test_a_shared_concentration_is_estimated_anew():
    """The pair is chosen with the concentration of the clusters that are left."""
    rows, topics, weights, tree = planted("shared", n_topics=2)
    for K in range(tree.n_leaves, 1, -1):
        left = resultants_of(rows, labels_at(tree, topics, K), weights)
        step = merge(left, model().cluster_value(left), K - 1)
        after = labels_at(tree, topics, K - 1)
        assert_array_equal(
            np.unique(np.stack([labels_at(tree, topics, K), after]), axis=1).shape[1], K
        )
        a, b = step.pairs[0]
        now = labels_at(tree, topics, K)
        assert len(np.unique(after[(now == a) | (now == b)])) == 1


def test_the_linkage_is_scipy_s():
    _, _, weights, tree = planted()
    M, linkage = tree.n_leaves, tree.linkage
    assert scipy_hierarchy.is_valid_linkage(linkage, throw=True)
    assert scipy_hierarchy.is_monotonic(linkage)
    assert_array_equal(scipy_hierarchy.leaves_list(linkage), np.arange(M))  # nothing crosses
    heights = linkage[:, 2]
    between = [t for t in range(1, M - 1) if heights[t - 1] < heights[t]]
    assert len(between) >= 4
    for t in between:  # a cut above the first t merges, by its height
        middle = (heights[t - 1] + heights[t]) / 2
        theirs = scipy_hierarchy.fcluster(linkage, middle, "distance")
        assert len(np.unique(np.stack([theirs, tree.nodes_of(M - t)[1]]), axis=1).T) == M - t
    assert_allclose(tree.every_node()[0][-1], weights.sum())
    assert scipy_hierarchy.cophenet(linkage).shape == (M * (M - 1) // 2,)


def test_heights_never_fall_where_losses_do():
    """Three directions at equal angles: the third is nearer to the first two than they were."""
    angles = np.array([0.0, 2 * np.pi / 3, -2 * np.pi / 3])
    vectors = np.stack([0.3 * np.cos(angles), 0.3 * np.sin(angles), np.full(3, 0.95)], axis=1)
    leaves = Resultants(np.full(3, 10.5), 10.0 * vectors, 0.0, 0.0, 31.5)
    tree = build(model(100.0, d=3), leaves)
    assert 0.0 < tree.losses[1] < tree.losses[0]
    assert_array_equal(tree.linkage[:, 2], tree.losses[0])


def test_nodes_add_up_and_cuts_are_nested():
    rows, topics, weights, tree = planted(seed=3)
    mass, vectors = tree.every_node()
    for K in range(1, tree.n_leaves + 1):
        nodes, clusters = tree.nodes_of(K)
        assert_array_equal(np.unique(clusters), np.arange(K))
        assert np.all(np.diff(clusters) >= 0)  # from left to right
        cut = tree.cut(K)
        assert_allclose(cut.mass, mass[nodes])
        assert_allclose(cut.vectors, vectors[nodes], atol=1e-12)
        sums = resultants_of(rows, labels_at(tree, topics, K), weights)
        assert_allclose(cut.vectors, sums.vectors, atol=1e-9)
    parents = tree.parents
    assert parents[-1] == -1
    for t, pair in enumerate(tree.pairs):
        assert_array_equal(parents[pair], tree.n_leaves + t)


def test_rows_that_cancel_out_have_a_root():
    vectors = np.zeros((2, D))
    vectors[0, 0], vectors[1, 0] = 5.0, -5.0
    tree = build(model(), Resultants(np.full(2, 6.0), vectors, 0.0, 0.0, 12.0))
    uniform = classification_likelihood(
        np.eye(2, D), np.zeros(2, dtype=int), np.full(2, 6.0), np.exp(-20.0)
    )
    assert_allclose(tree.values[0], uniform, rtol=1e-6)


def test_the_largest_jump():
    assert largest_jump(np.array([1.0, 1.1, 1.2, 9.0, 10.0])) == 3
    assert largest_jump(np.array([1.0, 1.1, 1.2, 5.0, 20.0])) == 3
    assert largest_jump(np.array([5.0])) == 2
    # The first merges cost nothing: how many times more the next one costs means nothing.
    assert largest_jump(np.array([-0.1, 1e-9, 0.2, 7.0, 8.0])) == 3
    assert largest_jump(np.array([-0.3, -0.2, -0.1])) == 2


@pytest.mark.parametrize("kappa", ["shared", "free", 25.0])
def test_groups_are_a_cut_whatever_merging_across_them_would_cost(kappa):
    rows, chosen, topics = themes()
    weights, groups = np.ones(len(rows)), np.arange(9) % 3  # topics of all themes in each group
    tree = build(model(kappa), resultants_of(rows, topics, weights), groups)
    assert_array_equal(groups[topics], groups[tree.origins][np.argsort(tree.origins)[topics]])
    found = labels_at(tree, topics, 3)
    assert len(np.unique(np.stack([found, groups[topics]]), axis=1).T) == 3
    assert len(np.unique(np.stack([found, chosen]), axis=1).T) == 9
    brute = [
        classification_likelihood(rows, labels_at(tree, topics, K), weights, kappa)
        for K in range(1, 10)
    ]
    assert_allclose(tree.values, brute, rtol=1e-9)
    if kappa == "shared":  # then the choice is made with a concentration that is held
        return
    for K in range(9, 3, -1):
        now = labels_at(tree, topics, K)
        owner = {k: groups[topics[now == k][0]] for k in range(K)}
        losses = [
            brute[K - 1]
            - classification_likelihood(rows, np.where(now == b, a, now), weights, kappa)
            for a, b in itertools.combinations(range(K), 2)
            if owner[a] == owner[b]
        ]
        assert_allclose(tree.losses[9 - K], min(losses), rtol=1e-6, atol=1e-6)


def test_values_of_leaves_add_up_along_the_tree():
    _, topics, _, tree = planted(weighted=False)
    sizes = tree.added_up(np.bincount(topics)[tree.origins])
    assert_array_equal(sizes, tree.every_node()[0])
    assert sizes[-1] == len(topics)

"""Fine groups inside clusters that are given, and the tree over them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from tree_common import classification_likelihood, resultants_of, themes

import spheremix as sm
from spheremix.estimators import cluster_tree
from spheremix.estimators.cluster_tree import FEW, absorb, tree_inside
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.problem import build_problem


def problem_of(rows, weights=None, **parameters):
    mixture = sm.VMFMixture(1, **{"n_threads": 1, **parameters})
    return build_problem(MixtureOptions.of(mixture), rows, weights)


@pytest.fixture(scope="module")
def planted():
    return themes()


@pytest.mark.parametrize("kappa", ["shared", "free"])
def test_planted_topics_are_found_inside_their_themes(planted, kappa):
    rows, chosen, topics = planted
    found = tree_inside(problem_of(rows, kappa=kappa), chosen, 9, 0)
    assert found.hierarchy.n_leaves == 9
    assert adjusted_rand_score(found.leaves, topics) == 1.0
    assert_array_equal(found.clusters[found.leaves], chosen)


@pytest.mark.parametrize("n_leaves", [3, 5, 7, 20])
def test_the_clusters_are_one_of_the_cuts(planted, n_leaves):
    rows, chosen, _ = planted
    weights = np.ones(len(rows))
    tree = tree_inside(problem_of(rows), chosen, n_leaves, 0)
    assert tree.hierarchy.n_leaves <= n_leaves
    nodes, groups = tree.hierarchy.nodes_of(3)
    assert adjusted_rand_score(groups[tree.leaves], chosen) == 1.0
    mass, vectors = tree.hierarchy.every_node()
    wanted = resultants_of(rows, groups[tree.leaves], weights)
    assert_allclose(mass[nodes], wanted.mass)
    assert_allclose(vectors[nodes], wanted.vectors, rtol=1e-9, atol=1e-9)
    sizes = np.bincount(tree.leaves)
    assert_array_equal(sizes, tree.hierarchy.leaves.mass)
    assert sizes.min() >= FEW
    for K in (1, 3, tree.hierarchy.n_leaves):
        labels = tree.hierarchy.nodes_of(K)[1][tree.leaves]
        expected = classification_likelihood(rows, labels, weights, "shared")
        assert_allclose(tree.hierarchy.values[K - 1], expected, rtol=1e-9)


def test_wrong_clusters_stay_as_they_are(planted):
    """Nothing moves across the borders of the clusters, however bad they are."""
    rows, _, _ = planted
    labels = np.arange(len(rows)) % 4
    tree = tree_inside(problem_of(rows), labels, 8, 0)
    assert_array_equal(tree.clusters[tree.leaves], labels)
    assert tree.hierarchy.n_leaves == 8


def test_rows_of_no_cluster_are_left_out(planted):
    rows, chosen, topics = planted
    labels = np.where(np.arange(len(rows)) % 5 == 0, -1, 2 * chosen)  # clusters 1 and 3 are empty
    tree = tree_inside(problem_of(rows), labels, 9, 0)
    kept = labels >= 0
    assert_array_equal(tree.leaves < 0, ~kept)
    assert_array_equal(tree.clusters[tree.leaves[kept]], labels[kept])
    assert adjusted_rand_score(tree.leaves[kept], topics[kept]) == 1.0


def test_small_clusters_and_equal_rows_are_one_group(planted):
    rows, chosen, _ = planted
    rows = rows.copy()
    rows[chosen == 0] = rows[0]
    labels = chosen.copy()
    labels[np.flatnonzero(chosen == 1)[: 2 * FEW - 1]] = 3
    tree = tree_inside(problem_of(rows), labels, 12, 0)
    counts = np.bincount(tree.clusters, minlength=4)
    assert (counts[0], counts[3]) == (1, 1)
    assert counts[1] > 1
    assert counts[2] > 1


def test_groups_that_are_too_small_go_where_they_lose_least():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 5))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = np.repeat([0, 1, 2, 3, 4], [20, 3, 17, 2, 18])
    owners = np.array([0, 0, 0, 1, 1])
    sums, model = resultants_of(rows, labels, np.ones(60)), problem_of(rows, kappa=9.0).model
    kept = absorb(model, sums, owners)
    assert kept[3] == kept[4]
    assert len(set(kept[:3])) == 2
    values = [
        classification_likelihood(rows, np.where(labels == 1, other, labels), np.ones(60), 9.0)
        for other in (0, 2)
    ]
    assert kept[1] == (kept[0] if values[0] > values[1] else kept[2])


@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_same_bits_for_any_number_of_threads_and_parts(planted, n_threads, monkeypatch):
    rows, chosen, _ = planted
    expected = tree_inside(problem_of(rows), chosen, 7, 5)
    if n_threads == 1:
        monkeypatch.setattr(cluster_tree, "BATCH_WEIGHTS", len(rows))  # one cluster at a time
    found = tree_inside(problem_of(rows, n_threads=n_threads), chosen, 7, 5)
    assert_array_equal(found.leaves, expected.leaves)
    if n_threads > 1:
        assert_array_equal(found.hierarchy.values, expected.hierarchy.values)


def test_weights_and_sparse_rows(planted):
    rows, chosen, topics = planted
    weights = 1.0 + np.arange(len(rows)) % 3
    tree = tree_inside(problem_of(sparse.csr_array(rows), weights), chosen, 9, 0)
    assert adjusted_rand_score(tree.leaves, topics) == 1.0
    assert_allclose(tree.hierarchy.leaves.mass.sum(), weights.sum())


def test_rows_without_weight_change_nothing(planted):
    rows, chosen, _ = planted
    expected = tree_inside(problem_of(rows), chosen, 7, 0)
    more = np.concatenate([rows, rows[:30], rows[:5]])
    labels = np.concatenate([chosen, chosen[:30], np.full(5, 3)])  # cluster 3 has no weight
    weights = np.repeat([1.0, 0.0], [len(rows), 35])
    found = tree_inside(problem_of(more, weights), labels, 7, 0)
    assert_array_equal(np.unique(found.clusters), np.unique(chosen))
    assert_array_equal(found.leaves[: len(rows)], expected.leaves)
    assert_array_equal(found.leaves[len(rows) : len(rows) + 30], expected.leaves[:30])
    assert_array_equal(found.leaves[-5:], -1)
    assert_allclose(found.hierarchy.leaves.mass, expected.hierarchy.leaves.mass)


def test_a_group_that_keeps_only_rows_without_weight_gives_them_to_another(planted):
    rows, chosen, _ = planted
    problem = problem_of(rows, np.where(np.arange(len(rows)) < 4, 0.0, 1.0))
    leaves, owners = np.where(np.arange(len(rows)) < 4, 1, 2 * chosen), np.array([0, 0, 1, 1, 2, 2])
    leaves[:4] = 1
    tree = cluster_tree._grown(problem, leaves, owners[[0, 1, 2, 2, 4, 4]], np.arange(3))
    assert tree.leaves.min() >= 0
    assert_array_equal(tree.clusters[tree.leaves[:4]], 0)


def test_groups_of_all_clusters_are_scored_in_one_reading(planted, monkeypatch):
    rows, chosen, _ = planted
    problem = problem_of(rows)
    expected = tree_inside(problem, chosen, 9, 0)
    readings = []
    scored = type(problem.directions).map_rows

    def counted(self, scorer, want):
        readings.append(want)
        return scored(self, scorer, want)

    monkeypatch.setattr(type(problem.directions), "map_rows", counted)
    assert_array_equal(tree_inside(problem, chosen, 9, 0).leaves, expected.leaves)
    assert readings.count("scores") == 1
    assert "labels" not in readings
    monkeypatch.setattr(cluster_tree, "SCORES", 1)  # one cluster at a time
    assert_array_equal(tree_inside(problem, chosen, 9, 0).leaves, expected.leaves)
    assert readings.count("scores") == 4

"""Merging: losses by brute force, the greedy choice, and what is left of the clusters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tree_common import classification_likelihood, resultants_of

from spheremix.bessel import concentration
from spheremix.merging import TILE, merge
from spheremix.models.skmeans import SphericalKMeansModel
from spheremix.models.vmf import VMFModel
from spheremix.resultants import Resultants, merged_resultants
from spheremix.vectors import as_dense, as_sparse

D = 6


def partition(n_clusters, seed=0, noise=0.7):
    """Return unit rows, their clusters and weights, and the resultants."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(n_clusters), 7)
    rows = rng.normal(size=(n_clusters, D))[labels] + noise * rng.normal(size=(len(labels), D))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    weights = rng.exponential(size=len(labels))
    return rows, labels, weights, resultants_of(rows, labels, weights)


def model(kappa):
    return VMFModel(D, kappa, kappa_max=float(concentration(D, 1 - 1e-6)))


@pytest.mark.parametrize("kappa", ["shared", "free", 12.0])
def test_losses_are_differences_of_classification_likelihoods(kappa):
    rows, labels, weights, resultants = partition(5)
    vmf = model(kappa)
    value = vmf.cluster_value(resultants)
    lengths = np.linalg.norm(resultants.vectors, axis=1)
    held = kappa
    if kappa == "shared":  # held where all five clusters have it
        held = float(concentration(D, lengths.sum() / resultants.weight))
    before = classification_likelihood(rows, labels, weights, held)
    total = resultants.weight * np.log(resultants.weight)
    assert_allclose(value(resultants.mass, lengths).sum() - total, before, rtol=1e-9)
    found = merge(resultants, value, 1)
    losses = {}
    for a in range(5):
        for b in range(a + 1, 5):
            joint = np.where(labels == b, a, labels)
            after = classification_likelihood(rows, joint, weights, held)
            losses[a, b] = before - after
    assert tuple(found.pairs[0]) == min(losses, key=losses.get)
    assert_allclose(found.losses[0], min(losses.values()), rtol=1e-6)


@pytest.mark.parametrize("kappa", ["shared", "free", 12.0, None])
def test_every_merge_is_the_best_one_of_all_pairs(kappa):
    _, _, _, resultants = partition(12, seed=3)
    of = SphericalKMeansModel() if kappa is None else model(kappa)
    value = of.cluster_value(resultants)
    found = merge(resultants, value, 2)
    groups = {k: [k] for k in range(12)}

    def worth(members):
        mass = resultants.mass[members].sum(keepdims=True)
        return value(
            mass, np.linalg.norm(resultants.vectors[members].sum(axis=0, keepdims=True), axis=1)
        )[0]

    for (a, b), loss in zip(found.pairs, found.losses, strict=True):
        losses = {
            (i, j): worth(groups[i]) + worth(groups[j]) - worth(groups[i] + groups[j])
            for i in groups
            for j in groups
            if i < j
        }
        assert_allclose(loss, min(losses.values()), rtol=1e-9, atol=1e-9)
        assert_allclose(losses[a, b], loss, rtol=1e-9, atol=1e-9)
        groups[a] += groups.pop(b)
    assert sorted(map(sorted, groups.values())) == sorted(
        np.flatnonzero(found.labels == k).tolist() for k in range(2)
    )


@pytest.mark.parametrize("kappa", ["shared", "free", 12.0])
def test_merging_all_the_way_gives_one_cluster_in_closed_form(kappa):
    rows, _, weights, resultants = partition(9, seed=1)
    vmf = model(kappa)
    value = vmf.cluster_value(resultants)
    found = merge(resultants, value, 1)
    one = merged_resultants(resultants, found.labels)
    assert_allclose(one.vectors[0], weights @ rows, rtol=1e-12)
    assert_allclose(one.mass, [weights.sum()], rtol=1e-12)
    length = np.linalg.norm(weights @ rows)
    lengths = np.linalg.norm(resultants.vectors, axis=1)
    whole = value(resultants.mass, lengths).sum() - found.losses.sum()
    assert_allclose(whole, value(one.mass, np.array([length]))[0], rtol=1e-10)
    parameters = vmf.from_partition(one)
    own = 12.0 if kappa == 12.0 else float(concentration(D, length / weights.sum()))
    assert_allclose(parameters.kappas, own, rtol=1e-9)
    assert_allclose(parameters.prototypes[0], weights @ rows / length, rtol=1e-12)


def test_merged_resultants_add_up_and_are_numbered_by_first_members():
    _, _, _, resultants = partition(8, seed=5)
    found = merge(resultants, model("shared").cluster_value(resultants), 3)
    assert_array_equal(found.labels[np.unique(found.labels, return_index=True)[1]], [0, 1, 2])
    assert_array_equal(
        np.sort(np.unique(found.labels, return_index=True)[1]),
        np.unique(found.labels, return_index=True)[1],
    )
    less = merged_resultants(resultants, found.labels)
    for k in range(3):
        assert_allclose(less.vectors[k], resultants.vectors[found.labels == k].sum(axis=0))
    assert_allclose(less.mass.sum(), resultants.mass.sum())
    assert merge(resultants, model("shared").cluster_value(resultants), 8).losses.size == 0


def test_products_in_tiles_are_products():
    """More clusters and columns than a tile has."""
    rng = np.random.default_rng(0)
    n, d = TILE + 9, 2 * TILE + 5
    vectors = rng.normal(size=(n, d))
    resultants = Resultants(rng.exponential(size=n) + 1, vectors, 0.0, 0.0, float(n))
    found = merge(resultants, SphericalKMeansModel().cluster_value(resultants), n - 1)
    lengths = np.linalg.norm(vectors, axis=1)
    joint = np.linalg.norm(vectors[:, None] + vectors, axis=2)
    losses = lengths[:, None] + lengths - joint
    np.fill_diagonal(losses, np.inf)
    assert_allclose(found.losses[0], losses.min(), rtol=1e-12)
    assert tuple(found.pairs[0]) == np.unravel_index(losses.argmin(), losses.shape)


@pytest.mark.parametrize("of", [SphericalKMeansModel(), VMFModel(60, "shared")])
def test_sparse_clusters_are_merged_as_dense_ones(of):
    rng = np.random.default_rng(1)
    vectors = np.where(rng.random((40, 60)) < 0.2, rng.exponential(size=(40, 60)), 0.0)
    vectors[:, 0] += 1.0
    mass = np.linalg.norm(vectors, axis=1) + rng.exponential(size=40)
    dense = Resultants(mass, vectors, 0.0, 0.0, float(mass.sum()))
    thin = replace(dense, vectors=as_sparse(vectors))
    found, expected = (merge(one, of.cluster_value(one), 5) for one in (thin, dense))
    assert_array_equal(found.pairs, expected.pairs)
    assert_allclose(found.losses, expected.losses, rtol=1e-9)
    merged = merged_resultants(thin, found.labels)
    assert_allclose(as_dense(merged.vectors), merged_resultants(dense, found.labels).vectors)


@pytest.mark.parametrize(
    ("mass", "n_clusters", "words"),
    [([1.0, 2.0], 3, "2 clusters cannot be merged to 3"), ([1.0, 2.0], 0, "merged to 0"),
     ([1.0, 0.0], 1, "without mass")],
)  # fmt: skip
def test_what_cannot_be_merged_is_refused(mass, n_clusters, words):
    clusters = Resultants(np.array(mass), np.eye(2, 3), 0.0, 0.0, 3.0)
    value = SphericalKMeansModel().cluster_value(clusters)
    with pytest.raises(ValueError, match=words):
        merge(clusters, value, n_clusters)


def test_groups_are_kept_apart():
    """Within groups the cheapest pairs are merged; a pair of two groups never is."""
    _, _, _, sums = partition(9)
    groups = np.array([0, 1, 2] * 3)
    value = model(20.0).cluster_value(sums)
    for n in (3, 5, 8):
        found = merge(sums, value, n, groups=groups)
        assert len(np.unique(found.labels)) == n
        assert all(groups[a] == groups[b] for a, b in found.pairs)
    lengths = np.linalg.norm(sums.vectors, axis=1)
    own = value(sums.mass, lengths)
    cheapest = min(
        own[a]
        + own[b]
        - value(
            sums.mass[[a]] + sums.mass[b],
            np.linalg.norm(sums.vectors[[a]] + sums.vectors[b], axis=1),
        )[0]
        for a in range(9)
        for b in range(a)
        if groups[a] == groups[b]
    )
    assert_allclose(merge(sums, value, 8, groups=groups).losses, [cheapest])
    with pytest.raises(ValueError, match="9 clusters cannot be merged to 2"):
        merge(sums, value, 2, groups=groups)


def test_renewed_values_are_those_of_the_clusters_left():
    """With a concentration estimated anew, a long merging is many short ones."""
    _, _, _, sums = partition(8)
    of = model("shared")

    def renew(mass, lengths):
        return of.cluster_value(Resultants(mass, lengths[:, None], 0.0, 0.0, float(mass.sum())))

    found = merge(sums, of.cluster_value(sums), 2, renew=renew)
    left, losses = sums, []
    for n in range(7, 1, -1):
        step = merge(left, of.cluster_value(left), n)
        losses.append(step.losses[0])
        left = merged_resultants(left, step.labels)
    assert_allclose(found.losses, losses, rtol=1e-9)
    assert not np.allclose(found.losses, merge(sums, of.cluster_value(sums), 2).losses)

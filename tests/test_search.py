"""The search for partitions: what it raises, what it finds, and what becomes of odd data."""

from __future__ import annotations

import numpy as np
import pytest
from moved_common import documents, opened
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score
from tree_common import classification_likelihood

from spheremix import em, search, seeding
from spheremix.bessel import concentration
from spheremix.data import moved
from spheremix.data.open import as_directions
from spheremix.models.skmeans import SphericalKMeansModel
from spheremix.models.vmf import VMFModel
from spheremix.scorer import Scorer
from spheremix.search import Search
from spheremix.vectors import as_dense, is_sparse

D = 12


def planted(n_clusters=8, n=40, noise=0.35, seed=0):
    """Return rows around random directions, in groups of unequal sizes, and their groups."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(n_clusters), rng.integers(n // 2, 2 * n, size=n_clusters))
    centres = rng.normal(size=(n_clusters, D))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    rows = centres[labels] + noise * rng.normal(size=(len(labels), D))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True), labels


def model(kappa="shared", d=D):
    return VMFModel(d, kappa, kappa_max=float(concentration(d, 1 - 1e-6)))


def labels_by(directions, found, of):
    parameters = of.from_partition(found.resultants)
    return directions.map_rows(of.scorer(parameters, "hard"), "labels")


@pytest.mark.parametrize("kappa", ["shared", 30.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_refinement_raises_the_value_and_says_by_how_much(kappa, weighted):
    rows, _ = planted(noise=0.6)
    rng = np.random.default_rng(1)
    weights = rng.exponential(size=len(rows)) if weighted else None
    directions, of = as_directions(rows), model(kappa)
    prototypes = directions.take(rng.choice(len(rows), 6, replace=False))
    scorer = Scorer(prototypes, np.zeros(6), 0.0, "hard")
    [start] = directions.sweep([scorer], weights)
    first = directions.map_rows(scorer, "labels")
    ones = np.ones(len(rows)) if weights is None else weights
    [found] = Search(of, directions, weights).refined([start])
    assert_allclose(found.resultants.mass.sum(), ones.sum())
    assert found.value > classification_likelihood(rows, first, ones, kappa) + 1.0
    # The partition is not told, but its value is that of its resultants.
    lengths = np.linalg.norm(found.resultants.vectors, axis=1)
    worth = of.cluster_value(found.resultants)(found.resultants.mass, lengths).sum()
    assert_allclose(found.value, worth - ones.sum() * np.log(ones.sum()), rtol=1e-10)


def test_refinement_goes_beyond_where_lloyd_stops():
    """A partition that no hard step changes is left where one row by itself would gain."""
    rows, _ = planted(n=15, noise=0.8)
    directions, of = as_directions(rows), SphericalKMeansModel()
    gained = 0
    for seed in range(10):
        [start] = seeding.draw_starts(of, directions, 8, [seed])
        [stuck] = em.fit(of, directions, [start], em.Settings(tol=1e-13, e_step="hard"))
        assert stuck.status == "converged"
        [found] = Search(of, directions, tol=1e-9).refined([stuck.resultants])
        assert found.value >= stuck.objective - 1e-9
        gained += found.value > stuck.objective + 1e-6
    assert gained >= 5


@pytest.mark.parametrize("of", [model(), model(30.0), SphericalKMeansModel()])
def test_a_search_finds_what_random_starts_miss(of):
    """Twenty groups: a random start has two rows in one group, and none in another."""
    rows, groups = planted(n_clusters=20, n=15, noise=0.15)
    directions = as_directions(rows)
    settings = em.Settings(e_step="hard")
    starts = seeding.draw_starts(of, directions, 20, list(range(10)))
    fits = em.fit(of, directions, [start for start in starts if start is not None], settings)
    missed = max(fit.objective for fit in fits if fit.ok)
    [found] = Search(of, directions).run([20], list(range(5)))
    best = max(found, key=lambda one: one.value)
    assert adjusted_rand_score(groups, labels_by(directions, best, of)) > 0.95
    assert best.value > missed + 1.0


def test_runs_and_crossings_are_told_apart():
    rows, _ = planted(noise=0.7)
    [found] = Search(model(), as_directions(rows)).run([6], [3, 1, 4, 1, 5])
    assert [one.start for one in found] == ["merge"] * 5 + ["cross"] * 4
    assert [one.seed for one in found] == [3, 1, 4, 1, 5, None, None, None, None]
    assert found[1].value == pytest.approx(found[3].value, rel=1e-12)
    assert [one.parents for one in found[:5]] == [()] * 5
    assert found[5].parents == (0, 1)
    assert found[6].parents == (2, 3)
    for one in found:
        assert one.value >= one.first_value
        assert one.resultants.mass.shape == (6,)
        assert_allclose(one.resultants.mass.sum(), len(rows))


def test_weights_are_repetition():
    """A row of weight two moves as one: another search, but the same value of a partition."""
    rows, _ = planted(n_clusters=4, n=8, noise=0.5)
    counts = np.random.default_rng(0).integers(0, 4, size=len(rows))
    directions, of = as_directions(rows), model()
    [[found]] = Search(of, directions, counts.astype(float)).run([4], [0])
    labels = np.repeat(labels_by(directions, found, of), counts)
    expected = classification_likelihood(
        np.repeat(rows, counts, axis=0), labels, np.ones(counts.sum()), "shared"
    )
    assert_allclose(found.value, expected, rtol=1e-6)


def test_rows_of_weight_zero_are_nobody():
    rows, _ = planted(n_clusters=4, n=8)
    weights = np.zeros(len(rows))
    weights[:6] = 1.0
    [found] = Search(model(), as_directions(rows), weights).run([3], [0, 1])
    for one in found:
        assert_allclose(one.resultants.mass.sum(), 6.0)


@pytest.mark.parametrize("size", [9, 10])
def test_as_many_clusters_as_rows_or_nearly(size):
    rows = np.random.default_rng(0).normal(size=(10, D))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    [found] = Search(SphericalKMeansModel(), as_directions(rows)).run([size], [0, 1])
    assert all(one is not None for one in found)
    masses = np.sort(max(found, key=lambda one: one.value).resultants.mass)
    assert_array_equal(masses, np.ones(size) if size == 10 else [1.0] * 8 + [2.0])


def test_duplicates():
    distinct = np.random.default_rng(0).normal(size=(5, D))
    distinct /= np.linalg.norm(distinct, axis=1, keepdims=True)
    directions = as_directions(np.repeat(distinct, 10, axis=0))
    [found] = Search(model(), directions).run([5], [0, 1, 2])
    assert any(one is not None for one in found)
    for one in found:
        if one is not None:
            assert_array_equal(one.resultants.mass, np.full(5, 10.0))
    [found] = Search(model(), directions).run([6], [0, 1])
    assert found == [None, None]


def test_rows_that_cancel_out_give_nothing():
    rows = np.array([[1.0, 0.0], [-1.0, 0.0]])
    for of in (model(d=2), SphericalKMeansModel()):
        assert Search(of, as_directions(rows)).run([1], [0]) == [[None]]


def test_given_concentrations_go_to_the_clusters_they_fit():
    rng = np.random.default_rng(0)
    tight, loose = (np.eye(D)[k] + s * rng.normal(size=(50, D)) for k, s in ((0, 0.05), (1, 0.6)))
    rows = np.concatenate([loose, tight])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    of = model(np.array([500.0, 5.0]))
    first, *others = of.for_search()
    assert (first.kappa, others) == ("shared", [])
    [[found]] = Search(first, as_directions(rows)).run([2], [0])
    parameters = of.from_partition(found.resultants)
    assert_array_equal(parameters.kappas, [500.0, 5.0])
    assert parameters.prototypes[0, 0] > 0.99


def test_free_concentrations_are_searched_with_one_for_all_first():
    """With its own kappa a single row would be worth more than any cluster."""
    first, second = model("free").for_search()
    assert (first.kappa, second.kappa) == ("shared", "free")
    rows, _ = planted(n_clusters=3, noise=0.5)
    directions = as_directions(rows)
    [found] = Search(first, directions).run([3], [0, 1])
    better = Search(second, directions).improved(found)
    for one in better:
        assert one.value >= one.first_value
        assert one.resultants.mass.min() > 5


def test_large_numbers_of_clusters_begin_with_fewer_more(monkeypatch):
    rows, _ = planted(n_clusters=8)
    monkeypatch.setattr(search, "MOST_MERGED", 10)
    drawn = Search(model(), as_directions(rows))
    rng = np.random.default_rng(0)
    assert [len(drawn._drawn_rows(K, 0, rng)) for K in (2, 8, 20)] == [6, 10, 20]


def test_progress_is_told_after_each_sweep():
    rows, _ = planted()
    seen = []
    running = Search(model(), as_directions(rows), callback=seen.append)
    running.run([4], [0, 1])
    assert seen == list(range(1, running.n_sweeps + 1))


def test_replicates_have_weights_of_their_own_and_share_their_sweeps():
    rows, _ = planted(noise=0.7)
    directions = as_directions(rows)
    rng = np.random.default_rng(4)
    weights = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)), size=3).astype(float)
    together = Search(model(), directions, weights)
    found = together.replicates([3, 6], [7, 8, 9])
    n_sweeps = []
    for size, replicates in zip([3, 6], found, strict=True):
        for one, seed, own in zip(replicates, [7, 8, 9], weights, strict=True):
            alone = Search(model(), directions, own)
            [[expected]] = alone.run([size], [seed])
            assert_allclose(one.resultants.mass, expected.resultants.mass, rtol=1e-9)
            assert_allclose(one.value, expected.value, rtol=1e-9)
            n_sweeps.append(alone.n_sweeps)
    assert together.n_sweeps <= max(n_sweeps) + 1  # one more where a try failed
    better = Search(model(30.0), directions, weights).improved(found[1])
    for one, own in zip(better, weights, strict=True):
        assert_allclose(one.resultants.weight, own.sum())


@pytest.mark.parametrize("kind", ["k-means", "shared", "free", "given"])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_clusters_are_those_that_dense_ones_would_be(monkeypatch, kind, weighted):
    """Many clusters of sparse rows are searched for in sparse form: the same partitions."""
    rng = np.random.default_rng(3)
    X = documents(rng, n=600, d=200)
    directions, size = opened(X), 9
    weights = rng.exponential(size=600) if weighted else None
    kappas = np.linspace(20.0, 60.0, size)
    of = (
        SphericalKMeansModel()
        if kind == "k-means"
        else model({"given": kappas}.get(kind, kind), d=200)
    )

    def searched(least):
        monkeypatch.setattr(moved, "LEAST_COMPONENTS", least)
        monkeypatch.setattr(moved, "LEAST_WORK", 0.0)
        monkeypatch.setattr(moved, "SPARSE", 0.0)
        first, *others = of.for_search()
        [found] = Search(first, directions, weights).run([size], [0, 1])
        for other in others:
            found = Search(other, directions, weights).improved(found)
        return found

    dense, sparse = searched(10_000), searched(1)
    assert [one.start for one in sparse] == ["merge", "merge", "cross"]
    for one, other in zip(dense, sparse, strict=True):
        assert is_sparse(other.resultants.vectors) == (kind == "k-means")
        assert other.value == pytest.approx(one.value, rel=1e-10)
        assert_allclose(other.resultants.mass, one.resultants.mass, rtol=1e-12)
        vectors = as_dense(other.resultants.vectors)
        assert_allclose(vectors, one.resultants.vectors, atol=1e-10)
    # Only the clusters that a run begins with are many enough: then they become dense.
    for one, other in zip(dense, searched(size + 1), strict=True):
        assert other.value == pytest.approx(one.value, rel=1e-10)


@pytest.mark.parametrize("least", [9, 22])
@pytest.mark.parametrize("kind", ["k-means", "shared", "free"])
def test_sizes_searched_together_may_be_dense_and_sparse(monkeypatch, kind, least):
    """Sweeps are shared by runs of which some have clusters enough to be sparse, others not."""
    rng = np.random.default_rng(4)
    X = documents(rng, n=600, d=200)
    directions, sizes = opened(X), [4, 9]
    replicates = np.stack([np.ones(600), rng.exponential(size=600)])
    of = SphericalKMeansModel() if kind == "k-means" else model(kind, d=200)
    first, *others = of.for_search()
    monkeypatch.setattr(moved, "LEAST_WORK", 0.0)
    monkeypatch.setattr(moved, "SPARSE", 0.0)
    values = []
    for enough in (10_000, least):
        monkeypatch.setattr(moved, "LEAST_COMPONENTS", enough)
        found = Search(first, directions).run(sizes, [0, 1])
        together = [one for partitions in found for one in partitions]
        for other in others:
            together += Search(other, directions).improved(together)
        for partitions in Search(first, directions, replicates).replicates(sizes, [0, 1]):
            together += partitions
        values.append([one.value for one in together])
    assert values[1] == pytest.approx(values[0], rel=1e-10)

"""Where EM starts: Algorithm 4 and the other starts, by hand on small data."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import chisquare

from spheremix import seeding
from spheremix.data.open import as_directions
from spheremix.models.base import DegenerateError
from spheremix.models.skmeans import SphericalKMeansModel
from spheremix.models.vmf import VMFModel

KINDS = ["random", "k-means++", "spherical-k-means"]
containers = pytest.mark.parametrize("contain", [np.asarray, sparse.csr_array])


def is_row_of(X, prototype):
    return np.isclose(X @ prototype, 1.0, rtol=1e-12).any()


@containers
@pytest.mark.parametrize("weighted", [False, True])
def test_random_is_algorithm_4(clouds, contain, weighted, mean_length_oracle):
    """K rows; all rows to the nearest; weights and kappa of that partition, mu left as it is."""
    X, _ = clouds(n=60, d=6)
    weights = np.random.default_rng(0).uniform(0.5, 2, 60) if weighted else None
    base = np.ones(60) if weights is None else weights
    for kappa in ("free", "shared"):
        model = VMFModel(6, kappa)
        directions = as_directions(contain(X))
        for start in seeding.draw_starts(model, directions, 4, [3, 4, 5], weights=weights):
            assert all(is_row_of(X, mu) for mu in start.prototypes)
            assert len(np.unique(start.prototypes.round(9), axis=0)) == 4
            cosines = X @ start.prototypes.T
            nearest = cosines.argmax(axis=1)
            mass = np.bincount(nearest, base, minlength=4)
            assert_allclose(start.weights, mass / base.sum(), rtol=1e-12)
            dots = np.bincount(nearest, base * cosines.max(axis=1), minlength=4)
            means = dots / mass if kappa == "free" else np.full(4, dots.sum() / base.sum())
            # A component of its own row alone has mean length one, and the cap.
            inner = means < 1 - 1e-9
            assert_array_equal(start.kappas[~inner], model.kappa_max)
            got = [mean_length_oracle(6, kappa) for kappa in start.kappas[inner]]
            assert_allclose(got, means[inner], rtol=1e-10)


@pytest.mark.parametrize("init", KINDS)
def test_a_start_depends_on_its_own_seed_only(clouds, init):
    X, _ = clouds(n=60, d=6, noise=1.0)
    model, directions = VMFModel(6, "shared"), as_directions(X)
    many = seeding.draw_starts(model, directions, 3, [7, 8, 9], init)
    for seed, start in zip([7, 8, 9], many, strict=True):
        (alone,) = seeding.draw_starts(model, directions, 3, [seed], init)
        assert_array_equal(start.prototypes, alone.prototypes)
        assert_array_equal(start.kappas, alone.kappas)
    assert not np.array_equal(many[0].prototypes, many[1].prototypes)


@pytest.mark.parametrize("init", KINDS)
def test_rows_without_weight_are_never_drawn(clouds, init):
    X, labels = clouds(n=60, d=6)
    weights = np.where(labels == 0, 0.0, 1.0)
    model, directions = VMFModel(6, "shared"), as_directions(X)
    for start in seeding.draw_starts(model, directions, 3, list(range(10)), init, weights):
        own = (X @ start.prototypes.T).max(axis=0)
        if init == "spherical-k-means":
            assert np.all((start.prototypes @ X[labels == 0].T).max(axis=1) < 0.99)
        else:
            assert_allclose(own, 1.0, rtol=1e-12)
            assert np.all((X[labels != 0] @ start.prototypes.T).max(axis=0) > 1 - 1e-12)


def test_random_rows_are_drawn_in_proportion_to_their_weights():
    X = np.eye(4)
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    directions = as_directions(X)
    starts = seeding.draw_starts(
        VMFModel(4, np.ones(1)), directions, 1, list(range(2000)), "random", weights
    )
    counts = sum(start.prototypes[0] for start in starts)
    assert chisquare(counts, 2000 * weights / 10).pvalue > 1e-3


def test_spread_rows_are_drawn_in_proportion_to_their_distance():
    """Second row of k-means++: in proportion to weight times 1 - cosine to the first."""
    angles = np.radians([0, 20, 60, 180])
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    weights = np.array([1.0, 3.0, 1.0, 0.5])
    directions = as_directions(X)
    counts = np.zeros((4, 4))
    for seed in range(3000):
        rng = np.random.default_rng(seed)
        pair = seeding._spread_rows(directions, 2, rng, weights)
        first, second = (int((X @ row).argmax()) for row in pair)
        counts[first, second] += 1
    assert chisquare(counts.sum(axis=1), 3000 * weights / weights.sum()).pvalue > 1e-3
    for first in range(4):
        chances = weights * (1 - X @ X[first])
        chances[first] = 0
        others = np.arange(4) != first
        expected = counts[first].sum() * chances[others] / chances.sum()
        assert counts[first, first] == 0
        assert chisquare(counts[first, others], expected).pvalue > 1e-3


def test_spread_rows_when_all_rows_are_used_up():
    """More components than distinct rows: the rest comes from all rows, without an error."""
    X = np.repeat(np.eye(3), 5, axis=0)
    rows = seeding._spread_rows(as_directions(X), 7, np.random.default_rng(0), None)
    assert_array_equal(np.sort(rows[:3].argmax(axis=1)), [0, 1, 2])
    assert_allclose(np.linalg.norm(rows, axis=1), 1.0)


def test_spread_finds_each_of_some_tight_clouds(clouds):
    """Random rows do not."""
    X, labels = clouds(n=150, d=8, n_clouds=5, noise=0.01)
    model, directions = VMFModel(8, "shared"), as_directions(X)
    found = {}
    for init in ("random", "k-means++"):
        starts = seeding.draw_starts(model, directions, 5, list(range(20)), init)
        found[init] = [len(set(labels[(X @ s.prototypes.T).argmax(axis=0)])) for s in starts]
    assert found["k-means++"] == [5] * 20
    assert min(found["random"]) < 5


def test_lloyd_ends_where_spherical_k_means_does(clouds):
    X, _ = clouds(n=150, d=8, noise=0.6)
    directions = as_directions(X)
    (start,) = seeding.draw_starts(VMFModel(8, "free"), directions, 3, [0], "spherical-k-means")
    nearest = (X @ start.prototypes.T).argmax(axis=1)
    sums = np.array([X[nearest == k].sum(axis=0) for k in range(3)])
    assert_allclose(start.prototypes, sums / np.linalg.norm(sums, axis=1)[:, None], atol=1e-6)


@containers
@pytest.mark.parametrize("weighted", [False, True])
def test_from_labels(clouds, contain, weighted, mean_length_oracle):
    X, labels = clouds(n=70, d=5)
    weights = np.random.default_rng(1).uniform(0, 2, 70) if weighted else np.ones(70)
    start = seeding.from_labels(
        VMFModel(5, "free"), as_directions(contain(X)), labels, 3, weights if weighted else None
    )
    for k in range(3):
        r = weights[labels == k] @ X[labels == k]
        mass = weights[labels == k].sum()
        assert_allclose(start.prototypes[k], r / np.linalg.norm(r), atol=1e-12)
        assert_allclose(start.weights[k], mass / weights.sum(), rtol=1e-12)
        mean = mean_length_oracle(5, start.kappas[k])
        assert_allclose(mean, np.linalg.norm(r) / mass, rtol=1e-11)


@pytest.mark.parametrize(
    ("labels", "K", "status", "component"),
    [([0, 2, 2, 0], 3, "collapsed", 1), ([1, 1, 0, 0], 2, "vanished", 1)],
)
def test_from_labels_of_classes_without_rows_or_direction(labels, K, status, component):
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    with pytest.raises(DegenerateError) as caught:
        seeding.from_labels(VMFModel(2, "free"), as_directions(X), np.array(labels), K)
    assert (caught.value.status, caught.value.component) == (status, component)


def test_a_bad_draw_is_redrawn():
    """Eight copies of one row: many pairs of rows coincide, and one of them has nothing."""
    X = np.concatenate([np.tile([1.0, 0.0, 0.0], (8, 1)), np.eye(3)[1:]])
    model, directions = SphericalKMeansModel(), as_directions(X)
    starts = seeding.draw_starts(model, directions, 2, list(range(30)))
    first_draws = [np.random.default_rng(s).choice(10, 2, replace=False) for s in range(30)]
    assert sum(max(draw) < 8 for draw in first_draws) > 5
    assert all(start is not None for start in starts)
    assert all(len(np.unique(start, axis=0)) == 2 for start in starts)


class Watched:
    """Rows that count their sweeps."""

    def __init__(self, X):
        self.inner = as_directions(X)
        self.n_rows, self.n_features = self.inner.n_rows, self.inner.n_features
        self.n_sweeps = 0

    def sweep(self, scorers, weights=None):
        self.n_sweeps += 1
        return self.inner.sweep(scorers, weights)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_of_classes_take_one_reading(clouds, container, weighted, monkeypatch):
    X, labels = clouds(n=60)
    weights = np.linspace(0.0, 2.0, 60) if weighted else None
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    expected = [
        (unit * (1 if weights is None else weights[:, None]))[labels == k] for k in range(4)
    ]
    rows = Watched(container(X))
    found = seeding.class_resultants(rows, labels, 4, weights)
    assert rows.n_sweeps == 1
    assert_allclose(found.vectors, [part.sum(axis=0) for part in expected], atol=1e-12)
    assert_allclose(found.weight, 60 if weights is None else weights.sum())
    monkeypatch.setattr(seeding, "BATCH_WEIGHTS", 2 * 60)  # two classes at a time
    again = seeding.class_resultants(rows, labels, 4, weights)
    assert rows.n_sweeps == 3
    assert_array_equal(again.vectors, found.vectors)


# -------------------------------------------------------------------------- rows that repeat


@containers
@pytest.mark.parametrize("weighted", [False, True])
def test_no_direction_is_drawn_twice(contain, weighted):
    """Half of the rows are one direction, at many lengths, and all the others come in threes."""
    rng = np.random.default_rng(0)
    different = rng.normal(size=(40, 5))
    X = np.concatenate([np.repeat(different, 3, axis=0), np.tile(different[:1], (120, 1))])
    X *= rng.uniform(0.1, 10.0, (len(X), 1))
    weights = rng.uniform(0.5, 2.0, len(X)) if weighted else None
    directions = as_directions(contain(X))
    for seed in range(5):
        rows = seeding.random_rows(directions, 40, np.random.default_rng(seed), weights)
        assert (rows @ rows.T > 1 - 1e-9).sum() == 40
    for start in seeding.draw_starts(
        VMFModel(5, "shared"), directions, 40, [1, 2], weights=weights
    ):
        assert start is not None


def test_rows_that_do_not_repeat_are_drawn_as_ever(clouds):
    X, _ = clouds(n=60, d=6)
    rows = seeding.random_rows(as_directions(X), 9, np.random.default_rng(4), None)
    ids = np.random.default_rng(4).choice(60, 9, replace=False)
    assert_allclose(rows, X[ids], rtol=1e-12)


def test_too_few_directions_come_twice():
    X = np.repeat(np.eye(3), 4, axis=0)
    rows = seeding.random_rows(as_directions(X), 5, np.random.default_rng(0), None)
    assert len(np.unique(rows, axis=0)) == 3
    assert seeding.draw_starts(VMFModel(3, "shared"), as_directions(X), 5, [0]) == [None]


def test_rows_that_repeat_are_found():
    """As by all cosines, also where many rows have nearly the same product with a fixed vector.

    The first of its direction is none; 1e-5 apart is another direction, 1e-9 is not.
    """
    rng = np.random.default_rng(5)
    X = rng.standard_normal((300, 40))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    X[::7] = X[3]
    X[1::11] = X[5] * (1 + 1e-14)
    X[2], X[8], X[9] = X[4] + 1e-4 * X[6], X[4] + 1e-5 * X[6], X[4] + 1e-9 * X[6]
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    cosines = X @ X.T
    expected = np.array([(cosines[i, :i] > seeding.SAME).any() for i in range(300)])
    assert expected.sum() > 50
    assert_array_equal(expected[[2, 4, 8, 9]], [False, False, False, True])
    for rows in (X, sparse.csr_array(X)):
        assert_array_equal(seeding.repeated(rows), expected)

"""The best direction of a component is what brute force finds on the sphere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from spheremix.penalties import L1


def value(mu, kappa, r, beta, weights=None):
    """Return kappa <mu, r> - beta sum_j w_j |mu_j|, for one mu or many."""
    return kappa * mu @ r - beta * np.abs(mu) @ (np.ones(len(r)) if weights is None else weights)


def best_direction(kappa, r, beta, weights=None):
    (mu,) = L1(beta, weights).directions(np.array([kappa]), np.array([r]))
    return mu


def circle():
    angles = np.linspace(0, 2 * np.pi, 20_001)
    return np.column_stack([np.cos(angles), np.sin(angles)])


def sphere():
    polar, azimuth = np.meshgrid(np.linspace(0, np.pi, 301), np.linspace(0, 2 * np.pi, 601))
    return np.column_stack(
        [
            (np.sin(polar) * np.cos(azimuth)).ravel(),
            (np.sin(polar) * np.sin(azimuth)).ravel(),
            np.cos(polar).ravel(),
        ]
    )


GRIDS = {2: (circle(), 4e-4), 3: (sphere(), 1.5e-2)}  # points, and the distance to the nearest


@pytest.mark.parametrize("d", GRIDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_no_direction_on_a_grid_is_better(d, weighted):
    grid, spacing = GRIDS[d]
    rng = np.random.default_rng(d)
    n_one_hot = 0
    for _ in range(40):
        r = rng.normal(size=d)
        weights = rng.choice([0.0, 0.3, 1.0, 2.5], size=d) if weighted else None
        kappa, beta = rng.uniform(0.1, 5), rng.uniform(0, 6)
        mu = best_direction(kappa, r, beta, weights)
        reached = value(mu, kappa, r, beta, weights)
        on_grid = value(grid, kappa, r, beta, weights)
        assert on_grid.max() <= reached + 1e-12
        # And it is no better than the grid can tell: values are Lipschitz in mu.
        slope = kappa * np.linalg.norm(r) + beta * np.linalg.norm(1 if weights is None else weights)
        assert reached - on_grid.max() <= np.sqrt(d) * slope * spacing
        n_one_hot += np.count_nonzero(mu) == 1
    assert 5 < n_one_hot < 40  # both regimes are met


@pytest.mark.parametrize("d", [5, 17, 60])
@pytest.mark.parametrize("weighted", [False, True])
def test_no_random_direction_is_better_in_more_dimensions(d, weighted):
    rng = np.random.default_rng(d)
    for beta in (0.0, 0.5, 1.5, 3.0, 20.0):
        r = rng.normal(size=d)
        weights = rng.choice([0.0, 0.5, 1.0, 2.0], size=d) if weighted else None
        mu = best_direction(1.3, r, beta, weights)
        anywhere = rng.normal(size=(4000, d)) * (rng.random((4000, d)) < rng.random((4000, 1)))
        around = mu + rng.normal(size=(4000, d)) * 10.0 ** rng.uniform(-6, 0, (4000, 1))
        # Nearby on its own support too, where most of the better ones would be.
        inside = mu + (mu != 0) * rng.normal(size=(4000, d)) * 10.0 ** rng.uniform(-6, 0, (4000, 1))
        others = np.concatenate([anywhere, around, inside, np.eye(d), -np.eye(d)])
        others = others[np.linalg.norm(others, axis=1) > 0]
        others /= np.linalg.norm(others, axis=1, keepdims=True)
        best = value(others, 1.3, r, beta, weights).max()
        assert best <= value(mu, 1.3, r, beta, weights) + 1e-12


@given(
    r=st.lists(st.floats(-3, 3), min_size=2, max_size=6).filter(lambda r: max(map(abs, r)) > 1e-9),
    kappa=st.floats(1e-6, 1e6),
    beta=st.floats(0, 1e6),
)
@example(r=[1.0, -1.0], kappa=2.0, beta=2.0)  # exactly at the threshold
@example(r=[1e-160, 2e-160], kappa=1.0, beta=0.0)  # squares underflow
@example(r=[-0.0, -3.0], kappa=1.0, beta=9.0)
def test_is_a_unit_vector_with_the_signs_of_the_resultant(r, kappa, beta):
    r = np.array(r)
    mu = best_direction(kappa, r, beta)
    assert_allclose(np.linalg.norm(mu), 1.0, rtol=1e-14)
    assert np.all(mu * np.sign(r) >= 0)
    assert_array_equal(mu[r == 0], 0)


@pytest.mark.parametrize(
    ("kappa", "r", "beta", "weights", "expected"),
    [
        (2.0, [2.5, -3.0, 0.9], 2.0, None, [0.6, -0.8, 0.0]),  # kappa |r| - beta = (3, 4, -)
        (7.0, [1.0, -2.0, 2.0], 0.0, None, [1 / 3, -2 / 3, 2 / 3]),
        (1.0, [0.5, -2.0, 1.9], 2.0, None, [0, -1, 0]),  # all are below: the largest is left
        # With weights the largest margin depends on kappa.
        (0.1, [0.5, 3.0, -1.0], 2.0, [1.0, 2.0, 5.0], [1, 0, 0]),
        (1.0, [0.5, 3.0, -1.0], 2.0, [1.0, 2.0, 5.0], [0, 1, 0]),
        # Features without a weight are never thresholded.
        (1.0, [3.0, -4.0, 90.0, 1.0], 100.0, [0.0, 0.0, 1.0, 1.0], [0.6, -0.8, 0, 0]),
        # kappa |r| - beta rounds to -beta: the largest resultant wins.
        (3.0, [0.0, 2.0, -5.0, 0.1], 1e20, None, [0, 0, -1, 0]),
        (3.0, [9.0, 2.0, -5.0, 0.1], 1e20, [2.0, 1.0, 1.0, 1.0], [0, 0, -1, 0]),
    ],
)
def test_by_hand(kappa, r, beta, weights, expected):
    weights = None if weights is None else np.array(weights)
    assert_allclose(best_direction(kappa, np.array(r), beta, weights), expected, rtol=1e-14)


def test_components_do_not_see_each_other():
    rng = np.random.default_rng(0)
    kappas, vectors = rng.uniform(0.1, 3, 6), rng.normal(size=(6, 9))
    together = L1(1.0).directions(kappas, vectors)
    for k in range(6):
        assert_array_equal(together[k], best_direction(kappas[k], vectors[k], 1.0))


def test_norms_are_weighted_l1_norms():
    mu = np.array([[0.6, -0.8], [0.0, 1.0]])
    assert_allclose(L1(2.0).norms(mu), [1.4, 1.0])
    assert_allclose(L1(2.0, np.array([3.0, 0.5])).norms(mu), [3 * 0.6 + 0.5 * 0.8, 0.5])


def test_an_event_is_the_beta_at_which_a_coordinate_leaves():
    """Kappa and resultant held: just below it is there, just above it is gone."""
    rng = np.random.default_rng(3)
    kappas, vectors = np.array([2.0, 7.0]), rng.normal(size=(2, 6))
    for weights in (None, np.array([0.0, 0.5, 1.0, 2.0, 1.0, 3.0])):
        now = L1(0.05, weights)
        prototypes = now.directions(kappas, vectors)
        events = np.sort(now.events(kappas, vectors, prototypes))
        n_free = 0 if weights is None else 2  # the feature without a weight never leaves
        assert len(events) == np.count_nonzero(prototypes) - n_free
        for beta in events[:-4]:
            below, above = (
                np.count_nonzero(L1(beta * (1 + side), weights).directions(kappas, vectors))
                for side in (-1e-9, 1e-9)
            )
            assert above == below - 1


def test_prototypes_of_one_coordinate_have_no_events():
    vectors = np.array([[3.0, 1.0, 0.0], [3.0, 1.0, 2.0]])
    prototypes = np.array([[1.0, 0.0, 0.0], [0.8, 0.0, 0.6]])
    events = L1(1.0).events(np.array([1.0, 2.0]), vectors, prototypes)
    assert_allclose(np.sort(events), [4.0, 6.0])

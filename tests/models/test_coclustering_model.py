"""The M-step of blocks against all partitions, its EM, and how it fails."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from coclustering_common import planted
from numpy.testing import assert_allclose, assert_array_equal

import spheremix as sm
from spheremix import em, seeding
from spheremix.models.base import DegenerateError
from spheremix.models.coclustering import CoclusteringModel, DrawnModel, StochasticState, value
from spheremix.resultants import Resultants


def some_resultants(seed, n_components=2, d=6, *, negative=False):
    """Return resultants that rows could have: vectors no longer than their masses."""
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(n_components, d)) if negative else rng.gamma(0.7, size=(2, d))
    mass = rng.uniform(5.0, 15.0, n_components)
    vectors *= (0.8 * mass / np.linalg.norm(vectors, axis=1))[:, None]
    return Resultants(mass, vectors, 0.0, 0.0, float(mass.sum()))


def partitions(d, n_components):
    """Return all ways to share columns out such that every block has one."""
    for columns in itertools.product(range(n_components), repeat=d):
        if len(set(columns)) == n_components:
            yield np.array(columns)


def estimate(model, columns, resultants):
    return model._estimate(columns, resultants, np.ones(len(resultants.mass)))


def moved(model, resultants, at):
    """Return the columns that others want, and the partition in which they have them."""
    called, targets = model._called(resultants, at)
    columns = at.columns.copy()
    columns[called] = targets
    return called, columns


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("kappa", ["free", "shared", 4.0])
def test_estimates_are_the_best_for_their_partition(log_c, kappa, negative):
    """Against a grid of concentrations, both signs, and other weights."""
    resultants = some_resultants(1, negative=negative)
    model = CoclusteringModel(6, kappa)
    columns = np.array([0, 1, 1, 0, 1, 0])
    best = estimate(model, columns, resultants)
    dots = np.einsum("kj,kj->k", best.prototypes, resultants.vectors)
    assert dots.min() > 0  # the better sign
    expected = sum(
        m * (math.log(w) + log_c(6, k)) + k * dot
        for m, w, k, dot in zip(resultants.mass, best.weights, best.kappas, dots, strict=True)
    )
    highest = value(resultants, best)
    assert_allclose(highest, expected, rtol=1e-12)
    if kappa == 4.0:
        assert_array_equal(best.kappas, [4.0, 4.0])
        return
    for step in (0.99, 1.01):
        for moved in ([step, 1.0], [1.0, step], [step, step]):
            if kappa == "shared" and moved[0] != moved[1]:
                continue
            other = model.parameters(columns, best.signs, best.kappas * moved, best.weights)
            assert value(resultants, other) < highest
    other = model.parameters(columns, best.signs, best.kappas, best.weights[::-1])
    assert value(resultants, other) < highest
    other = model.parameters(columns, -best.signs, best.kappas, best.weights)
    assert value(resultants, other) < highest


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("kappa", ["free", "shared", 4.0])
@pytest.mark.parametrize("seed", range(3))
def test_m_step_against_all_partitions(seed, kappa, negative):
    resultants = some_resultants(seed, negative=negative)
    model = CoclusteringModel(6, kappa)
    values = {}
    for columns in partitions(6, 2):
        values[tuple(columns)] = value(resultants, estimate(model, columns, resultants))
    highest = max(values.values())
    n_certified = 0
    for columns in partitions(6, 2):
        at = estimate(model, columns, resultants)
        called, all_moved = moved(model, resultants, at)
        if len(set(all_moved)) == 1:
            with pytest.raises(DegenerateError, match="collapsed"):
                model.m_step(resultants, at)
            continue
        step = model.m_step(resultants, at)
        reached = value(resultants, step.parameters)
        # It never falls, and its gain is what it says.
        assert reached >= values[tuple(columns)] - 1e-12 * abs(highest)
        assert_allclose(step.gain, reached - values[tuple(columns)], atol=1e-10)
        assert_allclose(reached, values[tuple(step.parameters.columns)], rtol=1e-12)
        if called.size == 0:
            # Nobody wants to leave: the best of all partitions of these sizes, at these kappas.
            assert_array_equal(step.parameters.columns, columns)
            for other in partitions(6, 2):
                if (np.bincount(other) == at.sizes).all():
                    same_kappas = model.parameters(other, at.signs, at.kappas, at.weights)
                    assert value(resultants, same_kappas) <= value(resultants, at) + 1e-10
            n_certified += 1
    if not negative:
        assert n_certified
    # The best of all partitions is never left.
    best = np.array(max(values, key=values.get))
    at = estimate(model, best, resultants)
    assert len(model._called(resultants, at)[0]) < 6
    assert_array_equal(model.m_step(resultants, at).parameters.columns, best)


def test_all_moves_at_once_can_lose_and_are_then_not_made():
    model, n_lost, n_part = CoclusteringModel(6, "free"), 0, 0
    for seed in range(20):
        resultants = some_resultants(seed)
        for columns in partitions(6, 2):
            at = estimate(model, columns, resultants)
            _, all_moved = moved(model, resultants, at)
            if len(set(all_moved)) == 1:
                continue
            stayed = value(resultants, at)
            if value(resultants, estimate(model, all_moved, resultants)) < stayed:
                step = model.m_step(resultants, at)
                assert value(resultants, step.parameters) >= stayed - 1e-12 * abs(stayed)
                n_part += not (step.parameters.columns == columns).all()
                n_lost += 1
    assert n_lost > n_part > 0


def test_a_block_whose_columns_are_all_called_away_is_collapsed():
    vectors = np.array([[10.0, 3.0, 3.0, 3.0], [0.0, 2.0, 2.0, 2.0]])
    resultants = Resultants(np.array([12.0, 6.0]), vectors, 0.0, 0.0, 18.0)
    model = CoclusteringModel(4, 3.0)
    at = estimate(model, np.array([0, 1, 1, 1]), resultants)
    called, targets = model._called(resultants, at)
    assert_array_equal(called, [1, 2, 3])
    assert_array_equal(targets, [0, 0, 0])
    with pytest.raises(DegenerateError, match="component 1: collapsed"):
        model.m_step(resultants, at)


def test_columns_nobody_has_stay_where_they_are():
    resultants = some_resultants(0)
    resultants.vectors[:, [0, 3]] = 0.0
    at = estimate(CoclusteringModel(6, "free"), np.array([1, 0, 1, 0, 0, 1]), resultants)
    called, _ = CoclusteringModel(6, "free")._called(resultants, at)
    assert not set(called) & {0, 3}


@pytest.mark.parametrize("e_step", ["soft", "hard"])
@pytest.mark.parametrize("kappa", ["free", "shared", 20.0])
@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("negative", [False, True])
def test_em_never_falls(e_step, kappa, equal, negative):
    X, _, _ = planted(noise=0.8)
    if negative:
        X = X - X.mean(axis=0)
    directions, model = sm.as_directions(X), CoclusteringModel(27, kappa, equal)
    starts = seeding.draw_starts(model, directions, 3, list(range(10)))
    fits = em.fit(model, directions, [s for s in starts if s], em.Settings(e_step=e_step))
    assert sum(fit.status == "converged" for fit in fits) > 3
    for fit in fits:
        assert np.diff(fit.trace).min(initial=0.0) > -1e-12 * abs(fit.objective)
        assert fit.status in {"converged", "collapsed"}


def test_drawn_model_keeps_the_best_and_its_keys():
    X, rows, _ = planted(noise=0.6)
    directions, model = sm.as_directions(X), CoclusteringModel(27, "free")
    start = seeding.from_labels(model, directions, rows, 3)
    settings = em.Settings(tol=-1.0, max_iter=12)
    (walk,) = em.fit(
        DrawnModel(model), directions, [StochasticState.from_start(start, 5)], settings
    )
    assert (walk.status, walk.n_iter, len(walk.trace)) == ("max_iter", 12, 13)
    assert walk.parameters.key == (5, 12)
    best = walk.parameters.best_with(walk.objective)
    (soft,) = directions.sweep([model.scorer(best)])
    assert_allclose(soft.log_likelihood, max(walk.trace), rtol=1e-13)
    # The draws by hand.
    at, trace = start, []
    for sweep in range(13):
        (drawn,) = directions.sweep([model.scorer(at, "drawn", (5, sweep))])
        trace.append(drawn.log_likelihood)
        at = model.m_step(drawn, at).parameters
    assert_allclose(trace, walk.trace, rtol=1e-13)


# ------------------------------------------------------------------------------------------ trouble


def test_an_emptied_row_cluster_is_collapsed():
    X, _, _ = planted()
    model = CoclusteringModel(27, "free")
    (resultants,) = sm.as_directions(X).sweep(
        [model.scorer(estimate(model, np.arange(27) % 3, some_resultants_of(X)))]
    )
    resultants.mass[1] = 0.0
    with pytest.raises(DegenerateError, match="collapsed"):
        model.m_step(resultants, estimate(model, np.arange(27) % 3, some_resultants_of(X)))


def some_resultants_of(X):
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    labels = np.arange(len(X)) % 3
    vectors = np.array([unit[labels == k].sum(axis=0) for k in range(3)])
    return Resultants(np.bincount(labels).astype(float), vectors, 0.0, 0.0, float(len(X)))


def test_a_component_without_anything_in_its_columns_is_vanished():
    vectors = np.array([[3.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    resultants = Resultants(np.array([4.0, 4.0]), vectors, 0.0, 0.0, 8.0)
    with pytest.raises(DegenerateError, match="vanished"):
        estimate(CoclusteringModel(3, "free"), np.array([0, 1, 0]), resultants)
    # A move helps.
    model = CoclusteringModel(3, "free")
    at = model.parameters(np.array([0, 1, 0]), np.ones(2), np.full(2, 5.0), np.full(2, 0.5))
    assert_array_equal(model.m_step(resultants, at).parameters.columns, [0, 1, 1])

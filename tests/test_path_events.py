"""Which betas a path visits: its events, a grid, refinement, and where it ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import spheremix as sm
from spheremix import em
from spheremix.path import PathPoint, exit_betas


@pytest.mark.parametrize("kappa", ["shared", "free"])
@pytest.mark.parametrize("weighted", [False, True])
def test_next_beta_is_that_of_algorithm_3(rows, open_reference, kappa, weighted):
    feature_weights = np.linspace(0.5, 2, 10) if weighted else np.ones(10)
    path = sm.VMFPath(
        n_components=4, kappa=kappa, feature_weights=feature_weights, random_state=0
    ).fit(rows)
    assert len(path.betas_) > 8
    directions = open_reference(rows)
    for i in range(len(path.betas_) - 1):
        model, beta = path.model(i), path.betas_[i]
        (swept,) = directions.sweep([model.scorer_])
        ahead = []
        for k, j in np.argwhere(model.prototypes_ != 0):
            event = model.kappas_[k] * abs(swept.vectors[k, j]) / feature_weights[j]
            if event - beta > 0 and np.count_nonzero(model.prototypes_[k]) > 1:
                ahead.append(event - beta)
        expected = max(beta + min(ahead, default=0), beta * (1 + 1e-3))
        assert_allclose(path.betas_[i + 1], expected, rtol=1e-9)


def test_every_step_goes_to_the_next_event(open_reference):
    """With many coordinates events lie close together, and none is jumped over (Algorithm 3)."""
    X, _, _ = sm.datasets.make_vmf_mixture(300, 60, 3, kappa=15.0, random_state=0)
    path = sm.VMFPath(3, random_state=0, min_relative_increase=0.0, max_steps=60).fit(X)
    directions = open_reference(X)
    close = 0
    for i in range(1, len(path.betas_) - 1):
        mixture, beta = path.model(i), path.betas_[i]
        (resultants,) = directions.sweep([mixture.scorer_])
        events = (mixture.kappas_[:, None] * np.abs(resultants.vectors))[mixture.prototypes_ != 0]
        expected = events[events > beta].min()
        np.testing.assert_allclose(path.betas_[i + 1], expected, rtol=1e-9)
        close += expected < 1.01 * beta
    assert close > 5


def test_min_relative_increase(wide, long_path):
    coarse = sm.VMFPath(n_components=3, init=long_path.model(0), min_relative_increase=0.05)
    coarse.fit(wide)
    assert np.all(coarse.betas_[2:] >= 1.05 * coarse.betas_[1:-1] * (1 - 1e-15))
    assert len(coarse.betas_) < 0.8 * len(long_path.betas_)
    assert coarse.n_nonzero_[-1] == 3


def test_no_increase_asked_still_increases(wide, long_path):
    path = sm.VMFPath(n_components=3, init=long_path.model(0), min_relative_increase=0.0).fit(wide)
    assert np.all(np.diff(path.betas_) > 0)
    assert path.status_ == "maximal_sparsity"


def test_events_that_are_noise_are_skipped(rows):
    """Six columns of nothing: resultants of 1e-7 to 1e-6 that no eye would see leave."""
    noise = np.logspace(-7, -5.9, 6) * np.random.default_rng(0).uniform(0.5, 1, (len(rows), 6))
    X = np.hstack([rows, noise])
    start = sm.VMFMixture(n_components=4, random_state=0).fit(X)
    assert np.count_nonzero(start.prototypes_) == 64
    every = sm.VMFPath(n_components=4, init=start, beta_min_ratio=0.0).fit(X)
    some = sm.VMFPath(n_components=4, init=start).fit(X)
    assert every.betas_[1] < 1e-3
    assert some.betas_[1] > 1
    assert some.n_nonzero_[1] <= 40
    assert len(some.betas_) <= len(every.betas_) - 12
    assert np.all(some.exit_betas_[:, 10:] == some.betas_[1])


def test_a_small_feature_weight_makes_no_noise_of_the_others(rows):
    """Noise is judged on kappa |r|, before the division by the weights."""
    lengths = []
    for least in (1e-3, 1e-9):
        weights = np.ones(rows.shape[1])
        weights[0] = least
        path = sm.VMFPath(4, random_state=0, feature_weights=weights).fit(rows)
        assert path.status_ == "maximal_sparsity"
        lengths.append(len(path.betas_))
    assert lengths[0] == lengths[1]
    weights[0] = 1e-320
    path = sm.VMFPath(4, random_state=0, feature_weights=weights).fit(rows)
    assert path.status_ == "maximal_sparsity"


def test_exit_betas_of_a_coordinate_that_comes_back():
    def step(beta, mu):
        mu = np.array([mu], dtype=float)
        places = mu.ravel().nonzero()[0]
        one = np.ones(1)
        rest = (0.0, 0.0, 1.0, 0.0, "converged", 1, 0.0, 1)
        return PathPoint(beta, mu.ravel()[places], places, mu.shape[1], one, one, one, *rest)

    steps = [
        step(0.0, [0.6, 0.8, 0, 0, 0]),
        step(1.0, [0.6, 0, 0, 0.8, 0]),
        step(2.0, [0.6, 0.8, 0, 0, 0]),
        step(5.0, [0.6, 0, 0, 0, 0.8]),
    ]
    #            at the last step, back until 5, never, once at 1, only at the last
    expected = [np.inf, 5.0, 0.0, 2.0, np.inf]
    assert_array_equal(exit_betas(steps), [expected])
    assert_array_equal(exit_betas(steps[:1]), [[np.inf, np.inf, 0, 0, 0]])


def test_unpenalised_features_never_leave(rows):
    weights = np.ones(10)
    weights[[2, 7]] = 0.0
    path = sm.VMFPath(n_components=4, feature_weights=weights, random_state=0).fit(rows)
    assert path.status_ == "maximal_sparsity"
    assert np.all(np.isinf(path.exit_betas_[:, [2, 7]]))
    last = path.model(-1).prototypes_
    assert_array_equal(last != 0, np.tile(weights == 0, (4, 1)))


def test_one_unpenalised_feature_is_what_is_left(rows):
    weights = np.ones(10)
    weights[0] = 0.0
    path = sm.VMFPath(n_components=4, feature_weights=weights, random_state=0).fit(rows)
    assert path.status_ == "maximal_sparsity"
    assert path.n_nonzero_[-1] == 4
    assert_allclose(np.abs(path.model(-1).prototypes_[:, 0]), 1, rtol=1e-14)


def test_nothing_penalised_is_no_path(rows):
    path = sm.VMFPath(n_components=4, feature_weights=np.zeros(10), random_state=0).fit(rows)
    assert path.status_ == "maximal_sparsity"
    assert_array_equal(path.betas_, [0.0])


# ------------------------------------------------------------------------------------ where it ends


def test_max_steps_and_max_sparsity(rows, path):
    short = sm.VMFPath(n_components=4, random_state=0, max_steps=5).fit(rows)
    assert short.status_ == "max_steps"
    assert_array_equal(short.betas_, path.betas_[:5])
    dense = sm.VMFPath(n_components=4, random_state=0, max_steps=1).fit(rows)
    assert_array_equal(dense.betas_, [0.0])
    half = sm.VMFPath(n_components=4, random_state=0, max_sparsity=0.3).fit(rows)
    assert half.status_ == "max_sparsity"
    first = int((path.sparsity_ >= 0.3).argmax())
    assert_array_equal(half.betas_, path.betas_[: first + 1])
    assert not np.any(half.sparsity_[:-1] >= 0.3)


def test_a_grid_of_betas(rows, path):
    grid = [0.0, 2.0, 20.0, 40.0]
    visited = sm.VMFPath(n_components=4, random_state=0, betas=grid).fit(rows)
    assert visited.status_ == "grid_end"
    assert_array_equal(visited.betas_, grid)
    without_zero = sm.VMFPath(n_components=4, random_state=0, betas=grid[1:]).fit(rows)
    assert_array_equal(without_zero.betas_, grid)  # the dense step is always there
    assert_array_equal(without_zero.objectives_, visited.objectives_)
    for i, beta in enumerate(grid):
        mixture = sm.VMFMixture(n_components=4, beta=beta, init=path.model(0)).fit(rows)
        assert_allclose(visited.objectives_[i], mixture.objective_, atol=1e-4)
        assert_allclose(visited.model(i).prototypes_, mixture.prototypes_, atol=1e-2)


@pytest.mark.parametrize(
    ("options", "status"),
    [({"m_step": "paper"}, "zero_prototype"), ({"e_step": "hard"}, "collapsed")],
)
def test_a_failure_ends_the_path_with_its_name(options, status):
    X, _, _ = sm.datasets.make_vmf_mixture(n_samples=300, random_state=3)
    path = sm.VMFPath(n_components=4, random_state=0, **options).fit(X)
    assert path.status_ == status
    assert len(path.betas_) > 5
    assert path.n_nonzero_[-1] > 4
    assert set(path.statuses_) == {"converged"}  # the step that failed is not kept
    assert len(path.predict(X)) == 300


def test_steps_that_ran_out_of_iterations_say_so(rows):
    with pytest.warns(ConvergenceWarning, match=r"limit of 1 .* raise max_iter or raise tol"):
        path = sm.VMFPath(n_components=4, random_state=0, max_iter=1).fit(rows)
    assert set(path.statuses_) == {"max_iter"}
    assert path.status_ == "maximal_sparsity"
    assert path.stationarity_gaps_[0] > path.tol


def test_one_component(rows):
    path = sm.VMFPath(n_components=1).fit(rows)
    assert path.status_ == "maximal_sparsity"
    assert path.n_nonzero_[-1] == 1
    assert np.isinf(path.exit_betas_).sum() == 1
    # One cluster's mean is the resultant, and the largest coordinate is the last to leave.
    assert np.argmax(path.exit_betas_) == np.argmax(np.abs(rows.sum(axis=0)))


# ------------------------------------------------------------------------------------------- refine


@pytest.mark.parametrize("jump", [0.2, 0.05, 0.01])
def test_refine_leaves_no_jump_where_there_is_room(rows, path, jump):
    fine = sm.VMFPath(n_components=4, random_state=0, refine=jump).fit(rows)
    assert fine.status_ == "maximal_sparsity"
    assert np.all(np.diff(fine.betas_) > 0)
    original = np.isin(fine.betas_, path.betas_)
    assert original.sum() == len(path.betas_)
    assert_array_equal(fine.objectives_[original], path.objectives_)
    assert not original.all()
    room = fine.betas_[1:] > fine.betas_[:-1] * (1 + fine.min_relative_increase) ** 2
    jumps = np.abs(np.diff(fine.sparsity_))
    assert np.all(jumps[room] <= jump)
    assert np.abs(np.diff(path.sparsity_)).max() > jump


def test_refine_leaves_out_what_fails(rows, path, monkeypatch):
    fit = em.fit

    def failing(model, *arguments, **options):
        fits = fit(model, *arguments, **options)
        cold = model.l1.beta > 0 and options.get("resultants") is None
        return [replace(one, status="collapsed") if cold else one for one in fits]

    monkeypatch.setattr(em, "fit", failing)
    refined = sm.VMFPath(n_components=4, random_state=0, refine=0.05).fit(rows)
    assert_array_equal(refined.betas_, path.betas_)
    assert refined.status_ == "maximal_sparsity"


def test_refine_does_not_dig_for_noise(rows):
    """A jump right after beta = 0 is not chased to the smallest of numbers."""
    noise = 1e-7 * np.random.default_rng(0).uniform(0.5, 1, (len(rows), 6))
    X = np.hstack([rows, noise])
    path = sm.VMFPath(n_components=4, random_state=0, refine=0.01, max_steps=6).fit(X)
    assert path.betas_[1] >= path.beta_min_ratio * path.betas_[-1]
    assert len(path.betas_) < 60

"""Seeds in the model: M-steps against an independent maximum, and gains that are what they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from spheremix import as_directions, em
from spheremix.bessel import log_normalizer
from spheremix.models.views import ViewsModel
from spheremix.models.vmf import Noise, Seeds, SupportModel, VMFModel
from spheremix.penalties import L1
from spheremix.views import Views

D = 6


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def rows_of_groups(n=150, seed=0):
    rng = np.random.default_rng(seed)
    return unit(np.eye(D)[np.arange(n) % 3] + 0.4 * rng.normal(size=(n, D)))


def some_seeds(width=D):
    vectors = np.zeros((3, width))
    vectors[0, 0], vectors[0, 3], vectors[2, 2] = 4.0, 2.0, 5.0
    return Seeds(np.array([8.0, 0.0, 9.0]), vectors)


def started(model):
    return model.parameters(unit(np.eye(D)[:3] + 0.3), np.full(3, 4.0), np.full(3, 1 / 3))


def completed_objective(model, rows, posteriors, prototypes, kappas, weights):
    """Of the rows and of those of the seeds, one after another, straight from the densities."""
    total = 0.0
    for k in range(3):
        own = np.log(weights[k]) + log_normalizer(D, kappas[k])
        scores = own + kappas[k] * (rows @ prototypes[k])
        total += posteriors[:, k] @ scores
        total += model.seeds.mass[k] * own + kappas[k] * (model.seeds.vectors[k] @ prototypes[k])
    return total - model.l1.beta * np.abs(prototypes).sum()


@pytest.mark.parametrize("kappa", ["shared", "free"])
def test_the_m_step_is_the_maximum_that_a_general_optimiser_finds(kappa):
    rows = rows_of_groups()
    model = VMFModel(D, kappa, seeds=some_seeds())
    before = started(model)
    directions = as_directions(rows)
    (resultants,) = directions.sweep([model.scorer(before)])
    posteriors = directions.map_rows(model.scorer(before), "posteriors")
    step = model.m_step(resultants, before)

    def unpacked(x):
        prototypes = unit(x[: 3 * D].reshape(3, D))
        logs = np.full(3, x[3 * D]) if kappa == "shared" else x[3 * D : 3 * D + 3]
        shares = np.exp(x[-3:])
        return prototypes, np.exp(logs), shares / shares.sum()

    def loss(x):
        return -completed_objective(model, rows, posteriors, *unpacked(x))

    first = np.concatenate([before.prototypes.ravel(), np.log(before.kappas), np.zeros(3)])
    found = minimize(loss, first, method="L-BFGS-B", options={"maxiter": 2000, "ftol": 1e-14})
    prototypes, kappas, weights = unpacked(found.x)
    assert_allclose(step.parameters.prototypes, prototypes, atol=2e-4)
    assert_allclose(step.parameters.kappas, kappas, rtol=1e-3)
    assert_allclose(step.parameters.weights, weights, atol=2e-4)
    old = completed_objective(
        model, rows, posteriors, before.prototypes, before.kappas, before.weights
    )
    assert_allclose(step.gain, -found.fun - old, rtol=1e-5)


@pytest.mark.parametrize(
    "model",
    [
        VMFModel(D, "shared"),
        VMFModel(D, "free", L1(3.0)),
        VMFModel(D, "free", noise=Noise(float(log_normalizer(D, 0.0)))),
        ViewsModel(
            Views(("words", "meaning"), (4, 2)),
            (VMFModel(4, "shared"), VMFModel(2, "free")),
            (1.0, 0.5),
            (True, False),
            L1(1.0, np.array([1.0] * 4 + [0.0] * 2)),
        ),
    ],
    ids=["shared", "penalised", "noise", "views"],
)
@pytest.mark.parametrize("e_step", ["soft", "hard"])
def test_the_objective_never_falls_and_rises_by_the_gain_of_each_step(model, e_step):
    rows = rows_of_groups()
    if isinstance(model, ViewsModel):
        directions = as_directions({"words": np.abs(rows[:, :4]), "meaning": rows[:, 4:]})
        vectors = np.zeros((3, 8))
        vectors[0, 0], vectors[0, 4], vectors[2, 2], vectors[2, 7] = 4.0, 2.0, 5.0, 3.0
        model = replace(model, seeds=Seeds(np.array([8.0, 0.0, 9.0]), vectors))
        start = np.eye(3, 8)
        now = model.start(directions.sweep([model.nearest(start)])[0], start[:, :6])
    else:
        directions = as_directions(rows)
        model = replace(model, seeds=some_seeds())
        now = started(model)
        now = replace(now, weights=model.beside_noise(now.weights))
    values, gains = [], []
    for _ in range(30):
        (resultants,) = directions.sweep([model.scorer(now, e_step)])
        values.append(resultants.log_likelihood - model.penalty(now))
        step = model.m_step(resultants, now)
        gains.append(step.gain)
        now = step.parameters
    rises, noise = np.diff(values), 1e-12 * np.abs(values[0])
    assert np.all(rises >= np.array(gains[:-1]) - noise)
    assert min(gains) >= -noise
    assert gains[0] > 0.1
    settings = em.Settings(tol=1e-10, e_step=e_step)
    (fit,) = em.fit(model, directions, [now], settings)
    assert fit.status == "converged"
    assert 0.0 <= fit.gap <= 1e-10


def test_a_heavy_seed_holds_its_component_where_it_is():
    rows = rows_of_groups()
    direction = unit(np.array([1.0, 0.0, 0.0, 0.0, 1.0, 0.0]))
    vectors = np.zeros((3, D))
    vectors[0] = 1e6 * 0.8 * direction
    model = VMFModel(D, "free", seeds=Seeds(np.array([1e6, 0.0, 0.0]), vectors))
    (fit,) = em.fit(model, as_directions(rows), [started(model)], em.Settings())
    assert_allclose(fit.parameters.prototypes[0], direction, atol=1e-3)


def test_a_refit_on_a_support_does_not_see_what_seeds_have_outside():
    rows = rows_of_groups()
    model = SupportModel(
        VMFModel(D, "shared", seeds=some_seeds()), np.eye(3, D, dtype=bool) | (rows[:3] > 0)
    )
    model.support[0, 3] = False
    start = started(model.model)
    (resultants,) = as_directions(rows).sweep([model.scorer(start)])
    found = model.m_step(resultants, start).parameters
    assert not found.prototypes[~model.support].any()


def test_models_with_other_seeds_do_not_estimate_alike():
    one, other = (
        VMFModel(D, "shared", seeds=some_seeds()),
        VMFModel(D, "shared", seeds=some_seeds()),
    )
    assert one.estimates_as(other)
    assert not one.estimates_as(VMFModel(D, "shared"))
    assert not VMFModel(D, "shared").estimates_as(one)
    heavier = replace(other, seeds=replace(other.seeds, mass=2.0 * other.seeds.mass))
    assert not one.estimates_as(heavier)

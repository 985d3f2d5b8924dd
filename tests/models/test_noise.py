"""Noise in the model: its score, the shares with bounds, and M-steps that gain what they say."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import gammaln

from spheremix import as_directions, em
from spheremix.bessel import log_normalizer
from spheremix.models.profile import KappaPrior
from spheremix.models.vmf import LEAST_NOISE, Noise, SupportModel, VMFModel, noise_share
from spheremix.penalties import L1
from spheremix.testing import check_model

UNIFORM = float(log_normalizer(8, 0.0))


@dataclass(frozen=True)
class Starting:
    """A model whose ``start`` also takes what ``check_model`` gives it: resultants with noise."""

    model: object

    def __getattr__(self, name):
        return getattr(self.model, name)

    def start(self, resultants, prototypes):
        if len(prototypes) > 3:
            resultants = self.clusters(resultants)
        return self.model.start(resultants, prototypes[:3])


def rows_with_noise(n=200, n_noise=60, d=8, seed=0):
    rng = np.random.default_rng(seed)
    centres = np.eye(d)[:3]
    rows = centres[np.arange(n) % 3] + 0.25 * rng.normal(size=(n, d))
    rows = np.vstack([rows, rng.normal(size=(n_noise, d))])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_the_score_of_noise_is_its_share_over_the_area_of_the_sphere():
    model = VMFModel(8, 5.0, noise=Noise(UNIFORM))
    parameters = model.parameters(np.eye(8)[:3], np.full(3, 5.0), np.array([0.2, 0.3, 0.4]))
    scorer = model.scorer(parameters)
    area = np.log(2.0) + 4.0 * np.log(np.pi) - gammaln(4.0)
    assert scorer.has_noise
    assert not scorer.matrix[-1].any()
    assert_allclose(scorer.biases[-1] + scorer.offset, np.log(0.1) - area, rtol=1e-13)
    plain = VMFModel(8, 5.0).scorer(parameters)
    rows = rows_with_noise()
    assert_allclose(
        rows @ scorer.matrix[:3].T + scorer.biases[:3] + scorer.offset,
        rows @ plain.matrix.T + plain.biases + plain.offset,
        rtol=1e-13,
    )
    assert scorer.clusters_of(np.array([0, 3, 2])).tolist() == [0, -1, 2]


@pytest.mark.parametrize("most", [0.02, 0.3, 1 - LEAST_NOISE])
@pytest.mark.parametrize("noise_mass", [0.0, 1e-9, 0.5, 5.0, 80.0])
def test_no_shares_within_the_bounds_are_better(most, noise_mass):
    """Against a grid of all shares, and random ones around the answer."""
    mass = np.array([3.0, 5.0, 2.0])
    weights = Noise(0.0, most).weights(mass, noise_mass)
    share = noise_share(weights)

    def value(weights, share):
        return mass @ np.log(weights) + noise_mass * np.log(share)

    assert LEAST_NOISE * (1 - 1e-9) <= share <= most * (1 + 1e-12)
    rng = np.random.default_rng(0)
    for _ in range(2000):
        other = rng.uniform(LEAST_NOISE, most)
        parts = rng.dirichlet(1 + rng.choice([1.0, 30.0]) * mass) * (1 - other)
        assert value(parts, other) <= value(weights, share) + 1e-12
    for other in np.geomspace(LEAST_NOISE, most, 400):
        assert value(mass / 10 * (1 - other), other) <= value(weights, share) + 1e-12


MODELS = {
    "free share": VMFModel(8, "shared", noise=Noise(UNIFORM)),
    "capped": VMFModel(8, "shared", noise=Noise(UNIFORM, 0.05)),
    "free kappas, low level": VMFModel(8, "free", noise=Noise(UNIFORM - 1.0, 0.3)),
    "given kappa": VMFModel(8, 6.0, noise=Noise(UNIFORM)),
    "sparse, with a prior": VMFModel(
        8, "free", L1(5.0), noise=Noise(UNIFORM, 0.1), prior=KappaPrior(2.0, 0.6)
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_gains_are_what_they_say_row_by_row(name):
    check_model(Starting(MODELS[name]))


@pytest.mark.parametrize("e_step", ["soft", "hard"])
@pytest.mark.parametrize("name", MODELS)
def test_em_never_falls_and_ends_in_a_fixed_point(name, e_step):
    model, rows = MODELS[name], rows_with_noise()
    first = np.linalg.norm(np.eye(8)[:3] + 0.3, axis=1, keepdims=True)
    start = model.parameters(
        (np.eye(8)[:3] + 0.3) / first, np.full(3, 6.0), model.beside_noise(np.full(3, 1 / 3))
    )
    settings = em.Settings(e_step=e_step)
    (fit,) = em.fit(model, as_directions(rows), [start], settings)
    assert fit.status == "converged"
    assert np.all(np.diff(fit.trace) >= -1e-12 * abs(fit.objective))
    assert fit.gap <= 1e-7
    share = noise_share(fit.parameters.weights)
    assert share <= model.noise.most * (1 + 1e-12)
    if name == "capped":
        assert_allclose(share, 0.05)
        assert fit.resultants.mass[-1] > 0.05 * len(rows)


def test_the_bound_costs_likelihood():
    rows, objectives = rows_with_noise(), []
    for most in (0.05, 0.1, 0.9):
        model = VMFModel(8, "shared", noise=Noise(UNIFORM, most))
        start = model.parameters(
            np.eye(8)[:3], np.full(3, 6.0), model.beside_noise(np.full(3, 1 / 3))
        )
        (fit,) = em.fit(model, as_directions(rows), [start], em.Settings())
        objectives.append(fit.objective)
    assert objectives[0] < objectives[1] < objectives[2]


def test_noise_without_rows_keeps_a_share_and_does_no_harm():
    rows = rows_with_noise(n_noise=0)
    noisy = VMFModel(8, "shared", noise=Noise(UNIFORM - 1e3))
    plain = VMFModel(8, "shared")
    fits = []
    for model in (noisy, plain):
        shares = model.beside_noise(np.full(3, 1 / 3))
        start = model.parameters(np.eye(8)[:3], np.full(3, 6.0), shares)
        fits.append(em.fit(model, as_directions(rows), [start], em.Settings(tol=1e-12))[0])
    assert_allclose(noise_share(fits[0].parameters.weights), LEAST_NOISE, rtol=1e-6)
    assert_allclose(fits[0].parameters.kappas, fits[1].parameters.kappas, rtol=1e-6)
    assert_allclose(fits[0].objective, fits[1].objective, atol=2 * LEAST_NOISE * len(rows))


def test_a_support_leaves_the_noise_alone():
    support = np.ones((3, 8), dtype=bool)
    support[0, 5:] = False
    model = SupportModel(MODELS["free share"], support)
    start = model.model.parameters(
        np.eye(8)[:3], np.full(3, 6.0), MODELS["free share"].beside_noise(np.full(3, 1 / 3))
    )
    (fit,) = em.fit(model, as_directions(rows_with_noise()), [start], em.Settings())
    assert fit.status == "converged"
    assert not fit.parameters.prototypes[0, 5:].any()
    assert fit.parameters.prototypes[1, 5:].all()


def test_searching_and_known_weights_without_noise():
    model = MODELS["capped"]
    assert all(one.noise is None for one in model.for_search())
    assert_allclose(model.beside_noise(np.array([0.5, 0.5])), [0.495, 0.495])
    kept = np.array([0.5, 0.4])
    assert model.beside_noise(kept) is kept
    assert_allclose(VMFModel(8, "shared").beside_noise(kept), kept / 0.9)
    assert not model.estimates_as(replace(model, noise=None))
    assert model.estimates_as(replace(model, noise=Noise(UNIFORM, 0.05)))

"""EM never goes down, whatever the data, the E-step, the M-step and the model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from spheremix import em, seeding
from spheremix.bessel import concentration
from spheremix.data.open import as_directions
from spheremix.models import vmf
from spheremix.models.base import DegenerateError
from spheremix.models.skmeans import SphericalKMeansModel
from spheremix.models.vmf import VMFModel
from spheremix.penalties import L1
from spheremix.testing import assert_resultants_same_bits

ROUNDING = 1e-12  # of the objective: what "never falls" allows


def slack(objective):
    return ROUNDING * max(abs(objective), 1.0)


@st.composite
def cases(draw):
    """Return a model, rows, weights and a start; shapes of every awkward kind."""
    n_components = draw(st.integers(1, 4))
    n = draw(st.integers(n_components, 40))
    d = draw(st.sampled_from([2, 3, 6, 15, 60]))  # n < d too
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.normal(size=(n, d)) + draw(st.sampled_from([0.0, 1.0, 5.0])) * rng.normal(size=d)
    if draw(st.booleans()):
        X = np.maximum(X, 0.0) + 1e-3 * np.eye(n, d) + 1e-3 * (np.arange(d) == 0)
    if draw(st.booleans()):
        X = X[rng.integers(n, size=n)]  # duplicates
    weights = None
    if draw(st.booleans()):
        weights = rng.uniform(0, 3, n) * (rng.random(n) < 0.8) + (np.arange(n) < n_components)
    features = draw(st.sampled_from(["none", "mixed"]))
    kappa = draw(st.sampled_from(["shared", "free", "given"]))
    total = n if weights is None else weights.sum()
    beta = draw(st.sampled_from([0.0, 0.01, 0.1, 0.5, 2.0])) * total * np.sqrt(d) / n_components
    model = VMFModel(
        d,
        rng.uniform(0.5, 60, n_components) if kappa == "given" else kappa,
        L1(float(beta), rng.uniform(0.1, 2, d) if features == "mixed" else None),
        kappa_max=1e5,
    )
    rows = sparse.csr_array(X) if draw(st.booleans()) else X
    prototypes = rng.normal(size=(n_components, d))
    start = model.parameters(
        prototypes / np.linalg.norm(prototypes, axis=1, keepdims=True),
        model.kappa if kappa == "given" else np.full(n_components, rng.uniform(0.5, 20)),
        rng.dirichlet(np.full(n_components, 5.0)),
    )
    return model, as_directions(rows), weights, start


@settings(max_examples=150)
@given(case=cases(), hard=st.booleans())
def test_never_falls_and_gains_its_gap(case, hard):
    model, directions, weights, parameters = case
    assignment = "hard" if hard else "soft"
    (swept,) = directions.sweep([model.scorer(parameters, assignment)], weights)
    trace = [swept.log_likelihood - model.penalty(parameters)]
    for _ in range(25):
        try:
            step = model.m_step(swept, parameters)
        except DegenerateError:
            break
        # Rounding is that of the terms whose sum is the objective.
        terms = max(float(p.kappas @ swept.mass) for p in (parameters, step.parameters))
        allowed = slack(abs(trace[-1]) + terms)
        assert step.gain >= -allowed
        parameters = step.parameters
        (swept,) = directions.sweep([model.scorer(parameters, assignment)], weights)
        trace.append(swept.log_likelihood - model.penalty(parameters))
        assert trace[-1] >= trace[-2] - allowed
        assert trace[-1] - trace[-2] >= step.gain - allowed
    (fit,) = em.fit(
        model,
        directions,
        [case[3]],
        em.Settings(max_iter=25, tol=0.0, e_step=assignment),
        weights=weights,
    )
    assert fit.trace == trace[: len(fit.trace)]


@settings(max_examples=60)
@given(case=cases())
def test_certificate_at_convergence(case):
    model, directions, weights, start = case
    tol = 1e-7
    (fit,) = em.fit(
        model, directions, [start], em.Settings(tol=tol, max_iter=3000), weights=weights
    )
    assert fit.status in {"converged", "collapsed", "vanished"}
    assert fit.n_iter == len(fit.trace) - 1
    assert fit.trace[-1] == fit.objective
    (again,) = directions.sweep([model.scorer(fit.parameters)], weights)
    assert_resultants_same_bits(fit.resultants, again)
    assert_allclose(fit.objective, again.log_likelihood - model.penalty(fit.parameters), rtol=1e-13)
    if fit.status != "converged":
        assert np.isnan(fit.gap)
        return
    assert 0.0 <= fit.gap < tol
    assert abs(fit.trace[-1] - fit.trace[-2]) < tol * again.weight
    # First-order conditions go as the square root.
    assert model.kkt_residual(again, fit.parameters) < 10 * np.sqrt(tol)


# ------------------------------------------------------------------------------------ other E-steps


def test_hard_steps_end_in_a_partition_that_is_its_own(clouds):
    X, _ = clouds(n=100, noise=0.6)
    model = VMFModel(8, "free")
    directions = as_directions(X)
    (start,) = seeding.draw_starts(model, directions, 3, [1])
    (fit,) = em.fit(model, directions, [start], em.Settings(e_step="hard"))
    assert fit.status == "converged"
    labels = directions.map_rows(model.scorer(fit.parameters), "labels")
    assert_array_equal(fit.resultants.mass, np.bincount(labels, minlength=3))
    assert_allclose(
        fit.parameters.prototypes,
        [X[labels == k].sum(0) / np.linalg.norm(X[labels == k].sum(0)) for k in range(3)],
        atol=1e-12,
    )
    # The completed log-likelihood is below the likelihood.
    (soft,) = directions.sweep([model.scorer(fit.parameters)])
    assert fit.objective < soft.log_likelihood


# ------------------------------------------------------------------------------- the paper's M-step


@pytest.mark.parametrize("kappa", ["shared", "free"])
@pytest.mark.parametrize("beta", [0.0, 5.0, 15.0])
def test_paper_with_exact_kappa_never_falls(clouds, kappa, beta):
    X, labels = clouds(n=200, d=30, noise=1.0)
    model = VMFModel(30, kappa, L1(beta), algorithm="paper")
    directions = as_directions(X)
    start = seeding.from_labels(model, directions, labels, 3)
    options = em.Settings(certified=False)
    (fit,) = em.fit(model, directions, [start], options)
    assert fit.status == "converged"
    assert np.all(np.diff(fit.trace) >= -slack(fit.objective))
    # It stops on the unpenalised log-likelihood, as printed.
    (swept,) = directions.sweep([model.scorer(fit.parameters)])
    (before,) = em.fit(model, directions, [start], replace(options, max_iter=fit.n_iter - 1))
    assert abs(swept.log_likelihood - before.resultants.log_likelihood) < options.tol * 200
    assert before.status == "max_iter"


def test_paper_m_step_solves_its_own_equations(clouds, mean_length_oracle):
    """Both settle: mu is the soft threshold at kappa, kappa solves A_d(kappa) = <mu, r> / n."""
    X, labels = clouds(n=200, d=12, noise=1.0)
    directions = as_directions(X)
    for kappa in ("free", "shared"):
        model = VMFModel(12, kappa, L1(10.0), algorithm="paper")
        start = seeding.from_labels(model, directions, labels, 3)
        (swept,) = directions.sweep([model.scorer(start)])
        after = model.m_step(swept, start).parameters
        excess = np.maximum(after.kappas[:, None] * np.abs(swept.vectors) - 10.0, 0)
        assert np.any(excess == 0)
        expected = np.sign(swept.vectors) * excess
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
        assert_allclose(after.prototypes, expected, rtol=1e-9, atol=1e-11)
        dots = (after.prototypes * swept.vectors).sum(axis=1)
        wanted = dots / swept.mass if kappa == "free" else [dots.sum() / swept.mass.sum()] * 3
        means = [mean_length_oracle(12, k) for k in after.kappas]
        assert_allclose(means, wanted, rtol=1e-10)


@pytest.mark.parametrize("beta", [0.0, 5.0])
def test_paper_m_step_settles_where_kappa_is_large(clouds, beta, monkeypatch):
    """There the last digits of kappa are noise, and must not keep the alternation going."""
    X, labels = clouds(n=100, d=3, noise=3e-3)
    directions = as_directions(X)
    model = VMFModel(3, "free", L1(beta), algorithm="paper", kappa_max=1e9)
    start = seeding.from_labels(model, directions, labels, 3)
    assert start.kappas.min() > 1e4
    (swept,) = directions.sweep([model.scorer(start)])
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return concentration(*arguments)

    monkeypatch.setattr(vmf, "concentration", counted)
    model.m_step(swept, start)
    assert 1 <= len(calls) <= 20


@pytest.mark.parametrize("kappa", ["shared", "free"])
def test_banerjee_by_its_formula(clouds, kappa):
    X, labels = clouds(n=200, d=12, noise=1.0)
    directions = as_directions(X)
    model = VMFModel(12, kappa, algorithm="paper", kappa_solver="banerjee")
    start = seeding.from_labels(model, directions, labels, 3)
    lengths = [np.linalg.norm(X[labels == k].sum(axis=0)) for k in range(3)]
    means = np.array(lengths) / np.bincount(labels)
    if kappa == "shared":
        means = np.full(3, sum(lengths) / 200)
    expected = means * (12 - means**2) / (1 - means**2)
    assert_allclose(start.kappas, expected, rtol=1e-12)


@pytest.mark.parametrize("algorithm", ["exact", "paper"])
@pytest.mark.parametrize("solver", ["exact", "banerjee"])
@pytest.mark.parametrize("kappa", ["shared", "free", "given"])
def test_all_four_m_steps_are_defined_and_agree_roughly(clouds, algorithm, solver, kappa):
    X, labels = clouds(n=200, d=30, noise=0.8)
    directions = as_directions(X)
    given_or_not = np.full(3, 40.0) if kappa == "given" else kappa
    exact = VMFModel(30, given_or_not, L1(6.0))
    model = replace(exact, algorithm=algorithm, kappa_solver=solver)
    start = seeding.from_labels(model, directions, labels, 3)
    options = em.Settings(certified=(algorithm, solver) == ("exact", "exact"))
    (fit,) = em.fit(model, directions, [start], options)
    assert fit.status == "converged"
    (best,) = em.fit(exact, directions, [start], em.Settings())
    assert_allclose(fit.parameters.kappas, best.parameters.kappas, rtol=2e-2)
    assert fit.objective <= best.objective + 1e-4
    assert fit.objective >= best.objective - 0.5
    assert fit.gap >= 0
    if solver == "exact":
        assert_allclose(fit.parameters.kappas, best.parameters.kappas, rtol=1e-3)
    elif kappa != "given":
        assert abs(fit.parameters.kappas / best.parameters.kappas - 1).max() > 1e-6


# ---------------------------------------------------------------------------------- the other model


def test_spherical_k_means_never_falls_and_ends_at_a_partition(clouds):
    X, _ = clouds(n=150, noise=0.8)
    directions = as_directions(X)
    model = SphericalKMeansModel()
    (start,) = seeding.draw_starts(model, directions, 3, [4])
    (fit,) = em.fit(model, directions, [start], em.Settings(e_step="hard"))
    assert fit.status == "converged"
    assert np.all(np.diff(fit.trace) >= -slack(fit.objective))
    labels = (X @ fit.parameters.T).argmax(axis=1)
    lengths = [np.linalg.norm(X[labels == k].sum(axis=0)) for k in range(3)]
    assert_allclose(fit.objective, sum(lengths), rtol=1e-12)
    assert fit.gap < 1e-7

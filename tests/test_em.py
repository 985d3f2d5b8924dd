"""EM never goes down, says how far it is from a stationary point, and names its troubles."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logsumexp

from spheremix import em, seeding
from spheremix.bessel import concentration
from spheremix.data.base import Directions
from spheremix.data.open import as_directions
from spheremix.datasets import make_vmf_mixture
from spheremix.models import vmf
from spheremix.models.base import DegenerateError, Model, MStep
from spheremix.models.vmf import VMFModel
from spheremix.penalties import L1
from spheremix.resultants import Resultants
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


# How far it is from a stationary point, where it stops, and the names of its troubles


def public(protocol):
    members = inspect.getmembers(protocol, inspect.isfunction)
    return {name for name, _ in members if not name.startswith("_")}


def test_protocols_do_not_grow():
    assert public(Directions) == {"sweep", "map_rows", "take"}
    assert public(Model) == {"scorer", "m_step", "penalty", "start"}


# ------------------------------------------------------------------------------------ the objective


def test_gap_by_hand_away_from_a_fixed_point(clouds, log_c):
    """Far from convergence, where the gap is no rounding error."""
    X, _ = clouds(n=30, d=4)
    prices = 0.3 * np.linspace(0, 2, 4)
    model = VMFModel(4, "free", L1(0.3, np.linspace(0, 2, 4)))
    start = model.parameters(np.eye(4)[:2], np.array([3.0, 5.0]), np.array([0.3, 0.7]))
    directions = as_directions(X)
    (swept,) = directions.sweep([model.scorer(start)])
    step = model.m_step(swept, start)

    def scores(p):
        normalizers = [log_c(4, kappa) for kappa in p.kappas]
        return X @ (p.kappas[:, None] * p.prototypes).T + np.log(p.weights) + normalizers

    densities = logsumexp(scores(start), axis=1, keepdims=True)
    assert_allclose(swept.log_likelihood, densities.sum(), rtol=1e-12)
    assert_allclose(model.penalty(start), (prices * np.abs(start.prototypes)).sum(), rtol=1e-14)
    posteriors = np.exp(scores(start) - densities)
    expected = (posteriors * (scores(step.parameters) - scores(start))).sum()
    expected -= (prices * (np.abs(step.parameters.prototypes) - np.abs(start.prototypes))).sum()
    assert expected > 1
    assert_allclose(step.gain, expected, rtol=1e-11)
    assert_allclose(step.parameters.weights, posteriors.mean(axis=0), rtol=1e-12)


@pytest.mark.parametrize("together", [1, 2**18])  # entries: one component at a time, or all
def test_kkt_residual_coordinate_by_coordinate(clouds, together, monkeypatch):
    monkeypatch.setattr(vmf, "JUDGED_ENTRIES", together)
    X, _ = clouds(n=40, d=6)
    weights = np.array([0.5, 1.0, 1.0, 2.0, 0.0, 1.0])
    model = VMFModel(6, "free", L1(2.0, weights))
    mu = np.array([[0.6, -0.8, 0, 0, 0, 0], [0.5, 0.5, 0.5, 0, 0.5, 0]])
    parameters = model.parameters(mu, np.array([2.0, 9.0]), np.array([0.4, 0.6]))
    (swept,) = as_directions(X).sweep([model.scorer(parameters)])
    worst = 0.0
    for k in range(2):
        kappa, r, mass = parameters.kappas[k], swept.vectors[k], swept.mass[k]
        # The multiplier of |mu| = 1, then stationarity of each coordinate.
        multiplier = sum(
            mu[k, j] * (kappa * r[j] - 2 * weights[j] * np.sign(mu[k, j])) for j in range(6)
        )
        for j in range(6):
            if mu[k, j]:
                off = abs(kappa * r[j] - 2 * weights[j] * np.sign(mu[k, j]) - multiplier * mu[k, j])
            else:
                off = max(abs(kappa * r[j]) - 2 * weights[j], 0)
            worst = max(worst, off / (kappa * mass))
    assert worst > 0.01
    assert_allclose(model.kkt_residual(swept, parameters), worst, rtol=1e-12)


# ------------------------------------------------------------------------------------------ batches


@pytest.mark.parametrize("e_step", ["soft", "hard"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_batched_runs_equal_one_by_one(clouds, e_step, container):
    X, _ = clouds(n=150, d=10, noise=0.6)
    model = VMFModel(10, "shared", L1(4.0))
    directions = as_directions(container(X))
    starts = seeding.draw_starts(model, directions, 3, [11, 12, 13, 14])
    options = em.Settings(e_step=e_step)
    together = em.fit(model, directions, starts, options)
    assert len({round(fit.objective, 3) for fit in together} | {fit.n_iter for fit in together}) > 1
    for start, fit in zip(starts, together, strict=True):
        (alone,) = em.fit(model, directions, [start], options)
        assert_allclose(fit.objective, alone.objective, rtol=1e-9)
        assert (fit.status, fit.n_iter) == (alone.status, alone.n_iter)
        labels = [
            directions.map_rows(model.scorer(one.parameters), "labels") for one in (fit, alone)
        ]
        assert_array_equal(*labels)


def test_one_vector_of_weights_a_run(clouds):
    X, labels = clouds(n=90)
    model = VMFModel(8, "free", L1(2.0))
    directions = as_directions(X)
    start = seeding.from_labels(model, directions, labels, 3)
    weights = np.random.default_rng(0).uniform(0.2, 2, (3, 90))
    together = em.fit(model, directions, [start] * 3, em.Settings(), weights=weights)
    for row, fit in zip(weights, together, strict=True):
        (alone,) = em.fit(model, directions, [start], em.Settings(), weights=row)
        assert_allclose(fit.objective, alone.objective, rtol=1e-12)
        assert_allclose(fit.parameters.prototypes, alone.parameters.prototypes, atol=1e-10)
    assert len({round(fit.objective, 6) for fit in together}) == 3


# ------------------------------------------------------------------------------------ when it stops


def test_max_iter_counts_m_steps(clouds):
    X, _ = clouds(n=100, noise=1.0)
    model = VMFModel(8, "shared")
    directions = as_directions(X)
    (start,) = seeding.draw_starts(model, directions, 3, [0])
    (long,) = em.fit(model, directions, [start], em.Settings())
    assert long.n_iter > 5
    for max_iter in (1, 2, 5):
        (short,) = em.fit(model, directions, [start], em.Settings(max_iter=max_iter))
        assert (short.status, short.n_iter) == ("max_iter", max_iter)
        assert short.trace == long.trace[: max_iter + 1]
        assert short.gap > 0
    (exact,) = em.fit(model, directions, [start], em.Settings(max_iter=long.n_iter))
    assert exact.status == "converged"


def test_a_fixed_point_stays_where_it_is(clouds):
    X, _ = clouds()
    model = VMFModel(8, "free", L1(2.0))
    directions = as_directions(X)
    (start,) = seeding.draw_starts(model, directions, 3, [0])
    (fit,) = em.fit(model, directions, [start], em.Settings(tol=1e-12))
    (again,) = em.fit(model, directions, [fit.parameters], em.Settings())
    assert again.n_iter == 1
    assert again.gap < 1e-12
    assert_allclose(again.parameters.prototypes, fit.parameters.prototypes, atol=1e-6)


class Plateau:
    """A model on a plateau: the objective stands still for five steps that promise a gain."""

    n_rows = n_features = 1

    def scorer(self, parameters, assignment="soft", key=(0, 0)):
        return parameters, assignment, key

    def sweep(self, scorers, weights=None):
        assert weights is None
        return [replace(Resultants.zero(1, 1), weight=10.0) for _ in scorers]

    def m_step(self, resultants, parameters):
        return MStep(parameters + 1, resultants.weight * (1e-3 if parameters < 5 else 1e-9))

    def penalty(self, parameters):
        return 0.0 * parameters


def test_a_small_change_without_a_small_gap_is_not_convergence():
    plateau = Plateau()
    (fit,) = em.fit(plateau, plateau, [0], em.Settings(tol=1e-6))
    assert (fit.status, fit.n_iter, fit.gap) == ("converged", 5, 1e-9)
    # The paper's algorithm has no certificate, and stops at the first small change.
    (fit,) = em.fit(plateau, plateau, [0], em.Settings(tol=1e-6, certified=False))
    assert (fit.status, fit.n_iter, fit.gap) == ("converged", 1, 1e-3)


def test_callback_sees_every_sweep(clouds):
    X, _ = clouds(noise=0.8)
    model = VMFModel(8, "shared")
    directions = as_directions(X)
    starts = seeding.draw_starts(model, directions, 3, [0, 1, 2])
    seen = []
    fits = em.fit(model, directions, starts, em.Settings(), callback=seen.append)
    assert [p.n_sweeps for p in seen] == list(range(1, max(fit.n_iter for fit in fits) + 2))
    assert {p.n_runs for p in seen} == {3}
    assert seen[0].n_running == 3
    assert [p.n_running for p in seen] == sorted((p.n_running for p in seen), reverse=True)
    assert seen[0].objective == max(fit.trace[0] for fit in fits)


# -------------------------------------------------------------------------------- trouble has names


def run(model, X, start, **options):
    certified = model.algorithm == "exact"
    (fit,) = em.fit(model, as_directions(X), [start], em.Settings(certified=certified, **options))
    return fit


def test_collapsed(clouds):
    """A component opposite to all rows gets no mass."""
    X, _ = clouds(n_clouds=1, noise=0.1)
    centre = X.mean(axis=0) / np.linalg.norm(X.mean(axis=0))
    model = VMFModel(8, "shared")
    start = model.parameters(np.array([centre, -centre]), np.full(2, 30.0), np.full(2, 0.5))
    fit = run(model, X, start)
    assert fit.status == "collapsed"
    assert not fit.ok
    assert np.isnan(fit.gap)
    assert_array_equal(fit.parameters.prototypes, start.prototypes)  # nothing was made up
    assert fit.resultants.mass[1] < 1e-8 * 120


ABSENT = np.abs(np.random.default_rng(0).normal(size=(50, 6))) * (np.arange(6) > 0)
UNIFORM = L1(200.0, np.array([0.0, 1, 1, 1, 1, 1]))


@pytest.mark.parametrize(
    ("X", "model", "prototypes", "e_step", "status"),
    [
        # A hard step leaves a component empty.
        (
            [[1.0, 0.1], [1.0, -0.1], [1.0, 0.0]],
            VMFModel(2, "free"),
            np.eye(2),
            "hard",
            "collapsed",
        ),
        # Rows cancel out.
        ([*np.eye(2), *-np.eye(2)], VMFModel(2, "shared"), np.eye(2)[:1], "soft", "vanished"),
        # The best prototype is on a free feature without data, <mu, r> = 0: it is uniform.
        *(
            (ABSENT, VMFModel(6, kappa, UNIFORM), np.full((1, 6), 6**-0.5), "soft", "vanished")
            for kappa in ("shared", "free")
        ),
    ],
)
def test_other_troubles(X, model, prototypes, e_step, status):
    K = len(prototypes)
    start = model.parameters(prototypes, np.full(K, 10.0), np.full(K, 1 / K))
    fit = run(model, np.array(X), start, e_step=e_step)
    assert fit.status == status
    assert np.isnan(fit.gap)
    assert status == "vanished" or fit.resultants.mass[1] == 0


def test_zero_prototype_is_the_paper_s_own(clouds):
    X, labels = clouds()
    directions = as_directions(X)
    paper = VMFModel(8, "shared", L1(1e4), algorithm="paper")
    start = seeding.from_labels(paper, directions, labels, 3)
    assert run(paper, X, start).status == "zero_prototype"
    exact = run(replace(paper, algorithm="exact"), X, start)
    assert exact.status == "converged"
    assert_array_equal(np.count_nonzero(exact.parameters.prototypes, axis=1), 1)


def test_a_failed_run_leaves_the_others_alone(clouds):
    X, labels = clouds()
    model = VMFModel(8, "shared")
    directions = as_directions(X)
    good = seeding.from_labels(model, directions, labels, 3)
    centre = good.prototypes[0]
    bad = model.parameters(
        np.array([centre, -centre, -centre]), np.full(3, 20.0), np.array([1.0, 1e-99, 1e-99])
    )
    first, second = em.fit(model, directions, [bad, good], em.Settings())
    (alone,) = em.fit(model, directions, [good], em.Settings())
    assert first.status == "collapsed"
    assert second.status == "converged"
    assert_allclose(second.objective, alone.objective, rtol=1e-12)


# ---------------------------------------------------------------------------------------- plateaus


def test_a_plateau_is_no_end():
    """Changes below tol that hardly shrink: this run goes on and gains hundreds of tolerances."""
    X, _, _ = make_vmf_mixture(1000, 5, 8, overlap=0.2, random_state=1)
    directions = as_directions(X, n_threads=1)
    model = VMFModel(5, "shared", kappa_max=float(concentration(5, 1 - 1e-6)))
    starts = seeding.draw_starts(model, directions, 8, list(range(12)))
    starts = [start for start in starts if start is not None]
    fits = em.fit(model, directions, starts, em.Settings())
    longer = em.fit(model, directions, starts, em.Settings(tol=1e-12, max_iter=3000))
    left = [(more.objective - fit.objective) / 1000 for fit, more in zip(fits, longer, strict=True)]
    assert max(left) < 2e-6
    # One of them had met both of the other conditions hundreds of steps before.
    early = [
        np.flatnonzero(np.abs(np.diff(fit.trace)) <= 1e-7 * 1000)[0] < fit.n_iter - 100
        for fit in fits
    ]
    assert any(early)


def test_what_is_still_to_come_is_the_sum_of_a_geometric_series():
    changes = 3.0 * 0.7 ** np.arange(1, 200)
    assert_allclose(em._still_to_come(3.0 * 0.7, 3.0), changes[1:].sum())
    assert em._still_to_come(1.0, np.inf) == 0.0
    assert em._still_to_come(1.0, 1.0) == np.inf
    assert em._still_to_come(2.0, 1.0) == np.inf

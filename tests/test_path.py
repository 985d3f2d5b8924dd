"""A path is what it says: every step recomputed from its model and the rows."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

import spheremix as sm
from spheremix import em
from spheremix.bessel import log_normalizer
from spheremix.estimators.strategies import PathProgress
from spheremix.models.maximise import maximise_in_python
from spheremix.path import Step, exit_betas
from spheremix.penalties import L1

CRITERIA = ("aic", "bic", "ric", "ricc", "ebic", "icl")


@pytest.fixture(scope="module")
def rows():
    """Section 4.2 of the paper: d = 10, four components, 5 % of overlap, 500 rows."""
    return sm.datasets.make_vmf_mixture(random_state=0)[0]


@pytest.fixture(scope="module")
def wide():
    """Sparse rows in more dimensions: some hundreds of steps."""
    rng = np.random.default_rng(5)
    means = rng.gamma(0.3, size=(3, 60))
    counts = rng.poisson(6 * means[rng.integers(3, size=150)])
    counts[counts.sum(axis=1) == 0, 0] = 1
    return sparse.csr_array(counts.astype(float))


@pytest.fixture(scope="module")
def path(rows):
    return sm.VMFPath(n_components=4, random_state=0).fit(rows)


@pytest.fixture(scope="module")
def long_path(wide):
    return sm.VMFPath(n_components=3, random_state=0).fit(wide)


# ------------------------------------------------------------------------ independent recomputation


def unit(X):
    X = np.asarray(X.todense() if sparse.issparse(X) else X, dtype=float)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def scores(model, X):
    """Give log alpha_k + log c_d(kappa_k) + kappa_k <mu_k, x>, from the public attributes."""
    normalizers = log_normalizer(X.shape[1], model.kappas_)
    linear = unit(X) @ (model.kappas_[:, None] * model.prototypes_).T
    return linear + np.log(model.weights_) + normalizers


def gap_by_specification(path, X, i, open_reference, weights=None):
    """Give the gain of one more step: reference sweep, specification M-step, no kernel."""
    model = path.model(i)
    l1 = L1(float(path.betas_[i]), path._model.l1.weights)
    assignment = "hard" if path.e_step == "hard" else "soft"
    scorer = model._model.scorer(model._parameters(), assignment)
    (swept,) = open_reference(X).sweep([scorer], weights)
    best = maximise_in_python(
        swept.vectors,
        swept.mass,
        l1,
        path._model.kappa,
        path.kappa_max_,
        model.prototypes_,
        model.kappas_,
    )

    def value(mu, kappas, alpha):
        terms = np.log(alpha) + log_normalizer(mu.shape[1], kappas)
        fit = (kappas[:, None] * mu * swept.vectors).sum()
        return swept.mass @ terms + fit - l1.beta * l1.norms(mu).sum()

    after = value(best.prototypes, best.kappas, swept.mass / swept.mass.sum())
    return (after - value(model.prototypes_, model.kappas_, model.weights_)) / swept.weight


def exit_betas_by_definition(path, models):
    support = np.array([model.prototypes_ != 0 for model in models])
    expected = np.zeros(support.shape[1:])
    for k, j in np.ndindex(expected.shape):
        ever = np.flatnonzero(support[:, k, j])
        if ever.size:
            last = ever[-1]
            expected[k, j] = np.inf if last == len(support) - 1 else path.betas_[last + 1]
    return expected


def check_path(path, X, open_reference, weights=None):
    """Check everything that a path claims."""
    n_steps, K = path.kappas_.shape
    mass = np.ones(X.shape[0]) if weights is None else weights
    check_steps(path)
    models = [path.model(i) for i in range(n_steps)]
    assert_array_equal(path.exit_betas_, exit_betas_by_definition(path, models))
    assert_allclose(path.weights_.sum(axis=1), 1, rtol=1e-12)
    assert_allclose(path.sizes_.sum(axis=1), mass.sum(), rtol=1e-9)
    for i, model in enumerate(models):
        check_model(path, i, model)
        check_values(path, i, model, X, mass)
        cosines = model.prototypes_ @ model.prototypes_.T
        distinct = sum(np.all(cosines[k, :k] <= 1 - 1e-10) for k in range(K))
        assert path.n_distinct_prototypes_[i] == distinct
    for i in {0, n_steps // 2, n_steps - 1}:
        gap = gap_by_specification(path, X, i, open_reference, weights)
        # A difference of terms of size kappa and beta / n.
        rounding = 1e-12 * (path.kappas_[i].max() + path.betas_[i] / mass.sum() + 1)
        assert gap >= -rounding
        assert_allclose(path.stationarity_gaps_[i], gap, rtol=1e-3, atol=rounding)


def check_steps(path):
    """Betas increase; every step is a stationary point; the end is what it is called."""
    n_steps, K = path.kappas_.shape
    assert path.betas_[0] == 0
    assert np.all(np.diff(path.betas_) > 0)
    least = path.betas_[1:-1] * (1 + path.min_relative_increase)
    assert np.all(path.betas_[2:] >= least * (1 - 1e-15))
    assert len(path.statuses_) == n_steps
    assert set(path.statuses_) <= {"converged", "max_iter"}
    converged = np.array(path.statuses_) == "converged"
    assert np.all(path.stationarity_gaps_[converged] < path.tol)
    assert np.all(path.stationarity_gaps_ >= 0)
    assert np.all(path.n_iters_ >= 1)
    assert_allclose(path.sparsity_, 1 - path.n_nonzero_ / (K * path.n_features_in_), rtol=1e-14)
    penalised = path.feature_weights is None or np.all(path.feature_weights > 0)
    if path.status_ == "maximal_sparsity" and penalised:
        assert path.n_nonzero_[-1] == K
        assert np.all(np.isinf(path.exit_betas_).sum(axis=1) == 1)


def check_model(path, i, model):
    """The model of a step has the parameters of the step."""
    mu = model.prototypes_
    assert model.beta == path.betas_[i]
    assert_allclose(np.linalg.norm(mu, axis=1), 1, rtol=1e-12)
    assert np.count_nonzero(mu) == path.n_nonzero_[i]
    assert not np.any((mu != 0) & (np.abs(mu) < path.zero_tol))
    if isinstance(path.kappa, str):
        assert path.kappa == "free" or np.ptp(model.kappas_) == 0
    else:
        assert_array_equal(model.kappas_, np.broadcast_to(path.kappa, len(mu)))
    assert_array_equal(model.kappas_, path.kappas_[i])
    assert_array_equal(model.weights_, path.weights_[i])
    assert {name: values[i] for name, values in path.criteria_.items()} == model.criteria_


def check_values(path, i, model, X, mass):
    """Likelihood, objective, entropy, sizes and criteria follow from the model and the rows."""
    mu, n = model.prototypes_, mass.sum()
    each = scores(model, X)
    densities = logsumexp(each, axis=1)
    # Sums of terms of size kappa n: their rounding is that of the largest.
    atol = 1e-12 * (model.kappas_.max() * n + 1)
    log_likelihood = mass @ densities
    assert_allclose(path.log_likelihoods_[i], log_likelihood, rtol=1e-11, atol=atol)
    judged = mass @ each.max(axis=1) if path.e_step == "hard" else log_likelihood
    multipliers = np.ones(mu.shape[1]) if path.feature_weights is None else path.feature_weights
    penalty = path.betas_[i] * (np.abs(mu) @ multipliers).sum()
    assert_allclose(path.objectives_[i], judged - penalty, rtol=1e-11, atol=atol)
    logs = each - densities[:, None]
    entropy = -mass @ (np.exp(logs) * logs).sum(axis=1)
    assert_allclose(path.entropies_[i], entropy, rtol=1e-6, atol=1e-6 * n)
    sizes = mass @ np.exp(logs)
    if path.e_step == "hard":
        sizes = mass @ (each.argmax(axis=1)[:, None] == np.arange(len(mu)))
    assert_allclose(path.sizes_[i], sizes, rtol=1e-7, atol=1e-9 * n)
    for name, expected in criteria_by_hand(path, mu, log_likelihood, entropy, n).items():
        loose = 2 * atol + (2e-6 * n if name == "icl" else 0)
        assert_allclose(path.criteria_[name][i], expected, rtol=1e-10, atol=loose)


def criteria_by_hand(path, mu, log_likelihood, entropy, n):
    K, d = mu.shape
    n_kappas = {"shared": 1, "free": K}[path.kappa] if isinstance(path.kappa, str) else 0
    count = K - 1 + n_kappas + sum(max(1, np.count_nonzero(one) - 1) for one in mu)
    factors = {
        "aic": 2,
        "bic": np.log(n),
        "ric": 2 * np.log(d),
        "ricc": 2 * (np.log(d) + np.log(np.log(d))),
        "ebic": np.log(n) + np.log(d),
        "icl": np.log(n),
    }
    values = {name: phi * count - 2 * log_likelihood for name, phi in factors.items()}
    return values | {"icl": values["icl"] + 2 * entropy}


@st.composite
def problems(draw):
    n_components = draw(st.integers(1, 3))
    n = draw(st.integers(4 * n_components, 40))
    d = draw(st.sampled_from([2, 3, 5, 9, 20]))  # n < d too
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    centres = rng.normal(size=(n_components, d)) * draw(st.sampled_from([1.0, 4.0]))
    X = centres[rng.integers(n_components, size=n)] + rng.normal(size=(n, d))
    if draw(st.booleans()):
        X = np.maximum(X, 0.0) + 1e-2 * (np.arange(d) == 0)
    weights = rng.integers(0, 3, n) + (np.arange(n) < n_components) if draw(st.booleans()) else None
    options = {
        "n_components": n_components,
        "kappa": draw(st.sampled_from(["shared", "free", 8.0])),
        "feature_weights": rng.uniform(0.5, 2, d) if draw(st.booleans()) else None,
        "min_relative_increase": draw(st.sampled_from([0.0, 1e-3, 0.1])),
        "n_init": 2,
        "random_state": 0,
    }
    rows = sparse.csr_array(X) if draw(st.booleans()) else X
    return rows, None if weights is None else weights.astype(float), options


@settings(max_examples=50)
@given(problem=problems())
def test_every_path_is_what_it_says(problem, open_reference):
    X, weights, options = problem
    try:
        path = sm.VMFPath(**options).fit(X, sample_weight=weights)
    except RuntimeError as error:  # no start holds together: nothing to follow
        assert "No restart" in str(error)  # noqa: PT017
        return
    assert path.status_ in {"maximal_sparsity", "collapsed", "vanished"}
    check_path(path, X, open_reference, weights)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"kappa": "free"},
        {"kappa": 12.0},
        {"kappa": [6.0, 8.0, 10.0, 12.0]},
        {"e_step": "hard"},
        {"e_step": "stochastic"},
        {"feature_weights": np.linspace(0.5, 3, 10)},
        {"strategy": "dense"},
        {"strategy": "grid"},
        {"refine": 0.05},
        {"betas": [0.0, 1.0, 30.0, 31.0]},
    ],
    ids=str,
)
def test_every_kind_of_path_is_what_it_says(rows, options, open_reference):
    given = {"n_components": 4, "random_state": 0, "min_relative_increase": 1e-2, **options}
    path = sm.VMFPath(**given)
    path.fit(rows)
    if "strategy" in options or "betas" in options or "refine" in options:
        path.set_params(min_relative_increase=0.0)  # of the events, not of these steps
    check_path(path, rows, open_reference)


def test_on_sparse_rows(wide, long_path, open_reference):
    assert long_path.status_ == "maximal_sparsity"
    assert len(long_path.betas_) > 100
    check_path(long_path, wide, open_reference)


# --------------------------------------------------------------------------------------- the events


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
        (swept,) = directions.sweep([model._scorer()])
        ahead = []
        for k, j in np.argwhere(model.prototypes_ != 0):
            event = model.kappas_[k] * abs(swept.vectors[k, j]) / feature_weights[j]
            if event - beta > 0 and np.count_nonzero(model.prototypes_[k]) > 1:
                ahead.append(event - beta)
        expected = max(beta + min(ahead, default=0), beta * (1 + 1e-3))
        assert_allclose(path.betas_[i + 1], expected, rtol=1e-9)


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


def test_exit_betas_of_a_coordinate_that_comes_back():
    def step(beta, mu):
        mu = np.array([mu], dtype=float)
        places = mu.ravel().nonzero()[0]
        one = np.ones(1)
        rest = (0.0, 0.0, 1.0, 0.0, "converged", 1, 0.0, 1)
        return Step(beta, mu.ravel()[places], places, mu.shape[1], one, one, one, *rest)

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
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1 .* raise max_iter or tol"):
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


# ------------------------------------------------------------------------------- weights and starts


def test_a_weight_is_a_number_of_rows(rows, path):
    weights = np.random.default_rng(0).integers(0, 3, len(rows))
    options = {"n_components": 4, "init": path.model(0).prototypes_, "tol": 1e-10}
    weighted = sm.VMFPath(**options).fit(rows, sample_weight=weights)
    repeated = sm.VMFPath(**options).fit(np.repeat(rows, weights, axis=0))
    assert_allclose(weighted.betas_, repeated.betas_, rtol=1e-5)
    assert_allclose(weighted.objectives_, repeated.objectives_, rtol=1e-8)
    assert_array_equal(weighted.n_nonzero_, repeated.n_nonzero_)
    assert_allclose(weighted.criteria_["bic"], repeated.criteria_["bic"], rtol=1e-8)


def test_doubled_weights_double_beta(rows, path):
    """The objective is a total: twice the rows and twice the beta have the same maximum."""
    doubled = sm.VMFPath(n_components=4, init=path.model(0)).fit(rows, sample_weight=2.0)
    plain = sm.VMFPath(n_components=4, init=path.model(0)).fit(rows)
    assert_allclose(doubled.betas_, 2 * plain.betas_, rtol=1e-9)
    assert_allclose(doubled.objectives_, 2 * plain.objectives_, rtol=1e-9)
    for i in range(len(plain.betas_)):
        assert_allclose(doubled.model(i).prototypes_, plain.model(i).prototypes_, atol=1e-8)


def test_given_starts(rows, path):
    from_model = sm.VMFPath(n_components=4, init=path.model(0)).fit(rows)
    from_labels = sm.VMFPath(n_components=4, init=path.model(0).predict(rows)).fit(rows)
    for other in (from_model, from_labels):
        assert len(other.runs_) == 1
        assert_allclose(other.objectives_[0], path.objectives_[0], atol=1e-4)
        assert_allclose(other.betas_[-1], path.betas_[-1], rtol=1e-3)


def test_the_dense_step_is_the_best_restart(rows):
    path = sm.VMFPath(n_components=4, random_state=3, n_init=5, max_steps=1).fit(rows)
    mixture = sm.VMFMixture(n_components=4, random_state=3, n_init=5).fit(rows)
    assert len(path.runs_) == 5
    assert_array_equal(path.model(0).prototypes_, mixture.prototypes_)
    assert path.model(0).criteria_ == mixture.criteria_
    assert path.objectives_[0] == max(run.objective for run in path.runs_)


def test_stochastic_steps_explore_from_the_starts_only(rows):
    drawn = sm.VMFPath(n_components=4, random_state=0, e_step="stochastic").fit(rows)
    dense = sm.VMFMixture(n_components=4, random_state=0, e_step="stochastic").fit(rows)
    assert_array_equal(drawn.model(0).prototypes_, dense.prototypes_)
    soft = sm.VMFPath(n_components=4, init=dense).fit(rows)
    assert_allclose(drawn.betas_[-1], soft.betas_[-1], rtol=1e-2)
    assert np.all(drawn.n_iters_[1:] < 200)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_engines_and_threads(wide, container):
    X = container(wide.todense())
    options = {"n_components": 3, "random_state": 0, "min_relative_increase": 0.05}
    one = sm.VMFPath(n_threads=1, **options).fit(X)
    two = sm.VMFPath(n_threads=2, **options).fit(X)
    assert_same_path(one, two)
    reference = sm.VMFPath(engine="reference", **options).fit(X)
    assert_allclose(reference.betas_, one.betas_, rtol=1e-6)
    assert_allclose(reference.objectives_, one.objectives_, rtol=1e-9)


# ---------------------------------------------------------------------------------- to be continued

ARRAYS = (
    "betas_",
    "log_likelihoods_",
    "objectives_",
    "n_nonzero_",
    "entropies_",
    "n_iters_",
    "stationarity_gaps_",
    "n_distinct_prototypes_",
    "kappas_",
    "weights_",
    "sizes_",
    "exit_betas_",
    "labels_",
)


def assert_same_path(one, other):
    """The same bits."""
    for name in ARRAYS:
        assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in CRITERIA:
        assert_array_equal(one.criteria_[name], other.criteria_[name])
    assert (one.status_, one.statuses_) == (other.status_, other.statuses_)
    assert one.selected_ == other.selected_
    for i in range(len(one.betas_)):
        assert_array_equal(one.model(i).prototypes_, other.model(i).prototypes_)


@pytest.mark.parametrize("kappa", ["shared", "free"])
@pytest.mark.parametrize("refine", [None, 0.1])
def test_a_continued_path_has_the_bits_of_a_long_one(rows, kappa, refine):
    options = {"n_components": 4, "kappa": kappa, "random_state": 0, "refine": refine}
    long = sm.VMFPath(**options).fit(rows)
    parts = sm.VMFPath(max_steps=3, warm_start=True, **options).fit(rows)
    assert parts.status_ == "max_steps"
    runs = parts.runs_
    for max_steps in (4, 9):
        parts.set_params(max_steps=max_steps).fit(rows)
        stopped = sm.VMFPath(max_steps=max_steps, **options).fit(rows)
        assert_same_path(parts, stopped)
    parts.set_params(max_steps=None, max_sparsity=0.4).fit(rows)
    assert parts.status_ == "max_sparsity"
    parts.set_params(max_sparsity=1.0).fit(rows)
    assert_same_path(parts, long)
    assert parts.runs_ is runs
    assert_same_path(parts.fit(rows), long)  # at the end, nothing is left to do


def test_a_continued_grid(rows):
    options = {"n_components": 4, "random_state": 0}
    long = sm.VMFPath(betas=[5.0, 20.0, 30.0, 50.0], **options).fit(rows)
    parts = sm.VMFPath(betas=[5.0, 20.0], warm_start=True, **options).fit(rows)
    parts.set_params(betas=[5.0, 20.0, 30.0, 50.0]).fit(rows)
    assert_same_path(parts, long)


def test_without_warm_start_it_begins_again(rows, path):
    again = sm.VMFPath(n_components=4, random_state=0, max_steps=3).fit(rows)
    again.set_params(max_steps=None).fit(rows)
    assert_same_path(again, path)


def test_warm_start_refuses_another_problem(rows):
    path = sm.VMFPath(n_components=4, random_state=0, max_steps=2, warm_start=True).fit(rows)
    with pytest.raises(ValueError, match=r"warm_start.*another number of components"):
        path.set_params(n_components=3).fit(rows)
    with pytest.raises(ValueError, match=r"warm_start.*features"):
        path.set_params(n_components=4).fit(rows[:, :7])


class Stop:
    """Raise after some steps of a path."""

    def __init__(self, n_steps, error=KeyboardInterrupt):
        self.n_steps = n_steps
        self.error = error

    def __call__(self, progress):
        if isinstance(progress, PathProgress) and progress.n_steps == self.n_steps:
            raise self.error


def test_an_interrupted_path_keeps_its_steps_and_goes_on(rows, path):
    stopped = sm.VMFPath(n_components=4, random_state=0, callback=Stop(6), warm_start=True)
    with pytest.warns(UserWarning, match=r"interrupted after 6 steps.*warm_start=True"):
        stopped.fit(rows)
    assert stopped.status_ == "interrupted"
    assert_array_equal(stopped.betas_, path.betas_[:6])
    assert len(stopped.predict(rows)) == len(rows)
    assert_same_path(stopped.set_params(callback=None).fit(rows), path)


def test_interrupted_while_it_refines(rows):
    n = len(sm.VMFPath(n_components=4, random_state=0).fit(rows).betas_)
    options = {"n_components": 4, "random_state": 0, "refine": 0.1}
    stopped = sm.VMFPath(callback=Stop(n + 2), warm_start=True, **options)
    with pytest.warns(UserWarning, match="interrupted"):
        stopped.fit(rows)
    assert len(stopped.betas_) == n + 2
    long = sm.VMFPath(**options).fit(rows)
    assert len(long.betas_) > n + 2
    assert_same_path(stopped.set_params(callback=None).fit(rows), long)


def test_an_error_on_the_way_leaves_the_previous_path(rows):
    path = sm.VMFPath(n_components=4, random_state=0, max_steps=4, warm_start=True).fit(rows)
    before = pickle.loads(pickle.dumps(path))  # noqa: S301
    path.set_params(max_steps=None, callback=Stop(7, ZeroDivisionError))
    with pytest.raises(ZeroDivisionError):
        path.fit(rows)
    assert_same_path(path, before)
    path.set_params(callback=None).fit(rows)
    assert_same_path(path, sm.VMFPath(n_components=4, random_state=0).fit(rows))


def test_callback_and_verbose(wide, long_path, capsys):
    seen = []
    path = sm.VMFPath(n_components=3, random_state=0, verbose=1, callback=seen.append).fit(wide)
    assert_same_path(path, long_path)
    sweeps = [one for one in seen if isinstance(one, em.Progress)]
    steps = [one for one in seen if isinstance(one, PathProgress)]
    assert len(sweeps) + len(steps) == len(seen)
    assert sweeps[0].n_runs == 10
    assert [one.n_steps for one in steps] == list(range(2, len(path.betas_) + 1))
    assert_array_equal([one.beta for one in steps], path.betas_[1:])
    assert_array_equal([one.sparsity for one in steps], path.sparsity_[1:])
    assert [one.status for one in steps] == path.statuses_[1:]
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("restart ") for line in lines) == 10
    every = [line for line in lines if line.startswith("step ")]
    assert len(every) == len(path.betas_) // 100
    assert every[0].startswith(f"step 100: beta {path.betas_[99]:.4g}, sparsity")


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
        cold = model.l1.beta > 0 and "resultants" not in options
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


# --------------------------------------------------------------------------------- reading the path


def test_select_by_criterion(path):
    for name in CRITERIA:
        i = path.select(name)
        assert path.criteria_[name][i] == path.criteria_[name].min()
    assert path.selected_ == path.select("bic")
    assert path.select("aic") <= path.select("bic") <= path.select("ebic")


def test_select_takes_criteria_as_people_write_them(path):
    assert path.select("BIC") == path.select("bic")
    assert path.select("RICc") == path.select("ricc")
    with pytest.raises(ValueError, match="criterion must be one of 'aic'"):
        path.select("BCI")


def test_select_the_sparser_of_equals(path):
    tied = pickle.loads(pickle.dumps(path))  # noqa: S301
    tied.criteria_["bic"] = np.array([3.0, 1.0, 2.0, 1.0, 5.0])
    assert tied.select("bic") == 3


def test_select_by_words_and_sparsity(path):
    for n_words in (10, 8, 5.5, 1):
        i = path.select(n_words=n_words)
        assert path.n_nonzero_[i] <= 4 * n_words
        assert np.all(path.n_nonzero_[:i] > 4 * n_words)
    for sparsity in (0.0, 0.3, 0.9):
        i = path.select(sparsity=sparsity)
        assert path.sparsity_[i] >= sparsity
        assert np.all(path.sparsity_[:i] < sparsity)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((), {}, "Give one of criterion, n_words and sparsity"),
        (("bic",), {"sparsity": 0.5}, "Give one of"),
        ((), {"n_words": 3, "sparsity": 0.5}, "Give one of"),
        (("mdl",), {}, "criterion must be one of 'aic'.*got 'mdl'"),
        ((), {"sparsity": 0.95}, "no further than a sparsity of 0.900 .maximal_sparsity."),
        ((), {"n_words": 0.5}, "no further than 1.0 words a prototype"),
    ],
)
def test_select_refuses(path, arguments, options, message):
    with pytest.raises(ValueError, match=message):
        path.select(*arguments, **options)


def test_models_predict(rows, path):
    for i in (0, 5, -1):
        model = path.model(i)
        assert isinstance(model, sm.VMFMixture)
        each = scores(model, rows)
        assert_array_equal(model.predict(rows), each.argmax(axis=1))
        assert_allclose(model.score_samples(rows), logsumexp(each, axis=1), rtol=1e-9, atol=1e-11)
        assert_allclose(model.aic(rows), path.criteria_["aic"][i], rtol=1e-12)
        assert model.n_features_in_ == 10
        assert not hasattr(model, "labels_")
    # A step goes on as a mixture: it is a fixed point of its own beta.
    step = path.model(5)
    again = clone(step).set_params(init=step).fit(rows)
    assert_allclose(again.objective_, path.objectives_[5], atol=1e-4)
    with pytest.raises(IndexError):
        path.model(len(path.betas_))


def test_predictions_are_those_of_the_selected_step(rows, path):
    best = path.model(path.selected_)
    assert_array_equal(path.labels_, best.predict(rows))
    assert_array_equal(path.predict(rows), best.predict(rows))
    assert_array_equal(path.predict_proba(rows), best.predict_proba(rows))
    assert_array_equal(path.score_samples(rows), best.score_samples(rows))
    assert path.score(rows) == best.score(rows)
    assert path.n_iter_ == path.n_iters_[path.selected_]
    other = sm.VMFPath(n_components=4, random_state=0, criterion="aic").fit(rows)
    assert other.selected_ == path.select("aic") != path.selected_
    assert_array_equal(other.labels_, path.model(other.selected_).predict(rows))


def test_moved(rows, path):
    last = len(path.betas_) - 1
    expected = np.flatnonzero(path.model(0).predict(rows) != path.model(last).predict(rows))
    assert len(expected)
    assert_array_equal(path.moved(rows, 0, last), expected)
    assert_array_equal(path.moved(rows, last, 0), expected)
    assert len(path.moved(rows, 3, 3)) == 0


def test_steps_are_stored_sparse(wide, long_path):
    path = long_path
    assert path.n_nonzero_.sum() < 0.6 * len(path.betas_) * 3 * 60
    stored = len(pickle.dumps(path))
    assert stored < 16 * path.n_nonzero_.sum() + 1500 * len(path.betas_) + 50_000
    assert wide.shape[0] * 8 * len(path.betas_) > 100_000  # labels of all steps would not fit


# --------------------------------------------------------------------------- scikit-learn's manners


def test_clone_params_and_pickle(rows, path):
    copy = clone(path)
    assert copy.get_params() == path.get_params()
    assert not hasattr(copy, "betas_")
    with pytest.raises(NotFittedError):
        copy.predict(rows)
    with pytest.raises(NotFittedError):
        copy.select("bic")
    with pytest.raises(NotFittedError):
        copy.model(0)
    back = pickle.loads(pickle.dumps(path))  # noqa: S301
    assert_same_path(back, path)
    assert_array_equal(back.predict(rows), path.predict(rows))
    back.set_params(warm_start=True).fit(rows)
    assert_same_path(back, path)


def test_feature_names(rows):
    pd = pytest.importorskip("pandas")
    names = [f"word {j}" for j in range(10)]
    frame = pd.DataFrame(rows, columns=names)
    path = sm.VMFPath(n_components=4, random_state=0).fit(frame)
    assert_array_equal(path.feature_names_in_, names)
    for model in (path.best_estimator_, path.model(0)):
        assert_array_equal(model.feature_names_in_, names)
    assert_array_equal(path.predict(frame), path.labels_)
    with pytest.raises(ValueError, match="feature names"):
        path.predict(frame[names[::-1]])


def test_fit_leaves_the_rows_alone(rows):
    scaled = 3 * rows
    before = scaled.copy()
    path = sm.VMFPath(n_components=4, random_state=0, max_steps=3).fit(scaled)
    assert_array_equal(scaled, before)
    plain = sm.VMFPath(n_components=4, random_state=0, max_steps=3).fit(rows)
    assert_allclose(path.betas_, plain.betas_, rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "mdl"}, "criterion must be one of 'aic'"),
        ({"strategy": "forward"}, "strategy must be one of 'path'"),
        ({"min_relative_increase": -0.1}, "min_relative_increase must be .* at least 0"),
        ({"beta_min_ratio": np.nan}, "beta_min_ratio must be a finite number"),
        ({"beta_min_ratio": 1.0}, "beta_min_ratio must be below 1"),
        ({"max_sparsity": "half"}, "max_sparsity must be a finite number"),
        ({"max_steps": 0}, "max_steps must be an integer of at least 1"),
        ({"refine": 0.0}, "refine must be a finite number above 0"),
        ({"betas": [1.0, 1.0]}, "strictly increasing"),
        ({"betas": []}, "strictly increasing list of at least one"),
        ({"betas": [3.0, -1.0]}, "betas must be finite and non-negative"),
        ({"betas": [1.0, np.inf]}, "betas must be finite"),
        ({"betas": 3.0}, "betas must have one value a step"),
        ({"n_components": 0}, "n_components must be an integer of at least 1"),
        ({"kappa": "common"}, "kappa must be one of 'shared', 'free'"),
        ({"feature_weights": np.ones(3)}, "feature_weights must have one value a feature"),
        ({"zero_tol": 0.5}, "zero_tol must be below"),
    ],
)
def test_bad_parameters(rows, options, message):
    with pytest.raises(ValueError, match=message):
        sm.VMFPath(**{"n_components": 4, **options}).fit(rows)


def test_frozen_steps(path):
    step = path._trail.steps[3]
    with pytest.raises(AttributeError):
        step.beta = 4.0
    assert replace(step, beta=4.0).beta == 4.0


ZERO_ROWS = "the data of this check has rows of zeros, which have no direction"
STARTS = "the starts are drawn by row: repeating or removing rows changes which are drawn"
EXPECTED = {
    "check_estimators_dtypes": ZERO_ROWS,
    "check_estimator_sparse_tag": ZERO_ROWS,
    "check_estimator_sparse_array": ZERO_ROWS,
    "check_estimator_sparse_matrix": ZERO_ROWS,
    "check_sample_weight_equivalence_on_dense_data": STARTS,
    "check_sample_weight_equivalence_on_sparse_data": STARTS,
}


@parametrize_with_checks(
    [sm.VMFPath(n_components=2, n_init=1), sm.VMFPath(n_components=2, n_init=2, kappa="free")],
    expected_failed_checks=lambda _: EXPECTED,
)
def test_scikit_learn(estimator, check):
    check(estimator)


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


def test_warm_start_refuses_other_rows(rows):
    path = sm.VMFPath(4, random_state=0, max_steps=3).fit(rows)
    path.set_params(warm_start=True, max_steps=6)
    with pytest.raises(ValueError, match="not the rows and weights of the previous path"):
        path.fit(rows[:-20])
    path.fit(rows)
    assert len(path.betas_) == 6


def test_every_step_goes_to_the_next_event(open_reference):
    """With many coordinates events lie close together, and none is jumped over (Algorithm 3)."""
    X, _, _ = sm.datasets.make_vmf_mixture(300, 60, 3, kappa=15.0, random_state=0)
    path = sm.VMFPath(3, random_state=0, min_relative_increase=0.0, max_steps=60).fit(X)
    directions = open_reference(X)
    close = 0
    for i in range(1, len(path.betas_) - 1):
        mixture, beta = path.model(i), path.betas_[i]
        (resultants,) = directions.sweep([mixture._scorer()])
        events = (mixture.kappas_[:, None] * np.abs(resultants.vectors))[mixture.prototypes_ != 0]
        expected = events[events > beta].min()
        np.testing.assert_allclose(path.betas_[i + 1], expected, rtol=1e-9)
        close += expected < 1.01 * beta
    assert close > 5

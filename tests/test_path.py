"""A path is what it says: every step recomputed from its model and the rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import spheremix as sm
from spheremix import em
from spheremix.bessel import log_normalizer
from spheremix.models.maximise import maximise_in_python
from spheremix.path import PathPoint, exit_betas
from spheremix.penalties import L1


def unit(X):
    X = np.asarray(X.todense() if sparse.issparse(X) else X, dtype=float)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def scores(model, X):
    """Return log alpha_k + log c_d(kappa_k) + kappa_k <mu_k, x>, from the public attributes."""
    normalizers = log_normalizer(X.shape[1], model.kappas_)
    linear = unit(X) @ (model.kappas_[:, None] * model.prototypes_).T
    return linear + np.log(model.weights_) + normalizers


def gap_by_specification(path, X, i, open_reference, weights=None):
    """Return the gain of one more step: reference sweep, specification M-step, no kernel."""
    model = path.model(i)
    l1 = L1(float(path.betas_[i]), path.state_.model.l1.weights)
    assignment = "hard" if path.e_step == "hard" else "soft"
    parameters = model.model_.parameters(model.prototypes_, model.kappas_, model.weights_)
    scorer = model.model_.scorer(parameters, assignment)
    (swept,) = open_reference(X).sweep([scorer], weights)
    best = maximise_in_python(
        swept.vectors,
        swept.mass,
        l1,
        path.state_.model.kappa,
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


@pytest.mark.filterwarnings("ignore:A kappa of the mixture")  # rows of some examples are identical
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


@pytest.mark.parametrize(
    ("kappa", "weighted", "d", "least"),
    [
        *(
            (kappa, weighted, 10, 1e-3)
            for kappa in ("shared", "free")
            for weighted in (False, True)
        ),
        ("shared", False, 60, 0.0),  # events lie close together, and none is jumped over
    ],
)
def test_next_beta_is_that_of_algorithm_3(rows, open_reference, kappa, weighted, d, least):
    X = rows
    if d > 10:
        X, _, _ = sm.datasets.make_vmf_mixture(300, d, 3, kappa=15.0, random_state=0)
    feature_weights = np.linspace(0.5, 2, d) if weighted else np.ones(d)
    options = {"kappa": kappa, "min_relative_increase": least, "feature_weights": feature_weights}
    path = sm.VMFPath(4 if d == 10 else 3, random_state=0, max_steps=60, **options).fit(X)
    assert len(path.betas_) > 8
    directions, close = open_reference(X), 0
    for i in range(len(path.betas_) - 1):
        model, beta = path.model(i), path.betas_[i]
        (swept,) = directions.sweep([model.scorer_])
        ahead = []
        for k, j in np.argwhere(model.prototypes_ != 0):
            event = model.kappas_[k] * abs(swept.vectors[k, j]) / feature_weights[j]
            if event - beta > 0 and np.count_nonzero(model.prototypes_[k]) > 1:
                ahead.append(event - beta)
        expected = max(beta + min(ahead, default=0), beta * (1 + least))
        assert_allclose(path.betas_[i + 1], expected, rtol=1e-9)
        close += 0 < expected - beta < 0.01 * beta
    assert close > 5 or least


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


@pytest.mark.parametrize("free", [[2, 7], [0], list(range(10))])
def test_unpenalised_features_never_leave(rows, free):
    weights = np.ones(10)
    weights[free] = 0.0
    path = sm.VMFPath(n_components=4, feature_weights=weights, random_state=0).fit(rows)
    assert path.status_ == "maximal_sparsity"
    assert np.all(np.isinf(path.exit_betas_[:, free]))
    assert_array_equal(path.model(-1).prototypes_ != 0, np.tile(weights == 0, (4, 1)))
    assert len(free) < 10 or len(path.betas_) == 1  # nothing penalised is no path


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

"""Bad input gives its own message: which row or parameter, and what to do."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

import spheremix as sm

X = np.random.default_rng(0).normal(size=(40, 5))
LABELS = np.arange(40) % 3


def mixture(**parameters):
    return sm.VMFMixture(**{"n_components": 3, "n_init": 1, "random_state": 0, **parameters})


def spoiled(value, rows, n=40, columns=2):
    bad = np.random.default_rng(0).normal(size=(n, 5))
    bad[rows, columns] = value
    return bad


# ---------------------------------------------------------------------------------------- rows


@pytest.mark.parametrize("contain", [np.asarray, sparse.csr_array, sparse.csc_array, pd.DataFrame])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("verb", ["fit", "predict"])
def test_not_a_number_and_infinity_name_the_row(contain, value, verb):
    bad = contain(spoiled(value, [12_345, 17_000], n=20_000))
    what = "NaN" if np.isnan(value) else "infinity"
    mix = mixture() if verb == "fit" else mixture().fit(X)
    if contain is pd.DataFrame and verb == "predict":
        mix.fit(contain(X))
    message = rf"Input X contains {what}: row 12345 contains {what} \(2 rows in all\).*Drop such"
    with pytest.raises(ValueError, match=message):
        getattr(mix, verb)(bad)


@pytest.mark.parametrize("contain", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("verb", ["fit", "predict", "score"])
def test_zero_rows_are_counted_and_the_first_named(contain, verb):
    bad = contain(spoiled(0.0, [3, 8, 9, 20, 21, 30, 39], columns=slice(None)))
    mix = mixture() if verb == "fit" else mixture().fit(X)
    message = r"7 rows with zeros only.*no direction: 3, 8, 9, 20, 21, \.\.\.\. Drop them"
    with pytest.raises(ValueError, match=message):
        getattr(mix, verb)(bad)


@pytest.mark.parametrize("verb", ["predict", "predict_proba", "transform", "score_samples", "bic"])
@pytest.mark.parametrize("contain", [np.asarray, sparse.csr_array, np.ndarray.tolist])
@pytest.mark.parametrize("d", [1, 4])
def test_another_number_of_columns_at_predict(verb, contain, d):
    mix = mixture().fit(X)
    # Nested lists of one column are refused before they are compared.
    few = r"minimum of 2 is required" if contain is np.ndarray.tolist and d == 1 else ""
    with pytest.raises(
        ValueError, match=few or f"X has {d} features, but VMFMixture is expecting 5"
    ):
        getattr(mix, verb)(contain(X[:, :d]))


# -------------------------------------------------------------------------------------- weights


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            np.ones(39),
            r"sample_weight must have one value for each row: expected shape \(40,\), got \(39,",
        ),
        (np.ones((40, 2)), r"sample_weight .*expected shape \(40,\), got \(40, 2\)"),
        (np.where(np.arange(40) == 7, -1.0, 1), "sample_weight .*non-negative: row 7 has -1.0"),
        (np.where(np.arange(40) == 9, np.nan, 1), "sample_weight must be finite .*row 9 has nan"),
        (np.where(np.arange(40) == 9, np.inf, 1), "sample_weight must be finite .*row 9 has inf"),
        (np.zeros(40), "sample_weight is zero for every row"),
        (
            np.where(np.arange(40) < 2, 1.0, 0.0),
            "n_components=3 is more than the n_samples=2 rows of positive weight: .*at most 2",
        ),
    ],
)
def test_sample_weight(weights, message):
    with pytest.raises(ValueError, match=message):
        mixture().fit(X, sample_weight=weights)


# ----------------------------------------------------------------------------------- parameters


FITTED = (sm.VMFMixture, sm.VMFPath, sm.VMFTree, sm.SphericalKMeans, sm.VMFCoclustering)
SHARED = [
    ({"n_components": 0}, "n_components must be an integer of at least 1, got 0"),
    ({"n_components": 2.5}, "n_components must be an integer of at least 1, got 2.5"),
    ({"n_components": True}, "n_components must be an integer"),
    ({"n_components": 41}, r"n_components=41 is more than the n_samples=40 rows: lower|the 5 feat"),
    ({"n_init": 0}, "n_init must be an integer of at least 1"),
    ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
    ({"tol": -1e-3}, "tol must be a finite number at least 0"),
    ({"engine": "cuda"}, "engine must be one of .*got 'cuda'"),
    ({"n_threads": 0}, "n_threads must be None or an integer >= 1, got 0"),
    ({"warm_start": "no"}, "warm_start must be True or False, got 'no'"),
    ({"kappa": "common"}, "kappa must be (one of )?'shared', 'free'|kappa must be one of 'free'"),
    ({"kappa": -3.0}, "kappa must be a finite number above 0, got -3.0|must be 'shared'"),
    ({"kappa": [1.0, 2.0]}, r"kappa must have one value for each component: .* \(3,\)|a number"),
    ({"kappa": [1.0, 2.0, 0.0]}, "kappa must be (above 0|'shared', 'free' or a number)"),
    ({"init": "kmeans"}, r"init must be one of .*'k-means\+\+'.*got 'kmeans'"),
    (
        {"init": LABELS[:30]},
        r"init given as labels must be integers, one for each of the 40 rows.*\(30,\)",
    ),
    ({"init": LABELS + 0.5}, "init given as labels must be integers.*float64"),
    ({"init": LABELS + 1}, r"init given as labels must be in 0\.\.2"),
    ({"init": LABELS - 1}, r"init given as labels must be in 0\.\.2"),
    ({"init": np.minimum(LABELS, 1)}, "init: class 2 of the labels has collapsed"),
    ({"init": np.eye(3, 4)}, r"init must be .*prototypes of shape \(3, 5\).*shape \(3, 4\)"),
    ({"init": np.diag([1.0, 0, 1, 1, 1])[:3]}, "init: prototype 1 is zero or not finite"),
    ({"init": np.full((3, 5), np.nan)}, "init: prototype 0 is zero or not finite"),
    ({"feature_weights": np.ones(4)}, r"feature_weights .* each feature: .*\(5,\), got \(4,\)"),
    ({"feature_weights": [1, 1, -2, 1, 1]}, "feature_weights .*non-negative: feature 2 has -2"),
    ({"feature_weights": [1, np.nan, 1, 1, 1]}, "feature_weights .*finite .*feature 1 has nan"),
    ({"zero_tol": -1e-3}, "zero_tol must be a finite number at least 0"),
    ({"zero_tol": 0.5}, r"zero_tol must be below 1 / sqrt\(5\)"),
    ({"noise": "pink"}, "noise must be one of 'uniform'"),
    ({"noise": "uniform", "max_noise": 1.0}, "max_noise is a share, below 1"),
    ({"max_noise": 0.1}, "max_noise is for rows that belong to no component"),
    ({"max_noise": None}, "there are none without noise"),
    ({"noise": "uniform", "max_noise": 0.0}, "max_noise must be a finite number above 0"),
    ({"noise": "uniform", "max_noise": "some"}, "max_noise must be one of 'auto'"),
    ({"kappa_prior": 3.0}, "kappa_prior must have one value"),
    ({"kappa_prior": (1.0, 1.0)}, "a mean length in"),
    ({"kappa_prior": (0.0, 0.5)}, "a number of rows above 0"),
    ({"kappa_prior": (1.0, 0.0), "kappa": 4.0}, "kappa is given"),
    ({"kappa_max": 0.0}, "kappa_max must be a finite number above 0"),
    ({"kappa_max": "big"}, "kappa_max must be one of 'auto', got 'big'"),
    ({"kappa_solver": "tanabe"}, "kappa_solver must be one of 'exact', 'banerjee', got"),
    ({"m_step": "fast"}, "m_step must be one of 'exact', 'paper', got 'fast'"),
    ({"e_step": "stochastic"}, "e_step must be one of 'soft', 'hard', got 'stochastic'"),
    # Of one kind only.
    ({"beta": -0.5}, "beta must be a finite number at least 0, got -0.5"),
    ({"beta": np.nan}, "beta must be a finite number at least 0, got nan"),
    ({"beta": np.inf}, "beta must be a finite number"),
    ({"beta": "5"}, "beta must be a finite number at least 0, got '5'"),
    ({"criterion": "mdl"}, "criterion must be one of 'aic'"),
    ({"strategy": "forward"}, "strategy must be one of 'path'"),
    ({"min_relative_increase": -0.1}, "min_relative_increase must be .* at least 0"),
    ({"beta_min_ratio": np.nan}, "beta_min_ratio must be a finite number"),
    ({"beta_min_ratio": 1.0}, "beta_min_ratio must be below 1"),
    ({"max_sparsity": "half"}, "max_sparsity must be a finite number"),
    ({"max_steps": 0}, "max_steps must be an integer of at least 1"),
    ({"refine": 0.0}, "refine must be a finite number above 0"),
    ({"relaxed": "yes"}, "relaxed must be True or False, got 'yes'"),
    ({"betas": [1.0, 1.0]}, "strictly increasing"),
    ({"betas": []}, "strictly increasing list of at least one"),
    ({"betas": [3.0, -1.0]}, "betas must be finite and non-negative"),
    ({"betas": [1.0, np.inf]}, "betas must be finite"),
    ({"betas": 3.0}, "betas must have one value for each step"),
    ({"n_leaves": 0}, "n_leaves must be an integer of at least 1, got 0"),
    ({"n_clusters": 0}, "n_clusters must be an integer of at least 1"),
    ({"n_clusters": 13}, "a tree of 3 leaves cannot be cut into 13 clusters"),
    ({"sparse_prototypes": "yes"}, "sparse_prototypes must be True or False, got 'yes'"),
    ({"algorithm": "vem"}, "algorithm must be one of 'em', 'cem', 'sem', 'saem', 'caem'"),
    ({"weights": "even"}, "weights must be one of"),
    ({"count": "dense", "conscience": False}, "count must be one of"),
    ({"conscience": "no"}, "conscience must be True or False, got 'no'"),
    ({"conscience": True, "kappa": [1.0, 2.0, 3.0]}, "kappa must be one number at most"),
    ({"n_drawn": 0}, "n_drawn"),
]


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        pytest.param(kind, *case, id=f"{kind.__name__}-{case[0]}")
        for kind in FITTED
        for case in SHARED
        if case[0].keys() <= inspect.signature(kind).parameters.keys()
    ],
)
def test_parameters(kind, parameters, message):
    size = "n_leaves" if kind is sm.VMFTree else "n_components"
    estimator = kind(**{size: 3, "n_init": 1, "random_state": 0, **parameters})
    with pytest.raises(ValueError, match=message):
        estimator.fit(X)
    assert not [name for name in vars(estimator) if name.endswith("_")]


@pytest.mark.parametrize("kind", [sm.VMFMixture, sm.SphericalKMeans])
def test_a_given_prototype_without_a_row_is_put_on_one(kind):
    """The same start and the same words from both estimators."""
    given = np.concatenate([X[:2], X[:1]])
    with pytest.warns(
        UserWarning, match="init: 1 of the 3 prototypes is nearest to no row"
    ) as seen:
        fitted = kind(3, init=given).fit(X)
    assert seen[0].filename == __file__
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    farthest = (unit @ unit[:2].T).max(axis=1).argmin()
    same = kind(3, init=np.concatenate([X[:2], X[[farthest]]])).fit(X)
    np.testing.assert_array_equal(fitted.prototypes_, same.prototypes_)
    few = np.repeat(np.eye(2, 5), 10, axis=0)
    with pytest.raises(ValueError, match=r"init: 2 of the 3 .* not enough different rows"):
        kind(3, init=np.ones((3, 5))).fit(few)


def test_lost_restarts_are_told():
    """The threshold of the paper's M-step takes everything from three of four starts."""
    told = r"3 of 4 restarts of a mixture of 3 components failed \(3 zero_prototype\), and"
    with pytest.warns(UserWarning, match=told):
        fitted = mixture(init="random", n_init=4, m_step="paper", beta=1.0).fit(X)
    assert [run.status for run in fitted.runs_].count("converged") == 1


def test_sample_size():
    mix = mixture().fit(X)
    for n in (0, -1, 2.5):
        with pytest.raises(ValueError, match="n_samples must be an integer of at least 1"):
            mix.sample(n)


def test_no_restart_gives_a_mixture():
    """Two distinct directions are no three clusters; the message counts and advises."""
    rows = np.repeat(np.eye(2, 5), 10, axis=0)
    mix = mixture(n_init=4)
    message = r"No restart of 4 gave a mixture of 3 components \(4 no_start\); there may be fewer"
    with pytest.raises(RuntimeError, match=message):
        mix.fit(rows)
    assert not [name for name in vars(mix) if name.endswith("_")]


def test_the_paper_s_m_step_fails_where_everything_is_thresholded():
    message = r"1 zero_prototype\): lower n_components, lower beta"
    with pytest.raises(RuntimeError, match=message):
        mixture(m_step="paper", beta=1e4).fit(X)


# ------------------------------------------------------------------ nothing half-fitted is left


def failing_fits():
    yield "rows", {}, {"X": spoiled(np.nan, [3])}
    yield "weights", {}, {"X": X, "sample_weight": -np.ones(40)}
    yield "beta", {"beta": -1.0}, {"X": X}
    yield "init", {"init": np.eye(2)}, {"X": X}
    yield "components", {"n_components": 50}, {"X": X}
    yield "no mixture", {"m_step": "paper", "beta": 1e5}, {"X": X}


@pytest.mark.parametrize(
    ("parameters", "arguments"), [c[1:] for c in failing_fits()], ids=[c[0] for c in failing_fits()]
)
def test_a_failed_fit_leaves_nothing(parameters, arguments):
    mix = mixture(**parameters)
    with pytest.raises((ValueError, RuntimeError)):
        mix.fit(**arguments)
    assert set(vars(mix)) == set(mix.get_params())
    with pytest.raises(NotFittedError):
        mix.predict(X)


@pytest.mark.parametrize(
    ("parameters", "arguments"), [c[1:] for c in failing_fits()], ids=[c[0] for c in failing_fits()]
)
def test_a_failed_refit_leaves_the_fit_before(parameters, arguments):
    """On rows of another width, too: the old fit still knows its own."""
    mix = mixture().fit(pd.DataFrame(X, columns=list("abcde")))
    expected = mix.predict(pd.DataFrame(X, columns=list("abcde")))
    wide = {**arguments, "X": np.column_stack([arguments["X"], np.ones(40)])}
    with pytest.raises((ValueError, RuntimeError)):
        mix.set_params(**parameters).fit(**wide)
    assert mix.n_features_in_ == 5
    assert_array_equal(mix.predict(pd.DataFrame(X, columns=list("abcde"))), expected)

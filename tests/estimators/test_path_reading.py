"""Reading a path: the step it selects, its predictions, and scikit-learn's manners."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import spheremix as sm
from spheremix.select import CRITERIA


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
        ({"betas": 3.0}, "betas must have one value for each step"),
        ({"n_components": 0}, "n_components must be an integer of at least 1"),
        ({"kappa": "common"}, "kappa must be one of 'shared', 'free'"),
        ({"feature_weights": np.ones(3)}, "feature_weights must have one value for each feature"),
        ({"zero_tol": 0.5}, "zero_tol must be below"),
    ],
)
def test_bad_parameters(rows, options, message):
    with pytest.raises(ValueError, match=message):
        sm.VMFPath(**{"n_components": 4, **options}).fit(rows)


def test_frozen_steps(path):
    step = path.state_.steps[3]
    with pytest.raises(AttributeError):
        step.beta = 4.0
    assert replace(step, beta=4.0).beta == 4.0

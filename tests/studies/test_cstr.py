"""The paper's section 5.3: 475 abstracts of computer science, 1,000 words, four classes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

import spheremix as sm
from spheremix.data.open import as_directions

pytestmark = pytest.mark.slow

CRITERIA = ("aic", "bic", "ebic", "ric", "ricc")
SPARSITIES = (0.56, 0.71, 0.78, 0.82, 0.88)  # two independent implementations
PAPER = (0.807, 0.808, 0.803, 0.797, 0.750)  # adjusted Rand indices of its table
REPETITIONS = range(10)


@pytest.fixture(scope="module")
def paths(cstr):
    """Ten repetitions of: the best of 50 random starts, then the path."""
    rows, _ = cstr
    return [
        sm.VMFPath(n_components=4, init="random", n_init=50, random_state=s).fit(rows)
        for s in REPETITIONS
    ]


@pytest.fixture(scope="module")
def curves(cstr):
    """Criteria of the dense mixtures, of shape (repetitions, K = 2..8)."""
    rows, _ = cstr
    studies = [
        sm.VMFMixtureIC(
            n_components=range(2, 9), init="random", n_init=50, random_state=s, max_steps=1
        ).fit(rows)
        for s in REPETITIONS[:5]
    ]
    return {name: np.array([s.dense_criteria_[name] for s in studies]) for name in CRITERIA}


@pytest.mark.parametrize(("criterion", "sparsity"), list(zip(CRITERIA, SPARSITIES, strict=True)))
def test_criteria_select_the_known_sparsities(paths, criterion, sparsity):
    within = 0.05 if criterion == "ric" else 0.03
    selected = [path.sparsity_[path.select(criterion)] for path in paths]
    assert_allclose(selected, sparsity, atol=within)


@pytest.mark.parametrize(("criterion", "paper"), list(zip(CRITERIA, PAPER, strict=True)))
def test_partitions_agree_with_the_classes_as_in_the_paper(cstr, paths, criterion, paper):
    rows, classes = cstr
    agreements = [
        adjusted_rand_score(classes, path.model(path.select(criterion)).predict(rows))
        for path in paths
    ]
    assert_allclose(np.mean(agreements), paper, atol=0.02)


def test_every_step_is_a_stationary_point(paths):
    for path in paths:
        assert path.status_ == "maximal_sparsity"
        assert path.n_nonzero_[-1] == 4
        assert set(path.statuses_) == {"converged"}
        assert path.stationarity_gaps_.max() < path.tol
        assert np.all(np.diff(path.betas_) > 0)
        assert np.all(path.betas_[2:] >= 1.001 * path.betas_[1:-1] * (1 - 1e-15))
        assert np.all(path.n_distinct_prototypes_[path.sparsity_ < 0.95] == 4)


def test_no_step_is_spent_where_nothing_visible_changes(cstr, paths):
    rows, _ = cstr
    directions = as_directions(rows)
    for path in paths:
        assert 1200 <= len(path.betas_) <= 2000
        dense = path.model(0)
        (swept,) = directions.sweep([dense.scorer_])
        events = dense.kappas_[:, None] * np.abs(swept.vectors)
        assert path.betas_[1] > 1e-5 * events.max()
        assert np.sum(path.betas_ < 10) < 30
        # Almost every step loses a coordinate, and the others change the likelihood.
        idle = np.diff(path.n_nonzero_) == 0
        assert idle.sum() < 30
        assert np.all(np.abs(np.diff(path.log_likelihoods_)[idle]) > 1e-3)


def test_dense_prototypes_have_coordinates_that_are_numerically_zero(paths):
    """What counts as a coordinate decides K: 2,202 of 4,000, within some documents' words."""
    for path in paths:
        assert 2150 <= path.n_nonzero_[0] <= 2250
        mu = path.model(0).prototypes_
        assert np.abs(mu[mu != 0]).min() >= 1e-8


def test_aic_and_bic_fall_with_the_number_of_components(curves):
    for name in ("aic", "bic"):
        assert np.all(np.diff(curves[name].mean(axis=0)) < 0)
    assert np.all(np.diff(curves["aic"], axis=1) < 0)  # in every repetition


def test_ebic_and_ric_turn_at_four(curves):
    """A local minimum; single runs may dip again at 7 or 8."""
    for name in ("ebic", "ric"):
        mean = curves[name].mean(axis=0)
        assert np.all(np.diff(mean[:3]) < 0)
        assert mean[3] > mean[2]
        alone = curves[name]
        turns = (alone[:, 1] > alone[:, 2]) & (alone[:, 3] > alone[:, 2])
        assert turns.mean() >= 0.8


def test_repetitions_agree_on_the_last_words(paths):
    """One word a cluster at the end, and nearly the same ones whatever the start."""
    last = [frozenset(np.flatnonzero(path.model(-1).prototypes_.any(axis=0))) for path in paths]
    assert max(last.count(words) for words in last) >= 7
    assert_allclose([path.betas_[-1] for path in paths], 989, rtol=1e-3)


def test_refinement_and_continuation(cstr, paths):
    rows, _ = cstr
    whole = paths[0]
    parts = sm.VMFPath(
        n_components=4, init="random", n_init=50, random_state=0, warm_start=True, max_steps=700
    )
    parts.fit(rows).set_params(max_steps=None).fit(rows)
    assert_array_equal(parts.betas_, whole.betas_)
    assert_array_equal(parts.objectives_, whole.objectives_)
    assert_array_equal(parts.exit_betas_, whole.exit_betas_)


def test_a_path_stays_small(paths):
    path = paths[0]
    stored = len(pickle.dumps(path))
    assert stored < 16 * path.n_nonzero_.sum() + 1500 * len(path.betas_) + 1e6
    assert stored < 0.65 * len(path.betas_) * 4 * 1000 * 8  # of dense prototypes

"""Groups that are asked for: words, and labels of some rows."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import spheremix as sm
from spheremix.errors import NotedWarning, ParameterError

WORDS = ["goal", "match", "bank", "profit", "film", "actor", "the", "new", "rain", "snow"]
GROUPS = {"money": ["bank", "profit"], "sport": ["goal", "match"]}


def texts(n=240, seed=0):
    """Rows of four subjects in equal shares, sport, money, film and weather, and common words."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 4
    rates = np.full((4, len(WORDS)), 0.05)
    for k, own in enumerate([(0, 1), (2, 3), (4, 5), (8, 9)]):
        rates[k, list(own)] = 1.5
    rates[:, 6:8] = 0.7
    counts = rng.poisson(rates[truth]).astype(float)
    counts[counts.sum(axis=1) == 0, 6] = 1.0
    return pd.DataFrame(counts, columns=WORDS), truth


def share_of(labels, truth, k, subject):
    return np.mean(truth[labels == k] == subject)


@pytest.mark.parametrize("n_components", [4, 5])
def test_groups_that_are_asked_for_are_there_in_their_order(n_components):
    X, truth = texts()
    mix = sm.VMFMixture(n_components, seeds=GROUPS, random_state=0).fit(X)
    assert share_of(mix.labels_, truth, 0, 1) > 0.8
    assert share_of(mix.labels_, truth, 1, 0) > 0.8
    assert mix.status_ == "converged"
    assert mix.stationarity_gap_ < 1e-7
    assert {run.start for run in mix.runs_} == {"seeds"}


def test_seeds_alone_are_enough_of_a_start():
    X, truth = texts()
    four = {**GROUPS, "film": ["film"], "weather": ["rain", "snow"]}
    mix = sm.VMFMixture(4, seeds=four).fit(X)
    assert [share_of(mix.labels_, truth, k, s) > 0.8 for k, s in enumerate((1, 0, 2, 3))] == [1] * 4
    assert len(mix.runs_) == 1


def test_numbers_of_columns_and_sparse_rows_give_what_words_give():
    X, _ = texts()
    by_word = sm.VMFMixture(4, seeds=GROUPS, random_state=0).fit(X)
    by_number = sm.VMFMixture(4, seeds=[[2, 3], [0, 1]], random_state=0)
    by_number.fit(sparse.csr_array(X.to_numpy()))
    assert_allclose(by_number.prototypes_, by_word.prototypes_, atol=1e-9)


def test_the_prior_is_the_mean_of_the_rows_with_the_words():
    X, _ = texts()
    mix = sm.VMFMixture(4, seeds=GROUPS, seed_weight=0.5, random_state=0).fit(X)
    rows = X.to_numpy() / np.linalg.norm(X.to_numpy(), axis=1, keepdims=True)
    money, sport = rows[:, 2] + rows[:, 3], rows[:, 0] + rows[:, 1]
    members = rows[sport > money + 1e-12]  # rows that have as much of both go to the first group
    n, mean = len(members), members.mean(axis=0)
    rho = np.sqrt(((members @ members.T).sum() - n) / (n * (n - 1)))
    wanted = 30.0 * rho * mean / np.linalg.norm(mean)
    assert_allclose(mix.model_.seeds.vectors[1], wanted, rtol=1e-9)
    assert not mix.model_.seeds.vectors[2:].any()
    assert_allclose(mix.model_.seeds.mass, [30.0, 30.0, 0.0, 0.0])


def test_a_heavier_seed_brings_a_prototype_nearer():
    X, _ = texts()
    cosines = []
    for weight in (0.05, 0.5, 50.0):
        mix = sm.VMFMixture(4, seeds={"odd": ["the"]}, seed_weight=weight, random_state=0).fit(X)
        seed = mix.model_.seeds.vectors[0]
        cosines.append(mix.prototypes_[0] @ seed / np.linalg.norm(seed))
    assert cosines == sorted(cosines)
    assert cosines[-1] > 0.999


def test_words_that_are_no_columns_are_named_in_one_warning():
    X, _ = texts()
    with pytest.warns(NotedWarning, match="2 words that are no columns of X: 'loan', 'score'"):
        sm.VMFMixture(3, seeds={"money": ["bank", "loan"], "sport": ["goal", "score"]}).fit(X)


@pytest.mark.parametrize(
    ("seeds", "message"),
    [
        ({"money": ["loan"]}, "'loan'; nothing is left of the group 'money'"),
        ({}, "must be a list or a dictionary"),
        ("bank", "must be a list or a dictionary"),
        ([["bank"], []], "must be a list or a dictionary"),
        ([["bank"], "goal"], "must be a list or a dictionary"),
        ([["bank"], ["goal"], ["film"], ["rain"]], "has 4 groups, and n_components=3"),
        ([["bank"], ["bank"]], "no row has more of the words of 1"),
    ],
)
def test_bad_seeds_get_one_message(seeds, message):
    X, _ = texts()
    with pytest.raises(ParameterError, match=message):
        sm.VMFMixture(3, seeds=seeds).fit(X)


def test_a_column_may_have_any_word_for_its_name():
    X, _ = texts()
    assert (
        sm.VMFMixture(3, seeds=[["bank"]]).fit(X.rename(columns={"rain": "collect"})).labels_.any()
    )


def test_words_need_names_of_columns():
    X, _ = texts()
    with pytest.raises(ParameterError, match="the columns of X have no names"):
        sm.VMFMixture(3, seeds=GROUPS).fit(X.to_numpy())


def test_labels_of_some_rows_give_groups_their_numbers():
    X, truth = texts()
    labels = np.full(len(truth), -1)
    for k in range(4):
        labels[np.flatnonzero(truth == k)[:5]] = 3 - k
    mix = sm.VMFMixture(4).fit(X, labels=labels)
    others = labels < 0
    assert np.mean(mix.predict(X[others]) == 3 - truth[others]) > 0.85
    assert mix.fit_predict(X, labels=labels).shape == truth.shape


def test_one_label_names_its_group_and_leaves_the_others_free():
    X, truth = texts()
    labels = np.full(len(truth), -1)
    labels[np.flatnonzero(truth == 3)[0]] = 2
    mix = sm.VMFMixture(4, random_state=0).fit(X, labels=labels)
    assert share_of(mix.labels_, truth, 2, 3) > 0.8
    assert adjusted_rand_score(truth, mix.labels_) > 0.6


def test_unknown_labels_change_nothing():
    X, truth = texts()
    plain = sm.VMFMixture(4, random_state=0).fit(X)
    same = sm.VMFMixture(4, random_state=0).fit(X, labels=np.full(len(truth), -1))
    assert_array_equal(plain.prototypes_, same.prototypes_)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1], "one for each of the 240 rows"),
        (np.full(240, 0.5), "must be integers"),
        (np.full(240, 4), r"must be in -1\.\.3, got 4"),
        (np.full(240, -2), r"must be in -1\.\.3, got -2"),
    ],
)
def test_bad_labels_get_one_message(labels, message):
    X, _ = texts()
    with pytest.raises(ParameterError, match=message):
        sm.VMFMixture(4).fit(X, labels=labels)


def test_a_path_keeps_its_groups_and_goes_on_with_the_same_seeds_alone():
    X, truth = texts()
    path = sm.VMFPath(4, seeds=GROUPS, max_steps=5, relaxed=True, random_state=0).fit(X)
    for i in range(len(path.betas_)):
        labels = path.model(i).predict(X)
        assert share_of(labels, truth, 0, 1) > 0.7
        assert share_of(labels, truth, 1, 0) > 0.7
    assert path.stationarity_gaps_.max() < 1e-7
    path.set_params(warm_start=True, max_steps=8)
    with pytest.raises(ParameterError, match="seeds"):
        path.set_params(seed_weight=0.1).fit(X)
    longer = path.set_params(seed_weight=0.5).fit(X)
    whole = sm.VMFPath(4, seeds=GROUPS, max_steps=8, relaxed=True, random_state=0).fit(X)
    assert_array_equal(longer.betas_, whole.betas_)


def test_views_learn_from_the_rows_that_have_the_words():
    X, truth = texts()
    rng = np.random.default_rng(1)
    meaning = np.eye(4)[truth] + 0.3 * rng.normal(size=(len(truth), 4))
    views = {"words": X.to_numpy(), "meaning": meaning}
    mix = sm.VMFMixture(4, seeds=[[2, 3], [0, 1]], random_state=0).fit(views)
    assert mix.views_["meaning"].prototypes_[:2].argmax(axis=1).tolist() == [1, 0]
    assert mix.stationarity_gap_ < 1e-7


def test_batches_keep_the_seeds():
    X, truth = texts(400)
    mix = sm.VMFMixture(4, seeds=GROUPS, random_state=0)
    for part in np.array_split(np.arange(400), 4):
        mix.partial_fit(X.iloc[part])
    assert mix.model_.seeds is not None
    assert share_of(mix.predict(X), truth, 0, 1) > 0.8


def test_stability_starts_samples_at_the_seeds():
    X, _ = texts()
    mix = sm.VMFMixture(4, seeds=GROUPS, random_state=0).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sm.stability(mix, X, 5, random_state=0)
    assert found.groups[:2].min() > 0.7


def test_beside_labels_a_group_may_have_no_words():
    X, truth = texts()
    labels = np.full(len(truth), -1)
    labels[np.flatnonzero(truth == 2)[:5]] = 1
    mix = sm.VMFMixture(4, seeds=[GROUPS["sport"], []], random_state=0).fit(X, labels=labels)
    assert share_of(mix.labels_, truth, 1, 2) > 0.8

"""Rows drawn again, rows without clusters, folds, and what a study makes of them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.estimators import advice
from spheremix.estimators.advice import (
    Adviser,
    Chance,
    chance_of,
    held_out_likelihoods,
    last_useful,
    lengths_of,
    one_cluster,
    split_by_length,
    without_clusters,
)
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.problem import build_problem
from spheremix.estimators.replicates import drawn_again, replicate_labels, stability_of
from spheremix.models.base import DegenerateError
from spheremix.models.vmf import VMFModel
from spheremix.search import Search


@pytest.fixture(scope="module", autouse=True)
def little_advice():
    """All of it."""


def problem_of(X, kappa="shared", weights=None):
    return build_problem(MixtureOptions.of(sm.VMFMixture(1, kappa=kappa)), X, weights)


@pytest.fixture(scope="module")
def four():
    return sm.datasets.make_vmf_mixture(300, 8, 4, overlap=0.02, random_state=0)[0]


def test_stability_is_the_mean_of_all_pairs():
    rng = np.random.default_rng(0)
    labels = [rng.integers(3, size=40) for _ in range(4)]
    pairs = [adjusted_rand_score(labels[i], labels[j]) for i in range(4) for j in range(i)]
    found = stability_of(labels)
    assert_allclose(found.mean, np.mean(pairs))
    # The jackknife: the mean of the pairs without each of the replicates.
    left = []
    for out in range(4):
        rest = [one for i, one in enumerate(labels) if i != out]
        left.append(
            np.mean([adjusted_rand_score(rest[i], rest[j]) for i in range(3) for j in range(i)])
        )
    assert_allclose(found.error, np.sqrt(3 / 4 * np.sum((left - np.mean(left)) ** 2)))
    assert np.isnan(stability_of(labels[:1]).mean)
    assert stability_of([labels[0]] * 3).mean == 1.0


def test_drawn_weights_keep_the_sum_and_the_zeros():
    rng = np.random.default_rng(1)
    weights = np.array([0.0, 1.0, 2.0, 0.5] * 50)
    drawn = drawn_again(rng, weights, 200, 3)
    assert drawn.shape == (3, 200)
    assert_allclose(drawn.sum(axis=1), weights.sum())
    assert_array_equal(drawn[:, weights == 0.0], 0.0)
    assert_allclose(drawn_again(rng, None, 200, 2).sum(axis=1), 200.0)


@pytest.mark.parametrize("kappa", ["shared", "free", 20.0])
def test_replicates_label_all_rows_and_do_not_depend_on_other_sizes(four, kappa):
    problem = problem_of(four, kappa)
    together = replicate_labels(problem, [3, 4], 3, seed=5)
    alone = replicate_labels(problem, [4], 3, seed=5)
    for one, other in zip(together[4], alone[4], strict=True):
        assert one.shape == (300,)
        assert adjusted_rand_score(one, other) > 0.99  # the last bits may differ
    assert not np.array_equal(together[4][0], together[4][1])


def test_the_true_number_is_the_most_stable(four):
    found = Adviser(problem_of(four), (0, 0)).stability([1, 2, 3, 4, 5, 6])
    assert 1 not in found
    assert max(found, key=lambda K: found[K].mean) == 4
    assert found[4].mean > 0.9
    assert found[4].n_replicates == 8


def test_rows_without_clusters_by_permuted_columns():
    rng = np.random.default_rng(0)
    rows = rng.random((60, 30)) * (rng.random((60, 30)) < 0.2)
    rows[:, 0] += 0.1  # no row is empty
    mixed = without_clusters(rows, rng)
    assert_allclose(np.linalg.norm(mixed, axis=1), 1.0)
    assert_array_equal(np.count_nonzero(mixed, axis=0), np.count_nonzero(rows, axis=0))
    assert not np.array_equal(mixed != 0, rows != 0)


def test_rows_without_clusters_from_one_component(four):
    mixed = without_clusters(np.tile(four, (10, 1)), np.random.default_rng(0))
    assert_allclose(np.linalg.norm(mixed, axis=1), 1.0)
    # Same mean direction and length of the mean, up to the noise of 3,000 draws.
    assert_allclose(mixed.mean(axis=0), four.mean(axis=0), atol=0.03)


def test_clusters_stand_apart_from_chance_and_one_component_does_not(four):
    clustered = chance_of(problem_of(four), (2, 4, 8), 0)
    assert clustered.apart > 10.0
    one = sm.datasets.make_vmf_mixture(300, 8, 1, kappa=8.0, random_state=0)[0]
    nothing = chance_of(problem_of(one), (2, 4, 8), 0)
    assert nothing.apart < 3.0
    assert nothing.sizes == (2, 4, 8)
    assert nothing.chance_gains.shape == (10, 3)


def test_what_chance_says_of_other_numbers():
    gains = np.array([[0.2, 0.3], [0.4, 0.5]])
    chance = Chance((2, 8), np.array([1.0, 1.1]), gains, np.array([0.1, 0.3]), 50)
    assert_allclose(chance.stability_at([2, 4, 8]), [0.1, 0.2, 0.3])
    assert_allclose(chance.gain(100.0), 0.15)
    spread = np.std([0.2, 0.4], ddof=1)
    assert_allclose(chance.apart, max((1.0 - 0.3) / spread, (1.1 - 0.4) / spread))


def test_the_range_ends_after_the_clusters(four):
    problem = problem_of(four)
    chance = chance_of(problem, (2, 4, 8), 0)
    assert 6 <= last_useful(problem, chance, 20, 0) <= 12
    high = Chance(chance.sizes, chance.gains, chance.chance_gains + 1e3, chance.stability, 300)
    assert last_useful(problem, high, 20, 0) == 6


def test_the_likelihood_of_one_cluster(four):
    expected = sm.VMFMixture(1, random_state=0).fit(four).log_likelihood_
    assert_allclose(one_cluster(problem_of(four)), expected, rtol=1e-9)
    weights = np.arange(300) % 3.0
    expected = sm.VMFMixture(1, random_state=0).fit(four, sample_weight=weights).log_likelihood_
    assert_allclose(one_cluster(problem_of(four, weights=weights)), expected, rtol=1e-9)


def test_clusters_of_long_and_short_rows():
    labels = np.array([0] * 30 + [1] * 20)
    lengths = np.arange(50.0)
    assert split_by_length(labels, lengths) == 1.0
    assert split_by_length(1 - labels, lengths) == -1.0
    rng = np.random.default_rng(0)
    mixed = rng.integers(5, size=50).astype(float)
    pairs = [np.sign(b - a) for a in mixed[:30] for b in mixed[30:]]
    assert_allclose(split_by_length(labels, mixed), np.mean(pairs))
    assert split_by_length(np.zeros(5, dtype=int), np.arange(5.0)) == 0.0
    assert_array_equal(lengths_of(sparse.csr_array([[1.0, 0.0], [2.0, 3.0]])), [1.0, 2.0])
    assert lengths_of(np.eye(2)) is None


def test_a_study_takes_advice(four):
    study = sm.VMFMixtureIC(range(2, 8), random_state=0, n_init=2, paths="none").fit(four)
    assert study.best_n_components_ == study.advice_.n_clusters == 4
    assert study.advice_.certainty == "clear"
    table = study.advice_.table()
    assert_array_equal(table["n_components"], study.candidates_)
    assert_array_equal(table["bic"], study.dense_criteria_["bic"])
    again = sm.VMFMixtureIC(range(2, 8), random_state=0, n_init=2, paths="none").fit(four)
    assert_array_equal(again.advice_.evidence.stability, study.advice_.evidence.stability)
    by_bic = sm.VMFMixtureIC([3, 4, 5], k_criterion="bic", random_state=0, paths="none").fit(four)
    assert not hasattr(by_bic, "advice_")


def test_a_study_of_rows_without_clusters_says_so():
    rows = sm.datasets.make_vmf_mixture(300, 8, 1, kappa=8.0, random_state=1)[0]
    study = sm.VMFMixtureIC([2, 3, 4, 5], random_state=0, n_init=1, paths="none", tol=1e-4)
    with pytest.warns(UserWarning, match="No groups"):
        study.fit(rows)
    assert study.advice_.n_clusters == 1
    assert study.best_n_components_ in study.candidates_
    one = sm.VMFMixtureIC([1, 2, 3], random_state=0, n_init=1, paths="none", tol=1e-4).fit(rows)
    assert one.best_n_components_ == 1


def test_what_is_remembered_is_not_measured_again(four, monkeypatch):
    models = {K: sm.VMFMixture(K, random_state=0, n_init=1).fit(four) for K in (1, 3, 4)}
    kept, told = {}, []

    def remember(name, make):
        if name not in kept:
            kept[name] = make()
        return kept[name]

    problem = problem_of(four)
    first = Adviser(problem, (1, 2), remember, told.append, most=12).advise(models)
    assert list(kept) == ["stability-3", "stability-4", "chance"]
    assert 6 <= kept["chance"].last_useful <= 12
    assert told == [3, 4]
    plain = Adviser(problem, (1, 2)).advise(models)
    assert_allclose(plain.evidence.stability, first.evidence.stability)
    monkeypatch.setattr(advice, "replicate_labels", None)
    again = Adviser(problem, (1, 2), remember).advise(models)
    assert_array_equal(again.evidence.scores, first.evidence.scores)
    assert str(again) == str(first)


# The likelihood of rows that were left out, against fits without these rows


def folds_problem(X, weights=None, **parameters):
    mixture = sm.VMFMixture(1, **{"n_threads": 1, **parameters})
    return build_problem(MixtureOptions.of(mixture), X, weights)


@pytest.mark.parametrize("kappa", ["shared", "free"])
def test_every_row_is_scored_by_a_fit_without_it(kappa):
    X, _, _ = sm.datasets.make_vmf_mixture(150, 6, 3, overlap=0.001, random_state=0)
    weights = 1.0 + np.arange(150) % 2
    found = held_out_likelihoods(folds_problem(X, weights, kappa=kappa), [1, 3], 3, 7)
    folds = np.random.default_rng(7).permutation(np.arange(150) % 3)
    for size, mean in zip((1, 3), found, strict=True):
        total = 0.0
        for fold in range(3):
            out = folds == fold
            mixture = sm.VMFMixture(size, kappa=kappa, random_state=0, n_threads=1)
            mixture.fit(X[~out], sample_weight=weights[~out])
            total += weights[out] @ mixture.score_samples(X[out])
        assert_allclose(mean, total / weights.sum(), rtol=1e-5)
    assert found[1] > found[0]


def test_a_fold_without_a_mixture_is_not_a_number():
    X = np.repeat(np.eye(2), 4, axis=0)
    assert np.isnan(held_out_likelihoods(folds_problem(X), [3], 2, 0)).all()


def test_a_fold_whose_rows_cancel_out_is_not_a_number(monkeypatch):
    X, _, _ = sm.datasets.make_vmf_mixture(60, 6, 2, overlap=0.001, random_state=0)
    searched, started, over = Search.replicates, VMFModel.from_partition, []

    def replicates(self, sizes, seeds):
        found = searched(self, sizes, seeds)
        over.append(True)
        return found

    def vanished(self, resultants):
        if over and len(resultants.mass) == 2:
            raise DegenerateError("vanished", 0)
        return started(self, resultants)

    monkeypatch.setattr(Search, "replicates", replicates)
    monkeypatch.setattr(VMFModel, "from_partition", vanished)
    problem = folds_problem(X)
    one, two = held_out_likelihoods(problem, [1, 2], 3, 0)
    assert np.isfinite(one)
    assert np.isnan(two)


def test_the_advice_has_it_when_asked():
    X, _, _ = sm.datasets.make_vmf_mixture(150, 6, 3, overlap=0.01, random_state=0)
    options = {"paths": "none", "n_init": 1, "random_state": 0, "n_threads": 1}
    study = sm.VMFMixtureIC((2, 3), n_folds=3, **options).fit(X)
    table = study.advice_.table()
    assert table["held_out"][1] > table["held_out"][0]
    with pytest.raises(ParameterError, match="n_folds must be 0, or 2 and more"):
        sm.VMFMixtureIC((2, 3), n_folds=1, **options).fit(X)
    with pytest.raises(ParameterError, match="n_folds is part of the advice"):
        sm.VMFMixtureIC((2, 3), n_folds=3, **{**options, "k_criterion": "bic"}).fit(X)

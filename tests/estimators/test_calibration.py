"""Posteriors that are not too sure: leave-one-out scores, and the temperature."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logsumexp, softmax
from sklearn.exceptions import NotFittedError

import spheremix as sm
from spheremix.bessel import log_normalizer, mean_length
from spheremix.errors import ParameterError
from spheremix.estimators import calibration
from spheremix.estimators.calibration import (
    LeftOut,
    evidence,
    knowledge,
    label_likelihood,
    normalised,
    tempered,
)


def calibration_error(posteriors, labels, bins=10):
    """Return the expected calibration error; the clusters have the numbers of the labels."""
    sure, right = posteriors.max(axis=1), posteriors.argmax(axis=1) == labels
    place = np.minimum((sure * bins).astype(int), bins - 1)
    each = [place == b for b in range(bins) if np.any(place == b)]
    return sum(abs(sure[one].mean() - right[one].mean()) * one.mean() for one in each)


def fitted(n, d, K, overlap, seed=0, **options):
    """Return mixture fitted from the truth, so that its clusters have the numbers of the labels."""
    X, labels, _ = sm.datasets.make_vmf_mixture(n, d, K, overlap=overlap, random_state=seed)
    return X, labels, sm.VMFMixture(K, init=labels, **options).fit(X)


def without(X, mixture, i, weights=None):
    """Score row i by prototypes made of the other rows, one by one."""
    weights = np.ones(len(X)) if weights is None else weights
    posteriors = weights[:, None] * mixture.predict_proba(X)
    posteriors[i] = 0.0
    vectors = posteriors.T @ X
    vectors[mixture.prototypes_ == 0.0] = 0.0  # the support is held
    prototypes = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    mass = posteriors.sum(axis=0)
    return (
        np.log(mass / mass.sum())
        + log_normalizer(X.shape[1], mixture.kappas_)
        + mixture.kappas_ * (prototypes @ X[i])
    )


@pytest.mark.parametrize("kappa", ["shared", "free"])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_row_that_is_left_out_is_scored_by_the_others(kappa, weighted):
    X, labels, _ = sm.datasets.make_vmf_mixture(60, 15, 3, overlap=0.1, random_state=0)
    weights = np.random.default_rng(0).uniform(0.2, 3.0, 60) if weighted else None
    mixture = sm.VMFMixture(3, init=labels, kappa=kappa, tol=1e-12, max_iter=5000)
    mixture.fit(X, sample_weight=weights)
    left = LeftOut(mixture, sm.as_directions(X), weights)
    ((_, block),) = left.blocks(np.arange(60))
    expected = [without(X, mixture, i, weights) for i in range(60)]
    assert_allclose(block.scores, expected, atol=1e-4)
    raw = mixture.predict_proba(X)
    own = np.arange(60), raw.argmax(axis=1)
    assert np.mean(softmax(block.scores, axis=1)[own] < raw[own]) > 0.9


def test_with_a_hard_e_step_a_row_is_left_out_of_its_own_component_alone():
    X, labels, _ = sm.datasets.make_vmf_mixture(60, 15, 3, overlap=0.1, random_state=0)
    mixture = sm.VMFMixture(3, init=labels, e_step="hard").fit(X)
    assert mixture.status_ == "converged"
    ((_, block),) = LeftOut(mixture, sm.as_directions(X), None).blocks(np.arange(60))
    for i in range(0, 60, 7):
        others = np.arange(60) != i
        sums = np.array([X[others & (mixture.labels_ == k)].sum(axis=0) for k in range(3)])
        mass = np.array([np.sum(others & (mixture.labels_ == k)) for k in range(3)])
        prototypes = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        expected = np.log(mass / 59) + log_normalizer(15, mixture.kappas_)
        assert_allclose(block.scores[i], expected + mixture.kappas_ * (prototypes @ X[i]))


def test_blocks_are_small_for_many_components_too(monkeypatch):
    X, _, mixture = fitted(50, 4, 10, 0.1)
    monkeypatch.setattr(calibration, "ENTRIES", 100)
    blocks = list(LeftOut(mixture, sm.as_directions(X), None).blocks(np.arange(50)))
    assert [len(part) for part, _ in blocks] == [10] * 5


def test_noise_does_not_count_in_the_temperature():
    """Rows that belong nowhere are no draws from a component, whatever these are like."""
    X, labels, _ = sm.datasets.make_vmf_mixture(800, 12, 3, overlap=0.05, random_state=0)
    rng = np.random.default_rng(0)
    repeated = np.tile(X, (1, 6)) + 0.05 * rng.standard_normal((800, 72))
    noise = rng.standard_normal((150, 72))
    rows = np.concatenate([repeated / np.linalg.norm(repeated, axis=1, keepdims=True), noise])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    start = np.append(labels, np.full(150, -1))
    mixture = sm.VMFMixture(3, init=start, noise="uniform").fit(rows)
    assert np.mean(mixture.labels_[800:] < 0) > 0.9
    whole = sm.calibrate(mixture, rows)
    alone = sm.calibrate(mixture, rows, sample_weight=(mixture.labels_ >= 0).astype(float))
    # With the noise, the temperature would be twice as high.
    assert_allclose(whole.temperature, alone.temperature, rtol=0.25)
    assert_allclose(whole.z, alone.z, rtol=0.25)


def test_of_a_relaxed_path_the_support_is_held():
    X, _, _ = sm.datasets.make_vmf_mixture(120, 20, 3, kappa=60.0, sparsity=0.6, random_state=0)
    path = sm.VMFPath(3, random_state=0, n_init=2, relaxed=True, max_steps=60, tol=1e-11).fit(X)
    mixture = path.best_estimator_
    assert np.any(mixture.prototypes_ == 0.0)
    ((_, block),) = LeftOut(mixture, sm.as_directions(X), None).blocks(np.arange(120))
    assert_allclose(block.scores, [without(X, mixture, i) for i in range(120)], atol=1e-3)
    assert_array_equal(sm.calibrate(path, X).posteriors, sm.calibrate(mixture, X).posteriors)


def test_with_a_penalty_the_threshold_is_held():
    X, labels, _ = sm.datasets.make_vmf_mixture(120, 20, 2, kappa=60.0, random_state=0)
    weights = np.linspace(0.0, 2.0, 20)
    mixture = sm.VMFMixture(2, init=labels, beta=60.0, feature_weights=weights, tol=1e-12).fit(X)
    left = LeftOut(mixture, sm.as_directions(X), None)
    vectors = mixture.predict_proba(X).T @ X
    cut = 60.0 * weights / mixture.kappas_[:, None]
    shrunk = np.sign(vectors) * np.maximum(np.abs(vectors) - cut, 0.0)
    assert np.any(shrunk == 0.0)
    assert_allclose(left.vectors, shrunk, atol=1e-3)


def test_parts_of_the_columns_add_up_to_the_whole():
    X, _, mixture = fitted(80, 16, 3, 0.1)
    left = LeftOut(mixture, sm.as_directions(X), None)
    ((_, block),) = left.blocks(np.arange(80))
    cut = np.random.default_rng(0).permutation(np.arange(16) % 4)
    one, two, three, four = (block.parts([np.flatnonzero(cut == q)])[0] for q in range(4))
    whole = one + two + three + four
    assert_allclose(whole.products, block.parts()[0].products)
    assert_allclose(whole.lengths, 1.0)
    assert_allclose(whole.concentrations, np.broadcast_to(mixture.kappas_, (80, 3)))
    assert whole.n_columns == 16


def test_the_evidence_of_a_part_is_the_density_of_its_direction():
    # Given its length, the direction of a part of a row is von Mises-Fisher: its mean is known.
    kappa, mu = 12.0, np.array([0.6, 0.3, 0.5, 0.2, 0.4, np.sqrt(1 - 0.9)])
    mu /= np.linalg.norm(mu)
    X, _ = sm.VMFMixture.from_parameters([mu], kappa).sample(100_000, random_state=0)
    part, length = X[:, :3], np.linalg.norm(X[:, :3], axis=1)
    near = (length > 0.79) & (length < 0.81)
    seen = np.mean(part[near] / length[near, None], axis=0)
    own = np.linalg.norm(mu[:3])
    expected = mu[:3] / own * mean_length(3, kappa * own * 0.8)
    assert_allclose(seen, expected, atol=0.01)
    # And so the evidence is its log-density.
    mixture = sm.VMFMixture.from_parameters([mu], kappa)
    light = np.where(np.arange(1000) < 9, 1e-9, 1.0)
    left = LeftOut(mixture, sm.as_directions(X[:1000]), light)
    ((_, block),) = left.blocks(np.arange(9))
    density = [
        kappa * mu[:3] @ row[:3] + log_normalizer(3, kappa * own * np.linalg.norm(row[:3]))
        for row in X[:9]
    ]
    assert_allclose(evidence(*block.parts([np.arange(3)]))[:, 0], density, rtol=1e-6)


def test_what_parts_know_of_each_other_is_a_density():
    # Of B given A relative to B alone: over independent A and B its mean is one.
    X, _, truth = sm.datasets.make_vmf_mixture(4000, 12, 3, overlap=0.1, random_state=0)
    mixture = sm.VMFMixture.from_parameters(truth.prototypes, truth.kappas, truth.weights)
    left = LeftOut(mixture, sm.as_directions(X), None)
    ((_, block),) = left.blocks(np.arange(4000))
    parts = [evidence(*block.parts([np.arange(6 * i, 6 * i + 6)])) for i in range(2)]
    shares = normalised(block.log_weights)
    known = knowledge(tuple(parts), shares, 1.0)
    other = np.random.default_rng(0).permutation(4000)
    unrelated = knowledge((parts[0], parts[1][other]), shares, 1.0)
    assert abs(np.exp(unrelated).mean() - 1.0) < 0.1
    assert known.mean() > unrelated.mean() + 0.1


def test_draws_from_the_model_keep_their_temperature():
    for d, overlap, seed in ((10, 0.05, 0), (40, 0.1, 1)):
        X, labels, mixture = fitted(600, d, 3, overlap, seed)
        found = sm.calibrate(mixture, X)
        assert found.temperature == 1.0
        assert found.z < 2.0
        error = calibration_error(found.posteriors, labels)
        assert error < 0.05
        assert error < calibration_error(mixture.predict_proba(X), labels) + 0.01


def test_rows_that_were_learnt_by_heart_are_not_sure_any_more():
    X, labels, mixture = fitted(400, 400, 3, 0.1)
    raw = calibration_error(mixture.predict_proba(X), labels)
    found = sm.calibrate(mixture, X)
    assert raw > 0.08
    assert calibration_error(found.posteriors, labels) < 0.6 * raw


def test_columns_that_say_the_same_several_times_raise_the_temperature():
    X, labels, _ = sm.datasets.make_vmf_mixture(800, 12, 3, overlap=0.15, random_state=0)
    rng = np.random.default_rng(0)
    repeated = np.tile(X, (1, 6)) + 0.05 * rng.standard_normal((800, 72))
    mixture = sm.VMFMixture(3, init=labels).fit(repeated)
    found = sm.calibrate(mixture, repeated)
    assert found.temperature > 2.0
    assert found.z > 2.0
    raw = calibration_error(mixture.predict_proba(repeated), labels)
    assert raw > 0.08
    # What all columns repeat, halves cannot see to be a repetition: the repair is not complete.
    assert calibration_error(found.posteriors, labels) < 0.8 * raw
    again = sm.calibrate(mixture, repeated)
    assert again.posteriors.tobytes() == found.posteriors.tobytes()
    new = repeated[:5] + 0.01
    scores = mixture.scorer_.biases + new @ mixture.scorer_.matrix.T / np.linalg.norm(
        new, axis=1, keepdims=True
    )
    expected = tempered(scores, np.log(mixture.weights_), found.temperature)
    assert_allclose(found.predict_proba(new), expected, rtol=1e-6)


def test_the_weights_of_the_components_are_not_tempered():
    scores = np.log([[0.7, 0.3], [0.2, 0.8]]) + np.array([[1.0, 3.0], [0.0, 2.0]])
    share = np.log([0.7, 0.3])
    assert_allclose(tempered(scores, share, 1.0), softmax(scores, axis=1))
    assert_allclose(tempered(scores, share, 1e9), np.tile([0.7, 0.3], (2, 1)), atol=1e-6)
    assert_allclose(logsumexp(normalised(scores), axis=1), 0.0, atol=1e-12)


def test_sparse_rows_noise_one_component_and_few_columns():
    X, labels, mixture = fitted(200, 12, 3, 0.1)
    dense = sm.calibrate(mixture, X)
    assert_allclose(sm.calibrate(mixture, sparse.csr_array(X)).posteriors, dense.posteriors)
    one = sm.calibrate(sm.VMFMixture(1).fit(X), X)
    assert one.temperature == 1.0
    assert np.isnan(one.z)
    assert_array_equal(one.posteriors, 1.0)
    few = sm.calibrate(sm.VMFMixture(3, init=labels).fit(X[:, :6]), X[:, :6])
    assert np.isnan(few.z)
    noisy = sm.VMFMixture(3, init=labels, noise="uniform", max_noise=None).fit(X)
    assert_allclose(sm.calibrate(noisy, X).posteriors.sum(axis=1), 1.0)


def test_what_cannot_be_calibrated_is_refused():
    with pytest.raises(ParameterError, match="model must be a fitted estimator"):
        sm.calibrate("mixture", np.eye(3))
    with pytest.raises(NotFittedError):
        sm.calibrate(sm.VMFMixture(2), np.eye(3))


# With labels


def test_the_likelihood_of_labels_is_the_sum_over_what_the_groups_may_stand_for():
    rng = np.random.default_rng(0)
    groups, labels = np.array([0, 0, 1, 1, 1, 0]), np.array([0, 1, 2, 2, 0, 0])
    right = rng.uniform(0.1, 0.9, (2, 6))
    frequent = (np.array([3, 1, 2]) + 0.5) / 7.5
    for one, found in zip(right, label_likelihood(right, groups, labels), strict=True):
        total = 0.0
        for first in range(3):
            for second in range(3):
                means = [one[groups == k].mean() for k in range(2)]
                if np.any(means < frequent[[first, second]]):
                    continue  # less often than rows at random
                stands = np.array([first, second])[groups]
                each = np.where(
                    labels == stands,
                    one,
                    (1.0 - one) * frequent[labels] / (1.0 - frequent[stands]),
                )
                total += frequent[first] * frequent[second] * np.prod(each)
        assert_allclose(found, np.log(total))


def test_labels_of_some_rows_make_posteriors_probabilities_of_being_right():
    """Four of ten rows have a label that has nothing to do with the rows."""
    X, labels, mixture = fitted(2000, 20, 4, 0.05)
    rng = np.random.default_rng(0)
    said = np.where(rng.random(2000) < 0.4, rng.integers(4, size=2000), labels)
    names = np.array(["oak", "elm", "ash", "fir"])[said]
    known = rng.permutation(2000)[:200]
    given = np.full(2000, None, dtype=object)
    given[known] = names[known]
    found = sm.calibrate(mixture, X, labels=given)
    assert found.n_labels == 200
    assert 0.6 < found.tempering.kept < 0.85  # 0.7 are as the rows say
    assert_allclose(found.posteriors.sum(axis=1), found.tempering.kept)
    others = np.setdiff1d(np.arange(2000), known)
    error = calibration_error(found.posteriors[others], said[others])
    assert error < 0.06
    assert calibration_error(sm.calibrate(mixture, X).posteriors[others], said[others]) > 0.2
    codes = np.full(2000, -1)
    codes[known] = said[known]
    assert_array_equal(sm.calibrate(mixture, X, labels=codes).posteriors, found.posteriors)
    # The group that is said stays the most probable one.
    assert_array_equal(found.posteriors.argmax(axis=1), left_out_labels(mixture, X))


def test_a_group_does_not_stand_for_the_label_that_its_rows_lack():
    """With two labels, "group 0 is label 1, and mostly wrong" would be as good as the truth."""
    X, labels, mixture = fitted(600, 20, 2, 0.02)
    rng = np.random.default_rng(0)
    said = np.where(rng.random(600) < 0.2, 1 - labels, labels)
    given = np.where(np.arange(600) < 100, said, -1)
    found = sm.calibrate(mixture, X, labels=given)
    assert 0.7 < found.tempering.kept < 0.9
    assert calibration_error(found.posteriors[100:], said[100:]) < 0.1


def test_labels_that_no_group_is_sure_enough_of_still_give_numbers():
    right = np.full((2, 6), 0.1)
    groups, labels = np.array([0, 0, 1, 1, 0, 1]), np.array([0, 1, 0, 1, 0, 1])
    assert np.all(np.isfinite(label_likelihood(right, groups, labels)))


def test_temperature_and_share_are_means_given_the_labels():
    X, labels, mixture = fitted(200, 12, 3, 0.2)
    given = np.where(np.arange(200) < 40, labels, -1)
    ((_, block),) = LeftOut(mixture, sm.as_directions(X), None).blocks(np.arange(40))
    groups = block.scores.argmax(axis=1)
    total = weighted = shares = 0.0
    for T in calibration.TEMPERATURES:
        right = softmax(block.scores / T, axis=1)[np.arange(40), groups]
        prior = np.exp(-0.5 * np.log(T / calibration.USUAL) ** 2 / calibration.FACTOR**2)
        for kept in calibration.SHARES:
            [found] = label_likelihood(kept * right[None], groups, labels[:40])
            chance = prior * np.exp(found)
            total, weighted = total + chance, weighted + chance * np.log(T)
            shares += chance * kept
    found = sm.calibrate(mixture, X, labels=given).tempering
    assert_allclose([np.log(found.temperature), found.kept], [weighted / total, shares / total])


def left_out_labels(mixture, X):
    ((_, block),) = LeftOut(mixture, sm.as_directions(X), None).blocks(np.arange(len(X)))
    return block.scores.argmax(axis=1)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([1, 2], r"one for each of the 200 rows; got shape \(2,\)"),
        (np.zeros(200), "must be integers or texts"),
        (np.where(np.arange(200) < 19, 1, -1), "has 19 known labels, and 20 or more are needed"),
        ([""] * 200, "has 0 known labels"),
        ([np.nan] * 190 + ["a", "b"] * 5, "has 10 known labels"),
        (np.ones(200, dtype=int), "labels are all the same"),
    ],
)
def test_labels_that_say_too_little_are_refused(labels, message):
    X, _, mixture = fitted(200, 12, 3, 0.1)
    with pytest.raises(ParameterError, match=message):
        sm.calibrate(mixture, X, labels=labels)


def test_calibrated_predictions_of_the_estimator_itself():
    X, labels, mixture = fitted(300, 12, 3, 0.1)
    with pytest.raises(ParameterError, match=r"calibrated=True needs a calibration of this fit"):
        mixture.predict_proba(X, calibrated=True)
    new = X[:7] + 0.01
    for known in (None, np.where(np.arange(300) < 100, labels, -1)):
        found = sm.calibrate(mixture, X, labels=known)
        again = mixture.predict_proba(new, calibrated=True)
        assert_array_equal(again, found.predict_proba(new))
    assert_allclose(again.sum(axis=1), found.tempering.kept)
    mixture.fit(X)
    with pytest.raises(ParameterError, match="needs a calibration"):  # of another fit
        mixture.predict_proba(X, calibrated=True)


@pytest.mark.parametrize("kind", [sm.VMFPath, sm.VMFTree, sm.VMFMixtureIC, sm.VMFCoclustering])
def test_every_estimator_with_posteriors_has_calibrated_ones(kind):
    rng = np.random.default_rng(0)
    X = np.kron(np.eye(3), np.ones((60, 4))) + rng.uniform(0.0, 1.5, (180, 12))
    made = {sm.VMFTree: (6,), sm.VMFMixtureIC: ([3],)}.get(kind, (3,))
    model = kind(*made, random_state=0, **({"n_clusters": 3} if kind is sm.VMFTree else {})).fit(X)
    found = sm.calibrate(model, X)
    again = model.predict_proba(X[:9], calibrated=True)
    assert_allclose(again, found.predict_proba(X[:9]))
    assert again.shape == (9, 3)


def test_spherical_k_means_is_calibrated_as_the_mixture_that_it_is():
    X, _, _ = sm.datasets.make_vmf_mixture(200, 12, 3, overlap=0.05, random_state=0)
    model = sm.SphericalKMeans(3, random_state=0).fit(X)
    found = sm.calibrate(model, X)
    assert found.mixture.e_step == "hard"
    assert np.mean(found.posteriors.argmax(axis=1) == model.labels_) > 0.95


def test_a_calibration_prints_itself_in_three_lines():
    X, labels, mixture = fitted(300, 12, 3, 0.1)
    lines = repr(sm.calibrate(mixture, X)).split("\n")
    assert len(lines) == 3
    assert lines[0].endswith(
        "without labels: within this mixture, and not probabilities of being right."
    )
    lines = repr(sm.calibrate(mixture, X, labels=labels)).split("\n")
    assert len(lines) == 3
    assert "calibrated by 300 labels: probabilities that the label" in lines[0]

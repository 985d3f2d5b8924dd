"""What is asked of a mixture of words and meaning after the fit: against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import softmax
from views_common import unit

import spheremix as sm
from spheremix.bessel import log_normalizer
from spheremix.estimators.calibration import LeftOut
from spheremix.reading import drift, new_groups
from spheremix.reading.batch import Past
from spheremix.reading.document_fit import score_new
from spheremix.reading.new_groups import Exchange

WORDLESS, MEANINGLESS = 4, 7
SIZES = {"words": 24, "meaning": 16}


def made(n=90, seed=3, noise=0.5, n_groups=3):
    """Return two views of overlapping groups, with a row that lacks each of them."""
    rng = np.random.default_rng(seed)
    groups = np.arange(n) % n_groups
    words = np.maximum(np.eye(SIZES["words"])[groups] + noise / 2 * rng.normal(size=(n, 24)), 0.0)
    meaning = np.eye(SIZES["meaning"])[groups] + noise / 2 * rng.normal(size=(n, 16))
    words[WORDLESS], meaning[MEANINGLESS] = 0.0, 0.0
    return {"words": sparse.csr_array(words), "meaning": meaning}, groups


def parts(X, places):
    return {name: X[name][places] for name in X}


def left_out(fit, X, i, weights):
    """Return the scores of a row by prototypes that the other rows make, one view at a time."""
    shares = weights[:, None] * fit.predict_proba(X)
    shares[i] = 0.0
    mass = shares.sum(axis=0)
    scores = np.log(mass / mass.sum())
    for name, view in fit.views_.items():
        rows = unit(X[name])
        if not rows[i].any():
            continue
        sums = shares.T @ rows
        sums[view.prototypes_ == 0.0] = 0.0
        # The threshold is held: what the fit's own prototype lacks of its resultant.
        whole = (weights[:, None] * fit.predict_proba(X)).T @ rows
        if name == "words" and fit.beta:
            cut = fit.beta / (view.weight * view.kappas_[:, None])
            sums -= np.where(view.prototypes_ != 0.0, cut * np.sign(whole), 0.0)
        prototypes = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        own = log_normalizer(rows.shape[1], view.kappas_) + view.kappas_ * (prototypes @ rows[i])
        scores = scores + view.weight * own
    return scores


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"kappa": "free"},
        {"view_weights": {"words": 0.3, "meaning": 1.5}},
        {"view_weights": {"words": 0.3, "meaning": 1.5}, "beta": 2.0},
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_row_is_left_out_of_the_prototypes_of_each_view(how, weighted):
    X, groups = made()
    weights = np.random.default_rng(0).uniform(0.2, 3.0, 90) if weighted else np.ones(90)
    fit = sm.VMFMixture(3, init=groups, tol=1e-13, max_iter=5000, **how)
    fit.fit(X, sample_weight=weights)
    ((_, block),) = LeftOut(fit, sm.as_directions(X), weights).blocks(np.arange(90))
    expected = [left_out(fit, X, i, weights) for i in range(90)]
    assert_allclose(block.scores, expected, atol=1e-3)


def test_a_view_of_weight_zero_says_nothing_of_how_sure_one_can_be():
    X, groups = made(noise=1.0)
    words = parts(X, np.arange(90) != WORDLESS)
    how = {"init": groups[np.arange(90) != WORDLESS], "tol": 1e-12}
    one = sm.VMFMixture(3, **how).fit(words["words"])
    two = sm.VMFMixture(3, view_weights={"meaning": 0.0}, **how).fit(words)
    alone, beside = sm.calibrate(one, words["words"]), sm.calibrate(two, words)
    assert_allclose(beside.temperature, alone.temperature, rtol=1e-6)
    assert_allclose(beside.posteriors, alone.posteriors, atol=1e-6)


def drawn(n=1500, copies=1, seed=0):
    """Return rows of a known mixture of views; with copies, each column so many times, nearly."""
    rng = np.random.default_rng(seed)
    groups, X = np.arange(n) % 3, {}
    for name, d in SIZES.items():
        mu = np.abs(rng.normal(size=(3, d)))
        mu /= np.linalg.norm(mu, axis=1, keepdims=True)
        each = [sm.VonMisesFisher(one, 30.0).rvs(n, random_state=k) for k, one in enumerate(mu)]
        rows = np.array([each[k][i] for i, k in enumerate(groups)])
        X[name] = np.tile(rows, (1, copies)) + 0.01 * rng.normal(size=(n, d * copies))
    return X, groups


def test_evidence_of_views_that_is_counted_several_times_is_divided():
    temperatures = []
    for copies in (1, 6):
        X, groups = drawn(copies=copies)
        fit = sm.VMFMixture(3, init=groups).fit(X)
        temperatures.append(sm.calibrate(fit, X).temperature)
    assert temperatures[0] == 1.0
    assert 2.0 < temperatures[1] < 12.0


def test_calibrated_posteriors_of_new_rows_are_tempered_scores_of_all_views():
    X, groups = drawn(300, copies=4)
    fit = sm.VMFMixture(3, init=groups).fit(X)
    T = sm.calibrate(fit, X).temperature
    assert T > 1.0
    evidence = sum(  # of the views
        log_normalizer(X[name].shape[1], view.kappas_)
        + view.kappas_ * (unit(X[name]) @ view.prototypes_.T)
        for name, view in fit.views_.items()
    )
    expected = softmax(evidence / T + np.log(fit.weights_), axis=1)
    assert_allclose(fit.predict_proba(X, calibrated=True), expected, atol=1e-9)


def test_labels_calibrate_a_mixture_of_views():
    X, groups = made(300, noise=1.2)
    fit = sm.VMFMixture(3, init=groups).fit(X)
    found = sm.calibrate(fit, X, labels=groups)
    sure = found.posteriors.max(axis=1).mean()
    right = np.mean(found.posteriors.argmax(axis=1) == groups)
    assert abs(sure - right) < 0.08


def test_shares_of_documents_and_effects_have_views():
    X, groups = made(240, noise=0.8)
    fit = sm.VMFMixture(3, init=groups).fit(X)
    documents = np.arange(240) // 12 * 3 + groups  # of one group each
    found = sm.document_shares(fit, X, documents)
    assert_allclose(found.shares.sum(axis=1), 1.0)
    assert np.mean(found.shares.argmax(axis=1) == np.unique(documents) % 3) > 0.95
    side = np.where(np.random.default_rng(0).random(240) < 0.2, "left", "right")
    side[groups == 0] = np.where(np.arange(80) % 4, "left", "right")
    told = sm.effects(fit, X, {"side": side}, n_replicates=30, random_state=0)
    difference = told["side"].difference("left", "right")
    assert difference.told[0]
    assert difference.estimates[0] > 0.2


# Batches


@pytest.mark.parametrize("kappa", ["shared", "free"])
def test_a_part_is_scored_by_the_prototypes_of_all_others_in_each_view(kappa):
    X, groups = made(140, noise=0.8)
    past, new = parts(X, np.arange(100)), parts(X, np.arange(100, 140))
    fit = sm.VMFMixture(3, init=groups[:100], kappa=kappa, tol=1e-12).fit(past)
    known, suspects = Past(fit, past), np.array([2, 9])
    batch = score_new(fit, sm.as_directions(new))
    both = Exchange(known.scored, batch, suspects, known.vectors, known.gram, known.views)
    rows = {name: unit(X[name]) for name in X}
    pull = {name: float(fit.weights_ @ view.kappas_) for name, view in fit.views_.items()}
    pulls = fit.predict_proba(X)
    pulls[pulls <= 1e-4] = 0.0
    pulls[100 + suspects] = 0.0
    for part in (np.arange(100, 140), np.array([3, WORDLESS, MEANINGLESS, 99, 130])):
        rest = np.setdiff1d(np.arange(140), part)
        total, share = np.zeros(len(part)), np.zeros(len(part))
        for name, own in rows.items():
            sums = (pulls[rest].T @ own[rest])[both.all.labels[part]]
            cosines = np.sum(own[part] * sums, axis=1) / np.linalg.norm(sums, axis=1)
            total += pull[name] * cosines
            share += pull[name] * own[part].any(axis=1)
        assert_allclose(both.cosines(part), total / share, atol=1e-3)
    assert_array_equal(batch.labels, fit.predict(new))
    assert_allclose(np.diagonal(both.gram), 1.0)


def test_a_batch_with_a_group_that_is_new_in_both_views(monkeypatch):
    monkeypatch.setattr(new_groups, "N_DRAWS", 99)
    X, groups = made(400, n_groups=4)
    names = [f"w{j}" for j in range(24)]
    past = np.flatnonzero(groups < 3)[:200]
    same, event = np.flatnonzero(groups < 3)[200:240], np.flatnonzero(groups == 3)[:10]
    fit = sm.VMFMixture(3, random_state=0).fit(parts(X, past))
    quiet = sm.compare_batch(fit, parts(X, past), parts(X, same), feature_names=names)
    assert quiet.alarms == []
    batch = parts(X, np.concatenate([same, event]))
    found = sm.compare_batch(fit, parts(X, past), batch, feature_names=names)
    assert "new group" in found.alarms
    assert set(found.new_groups[0].members) == set(range(40, 50))
    assert found.new_groups[0].words[0] == "w3"


def test_batches_of_two_views_raise_no_more_alarms_than_chance(monkeypatch):
    """Of 40 batches without an event, few have small p-values, with rows that lack a view."""
    monkeypatch.setattr(new_groups, "N_DRAWS", 39)
    monkeypatch.setattr(drift, "N_SHARES", 39)
    monkeypatch.setattr(drift, "N_WORDS", 39)
    values = []
    for seed in range(40):
        X, _ = made(120, seed=seed, noise=1.0)
        lost = np.random.default_rng(seed).random(120) < 0.1
        X["words"] = sparse.csr_array(np.where(lost[:, None], 0.0, X["words"].toarray()))
        X["meaning"][MEANINGLESS] = 1.0
        past, new = parts(X, np.arange(80)), parts(X, np.arange(80, 120))
        fit = sm.VMFMixture(3, n_init=1, random_state=0, n_threads=1).fit(past)
        found = sm.compare_batch(fit, past, new, random_state=seed)
        values.append([one.p_value for one in found.checks])
    assert np.all(np.mean(np.array(values) <= 0.1, axis=0) <= 0.25)  # .1, standard error .05

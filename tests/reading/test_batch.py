"""What is new in a batch: each check against a computation of its own, and a planted event."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse, stats

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.estimators.calibration import LeftOut
from spheremix.reading.document_fit import (
    Scored,
    fit_values,
    limit_of_fit,
    products,
    score_new,
    score_past,
)
from spheremix.reading.drift import compare_shares, compare_words, distances
from spheremix.reading.new_groups import clearest_group, others_of, search_group


def scored_rows(rows, labels, cosines):
    """Return rows in one group each, none of them noise."""
    pulls = sparse.csr_array(np.eye(labels.max() + 1)[labels])
    nowhere = np.zeros(len(labels), dtype=bool)
    return Scored(rows, np.ones(len(labels)), labels, cosines, nowhere, pulls)


@pytest.fixture(scope="module")
def topics():
    """Return rows of three known topics, and of a fourth that the fit has not seen."""
    X, labels, _ = sm.datasets.make_vmf_mixture(500, 40, 4, overlap=0.001, random_state=1)
    past, event = X[labels != 3], X[labels == 3]
    return past[:220], past[220:300], event


@pytest.fixture(scope="module")
def mixture(topics):
    return sm.VMFMixture(3, random_state=0).fit(topics[0])


def test_rows_of_the_fit_are_scored_without_their_own_part(topics, mixture):
    past = topics[0]
    left = LeftOut(mixture, sm.as_directions(past), None)
    found = score_past(left, np.random.default_rng(0))
    rows = past / np.linalg.norm(past, axis=1, keepdims=True)
    posteriors = mixture.predict_proba(past)
    for i in (0, 57, 219):
        others = posteriors[np.arange(220) != i].T @ rows[np.arange(220) != i]
        prototypes = others / np.linalg.norm(others, axis=1, keepdims=True)
        assert found.cosines[i] == pytest.approx(prototypes[found.labels[i]] @ rows[i], abs=1e-6)
    raw = score_new(mixture, sm.as_directions(past))
    assert np.all(
        found.cosines[raw.labels == found.labels] < raw.cosines[raw.labels == found.labels]
    )


def test_new_rows_have_the_label_and_the_cosine_of_the_mixture(topics, mixture):
    new = topics[1]
    found = score_new(mixture, sm.as_directions(new))
    assert np.array_equal(found.labels, mixture.predict(new))
    rows = new / np.linalg.norm(new, axis=1, keepdims=True)
    np.testing.assert_allclose(found.cosines, (rows @ mixture.prototypes_.T).max(axis=1))


def test_fit_values_are_shares_of_the_past():
    past, new = np.array([0.3, 0.1, 0.2, 0.2]), np.array([0.2, 0.05, 0.9])
    expected = [(1 + sum(old <= one for old in past)) / 5 for one in new]
    assert fit_values(past, new).tolist() == expected


def test_a_new_document_fits_badly_as_often_as_all_orders_say():
    scores = np.random.default_rng(0).permutation(40) / 40
    bad = []
    for i in range(40):  # each is the new one once
        limit, share = limit_of_fit(np.delete(scores, i))
        bad.append(scores[i] < limit)
    assert share == 2 / 40
    assert np.mean(bad) == share


def test_members_of_a_new_group_are_nearer_to_each_other_than_to_their_group():
    rng = np.random.default_rng(0)
    centre = rng.normal(size=20)
    rows = np.vstack([rng.normal(size=(30, 20)), 2.0 * centre + rng.normal(size=(9, 20))])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = np.full(39, 0.55)
    value, members = clearest_group(rows @ rows.T, cosines)
    assert set(members) >= set(range(30, 39))
    gains = []
    for i in members:
        others = rows[[j for j in members if j != i]].sum(axis=0)
        gains.append(rows[i] @ others / np.linalg.norm(others) - 0.55)
    assert min(gains) > 0.0
    assert value == pytest.approx(np.sum(np.sqrt(gains)))
    assert clearest_group(np.ones((1, 1)), np.zeros(1))[0] == 0.0


@pytest.mark.parametrize("n", [2, 4, 5])
def test_fewer_than_five_are_no_group_even_if_they_are_the_same(n):
    rows = np.eye(40)
    rows[:n] = rows[0]  # reprints of one document
    value, members = clearest_group(rows @ rows.T, np.full(40, 0.3))
    assert members.tolist() == (list(range(5)) if n == 5 else [])
    assert value == pytest.approx(5 * np.sqrt(0.7) if n == 5 else 0.0)


def test_large_batches_are_searched_where_they_fit_worst(monkeypatch):
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(size=(60, 20)), rng.normal(size=(20, 20)) + 2.0])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    cosines = np.r_[np.full(60, 0.9), np.full(20, 0.6)]
    scored = scored_rows(rows, np.zeros(80, dtype=np.intp), cosines)
    monkeypatch.setattr("spheremix.reading.new_groups.MOST_SEARCHED", 10)
    _, members = search_group(np.arange(80), cosines, rows @ rows.T)
    assert len(members) == 10
    assert set(members) <= set(range(60, 80))
    assert set(others_of(scored, members, np.arange(80))) == set(range(60, 80))


def test_distances_of_means_from_products():
    rng = np.random.default_rng(1)
    rows = sparse.random_array((12, 30), density=0.3, rng=rng, format="csr")
    called = np.array([[1.0] * 4 + [0.0] * 8, [0.0, 1.0] * 6])
    for one, found in zip(called, distances(products(rows, rows), called), strict=True):
        dense = rows.toarray()
        gap = dense[one == 1.0].mean(axis=0) - dense[one == 0.0].mean(axis=0)
        assert found == pytest.approx(gap @ gap)


def test_shares_of_two_groups_are_tested_exactly():
    past, new = np.repeat([0, 1], [70, 30]), np.repeat([0, 1], [5, 10])
    found = compare_shares(past, new, 2, np.random.default_rng(0))
    assert found.found.tolist() == [5, 10]
    np.testing.assert_allclose(found.expected, [10.5, 4.5])
    exact = stats.hypergeom(115, 75, 15)
    far = [n for n in range(16) if abs(n - exact.mean()) >= abs(5 - exact.mean()) - 1e-9]
    np.testing.assert_allclose(found.p_values, exact.pmf(far).sum(), atol=0.003)


def test_words_of_a_group_that_moved_are_found_and_others_not():
    rng = np.random.default_rng(2)
    rows = np.abs(rng.normal(size=(120, 25)))
    rows[100:110, 3] += 4.0  # the new documents of group 0 say the fourth word more often
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    labels = np.r_[np.repeat([0, 1], 50), np.repeat([0, 1], 10)]
    past, new = (
        scored_rows(rows[:100], labels[:100], np.ones(100)),
        scored_rows(rows[100:], labels[100:], np.ones(20)),
    )
    found = compare_words(past, new, 3, np.random.default_rng(0))
    assert found.p_values[0] == 0.001
    assert found.p_values[1] > 0.05
    assert np.isnan(found.p_values[2])
    assert found.differences[0].argmax() == 3


def test_a_planted_event_is_found_and_no_event_is_not(topics, mixture):
    past, new, event = topics
    words = [f"w{j}" for j in range(40)]
    same = sm.compare_batch(mixture, past, new[:60], feature_names=words)
    assert same.alarms == []
    assert "nothing is new" in repr(same)
    batch = np.vstack([new[:60], event[:12]])
    found = sm.compare_batch(mixture, past, batch, feature_names=words)
    assert "new group" in found.alarms
    [group] = found.new_groups
    assert set(group.members) >= set(range(60, 72))
    assert sum(group.so_far.values()) == len(group.members)
    assert found.groups.found.sum() == 72 - len(group.members)
    heaviest = np.abs(event.mean(axis=0)).argsort()[-10:]
    assert len({f"w{j}" for j in heaviest} & set(group.words)) >= 3
    assert np.array_equal(found.new_group >= 0, np.isin(np.arange(72), group.members))
    assert f"New group A, {len(group.members)} documents" in "\n".join(found.lines())
    assert len(found.documents_table()["fit_p_value"]) == 72
    assert found.groups_table()["group"].tolist() == [0, 1, 2]


def test_shares_that_moved_are_named(topics, mixture):
    past, new, _ = topics
    one = new[mixture.predict(new) == 1]
    found = sm.compare_batch(mixture, past, one[:20])
    assert "shares" in found.alarms
    assert found.groups.share_changed[1]
    assert "MORE than chance allows" in "\n".join(found.lines())
    raised = [check for check in found.checks if check.alarm]
    assert "1 of 1 checks raises an alarm." in repr(replace(found, checks=(raised[0],)))
    assert "2 of 2 checks raise an alarm." in repr(replace(found, checks=(raised[0],) * 2))
    assert "Alarms: shares" in repr(found)
    assert repr(found).split("\n")[2].startswith("Groups with other shares or words: 0, 1 and 2.")


def test_the_same_seed_gives_the_same_result_dense_or_sparse(topics, mixture):
    past, new, _ = topics
    one = sm.compare_batch(mixture, past, new)
    two = sm.compare_batch(mixture, sparse.csr_array(past), sparse.csr_array(new))
    assert repr(one) == repr(two)
    np.testing.assert_allclose(one.cosines, two.cosines)


def test_what_cannot_be_compared_is_refused(topics, mixture):
    past, new, _ = topics
    with pytest.raises(ParameterError, match="false_alarms must be between"):
        sm.compare_batch(mixture, past, new, false_alarms=0.9)
    with pytest.raises(ParameterError, match="feature_names has 2 names, the model 40 features"):
        sm.compare_batch(mixture, past, new, feature_names=["a", "b"])
    with pytest.raises(ParameterError, match="model must be a fitted estimator"):
        sm.compare_batch("mixture", past, new)

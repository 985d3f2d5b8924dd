"""New groups by chance: random parts of all documents, scored by the prototypes of the rest."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import spheremix as sm
from spheremix.estimators.calibration import LeftOut
from spheremix.reading import drift, new_groups
from spheremix.reading.batch import Past
from spheremix.reading.document_fit import score_new, score_past
from spheremix.reading.new_groups import Exchange


@pytest.fixture(scope="module")
def rows():
    X, _, _ = sm.datasets.make_vmf_mixture(140, 30, 3, overlap=0.05, random_state=3)
    return X[:100], X[100:]


def posteriors(mixture, X):
    found = mixture.predict_proba(X)
    return np.where(found > 1e-4, found, 0.0)


def exchanged(past, batch, suspects):
    return Exchange(past.scored, batch, suspects, past.vectors, past.gram, past.views)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_part_is_scored_by_the_prototypes_of_all_others(rows, kind):
    past, new = rows
    mixture = sm.VMFMixture(3, random_state=0).fit(past)
    known = Past(mixture, kind(past))
    suspects = np.array([2, 7])  # have no part in any prototype
    both = exchanged(known, score_new(mixture, sm.as_directions(kind(new))), suspects)
    X = np.vstack([past, new])
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    t = posteriors(mixture, X)
    t[100 + suspects] = 0.0
    for part in (np.arange(100, 140), np.array([3, 50, 99, 100, 130]), np.arange(20, 80)):
        rest = np.setdiff1d(np.arange(140), part)
        sums = t[rest].T @ X[rest]
        # Documents keep the group that they have; of old ones the group without their own part.
        labels = both.all.labels[part]
        own = sums[labels] / np.linalg.norm(sums[labels], axis=1, keepdims=True)
        np.testing.assert_allclose(both.cosines(part), (own * X[part]).sum(axis=1), atol=1e-4)
    np.testing.assert_allclose(both.cosines(both.batch), both.all.cosines[100:], atol=1e-4)


def test_one_document_left_out_of_sparse_prototypes_is_scored_as_before(rows):
    past, new = rows
    mixture = sm.VMFMixture(3, beta=8.0, random_state=0).fit(past)
    assert np.mean(mixture.prototypes_ == 0.0) > 0.1
    batch = score_new(mixture, sm.as_directions(new[:1]))
    both = exchanged(Past(mixture, past), batch, np.empty(0, dtype=np.intp))
    left = score_past(LeftOut(mixture, sm.as_directions(past), None), np.random.default_rng(0))
    found = [both.cosines(np.array([i, 100]))[0] for i in range(100)]
    np.testing.assert_allclose(found, left.cosines, atol=1e-3)
    assert both.cosines(both.batch)[0] == pytest.approx(both.all.cosines[-1], abs=1e-4)


def test_weights_of_the_fit_count_for_the_prototypes(rows):
    past, _ = rows
    weights = np.random.default_rng(0).integers(1, 4, 100).astype(float)
    mixture = sm.VMFMixture(3, random_state=0).fit(past, sample_weight=weights)
    known = Past(mixture, past, sample_weight=weights)
    X = past / np.linalg.norm(past, axis=1, keepdims=True)
    t = mixture.predict_proba(past) * weights[:, None]
    np.testing.assert_allclose(known.vectors, t.T @ X, rtol=1e-3, atol=2e-3)
    for i in (0, 40, 99):
        others = (t.T @ X) - np.outer(t[i], X[i])
        k = known.scored.labels[i]
        assert known.scored.cosines[i] == pytest.approx(
            others[k] @ X[i] / np.linalg.norm(others[k]), abs=1e-3
        )


def test_batches_of_half_the_past_raise_no_more_alarms_than_chance(monkeypatch):
    """Of 40 batches without an event, few have small p-values; drawn from the past, many had."""
    monkeypatch.setattr(new_groups, "N_DRAWS", 39)
    monkeypatch.setattr(drift, "N_SHARES", 39)
    monkeypatch.setattr(drift, "N_WORDS", 39)
    values = []
    for seed in range(40):
        X, _, _ = sm.datasets.make_vmf_mixture(90, 12, 2, overlap=0.01, random_state=seed)
        mixture = sm.VMFMixture(2, n_init=1, random_state=0, n_threads=1).fit(X[:60])
        found = sm.compare_batch(mixture, X[:60], X[60:], random_state=seed)
        values.append([one.p_value for one in found.checks])
    assert np.all(np.mean(np.array(values) <= 0.1, axis=0) <= 0.25)  # .1, standard error .05


def test_a_batch_larger_than_the_past_has_one_event_and_no_other_groups(monkeypatch):
    monkeypatch.setattr(new_groups, "N_DRAWS", 99)
    X, labels, _ = sm.datasets.make_vmf_mixture(520, 40, 4, overlap=0.001, random_state=1)
    old, event = X[labels != 3], X[labels == 3]
    mixture = sm.VMFMixture(3, random_state=0).fit(old[:100])
    found = sm.compare_batch(mixture, old[:100], np.vstack([old[100:380], event[:40]]))
    [group] = found.new_groups
    assert np.mean(group.members >= 280) > 0.9
    assert np.isin(np.arange(280, 320), group.members).mean() > 0.9
    assert "by chance" not in found.checks[0].sentence


def test_groups_that_follow_single_documents_are_cautioned_about():
    X, _, _ = sm.datasets.make_vmf_mixture(100, 300, 4, overlap=0.1, random_state=0)
    mixture = sm.VMFMixture(4, n_init=2, random_state=0).fit(X[:80])
    found = sm.compare_batch(mixture, X[:80], X[80:])
    changed = score_past(
        LeftOut(mixture, sm.as_directions(X[:80]), None), np.random.default_rng(0)
    ).labels != mixture.predict(X[:80])
    assert found.unstable == np.mean(changed) > 0.02
    assert "would change group if they were left out of the fit" in "\n".join(found.lines())


def test_documents_that_belong_nowhere_are_counted_apart():
    X, _, _ = sm.datasets.make_vmf_mixture(160, 20, 2, kappa=60.0, random_state=0)
    rng = np.random.default_rng(0)
    X[::10] = rng.normal(size=(16, 20))
    mixture = sm.VMFMixture(2, noise="uniform", random_state=0).fit(X[:120])
    found = sm.compare_batch(mixture, X[:120], X[120:])
    assert np.array_equal(found.labels, mixture.predict(X[120:]))
    n, expected = found.nowhere
    known = found.new_group < 0
    assert n == np.sum((found.labels < 0) & known) > 0
    assert expected == pytest.approx(known.sum() * 12 / 120, rel=0.2)
    assert found.groups.found.sum() == np.sum((found.labels >= 0) & known)
    assert "none: they belong nowhere" in "\n".join(found.lines())

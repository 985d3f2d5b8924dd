"""Shares of groups in documents."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import softmax

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.reading import shares as module
from spheremix.reading.shares import PRIOR, TOL, proportions

K = 4


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = sm.datasets.make_vmf_mixture(600, 15, K, overlap=0.15, random_state=0)
    order = np.argsort(y + np.random.default_rng(0).normal(0.0, 0.7, 600), kind="stable")
    X = X[order]  # neighbours are alike, so that documents have subjects
    return X, sm.VMFMixture(K, random_state=0).fit(X), np.repeat(np.arange(100), 6)


def objective(weights, evidence, sizes, pseudo):
    return sizes @ np.log(evidence @ weights) + pseudo @ np.log(weights)


def by_brute_force(evidence, sizes, pseudo):
    """Maximise by a general optimiser, over logits."""

    def loss(logits):
        weights = softmax(logits)
        return -objective(weights, evidence, sizes, pseudo)

    found = minimize(loss, np.zeros(evidence.shape[1]), method="BFGS", options={"gtol": 1e-9})
    return softmax(found.x)


def random_parts(seed, n=60, m=7):
    rng = np.random.default_rng(seed)
    evidence = np.exp(rng.normal(0.0, 2.0, (n, K)))
    codes = np.r_[np.arange(m), rng.integers(m, size=n - m)]
    sizes = rng.uniform(0.2, 2.0, n)
    return evidence, codes, sizes, sparse.csr_array((sizes, (codes, np.arange(n))), shape=(m, n))


@pytest.mark.parametrize("seed", range(5))
def test_weights_are_those_of_brute_force(seed):
    evidence, codes, sizes, members = random_parts(seed)
    pseudo = np.array([0.3, 0.1, 0.5, 0.6])
    weights, _ = proportions(evidence, members, pseudo)
    for i, found in enumerate(weights):
        own = codes == i
        best = by_brute_force(evidence[own], sizes[own], pseudo)
        reached, most = (objective(one, evidence[own], sizes[own], pseudo) for one in (found, best))
        assert reached > most - TOL * (sizes[own].sum() + pseudo.sum())
        np.testing.assert_allclose(found, best, atol=0.01)


def test_no_iteration_lowers_the_objective(monkeypatch):
    evidence, codes, sizes, members = random_parts(1)
    pseudo = np.full(K, 0.2)
    monkeypatch.setattr(module, "MAX_ITER", 1)
    weights, values = np.full((7, K), 0.25), []
    for _ in range(30):
        weights, _ = proportions(evidence, members, pseudo, weights)
        values.append(
            [
                objective(weights[i], evidence[codes == i], sizes[codes == i], pseudo)
                for i in range(7)
            ]
        )
    assert np.diff(values, axis=0).min() > -1e-12


def test_what_is_missing_is_bounded_by_the_growth():
    """The rule to stop by is a bound of what is missing to the maximum, at every iteration."""
    evidence, codes, sizes, _ = random_parts(2)
    own, pseudo = codes == 0, np.full(K, 0.2)
    evidence, sizes, total = evidence[own], sizes[own], sizes[own].sum() + pseudo.sum()
    most = objective(by_brute_force(evidence, sizes, pseudo), evidence, sizes, pseudo)
    weights = np.array([0.7, 0.1, 0.1, 0.1])
    for _ in range(20):
        tau = weights * evidence
        tau /= tau.sum(axis=1, keepdims=True)
        after = (pseudo + sizes @ tau) / total
        missing = most - objective(weights, evidence, sizes, pseudo)
        assert -1e-9 < missing <= total * ((after / weights).max() - 1.0) + 1e-9
        weights = after


def test_documents_that_are_done_first_are_left_out_rightly():
    evidence, _, _, members = random_parts(3, n=400, m=80)
    together, _ = proportions(evidence, members, np.full(K, 0.2))
    alone = [proportions(evidence, members[[i]], np.full(K, 0.2))[0][0] for i in range(80)]
    np.testing.assert_allclose(together, alone, atol=2e-3)


def test_a_row_may_be_in_several_parts():
    evidence, _, sizes, _ = random_parts(4)
    members = sparse.csr_array(np.vstack([sizes, sizes * (np.arange(60) < 30)]))
    members.eliminate_zeros()
    weights, _ = proportions(evidence, members, np.full(K, 0.2))
    np.testing.assert_allclose(
        weights[1], by_brute_force(evidence[:30], sizes[:30], np.full(K, 0.2)), atol=0.01
    )


def test_shares_are_means_of_passages_and_these_hang_on_the_others(fitted):
    X, mixture, documents = fitted
    lengths = np.random.default_rng(1).uniform(20, 100, 600)
    found = sm.document_shares(mixture, X, documents, lengths=lengths, temperature=1.5)
    assert found.temperature == 1.5
    np.testing.assert_allclose(found.shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(found.passages.sum(axis=1), 1.0)
    own = documents == 7
    expected = np.average(found.passages[own], axis=0, weights=lengths[own])
    np.testing.assert_allclose(found.shares[7], expected)
    # The same by hand: weights of the document, then each passage by what the others give.
    scores = np.log(mixture.predict_proba(X[own]) / mixture.weights_) / 1.5
    evidence = np.exp(scores - scores.max(axis=1, keepdims=True))
    sizes, pseudo = lengths[own] / lengths.mean(), PRIOR * mixture.weights_
    weights = by_brute_force(evidence, sizes, pseudo)
    tau = weights * evidence
    tau /= tau.sum(axis=1, keepdims=True)
    for p in range(6):
        others = pseudo + sizes @ tau - sizes[p] * tau[p]
        by_hand = others * evidence[p]
        np.testing.assert_allclose(found.passages[own][p], by_hand / by_hand.sum(), atol=2e-3)


def test_a_document_of_one_passage_has_the_calibrated_posteriors(fitted):
    X, mixture, _ = fitted
    found = sm.document_shares(mixture, X, np.arange(600))
    calibration = sm.calibrate(mixture, X)
    np.testing.assert_allclose(found.passages, calibration.posteriors, atol=1e-9)
    assert found.temperature == calibration.temperature


def test_order_and_names_of_documents_do_not_matter(fitted):
    X, mixture, documents = fitted
    whole = sm.document_shares(mixture, X, documents, temperature=1.0)
    order = np.random.default_rng(0).permutation(600)
    names = np.array([f"d{i:03}" for i in documents])
    again = sm.document_shares(mixture, X[order], names[order], temperature=1.0)
    assert again.documents[:2].tolist() == ["d000", "d001"]
    np.testing.assert_allclose(again.shares, whole.shares, atol=1e-9)


def test_shares_are_nearer_to_the_truth_than_sums():
    """Documents of two subjects each: passages that could be of two are helped by the others."""
    X, y, _ = sm.datasets.make_vmf_mixture(4000, 20, 4, overlap=0.2, random_state=0)
    rng = np.random.default_rng(0)
    pools = [list(np.flatnonzero(y == k)) for k in range(4)]
    pairs = [rng.choice(4, 2, replace=False) for _ in range(250)]
    ids = [pools[rng.choice(pair)].pop() for pair in pairs for _ in range(8)]
    X, y, documents = X[ids], y[ids], np.repeat(np.arange(250), 8)
    mixture = sm.VMFMixture(4, random_state=0).fit(X)
    table = np.array([np.bincount(y[mixture.labels_ == k], minlength=4) for k in range(4)])
    names = table.argmax(axis=1)
    assert sorted(names) == [0, 1, 2, 3]
    truth = (
        np.array([np.bincount(y[documents == i], minlength=4) for i in range(250)])[:, names] / 8
    )
    plain = mixture.predict_proba(X)
    sums = np.array([plain[documents == i].mean(axis=0) for i in range(250)])
    found = sm.document_shares(mixture, X, documents)
    assert np.abs(found.shares - truth).mean() < 0.8 * np.abs(sums - truth).mean()
    # Calibrated: as sure as right.
    sure = found.passages.max(axis=1)
    right = names[found.passages.argmax(axis=1)] == y
    for low, high in ((0.5, 0.7), (0.7, 0.9), (0.9, 1.0)):
        own = (sure > low) & (sure <= high)
        assert abs(sure[own].mean() - right[own].mean()) < 0.08


def test_noise_counts_for_nothing():
    X, _, _ = sm.datasets.make_vmf_mixture(400, 15, 3, overlap=0.01, random_state=0)
    rng = np.random.default_rng(0)
    X = np.vstack([X, rng.normal(size=(100, 15))])
    mixture = sm.VMFMixture(3, noise="uniform", random_state=0).fit(X)
    documents = np.arange(500) % 100
    found = sm.document_shares(mixture, X, documents)
    np.testing.assert_allclose(found.shares.sum(axis=1), 1.0)
    own = documents == 5
    weights = 1.0 - mixture.predict_noise(X[own])
    assert weights.min() < 0.5 < weights.max()
    np.testing.assert_allclose(
        found.shares[5], np.average(found.passages[own], axis=0, weights=weights), atol=1e-9
    )


def test_a_path_is_taken_at_the_selected_step(fitted):
    X, _, documents = fitted
    path = sm.VMFPath(K, random_state=0, max_steps=5).fit(X)
    one, other = (
        sm.document_shares(model, X, documents, temperature=1.0)
        for model in (path, path.best_estimator_)
    )
    np.testing.assert_array_equal(one.shares, other.shares)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"documents": [0, 1]}, "documents must have one value a row"),
        ({"lengths": [1.0]}, "lengths must have one value for each row"),
        ({"lengths": np.r_[0.0, np.ones(599)]}, "row 0 has 0"),
        ({"temperature": 0.0}, "temperature must be a finite number above 0"),
        ({"prior": -1.0}, "prior must be"),
        ({"model": sm.SphericalKMeans(3)}, "model must be a fitted VMFMixture"),
    ],
)
def test_what_is_refused(fitted, wrong, message):
    X, mixture, documents = fitted
    given = {"model": mixture, "documents": documents} | wrong
    with pytest.raises(ParameterError, match=message):
        sm.document_shares(given.pop("model"), X, given.pop("documents"), **given)

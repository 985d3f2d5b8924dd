"""VMFCoclustering: planted blocks are found, what is said of them, parameters, trouble."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from coclustering_common import ALGORITHMS, block_mixture, planted
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logsumexp
from sklearn.metrics import adjusted_rand_score

import spheremix as sm
from spheremix.models.base import DegenerateError
from spheremix.models.coclustering import DrawnModel

# ------------------------------------------------------------------------------------ what is found


@pytest.mark.parametrize("contain", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_recovers_planted_blocks(algorithm, contain):
    X, rows, columns = planted()
    fit = block_mixture(algorithm=algorithm).fit(contain(X))
    assert adjusted_rand_score(rows, fit.labels_) == 1.0
    assert adjusted_rand_score(columns, fit.column_labels_) == 1.0
    # The same numbers for a cluster of rows and its block of columns.
    for k in range(3):
        assert (rows[fit.labels_ == k][0]) == columns[fit.column_labels_ == k][0]
    assert fit.status_ == ("max_iter" if algorithm == "sem" else "converged")
    drawn = 0 if algorithm in {"em", "cem"} else 50
    assert fit.n_iter_ >= drawn
    assert algorithm != "sem" or fit.n_iter_ == drawn


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kappa", ["free", "shared", 30.0, [10.0, 20.0, 30.0]])
@pytest.mark.parametrize("weights", ["estimated", "equal"])
def test_attributes_are_consistent(log_c, algorithm, kappa, weights):
    X, _, _ = planted(noise=0.8)
    fit = block_mixture(algorithm=algorithm, kappa=kappa, weights=weights, n_drawn=10).fit(X)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    sizes = np.bincount(fit.column_labels_, minlength=3)
    own = fit.column_labels_ == np.arange(3)[:, None]
    assert_allclose(fit.prototypes_, own / np.sqrt(sizes)[:, None])
    logs = np.array([log_c(27, kappa) for kappa in fit.kappas_])
    scores = np.log(fit.weights_) + logs + fit.kappas_ * (unit @ fit.prototypes_.T)
    total = logsumexp(scores, axis=1).sum()
    assert_allclose(fit.log_likelihood_, total, rtol=1e-11)
    hard = algorithm in {"cem", "caem"}
    assert_allclose(fit.objective_, scores.max(axis=1).sum() if hard else total, rtol=1e-11)
    assert fit.objective_ == max(run.objective for run in fit.runs_ if run.status != "collapsed")
    assert_array_equal(fit.labels_, scores.argmax(axis=1))
    assert_allclose(fit.weights_.sum(), 1.0)
    if weights == "equal":
        assert_allclose(fit.weights_, 1 / 3)
    if algorithm != "sem":
        assert 0 <= fit.stationarity_gap_ < 1e-7
    n_kappas = {"free": 3, "shared": 1}.get(kappa if isinstance(kappa, str) else "", 0)
    count = n_kappas + (2 if weights == "estimated" else 0)
    assert fit.n_parameters_ == count
    assert_allclose(fit.criteria_["bic"], math.log(120) * count - 2 * total, rtol=1e-11)
    posteriors = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    assert_allclose(fit.predict_proba(X), posteriors, atol=1e-11)
    assert_allclose(fit.transform(X), posteriors, atol=1e-11)
    assert_allclose(fit.score_samples(X).sum(), total, rtol=1e-11)
    assert_allclose(fit.score(X), total / 120, rtol=1e-11)
    assert_array_equal(fit.predict(X), fit.labels_)


def test_counting_the_columns():
    X, _, _ = planted()
    without, with_columns = (block_mixture(count=c).fit(X) for c in ("mixture", "columns"))
    assert (without.n_parameters_, with_columns.n_parameters_) == (5, 32)
    assert_allclose(with_columns.criteria_["aic"] - without.criteria_["aic"], 2 * 27)


@pytest.mark.slow
def test_abstracts(cstr):
    """The paper has 0.803, with a standard deviation of 0.017, for the best of 50 starts."""
    X, labels = cstr
    found = []
    for seed in range(5):
        fit = sm.VMFCoclustering(n_components=4, n_init=50, random_state=seed).fit(X)
        found.append(adjusted_rand_score(labels, fit.labels_))
        assert {run.status for run in fit.runs_} == {"converged"}
    assert abs(np.mean(found) - 0.803) < 0.02


# ------------------------------------------------------------------------------------------ trouble


def test_an_emptied_block_is_collapsed():
    """Dense data with both signs has no blocks; the more components, the more starts collapse."""
    X, _, _ = sm.datasets.make_vmf_mixture(200, 100, 4, overlap=0.05, random_state=0)
    rates = []
    for n_components in (2, 8):
        fit = block_mixture(n_components=n_components, n_init=10).fit(X)
        statuses = [run.status for run in fit.runs_]
        assert set(statuses) <= {"converged", "collapsed"}
        rates.append(statuses.count("collapsed") / 10)
        assert fit.status_ == "converged"
    assert rates[0] < 0.1
    assert rates[1] > 0.3


def test_no_component_of_twins():
    """Equal rows: any two components want the same columns."""
    X = np.tile([3.0, 2.0, 1.0], (10, 1))
    with pytest.raises(RuntimeError, match="No restart of 10 gave a block mixture of 2"):
        block_mixture(n_components=2).fit(X)


def test_drawings_that_empty_a_cluster_fail_sem_only(monkeypatch):
    X, rows, _ = planted()
    step = DrawnModel.m_step

    def unlucky(self, resultants, parameters):
        if parameters.key[1] == 3:
            raise DegenerateError("collapsed", 0)
        return step(self, resultants, parameters)

    monkeypatch.setattr(DrawnModel, "m_step", unlucky)
    with pytest.raises(RuntimeError, match="1 collapsed"):
        block_mixture(algorithm="sem", init=rows).fit(X)
    for algorithm in ("saem", "caem"):
        fit = block_mixture(algorithm=algorithm, init=rows).fit(X)
        assert fit.status_ == "converged"
        assert 3 < fit.n_iter_ < 50


# --------------------------------------------------------------------------------------- conscience


def skewed():
    """Return one large cluster and two small ones, and many rows of the large one in between."""
    rng = np.random.default_rng(0)
    columns = np.repeat(np.arange(3), 10)
    rows = np.repeat(np.arange(3), (150, 50, 50))
    rates = np.where(rows[:, None] == columns, 2.0, 0.1)
    rates[:60, 10:20] = 1.5
    X = rng.poisson(rates).astype(float)
    X[X.sum(axis=1) == 0, 0] = 1.0
    return X, rows


@pytest.mark.parametrize(
    ("algorithm", "weights"), [("em", "estimated"), ("em", "equal"), ("cem", "estimated")]
)
def test_conscience_evens_sizes(algorithm, weights, mean_length_oracle):
    X, rows = skewed()
    parameters = {"algorithm": algorithm, "weights": weights, "kappa": "shared", "init": rows}
    plain = block_mixture(**parameters).fit(X)
    fair = block_mixture(conscience=True, tol=1e-4, **parameters).fit(X)

    def largest(fit):
        return np.bincount(fit.labels_, minlength=3).max()

    assert largest(fair) < largest(plain)
    assert fair.status_ == "converged"
    # Inversely proportional to the masses, harmonic mean the pooled concentration.
    (resultants,) = sm.as_directions(X).sweep(
        [fair.model_.scorer(fair._parameters(), "soft" if algorithm == "em" else "hard")]
    )
    handicap = fair.kappas_ * resultants.mass
    assert_allclose(handicap / handicap.mean(), 1.0, atol=0.1)
    pooled = 3 / (1 / fair.kappas_).sum()
    directions = np.einsum("kj,kj->", fair.prototypes_, resultants.vectors)
    assert_allclose(mean_length_oracle(30, pooled), directions / 250, rtol=0.02)
    assert_array_equal(fair.predict(X), fair.labels_)


def test_conscience_reports_the_density_of_the_pooled_kappa(log_c):
    X, rows = skewed()
    fit = block_mixture(conscience=True, init=rows, tol=1e-4, count="columns").fit(X)
    pooled = 3 / (1 / fit.kappas_).sum()
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    scores = np.log(fit.weights_) + log_c(30, pooled) + pooled * (unit @ fit.prototypes_.T)
    total = logsumexp(scores, axis=1).sum()
    assert_allclose(fit.log_likelihood_, total, rtol=1e-11)
    assert_allclose(fit.score(X), total / 250, rtol=1e-11)
    assert fit.n_parameters_ == 2 + 1 + 30


def test_conscience_with_given_kappas():
    X, rows = skewed()
    fit = block_mixture(conscience=True, kappa=12.0, init=rows, tol=1e-4).fit(X)
    assert_allclose(3 / (1 / fit.kappas_).sum(), 12.0)


# The parameters of VMFCoclustering: starts, refusals, warnings and scikit-learn's checks


def test_a_block_of_negative_columns():
    X, _, columns = planted()
    first = block_mixture().fit(X)
    signs = np.where(columns == 0, -1.0, 1.0)
    start = SimpleNamespace(**{**vars(first), "prototypes_": first.prototypes_ * signs})
    fit = block_mixture(init=start).fit(X * signs)
    assert fit.n_iter_ <= 1
    assert_array_equal(fit.prototypes_, first.prototypes_ * signs)
    assert_allclose(fit.log_likelihood_, first.log_likelihood_)
    assert_array_equal(fit.predict(X * signs), first.labels_)


def test_kappa_at_its_cap_is_flagged():
    X = np.repeat(np.kron(np.eye(2), np.ones((1, 3))), 6, axis=0)
    fit = block_mixture(n_components=2).fit(X)
    assert fit.runs_[0].kappa_capped
    assert_array_equal(np.bincount(fit.labels_), [6, 6])

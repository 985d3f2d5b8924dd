"""VMFMixture: what is fitted and predicted, on real data and by definition, always the same."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from mixture_common import assert_same_bits, assert_same_fit, mixture
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import spheremix as sm


def log_densities(mix, X, log_c):
    """Return log sum_k alpha_k c_d(kappa_k) exp(kappa_k <mu_k, x>), straight from definition."""
    normalizers = np.array([log_c(mix.n_features_in_, kappa) for kappa in mix.kappas_])
    cosines = (X @ mix.prototypes_.T) / np.sqrt((X**2).sum(axis=1))[:, None]
    scores = np.log(mix.weights_) + normalizers + mix.kappas_ * cosines
    return logsumexp(scores, axis=1), scores


# ---------------------------------------------------------------------------------------- real data


@pytest.mark.parametrize(("kappa", "ari"), [("shared", 0.837), ("free", 0.818)])
def test_abstracts_from_their_true_classes(cstr, kappa, ari):
    """The figures of the paper."""
    X, labels = cstr
    mix = sm.VMFMixture(n_components=4, kappa=kappa, init=labels).fit(X)
    assert mix.status_ == "converged"
    assert round(adjusted_rand_score(labels, mix.labels_), 3) == ari
    assert len(mix.runs_) == 1
    assert mix.stationarity_gap_ < 1e-7
    assert mix.kkt_residual_ < 10 * math.sqrt(1e-7)
    assert (len(set(mix.kappas_)) == 1) == (kappa == "shared")


def test_likelihood_and_criteria_of_abstracts(cstr, log_c):
    X, labels = cstr[0].astype(float), cstr[1]
    mix = sm.VMFMixture(n_components=4, beta=20.0, kappa="free", init=labels).fit(X)
    densities, scores = log_densities(mix, X.toarray(), log_c)
    total = densities.sum()
    assert_allclose(mix.log_likelihood_, total, rtol=1e-10)
    assert_allclose(mix.objective_, total - 20 * np.abs(mix.prototypes_).sum(), rtol=1e-10)
    n_nonzero = np.count_nonzero(mix.prototypes_, axis=1)
    assert n_nonzero.min() > 1
    assert n_nonzero.max() < 900
    count = 3 + 4 + (n_nonzero - 1).sum()
    posteriors = np.exp(scores - densities[:, None])
    entropy = -(posteriors * np.log(np.maximum(posteriors, 1e-300))).sum()
    expected = {
        "aic": 2 * count - 2 * total,
        "bic": math.log(475) * count - 2 * total,
        "ric": 2 * math.log(1000) * count - 2 * total,
        "ricc": 2 * (math.log(1000) + math.log(math.log(1000))) * count - 2 * total,
        "ebic": (math.log(475) + math.log(1000)) * count - 2 * total,
        "icl": math.log(475) * count - 2 * total + 2 * entropy,
    }
    assert mix.criteria_ == pytest.approx(expected, rel=1e-10)
    assert_allclose(mix.aic(X), expected["aic"], rtol=1e-10)
    assert_allclose(mix.bic(X), expected["bic"], rtol=1e-10)
    # In single precision, to a thousandth of a nat in all.
    single = clone(mix).fit(X.astype(np.float32))
    assert_allclose(single.log_likelihood_, total, atol=2e-3)


def test_dense_fits_have_exact_zeros_too(cstr):
    """Without a penalty most coordinates that are no class's words are numerically nothing."""
    X, labels = cstr
    mix = sm.VMFMixture(n_components=4, init=labels).fit(X)
    lengths = np.abs(mix.prototypes_)
    assert not np.any((lengths > 0) & (lengths < 1e-8))
    assert_allclose(np.linalg.norm(mix.prototypes_, axis=1), 1.0, rtol=1e-14)
    assert 2000 < np.count_nonzero(lengths) < 2400
    kept = sm.VMFMixture(n_components=4, init=labels, zero_tol=0.0).fit(X)
    assert np.count_nonzero(kept.prototypes_) > np.count_nonzero(lengths)
    # What was reported belongs to what is left.
    assert_allclose(mix.score_samples(X).sum(), mix.log_likelihood_, rtol=1e-13)


# --------------------------------------------------------------------------------- results of a fit


@pytest.mark.parametrize("kappa", ["shared", "free", 25.0, [5.0, 50.0, 500.0]])
@pytest.mark.parametrize("beta", [0.0, 6.0])
def test_attributes_are_consistent(clouds, log_c, kappa, beta):
    X, _ = clouds(n=150, noise=0.5)
    mix = mixture(kappa=kappa, beta=beta).fit(5 * X)
    assert mix.prototypes_.shape == (3, 8)
    assert_allclose(np.linalg.norm(mix.prototypes_, axis=1), 1)
    assert_allclose(mix.weights_.sum(), 1)
    assert (mix.status_, mix.n_features_in_, len(mix.runs_)) == ("converged", 8, 3)
    assert mix.objective_ == max(run.objective for run in mix.runs_)
    assert 0 <= mix.stationarity_gap_ < 1e-7
    densities, scores = log_densities(mix, X, log_c)
    assert_allclose(mix.log_likelihood_, densities.sum(), rtol=1e-11)
    assert_allclose(
        mix.objective_, densities.sum() - beta * np.abs(mix.prototypes_).sum(), rtol=1e-11
    )
    assert_array_equal(mix.labels_, scores.argmax(axis=1))
    n_kappas = {"shared": 1, "free": 3}.get(kappa if isinstance(kappa, str) else "", 0)
    count = 2 + n_kappas + (np.count_nonzero(mix.prototypes_, axis=1) - 1).clip(1).sum()
    assert_allclose(mix.criteria_["aic"], 2 * count - 2 * densities.sum(), rtol=1e-11)
    if kappa not in ("shared", "free"):
        assert_array_equal(mix.kappas_, np.broadcast_to(kappa, 3))
    # Using it.
    Y = clouds(n=20, noise=0.5, seed=5)[0]
    densities, scores = log_densities(mix, Y, log_c)
    assert_allclose(mix.score_samples(3 * Y), densities, rtol=1e-11, atol=1e-11)
    assert_allclose(mix.score(Y), densities.mean(), rtol=1e-11)
    assert_allclose(mix.predict_proba(Y), np.exp(scores - densities[:, None]), atol=1e-12)
    assert_array_equal(mix.transform(Y), mix.predict_proba(Y))
    assert_array_equal(mix.predict(Y), scores.argmax(axis=1))
    assert_allclose(mix.aic(Y), 2 * count - 2 * densities.sum(), rtol=1e-11)
    assert_allclose(mix.bic(Y), math.log(20) * count - 2 * densities.sum(), rtol=1e-11)
    assert_array_equal(mix.fit_predict(X), mix.labels_)


def test_recovers_a_simulated_mixture():
    X, labels, truth = sm.datasets.make_vmf_mixture(
        n_samples=1500, n_features=20, n_components=4, overlap=0.02, random_state=3
    )
    mix = sm.VMFMixture(n_components=4, kappa="free", random_state=0).fit(X)
    assert adjusted_rand_score(labels, mix.labels_) > 0.9
    cosines = mix.prototypes_ @ truth.prototypes.T
    assert_allclose(np.sort(cosines.max(axis=0)), 1.0, atol=0.02)


def test_the_best_run_is_kept(clouds):
    X, _ = clouds(n=150, n_clouds=5, noise=0.9)
    mix = mixture(n_components=5, init="random", n_init=8).fit(X)
    objectives = [run.objective for run in mix.runs_]
    assert max(objectives) - min(objectives) > 0.1
    for seed_run, objective in zip(mix.runs_, objectives, strict=True):
        assert isinstance(seed_run.seed, int)
        assert objective <= mix.objective_
    assert len({run.seed for run in mix.runs_}) == 8
    # More restarts begin with the same ones.
    assert mixture(n_components=5, init="random", n_init=3).fit(X).runs_ == mix.runs_[:3]


def test_max_iter_warns_and_says_what_to_do(clouds):
    X, _ = clouds(n=150, noise=0.9)
    mix = mixture(max_iter=2)
    with pytest.warns(ConvergenceWarning, match=r"2 iterations .* gap of .*raise max_iter"):
        mix.fit(X)
    assert (mix.status_, mix.n_iter_) == ("max_iter", 2)
    assert mix.stationarity_gap_ > 0


def test_sampling(clouds):
    X, _ = clouds(n=300, d=4, noise=0.4)
    mix = mixture(kappa="free").fit(X)
    rows, labels = mix.sample(20_000, random_state=1)
    assert rows.shape == (20_000, 4)
    assert_allclose(np.linalg.norm(rows, axis=1), 1.0)
    assert_allclose(np.bincount(labels) / 20_000, mix.weights_, atol=0.015)
    for k in range(3):
        mean = rows[labels == k].mean(axis=0)
        assert_allclose(mean / np.linalg.norm(mean), mix.prototypes_[k], atol=0.02)
        again = sm.VMFMixture(n_components=1).fit(rows[labels == k])
        assert_allclose(again.kappas_[0], mix.kappas_[k], rtol=0.05)
    assert_array_equal(mix.sample(5, random_state=1)[0], mix.sample(5, random_state=1)[0])
    assert mix.sample()[0].shape == (1, 4)


def test_hard_e_step_reports_the_likelihood_too(clouds, log_c):
    X, labels = clouds(n=150, noise=0.9)
    mix = mixture(e_step="hard", init=labels).fit(X)
    densities, scores = log_densities(mix, X, log_c)
    assert_allclose(mix.log_likelihood_, densities.sum(), rtol=1e-11)
    assert_allclose(mix.objective_, scores.max(axis=1).sum(), rtol=1e-11)


# -------------------------------------------------------------------------------------- determinism


@pytest.mark.parametrize("e_step", ["soft", "hard"])
@pytest.mark.parametrize("contain", [np.asarray, sparse.csr_array])
def test_a_seed_gives_the_same_bits(clouds, e_step, contain):
    X, _ = clouds(n=700, noise=0.6)
    fits = [
        mixture(e_step=e_step, init="k-means++", beta=2.0, n_threads=threads).fit(contain(X))
        for threads in (1, 1, 2, 7)
    ]
    for other in fits[1:]:
        assert_same_bits(fits[0], other)


def test_other_seeds_give_other_starts(clouds):
    X, _ = clouds(n=100, noise=0.9)
    states = [0, 1, np.random.RandomState(0), np.random.default_rng(0), None]
    seeds = [mixture(random_state=state).fit(X).runs_[0].seed for state in states]
    assert seeds[2] == seeds[0]
    assert len(set(seeds)) == 4


@pytest.mark.parametrize(
    "convert",
    [
        sparse.csr_array,
        sparse.csr_matrix,
        sparse.csc_array,
        sparse.coo_array,
        np.asfortranarray,
        pd.DataFrame,
        pl.DataFrame,
        np.ndarray.tolist,
    ],
)
def test_containers_give_the_same_labels(clouds, convert):
    X, _ = clouds(n=100, noise=0.6)
    X = np.where(np.abs(X) < 0.1, 0.0, X)
    mix, other = mixture(beta=1.0).fit(X), mixture(beta=1.0).fit(convert(X))
    assert_array_equal(mix.labels_, other.labels_)
    assert_same_fit(mix, other)
    assert_array_equal(other.predict(convert(X)), mix.labels_)


@pytest.mark.parametrize("contain", [np.asarray, sparse.csr_array])
def test_input_is_not_changed(clouds, contain):
    X = contain(3 * clouds()[0])
    before = X.copy()
    mix = mixture().fit(X)
    mix.predict(X)
    assert abs(X - before).max() == 0


@pytest.mark.parametrize("contain", [np.asarray, sparse.csr_array])
def test_single_precision_converges(contain):
    X, _, _ = sm.datasets.make_vmf_mixture(
        n_samples=2000, n_features=50, n_components=5, overlap=0.05, random_state=1
    )
    if contain is sparse.csr_array:
        X = np.where(np.abs(X) < 0.1, 0.0, X)
    double = mixture(n_components=5, init="random").fit(contain(X))
    single = mixture(n_components=5, init="random").fit(contain(X.astype(np.float32)))
    assert single.status_ == "converged"
    assert [run.status for run in single.runs_] == ["converged"] * 2
    assert max(run.n_iter for run in single.runs_) <= 2 * max(run.n_iter for run in double.runs_)
    assert adjusted_rand_score(single.labels_, double.labels_) > 0.999
    assert_allclose(single.objective_, double.objective_, rtol=1e-5)

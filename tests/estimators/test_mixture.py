"""VMFMixture: what it finds, its parameters, its neighbours, and extreme data."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from mixture_common import assert_same_bits, assert_same_fit, mixture
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logsumexp
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import spheremix as sm


def log_densities(mix, X, log_c):
    """Return log sum_k alpha_k c_d(kappa_k) exp(kappa_k <mu_k, x>), straight from definition."""
    normalizers = np.array([log_c(mix.n_features_in_, kappa) for kappa in mix.kappas_])
    cosines = (X @ mix.prototypes_.T) / np.sqrt((X**2).sum(axis=1))[:, None]
    scores = np.log(mix.weights_) + normalizers + mix.kappas_ * cosines
    return logsumexp(scores, axis=1), scores


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


@pytest.mark.parametrize("kappa", ["shared", "free", 25.0, [5.0, 50.0, 500.0]])
@pytest.mark.parametrize(("beta", "e_step"), [(0.0, "soft"), (6.0, "soft"), (6.0, "hard")])
def test_attributes_are_consistent(clouds, log_c, kappa, beta, e_step):
    X, _ = clouds(n=150, noise=0.5)
    mix = mixture(kappa=kappa, beta=beta, e_step=e_step).fit(5 * X)
    assert mix.prototypes_.shape == (3, 8)
    assert_allclose(np.linalg.norm(mix.prototypes_, axis=1), 1)
    assert_allclose(mix.weights_.sum(), 1)
    assert (mix.status_, mix.n_features_in_, len(mix.runs_)) == ("converged", 8, 3)
    assert mix.objective_ == max(run.objective for run in mix.runs_)
    assert 0 <= mix.stationarity_gap_ < 1e-7
    densities, scores = log_densities(mix, X, log_c)
    total = densities.sum()
    assert_allclose(mix.log_likelihood_, total, rtol=1e-11)
    judged = scores.max(axis=1).sum() if e_step == "hard" else total
    assert_allclose(mix.objective_, judged - beta * np.abs(mix.prototypes_).sum(), rtol=1e-11)
    assert_array_equal(mix.labels_, scores.argmax(axis=1))
    n_kappas = {"shared": 1, "free": 3}.get(kappa if isinstance(kappa, str) else "", 0)
    count = 2 + n_kappas + (np.count_nonzero(mix.prototypes_, axis=1) - 1).clip(1).sum()
    posteriors = np.exp(scores - densities[:, None])
    entropy = -(posteriors * np.log(np.maximum(posteriors, 1e-300))).sum()
    prices = {"aic": 2, "bic": math.log(150), "ric": 2 * math.log(8), "icl": math.log(150)}
    prices["ricc"] = 2 * (math.log(8) + math.log(math.log(8)))
    prices["ebic"] = math.log(150) + math.log(8)
    expected = {name: price * count - 2 * total for name, price in prices.items()}
    expected["icl"] += 2 * entropy
    assert mix.criteria_ == pytest.approx(expected, rel=1e-10)
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


def test_every_run_has_a_seed_of_its_own(clouds):
    X, _ = clouds(n=150, n_clouds=5, noise=0.9)
    mix = mixture(n_components=5, init="random", n_init=8).fit(X)
    objectives = [run.objective for run in mix.runs_]
    assert max(objectives) - min(objectives) > 0.1
    assert mix.objective_ == max(objectives)
    assert len({run.seed for run in mix.runs_}) == 8
    # More restarts begin with the same ones.
    assert mixture(n_components=5, init="random", n_init=3).fit(X).runs_ == mix.runs_[:3]
    states = [0, 1, np.random.RandomState(0), np.random.default_rng(0), None]
    seeds = [mixture(random_state=state).fit(X).runs_[0].seed for state in states]
    assert seeds[2] == seeds[0]
    assert len(set(seeds)) == 4


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


@pytest.mark.parametrize(
    "convert", [sparse.csr_matrix, sparse.coo_array, pd.DataFrame, pl.DataFrame, np.ndarray.tolist]
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


def test_start_of_another_kind_of_kappa(clouds):
    X, _ = clouds(noise=0.5)
    free = mixture(kappa="free").fit(X)
    shared = mixture(kappa="shared", init=free).fit(X)
    assert len(set(shared.kappas_)) == 1
    assert shared.status_ == "converged"
    assert shared.stationarity_gap_ < 1e-7


def test_feature_weights(clouds):
    """No weight keeps a feature, a huge one removes it, ones are nothing, twos double beta."""
    X, labels = clouds(noise=0.8)
    weights = np.array([0.0, 0.0, 1e9, 1e9, 1.0, 1.0, 1.0, 1.0])
    mix = mixture(init=labels, beta=10.0, feature_weights=weights).fit(X)
    assert np.all(mix.prototypes_[:, :2] != 0)
    assert_array_equal(mix.prototypes_[:, 2:4], 0)
    plain = mixture(init=labels, beta=10.0).fit(X)
    assert_same_fit(mixture(init=labels, beta=10.0, feature_weights=np.ones(8)).fit(X), plain)
    assert_same_fit(mixture(init=labels, beta=5.0, feature_weights=[2] * 8).fit(X), plain)


def test_verbose_prints_a_line_a_restart(clouds, capsys):
    X, _ = clouds()
    mix = mixture(n_init=3).fit(X)
    assert capsys.readouterr().out == ""
    mixture(n_init=3, verbose=1).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 + 2  # and the crossings
    for i, (line, run) in enumerate(zip(lines, mix.runs_, strict=True)):
        number, start, status, n_iter, objective, gap = re.fullmatch(
            r"run (\d)/5 \((\w+)\): (\w+) after (\d+) iterations, objective (\S+), gap (\S+)", line
        ).groups()
        assert (int(number), start) == (i + 1, run.start)
        assert (status, int(n_iter)) == (run.status, run.n_iter)
        assert float(objective) == pytest.approx(run.objective, abs=1e-6)
        assert float(gap) == pytest.approx(run.stationarity_gap, rel=0.1)


def test_callback_can_stop_a_fit(clouds):
    def stop(_):
        raise KeyboardInterrupt

    mix = mixture(callback=stop)
    with pytest.raises(KeyboardInterrupt):
        mix.fit(clouds()[0])
    with pytest.raises(NotFittedError):
        mix.predict(clouds()[0])


# VMFMixture where its data or concentrations are extreme


@pytest.mark.filterwarnings("ignore:A kappa of the mixture")
@pytest.mark.parametrize("kappa", ["shared", "free"])
@pytest.mark.parametrize("d", [2, 5, 300])
def test_identical_rows(kappa, d):
    row = np.random.default_rng(d).normal(size=d)
    X = np.tile(row, (25, 1))
    mix = sm.VMFMixture(n_components=1, kappa=kappa, n_init=2).fit(X)
    assert_allclose(mix.prototypes_[0], row / np.linalg.norm(row), rtol=1e-12)
    assert_array_equal(mix.kappas_, mix.kappa_max_)
    assert all(run.kappa_capped for run in mix.runs_)
    assert np.isfinite(mix.log_likelihood_)
    assert mix.status_ == "converged"


@pytest.mark.filterwarnings("ignore:A kappa of the mixture")
def test_default_cap_is_a_mean_length(clouds, mean_length_oracle):
    for d in (2, 8, 500):
        mix = sm.VMFMixture(n_components=1, n_init=1).fit(np.eye(3, d) + 0.1)
        assert_allclose(1 - mean_length_oracle(d, mix.kappa_max_), 1e-6, rtol=1e-6)
        assert not mix.runs_[0].kappa_capped
    X, _ = clouds()
    capped = mixture(kappa="free", kappa_max=7.5).fit(X)
    assert_array_equal(capped.kappas_, 7.5)
    assert capped.runs_[0].kappa_capped
    assert capped.status_ == "converged"


@pytest.mark.filterwarnings("ignore:A kappa of the mixture")
@pytest.mark.parametrize("kappa", ["shared", "free"])
def test_one_cluster_of_one_row(clouds, kappa):
    X, _ = clouds(n=60, n_clouds=1, noise=0.05)
    lonely = np.concatenate([X, -X[:1]])
    mix = sm.VMFMixture(n_components=2, kappa=kappa, init="k-means++", random_state=0).fit(lonely)
    assert_array_equal(mix.labels_ == mix.labels_[-1], np.arange(61) == 60)
    assert_allclose(mix.weights_.min(), 1 / 61, rtol=1e-6)
    assert_allclose(mix.prototypes_[mix.labels_[-1]], -X[0], atol=1e-6)


def test_one_component_is_the_closed_form(clouds, mean_length_oracle):
    X, _ = clouds(n=80, noise=0.9)
    mix = sm.VMFMixture(n_components=1, n_init=1).fit(X)
    r = X.sum(axis=0)
    assert_allclose(mix.prototypes_[0], r / np.linalg.norm(r), atol=1e-12)
    assert_allclose(mean_length_oracle(8, mix.kappas_[0]), np.linalg.norm(r) / 80, rtol=1e-12)
    assert_array_equal(mix.weights_, [1.0])
    assert_array_equal(mix.labels_, 0)


@pytest.mark.filterwarnings("ignore:A kappa of the mixture")
@pytest.mark.parametrize("kappa", ["shared", "free"])
def test_as_many_components_as_rows(kappa):
    X = np.random.default_rng(0).normal(size=(6, 4))
    mix = sm.VMFMixture(n_components=6, kappa=kappa, n_init=3, random_state=0).fit(X)
    assert_array_equal(np.sort(mix.labels_), np.arange(6))
    assert_allclose(mix.prototypes_[mix.labels_], X / np.linalg.norm(X, axis=1)[:, None], atol=1e-9)
    assert_array_equal(mix.kappas_, mix.kappa_max_)
    assert_allclose(mix.weights_, 1 / 6)


def test_the_circle():
    """d = 2 is von Mises' distribution: two arcs."""
    rng = np.random.default_rng(0)
    angles = np.concatenate([rng.vonmises(0.5, 20, 3000), rng.vonmises(-2, 5, 1000)])
    X = np.column_stack([np.cos(angles), np.sin(angles)])
    mix = sm.VMFMixture(n_components=2, kappa="free", random_state=0).fit(X)
    order = np.argsort(mix.kappas_)
    assert_allclose(mix.kappas_[order], [5, 20], rtol=0.1)
    assert_allclose(mix.weights_[order], [0.25, 0.75], atol=0.02)
    centres = np.arctan2(mix.prototypes_[order, 1], mix.prototypes_[order, 0])
    assert_allclose(centres, [-2, 0.5], atol=0.05)


@pytest.mark.filterwarnings("ignore:Only 1 of the 3 prototypes")  # all are the mean, at 1e-8
@pytest.mark.parametrize("kappa", [1e-8, 1e9])
def test_tiny_and_huge_given_kappas(clouds, kappa):
    X, labels = clouds(noise=0.3)
    mix = mixture(kappa=kappa, init=labels).fit(X)
    assert mix.status_ == "converged"
    assert np.isfinite(mix.log_likelihood_)
    posteriors = mix.predict_proba(X)
    if kappa == 1e9:
        assert_array_equal(mix.labels_, labels)
        assert np.all(posteriors.max(axis=1) == 1)
    else:
        area = 2 * np.pi**4 / math.gamma(4)
        assert_allclose(mix.log_likelihood_, -120 * math.log(area), rtol=1e-7)
        assert_allclose(posteriors, np.tile(mix.weights_, (120, 1)), atol=1e-7)


def test_coinciding_prototypes_are_flagged(clouds):
    X, _ = clouds(n=60, n_clouds=1, noise=0.3)
    with pytest.warns(UserWarning, match="Only 1 of the 2 prototypes"):
        start = sm.VMFMixture(n_components=2, init=np.arange(60) % 2, beta=1e5).fit(X)
    assert start.n_distinct_prototypes_ == 1
    assert mixture().fit(clouds(noise=0.1)[0]).n_distinct_prototypes_ == 3


def test_zero_tol_never_leaves_a_prototype_without_coordinates(clouds):
    """Every unit vector has a coordinate of at least 1 / sqrt(d)."""
    X, _ = clouds(noise=0.5)
    mix = mixture(zero_tol=0.2).fit(X)
    lengths = np.abs(mix.prototypes_)
    assert np.any(lengths == 0)
    assert not np.any((lengths > 0) & (lengths < 0.2))
    assert_allclose(np.linalg.norm(lengths, axis=1), 1)


# VMFMixture among its neighbours: pipelines, searches, open rows


DOCUMENTS = [
    "kappa is the concentration of a direction",
    "a direction has a concentration",
    "directions and their concentration kappa",
    "the soup is hot and the bread is fresh",
    "fresh bread and hot soup",
    "soup with bread",
] * 3


def test_pipeline_after_a_vectorizer():
    pipeline = make_pipeline(TfidfVectorizer(), sm.VMFMixture(n_components=2, random_state=0))
    labels = pipeline.fit_predict(DOCUMENTS)
    assert adjusted_rand_score(np.tile([0, 0, 0, 1, 1, 1], 3), labels) == 1.0
    assert pipeline.predict(["hot bread"])[0] == labels[3]
    assert pipeline.transform(["hot bread"]).shape == (1, 2)
    assert np.isfinite(pipeline.score(DOCUMENTS))


def test_grid_search_prefers_the_true_number(clouds):
    X, _ = clouds(n=180, noise=0.2)
    search = GridSearchCV(
        mixture(kappa="free", init="k-means++"), {"n_components": [1, 2, 3]}, cv=3
    ).fit(np.random.default_rng(0).permutation(X))
    assert search.best_params_ == {"n_components": 3}
    assert_allclose(search.best_estimator_.score(X), search.best_estimator_.log_likelihood_ / 180)


def test_open_directions_can_be_fitted_many_times(clouds):
    X, _ = clouds()
    directions = sm.as_directions(X)
    mix = mixture().fit(directions)
    assert_same_bits(mix, mixture().fit(X))
    assert_array_equal(mix.predict(directions), mix.predict(X))
    with pytest.raises(ValueError, match="X has 4 features, but VMFMixture is expecting 8"):
        mix.predict(sm.as_directions(X[:, :4]))

"""A hump of its own in the tail of a distribution, which tells much noise from a tail."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp

import spheremix as sm
from spheremix.bessel import log_normalizer
from spheremix.estimators.noise import CRITICAL, hump, majorant, noise_leads, valley
from spheremix.estimators.path import label_chosen


def ones(values):
    return np.ones(len(values))


def by_definition(values):
    """Return the test statistic by its definition: every chord, and sums over all values."""
    values = np.sort(values)
    n = len(values)
    # The total time on test at a value: what all values have run until then.
    run = np.array([0.0, *(np.minimum(values, one).sum() for one in values)])
    run /= run[-1]
    share = np.arange(n + 1) / n
    above = run.copy()
    for a in range(n + 1):
        for b in range(a + 2, n + 1):
            inner = slice(a + 1, b)
            chord = run[a] + (share[inner] - share[a]) / (share[b] - share[a]) * (run[b] - run[a])
            above[inner] = np.maximum(above[inner], chord)
    return (above - run).max() * np.sqrt(n)


def test_the_statistic_is_that_of_the_definition():
    rng = np.random.default_rng(0)
    for seed in range(20):
        values = rng.exponential(size=30) if seed % 2 else rng.random(30) ** 3
        statistic, _ = valley(values, ones(values))
        assert statistic == pytest.approx(by_definition(values), rel=1e-9)
        assert (hump(values, ones(values)) is not None) == (statistic > CRITICAL)


def test_the_statistic_counts_weights_as_repetitions_and_those_of_zero_not_at_all():
    rng = np.random.default_rng(7)
    for _ in range(20):
        values = rng.random(40) ** 3
        counts = rng.integers(0, 4, 40).astype(float)
        repeated = np.repeat(values, counts.astype(int))
        assert_allclose(valley(values, counts), valley(repeated, ones(repeated)), rtol=1e-12)
        bare = values[counts > 0]
        assert valley(values, counts) == valley(bare, counts[counts > 0])


def test_the_majorant_is_concave_and_touches_its_corners():
    rng = np.random.default_rng(1)
    x, y = np.sort(rng.random(40)), rng.random(40)
    corners = majorant(x, y)
    slopes = np.diff(y[corners]) / np.diff(x[corners])
    assert (np.diff(slopes) < 0).all()
    assert (np.interp(x, x[corners], y[corners]) >= y - 1e-12).all()
    assert (corners[0], corners[-1]) == (0, 39)


def test_of_exponential_tails_one_in_a_hundred_has_a_hump():
    rng = np.random.default_rng(2)
    found = [hump(one, ones(one)) is not None for one in rng.exponential(size=(600, 150))]
    assert np.mean(found) <= 0.025  # 6 are expected of 600
    lighter = [np.abs(one) for one in rng.normal(size=(300, 300))]
    assert not any(hump(one, ones(one)) for one in lighter)
    assert pytest.approx(1.66) == CRITICAL


def test_a_second_hump_is_found_and_the_place_before_it():
    rng = np.random.default_rng(3)
    for _ in range(10):
        tail, noise = np.abs(rng.normal(size=400)), rng.normal(6.0, 0.5, size=100)
        begins = hump(np.concatenate([tail, noise]), np.ones(500))
        assert tail.max() * 0.75 < begins < noise.min() * 1.1
        assert hump(tail, ones(tail)) is None


def test_weights_count_as_repetitions_and_little_is_no_evidence():
    rng = np.random.default_rng(4)
    values = np.concatenate([np.abs(rng.normal(size=60)), rng.normal(6.0, 0.5, size=20)])
    weights = rng.integers(1, 4, size=80)
    repeated = np.repeat(values, weights)
    assert_allclose(hump(values, weights.astype(float)), hump(repeated, ones(repeated)), rtol=1e-12)
    assert hump(values, np.full(80, 1e-3)) is None
    for few in (np.empty(0), np.ones(1), np.zeros(5)):
        assert hump(few, ones(few)) is None


def rows_that_vary(seed, n_noise, nearest=0.0):
    """Three clusters whose rows vary more than von Mises-Fisher rows do, and noise.

    Noise is uniform, or lies up to so near to a cluster, whose rows lie around 1.4.
    """
    rng = np.random.default_rng(seed)
    labels = np.arange(900) % 3
    spread = np.exp(0.25 * rng.normal(size=(900, 1)))  # rows of texts are near and far, too
    X = np.eye(3, 100)[labels] * 1.4 + spread * rng.normal(size=(900, 100)) / 10.0
    noise = rng.normal(size=(n_noise, 100)) / 10.0
    noise += np.eye(3, 100)[np.arange(n_noise) % 3] * rng.uniform(0.0, nearest, size=(n_noise, 1))
    X = np.vstack([X, noise])
    return X / np.linalg.norm(X, axis=1, keepdims=True), np.arange(len(X)) >= 900


@pytest.mark.parametrize("n_noise", [0, 60, 225])
def test_auto_finds_much_noise_and_keeps_clean_rows(n_noise):
    X, noise = rows_that_vary(0, n_noise)
    found = sm.VMFMixture(3, noise="uniform", random_state=0, n_threads=1).fit(X)
    lost = found.labels_ < 0
    assert np.mean(~lost[~noise]) >= 0.98
    if n_noise:
        # Without the valley, rows of clusters are lost as well, and this is .97 and .99.
        assert 2 * np.sum(lost & noise) / (lost.sum() + noise.sum()) > 0.995


@pytest.mark.parametrize("n_noise", [100, 225])
def test_as_many_rows_are_noise_as_are_beyond_the_valley_of_uniform_noise(n_noise):
    X, _ = rows_that_vary(0, n_noise, nearest=0.9)  # much of it lies before the valley
    options = {"noise": "uniform", "random_state": 0, "n_threads": 1}
    first = sm.VMFMixture(3, **options, max_noise=None).fit(X)
    clusters = X @ (first.kappas_[:, None] * first.prototypes_).T
    clusters += np.log(first.weights_) + log_normalizer(100, first.kappas_)
    odds = np.log(first.noise_weight_) + log_normalizer(100, 0.0) - logsumexp(clusters, axis=1)
    middle, upper = np.quantile(odds[first.labels_ >= 0], [0.5, 0.75], method="inverted_cdf")
    begins = hump(odds[odds > upper] - upper, ones(odds[odds > upper]))
    beyond = odds > max(upper + begins, middle + 2.33 * (upper - middle) / 0.67449)
    found = sm.VMFMixture(3, **options).fit(X)
    # At this level, held, EM would lose some of them to the clusters.
    assert found.n_noise_ == beyond.sum() > 0.4 * n_noise
    assert found.status_ == "converged"
    assert found.stationarity_gap_ <= found.tol


def test_a_chosen_mixture_has_no_more_noise_than_the_dense_one():
    X, _ = rows_that_vary(0, 60)
    rows = sm.as_directions(X)
    options = {"noise": "uniform", "random_state": 0, "n_threads": 1}
    chosen = sm.VMFMixture(3, **options).fit(X)
    level, labels = label_chosen(chosen, chosen, rows, None)
    assert level is None
    assert np.array_equal(labels, chosen.labels_)
    dense = sm.VMFMixture(3, **options, max_noise=0.02).fit(X)  # fewer rows are noise in it
    assert 0 < dense.n_noise_ < chosen.n_noise_
    level, labels = label_chosen(chosen, dense, rows, None)
    assert level < chosen.model_.noise.level
    strangest = np.argsort(-noise_leads(chosen.scorer_, rows))[: dense.n_noise_]
    assert np.array_equal(np.flatnonzero(labels < 0), np.sort(strangest))
    # Uniform noise is left as it is.
    free = sm.VMFMixture(3, **options, max_noise=None).fit(X)
    assert label_chosen(free, dense, rows, None)[0] is None


def test_a_path_looks_at_its_dense_mixture(monkeypatch):
    X, _ = rows_that_vary(0, 60)
    seen = []

    def look(mixture, dense, *rest):
        seen.append((mixture.beta, dense.beta))
        return label_chosen(mixture, dense, *rest)

    monkeypatch.setattr("spheremix.estimators.path.label_chosen", look)
    path = sm.VMFPath(3, noise="uniform", n_init=2, random_state=0, min_relative_increase=0.3)
    path.fit(X)
    assert seen == [(path.betas_[path.selected_], 0.0)]
    assert path.selected_ > 0


def test_the_number_of_iterations_is_kept_to():
    """The level of the noise follows EM after its end, for as many iterations at most."""
    X, _ = rows_that_vary(0, 225, nearest=0.9)
    short, full = (
        sm.VMFMixture(3, noise="uniform", max_iter=most, n_init=1, random_state=0).fit(X)
        for most in (2, 1000)
    )
    assert short.n_iter_ <= 4
    assert full.n_iter_ > 4

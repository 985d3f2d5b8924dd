"""VMFMixture where its data or concentrations are extreme."""

from __future__ import annotations

import math

import numpy as np
import pytest
from mixture_common import mixture
from numpy.testing import assert_allclose, assert_array_equal

import spheremix as sm


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


def test_rows_without_a_common_direction():
    """A nearly uniform cloud has a tiny kappa, and that is a fit."""
    X = np.random.default_rng(0).normal(size=(400, 50))
    X = np.concatenate([X, -X + 1e-6])
    mix = sm.VMFMixture(n_components=1, n_init=1).fit(X)
    assert mix.status_ == "converged"
    assert 0 < mix.kappas_[0] < 1e-3
    assert np.isfinite(mix.log_likelihood_)


def test_coinciding_prototypes_are_flagged(clouds):
    X, _ = clouds(n=60, n_clouds=1, noise=0.3)
    with pytest.warns(UserWarning, match="Only 1 of the 2 prototypes"):
        start = sm.VMFMixture(n_components=2, init=np.arange(60) % 2, beta=1e5).fit(X)
    assert start.n_distinct_prototypes_ == 1
    assert mixture().fit(clouds(noise=0.1)[0]).n_distinct_prototypes_ == 3


def test_zero_tol_never_leaves_a_prototype_without_coordinates(clouds):
    """Every unit vector has a coordinate of at least 1 / sqrt(d); a larger zero_tol is refused."""
    X, _ = clouds(noise=0.5)
    with pytest.raises(ValueError, match=r"zero_tol must be below 1 / sqrt\(8\)"):
        mixture(zero_tol=0.4).fit(X)
    mix = mixture(zero_tol=0.2).fit(X)
    lengths = np.abs(mix.prototypes_)
    assert np.any(lengths == 0)
    assert not np.any((lengths > 0) & (lengths < 0.2))
    assert_allclose(np.linalg.norm(lengths, axis=1), 1)

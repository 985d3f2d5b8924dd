"""Concentrations and weights whose squares underflow or overflow are refused; others are fitted."""

from __future__ import annotations

import numpy as np
import pytest
from mixture_common import mixture
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import spheremix as sm

X, _, _ = sm.datasets.make_vmf_mixture(300, 6, 3, kappa=10.0, random_state=0)
OPTIONS = {"n_components": 3, "n_init": 1, "random_state": 0}


@pytest.mark.parametrize("kappa", [5e-324, 1e-300, 1e-201, 1e-51, 1e51, 1e200, [1.0, 1e-250, 1.0]])
@pytest.mark.parametrize("estimator", [sm.VMFMixture, sm.VMFCoclustering])
def test_given_concentrations_that_underflow_are_refused(estimator, kappa):
    with pytest.raises(ValueError, match=r"kappa must be between 1e-50 and 1e\+50, got"):
        estimator(kappa=kappa, **OPTIONS).fit(X)


@pytest.mark.parametrize("weight", [5e-324, 1e-300, 1e-201, 1e-60, 1e60, 1e160, 1e300])
@pytest.mark.parametrize("estimator", [sm.VMFMixture, sm.SphericalKMeans, sm.VMFCoclustering])
def test_weights_that_underflow_are_refused(estimator, weight):
    with pytest.raises(ValueError, match=r"sample_weight sums to .*: divide the weights by their"):
        estimator(**OPTIONS).fit(X, sample_weight=np.full(300, weight))


@pytest.mark.filterwarnings("ignore:Only . of the 3 prototypes", "ignore:sample_weight sums")
@pytest.mark.parametrize("kappa", [1e-50, 1e-20, 1e50])
@pytest.mark.parametrize("weight", [1e-52, 1.0, 1e47])
@pytest.mark.parametrize("relative_beta", [0.0, 3.0])
def test_what_is_allowed_gives_unit_prototypes(kappa, weight, relative_beta):
    beta = relative_beta * weight
    fit = sm.VMFMixture(kappa=kappa, beta=beta, init=X[[0, 100, 200]], **OPTIONS)
    fit.fit(X, sample_weight=np.full(300, weight))
    assert_allclose(np.linalg.norm(fit.prototypes_, axis=1), 1.0, 1e-12)
    assert fit.kkt_residual_ < 1e-3


@pytest.mark.filterwarnings("ignore:sample_weight sums")
@pytest.mark.parametrize("weight", [1e-52, 1e47])
@pytest.mark.parametrize("kappa", ["shared", "free"])
def test_the_scale_of_the_weights_changes_no_parameter(weight, kappa):
    options = {**OPTIONS, "kappa": kappa, "init": X[[0, 100, 200]]}
    one = sm.VMFMixture(beta=3.0, **options).fit(X)
    other = sm.VMFMixture(beta=3.0 * weight, **options)
    other.fit(X, sample_weight=np.full(300, weight))
    assert_allclose(other.prototypes_, one.prototypes_, 0, 1e-9)
    assert_allclose(other.kappas_, one.kappas_, 1e-9)
    assert_allclose(other.objective_ / weight, one.objective_, 1e-12)


def test_tiny_weights_beside_ordinary_ones_are_taken():
    weights = np.where(np.arange(300) < 100, 1e-250, 1.0)
    some = sm.VMFMixture(**OPTIONS).fit(X, sample_weight=weights)
    assert some.status_ == "converged"


# A prior on kappa: tiny groups stay below the cap, and the objective has the prior in it


def tiny_groups():
    """Return two groups of 60 rows and one of three identical rows, far from both."""
    rng = np.random.default_rng(0)
    rows = np.vstack(
        [
            np.eye(15)[0] + 0.2 * rng.normal(size=(60, 15)),
            np.eye(15)[1] + 0.2 * rng.normal(size=(60, 15)),
            np.tile(np.eye(15)[7] - np.eye(15)[8], (3, 1)),
        ]
    )
    return rows, np.repeat([0, 1, 2], [60, 60, 3])


def test_a_tiny_group_ends_at_the_cap_without_a_prior_and_not_with_one():
    rows, labels = tiny_groups()
    with pytest.warns(ConvergenceWarning, match="cap"):
        capped = mixture(kappa="free", init=labels).fit(rows)
    assert capped.kappas_[2] == capped.kappa_max_
    free = mixture(kappa="free", init=labels, kappa_prior=(1.0, 0.0)).fit(rows)
    assert free.status_ == "converged"
    assert not free.runs_[0].kappa_capped
    means = [
        sm.VonMisesFisher(mu, kappa)
        for mu, kappa in zip(free.prototypes_, free.kappas_, strict=True)
    ]
    assert_allclose(means[2].mean_resultant_length(), 3 / 4, rtol=1e-3)
    assert_allclose(free.kappas_[:2], capped.kappas_[:2], rtol=0.1)
    assert_array_equal(free.labels_, labels)


def test_the_objective_has_the_prior_in_it():
    rows, labels = tiny_groups()
    found = mixture(kappa="free", init=labels, kappa_prior=(2.0, 0.5)).fit(rows)
    densities = [
        2.0 * (sm.VonMisesFisher(mu, kappa).logpdf(mu) - kappa) + 1.0 * kappa
        for mu, kappa in zip(found.prototypes_, found.kappas_, strict=True)
    ]
    assert_allclose(found.objective_, found.log_likelihood_ + sum(densities))
    path = sm.VMFPath(3, kappa="free", init=labels, kappa_prior=(2.0, 0.5)).fit(rows)
    assert_allclose(path.objectives_[0], found.objective_, rtol=1e-9)


def test_a_prior_is_stored(tmp_path):
    rows, labels = tiny_groups()
    found = mixture(kappa="free", init=labels, kappa_prior=(2.0, 0.5)).fit(rows)
    run = sm.load_run(sm.save_run(tmp_path / "run", found))
    assert run.mixture.model_.prior == found.model_.prior

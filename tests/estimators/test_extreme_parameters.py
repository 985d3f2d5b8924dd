"""Concentrations and weights whose squares underflow or overflow are refused; others are fitted."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

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
    mixture = sm.VMFMixture(kappa=kappa, beta=beta, init=X[[0, 100, 200]], **OPTIONS)
    mixture.fit(X, sample_weight=np.full(300, weight))
    assert_allclose(np.linalg.norm(mixture.prototypes_, axis=1), 1.0, 1e-12)
    assert mixture.kkt_residual_ < 1e-3


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

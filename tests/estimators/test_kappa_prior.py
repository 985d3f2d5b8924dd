"""A prior on kappa: tiny groups stay below the cap, and the objective has the prior in it."""

from __future__ import annotations

import numpy as np
import pytest
from mixture_common import mixture
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import spheremix as sm


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

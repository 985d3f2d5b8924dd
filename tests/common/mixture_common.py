"""What the tests of estimators share: a small mixture, and when two fits are the same."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

import spheremix as sm

KINDS = (
    sm.VMFMixture,
    sm.VMFPath,
    sm.VMFMixtureIC,
    sm.VMFTree,
    sm.SphericalKMeans,
    sm.VMFCoclustering,
)


def mixture(**parameters):
    return sm.VMFMixture(**{"n_components": 3, "n_init": 2, "random_state": 0, **parameters})


def results(estimator, of=np.ndarray | float | int | str | list):
    """Return what a fit left, by name: arrays, numbers, and what is said of its runs and steps."""
    return {
        name: value
        for name, value in vars(estimator).items()
        if name.endswith("_") and isinstance(value, of)
    }


def assert_same_fit(one, other, rtol=1e-9):
    """The same results up to the way that led to them, whatever numbers an estimator has."""
    on_the_way = {"n_iter_", "n_iters_", "stationarity_gap_", "stationarity_gaps_", "kkt_residual_"}
    on_the_way |= {"labels_", "n_samples_seen_"}  # of rows that may be repeated
    for name, value in results(other, np.ndarray | float).items():
        if name not in on_the_way and np.asarray(value).dtype.kind == "f":
            summed = {"objective_", "objectives_", "log_likelihood_", "log_likelihoods_"}
            close = (rtol, 0.0) if name in summed else (1e-6, 1e-7)
            assert_allclose(getattr(one, name), value, *close, err_msg=name)
    if hasattr(other, "criteria_"):
        for name, value in other.criteria_.items():
            assert_allclose(one.criteria_[name], value, rtol)


def assert_same_bits(one, other):
    for name, value in results(one).items():
        if isinstance(value, np.ndarray | float):
            assert_array_equal(value, getattr(other, name), err_msg=name)
        else:
            assert str(value) == str(getattr(other, name)), name  # a gap may be NaN

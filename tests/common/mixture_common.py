"""What the tests of VMFMixture share: a small mixture, and when two fits are the same."""

from __future__ import annotations

from numpy.testing import assert_allclose, assert_array_equal

import spheremix as sm


def mixture(**parameters):
    return sm.VMFMixture(**{"n_components": 3, "n_init": 2, "random_state": 0, **parameters})


def assert_same_fit(one, other, rtol=1e-9):
    assert_allclose(one.objective_, other.objective_, rtol=rtol)
    assert_allclose(one.prototypes_, other.prototypes_, atol=1e-7)
    assert_allclose(one.kappas_, other.kappas_, rtol=1e-6)
    assert_allclose(one.weights_, other.weights_, atol=1e-7)


def assert_same_bits(one, other):
    for name in ("prototypes_", "kappas_", "weights_", "labels_"):
        assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.objective_ == other.objective_
    assert one.runs_ == other.runs_

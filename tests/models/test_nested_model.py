"""The nested model is a model like any other: gains are exact, EM never falls."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from spheremix.models.nested import NestedModel
from spheremix.models.vmf import VMFModel
from spheremix.penalties import L1
from spheremix.testing import check_model


@pytest.mark.parametrize("kappa", ["shared", "free", 20.0])
@pytest.mark.parametrize("beta", [0.0, 2.0])
def test_conformance(kappa, beta):
    """The first two of three components lie in one coarse cluster."""
    above = (np.array([0, 0, 1]), np.arange(3))
    check_model(NestedModel(VMFModel(8, kappa, L1(beta)), above), n_components=3, n_features=8)


def test_parents():
    above = (np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2]), np.arange(4))
    first, second = NestedModel(VMFModel(5, "shared"), above).parents
    assert_array_equal(first, [0, 1, 1])
    assert_array_equal(second, [0, 0, 1, 2])

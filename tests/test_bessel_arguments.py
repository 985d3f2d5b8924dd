"""Bessel functions: shapes and types of arguments and values, and arguments that are refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from spheremix.bessel import (
    concentration,
    concentration_banerjee,
    log_iv,
    log_normalizer,
    mean_length,
    mean_length_gap,
)

EPS = float(np.finfo(float).eps)
FUNCTIONS = (
    log_normalizer,
    mean_length,
    mean_length_gap,
    concentration,
    concentration_banerjee,
    log_iv,
)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_shapes_and_types(function):
    x = np.linspace(0.01, 0.99, 24).reshape(4, 6)
    full = function(7, x)
    assert full.shape == x.shape
    assert full.dtype == np.float64
    np.testing.assert_array_equal(function(7, x[:, ::2]), full[:, ::2])
    np.testing.assert_array_equal(function(7, x.T), full.T)
    np.testing.assert_array_equal(function(7, x[0].tolist()), full[0])
    assert function(7, np.empty((0, 3))).shape == (0, 3)
    assert function(np.int64(7), x[0].astype(np.float32)).dtype == np.float64
    one = function(7, np.array([[0.25]]))
    assert one.shape == (1, 1)
    assert one.dtype == np.float64
    np.testing.assert_allclose(one.item(), function(7, 0.25), rtol=4 * EPS)
    for number in (0.25, np.float64(0.25), np.float32(0.25), np.array(0.25), 1, np.int64(1)):
        assert type(function(7, number)) is float
    before = x.copy()
    function(7, x)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("d", [2, 3, 30, 66, 1000, 1_000_000])
def test_numbers_and_arrays_agree(function, d):
    x = np.concatenate([[0.0], np.geomspace(1e-8, 1.0, 5_000, endpoint=False)])
    if function not in (concentration, concentration_banerjee):
        x = np.concatenate([x, np.geomspace(1.0, 1e9, 15_000)])  # more than a block
    some = x[::7]
    values = function(d, x)[::7]
    numbers = np.array([function(d, number) for number in some.tolist()])
    assert values[0] == numbers[0]  # log_iv is minus infinity at 0
    # The largest terms of these sums are like nu log(nu + s). A logarithm of NumPy and one of the
    # C library may differ in the last bit, and which of them do depends on the machine.
    logs = function in (log_normalizer, log_iv)
    scale = d * np.log(d + some[1:]) if logs else 0.0
    miss = np.abs(values[1:] - numbers[1:])
    assert (miss <= 4 * EPS * np.maximum(np.abs(numbers[1:]), scale)).all()


@pytest.mark.parametrize("d", [2, 3, 65, 1_000_000])
def test_absurd_concentrations_make_no_noise(d):
    kappa = np.array([5e-324, 1e-200, 1e100, 1e200, 1e308])
    assert np.isfinite(log_normalizer(d, kappa)).all()
    assert np.isfinite(log_iv(d, kappa)).all()
    for values in (mean_length(d, kappa), mean_length_gap(d, kappa)):
        assert ((values >= 0.0) & (values <= 1.0)).all()


@pytest.mark.parametrize("d", [1, 0, -3, 3.0, 2.5, "3", None, True, math.nan, 10**400])
@pytest.mark.parametrize("function", FUNCTIONS[:-1])
def test_bad_dimension(function, d):
    with pytest.raises(ValueError, match=r"d must be an integer from 2 .* got "):
        function(d, 0.5)


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("function", FUNCTIONS[:3])
def test_bad_kappa(function, bad):
    with pytest.raises(ValueError, match=f"kappa must be finite and at least 0, got {bad}"):
        function(5, bad)
    with pytest.raises(ValueError, match=f"kappa must be finite and at least 0, got {bad}"):
        function(5, np.array([1.0, bad, 2.0]))


@pytest.mark.parametrize("bad", [-0.25, 1.5, math.nan, math.inf])
@pytest.mark.parametrize("function", [concentration, concentration_banerjee])
def test_bad_rho(function, bad):
    with pytest.raises(ValueError, match=f"rho must be from 0 to 1, got {bad}"):
        function(5, bad)
    with pytest.raises(ValueError, match=f"rho must be from 0 to 1, got {bad}"):
        function(5, np.array([[0.5, bad]]))


@pytest.mark.parametrize("bad", [-0.5, math.nan, math.inf])
def test_bad_arguments_of_log_iv(bad):
    with pytest.raises(ValueError, match=f"nu must be from 0 to .*, got {bad}"):
        log_iv(bad, 1.0)
    with pytest.raises(ValueError, match=f"x must be finite and at least 0, got {bad}"):
        log_iv(1.0, bad)

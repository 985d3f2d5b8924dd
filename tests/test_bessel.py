"""Bessel functions against interval arithmetic and closed forms, and arguments that are refused."""

from __future__ import annotations

import csv
import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from spheremix import bessel
from spheremix.bessel import (
    concentration,
    concentration_banerjee,
    log_iv,
    log_normalizer,
    mean_length,
    mean_length_gap,
)

try:
    from spheremix import _kernels
except ImportError:
    _kernels = None

ROOT = Path(__file__).parents[1]
EPS = float(np.finfo(float).eps)

# Tolerances: of log c_d relative to max(1, |log c_d|, kappa, d), the others relative.
LOG_TOL, MEAN_TOL, GAP_TOL, INVERSE_TOL = 1e-14, 1e-13, 1e-12, 1e-12

SMALL_D = (2, 3, 4, 5, 7, 10, 20, 33, 50, 64, 65)  # dimensions with a border in kappa
BORDERS = (32.0, 60.0, 100.0, 300.0, 1000.0, 10000.0)  # of hypot(d/2 - 1, kappa)


def _load_oracle():
    spec = importlib.util.spec_from_file_location("golden", ROOT / "tools" / "golden_bessel.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


oracle = _load_oracle()


class ArrayBessel:
    """The Python functions, each number inside an array that lies on both sides of the border."""

    def __getattr__(self, name):
        def call(d, x):
            others = [0.0, 0.5, 0.9] if name == "concentration" else [0.0, 1.0, 1e3]
            return float(getattr(bessel, name)(d, np.array([x, *others]))[0])

        return call


IMPLEMENTATIONS = {"number": bessel, "array": ArrayBessel()}
if _kernels is not None:
    IMPLEMENTATIONS["compiled"] = _kernels


@pytest.fixture(params=IMPLEMENTATIONS)
def implementation(request):
    return IMPLEMENTATIONS[request.param]


def error(value, exact):
    return abs(float((arb(value) - exact).mid()))


def assert_accurate(implementation, d, kappa, reference):
    exact = reference.log_normalizer
    scale = max(1.0, abs(float(exact)), kappa, d)
    assert error(implementation.log_normalizer(d, kappa), exact) <= LOG_TOL * scale, (d, kappa)
    mean, gap = reference.mean_length, reference.mean_length_gap
    assert error(implementation.mean_length(d, kappa), mean) <= MEAN_TOL * float(mean), (d, kappa)
    assert error(implementation.mean_length_gap(d, kappa), gap) <= GAP_TOL * float(gap), (d, kappa)


# ------------------------------------------------------------------ accuracy


def golden_rows():
    with (ROOT / "tests" / "golden" / "bessel.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            reference = oracle.Reference(*(arb(row[name]) for name in oracle.Reference._fields))
            yield int(row["d"]), float(row["kappa"]), reference


def test_golden_values(implementation):
    for d, kappa, reference in golden_rows():
        assert_accurate(implementation, d, kappa, reference)


def test_golden_values_of_log_iv():
    for d, kappa, reference in golden_rows():
        value = log_iv(d / 2 - 1, kappa)
        if kappa == 0.0:
            assert value == (0.0 if d == 2 else -math.inf)
        else:
            scale = max(1.0, abs(float(reference.log_iv)), kappa, d)
            assert error(value, reference.log_iv) <= LOG_TOL * scale, (d, kappa)


def test_golden_file_is_what_the_tool_writes():
    rows = list(golden_rows())
    assert [(d, kappa) for d, kappa, _ in rows] == list(oracle.points())
    for d, kappa, reference in rows[::40]:
        for stored, fresh in zip(reference, oracle.reference(d, kappa), strict=True):
            assert float(stored) == float(fresh)


@pytest.fixture(scope="module")
def random_references():
    rng = np.random.default_rng(20)
    dimensions = np.rint(np.exp(rng.uniform(np.log(2), np.log(1e6), 1500))).astype(int).tolist()
    kappas = np.exp(rng.uniform(np.log(1e-6), np.log(1e9), 1500)).tolist()
    pairs = zip(dimensions, kappas, strict=True)
    return [(d, kappa, oracle.reference(d, kappa)) for d, kappa in pairs]


def test_random_points(implementation, random_references):
    for d, kappa, reference in random_references:
        assert_accurate(implementation, d, kappa, reference)


def test_both_sides_of_every_border(implementation):
    for border in BORDERS:
        for d in (*SMALL_D, 66, 110, 122, 180, 202, 500, 602, 1900, 2002, 19000):
            nu = 0.5 * d - 1.0
            if nu >= border:
                continue
            kappa = math.sqrt(border**2 - nu**2)
            for x in (kappa * (1 - 1e-3), math.nextafter(kappa, 0.0), kappa, kappa * (1 + 1e-3)):
                assert_accurate(implementation, d, x, oracle.reference(d, x))


def test_orders_around_a_change_of_the_number_of_terms(implementation):
    for border in BORDERS:
        for d in range(2 * int(border), 2 * int(border) + 5):
            for kappa in (1e-3, 0.3 * d, 2.0 * d, 1e3 * d):
                assert_accurate(implementation, d, kappa, oracle.reference(d, kappa))


@pytest.mark.parametrize("nu", [0.0, 0.1, 0.75, 1 / 3, 12.3, 31.99, 32.01, 77.7, 5e4])
def test_log_iv_of_any_order(nu):
    for x in (1e-5, 0.4, 9.0, 31.0, 33.0, 1e3, 1e8):
        exact = oracle.log_iv(nu, x)
        scale = max(1.0, abs(float(exact)), x, nu)
        assert error(log_iv(nu, x), exact) <= LOG_TOL * scale, (nu, x)


def test_historic_trap():
    assert log_iv(2187.5, 1000.0) == pytest.approx(-934.36717719286684, rel=1e-14)
    assert math.isfinite(log_iv(499, 50.0))
    assert math.isfinite(log_iv(9999, 6000.0))


# ------------------------------------------------------------------ smoothness


@pytest.mark.parametrize("d", SMALL_D)
def test_walk_across_the_border(implementation, d):
    kappa = math.sqrt(bessel._BORDER**2 - (0.5 * d - 1.0) ** 2)
    walk = (kappa * (1.0 + 1e-10 * np.arange(-50, 51))).tolist()
    lengths = [implementation.mean_length(d, x) for x in walk]
    gaps = [implementation.mean_length_gap(d, x) for x in walk]
    slope = 1.0 - lengths[50] ** 2 - (d - 1) / kappa * lengths[50]
    for left, right, a, b, g, h in zip(
        walk, walk[1:], lengths, lengths[1:], gaps, gaps[1:], strict=False
    ):
        expected = slope * (right - left)
        assert b > a
        assert abs(b - a - expected) < 16 * EPS
        assert abs(g - h - expected) < 16 * EPS
        fall = implementation.log_normalizer(d, left) - implementation.log_normalizer(d, right)
        assert abs(fall - a * (right - left)) < 4 * EPS * max(kappa, d)


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("d", [2, 3, 10, 64])
def test_no_jump(implementation, border, d):
    right = math.sqrt(border**2 - (0.5 * d - 1.0) ** 2)
    left = math.nextafter(right, 0.0)
    fall = implementation.log_normalizer(d, left) - implementation.log_normalizer(d, right)
    assert abs(fall) <= 8 * EPS * right
    assert (
        abs(implementation.mean_length(d, right) - implementation.mean_length(d, left)) <= 8 * EPS
    )
    gap = implementation.mean_length_gap(d, left)
    assert implementation.mean_length_gap(d, right) == pytest.approx(gap, rel=1e-13)
    rho = 1.0 - gap
    x, y = implementation.concentration(d, rho), implementation.concentration(d, rho - 1e-9 * gap)
    assert 0.0 < x - y < 1e-8 * x


@pytest.mark.parametrize("d", [2, 3, 20, 65, 1000, 50_000, 1_000_000])
def test_mean_length_is_the_slope_of_the_normalizer(implementation, d):
    for kappa in (1.0, 20.0, 31.99999, 32.00001, 500.0, 1e5):
        h = 1e-4 * kappa
        rise = implementation.log_normalizer(d, kappa - h) - implementation.log_normalizer(
            d, kappa + h
        )
        scale = max(abs(implementation.log_normalizer(d, kappa)), kappa, d)
        noise = 16 * EPS * scale / (2 * h) + 1e-7 * implementation.mean_length(d, kappa)
        assert abs(rise / (2 * h) - implementation.mean_length(d, kappa)) < noise


def test_monotone():
    kappa = np.geomspace(1e-6, 1e9, 20_000)
    for d in (2, 3, 10, 64, 66, 122, 1000, 26_000, 1_000_000):
        assert (np.diff(mean_length_gap(d, kappa)) < 0.0).all()
        assert (np.diff(mean_length(d, kappa)) >= 0.0).all()
        log_c = log_normalizer(d, kappa)
        assert (np.diff(log_c) <= 8 * EPS * np.maximum(d, np.abs(log_c[1:]))).all()
        rho = np.linspace(0.0, 1.0 - 1e-9, 20_000)
        assert (np.diff(concentration(d, rho)) > 0.0).all()


# ------------------------------------------------------------------ closed forms


def test_area_of_the_sphere(implementation):
    areas = {2: 2 * math.pi, 3: 4 * math.pi, 4: 2 * math.pi**2, 5: 8 * math.pi**2 / 3}
    for d, area in areas.items():
        assert implementation.log_normalizer(d, 0.0) == pytest.approx(-math.log(area), rel=1e-15)
    for d in (2, 3, 65, 66, 1_000_000):
        assert implementation.mean_length(d, 0.0) == 0.0
        assert implementation.mean_length_gap(d, 0.0) == 1.0
        assert implementation.concentration(d, 0.0) == 0.0


def test_dimension_three():
    kappa = np.geomspace(0.5, 1e9, 5000)
    exponential = np.exp(-2.0 * kappa)
    log_c = np.log(kappa / (2 * math.pi)) - kappa - np.log1p(-exponential)
    gap = 1.0 / kappa - 2.0 * exponential / (1.0 - exponential)
    assert np.abs(log_normalizer(3, kappa) - log_c).max() <= LOG_TOL * 1e9
    assert (np.abs(log_normalizer(3, kappa) - log_c) <= LOG_TOL * np.maximum(3.0, kappa)).all()
    np.testing.assert_allclose(mean_length_gap(3, kappa), gap, rtol=GAP_TOL)
    np.testing.assert_allclose(mean_length(3, kappa), 1.0 - gap, rtol=MEAN_TOL)


def test_dimension_two_and_scipy():
    kappa = np.geomspace(1e-6, 1e9, 5000)
    np.testing.assert_allclose(
        mean_length(2, kappa), special.i1e(kappa) / special.i0e(kappa), 2e-15
    )
    log_c = -math.log(2 * math.pi) - kappa - np.log(special.i0e(kappa))
    assert (np.abs(log_normalizer(2, kappa) - log_c) <= LOG_TOL * np.maximum(2.0, kappa)).all()
    few = np.geomspace(1.0, 1e4, 500)
    for nu in (0.0, 0.5, 3.0, 9.5):
        log_i = np.log(special.ive(nu, few)) + few
        np.testing.assert_allclose(log_iv(nu, few), log_i, rtol=1e-12, atol=1e-12)


# ------------------------------------------------------------------ inverse


def test_inverse_against_the_oracle(implementation, random_references):
    for d, _, reference in random_references[::10]:
        mean, gap = reference.mean_length, reference.mean_length_gap
        rho = float(mean) if mean < 0.5 else 1.0 - float(gap)
        if rho == 1.0:
            continue
        kappa = implementation.concentration(d, rho)
        found = oracle.reference(d, kappa)
        assert error(rho, found.mean_length) <= INVERSE_TOL * rho, (d, rho)
        if rho > 0.5:
            assert error(1.0 - rho, found.mean_length_gap) <= INVERSE_TOL * (1.0 - rho), (d, rho)


dimensions = st.one_of(st.integers(2, 70), st.integers(2, 1_000_000))


close_to_one = st.floats(-36.0, -0.7).map(lambda log_gap: 1.0 - math.exp(log_gap))


@given(d=dimensions, rho=st.floats(0.0, 1.0, exclude_max=True) | close_to_one)
def test_round_trip_from_mean_length(d, rho):
    kappa = concentration(d, rho)
    assert kappa >= 0.0
    assert abs(mean_length(d, kappa) - rho) <= INVERSE_TOL * rho + 5e-324
    if rho > 0.5:
        assert mean_length_gap(d, kappa) == pytest.approx(1.0 - rho, rel=INVERSE_TOL)


@given(d=dimensions, log_kappa=st.floats(-13.0, 7.0))
def test_round_trip_from_kappa(d, log_kappa):
    kappa = math.exp(log_kappa)
    rho = mean_length(d, kappa)
    slack = 1e-13 + 4 * EPS / mean_length_gap(d, kappa)  # half an ulp of rho moves kappa that much
    assert concentration(d, rho) == pytest.approx(kappa, rel=slack)


def test_inverse_at_the_ends(implementation):
    assert implementation.concentration(5, 1.0) == math.inf
    assert implementation.concentration(2, 1.0 - EPS / 2) == pytest.approx(1.0 / EPS, rel=1e-12)
    np.testing.assert_array_equal(concentration(3, np.array([0.0, 1.0])), [0.0, math.inf])


def test_banerjee():
    assert concentration_banerjee(3, 0.5) == pytest.approx((1.5 - 0.125) / 0.75)
    assert concentration_banerjee(3, 1.0) == math.inf
    np.testing.assert_array_equal(concentration_banerjee(3, np.array([0.0, 1.0])), [0.0, math.inf])
    assert concentration_banerjee(4377, 0.3) == pytest.approx(concentration(4377, 0.3), rel=1e-4)


# ------------------------------------------------------------------ arguments


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


KAPPAS = [-1.0, math.nan, math.inf, -math.inf]


@pytest.mark.parametrize(
    ("function", "values", "said"),
    [
        *((function, KAPPAS, "kappa must be finite and at least 0") for function in FUNCTIONS[:3]),
        (concentration, [-0.25, 1.5, math.nan, math.inf], "rho must be from 0 to 1"),
        (concentration_banerjee, [-0.25, 1.5, math.nan, math.inf], "rho must be from 0 to 1"),
        (log_iv, KAPPAS, "x must be finite and at least 0"),
        (lambda one, nu: log_iv(nu, one), [-0.5, math.nan, math.inf], "nu must be from 0 to .*"),
    ],
)
def test_bad_arguments(function, values, said):
    for bad in values:
        with pytest.raises(ValueError, match=f"{said}, got {bad}"):
            function(5, bad)
        if function in FUNCTIONS:
            with pytest.raises(ValueError, match=f"{said}, got {bad}"):
                function(5, np.array([[0.5, bad]]))

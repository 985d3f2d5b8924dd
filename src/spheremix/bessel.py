r"""Bessel quantities of the von Mises-Fisher density, accurate at any dimension.

Everything follows from :math:`I_\nu(x)` with :math:`\nu = d/2 - 1`. Write
:math:`s = \sqrt{\nu^2 + x^2}`, :math:`p = 1/s` and :math:`u = \nu^2/s^2`. There are two regions and
one border between them.

Where :math:`s < 32`, the power series of :math:`I_\nu`, whose terms are all positive.

Elsewhere, the uniform (Debye) expansion in its logarithmic form,

.. math::

    \log I_\nu(x) = s + \nu \log\frac{x}{\nu + s} - \tfrac12 \log 2\pi s
        + \sum_{k \ge 1} p^k \sum_{j=0}^k \frac{e_{kj}}{k + 2j} u^j.

It is an expansion in :math:`1/s`, not in :math:`1/\nu`: it serves :math:`\nu = 0` with a large
:math:`x` as well as a large :math:`\nu` with a small :math:`x`. Its derivative is the mean length,

.. math::

    A_d(x) = \frac{x}{\nu + s}
        - x p^2 \Bigl(\tfrac12 + \sum_{k \ge 1} p^k \sum_{j=0}^k e_{kj} u^j\Bigr),

and one minus its leading term can be written without a difference. Bessel's equation is a Riccati
equation in :math:`x I_\nu'/I_\nu`; it gives the numbers :math:`e_{kj}`, dyadic fractions, one order
after another.

For a given :math:`\nu` the double sum is a polynomial in :math:`p`. Its coefficients are kept for
the orders used last, so that a value costs one Horner evaluation. Numbers and arrays go through
the same formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "concentration",
    "concentration_banerjee",
    "log_iv",
    "log_normalizer",
    "mean_length",
    "mean_length_gap",
]

T = TypeVar("T", float, NDArray[np.float64])

_BORDER = 32.0  # of s: power series below, uniform expansion from here on
# From each s on, the orders k that count.
_TERMS = ((32.0, 15), (60.0, 11), (100.0, 9), (300.0, 6), (1000.0, 5), (10000.0, 3))
_LARGEST = float(np.finfo(np.float64).max)
_LARGEST_ORDER = 1e15
_LOG_2PI = math.log(2.0 * math.pi)
_BLOCK = 8192  # elements whose temporaries stay in cache
# From x to hypot(nu + 1.5, x): there 1 - A^2 - (d - 1) A / x, the slope of A, keeps its digits.
_EXACT_SLOPE = (1e-2, 1e6)


def _debye_table(n_terms: int) -> list[list[float]]:
    """Coefficients e[k][j] of the uniform expansion of A_d, exact before the final rounding.

    From e_0 = 1/2 on, 2 e_k is (1 - u) times the sum of e_i e_{k-1-i}, plus the polynomial
    (1 - u) e_{k-1} with its coefficient j multiplied by k - 1 + 2j. The rows of integers below are
    2 * 8^k e_k.
    """
    table = [[1]]
    for k in range(1, n_terms + 1):
        square = [0] * k
        for i in range(k):
            for a, left in enumerate(table[i]):
                for b, right in enumerate(table[k - 1 - i]):
                    square[a + b] += 2 * left * right
        row = [0] * (k + 1)
        for j in range(k):
            row[j] += 4 * (k - 1 + 2 * j) * table[-1][j] + square[j]
            row[j + 1] -= 4 * (k + 1 + 2 * j) * table[-1][j] + square[j]
        table.append(row)
    return [[c / (2 * 8**k) for c in row] for k, row in enumerate(table)]


_DEBYE = _debye_table(_TERMS[0][1])


class _Order(NamedTuple):
    """What the formulas need to know of one order nu; coefficients from the highest power down."""

    nu: float
    border: float  # of x: power series below
    log_gamma: float  # log Gamma(nu + 1)
    series: tuple[float, ...]  # I_nu(x) Gamma(nu + 1) (x/2)^-nu - 1, in x^2/4
    next_series: tuple[float, ...]  # the same of nu + 1
    debye: tuple[float, ...]  # the sum in A_d, in p
    log_debye: tuple[float, ...]  # the sum in log I_nu, in p
    n_newton: int  # steps of Newton's iteration until only rounding remains


@lru_cache(maxsize=512)
def _order(nu: float) -> _Order:
    border = math.sqrt(max(_BORDER**2 - nu**2, 0.0))
    n_terms = next(n for s, n in reversed(_TERMS) if max(nu, _BORDER) >= s)
    debye = [0.0] * (3 * n_terms + 1)
    for k in range(1, n_terms + 1):
        for j, e in enumerate(_DEBYE[k]):
            debye[k + 2 * j] += e * nu ** (2 * j)
    return _Order(
        nu=nu,
        border=border,
        log_gamma=math.lgamma(nu + 1.0),
        series=_series(nu, border),
        next_series=_series(nu + 1.0, border),
        debye=tuple(debye[:0:-1]),
        log_debye=tuple(debye[m] / m for m in range(3 * n_terms, 0, -1)),
        n_newton=4 if nu < 0.5 else 3 if nu < 15.0 else 2,
    )


def _series(nu: float, x_max: float) -> tuple[float, ...]:
    """Coefficients 1 / (k! (nu + 1) ... (nu + k)), k >= 1, as many as x_max needs."""
    y = x_max**2 / 4.0
    coefficients = [1.0 / (nu + 1.0)]
    term = total = y / (nu + 1.0)
    k = 1.0
    while term > 1e-18 * total:
        k += 1.0
        coefficients.append(coefficients[-1] / (k * (nu + k)))
        term *= y / (k * (nu + k))
        total += term
    return tuple(coefficients[::-1])


def _horner(coefficients: tuple[float, ...], x: Any) -> Any:
    """Polynomial without constant term, coefficients from the highest power down."""
    total = coefficients[0] * x
    for c in coefficients[1:]:
        total += c
        total *= x
    return total


# Formulas. `m` is the module that owns log and hypot: math for a number, numpy for an array.
_Formula = Callable[[_Order, Any, Any], Any]


def _log_scaled_series(order: _Order, x: Any, m: Any) -> Any:
    """Logarithm of I_nu(x) x^-nu."""
    constant = order.nu * math.log(2.0) + order.log_gamma
    return m.log1p(_horner(order.series, 0.25 * x * x)) - constant


def _log_scaled_debye(order: _Order, x: Any, m: Any) -> Any:
    """Logarithm of I_nu(x) x^-nu."""
    s = m.hypot(order.nu, x)
    leading = s - order.nu * m.log(order.nu + s) - 0.5 * (m.log(s) + _LOG_2PI)
    return leading + _horner(order.log_debye, 1.0 / s)


def _mean_series(order: _Order, x: Any, _: Any) -> Any:
    """A_d(x) and 1 - A_d(x)."""
    y = 0.25 * x * x
    ratio = (1.0 + _horner(order.next_series, y)) / (1.0 + _horner(order.series, y))
    mean = 0.5 * x / (order.nu + 1.0) * ratio
    return mean, 1.0 - mean


def _mean_debye(order: _Order, x: Any, m: Any) -> Any:
    """A_d(x) and 1 - A_d(x)."""
    nu = order.nu
    s = m.hypot(nu, x)
    p = 1.0 / s
    correction = x * p * p * (0.5 + _horner(order.debye, p))
    return x / (nu + s) - correction, nu / (nu + s) * (1.0 + nu * p / (1.0 + x * p)) + correction


def _evaluate(series: _Formula, debye: _Formula, order: _Order, x: Any, *shape: int) -> Any:
    """Apply to each element the formula of its side; `shape` is that of one element's value."""
    if isinstance(x, float):
        return (series if x < order.border else debye)(order, x, math)
    flat = x.reshape(-1)
    out = np.empty((*shape, x.size))
    for start in range(0, x.size, _BLOCK):
        block = flat[start : start + _BLOCK]
        target = out[..., start : start + _BLOCK]
        below = block < order.border
        if not below.any():
            target[...] = debye(order, block, np)
        elif below.all():
            target[...] = series(order, block, np)
        else:
            target[..., below] = series(order, block[below], np)
            target[..., ~below] = debye(order, block[~below], np)
    return out.reshape(shape + x.shape)


def _log_scaled(order: _Order, x: T) -> T:
    """Logarithm of I_nu(x) x^-nu."""
    value: T = _evaluate(_log_scaled_series, _log_scaled_debye, order, x)
    return value


def _mean(order: _Order, x: T) -> tuple[T, T]:
    """A_d(x) and 1 - A_d(x)."""
    mean, gap = _evaluate(_mean_series, _mean_debye, order, x, 2)
    return mean, gap


def _invert(order: _Order, rho: Any, m: Any) -> Any:
    """Newton's iteration for A_d(x) = rho < 1, on rho / (1 - rho^2), which is nearly linear in x.

    The start inverts x / (alpha + hypot(beta, x)), a lower bound of A_d that is exact at both ends.
    Its slope replaces the exact one where that is a difference of nearly equal numbers.
    """
    alpha, beta = order.nu + 0.5, order.nu + 1.5
    gap = 1.0 - rho
    square_gap = gap * (1.0 + rho)
    x = rho / square_gap * (alpha + m.sqrt((rho * alpha) ** 2 + square_gap * beta**2))
    for _ in range(order.n_newton):
        a, g = _mean(order, x)
        h = m.hypot(beta, x)
        slope = (alpha + beta * (beta / h)) / (alpha + h) / (alpha + h)
        exact = g * (1.0 + a) - 2.0 * alpha * (a / (x + 1e-300))
        if m is math:
            slope = exact if _EXACT_SLOPE[0] < x and h < _EXACT_SLOPE[1] else slope
            miss = rho - a if rho <= 0.5 else g - gap
        else:
            slope = np.where((_EXACT_SLOPE[0] < x) & (h < _EXACT_SLOPE[1]), exact, slope)
            miss = np.where(rho <= 0.5, rho - a, g - gap)
        x = x + miss / slope * ((1.0 + rho * a) / (1.0 + a * a)) * (g * (1.0 + a) / square_gap)
    return x


def _order_of_dimension(d: int) -> _Order:
    if not isinstance(d, int | np.integer) or not 2 <= d <= _LARGEST_ORDER:
        raise ValueError(f"d must be an integer from 2 to {_LARGEST_ORDER:.0e}, got {d!r}")
    return _order(0.5 * int(d) - 1.0)


def _checked(name: str, value: T, largest: float = _LARGEST) -> T:
    """Return a float or a float64 array with all elements in [0, largest], or name the culprit."""
    if isinstance(value, float | int):
        number = float(value)
        if 0.0 <= number <= largest:
            return number
        bad = number
    else:
        array: Any = np.asarray(value, dtype=np.float64)
        inside = (array >= 0.0) & (array <= largest)
        if inside.all():
            checked: T = array if array.ndim else array.item()
            return checked
        bad = array[~inside].item(0)
    interval = "finite and at least 0" if largest == _LARGEST else f"from 0 to {largest:g}"
    raise ValueError(f"{name} must be {interval}, got {bad}")


def log_iv(nu: float, x: T) -> T:
    r"""Logarithm of the modified Bessel function of the first kind.

    Parameters
    ----------
    nu : float
        Order, non-negative.
    x : float or array of float
        Argument, non-negative and finite.

    Returns
    -------
    float or array of float
        :math:`\log I_\nu(x)`, of the shape of ``x``.
    """
    nu = _checked("nu", float(nu), _LARGEST_ORDER)
    x = _checked("x", x)
    scaled = _log_scaled(_order(nu), x)
    if nu == 0.0:
        return scaled
    if isinstance(x, float):
        return scaled + nu * math.log(x) if x > 0.0 else -math.inf
    with np.errstate(divide="ignore"):
        return scaled + nu * np.log(x)


def log_normalizer(d: int, kappa: T) -> T:
    r"""Logarithm of the normalising constant of the von Mises-Fisher density.

    Parameters
    ----------
    d : int
        Dimension of the space, at least 2.
    kappa : float or array of float
        Concentration, non-negative and finite.

    Returns
    -------
    float or array of float
        :math:`\log c_d(\kappa)`, relative to the surface measure: at 0, minus the logarithm of the
        area of the sphere.
    """
    order = _order_of_dimension(d)
    scaled = _log_scaled(order, _checked("kappa", kappa))
    return -(order.nu + 1.0) * _LOG_2PI - scaled


def mean_length(d: int, kappa: T) -> T:
    r"""Length of the mean vector, :math:`A_d(\kappa) = I_{d/2}(\kappa) / I_{d/2-1}(\kappa)`.

    Parameters
    ----------
    d : int
        Dimension of the space, at least 2.
    kappa : float or array of float
        Concentration, non-negative and finite.

    Returns
    -------
    float or array of float
        Mean length in [0, 1), increasing with ``kappa``.
    """
    return _mean(_order_of_dimension(d), _checked("kappa", kappa))[0]


def mean_length_gap(d: int, kappa: T) -> T:
    r"""One minus the mean length, :math:`1 - A_d(\kappa)`, without cancellation.

    Parameters
    ----------
    d : int
        Dimension of the space, at least 2.
    kappa : float or array of float
        Concentration, non-negative and finite.

    Returns
    -------
    float or array of float
        Gap in (0, 1], decreasing with ``kappa``.
    """
    return _mean(_order_of_dimension(d), _checked("kappa", kappa))[1]


def concentration(d: int, rho: T) -> T:
    r"""Concentration of a given mean length: the inverse of :func:`mean_length`.

    Parameters
    ----------
    d : int
        Dimension of the space, at least 2.
    rho : float or array of float
        Mean length in [0, 1].

    Returns
    -------
    float or array of float
        The :math:`\kappa` with :math:`A_d(\kappa) = \rho`; infinite where ``rho`` is 1.
    """
    order = _order_of_dimension(d)
    rho = _checked("rho", rho, 1.0)
    if isinstance(rho, float):
        return _invert(order, rho, math) if rho < 1.0 else math.inf
    if rho.size == 1:  # an array of one number takes ten times as long as the number
        return np.full(rho.shape, concentration(d, rho.item()))
    out = np.full(rho.size, math.inf)
    flat = rho.reshape(-1)
    for start in range(0, rho.size, _BLOCK):
        block = flat[start : start + _BLOCK]
        target = out[start : start + _BLOCK]
        inside = block < 1.0
        target[inside] = _invert(order, block[inside], np)
    return out.reshape(rho.shape)


def concentration_banerjee(d: int, rho: T) -> T:
    r"""Banerjee's approximation of the concentration, :math:`(d\rho - \rho^3) / (1 - \rho^2)`.

    Parameters
    ----------
    d : int
        Dimension of the space, at least 2.
    rho : float or array of float
        Mean length in [0, 1].

    Returns
    -------
    float or array of float
        Approximate concentration; infinite where ``rho`` is 1.
    """
    _order_of_dimension(d)
    rho = _checked("rho", rho, 1.0)
    if isinstance(rho, float):
        return rho * (d - rho * rho) / ((1.0 - rho) * (1.0 + rho)) if rho < 1.0 else math.inf
    with np.errstate(divide="ignore"):
        return rho * (d - rho * rho) / ((1.0 - rho) * (1.0 + rho))

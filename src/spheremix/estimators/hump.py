"""Rows that belong nowhere as a hump of their own: a test of the far tail of a distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

# What 99 of 100 samples of an exponential distribution stay below.
CRITICAL = 1.66


def hump(excesses: Array, weights: Array) -> float | None:
    """Return where a second hump of values above zero begins; None where there is none.

    Values of one unimodal distribution become scarcer ever faster, the further out one looks: the
    hazard, the share of the values left that ends at a place, increases, as it does for every
    log-concave density. The scaled total time on test, the share of all distances that was run
    up to the share p of the values, is then a concave function of p; for an exponential
    distribution, the border of these, it is a uniform empirical process. So the test looks at the
    largest distance to its least concave majorant, times the root of the number of values.

    Parameters
    ----------
    excesses : ndarray of shape (n,)
        Positive values.
    weights : ndarray of shape (n,)
        As often each of them counts.

    Returns
    -------
    float or None
        The middle of the valley: between the value at which the hazard falls below what it is on
        average up to the hump, and the one at which it has made up for that.
    """
    statistic, middle = valley(excesses, weights)
    return middle if statistic > CRITICAL else None


def valley(excesses: Array, weights: Array) -> tuple[float, float]:
    """Return the statistic of the test, and the middle of the deepest valley."""
    there = weights > 0.0  # equal values are one point of the curve, and weights of zero are none
    values, which = np.unique(excesses[there], return_inverse=True)
    base = np.bincount(which, weights=weights[there], minlength=len(values))
    total = base.sum()
    if len(values) < 2 or not total > 0.0 or not values[-1] > 0.0:
        return 0.0, np.nan
    shares = np.concatenate([[0.0], np.cumsum(base) / total])
    left = 1.0 - shares[:-1]  # what is left before each value
    run = np.concatenate([[0.0], np.cumsum(left * np.diff(values, prepend=0.0))])
    run /= run[-1]
    corners = majorant(shares, run)
    gaps = np.interp(shares, shares[corners], run[corners]) - run
    deepest = int(gaps.argmax())
    end = corners[np.searchsorted(corners, deepest)]
    places = np.concatenate([[0.0], values])
    return float(gaps[deepest] * np.sqrt(total)), float(0.5 * (places[deepest] + places[end]))


def majorant(x: Array, y: Array) -> NDArray[np.intp]:
    """Return the corners of the least concave majorant of points in the order of x."""
    corners = [0]
    for i in range(1, len(x)):
        while len(corners) > 1:
            a, b = corners[-2], corners[-1]
            if (y[b] - y[a]) * (x[i] - x[b]) > (y[i] - y[b]) * (x[b] - x[a]):
                break
            corners.pop()
        corners.append(i)
    return np.array(corners)

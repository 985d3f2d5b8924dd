"""Write benchmarks/results/accuracy.md, measured errors of the Bessel functions.

Run as `python tools/accuracy_table.py`; needs python-flint and takes half a minute.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
from flint import arb
from golden_bessel import BORDERS, Reference, reference

from spheremix import bessel

try:
    from spheremix import _kernels
except ImportError:
    _kernels = None

PAGE = Path(__file__).parents[1] / "benchmarks" / "results" / "accuracy.md"
N_POINTS = 10_000
D_EDGES = (2, 10, 66, 1_000, 30_000, 1_000_001)
KAPPA_EDGES = (1e-6, 1.0, 40.0, 1e4, 1e9)
COLUMNS = ("log c_d", "A_d", "1 - A_d", "inverse")

INTRODUCTION = """\
# Accuracy of the Bessel functions

Written by `python tools/accuracy_table.py`: {n_random:,} random points, d log-uniform from 2 to
1,000,000 and kappa log-uniform from 1e-6 to 1e9, and {n_border} points next to the borders between
formulas, compared with ball arithmetic (python-flint), whose error is proven to be negligible. Each
entry is the worst error of its range.

- log c_d: absolute error divided by max(1, |log c_d|, kappa, d); bound 1e-14.
- A_d: relative error; bound 1e-13.
- 1 - A_d: relative error; bound 1e-12.
- inverse: the relative error of the true A_d at the kappa returned, or of the true 1 - A_d if that
  is larger and rho > 1/2; bound 1e-12. Points whose rho rounds to 1 are left out.

One unit in the last place is 2.2e-16.
"""


def error(value: float, exact: arb) -> float:
    """Return the relative error of a value."""
    return abs(float(((arb(value) - exact) / exact).mid()))


def errors(functions: object, d: int, kappa: float, exact: Reference) -> list[float]:
    """Return the errors of the four functions at one point."""
    names = ("log_normalizer", "mean_length", "mean_length_gap", "concentration")
    log_c, mean, gap, inverse = (getattr(functions, name) for name in names)
    size = abs(float(exact.log_normalizer))
    row = [
        error(log_c(d, kappa), exact.log_normalizer) * size / max(1.0, size, kappa, d),
        error(mean(d, kappa), exact.mean_length),
        error(gap(d, kappa), exact.mean_length_gap),
        0.0,
    ]
    rho = float(exact.mean_length)
    rho = rho if rho <= 0.5 else 1.0 - float(exact.mean_length_gap)
    if rho < 1.0:
        found = reference(d, inverse(d, rho))
        row[3] = error(rho, found.mean_length)
        if rho > 0.5:
            row[3] = max(row[3], error(1.0 - rho, found.mean_length_gap))
    return row


def points() -> tuple[list[tuple[int, float]], int]:
    """Return the points, and how many of them are random: those come first."""
    rng = np.random.default_rng(1)
    d = np.rint(np.exp(rng.uniform(np.log(2), np.log(1e6), N_POINTS))).astype(int).tolist()
    kappa = np.exp(rng.uniform(np.log(1e-6), np.log(1e9), N_POINTS)).tolist()
    random = list(zip(d, kappa, strict=True))
    border_points = []
    for border, dimension in itertools.product(BORDERS, (2, 3, 5, 10, 30, 64, 100, 500, 1500)):
        if 0.5 * dimension - 1.0 < border:
            x = float(np.sqrt(border**2 - (0.5 * dimension - 1.0) ** 2))
            border_points += [(dimension, x * factor) for factor in (1 - 1e-3, 1 - 1e-12, 1.0)]
    return random + border_points, len(random)


def table(d: np.ndarray, kappa: np.ndarray, measured: np.ndarray) -> list[str]:
    """Return the lines of one table: the worst errors by range of d and kappa."""
    lines = ["| d | kappa | points | " + " | ".join(COLUMNS) + " |", "|---" * 7 + "|"]
    for (d0, d1), (k0, k1) in itertools.product(
        itertools.pairwise(D_EDGES), itertools.pairwise(KAPPA_EDGES)
    ):
        inside = (d >= d0) & (d < d1) & (kappa >= k0) & (kappa < k1)
        cells = [f"{d0:,} to {d1 - 1:,}", f"{k0:g} to {k1:g}", f"{inside.sum():,}"]
        cells += [f"{worst:.1e}" for worst in measured[inside].max(axis=0)]
        lines.append("| " + " | ".join(cells) + " |")
    cells = ["all", "all", f"{d.size:,}", *(f"**{worst:.1e}**" for worst in measured.max(axis=0))]
    lines.append("| " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    """Measure and write the page."""
    where, n_random = points()
    exact = [reference(d, kappa) for d, kappa in where]
    d, kappa = (np.array(column) for column in zip(*where, strict=True))
    parts = [INTRODUCTION.format(n_random=n_random, n_border=len(where) - n_random)]
    sides = {"`spheremix.bessel`": bessel, "Compiled (`csrc/bessel.hpp`)": _kernels}
    for title, functions in sides.items():
        if hasattr(functions, "log_normalizer"):
            measured = np.array(
                [errors(functions, *at, to) for at, to in zip(where, exact, strict=True)]
            )
            parts.append("\n".join([f"## {title}", "", *table(d, kappa, measured)]) + "\n")
            print(title, dict(zip(COLUMNS, measured.max(axis=0).tolist(), strict=True)))
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()

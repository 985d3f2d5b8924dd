"""Time the Bessel functions: one value, 100 values and a million; `python benchmarks/bessel.py`."""

from __future__ import annotations

import platform
import timeit
from typing import TYPE_CHECKING

import numpy as np

import spheremix
from spheremix import bessel

if TYPE_CHECKING:
    from collections.abc import Callable

try:
    from spheremix import _kernels
except ImportError:
    _kernels = None

DIMENSIONS = (3, 50, 1000, 100_000)
NAMES = ("log_normalizer", "mean_length", "mean_length_gap", "concentration")


def best(call: Callable[[], object], number: int, repeat: int = 7) -> float:
    """Return the smallest time of one call, in microseconds."""
    return min(timeit.repeat(call, number=number, repeat=repeat)) / number * 1e6


def main() -> None:
    print(f"spheremix {spheremix.__version__}, numpy {np.__version__}, {platform.machine()}")
    print("smallest time of 7 repetitions (3 of a million), microseconds")
    print("kappa log-uniform from d/100 to 100 d\n")
    print(f"{'function':<16}{'d':>8}{'number':>10}{'100':>10}{'1,000,000':>12}{'compiled':>10}")
    rng = np.random.default_rng(0)
    for name in NAMES:
        function = getattr(bessel, name)
        for d in DIMENSIONS:
            x = d * 10.0 ** rng.uniform(-2.0, 2.0, 1_000_000)
            if name == "concentration":
                x = bessel.mean_length(d, x)
            few, one = x[:100].copy(), float(np.median(x))
            times = [
                best(lambda f=function, d=d, x=one: f(d, x), 2000),
                best(lambda f=function, d=d, x=few: f(d, x), 200),
                best(lambda f=function, d=d, x=x: f(d, x), 1, 3),
            ]
            compiled = getattr(_kernels, name, None)
            last = "-"
            if compiled is not None:
                last = f"{best(lambda f=compiled, d=d, x=one: f(d, x), 10000):.2f}"
            print(f"{name:<16}{d:>8}{times[0]:>10.2f}{times[1]:>10.1f}{times[2]:>12.0f}{last:>10}")


if __name__ == "__main__":
    main()

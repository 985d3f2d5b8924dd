"""Time draws from the von Mises-Fisher distribution: ``python benchmarks/sampling.py``.

The output is kept in ``benchmarks/results/sampling.txt``.
"""

from __future__ import annotations

import platform
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from spheremix.bessel import concentration
from spheremix.datasets import calibrate_kappa
from spheremix.distribution import VonMisesFisher

if TYPE_CHECKING:
    from collections.abc import Callable

DRAWS = {3: 10_000, 100: 10_000, 4_377: 10_000, 100_000: 1_000}
CALIBRATIONS = ((10, 4, 0.05), (100, 4, 0.05), (4_377, 4, 0.05))
MEAN_LENGTH = 0.4
ROUNDS = 3


def main() -> None:
    lines = [
        f"NumPy {np.__version__}, Python {platform.python_version()}, best of {ROUNDS} rounds",
        "",
        "      d   draws    kappa  seconds  ns per number  of which Gaussian numbers",
    ]
    for d, n in DRAWS.items():
        rng = np.random.default_rng(1)
        kappa = float(concentration(d, MEAN_LENGTH))
        vmf = VonMisesFisher(rng.standard_normal(d), kappa)
        # In turn, so that other work on the machine weighs on both alike.
        rounds = [
            (timed(partial(vmf.rvs, n, rng)), timed(partial(rng.standard_normal, (n, d))))
            for _ in range(ROUNDS)
        ]
        seconds, gaussian = (min(times) for times in zip(*rounds, strict=True))
        lines.append(
            f"{d:7d} {n:7d} {kappa:8.1f} {seconds:8.4f} {seconds / (n * d) * 1e9:14.1f} "
            f"{gaussian / (n * d) * 1e9:26.1f}"
        )
    lines.append("")
    for d, n_components, overlap in CALIBRATIONS:
        seconds = timed(partial(calibrate_kappa, d, n_components, overlap))
        lines.append(
            f"calibrate_kappa, d = {d}, K = {n_components}, overlap {overlap:.0%}, first call: "
            f"{seconds:.2f} s"
        )
    text = "\n".join(lines) + "\n"
    print(text, end="")
    results = Path(__file__).parent / "results"
    results.mkdir(exist_ok=True)
    (results / "sampling.txt").write_text(text)


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()

"""Compare the compiled kernels of this machine with their specification in NumPy, quickly.

`make arm`, `make windows` and `make wheels` run it where the tests would take hours or cannot run:
sweeps over dense and CSR rows in both precisions, soft and hard, with one thread and with three
(the same bits), a penalised fit, which needs the kernels of the M-step, eight threads of Python
that sweep and fit at once (the same bits again), and the conformance suite of engines. Prints the
largest deviations, of which any that is too large is an error, and how long a sweep takes.
"""

from __future__ import annotations

import os
import sys
import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from scipy import sparse

import spheremix as sm
from spheremix import _kernels as kernels
from spheremix.data.base import arithmetic
from spheremix.data.compiled import CompiledDirections
from spheremix.data.reference import ReferenceDirections
from spheremix.data.rows import open_rows
from spheremix.scorer import Scorer
from spheremix.testing import CONTAINERS, ENGINE_CHECKS

ROWS, COLUMNS = 300, 101
TOLERANCE = {"float64": 1e-9, "float32": 1e-4}  # of sums over 300 rows, at kappas up to 3,000


def make_rows(kind: str, rng: np.random.Generator) -> object:
    """Return random rows: dense or CSR, of float32 or float64."""
    X = rng.normal(size=(ROWS, COLUMNS)).astype(kind.removeprefix("csr-").removeprefix("dense-"))
    if kind.startswith("csr"):
        X[rng.random(X.shape) < 0.9] = 0.0
        X[:, 0] = 1.0
        return sparse.csr_array(X)
    return X


def sweeps() -> dict[str, float]:
    """Return the largest deviation of the sums, by kind of rows and precision of the arithmetic."""
    rng, worst = np.random.default_rng(0), dict[str, float]()
    for kind in ("dense-float32", "dense-float64", "csr-float32", "csr-float64"):
        rows = open_rows(make_rows(kind, rng))
        for length in (3000.0, 30.0):
            for K, assignment in ((1, "soft"), (4, "hard"), (4, "soft"), (21, "soft")):
                matrix = rng.normal(size=(K, COLUMNS))
                matrix *= length / np.linalg.norm(matrix, axis=1, keepdims=True)
                scorer = Scorer.centred(matrix, rng.normal(size=K), assignment)
                [one] = CompiledDirections(*rows, n_threads=1).sweep([scorer])
                [three] = CompiledDirections(*rows, n_threads=3).sweep([scorer])
                [expected] = ReferenceDirections(*rows).sweep([scorer])
                same = one.vectors.tobytes() == three.vectors.tobytes()
                if not same or one.log_likelihood != three.log_likelihood:
                    sys.exit(f"{kind}, K = {K}: three threads give other bits than one")
                found = max(
                    np.abs(one.vectors - expected.vectors).max(),
                    np.abs(one.mass - expected.mass).max(),
                    abs(one.log_likelihood / expected.log_likelihood - 1.0),
                )
                key = f"{kind} in {np.dtype(arithmetic(rows[0].dtype, [scorer])).name}"
                worst[key] = max(worst.get(key, 0.0), float(found))
    return worst


def fits() -> float:
    """Return the relative deviation of the objectives of a penalised fit."""
    X, labels, _ = sm.datasets.make_vmf_mixture(200, 30, 3, overlap=0.05, random_state=0)
    ends = [
        sm.VMFMixture(3, beta=5.0, init=labels, engine=engine, n_threads=1).fit(X).objective_
        for engine in ("compiled", "reference")
    ]
    return abs(ends[0] / ends[1] - 1.0)


def at_once() -> None:
    """Sweep and fit in eight threads of Python at once: each gives the bits of one alone."""
    X, labels, _ = sm.datasets.make_vmf_mixture(400, 40, 4, overlap=0.05, random_state=1)
    rows = CompiledDirections(*open_rows(X), n_threads=2)
    matrix = np.random.default_rng(2).normal(size=(4, 40))

    def work(seed: int) -> bytes:
        [sums] = rows.sweep([Scorer.centred(matrix * (1 + seed % 2), np.zeros(4), "soft")])
        mixture = sm.VMFMixture(4, beta=2.0, init=labels, max_iter=20 + seed % 2, n_threads=2)
        return sums.vectors.tobytes() + mixture.fit(X).prototypes_.tobytes()

    alone = [work(seed) for seed in range(2)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(work, range(32)))
    if any(found != alone[seed % 2] for seed, found in enumerate(together)):
        sys.exit("Eight threads at once give other bits than one alone")


def conform() -> int:
    """Run the conformance suite of engines on all containers, and give the number of checks."""

    def make(X: Any, *, first_row: int = 0, n_threads: int = 1) -> CompiledDirections:
        return CompiledDirections(*open_rows(X), first_row=first_row, n_threads=n_threads)

    for name, contain in CONTAINERS.items():
        for check in ENGINE_CHECKS:
            try:
                check(make, contain, np.random.default_rng(0))
            except AssertionError as error:
                sys.exit(f"{check.__name__} of {name}: {error}")
    return len(CONTAINERS) * len(ENGINE_CHECKS)


def pace() -> dict[str, float]:
    """Return the milliseconds of a soft sweep by one thread, the quickest of seven."""
    rng, found = np.random.default_rng(3), dict[str, float]()
    dense = rng.normal(size=(10_000, 384)).astype(np.float32)  # as embeddings
    texts = sparse.random(5_000, 20_000, 0.003, format="csr", random_state=0)  # as tf-idf
    texts = sparse.csr_array(texts + sparse.eye(5_000, 20_000))
    for name, X, K in (("dense float32, K = 50", dense, 50), ("CSR float64, K = 20", texts, 20)):
        rows = CompiledDirections(*open_rows(X), n_threads=1)
        matrix = rng.normal(size=(K, X.shape[1]))
        scorer = Scorer.centred(matrix * 30.0 / np.sqrt(X.shape[1]), np.zeros(K), "soft")
        times = []
        for _ in range(7):
            start = time.perf_counter()
            rows.sweep([scorer])
            times.append(time.perf_counter() - start)
        found[name] = 1e3 * min(times)
    return found


def main() -> None:
    """Compare, print, and fail where something is too far away."""
    wish = os.environ.get("SPHEREMIX_SIMD")
    lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(
        f"Python {sys.version.split()[0]}, {sysconfig.get_platform()}, {kernels.simd_level()},"
        f" {'with' if lock else 'without'} the interpreter lock",
        flush=True,
    )
    if wish and kernels.simd_level() != wish:
        sys.exit(f"The kernels use {kernels.simd_level()}, and not {wish}")
    found = sweeps()
    for key, value in found.items():
        print(f"{key:28} {value:.1e}", flush=True)
    objective = fits()
    print(f"{'objective of a fit':28} {objective:.1e}")
    far = [key for key, value in found.items() if value > TOLERANCE[key.split()[-1]]]
    if far or objective > 1e-9:
        sys.exit(f"Too far from the specification: {', '.join(far) or 'the fit'}")
    at_once()
    print("eight threads at once        the same bits")
    n_checks = conform()
    print(f"conformance suite            {n_checks} checks of {len(CONTAINERS)} containers")
    for name, milliseconds in pace().items():
        print(f"{f'sweep, {name}':28} {milliseconds:.1f} ms")
    print(f"{len(found) + 2 + n_checks} passed, 0 failed")


if __name__ == "__main__":
    main()

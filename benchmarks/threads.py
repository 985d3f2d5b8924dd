"""How much faster sweeps become with more threads, up to the cores of the machine.

    python benchmarks/threads.py [--save]

For each case a sweep over all rows from the same scorer, wall-clock time, least of five; then the
whole of twelve iterations of spherical k-means with K = 2,000 from the same random rows. ``--save``
writes ``benchmarks/results/threads.txt``. Run it on a quiet machine.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np
from timing import ROOT, load_newsgroups, machine

import spheremix as sm
from spheremix import em
from spheremix.models.skmeans import SphericalKMeansModel
from spheremix.scorer import Scorer

N_ROWS, D = 100_000, 384
REPEATS, ITERATIONS = 5, 12


def planted(K):
    """Return unit rows around K random directions."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((K, D), dtype=np.float32)
    rows = centres[rng.integers(K, size=N_ROWS)]
    rows += rng.standard_normal((N_ROWS, D), dtype=np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def seconds_of_sweep(X, K, assignment, n_threads):
    """Return the least time of a sweep; prototypes are rows, with a concentration if it is soft."""
    directions = sm.as_directions(X, n_threads=n_threads)
    chosen = np.random.default_rng(1).choice(X.shape[0], K, replace=False)
    kappa = 1.0 if assignment == "hard" else 100.0
    scorer = Scorer.centred(kappa * directions.take(chosen), np.zeros(K), assignment)
    return least(lambda: directions.sweep([scorer]), REPEATS)


def seconds_of_fit(X, K, n_threads):
    """Return the time of twelve iterations of spherical k-means, rows opened before."""
    directions = sm.as_directions(X, n_threads=n_threads)
    start = X[np.random.default_rng(1).choice(len(X), K, replace=False)].astype(np.float64)
    settings = em.Settings(tol=-1.0, max_iter=ITERATIONS, e_step="hard")
    return least(lambda: em.fit(SphericalKMeansModel(), directions, [start], settings), 2)


def least(job, repeats):
    best = np.inf
    for _ in range(repeats):
        begin = time.perf_counter()
        job()
        best = min(best, time.perf_counter() - begin)
    return best


def line(name, counts, seconds):
    """Write the seconds of each number of threads, and how often faster than one thread."""
    cells = [
        f"{n}: {1e3 * s:,.1f} ms ({seconds[0] / s:.1f})"
        for n, s in zip(counts, seconds, strict=True)
    ]
    return f"{name:<34} " + "   ".join(cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--save", action="store_true", help="write results/threads.txt")
    chosen = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    counts = [n for n in (1, 2, 4, 8, 16, 32) if n <= cores]
    lines = [machine(), "threads: time (times faster than one thread)"]
    print(*lines, sep="\n", flush=True)

    def add(name, job):
        lines.append(line(name, counts, [job(n) for n in counts]))
        print(lines[-1], flush=True)

    newsgroups = load_newsgroups()
    for K in (20, 200):
        add(
            f"20 newsgroups, K = {K}, soft",
            lambda n, K=K: seconds_of_sweep(newsgroups, K, "soft", n),
        )
    for K, assignment in ((50, "soft"), (50, "hard"), (2000, "soft"), (2000, "hard")):
        X = planted(K)
        name = f"{N_ROWS:,} x {D}, K = {K:,}, {assignment}"
        add(name, lambda n, X=X, K=K, kind=assignment: seconds_of_sweep(X, K, kind, n))
    add("k-means, K = 2,000, 12 iterations", lambda n: seconds_of_fit(X, 2000, n))
    if chosen.save:
        text = "\n".join(lines) + "\n"
        (ROOT / "benchmarks" / "results" / "threads.txt").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

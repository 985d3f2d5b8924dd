"""Memory above the input: the peak of whole fits, each in a process of its own.

    python benchmarks/memory.py [--only NAME ...]

It writes ``benchmarks/results/memory.md``. A process loads the rows, resets the peak that the
kernel of Linux keeps (VmHWM), fits with one thread, and tells by how much the peak has risen above
what was in use before. Iterations are few: the peak is reached in the search and the first of them.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from timing import ROOT, load_newsgroups, machine

TARGET = ROOT / "benchmarks" / "results" / "memory.md"
STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
N_DENSE = 50_000
ITERATIONS = 3
CASES = {
    "sparse K = 1,000": ("sparse", 1000, 1),
    "sparse K = 200, ten starts": ("sparse", 200, 10),
    "dense K = 5,000": ("dense", 5000, 1),
    "sparse K = 10,000, d = 100,000": ("wide", 10_000, 1),
}
FEATURES = {"sparse": 26_214, "dense": 384, "wide": 100_000}
WHO = {
    "sparse": ("SphericalKMeans", "VMFMixture", "KMeans"),
    "dense": ("SphericalKMeans", "VMFMixture", "KMeans", "faiss"),
    "wide": ("SphericalKMeans, sparse prototypes",),
}


def wide(K, d=100_000, rows_of_each=4):
    """Return rows of 100 entries around K directions, and these directions, 95 % of them zero."""
    rng = np.random.default_rng(0)
    columns = np.array([np.sort(rng.choice(d, d // 20, replace=False)) for _ in range(K)])
    columns = columns.astype(np.int32)
    values = rng.exponential(size=columns.shape)
    starts = np.arange(0, columns.size + 1, d // 20)
    directions = sparse.csr_array((values.ravel(), columns.ravel(), starts), shape=(K, d))
    chosen = np.array(
        [np.sort(rng.choice(d // 20, 100, replace=False)) for _ in range(rows_of_each * K)]
    )
    own = np.tile(np.arange(K), rows_of_each)[:, None]
    starts = np.arange(0, chosen.size + 1, 100)
    parts = values[own, chosen].ravel(), columns[own, chosen].ravel(), starts
    return sparse.csr_array(parts, shape=(len(chosen), d)), directions


def fitted(who, X, K, n_init):
    """Fit from random rows."""
    if who == "faiss":
        import faiss  # noqa: PLC0415

        faiss.omp_set_num_threads(1)
        most = {"max_points_per_centroid": len(X), "min_points_per_centroid": 1}
        return faiss.Kmeans(X.shape[1], K, niter=ITERATIONS, spherical=True, **most).train(X)
    options = {"init": "random", "n_init": n_init, "max_iter": ITERATIONS, "random_state": 0}
    if who == "KMeans":
        from sklearn.cluster import KMeans  # noqa: PLC0415

        return KMeans(K, **options).fit(X)
    import spheremix as sm  # noqa: PLC0415

    if isinstance(X, tuple):
        options |= {"init": X[1], "n_init": 1, "sparse_prototypes": True}
        return sm.SphericalKMeans(K, n_threads=1, **options).fit(X[0])
    return getattr(sm, who)(K, n_threads=1, **options).fit(X)


def in_use(name):
    """Return a line of the status of this process, in bytes."""
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(name))
    return 1024 * int(line.split()[1])


def child(name, who):
    """Print by how many bytes a fit raises the peak."""
    warnings.simplefilter("ignore")
    kind, K, n_init = CASES[name]
    if kind == "wide":
        X, few = wide(K), wide(4)
    elif kind == "sparse":
        X, few = load_newsgroups(), load_newsgroups()[:300]
    else:
        from time_to_quality import themes  # noqa: PLC0415

        X, few = themes(N_DENSE, 100), themes(300, 10)
    fitted(who, few, 4, 1)  # imports, threads and buffers of the library
    RESET.write_text("5")
    before = in_use("VmRSS")
    fitted(who, X, K, n_init)
    print(in_use("VmHWM") - before)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--child", nargs=2)
    options = parser.parse_args()
    if options.child:
        child(*options.child)
        return
    lines = ["# Memory above the input", "", "`python benchmarks/memory.py`", ""]
    lines += [f"{machine()}, one thread, random starts, {ITERATIONS} iterations.", ""]
    lines += ["| rows | estimator | MB above the input | matrices of K x d doubles |"]
    lines += ["|---|---|---|---|"]
    for name in options.only:
        kind, K, _ = CASES[name]
        d = FEATURES[kind]
        for who in WHO[kind]:
            command = [sys.executable, __file__, "--child", name, who]
            done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
            peak = int(done.stdout.split()[-1])
            cells = name, who, f"{peak / 1e6:.0f}", f"{peak / (8 * K * d):.1f}"
            lines.append(f"| {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    if options.only == list(CASES):
        TARGET.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

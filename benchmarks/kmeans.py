"""One iteration of spherical k-means against faiss and scikit-learn, same data and same start.

Run as ``python benchmarks/kmeans.py``; it writes ``benchmarks/results/kmeans.txt``. The time of an
iteration is the difference between a long and a short run of each library, divided by the number of
iterations between them, so that opening the data and copying it costs none of them anything.
"""

from __future__ import annotations

import sys
import time
import warnings

import faiss
import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from timing import ROOT, load_newsgroups, machine

import spheremix as sm
from spheremix import em
from spheremix.models.skmeans import SphericalKMeansModel

SHORT, LONG = 2, 12


def embeddings(n=100_000, d=384, n_groups=50):
    """Return unit rows around random directions, as loose as sentence embeddings."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((n_groups, d), dtype=np.float32)
    X = centres[rng.integers(n_groups, size=n)]
    X += 1.5 * rng.standard_normal((n, d), dtype=np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X


def iteration(runs, rounds=7):
    """Return the least seconds an iteration takes, the libraries taking turns."""
    best = {name: {SHORT: np.inf, LONG: np.inf} for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            for n_iter in (SHORT, LONG):
                begin = time.perf_counter()
                run(n_iter)
                best[name][n_iter] = min(best[name][n_iter], time.perf_counter() - begin)
    return {name: (took[LONG] - took[SHORT]) / (LONG - SHORT) for name, took in best.items()}


def ours(directions, start):
    """Return a run of Lloyd's iterations that stops on nothing but their number."""

    def run(n_iter):
        settings = em.Settings(tol=-1.0, max_iter=n_iter, e_step="hard")
        (fit,) = em.fit(SphericalKMeansModel(), directions, [start], settings)
        assert fit.n_iter == n_iter
        return fit.objective

    return run


def against_faiss(out):
    X = embeddings()
    start = X[np.random.default_rng(1).choice(len(X), 50, replace=False)]

    def run_faiss(n_iter):
        # By default faiss takes 256 rows a cluster.
        options = {"niter": n_iter, "spherical": True, "max_points_per_centroid": len(X)}
        clusters = faiss.Kmeans(X.shape[1], 50, min_points_per_centroid=1, **options)
        clusters.train(X, init_centroids=start)
        return clusters.obj[-1]

    run_ours = ours(sm.as_directions(X), start.astype(np.float64))
    best = iteration({"spheremix": run_ours, "faiss": run_faiss})
    print("dense float32, 100,000 x 384, K = 50, one iteration", file=out)
    for name, took in best.items():
        print(f"  {name:12s} {took * 1e3:7.1f} ms", file=out)
    print(f"  faiss takes  {best['faiss'] / best['spheremix']:7.2f} times as long", file=out)
    print(f"  coherence    {run_ours(LONG):.1f}, faiss {run_faiss(LONG + 1):.1f}", file=out)


def against_scikit_learn(out):
    for dtype in (np.float64, np.float32):
        X = load_newsgroups().astype(dtype)
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        rows = np.random.default_rng(1).choice(X.shape[0], 20, replace=False)
        start = X[rows].toarray()

        def run_scikit_learn(n_iter, X=X, start=start):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                KMeans(20, init=start, n_init=1, max_iter=n_iter, tol=0.0).fit(X)

        run_ours = ours(sm.as_directions(X), start.astype(np.float64))
        best = iteration({"spheremix": run_ours, "scikit-learn": run_scikit_learn})
        print(f"20 newsgroups tf-idf {np.dtype(dtype)}, K = 20, one iteration", file=out)
        for name, took in best.items():
            print(f"  {name:12s} {took * 1e3:7.2f} ms", file=out)
        ratio = best["scikit-learn"] / best["spheremix"]
        print(f"  scikit-learn takes {ratio:.2f} times as long", file=out)


def main():
    target = ROOT / "benchmarks" / "results" / "kmeans.txt"
    with target.open("w") as out:
        print(machine(), file=out)
        against_faiss(out)
        against_scikit_learn(out)
    sys.stdout.write(target.read_text())


if __name__ == "__main__":
    main()

"""How the time of spherical k-means grows with clusters and with rows, beside other packages.

    python benchmarks/scaling.py [--most 1000]
    python benchmarks/scaling.py --draw

The first form writes ``benchmarks/results/scaling.json`` and ``scaling.md``, the second one draws
``docs/figures/scaling.svg`` from it. Every package runs 20 of Lloyd's iterations from the same
random rows; the time is that of the whole run, in seconds of the processor with one thread, divided
by the iterations that were made. Packages take turns; the least of three runs counts, or of fewer
where these have taken a minute. ``--most`` is the largest number of clusters.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings

import faiss
import numpy as np
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits
from time_to_quality import themes
from timing import ROOT, machine

import spheremix as sm
from spheremix import em
from spheremix.models.skmeans import SphericalKMeansModel

FIGURES = ROOT / "benchmarks" / "results" / "scaling.json"
PICTURE = ROOT / "docs" / "figures" / "scaling.svg"
ITERATIONS = 20
ROUNDS, ENOUGH = 3, 60.0  # runs of a package at most; seconds after which no further ones are made
NUMBERS, N_ROWS = (20, 50, 100, 200, 500, 1000, 2000), 50_000
ROWS, K_OF_ROWS = (12_500, 25_000, 50_000, 100_000, 200_000), 50
STYLE = {
    "spheremix": ("#D55E00", "o"),
    "faiss": ("#666666", "s"),
    "scikit-learn, lloyd": ("#0072B2", "^"),
    "scikit-learn, elkan": ("#009E73", "v"),
}


def spheremix(X, start):
    settings = em.Settings(tol=-1.0, max_iter=ITERATIONS, e_step="hard")
    directions = sm.as_directions(X, n_threads=1)
    (fit,) = em.fit(SphericalKMeansModel(), directions, [start.astype(np.float64)], settings)
    return max(fit.n_iter, 1)


def faiss_kmeans(X, start):
    most = {"max_points_per_centroid": len(X), "min_points_per_centroid": 1}
    clusters = faiss.Kmeans(X.shape[1], len(start), niter=ITERATIONS, spherical=True, **most)
    clusters.train(X, init_centroids=start)
    return len(clusters.obj)


def scikit_learn(X, start, algorithm):
    options = {"n_init": 1, "max_iter": ITERATIONS, "tol": 0.0, "algorithm": algorithm}
    return KMeans(len(start), init=start, **options).fit(X).n_iter_


PACKAGES = {
    "spheremix": spheremix,
    "faiss": faiss_kmeans,
    "scikit-learn, lloyd": lambda X, start: scikit_learn(X, start, "lloyd"),
    "scikit-learn, elkan": lambda X, start: scikit_learn(X, start, "elkan"),
}


def seconds_of_iterations(X, K):
    """Return the least processor seconds of an iteration of each package."""
    start = X[np.random.default_rng(1).choice(len(X), K, replace=False)]
    found = dict.fromkeys(PACKAGES, np.inf)
    first = time.process_time()
    for _ in range(ROUNDS):
        for name, run in PACKAGES.items():
            begin = time.process_time()
            n_iter = run(X, start)
            found[name] = min(found[name], (time.process_time() - begin) / n_iter)
        if time.process_time() - first > ENOUGH:
            break
    print(len(X), K, {name: round(took, 4) for name, took in found.items()}, flush=True)
    return found


def table(title, first, lines):
    """Return milliseconds as lines of Markdown."""
    rows = [f"## {title}", "", f"| {first} | {' | '.join(PACKAGES)} |", "|---" * 5 + "|"]
    for size, found in lines.items():
        cells = (f"{found[name] * 1e3:.1f}" for name in PACKAGES)
        rows.append(f"| {int(size):,} | {' | '.join(cells)} |")
    return [*rows, ""]


def draw(known):
    """Draw both growths."""
    figure = Figure(figsize=(9.0, 4.0), layout="constrained")
    panels = (
        (f"clusters ({N_ROWS:,} rows)", "by_number"),
        (f"rows ({K_OF_ROWS} clusters)", "by_rows"),
    )
    for ax, (label, part) in zip(figure.subplots(1, 2), panels, strict=True):
        sizes = [int(size) for size in known[part]]
        for name, (colour, mark) in STYLE.items():
            times = [found[name] * 1e3 for found in known[part].values()]
            ax.loglog(sizes, times, f"{mark}-", color=colour, label=name)
        ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
        ax.yaxis.set_major_formatter("{x:,g}")
        ax.minorticks_off()
        ax.grid(visible=True, color="0.85", linewidth=0.6)
        ax.set(xlabel=label, ylabel="one iteration (ms)")
    named = ax.get_legend_handles_labels()
    figure.legend(*named, loc="outside lower center", ncols=len(STYLE), frameon=False)
    figure.savefig(PICTURE, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int, default=max(NUMBERS))
    parser.add_argument("--draw", action="store_true")
    options = parser.parse_args()
    if options.draw:
        draw(json.loads(FIGURES.read_text()))
        return
    warnings.simplefilter("ignore")
    faiss.omp_set_num_threads(1)
    load = os.getloadavg()[0]
    with threadpool_limits(1):
        seconds_of_iterations(themes(2000, 5), 5)  # the first calls may be slow
        numbers = [K for K in NUMBERS if options.most >= K]
        by_number = {K: seconds_of_iterations(themes(N_ROWS, K), K) for K in numbers}
        by_rows = {n: seconds_of_iterations(themes(n, K_OF_ROWS), K_OF_ROWS) for n in ROWS}
    FIGURES.write_text(json.dumps({"by_number": by_number, "by_rows": by_rows}, indent=1) + "\n")
    lines = ["# Growth with clusters and rows", "", "`python benchmarks/scaling.py`", ""]
    lines += [f"{machine()}, one thread, load {load:.1f}. Rows of 384 float32; milliseconds of the"]
    lines += [f"processor for one of {ITERATIONS} iterations from random rows, the least of"]
    lines += [f"{ROUNDS} runs (fewer where these took more than {ENOUGH:.0f} s).", ""]
    lines += table(f"{N_ROWS:,} rows", "clusters", by_number)
    lines += table(f"{K_OF_ROWS} clusters", "rows", by_rows)
    FIGURES.with_suffix(".md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()

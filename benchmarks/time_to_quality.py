"""Time to a good answer: quality of whole fits against processor time, one curve a package.

    python benchmarks/time_to_quality.py [--only NAME ...] [--how default ...]
    python benchmarks/time_to_quality.py --draw

The first form fits and writes ``benchmarks/results/time_to_quality.json`` and, from it, the tables
of ``time_to_quality.md``; of the JSON it replaces the cases that it ran, or with ``--how`` the fits
of these cases that are made so. The second form draws ``docs/figures/time_to_quality.svg``. One
thread; seconds are those of the processor, so that other work on the machine changes them little,
and the least of three equal fits where these are short. It needs ``pip install ".[bench]"`` and the
folder of real data, named by SPHEREMIX_DATA.

The quality is the mean cosine of all rows to the nearest prototype, and the log-likelihood a row of
the mixture that one iteration of EM makes of the prototypes: the same for every package.
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
from matplotlib.ticker import LogLocator
from scipy import sparse
from sklearn.cluster import KMeans, MiniBatchKMeans
from threadpoolctl import threadpool_limits
from timing import ROOT, load_newsgroups, machine

import spheremix as sm
from spheremix.seeding import largest_cosines

FIGURES = ROOT / "benchmarks" / "results" / "time_to_quality.json"
PICTURE = ROOT / "docs" / "figures" / "time_to_quality.svg"
N, D, FINE = 200_000, 384, 8
CASES = {
    "dense K = 50": ("dense", 50),
    "dense K = 500": ("dense", 500),
    "dense K = 2,000": ("dense", 2000),
    "newsgroups K = 50": ("sparse", 50),
    "newsgroups K = 500": ("sparse", 500),
    "newsgroups K = 2,000": ("sparse", 2000),
}
SEED = 0
REPEATS, ENOUGH = 3, 8.0  # fits at most; seconds after which a fit is not made again
BATCH = 8192
SAMPLES = (16, 64, 256)  # rows for each cluster; the default of faiss reads 256


def themes(n, n_themes):
    """Draw rows like embeddings: themes of unequal size, each of sub-themes, and a common part."""
    rng = np.random.default_rng(0)
    common, theme = (rng.standard_normal((k, D)) / np.sqrt(D) for k in (1, n_themes))
    own = rng.standard_normal((n_themes * FINE, D)) / np.sqrt(D)
    centres = (0.6 * common + 0.8 * np.repeat(theme, FINE, axis=0) + 0.6 * own).astype(np.float32)
    shares = rng.dirichlet(np.ones(n_themes))[:, None] * rng.dirichlet(np.ones(FINE), n_themes)
    of = rng.choice(len(centres), n, p=shares.ravel())
    spread = rng.uniform(0.8, 1.6, len(centres)).astype(np.float32) / np.float32(np.sqrt(D))
    X = centres[of]
    X += spread[of, None] * rng.standard_normal((n, D), dtype=np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X


def faiss_fit(X, K, n_iter, rows_a_cluster):
    options = {"niter": n_iter, "spherical": True, "seed": SEED + 1}
    clusters = faiss.Kmeans(X.shape[1], K, max_points_per_centroid=rows_a_cluster, **options)
    clusters.train(X)
    return clusters.centroids


def streamed(X, K):
    """Follow a stream of one epoch."""
    estimator = sm.SphericalKMeans(K, random_state=SEED, n_threads=1)
    order = np.random.default_rng(SEED).permutation(X.shape[0])
    batch = max(BATCH, 16 * K)
    for ids in np.split(order, range(batch, len(order), batch)):
        if len(ids) >= K:
            estimator.partial_fit(X[ids])
    return estimator.prototypes_


def sampled(X, K, rows_a_cluster):
    """Fit once to some of the rows."""
    n = min(X.shape[0], rows_a_cluster * K)
    chosen = np.sort(np.random.default_rng(SEED).choice(X.shape[0], n, replace=False))
    estimator = sm.SphericalKMeans(K, n_init=1, random_state=SEED, n_threads=1)
    return estimator.fit(X[chosen]).prototypes_


def peers(X, K):
    """Return the fits of a case: package, what, and a function that gives prototypes."""
    own = {"random_state": SEED, "n_threads": 1}
    fits = {
        ("spheremix SphericalKMeans", "default"): lambda: (
            sm.SphericalKMeans(K, **own).fit(X).prototypes_
        ),
        ("spheremix VMFMixture", "default"): lambda: sm.VMFMixture(K, **own).fit(X).prototypes_,
        ("spheremix partial_fit", "one epoch"): lambda: streamed(X, K),
        **{
            ("spheremix SphericalKMeans", f"one run, {rows} rows a cluster"): (
                lambda rows=rows: sampled(X, K, rows)
            )
            for rows in SAMPLES
            if rows * K < X.shape[0]
        },
        ("scikit-learn MiniBatchKMeans", "default"): lambda: (
            MiniBatchKMeans(K, random_state=SEED).fit(X).cluster_centers_
        ),
        ("scikit-learn MiniBatchKMeans", f"batches of {BATCH:,}"): lambda: (
            MiniBatchKMeans(K, batch_size=BATCH, random_state=SEED).fit(X).cluster_centers_
        ),
    }
    if not sparse.issparse(X):
        fits |= {
            ("faiss", "default"): lambda: faiss_fit(X, K, 25, SAMPLES[-1]),
            ("faiss", "all rows"): lambda: faiss_fit(X, K, 25, len(X)),
        }
    return fits | {
        ("spheremix SphericalKMeans", "one run"): lambda: (
            sm.SphericalKMeans(K, n_init=1, **own).fit(X).prototypes_
        ),
        ("scikit-learn KMeans", "10 iterations"): lambda: (
            KMeans(K, max_iter=10, random_state=SEED).fit(X).cluster_centers_
        ),
        ("scikit-learn KMeans", "default"): lambda: (
            KMeans(K, random_state=SEED).fit(X).cluster_centers_
        ),
    }


def judged(directions, prototypes):
    """Return the mean cosine, and the log-likelihood a row of the mixture around the prototypes."""
    prototypes = np.asarray(prototypes, dtype=np.float64)
    prototypes = prototypes / np.linalg.norm(prototypes, axis=1, keepdims=True)
    cosine = float(largest_cosines(directions, prototypes).mean())
    mixture = sm.VMFMixture(len(prototypes), init=prototypes, max_iter=1, n_threads=1)
    return cosine, mixture.fit(directions).log_likelihood_ / directions.n_rows


def measure(X, K, how):
    """Return seconds and qualities of one fit after another; each library has worked before."""
    directions = sm.as_directions(X, n_threads=1)
    few = X[: 20 * 64]
    for warm in peers(few, 20).values():
        warm()
    for (package, what), fit in peers(X, K).items():
        if how and what not in how:
            continue
        times: list[float] = []
        while len(times) < REPEATS and sum(times) < ENOUGH:
            begin = time.process_time()
            prototypes = fit()
            times.append(time.process_time() - begin)
        seconds = min(times)
        cosine, likelihood = judged(directions, prototypes)
        print(f"{package:30} {what:18} {seconds:8.2f} s  {cosine:.5f} {likelihood:.3f}", flush=True)
        yield [package, what, seconds, cosine, likelihood]


def table(name, case):
    """Return a case as lines of Markdown, the best cosine first."""
    lines = [f"## {name}, {case['shape'][0]:,} x {case['shape'][1]:,}", ""]
    lines += [f"{case['machine']}, one thread, load {case['load']:.1f}.", ""]
    lines += ["| package | how | processor seconds | mean cosine | log-likelihood a row |"]
    lines += ["|---|---|---|---|---|"]
    for package, what, seconds, cosine, likelihood in sorted(case["fits"], key=lambda one: -one[3]):
        cells = package, what, f"{seconds:.2f}", f"{cosine:.5f}", f"{likelihood:.2f}"
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def draw(cases):
    """Draw the curves, one panel a case."""
    packages = sorted({fit[0] for case in cases.values() for fit in case["fits"]}, key=str.lower)
    colours = ["#666666", "#E69F00", "#CC79A7", "#009E73", "#0072B2", "#D55E00"]
    style = dict(zip(packages, zip(colours, "sv^oDP", strict=True), strict=False))
    figure = Figure(figsize=(9.0, 3.1 * ((len(cases) + 1) // 2)), layout="constrained")
    axes = figure.subplots((len(cases) + 1) // 2, 2, squeeze=False).ravel()
    for ax, (name, case) in zip(axes, cases.items(), strict=False):
        for package in packages:
            own = sorted((fit[2], fit[3]) for fit in case["fits"] if fit[0] == package)
            if own:
                colour, mark = style[package]
                ax.semilogx(*np.array(own).T, f"{mark}-", color=colour, label=package)
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter("{x:g}")
        ax.minorticks_off()
        ax.set(title=name, xlabel="processor seconds", ylabel="mean cosine")
    for ax in axes[len(cases) :]:
        ax.set_axis_off()
    shown = dict(zip(*reversed(axes[0].get_legend_handles_labels()), strict=True))
    figure.legend(shown.values(), shown.keys(), loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(PICTURE, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--how", nargs="+", default=[])
    parser.add_argument("--draw", action="store_true")
    options = parser.parse_args()
    cases = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    if options.draw:
        draw(cases)
        return
    warnings.simplefilter("ignore")
    faiss.omp_set_num_threads(1)
    for name in options.only:
        kind, K = CASES[name]
        X = themes(N, K) if kind == "dense" else load_newsgroups()
        print(name, X.shape, flush=True)
        before = cases.get(name, {}).get("fits", []) if options.how else []
        fits = [fit for fit in before if fit[1] not in options.how]
        case = {"shape": list(X.shape), "machine": machine(), "load": os.getloadavg()[0]}
        with threadpool_limits(1):
            for fit in measure(X, K, options.how):  # written as they come: some take long
                fits.append(fit)
                known = {**cases, name: {**case, "fits": fits}}
                cases = {each: known[each] for each in CASES if each in known}
                write(cases)


def write(cases):
    """Write the figures, and the tables that are made of them."""
    FIGURES.write_text(json.dumps(cases, indent=1) + "\n")
    lines = ["# Time to a good answer", "", "`python benchmarks/time_to_quality.py`", ""]
    lines += [line for name, case in cases.items() for line in table(name, case)]
    FIGURES.with_suffix(".md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()

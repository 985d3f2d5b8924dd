"""Thousands of clusters: late iterations and whole fits, against faiss and scikit-learn.

Run as ``python benchmarks/many.py 2000 texts 5000 growth sparse sparse-growth whole whole-texts``,
or with some of these names; each writes ``benchmarks/results/many_NAME.txt``. One thread each, and
CPU time, since other programs may use the machine.
"""

from __future__ import annotations

import argparse
import time
import warnings

import faiss
import numpy as np
from kmeans import embeddings
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits
from timing import DATA, ROOT, load_newsgroups, machine

import spheremix as sm
from spheremix.data.moved import MovedComponents
from spheremix.data.near import NearComponents
from spheremix.models.skmeans import SphericalKMeansModel
from spheremix.vectors import as_dense

SHOWN = (1, 2, 3, 5, 8, 10, 15, 20, 25, 30, 40)


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def planted(n, K, noise, d=384):
    """Return unit rows around K random directions."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((K, d), dtype=np.float32)
    rows = centres[rng.integers(K, size=n)]
    return unit(rows + noise * rng.standard_normal((n, d), dtype=np.float32))


def texts(n):
    """Return unit rows that each mix three of 2,225 embeddings of news articles, and some noise."""
    rng = np.random.default_rng(0)
    real = unit(np.load(DATA / "minilm_bbc" / "embeddings.npy").astype(np.float32))
    chosen = rng.integers(len(real), size=(n, 3))
    shares = rng.dirichlet([1.0, 0.6, 0.4], size=n).astype(np.float32)
    noise = 0.02 * rng.standard_normal((n, real.shape[1]), dtype=np.float32)
    return unit(np.einsum("ik,ikj->ij", shares, real[chosen]) + noise)


def spent(job):
    begin = time.process_time()
    result = job()
    return time.process_time() - begin, result


def faiss_run(X, start, n_iter):
    options = {"niter": n_iter, "spherical": True, "max_points_per_centroid": len(X)}
    clusters = faiss.Kmeans(X.shape[1], len(start), min_points_per_centroid=1, **options)
    clusters.train(X, init_centroids=start.astype(np.float32))
    return clusters


def faiss_iteration(X, start):
    """Return the seconds of one iteration: those of three less those of one."""
    runs = [[spent(lambda n=n: faiss_run(X, start, n))[0] for n in (1, 3)] for _ in range(2)]
    short, long = np.min(runs, axis=0)
    return (long - short) / 2


def iterations(X, K, n_iter):
    """Return engine, what it knows, the last scorer, and a line about each iteration of a fit."""
    directions, model = sm.as_directions(X, n_threads=1), SphericalKMeansModel()
    prototypes = X[np.random.default_rng(1).choice(len(X), K, replace=False)].astype(np.float64)
    near, lines, moves = NearComponents(directions), [], True
    while moves and len(lines) < n_iter:
        scorer = model.scorer(prototypes)
        begin = time.process_time()
        found = near.sweep(scorer, None, 0)
        after = model.m_step(found, prototypes).parameters
        took = time.process_time() - begin
        lines.append((took, near.n_scores / len(X) / K, found.log_likelihood / len(X)))
        moves = not np.array_equal(after, prototypes)
        prototypes = after
    return directions, near, scorer, lines, moves


def late(out, title, X, K, n_iter=40):
    """Time the iterations of one fit one by one."""
    directions, near, scorer, lines, moves = iterations(X, K, n_iter)
    plain = min(spent(lambda: directions.sweep([scorer]))[0] for _ in range(2))
    peer = faiss_iteration(X, scorer.matrix)
    labels = directions.map_rows(scorer, "labels")
    index = faiss.IndexFlatIP(X.shape[1])
    index.add(scorer.matrix.astype(np.float32))
    theirs = index.search(X, 1)[1][:, 0]
    print(f"{title}, {len(X):,} x {X.shape[1]} float32, K = {K:,}", file=out)
    print(
        f"  faiss, one iteration {peer:.2f} s; a sweep over all components {plain:.2f} s", file=out
    )
    print(f"  {'iteration':>9}{'s':>9}{'faiss /':>9}{'scores':>9}{'mean cosine':>13}", file=out)
    for i, (seconds, share, cosine) in enumerate(lines, start=1):
        if i in SHOWN or i == len(lines):
            ratio = peer / seconds
            print(f"  {i:9}{seconds:9.3f}{ratio:9.1f}{share:9.1%}{cosine:13.5f}", file=out)
    ended = "rows still move" if moves else "no row moves any more"
    took = sum(line[0] for line in lines)
    print(
        f"  after {len(lines)} iterations {ended}; all of them {peer * len(lines) / took:.1f} "
        "times faster than as many of faiss",
        file=out,
    )
    print(
        f"  labels that differ from a sweep over all components: "
        f"{np.sum(labels != near.owners(0))}, from faiss: {np.sum(labels != theirs)} "
        f"of {len(X):,}",
        file=out,
        flush=True,
    )


def coherence(X, prototypes):
    """Return the mean of the largest cosines."""
    return sum(
        (part @ unit(prototypes).T).max(axis=1).sum() for part in np.array_split(X, 50)
    ) / len(X)


def whole(out, title, X, K):
    """Time fits to convergence from the same start."""
    start = X[np.random.default_rng(1).choice(len(X), K, replace=False)]
    print(f"{title}, {len(X):,} x {X.shape[1]} float32, K = {K:,}: to convergence", file=out)

    def ours(tol):
        options = {"init": start.astype(np.float64), "tol": tol, "n_threads": 1}
        return sm.SphericalKMeans(K, **options).fit(X)

    for tol in (1e-7, 0.0):
        seconds, fit = spent(lambda tol=tol: ours(tol))
        first = seconds
        say_whole(out, f"spheremix, tol={tol}", seconds, fit.n_iter_, coherence(X, fit.prototypes_))
    n_iter = fit.n_iter_
    seconds, found = spent(lambda: faiss_run(X, start, n_iter))
    say_whole(out, "faiss, as many", seconds, n_iter, coherence(X, found.centroids), first)
    for algorithm in ("lloyd", "elkan"):
        model = KMeans(K, init=start, n_init=1, tol=0.0, max_iter=n_iter, algorithm=algorithm)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            seconds, fit = spent(lambda model=model: model.fit(X))
        cosine = coherence(X, fit.cluster_centers_)
        say_whole(out, f"scikit-learn, {algorithm}", seconds, fit.n_iter_, cosine, first)


def say_whole(out, name, seconds, n_iter, cosine, first=None):
    ratio = "" if first is None else f"{seconds / first:7.1f} x"
    line = f"  {name:24}{seconds:8.1f} s {n_iter:5} iterations, mean cosine {cosine:.5f}{ratio}"
    print(line, file=out, flush=True)


def growth(out):
    """Time iterations against the number of clusters."""
    X = planted(40_000, 1000, 1.5)
    print("planted directions, 40,000 x 384 float32: seconds of an iteration", file=out)
    print(f"{'K':>6}{'faiss':>9}{'all components':>16}{'11th to 20th':>14}", file=out)
    for K in (125, 250, 500, 1000, 2000):
        directions, _, scorer, lines, _ = iterations(X, K, 20)
        plain = min(spent(lambda d=directions, s=scorer: d.sweep([s]))[0] for _ in range(2))
        last = np.mean([line[0] for line in lines[10:] or lines[-1:]])
        peer = faiss_iteration(X, scorer.matrix)
        print(f"{K:6}{peer:9.3f}{plain:16.3f}{last:14.3f}", file=out, flush=True)


def sparse(out, K=1000, n_iter=20):
    """Time the iterations of one fit to sparse rows, beside sweeps over all dense components."""
    X = load_newsgroups()
    X = X[np.diff(X.indptr) > 0]
    n = X.shape[0]
    directions, model = sm.as_directions(X, n_threads=1), SphericalKMeansModel()
    assert directions.prefers_sparse(K)
    ids = np.random.default_rng(1).choice(n, K, replace=False)
    prototypes, moved = directions.take_sparse(ids), MovedComponents(directions)
    print(f"20 newsgroups, {n:,} x {X.shape[1]:,} float64, {X.nnz:,} entries, K = {K:,}", file=out)
    print(
        "  an iteration: a sweep and the M-step, sparse; beside it a sweep alone, dense", file=out
    )
    titles = (
        f"{'iteration':>9}{'s':>9}{'dense s':>9}{'dense /':>9}{'scores':>9}{'labels differ':>15}"
    )
    print(f"  {titles}{'mean cosine':>13}{'not zero':>10}", file=out)
    moves, i, total, plain = True, 0, 0.0, []
    while moves and i < n_iter:
        i += 1
        scorer = model.scorer(prototypes)
        took, found = spent(lambda scorer=scorer: moved.sweep(scorer, None, 0))
        step, after = spent(lambda found=found, now=prototypes: model.m_step(found, now).parameters)
        total += took + step
        if i in SHOWN or i % 5 == 0:
            dense = model.scorer(as_dense(prototypes))
            plain.append(spent(lambda dense=dense: directions.sweep([dense]))[0])
            labels = directions.map_rows(dense, "labels")
            differ = int(np.sum(labels != moved.owners(0)))
            line = f"  {i:9}{took + step:9.3f}{plain[-1]:9.2f}{plain[-1] / (took + step):9.1f}"
            line += f"{moved.n_scores / n / K:9.1%}{differ:15}{found.log_likelihood / n:13.5f}"
            print(f"{line}{prototypes.nnz / K / X.shape[1]:10.1%}", file=out, flush=True)
            del dense
        moves = (after != prototypes).nnz > 0
        prototypes = after
    ended = "rows still move" if moves else "no row moves any more"
    ratio = i * min(plain) / total
    print(f"  after {i} iterations {ended}; all of them {ratio:.1f} times faster than", file=out)
    print(f"  as many dense sweeps without M-step, at {min(plain):.2f} s, the fastest", file=out)
    still = min(spent(lambda: moved.sweep(scorer, None, 0))[0] for _ in range(3))
    step = min(spent(lambda: model.m_step(found, prototypes))[0] for _ in range(3))
    print(f"  a sweep in which nothing moves {still:.3f} s, an M-step {step:.3f} s", file=out)


def sparse_growth(out):
    """Time hard sweeps over sparse rows against the number of clusters, dense and sparse."""
    X = load_newsgroups()
    X = X[np.diff(X.indptr) > 0]
    directions, model = sm.as_directions(X, n_threads=1), SphericalKMeansModel()
    print("20 newsgroups: seconds of a sweep over all components, after two iterations", file=out)
    print(f"{'K':>6}{'dense':>9}{'sparse':>9}{'not zero':>10}", file=out)
    for K in (125, 250, 500, 1000, 2000):
        ids = np.random.default_rng(1).choice(X.shape[0], K, replace=False)
        prototypes = directions.take_sparse(ids)
        for _ in range(2):
            (found,) = directions.sweep([model.scorer(prototypes)])
            prototypes = model.m_step(found, prototypes).parameters
        dense = model.scorer(as_dense(prototypes))
        each = [
            [spent(lambda s=scorer: directions.sweep([s]))[0] for scorer in both]
            for both in [(dense, model.scorer(prototypes))] * 2
        ]
        line = "".join(f"{seconds:9.3f}" for seconds in np.min(each, axis=0))
        print(f"{K:6}{line}{prototypes.nnz / K / X.shape[1]:10.1%}", file=out, flush=True)


SECTIONS = {
    "2000": lambda out: late(out, "planted directions", planted(100_000, 2000, 1.5), 2000),
    "texts": lambda out: late(out, "mixed embeddings of news", texts(100_000), 2000),
    "5000": lambda out: late(out, "planted directions", planted(100_000, 5000, 1.5), 5000, 30),
    "growth": growth,
    "sparse": sparse,
    "sparse-growth": sparse_growth,
    "whole": lambda out: whole(out, "50 planted directions", embeddings(200_000), 500),
    "whole-texts": lambda out: whole(out, "mixed embeddings of news", texts(200_000), 500),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="+", choices=list(SECTIONS))
    faiss.omp_set_num_threads(1)
    with threadpool_limits(1):
        for name in parser.parse_args().sections:
            target = ROOT / "benchmarks" / "results" / f"many_{name}.txt"
            with target.open("w") as out:
                print(machine(), file=out)
                SECTIONS[name](out)


if __name__ == "__main__":
    main()

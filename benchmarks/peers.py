"""An iteration of every package that clusters directions, side by side, in one run.

Run as ``python benchmarks/peers.py``; it needs ``pip install ".[bench]"`` and the folder of real
data, named by SPHEREMIX_DATA. It writes the table ``benchmarks/results/peers.md``. Packages that no
longer run are named below the table.

Every package gets the same rows and the same starts, one thread, and a run before its first time is
taken. The time of an iteration is the difference between a long and a short run, in seconds of the
processor, divided by the iterations that the package itself has counted between them. One start
can be unusual, for example where it empties a cluster: there are several, and the table has the
middle of their ratios and the range.
"""

from __future__ import annotations

import importlib
import os
import sys
import textwrap
import time
import warnings
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits
from timing import DATA, ROOT, load_newsgroups, machine

import spheremix as sm
from spheremix import _kernels, em
from spheremix.estimators.skmeans import lloyd

try:
    from kmeans import LONG, SHORT
    from time_to_quality import themes
except ModuleNotFoundError as missing:
    sys.exit(f'no {missing.name}: type pip install ".[bench]"')

TARGET = ROOT / "benchmarks" / "results" / "peers.md"
STARTS = 5


def soft(directions, K, start):
    """Return a run of the mixture's EM that stops on nothing but the number of iterations."""
    mixture = sm.VMFMixture(K, init=start, max_iter=1, n_threads=1).fit(directions)
    options = {"init": mixture.labels_, "tol": 1e-300, "n_threads": 1}
    return lambda n: sm.VMFMixture(K, max_iter=n, **options).fit(directions).n_iter_


def hard(directions, K, start):  # noqa: ARG001
    """Return a run of Lloyd's iterations; clusters left without rows are re-seeded."""

    def run(n_iter):
        settings = em.Settings(tol=-1.0, max_iter=n_iter, e_step="hard")
        ((fit, _),) = lloyd(directions, [start.astype(np.float64)], settings)
        return fit.n_iter

    return run


def scikit_learn_kmeans(X, K, start):
    return lambda n: KMeans(K, init=start, n_init=1, max_iter=n, tol=0.0).fit(X).n_iter_


def scikit_learn_mixture(X, K, start):
    # It draws a first partition even where means are given: a cheap one, and always the same.
    drawn = {"init_params": "random_from_data", "random_state": 0}
    options = {"covariance_type": "spherical", "means_init": start, "tol": 0.0, **drawn}
    return lambda n: GaussianMixture(K, max_iter=n, **options).fit(X).n_iter_


def faiss_kmeans(X, K, start):
    faiss = importlib.import_module("faiss")
    faiss.omp_set_num_threads(1)

    def run(n):
        options = {"niter": n, "spherical": True, "max_points_per_centroid": len(X)}
        clusters = faiss.Kmeans(X.shape[1], K, **options)
        clusters.train(X, init_centroids=start)
        return len(clusters.obj)

    return run


def fast_pytorch_kmeans(X, K, start):
    package, torch = map(importlib.import_module, ("fast_pytorch_kmeans", "torch"))
    torch.set_num_threads(1)
    rows, centres = torch.from_numpy(X), torch.from_numpy(start)

    def run(n):
        package.KMeans(K, max_iter=n, tol=-1.0, mode="cosine").fit_predict(rows, centres.clone())
        return n

    return run


def soyclustering(X, K, _):
    package = importlib.import_module("soyclustering")
    rows = sparse.csr_matrix(X)  # it knows no sparse arrays
    return lambda n: package.SphericalKMeans(K, max_iter=n, tol=0.0).fit(rows)


def spherecluster(X, K, _):
    package = importlib.import_module("spherecluster")
    return lambda n: package.VonMisesFisherMixture(K, n_init=1, max_iter=n, tol=0.0).fit(X)


SPARSE = {
    ("scikit-learn", "KMeans, of unit rows"): scikit_learn_kmeans,
    ("soyclustering", "spherical k-means"): soyclustering,
    ("spherecluster", "von Mises-Fisher mixture"): spherecluster,
}
DENSE = {
    ("faiss-cpu", "spherical k-means"): faiss_kmeans,
    ("scikit-learn", "KMeans, of unit rows"): scikit_learn_kmeans,
    ("fast-pytorch-kmeans", "k-means with the cosine"): fast_pytorch_kmeans,
    ("scikit-learn", "GaussianMixture, spherical (soft)"): scikit_learn_mixture,
    ("spherecluster", "von Mises-Fisher mixture"): spherecluster,
}


def measure(title, X, K, peers, broken):
    """Return the lines of a table: who, what, milliseconds, times spheremix of the same kind.

    What a package says that does not run goes to ``broken``.
    """
    directions = sm.as_directions(X, n_threads=1)
    mine = ("spheremix", "spherical k-means"), ("spheremix", "von Mises-Fisher mixture (soft)")
    every = {mine[0]: hard, mine[1]: soft, **peers}
    took = {who: [] for who in every}
    for seed in range(STARTS):
        ids = np.random.default_rng(seed).choice(X.shape[0], K, replace=False)
        start = X[ids] if isinstance(X, np.ndarray) else X[ids].toarray()
        for who, make in every.items():
            if who[0] in broken:
                continue
            try:
                run = make(directions if who in mine else X, K, start)
                if seed == 0:
                    run(SHORT)  # the first call may be slow
                took[who].append(iteration(run))
            except Exception as error:  # noqa: BLE001 - whatever a package not kept up raises
                broken[who[0]] = (str(error) or repr(error)).splitlines()[0].rstrip(".")
    lines = [f"**{title}**, one iteration", ""]
    lines += ["| package | what | ms | ratio | range |", "|---|---|---|---|---|"]
    for (package, what), seconds in took.items():
        if not seconds:
            continue
        ratios = np.divide(seconds, took[mine["soft" in what]])
        told = (
            f"{np.nanmin(ratios):.1f} to {np.nanmax(ratios):.1f}"
            if (package, what) not in mine
            else ""
        )
        middle = f"{np.nanmedian(seconds) * 1e3:.1f}", f"{np.nanmedian(ratios):.1f}"
        lines.append(f"| {package} {version(package)} | {what} | {' | '.join(middle)} | {told} |")
    return [*lines, ""]


def iteration(run):
    """Return the processor seconds of an iteration; NaN where the long run soon came to an end."""
    seconds, counts = [], []
    for n_iter in (SHORT, LONG):
        begin = time.process_time()
        counts.append(run(n_iter))
        seconds.append(time.process_time() - begin)
    made = counts[1] - counts[0]
    return (seconds[1] - seconds[0]) / made if 2 * made >= LONG - SHORT else np.nan


def told(broken):
    """Say which packages do not run, and why."""
    if not broken:
        return []
    listed = "; ".join(f"{name} {version(name)} ({why})" for name, why in broken.items())
    with_ = f"NumPy {version('numpy')} and scikit-learn {version('scikit-learn')}"
    sentence = (
        f"Some packages are not in the tables, because they do not run with {with_}: {listed}."
    )
    return [*textwrap.wrap(sentence, 100, break_long_words=False), ""]


def ready():
    """Stop in one line where a package or the data is missing."""
    for package, _ in (*SPARSE, *DENSE):
        try:
            version(package)
        except PackageNotFoundError:
            sys.exit(f'no {package}: type pip install ".[bench]"')
    file = DATA / "ng20_bydate_cai" / "X.npz"
    if not file.exists():
        sys.exit(f"no {file}: set SPHEREMIX_DATA to the folder of real data")


def main():
    ready()
    warnings.simplefilter("ignore")
    broken = {}
    X = load_newsgroups()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    with threadpool_limits(1):
        lines = measure("20 newsgroups, TF-IDF, 18,846 x 26,214, K = 20", X, 20, SPARSE, broken)
        lines += measure("100,000 x 384 float32, K = 50", themes(100_000, 50), 50, DENSE, broken)
    lines += told(broken)
    note = (
        f"{machine()}, kernels for {_kernels.simd_level()}, a load of {os.getloadavg()[2]:.0f}; "
        "processor time of one thread. A ratio of 1.7 means that an iteration takes 1.7 times as "
        "long as one of spheremix. Lines with (soft) are compared with our mixture, "
        "the other lines with our spherical k-means. Each package was run from "
        f'{STARTS} starts. "Ratio" is the median of the {STARTS} ratios, and "range" has the '
        "smallest and the largest. The command `python benchmarks/peers.py` measures all of this."
    )
    lines = [*textwrap.wrap(note, 100, break_long_words=False), "", *lines]
    TARGET.write_text("\n".join(lines).rstrip() + "\n")
    sys.stdout.write(TARGET.read_text())


if __name__ == "__main__":
    main()

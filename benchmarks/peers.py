"""An iteration of every package that clusters directions, side by side, in one run.

Run as ``python benchmarks/peers.py``; it needs ``pip install ".[bench]"`` and the folder of real
data, named by SPHEREMIX_DATA. It writes the table ``benchmarks/results/peers.md`` and quotes it in
the README and in ``docs/benchmarks.md``. Every package gets the same rows; the time of an iteration
is as in ``kmeans.py``. Packages that no longer run are named below the table.
"""

from __future__ import annotations

import importlib
import sys
import textwrap
import warnings
from importlib.metadata import PackageNotFoundError, version

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from timing import DATA, ROOT, load_newsgroups, machine

import spheremix as sm

try:
    from kmeans import embeddings, iteration, ours
except ModuleNotFoundError as missing:
    sys.exit(f'no {missing.name}: type pip install ".[bench]"')

TARGET = ROOT / "benchmarks" / "results" / "peers.md"
PAGES = (ROOT / "README.md", ROOT / "docs" / "benchmarks.md")
BEGIN, END = "<!-- peers: benchmarks/results/peers.md -->\n", "<!-- end -->"
ROUNDS = 3


def soft(directions, K, start):
    """Give a run of the mixture's EM that stops on nothing but the number of iterations."""
    mixture = sm.VMFMixture(K, init=start, max_iter=1).fit(directions)
    first = mixture.labels_

    def run(n_iter):
        sm.VMFMixture(K, init=first, max_iter=n_iter, tol=1e-300).fit(directions)

    return run


def scikit_learn_kmeans(X, K, start):
    return lambda n: KMeans(K, init=start, n_init=1, max_iter=n, tol=0.0).fit(X)


def scikit_learn_mixture(X, K, start):
    # It draws a first partition even where means are given: a cheap one, and always the same.
    drawn = {"init_params": "random_from_data", "random_state": 0}
    options = {"covariance_type": "spherical", "means_init": start, "tol": 0.0, **drawn}

    def run(n):
        GaussianMixture(K, max_iter=n, **options).fit(X)

    return run


def faiss_kmeans(X, K, start):
    faiss = importlib.import_module("faiss")

    def run(n):
        options = {"niter": n, "spherical": True, "max_points_per_centroid": len(X)}
        faiss.Kmeans(X.shape[1], K, **options).train(X, init_centroids=start)

    return run


def fast_pytorch_kmeans(X, K, start):
    package, torch = map(importlib.import_module, ("fast_pytorch_kmeans", "torch"))
    rows, centres = torch.from_numpy(X), torch.from_numpy(start)
    return lambda n: package.KMeans(K, max_iter=n, tol=-1.0, mode="cosine").fit_predict(
        rows, centres.clone()
    )


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
    """Give the lines of a table: who, what, milliseconds, times spheremix of the same kind.

    What a package says that does not run goes to ``broken``.
    """
    rows = np.random.default_rng(1).choice(X.shape[0], K, replace=False)
    start = X[rows] if isinstance(X, np.ndarray) else X[rows].toarray()
    directions = sm.as_directions(X)
    mine = ("spheremix", "spherical k-means"), ("spheremix", "von Mises-Fisher mixture (soft)")
    hard = ours(directions, start.astype(np.float64))
    runs = {mine[0]: hard, mine[1]: soft(directions, K, start)}
    for who, make in peers.items():
        try:
            runs[who] = make(X, K, start)
            runs[who](1)
        except Exception as error:  # noqa: BLE001 - whatever a package that is not kept up raises
            runs.pop(who, None)
            broken[who[0]] = str(error).splitlines()[0].rstrip(".")
    took = iteration(runs, ROUNDS)
    lines = [f"**{title}**, one iteration", ""]
    lines += ["| package | what | ms | ratio |", "|---|---|---|---|"]
    for (package, what), seconds in took.items():
        ratio = seconds / took[mine["soft" in what]]
        cells = f"{package} {version(package)}", what, f"{seconds * 1e3:.1f}", f"{ratio:.1f}"
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def told(broken):
    """Say which packages do not run, and why."""
    if not broken:
        return []
    listed = "; ".join(f"{name} {version(name)} ({why})" for name, why in broken.items())
    with_ = f"NumPy {version('numpy')} and scikit-learn {version('scikit-learn')}"
    sentence = f"Not in the tables, since they do not run with {with_}: {listed}."
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


def quoted(page):
    """Give a page with the table between its marks."""
    before, _, rest = page.partition(BEGIN)
    return f"{before}{BEGIN}{TARGET.read_text()}{END}{rest.partition(END)[2]}"


def main():
    ready()
    warnings.simplefilter("ignore")
    broken = {}
    X = load_newsgroups()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    lines = measure("20 newsgroups, TF-IDF, 18,846 x 26,214, K = 20", X, 20, SPARSE, broken)
    lines += measure("100,000 x 384 float32, K = 50", embeddings(), 50, DENSE, broken)
    lines += told(broken)
    lines += [
        f"{machine()}. A ratio of 1.7 means that an iteration takes 1.7 times as long as an",
        "iteration of spheremix of the same kind (hard or soft). Each time is the shortest of",
        f"{ROUNDS} rounds: `python benchmarks/peers.py`.",
    ]
    TARGET.write_text("\n".join(lines) + "\n")
    for page in PAGES:
        page.write_text(quoted(page.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(TARGET.read_text())


if __name__ == "__main__":
    main()

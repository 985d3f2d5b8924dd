"""One sweep of the compiled engine against its peers, in milliseconds.

Run ``python benchmarks/sweep.py`` for everything, or name sections: sparse, dense, small, growth,
memory. ``--save`` also writes results/sweep.txt. Data: $SPHEREMIX_DATA, else ../shared/data. Each
table is the least of several interleaved rounds; a peer that is not installed is named as missing.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import subprocess
import sys
import threading
import time
import warnings
from dataclasses import replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfTransformer

from spheremix.data.compiled import CompiledDirections
from spheremix.scorer import Scorer

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("SPHEREMIX_DATA", HERE.parent.parent / "shared" / "data"))
THREADS = 2
ROUNDS = 20
LINES: list[str] = []


def say(line: str = "") -> None:
    print(line, flush=True)
    LINES.append(line)


def interleaved(jobs: dict[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, float]:
    """Return the least milliseconds of each job, all run in turn in every round."""
    best = dict.fromkeys(jobs, np.inf)
    for _ in range(rounds):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            best[name] = min(best[name], 1e3 * (time.perf_counter() - start))
    return best


def say_machine() -> None:
    """Say what two threads are worth just now: on a busy machine the ratios below mean little."""
    block = bytes(2**22)

    def run(n_threads: int) -> None:
        job = partial(threading.Thread, target=hashlib.sha256, args=(block,))
        threads = [job() for _ in range(n_threads)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    best = interleaved({"one": partial(run, 1), "two": partial(run, 2)})
    say(f"Two threads do {2 * best['one'] / best['two']:.2f} times the work of one just now.")
    say()


# ------------------------------------------------------------------------------------------ data


def unit_scale(X: Any) -> np.ndarray:
    squares = X.multiply(X).sum(axis=1) if sparse.issparse(X) else (X.astype(float) ** 2).sum(1)
    return 1 / np.sqrt(np.asarray(squares, dtype=float).ravel())


@cache
def newsgroups() -> Any:
    counts = sparse.load_npz(DATA / "ng20_bydate_cai" / "X.npz").tocsr()
    X = TfidfTransformer().fit_transform(counts.astype(np.float64))
    X.sort_indices()
    return X[np.diff(X.indptr) > 0]


@cache
def cstr() -> Any:
    X = sparse.load_npz(DATA / "cstr" / "X.npz").tocsr().astype(np.float64)
    X.sort_indices()
    return X[np.diff(X.indptr) > 0]


def fit(X: Any, K: int, steps: int, seed: int = 0) -> Scorer:
    """Run a few steps of EM with a shared concentration."""
    rows = CompiledDirections(X, unit_scale(X), n_threads=THREADS)
    n, d = X.shape
    start = rows.take(np.random.default_rng(seed).choice(n, K, replace=False))
    scorer = Scorer(start, np.zeros(K), assignment="hard")
    for _ in range(steps):
        [r] = rows.sweep([scorer])
        lengths = np.linalg.norm(r.vectors, axis=1)
        mean = lengths.sum() / n
        kappa = mean * (d - mean**2) / (1 - mean**2)
        matrix = kappa * r.vectors / lengths[:, None]
        scorer = Scorer(matrix, np.log(np.maximum(r.mass, 1e-8) / n))
    return scorer


def softened(scorer: Scorer, factor: float) -> Scorer:
    return replace(scorer, matrix=scorer.matrix * factor)


def active(rows: CompiledDirections, scorer: Scorer, least: float) -> float:
    return float((rows.map_rows(scorer, "posteriors") >= least).sum() / rows.n_rows)


# ----------------------------------------------------------------------------------------- peers


def numpy_sweep(X: Any, matrix: np.ndarray, biases: np.ndarray) -> tuple[np.ndarray, float]:
    """Two products and a softmax, in the precision of X."""
    scores = X @ matrix.T
    scores += biases
    top = scores.max(axis=1, keepdims=True)
    scores -= top
    np.exp(scores, out=scores)
    total = scores.sum(axis=1, keepdims=True)
    scores /= total
    log_likelihood = float((np.log(total) + top).sum(dtype=float))
    return (X.T @ scores).T, log_likelihood


def plain(X: Any, scorer: Scorer) -> Callable[[], object]:
    matrix, biases = scorer.matrix.astype(X.dtype), scorer.biases.astype(X.dtype)
    return partial(numpy_sweep, X, matrix, biases)


def lloyd_iteration(X: Any, K: int, rounds: int = 3) -> float:
    """Return the milliseconds of one Lloyd iteration of scikit-learn's KMeans."""
    start = np.asarray(X[np.random.default_rng(0).choice(X.shape[0], K, replace=False)].toarray())

    def run(n_iter: int) -> None:
        model = KMeans(K, init=start, n_init=1, max_iter=n_iter, tol=0, algorithm="lloyd")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X)

    best = interleaved({"few": partial(run, 2), "many": partial(run, 12)}, rounds)
    return (best["many"] - best["few"]) / 10


def faiss_run(X: np.ndarray, start: np.ndarray, n_iter: int) -> None:
    import faiss  # noqa: PLC0415 - a peer that may be missing

    faiss.omp_set_num_threads(THREADS)
    K, d = start.shape
    model = faiss.Kmeans(d, K, niter=n_iter, spherical=True, max_points_per_centroid=len(X))
    model.train(X, init_centroids=start)


# -------------------------------------------------------------------------------------- sections


def section_sparse() -> None:
    X64 = newsgroups()
    K = 20
    say(
        f"Sparse: 20 newsgroups tf-idf {X64.shape}, {X64.nnz} non-zeros, K = {K}, {THREADS} threads"
    )
    say(f"{'':32}{'active':>8}{'SciPy ms':>10}{'ms':>8}{'ratio':>8}{'1 thread':>10}")
    fitted = fit(X64, K, 12)
    fitted_ms = 0.0
    for X in (X64, X64.astype(np.float32)):
        rows = CompiledDirections(X, unit_scale(X), n_threads=THREADS)
        alone = CompiledDirections(X, unit_scale(X))
        least = 1e-16 if X.dtype == np.float64 else 1e-9
        cases = {"fitted": 1.0, "softened /3": 1 / 3, "/10": 0.1, "/30": 1 / 30, "/1000": 1e-3}
        for name, factor in cases.items():
            scorer = softened(fitted, factor)
            best = interleaved(
                {
                    "scipy": plain(X, scorer),
                    "ours": partial(rows.sweep, [scorer]),
                    "alone": partial(alone.sweep, [scorer]),
                }
            )
            say(
                f"{f'soft {X.dtype} {name}':32}{active(rows, scorer, least):8.2f}"
                f"{best['scipy']:10.1f}{best['ours']:8.2f}{best['scipy'] / best['ours']:7.1f}x"
                f"{best['alone']:10.2f}"
            )
            if factor == 1.0 and X.dtype == np.float64:
                fitted_ms = best["ours"]
        spherical = replace(fitted, assignment="hard")
        best = interleaved({"ours": partial(rows.sweep, [spherical])})
        say(f"{f'hard {X.dtype}':32}{1.0:8.2f}{'':10}{best['ours']:8.2f}")
    pruned = np.where(np.abs(fitted.matrix) > np.quantile(np.abs(fitted.matrix), 0.98), 1, 0)
    narrow = replace(fitted, matrix=fitted.matrix * pruned)
    columns = int((narrow.matrix != 0).any(axis=0).sum())
    rows = CompiledDirections(X64, unit_scale(X64), n_threads=THREADS)
    best = interleaved({"ours": partial(rows.sweep, [narrow])})
    say(f"{f'soft float64, {columns} columns used':32}{'':18}{best['ours']:8.2f}")
    lloyd = lloyd_iteration(X64, K)
    say(
        f"scikit-learn KMeans, one Lloyd iteration: {lloyd:.1f} ms, "
        f"{lloyd / fitted_ms:.1f}x a soft sweep"
    )
    say()


@cache
def dense_mixture(n: int = 100_000, d: int = 384, K: int = 50) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    means = rng.normal(size=(K, d))
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    X = 0.06 * rng.normal(size=(n, d)).astype(np.float32)
    X += means[rng.integers(K, size=n)].astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, means


def section_dense() -> None:
    X, means = dense_mixture()
    K = len(means)
    rows = CompiledDirections(X, np.ones(len(X)), n_threads=THREADS)
    cases = {
        "soft, nearly hard": Scorer(400 * means, np.zeros(K)),
        "soft, in between": Scorer(40 * means, np.zeros(K)),
        "soft, fully": Scorer(8 * means, np.zeros(K)),
        "hard": Scorer(means, np.zeros(K), assignment="hard"),
    }
    jobs: dict[str, Callable[[], object]] = {
        name: partial(rows.sweep, [scorer]) for name, scorer in cases.items()
    }
    jobs["numpy"] = plain(X, cases["soft, fully"])
    with_faiss = find_spec("faiss") is not None
    if with_faiss:
        # Random rows: from the true means faiss finds nothing left to do and stops.
        start = X[np.random.default_rng(1).choice(len(X), K, replace=False)]
        jobs["few"] = partial(faiss_run, X, start, 1)
        jobs["many"] = partial(faiss_run, X, start, 11)
    best = interleaved(jobs)
    faiss_ms = (best["many"] - best["few"]) / 10 if with_faiss else np.nan
    say(f"Dense: float32 {X.shape}, K = {K}, {THREADS} threads")
    say(f"{'':24}{'active':>8}{'ms':>8}{'/ faiss':>9}{'NumPy /':>9}")
    for name, scorer in cases.items():
        count = 1.0 if name == "hard" else active(rows, scorer, 1e-9)
        ms = best[name]
        say(f"{name:24}{count:8.2f}{ms:8.1f}{ms / faiss_ms:8.2f}x{best['numpy'] / ms:8.1f}x")
    found = f"{faiss_ms:.1f} ms" if with_faiss else "missing (pip install faiss-cpu)"
    say(f"faiss.Kmeans(spherical=True), one iteration: {found}; NumPy soft: {best['numpy']:.1f} ms")
    say()


def section_small() -> None:
    X = cstr()
    rows = CompiledDirections(X, unit_scale(X))
    scorers = [fit(X, 4, 8, seed) for seed in range(10)]
    wide = [softened(scorer, 0.02) for scorer in scorers]
    best = interleaved(
        {
            "one": partial(rows.sweep, scorers[:1]),
            "one softened": partial(rows.sweep, wide[:1]),
            "ten in turn": lambda: [rows.sweep([scorer]) for scorer in scorers],
            "ten at once": partial(rows.sweep, scorers),
            "labels": partial(rows.map_rows, scorers[0], "labels"),
        },
        300,
    )
    say(f"Small: CSTR {X.shape}, {X.nnz} non-zeros, K = 4, one thread, microseconds")
    for name, ms in best.items():
        say(f"{name:24}{1e3 * ms:8.0f}")
    say(f"ten at once are {best['ten in turn'] / best['ten at once']:.2f}x faster than in turn")
    say()


def section_growth() -> None:
    rng = np.random.default_rng(0)
    n, d, per_row = 4000, 20_000, 60
    rows_of = np.repeat(np.arange(16 * n), per_row)
    columns = np.minimum(rng.zipf(1.3, size=rows_of.size) - 1, rng.integers(d, size=rows_of.size))
    X = sparse.csr_array((rng.random(rows_of.size), (rows_of, columns)), shape=(16 * n, d))
    X.sum_duplicates()
    say("Growth: synthetic CSR, d = 20,000; ms, and ns a non-zero and component")
    say(f"{'factor':>8}{'rows (K = 10)':>16}{'ns':>8}{'K (4,000 rows)':>18}{'ns':>8}")
    for factor in (1, 2, 4, 8, 16):
        part = X[: n * factor]
        narrow = fit(part, 10, 3)
        wide = fit(X[:n], 10 * factor, 3)
        tall = CompiledDirections(part, unit_scale(part), n_threads=THREADS)
        short = CompiledDirections(X[:n], unit_scale(X[:n]), n_threads=THREADS)
        best = interleaved(
            {"rows": partial(tall.sweep, [narrow]), "K": partial(short.sweep, [wide])}
        )
        by_rows = 1e6 * best["rows"] / part.nnz / 10
        by_k = 1e6 * best["K"] / X[:n].nnz / (10 * factor)
        say(f"{factor:8}{best['rows']:16.2f}{by_rows:8.3f}{best['K']:18.2f}{by_k:8.3f}")
    say()


MEMORY_JOB = """
import sys
sys.path.insert(0, {here!r})
import numpy as np
import sweep

def peak():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024

X = {data}
K = {K}
rng = np.random.default_rng(0)
matrix = {length} * rng.normal(size=(K, X.shape[1])) / X.shape[1] ** 0.5
scorer = sweep.Scorer(matrix, np.zeros(K))
small = sweep.CompiledDirections(X[:10], sweep.unit_scale(X[:10]), n_threads=2)
rows = sweep.CompiledDirections(X, sweep.unit_scale(X), n_threads=2)
open("/proc/self/clear_refs", "w").write("5")
before = peak()
rows.sweep([scorer])
print(peak() - before, 8 * K * X.shape[1] / 2**20)
"""


def section_memory() -> None:
    say("Memory: growth of the peak during one sweep, 2 threads, MiB")
    say(f"{'':40}{'sweep':>8}{'K x d':>8}{'times':>8}")
    cases = {
        "newsgroups, K = 20": ("sweep.newsgroups()", 20, 1.0),
        "newsgroups, K = 200": ("sweep.newsgroups()", 200, 1.0),
        "newsgroups, K = 200, nearly hard": ("sweep.newsgroups()", 200, 1e6),
        "dense 100,000 x 384, K = 50": ("sweep.dense_mixture()[0]", 50, 1.0),
        "dense 100,000 x 384, K = 1000": ("sweep.dense_mixture()[0]", 1000, 1.0),
    }
    for name, (data, K, length) in cases.items():
        job = MEMORY_JOB.format(here=str(HERE), data=data, K=K, length=length)
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", job], capture_output=True, text=True, check=True
        )
        grown, unit = (float(part) for part in done.stdout.split())
        say(f"{name:40}{grown:8.1f}{unit:8.1f}{grown / unit:8.1f}")
    say()


SECTIONS = {
    "sparse": section_sparse,
    "dense": section_dense,
    "small": section_small,
    "growth": section_growth,
    "memory": section_memory,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[[], *SECTIONS], default=[])
    parser.add_argument("--save", action="store_true")
    arguments = parser.parse_args()
    for name in arguments.sections or SECTIONS:
        say_machine()
        SECTIONS[name]()
    if arguments.save:
        (HERE / "results" / "sweep.txt").write_text("\n".join(LINES))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()

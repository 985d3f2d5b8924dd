"""How many rows a sample for starts needs, and how many runs the search: what starts are from.

Run as ``python benchmarks/sample_size.py``; it writes ``benchmarks/results/sample_size.txt``. One
thread, seconds of the processor.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
from time_to_quality import themes
from timing import ROOT, load_newsgroups, machine

import spheremix as sm
from spheremix import em
from spheremix.estimators.skmeans import lloyd
from spheremix.estimators.starts import SAMPLE_TOL
from spheremix.models.skmeans import SphericalKMeansModel
from spheremix.search import Search

TARGET = ROOT / "benchmarks" / "results" / "sample_size.txt"
N, K = 100_000, 250
ROWS, RUNS = (32, 64, 128), (1, 2, 5)
SEEDS, DOCUMENTS, K_OF_DOCUMENTS = 3, (2560, 5120, 10_240, 18_846), 20


def drawn(X, n_drawn, seed):
    """Draw rows without replacement."""
    return X[np.sort(np.random.default_rng(seed).choice(X.shape[0], n_drawn, replace=False))]


def embeddings(out):
    """Search in samples of dense rows, then let Lloyd's iterations go over all rows."""
    X, model = themes(N, K), SphericalKMeansModel()
    directions = sm.as_directions(X, n_threads=1)
    print(f"{N:,} x {X.shape[1]} themes, K = {K}: mean cosine, search s, iterations s", file=out)
    for rows in ROWS:
        for n_runs in RUNS:
            begin = time.process_time()
            part = sm.as_directions(drawn(X, rows * K, 1), n_threads=1)
            search = Search(model, part, None, tol=SAMPLE_TOL)
            found = [one for one in search.run([K], list(range(n_runs)))[0] if one is not None]
            start = model.from_partition(max(found, key=lambda one: one.value).resultants)
            middle = time.process_time()
            settings = em.Settings(tol=1e-7, e_step="hard")
            ((fit, _),) = lloyd(directions, [start], settings)
            end = time.process_time()
            told = f"{fit.objective / N:.5f} {middle - begin:6.2f} {end - middle:6.2f}"
            print(f"  {rows:4} rows a cluster, {n_runs} runs: {told}", file=out, flush=True)


def texts(out):
    """Fit mixtures to samples of documents, then to all of them from there."""
    X, K = load_newsgroups(), K_OF_DOCUMENTS
    print(f"20 newsgroups, K = {K}, five runs: log-likelihood a row, s, by seed", file=out)
    for n_drawn in DOCUMENTS:
        values, seconds = [], []
        for seed in range(SEEDS):
            options = {"random_state": seed, "n_threads": 1}
            begin = time.process_time()
            if n_drawn < X.shape[0]:
                init = sm.VMFMixture(K, n_init=5, **options).fit(drawn(X, n_drawn, seed))
                mixture = sm.VMFMixture(K, init=init, **options).fit(X)
            else:
                mixture = sm.VMFMixture(K, n_init=5, **options).fit(X)
            seconds.append(time.process_time() - begin)
            values.append(mixture.log_likelihood_ / X.shape[0])
        cells = "  ".join(f"{a:.2f} {b:.1f}" for a, b in zip(values, seconds, strict=True))
        print(f"  {n_drawn:6} documents: {cells}", file=out, flush=True)


def main():
    warnings.simplefilter("ignore")
    with TARGET.open("w") as out:
        print(f"{machine()}, one thread", file=out)
        embeddings(out)
        texts(out)
    sys.stdout.write(TARGET.read_text())


if __name__ == "__main__":
    main()

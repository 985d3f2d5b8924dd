"""Documents with few words, and components as fits have them in turn, dense and sparse."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from spheremix.data.compiled import CompiledDirections
from spheremix.data.rows import open_rows
from spheremix.scorer import Scorer
from spheremix.vectors import as_dense, as_sparse


def long_indices(X):
    X = X.copy()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


KINDS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "int64 indices": long_indices,
}
kinds = pytest.mark.parametrize("contain", KINDS.values(), ids=KINDS)


def opened(X, n_threads=1):
    return CompiledDirections(*open_rows(X), n_threads=n_threads)


def documents(rng, n=400, d=150, n_topics=12, length=15):
    """Rows of few words, some of them everywhere; some rows twice; negative entries too."""
    words = rng.integers(d, size=(n_topics, 30))
    X = np.zeros((n, d))
    for i, topic in enumerate(rng.integers(n_topics, size=n)):
        own = rng.choice(words[topic], length)
        X[i, own] += rng.exponential(size=length)
        X[i, rng.integers(4, size=3)] += 0.5  # words that most prototypes have
    X[:: n // 20, d // 2] = -0.3
    X[n // 2 : n // 2 + 20] = X[n // 2]
    X[-3:] = X[0] + X[1]
    return sparse.csr_array(X)


def walk(rng, X, kind, K=40, n_sweeps=9):
    """Return dense matrices and biases as a fit has them in turn, or as an enemy would choose."""
    rows = opened(X).take(np.arange(X.shape[0]))
    start = rows[rng.choice(len(rows), K, replace=False)]
    start[K // 2] = start[3]  # the first of equals wins
    start[5] = 0.0
    goal = np.where(start != 0.0, start + 0.3 * rng.normal(size=start.shape), 0.0)
    biases = np.zeros(K)
    for i in range(n_sweeps):
        M = start.copy()
        if kind == "lloyd":
            labels = (rows @ start.T).argmax(axis=1)
            sums = np.array([rows[labels == k].sum(axis=0) for k in range(K)])
            start = np.where(sums.any(axis=1, keepdims=True), sums, start)
            start /= np.maximum(np.linalg.norm(start, axis=1, keepdims=True), 1e-300)
        elif kind == "few":
            for k in rng.choice(K, 3, replace=False):
                start[k] = rows[rng.integers(len(rows))]
        elif kind == "back and forth":
            M[: K // 4] += 0.2 * (i % 2) * (goal - start)[: K // 4]
        elif kind == "away":  # the owners of many rows leave them
            start[(5 * i) % K :: 9] *= -0.5 if i % 2 else 0.1
        elif kind == "swap":
            start[[i, i + 1]] = start[[i + 1, i]]
        elif kind == "all":
            M += 0.5**i * (goal - start)
        elif kind == "biases":
            biases = biases.copy()
            biases[rng.integers(K, size=4)] = rng.normal(size=4)
            biases[i % 3 :: 20] = -np.inf
        yield M, biases


WALKS = ["lloyd", "few", "back and forth", "away", "swap", "still", "all", "biases"]


def both(M, biases, offset=0.25):
    """Return one scorer with dense components, and one with sparse ones."""
    one = Scorer(M, biases, offset, "hard")
    return one, replace(one, matrix=as_sparse(M))


def densified(found):
    return replace(found, vectors=as_dense(found.vectors))

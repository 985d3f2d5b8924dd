"""What the tests of VMFCoclustering share: a small one, and counts with planted blocks."""

from __future__ import annotations

import numpy as np

import spheremix as sm

ALGORITHMS = ("em", "cem", "sem", "saem", "caem")


def block_mixture(**parameters):
    return sm.VMFCoclustering(**{"n_components": 3, "random_state": 0, **parameters})


def planted(n=(60, 40, 20), sizes=(12, 9, 6), noise=0.3, seed=0):
    """Return counts that are larger on the block of a row's cluster, clusters and the blocks."""
    rng = np.random.default_rng(seed)
    rows, columns = np.repeat(np.arange(len(n)), n), np.repeat(np.arange(len(sizes)), sizes)
    X = rng.poisson(np.where(rows[:, None] == columns, 4.0, noise)).astype(float)
    X[X.sum(axis=1) == 0, 0] = 1.0
    order = rng.permutation(len(columns))
    return X[:, order], rows, columns[order]

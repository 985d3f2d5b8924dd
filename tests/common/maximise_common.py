"""What the tests of the exact M-step share: both solvers, and resultants to solve for."""

from __future__ import annotations

import numpy as np
import pytest

from spheremix._optional import kernels
from spheremix.models.maximise import maximise, maximise_in_python
from spheremix.penalties import L1

SOLVERS = {"python": maximise_in_python} | ({} if kernels is None else {"compiled": maximise})

solvers = pytest.mark.parametrize("solve", SOLVERS.values(), ids=SOLVERS)
modes = pytest.mark.parametrize("mode", ["shared", "free"])


def old(vectors):
    """Return some old parameters: they serve as a guess and for the old terms."""
    prototypes = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return prototypes[:, ::-1].copy(), np.full(len(vectors), 7.0)


def solved(solve, vectors, mass, beta, mode, weights=None, kappa_max=1e9, guess=None):
    prototypes, kappas = old(vectors)
    kappas = kappas if guess is None else np.full(len(vectors), float(guess))
    return solve(vectors, mass, L1(beta, weights), mode, kappa_max, prototypes, kappas)


def some_resultants(seed, d, n_components, n_each, spread):
    """Return resultants of rows around random directions; spread 0 repeats one row."""
    rng = np.random.default_rng(seed)
    vectors, mass = np.empty((n_components, d)), np.empty(n_components)
    for k in range(n_components):
        rows = rng.normal(size=d) + spread * rng.normal(size=(n_each, d))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        weights = rng.uniform(0.1, 2, n_each)
        vectors[k], mass[k] = weights @ rows, weights.sum()
    return vectors, mass

"""What the tests of several views share: rows, and an EM written down a second time."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import ive, logsumexp


def planted(n=240, noise=0.25, seed=0):
    """Return two views that each tell two of four groups apart, and the groups.

    The words tell 0, 1 from 2, 3; the meaning tells 0, 2 from 1, 3.
    """
    rng = np.random.default_rng(seed)
    groups = rng.integers(4, size=n)
    words = np.eye(12)[groups // 2] + noise * rng.normal(size=(n, 12))
    meaning = np.eye(7)[groups % 2] + noise * rng.normal(size=(n, 7))
    return {"words": sparse.csr_array(words), "meaning": meaning}, groups


def unit(X):
    """Return the rows of a view at length one, or zero where they have nothing in it."""
    rows = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0.0, lengths, 1.0)


def log_c(d, kappa):
    """Return the log of the constant of the von Mises-Fisher density."""
    nu = 0.5 * d - 1.0
    bessel = np.log(ive(nu, kappa)) + kappa
    return nu * np.log(kappa) - 0.5 * d * np.log(2.0 * np.pi) - bessel


def concentration(d, mean):
    """Solve A_d(kappa) = mean."""
    return brentq(lambda k: ive(0.5 * d, k) / ive(0.5 * d - 1.0, k) - mean, 1e-3, 1e4, xtol=1e-13)


def brute_force(X, labels, n_iter, *, kappa="shared", weights=None, view_weights=None):
    """Run EM on dense rows from labels, one loop over views and no formula of the library.

    Returns the log-likelihood of each iteration, and the last prototypes, concentrations, weights
    and posteriors. A row that has nothing in a view is left out of that view's sums.
    """
    rows = {name: unit(part) for name, part in X.items()}
    there = {name: part.any(axis=1) for name, part in rows.items()}
    counts = np.ones(len(labels)) if weights is None else np.asarray(weights, dtype=float)
    omega = {name: (view_weights or {}).get(name, 1.0) for name in X}
    posteriors = np.eye(labels.max() + 1)[labels]
    trace = []
    for _ in range(n_iter):
        shares = (counts[:, None] * posteriors).sum(axis=0) / counts.sum()
        scores = np.tile(np.log(shares), (len(labels), 1))
        prototypes, kappas = {}, {}
        for name, part in rows.items():
            d = part.shape[1]
            assigned = counts[:, None] * posteriors * there[name][:, None]
            sums, mass = assigned.T @ part, assigned.sum(axis=0)
            lengths = np.linalg.norm(sums, axis=1)
            prototypes[name] = sums / lengths[:, None]
            if kappa == "shared":
                kappas[name] = np.full(len(mass), concentration(d, lengths.sum() / mass.sum()))
            else:
                pairs = zip(lengths, mass, strict=True)
                kappas[name] = np.array([concentration(d, one / n) for one, n in pairs])
            own = kappas[name] * (part @ prototypes[name].T) + log_c(d, kappas[name])
            scores += omega[name] * np.where(there[name][:, None], own, 0.0)
        trace.append(float(counts @ logsumexp(scores, axis=1)))
        posteriors = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
    return trace, prototypes, kappas, shares, posteriors

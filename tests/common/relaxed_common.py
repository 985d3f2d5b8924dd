"""EM under given zeros in plain NumPy and SciPy: what refits are compared with."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import ive, logsumexp


def log_normalizer(d, kappa):
    """Return log c_d, relative to the surface measure."""
    order = d / 2 - 1
    return order * np.log(kappa) - d / 2 * np.log(2 * np.pi) - np.log(ive(order, kappa)) - kappa


def concentration(d, length):
    """Solve I_{d/2}(kappa) / I_{d/2 - 1}(kappa) = length."""
    return brentq(lambda k: ive(d / 2, k) / ive(d / 2 - 1, k) - length, 1e-6, 1e4, xtol=1e-13)


def scores(X, mixture):
    """Return the scores of every row from the public attributes of a mixture."""
    mu, kappas = mixture.prototypes_, mixture.kappas_
    return (
        X @ (kappas[:, None] * mu).T + np.log(mixture.weights_) + log_normalizer(len(X.T), kappas)
    )


def em_on_support(X, start, kappa, weights=None, *, hard=False, n_iter=3000):
    """Run EM from a mixture, its zeros kept; give its parameters and the log-likelihoods."""
    rows = np.ones(len(X)) if weights is None else weights
    support = start.prototypes_ != 0
    mu, kappas, alpha = start.prototypes_, start.kappas_, start.weights_
    d, trace = X.shape[1], []
    for _ in range(n_iter):
        each = X @ (kappas[:, None] * mu).T + np.log(alpha) + log_normalizer(d, kappas)
        total = logsumexp(each, axis=1)
        trace.append(rows @ (each.max(axis=1) if hard else total))
        parts = np.exp(each - total[:, None])
        if hard:
            parts = (each.argmax(axis=1)[:, None] == np.arange(len(mu))).astype(float)
        parts *= rows[:, None]
        mass, vectors = parts.sum(axis=0), np.where(support, parts.T @ X, 0.0)
        lengths = np.linalg.norm(vectors, axis=1)
        mu, alpha = vectors / lengths[:, None], mass / mass.sum()
        if kappa == "shared":
            kappas = np.full(len(mu), concentration(d, lengths.sum() / mass.sum()))
        elif kappa == "free":
            kappas = np.array([concentration(d, one) for one in lengths / mass])
        if len(trace) > 3 and trace[-1] == trace[-3]:
            break
    return mu, kappas, alpha, np.array(trace)

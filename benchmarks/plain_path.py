"""A plain NumPy and SciPy rendering of Algorithm 3, to measure the path against.

Algorithm 2 as printed (mu, then Banerjee's shared kappa, until both settle; EM stops on the
log-likelihood), events as printed with a least relative increase, coordinates below 1e-8 set to
zero. It has nothing of spheremix but the log normaliser.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from spheremix.bessel import log_normalizer


def e_step(X, prototypes, kappa, weights):
    scores = kappa * (X @ prototypes.T) + np.log(weights) + log_normalizer(X.shape[1], kappa)
    densities = logsumexp(scores, axis=1)
    posteriors = np.exp(scores - densities[:, None])
    return posteriors.sum(axis=0), posteriors.T @ X, densities.sum()


def m_step(mass, vectors, kappa, beta, n, d):
    for _ in range(100):
        excess = np.maximum(kappa * np.abs(vectors) - beta, 0.0)
        norms = np.linalg.norm(excess, axis=1)
        if not norms.all():
            return None
        prototypes = np.sign(vectors) * excess / norms[:, None]
        rho = np.sum(prototypes * vectors) / n
        previous, kappa = kappa, (d * rho - rho**3) / (1.0 - rho**2)
        if beta == 0.0 or abs(kappa - previous) <= 1e-10 * kappa:
            break
    return prototypes, kappa, mass / n


def em(X, parameters, beta, tol=1e-7, max_iter=1000):
    n, d = X.shape
    last, iterations = -np.inf, 0
    while iterations < max_iter:
        iterations += 1
        mass, vectors, likelihood = e_step(X, *parameters)
        if abs(likelihood - last) < tol * n:
            break
        last = likelihood
        parameters = m_step(mass, vectors, parameters[1], beta, n, d)
        if parameters is None:
            return None
    return parameters, vectors, likelihood, iterations


def follow(X, prototypes, kappa, weights, min_relative_increase=1e-3, beta_min_ratio=1e-5):
    """Return (beta, non-zeros, log-likelihood, iterations) of every step to maximal sparsity."""
    solution = em(X, (prototypes, kappa, weights), 0.0)
    beta, steps = 0.0, []
    while solution is not None:
        (prototypes, kappa, weights), vectors, likelihood, iterations = solution
        prototypes = np.where(np.abs(prototypes) < 1e-8, 0.0, prototypes)
        prototypes /= np.linalg.norm(prototypes, axis=1, keepdims=True)
        steps.append((beta, np.count_nonzero(prototypes), likelihood, iterations))
        several = (np.count_nonzero(prototypes, axis=1) > 1)[:, None]
        events = kappa * np.abs(vectors[(prototypes != 0.0) & several])
        if not events.size:
            break
        ahead = events[events > max(beta, beta_min_ratio * events.max())]
        least = beta * (1.0 + min_relative_increase)
        beta = max(ahead.min(), least) if ahead.size else least
        solution = em(X, (prototypes, kappa, weights), beta)
    return steps

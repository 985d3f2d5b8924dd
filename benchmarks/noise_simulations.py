"""Uniform noise beside von Mises-Fisher clusters, for benchmarks/noise.py.

Beside what a fit finds stands what is found if the true parameters are known: directions,
concentrations, weights and the share of the noise. No fit can be expected to find more.
"""

from __future__ import annotations

import numpy as np
from noise_figures import HEAD, best_threshold, ours
from scipy.special import gammaln, logsumexp
from sklearn.metrics import f1_score

import spheremix as sm
from spheremix.bessel import concentration, log_normalizer

SEEDS = range(10)
SIMULATED = (*HEAD[:-1], "F1, parameters known", "F1, best threshold", HEAD[-1])


def simulated(seed, d, share, mean_length, n=1000, K=4):
    """Return rows, their labels, and what they were drawn from."""
    kappa = float(concentration(d, mean_length))
    X, labels, drawn = sm.datasets.make_vmf_mixture(n, d, K, kappa=kappa, random_state=seed)
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(round(n * share / (1 - share)), d))
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    truth = np.append(labels.astype(str), ["noise"] * len(noise))
    return np.vstack([X, noise]), truth, drawn


def known_parameters(X, truth, drawn, share):
    """Return two F1 of the noise by the true parameters.

    The first one calls a row noise if noise is more probable than each cluster, as a fit does. The
    second one is the best that any threshold on the true probability of noise could reach.
    """
    if share == 0.0:
        return [np.nan, np.nan]
    d, noise = X.shape[1], truth == "noise"
    scores = X @ (drawn.kappas[:, None] * drawn.prototypes).T
    scores += np.log((1.0 - share) * drawn.weights) + log_normalizer(d, drawn.kappas)
    uniform = np.log(share) + gammaln(d / 2) - np.log(2.0) - d / 2 * np.log(np.pi)
    likely = uniform > scores.max(axis=1)
    best = best_threshold(uniform - logsumexp(scores, axis=1), noise)
    return [f1_score(noise, likely), f1_score(noise, best)]


def simulations():
    for d, length in ((10, 0.8), (10, 0.5), (50, 0.5), (300, 0.5)):
        for share in (0.0, 0.05, 0.2):
            rows = [simulated(seed, d, share, length) for seed in SEEDS]
            best = [known_parameters(*one, share) for one in rows]
            for most in ("auto", None):
                values = [
                    np.append(ours(X, truth, 4, seed, max_noise=most), best[seed])
                    for seed, (X, truth, _) in enumerate(rows)
                ]
                name = f"d = {d}, mean length {length}, {share:.0%} uniform noise"
                yield f"{name}, max_noise={most!r}", values

"""What the tests of trees share: topics within themes, and a likelihood row by row."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar

from spheremix.bessel import log_normalizer
from spheremix.resultants import Resultants


def themes(n_themes=3, n_topics=3, d=20, n=40, seed=0, topic=0.45, noise=0.12):
    """Return rows of topics that lie within themes, and the themes and topics of the rows."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(n // 2, 2 * n, size=n_themes * n_topics)
    topics = np.repeat(np.arange(n_themes * n_topics), sizes)
    centres = np.repeat(unit(rng.normal(size=(n_themes, d))), n_topics, axis=0)
    centres = unit(centres + topic * unit(rng.normal(size=centres.shape)))
    rows = unit(centres[topics] + noise * rng.normal(size=(len(topics), d)) / np.sqrt(d / 5))
    shuffled = rng.permutation(len(rows))
    return rows[shuffled], topics[shuffled] // n_topics, topics[shuffled]


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def resultants_of(rows, labels, weights):
    K = labels.max() + 1
    mass = np.bincount(labels, weights, K)
    vectors = np.stack([weights[labels == k] @ rows[labels == k] for k in range(K)])
    return Resultants(mass, vectors, 0.0, 0.0, float(weights.sum()))


def classification_likelihood(rows, labels, weights, kappa):
    """Score every row by the best parameters of its cluster; kappa by a general optimiser."""
    d, cosines, total = rows.shape[1], np.empty(len(rows)), 0.0
    for k in np.unique(labels):
        own = labels == k
        sums = weights[own] @ rows[own]
        cosines[own] = rows[own] @ sums / np.linalg.norm(sums)
        total += weights[own].sum() * np.log(weights[own].sum() / weights.sum())

    def likelihood(log_kappa, chosen):
        value = np.exp(log_kappa)
        scores = log_normalizer(d, np.array([value]))[0] + value * cosines[chosen]
        return float(weights[chosen] @ scores)

    def best(chosen):
        found = minimize_scalar(
            lambda x: -likelihood(x, chosen),
            bounds=(-5.0, 12.0),
            method="bounded",
            options={"xatol": 1e-10},
        )
        return -found.fun

    everywhere = np.ones(len(rows), dtype=bool)
    if kappa == "shared":
        return total + best(everywhere)
    if kappa == "free":
        return total + sum(best(labels == k) for k in np.unique(labels))
    return total + likelihood(np.log(kappa), everywhere)

"""What is counted of documents that belong nowhere, for benchmarks/noise.py."""

from __future__ import annotations

import sys

import numpy as np
from corpora import class_means
from sklearn.metrics import adjusted_rand_score, f1_score

import spheremix as sm

HEAD = ("rows", "clean rows kept", "F1 of noise", "ARI of clean rows", "without noise", "seeds")


def judged(truth, labels, plain=None):
    """Return share of the clean rows kept, F1 of the noise, ARI of the clean rows with and without.

    The last one is of the clean rows that were kept, in both, so that the rows are the same.
    """
    noise, lost = truth == "noise", labels < 0
    kept = ~noise & ~lost
    f1 = f1_score(noise, lost) if noise.any() else np.nan
    ari = adjusted_rand_score(truth[kept], labels[kept])
    before = np.nan if plain is None else adjusted_rand_score(truth[kept], plain[kept])
    return np.array([np.mean(~lost[~noise]), f1, ari, before])


def ours(X, truth, K, seed, **parameters):
    common = {"n_components": K, "random_state": seed, "n_threads": 1}
    plain = sm.VMFMixture(**common).fit(X)
    found = sm.VMFMixture(**common, noise="uniform", **parameters).fit(X)
    return judged(truth, found.labels_, plain.labels_)


def best_threshold(values, noise):
    """Return the rows above the threshold that finds the noise with the best F1."""
    order = np.argsort(-values)
    hits = np.cumsum(noise[order])
    f1 = 2.0 * hits / (np.arange(1, len(hits) + 1) + noise.sum())
    lost = np.zeros(len(values), dtype=bool)
    lost[order[: f1.argmax() + 1]] = True
    return lost


def known_classes(X, truth):
    """Return the best that the cosine with the true classes could do: what the words allow."""
    noise = truth == "noise"
    lost = best_threshold(-class_means(X, truth), noise)
    return np.array([np.mean(~lost[~noise]), f1_score(noise, lost), np.nan, np.nan])


def line(name, figures, n_seeds):
    shown = ["" if np.isnan(one) else f"{one:.3f}" for one in figures]
    return f"| {name} | {' | '.join(shown)} | {n_seeds} |"


def table(title, cases, head=HEAD):
    lines = [f"## {title}\n", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name, values in cases:
        n = sum(not np.isnan(one).all() for one in values)
        lines.append(line(name, np.mean(values, axis=0), n))
        print(lines[-1], file=sys.stderr)
    return lines

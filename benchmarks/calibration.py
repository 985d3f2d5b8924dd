"""Posteriors and how often they are right: raw, leave-one-out, and calibrated without labels.

Run as ``python benchmarks/calibration.py``; it needs the folder of real data, named by
SPHEREMIX_DATA. It writes ``benchmarks/results/calibration.md``.
"""

from __future__ import annotations

import gzip
import json
import warnings

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sets import embeddings
from sklearn.feature_extraction.text import TfidfTransformer
from timing import DATA, ROOT

import spheremix as sm
from spheremix.estimators.calibration import LeftOut, tempered
from spheremix.text import TextVectorizer

TARGET = ROOT / "benchmarks" / "results" / "calibration.md"
BINS = 15
GRID = np.exp(np.linspace(np.log(0.5), np.log(200.0), 80))
SEEDS = range(3)
REDRAWN = 1000  # samples of the documents, for standard errors
SIMULATIONS = {  # n, d, K, overlap
    "d = 10, overlap .02": (1000, 10, 4, 0.02),
    "d = 10, overlap .1": (1000, 10, 4, 0.1),
    "d = 30, overlap .05": (2000, 30, 4, 0.05),
    "d = 20, overlap .2": (500, 20, 3, 0.2),
    "d = 100, n = 300, overlap .1": (300, 100, 3, 0.1),
    "d = 500, overlap .05": (1000, 500, 4, 0.05),
    "d = 1000, overlap .05": (1000, 1000, 3, 0.05),
}
NOTE = [
    "Expected calibration error (ECE) in 15 bins of the largest posterior, against the labels,",
    "which are matched with the clusters one to one (Hungarian method). K is the number of labels.",
    "Mean of three seeds: of the fit and of the cuts of columns, in simulations also of the rows.",
    "Raw: `predict_proba`. Left out: leave-one-out, temperature 1. Calibrated: `sm.calibrate`.",
    "Standard error: of the calibrated ECE, by 1,000 bootstrap samples of the documents, the same",
    "for the three fits, which are not made again.",
    "Best temperature: the one that maximises the likelihood of the labels, which nobody has in",
    "practice, and the ECE that it reaches.",
]


def bbc():
    with gzip.open(DATA / "bbc_news" / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    labels = np.unique([one["label"] for one in documents], return_inverse=True)[1]
    return TextVectorizer().fit_transform([one["text"] for one in documents]), labels


def counts(name):
    """Return the rows of a set of counts by tf-idf; those of cstr are weighted already."""
    X = sparse.load_npz(DATA / name / "X.npz").tocsr().astype(np.float64)
    X = X if name == "cstr" else TfidfTransformer().fit_transform(X)
    kept = np.asarray(X.sum(axis=1)).ravel() > 0.0
    return X[kept], np.load(DATA / name / "labels.npy")[kept]


def matched(clusters, labels):
    """Return the label of each cluster."""
    K = max(clusters.max(), labels.max()) + 1
    common = np.zeros((K, K))
    np.add.at(common, (clusters, labels), 1.0)
    return linear_sum_assignment(common, maximize=True)[1]


def excesses(posteriors, labels, names):
    """Return for each document, in the column of its bin, how much more sure than right it is."""
    sure, right = posteriors.max(axis=1), names[posteriors.argmax(axis=1)] == labels
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    found = np.zeros((len(sure), BINS))
    found[np.arange(len(sure)), place] = sure - right
    return found


def calibration_error(found):
    return np.abs(found.sum(axis=0)).sum() / len(found)


def standard_error(fits):
    """Return the standard error of the mean ECE of several fits, by drawing documents again."""
    rng, n = np.random.default_rng(0), len(fits[0])
    counts = rng.multinomial(n, np.full(n, 1.0 / n), size=REDRAWN)
    errors = [np.abs(counts @ found).sum(axis=1) / n for found in fits]
    return np.mean(errors, axis=0).std(ddof=1)


def judged(X, labels, seed):
    """Return accuracy, errors and temperatures, and what the calibrated error is the sum of."""
    K = len(np.unique(labels))
    mixture = sm.VMFMixture(K, random_state=seed).fit(X)
    names = matched(mixture.labels_, labels)
    found = sm.calibrate(mixture, X, random_state=seed)
    n, truth = len(labels), np.argsort(names)[labels]
    scores, shares = np.empty((n, K)), np.empty((n, K))
    for part, block in LeftOut(mixture, sm.as_directions(X), None).blocks(np.arange(n)):
        scores[part], shares[part] = block.scores, block.log_weights
    likelihoods = [
        np.log(tempered(scores, shares, T)[np.arange(n), truth] + 1e-300).mean() for T in GRID
    ]
    best = GRID[int(np.argmax(likelihoods))]
    each = (
        mixture.predict_proba(X),
        tempered(scores, shares, 1.0),
        found.posteriors,
        tempered(scores, shares, best),
    )
    found_each = [excesses(one, labels, names) for one in each]
    errors = [calibration_error(one) for one in found_each]
    accuracy = np.mean(names[found.posteriors.argmax(axis=1)] == labels)
    figures = (accuracy, *errors[:3], found.temperature, found.z, best, errors[3])
    return figures, found_each[2]


def rows(sets):
    yield (
        "| rows | n | d | K | accuracy | raw | left out | **calibrated** | standard error "
        "| temperature | z | best temperature | its ECE |"
    )
    yield "|" + "---|" * 13
    for name, make in sets.items():
        given = [make(seed) for seed in SEEDS]
        fits = [judged(*one, seed) for seed, one in zip(SEEDS, given, strict=True)]
        values = np.mean([figures for figures, _ in fits], axis=0)
        error = standard_error([found for _, found in fits])
        X, labels = given[0]
        a, raw, left, calibrated, T, z, best, least = values
        yield (
            f"| {name} | {X.shape[0]} | {X.shape[1]} | {len(np.unique(labels))} | {a:.3f} "
            f"| {raw:.3f} | {left:.3f} | **{calibrated:.3f}** | {error:.3f} | {T:.2f} | {z:.1f} "
            f"| {best:.2f} | {least:.3f} |"
        )


def main():
    warnings.simplefilter("ignore")
    real = {
        "bbc": bbc(),
        "minilm_bbc": embeddings(),
        **{name: counts(name) for name in ("classic3", "news4", "cstr")},
    }
    simulated = {
        name: lambda seed, given=given: sm.datasets.make_vmf_mixture(
            *given[:3], overlap=given[3], random_state=seed
        )[:2]
        for name, given in SIMULATIONS.items()
    }
    lines = ["# Calibration", "", "Made by `python benchmarks/calibration.py`.", *NOTE, ""]
    lines += ["## Real rows", "", *rows({k: lambda _, v=v: v for k, v in real.items()}), ""]
    lines += ["## Draws from the model", "", *rows(simulated)]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

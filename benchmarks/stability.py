"""What stability costs and what it says: real rows, and groups that are there or not.

Run as ``python benchmarks/stability.py``; it needs the folder of real data, named by
SPHEREMIX_DATA. It writes ``benchmarks/results/stability.md``. Times are of one thread.
"""

from __future__ import annotations

import gzip
import json
import time
import warnings

import numpy as np
from scipy.optimize import linear_sum_assignment
from timing import DATA, ROOT, machine

import spheremix as sm
from spheremix.text import TextVectorizer

TARGET = ROOT / "benchmarks" / "results" / "stability.md"
NOTE = [
    "Seconds of the processor, one thread. Fit: `VMFMixture` as it is by default (five runs of the",
    "search, four crossings, EM). Stability: `sm.stability` with 20 replicates. Stable: groups with",
    "a stability of .75 or more; dissolved: below .5. Wrong: share of the documents whose label is",
    "not that of their cluster (labels matched one to one), among the documents of stability 1,",
    "and among the others; only where K is the number of labels.",
]


def texts(name):
    with gzip.open(DATA / name / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def bbc():
    documents = texts("bbc_news")
    labels = np.unique([one["label"] for one in documents], return_inverse=True)[1]
    return TextVectorizer().fit_transform([one["text"] for one in documents]), labels


def embeddings():
    folder = DATA / "minilm_bbc"
    return np.load(folder / "embeddings.npy").astype(np.float64), np.load(folder / "labels.npy")


def filings():
    X = TextVectorizer().fit_transform([one["text"] for one in texts("sec8k_stanford")])
    return X[np.asarray(X.sum(axis=1)).ravel() > 0.0], None


def wrong(mixture, labels, stable):
    """Return the share of wrong documents among the stable ones and among the others."""
    common = np.zeros((len(mixture.weights_), labels.max() + 1))
    np.add.at(common, (mixture.labels_, labels), 1.0)
    names = linear_sum_assignment(common, maximize=True)[1]
    error = names[mixture.labels_] != labels
    return " | ".join(
        f"{error[one].mean():.3f} of {one.sum()}" for one in (stable == 1.0, stable < 1.0)
    )


def measured(name, X, labels, K):
    begin = time.process_time()
    mixture = sm.VMFMixture(K, random_state=0, n_threads=1).fit(X)
    middle = time.process_time()
    found = sm.stability(mixture, X)
    end = time.process_time()
    groups = found.groups
    two = (
        " | "
        if labels is None or labels.max() + 1 != K
        else wrong(mixture, labels, found.documents)
    )
    return (
        f"| {name}, K = {K} | {X.shape[0]} x {X.shape[1]} | {middle - begin:.1f} "
        f"| {end - middle:.1f} | {groups.min():.2f} | {np.median(groups):.2f} "
        f"| {np.sum(groups >= 0.75)} | {np.sum(groups < 0.5)} "
        f"| {found.documents.mean():.3f} | {two} |"
    )


def compared(name, X, K):
    """Compare the cost with that of the fits of an exploration that tries 2 to 20 groups."""
    begin = time.process_time()
    study = sm.VMFMixtureIC(
        range(2, 21), k_criterion="bic", paths="none", random_state=0, n_threads=1
    ).fit(X)
    middle = time.process_time()
    sm.stability(study.dense_models_[K], X)
    end = time.process_time()
    return f"| {name}, K = {K} | {middle - begin:.1f} | {end - middle:.1f} |"


def main():
    warnings.simplefilter("ignore")
    lines = [
        "# Stability",
        "",
        "Made by `python benchmarks/stability.py`.",
        *NOTE,
        "",
        machine(),
        "",
    ]
    head = "| rows | shape | fit | stability | least stable group | median | stable | dissolved "
    lines += [f"{head}| documents, mean | wrong, stable | wrong, others |", "|" + "---|" * 11]
    for name, (X, labels), sizes in (
        ("bbc", bbc(), (5, 18)),
        ("minilm_bbc", embeddings(), (5, 18)),
        ("sec8k_stanford", filings(), (12,)),
    ):
        lines += [measured(name, X, labels, K) for K in sizes]
    lines += ["", "Compared with the dense fits of 2 to 20 groups, without a path:", ""]
    lines += ["| rows | all fits | stability |", "|---|---|---|"]
    lines += [compared("bbc", bbc()[0], 18), compared("minilm_bbc", embeddings()[0], 18)]
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

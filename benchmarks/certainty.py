"""Stability said against fresh samples, the words for it against labels, and calibration.

Run as ``python benchmarks/certainty.py``, or with names of sets for these alone; it needs the
folder of real data, named by SPHEREMIX_DATA. What is measured is kept in
``benchmarks/results/certainty.json``, and ``certainty.md`` is written from it.

Every set is cut at random into three samples that share no document. A mixture is fitted to each
by its defaults, and its stability is measured. Then the mixtures of the two other samples, whole
fits to fresh documents, say of each document whether it stays. Methods were chosen on the sets of
CHOSEN; those of HELD took no part in it.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
import warnings

import numpy as np
import sets
from calibration import calibration_error, counts, excesses
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from timing import DATA, ROOT, machine

import spheremix as sm
from spheremix.reading.alignment import count_common
from spheremix.reading.stability import _there_again

STORE = ROOT / "benchmarks" / "results" / "certainty.json"
TARGET = STORE.with_suffix(".md")
MOST = 6000  # documents of a set
SAMPLES = 3
BINS = (0.0, 0.25, 0.5, 0.75, 0.9, 1.01)
WORDS = ("borderline", "probably", "clearly")
LIMITS = (0.0, 0.5, 0.75, 1.01)
LABELS = (50, 100, 200)
DRAWS = 10  # of labelled documents
CALIBRATED = 3000  # documents that posteriors are calibrated on
FEW = 20  # documents below which a share is not compared


def short(name):
    with gzip.open(DATA / "short" / f"{name}.tsv.gz", "rt", encoding="utf-8") as lines:
        pairs = [line.rstrip("\n").split("\t", 1) for line in lines]
    places = np.random.default_rng(0).permutation(len(pairs))[:MOST]
    texts = [pairs[i][1] for i in places]
    return sets.vectorized(texts), np.array([pairs[i][0] for i in places])


def dense(source):
    """Return texts in 100 dimensions, by singular values: rows that are not sparse."""
    X, labels = source()
    return TruncatedSVD(100, random_state=0).fit_transform(X), labels


def simulated(*shape, overlap):
    X, labels, _ = sm.datasets.make_vmf_mixture(*shape, overlap=overlap, random_state=1)
    return X, labels


SOURCES = {  # what they are made of, and the numbers of groups
    "cstr": (lambda: counts("cstr"), (4,)),
    "classic3": (lambda: counts("classic3"), (3, 10)),
    "stackoverflow": (lambda: short("stackoverflow"), (8, 20)),
    "stackoverflow, dense": (lambda: dense(lambda: short("stackoverflow")), (12, 20)),
    "20 newsgroups": (lambda: counts("ng20_bydate_cai"), (12,)),
    "20 newsgroups, dense": (lambda: dense(lambda: counts("ng20_bydate_cai")), (4, 12)),
    "poliblog": (lambda: counts("poliblog5k"), (5,)),
    "banking77": (lambda: short("banking77"), (12, 40)),
    "draws, d = 20": (lambda: simulated(4000, 20, 20, overlap=0.2), (10, 20)),
    "bbc": (lambda: sets.texts("bbc_news"), (5, 12)),
    "minilm_bbc": (sets.embeddings, (5, 12, 25)),
    "searchsnippets": (lambda: short("searchsnippets"), (8, 20)),
    "searchsnippets, dense": (lambda: dense(lambda: short("searchsnippets")), (4, 8)),
    "german": (lambda: sets.texts("german"), (4, 9)),
    "german, dense": (lambda: dense(lambda: sets.texts("german")), (9,)),
    "tweet": (lambda: short("tweet"), (12, 40)),
    "news4": (lambda: counts("news4"), (4,)),
    "docstrings": (sets.docstrings, (10,)),
    "sec8k": (lambda: sets.texts("sec8k_stanford"), (12,)),
    "draws, d = 30": (lambda: simulated(4000, 30, 8, overlap=0.1), (4, 8)),
    "draws, d = 200": (lambda: simulated(3000, 200, 6, overlap=0.1), (6, 12)),
}
CHOSEN = list(SOURCES)[:9]
HELD = list(SOURCES)[9:]
UNLABELLED = {"sec8k"}  # item codes are no groups of words


def load(name):
    """Return at most 6,000 rows of a set, at length one, and their labels as numbers."""
    X, labels = SOURCES[name][0]()
    labels = np.unique(labels, return_inverse=True)[1]
    sparsely = sparse.issparse(X)
    X = sparse.csr_array(X) if sparsely else np.asarray(X, dtype=np.float64)
    lengths = np.sqrt(np.asarray((X.multiply(X) if sparsely else X**2).sum(axis=1)).ravel())
    places = np.random.default_rng(0).permutation(np.flatnonzero(lengths > 1e-9))[:MOST]
    return X[places], labels[places]


def fit(X, K, seed):
    return sm.VMFMixture(K, random_state=seed, n_threads=1).fit(X)


def stays(labels, other, X, K):
    """Return which documents are with their group in the mixture of another sample."""
    found = other.predict(X)
    again = _there_again(count_common(labels, found, (K + 1, K + 1), None), K)
    return found == np.append(again, K)[labels]


def majority(groups, labels):
    """Return which documents have the most frequent label of their group."""
    common = np.zeros((groups.max() + 1, labels.max() + 1))
    np.add.at(common, (groups, labels), 1.0)
    return common.argmax(axis=1)[groups] == labels


def measured(X, labels, K):
    """Measure stability in each sample, and against the two others."""
    places = np.random.default_rng(11).permutation(X.shape[0])
    n = len(places) // SAMPLES
    parts = [np.sort(places[i * n : (i + 1) * n]) for i in range(SAMPLES)]
    begin = time.process_time()
    fits = [fit(X[part], K, seed) for seed, part in enumerate(parts)]
    middle = time.process_time()
    said = [sm.stability(one, X[part]).documents for one, part in zip(fits, parts, strict=True)]
    end = time.process_time()
    fresh, right, groups = [], [], []
    for i, (one, part) in enumerate(zip(fits, parts, strict=True)):
        others = [fits[j] for j in range(SAMPLES) if j != i]
        each = [stays(one.labels_, other, X[part], K) for other in others]
        fresh.append(np.mean(each, axis=0))
        right.append(majority(one.labels_, labels[part]))
        groups.append(one.labels_ + K * i)
    said, fresh, right, groups = (np.concatenate(each) for each in (said, fresh, right, groups))
    return {
        "n": n,
        "fit": (middle - begin) / SAMPLES,
        "stability": (end - middle) / SAMPLES,
        "said": float(said.mean()),
        "fresh": float(fresh.mean()),
        "bins": by_limits(said, BINS, said, fresh),
        "words": by_limits(said, LIMITS, right),
        "within": within(said, right, groups),
    }


def by_limits(values, limits, *others):
    """Return the number of values between limits, and the means of others there."""
    place = np.digitize(values, limits) - 1
    return [
        [
            int(np.sum(place == b)),
            *(float(o[place == b].mean()) for o in others if (place == b).any()),
        ]
        for b in range(len(limits) - 1)
    ]


def within(said, right, groups):
    """Return what each word gains over the one before it in the same group, on average."""
    place = np.digitize(said, LIMITS) - 1
    gains = []
    for low in range(len(WORDS) - 1):
        total, weights = 0.0, 0.0
        for k in np.unique(groups):
            pair = [right[(groups == k) & (place == word)] for word in (low, low + 1)]
            if all(map(len, pair)):
                weight = 1.0 / sum(1.0 / len(one) for one in pair)
                total += weight * (pair[1].mean() - pair[0].mean())
                weights += weight
        gains.append(total / weights if weights >= FEW / 4 else None)
    return gains


def posteriors(X, labels):
    """Return expected calibration errors at as many groups as labels."""
    X, labels = X[:CALIBRATED], np.unique(labels[:CALIBRATED], return_inverse=True)[1]
    n, K = len(labels), int(labels.max()) + 1
    mixture = fit(X, K, 0)

    def error(found, rows):
        groups = found.argmax(axis=1)
        common = np.zeros((K, K))
        np.add.at(common, (groups, labels), 1.0)
        each = excesses(found[rows], labels[rows], common.argmax(axis=1))
        return float(calibration_error(each))

    everywhere = np.arange(n)
    result = {
        "K": K,
        "right": float(majority(mixture.labels_, labels).mean()),
        "fitted": error(mixture.predict_proba(X), everywhere),
        "without": error(sm.calibrate(mixture, X).posteriors, everywhere),
    }
    rng = np.random.default_rng(0)
    for many in LABELS:
        errors = []
        for _ in range(DRAWS):
            known = rng.permutation(n)[: min(many, n // 2)]
            given = np.full(n, -1)
            given[known] = labels[known]
            found = sm.calibrate(mixture, X, labels=given).posteriors
            errors.append(error(found, np.setdiff1d(everywhere, known)))
        result[str(many)] = float(np.mean(errors))
    return result


def keep(name, key, value):
    """Add a result to those that are kept."""
    stored = json.loads(STORE.read_text("utf-8")) if STORE.exists() else {}
    stored.setdefault(name, {})[key] = value
    STORE.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    print(name, key, flush=True)


def main(names):
    warnings.simplefilter("ignore")
    for name in names or SOURCES:
        X, labels = load(name)
        known = json.loads(STORE.read_text("utf-8")).get(name, {}) if STORE.exists() else {}
        for K in SOURCES[name][1]:
            if str(K) not in known:
                keep(name, str(K), measured(X, labels, K))
        if name not in UNLABELLED and "posteriors" not in known:
            keep(name, "posteriors", posteriors(X, labels))
    TARGET.write_text("\n".join(written()) + "\n", encoding="utf-8")


def written():
    """Write the tables."""
    stored = json.loads(STORE.read_text("utf-8"))
    yield from ["# Certainty", "", "Made by `python benchmarks/certainty.py`.", "", machine(), ""]
    halves = {"Sets that methods were chosen on": CHOSEN, "Sets that took no part in it": HELD}
    for title, names in halves.items():
        there = {name: stored[name] for name in names if name in stored}
        yield from [f"## {title}", "", *stability_table(there), ""]
        yield from [*bin_table(there), "", *word_table(there), "", *posterior_table(there), ""]


def runs(stored):
    return [
        (name, K, one[str(K)])
        for name, one in stored.items()
        for K in SOURCES[name][1]
        if str(K) in one
    ]


def stability_table(stored):
    yield "Mean stability of the documents of a sample, said and in fresh samples; seconds of the"
    yield "processor of a fit and of its stability (one thread, busy machine)."
    yield from [
        "",
        "| set | n | K | said | fresh | difference | fit | stability |",
        "|" + "---|" * 8,
    ]
    differences = []
    for name, K, one in runs(stored):
        differences.append(one["said"] - one["fresh"])
        yield (
            f"| {name} | {one['n']} | {K} | {one['said']:.2f} | {one['fresh']:.2f} "
            f"| {differences[-1]:+.2f} | {one['fit']:.2f} | {one['stability']:.2f} |"
        )
    cost = sum(one["stability"] for *_, one in runs(stored)) / sum(
        one["fit"] for *_, one in runs(stored)
    )
    yield ""
    yield (
        f"Mean difference {np.mean(differences):+.3f}, mean absolute difference "
        f"{np.mean(np.abs(differences)):.3f}, largest {np.max(np.abs(differences)):.2f}; the "
        f"stability takes {cost:.1f} times the fit."
    )


def bin_table(stored):
    yield "By what was said, each mixture of 20 documents or more there counting once:"
    yield from [
        "",
        "| said | mixtures | documents | said, mean | fresh, mean | error |",
        "|" + "---|" * 6,
    ]
    for b, low in enumerate(BINS[:-1]):
        there = [one["bins"][b] for *_, one in runs(stored) if one["bins"][b][0] >= FEW]
        if there:
            n, said, fresh = np.array(there).T
            error = np.sqrt(np.mean((said - fresh) ** 2))
            high = "1" if b == len(BINS) - 2 else f"below {BINS[b + 1]:g}"
            yield (
                f"| {low:g} to {high} | {len(n)} | {n.sum():.0f} | {said.mean():.2f} "
                f"| {fresh.mean():.2f} | {error:.2f} |"
            )
    yield ""
    yield "Error: root of the mean squared difference of a mixture's documents there."


def word_table(stored):
    yield "Share of the documents with the most frequent label of their group. Large groups that"
    yield "hold several labels are often the most stable ones; so, too, what a word gains over the"
    yield "one before it among the documents of the same group, where there are enough of them:"
    head = (
        "| set | K | borderline | probably | clearly | in order | probably gains | clearly gains |"
    )
    yield from ["", head, "|" + "---|" * 8]
    for name, K, one in runs(stored):
        if name in UNLABELLED:
            continue
        shares = [share[1] for share in one["words"] if share[0] >= FEW]
        told = " | ".join(
            f"{share[1]:.2f} of {share[0]}" if share[0] >= FEW else f"({share[0]})"
            for share in one["words"]
        )
        gains = " | ".join("" if gain is None else f"{gain:+.2f}" for gain in one["within"])
        order = "yes" if shares == sorted(shares) else "no"
        yield f"| {name} | {K} | {told} | {order} | {gains} |"


def posterior_table(stored):
    yield "Expected calibration error in 15 bins of the largest posterior, K the number of labels;"
    yield "right: the label is the most frequent one of the group. With labels, of the other"
    yield f"documents, the mean of {DRAWS} draws of labelled ones."
    head = "| set | K | right | as fitted | without labels | 50 labels | 100 | 200 |"
    yield from ["", head, "|" + "---|" * 8]
    each = []
    for name, one in stored.items():
        found = one.get("posteriors")
        if found:
            keys = ("right", "fitted", "without", *map(str, LABELS))
            each.append([found[key] for key in keys])
            told = " | ".join(f"{value:.3f}" for value in each[-1])
            yield f"| {name} | {found['K']} | {told} |"
    if each:
        mean = " | ".join(f"{value:.3f}" for value in np.mean(each, axis=0))
        yield f"| mean | | {mean} |"


if __name__ == "__main__":
    main(sys.argv[1:])

"""Groups that are asked for, by five words or ten documents for each class.

Run as ``python benchmarks/seeds.py --save``; it needs the folder of real data, named by
SPHEREMIX_DATA, and topica 0.62 (``pip install topica``). It writes ``seeds.json`` in
``benchmarks/results`` and, from it, ``seeds.md``; names of sets run those and keep the others.

The classes of a random half of the documents are known. From them come the words of a class, the
five with the largest difference between the shares of its documents and of all others that have the
word, or ten documents of each class. All documents are grouped, and the other half is judged.
"""

from __future__ import annotations

import argparse
import json
import warnings
from dataclasses import dataclass

import numpy as np
import topica
from corpora import texts_of
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sets import short_texts
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.semi_supervised import LabelSpreading
from timing import DATA, ROOT

import spheremix as sm

FIGURES = ROOT / "benchmarks" / "results" / "seeds.json"
CHOOSING = ("20 newsgroups", "banking77", "classic3", "cstr")
JUDGED = ("bbc", "searchsnippets", "stackoverflow")
COUNTED = {"20 newsgroups": "ng20_bydate_cai", "classic3": "classic3", "cstr": "cstr"}
WEIGHTS = (0.05, 0.2, 0.5, 1.0, 2.0)
NEIGHBOURS = (7, 20, 50)
MOST, HALVES, WORDS, LABELLED = 5000, 5, 5, 10
INTRODUCTION = f"""\
By {WORDS} words or {LABELLED} documents for each class, of a random half of the documents; all are
grouped, and the other half is judged. Means of {HALVES} halves. Topica's models, with the number of
iterations that they have by default, have the first half alone: compare them in the last column.
LabelSpreading has the same vectors and the same documents as `labels`. Groups without seeds are
named by the best match with the judged classes. `python benchmarks/seeds.py --save`"""
HEAD = "| asked for by | groups mostly of their class | accuracy | ARI | NMI | ARI, first half |"
CHOICE = """\
ARI on the sets by which the default was chosen, and means over these sets of the share of groups
that are mostly of their class, and of the accuracy."""
MEASURES = ("own", "accuracy", "ari", "nmi")


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents as counts of words, and the class of each, a number."""

    counts: sparse.csr_array
    truth: np.ndarray

    @property
    def rows(self) -> sparse.csr_array:
        """The vectors that all but the topic models have, of length one."""
        return sparse.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(self.counts))

    @property
    def n_classes(self) -> int:
        """Classes are numbered from 0."""
        return int(self.truth.max()) + 1


def load(name: str) -> Documents:
    """Read a set, or a random part of a large one; documents without words are left out."""
    if name in COUNTED:
        given = sparse.csr_array(sparse.load_npz(DATA / COUNTED[name] / "X.npz"))
        labels = np.load(DATA / COUNTED[name] / "labels.npy")
    else:
        given, labels = texts_of("bbc_news") if name == "bbc" else short_texts(name)
    truth = np.unique(labels, return_inverse=True)[1]
    drawn = np.random.default_rng(0).permutation(len(truth))[:MOST]
    if name in COUNTED:
        counts = given[drawn]
    else:
        counts = sparse.csr_array(sm.text.TextVectorizer().fit_count([given[i] for i in drawn]))
    counts.indices, counts.indptr = (  # scikit-learn refuses 64 bits
        one.astype(np.int32) for one in (counts.indices, counts.indptr)
    )
    kept = np.diff(counts.indptr) > 0
    return Documents(counts[kept], truth[drawn][kept])


def words_of_classes(documents: Documents, known: np.ndarray) -> list[list[int]]:
    """Return the columns of the words of each class, by the documents whose class is known."""
    there, truth = documents.counts[known] > 0, documents.truth[known]
    found = []
    for k in range(documents.n_classes):
        inside = there[truth == k].mean(axis=0) - there[truth != k].mean(axis=0)
        found.append(np.argsort(-inside, kind="stable")[:WORDS].tolist())
    return found


def some_labels(documents: Documents, known: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Return the classes of a few known documents of each class, -1 for all others."""
    labels = np.full(len(documents.truth), -1)
    for k in range(documents.n_classes):
        own = draw.choice(known[documents.truth[known] == k], LABELLED, replace=False)
        labels[own] = k
    return labels


def topic_models(documents: Documents, seeds: list[list[int]]) -> dict[str, np.ndarray]:
    """Return the largest topic of each document, of topica's models with their own settings."""
    counts = documents.counts
    tokens = np.array([f"w{j}" for j in range(counts.shape[1])])
    each = zip(counts.indptr, counts.indptr[1:], strict=False)
    texts = [tokens[np.repeat(counts.indices[a:b], counts.data[a:b])].tolist() for a, b in each]
    words = {str(k): tokens[own].tolist() for k, own in enumerate(seeds)}
    found = {"topica, keyATM": topica.KeyATM(words), "topica, seeded LDA": topica.SeededLDA(words)}
    for model in found.values():
        model.fit(texts)
    return {name: np.asarray(model.doc_topic).argmax(axis=1) for name, model in found.items()}


def spread(rows: sparse.csr_array, labels: np.ndarray) -> dict[str, np.ndarray]:
    """Return what scikit-learn makes of a few labels, with each number of neighbours."""
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for n in NEIGHBOURS:
            model = LabelSpreading(kernel="knn", n_neighbors=n).fit(rows, labels)
            found[f"LabelSpreading, {n} neighbours"] = model.transduction_
    return found


def measure(found: np.ndarray, truth: np.ndarray, K: int) -> dict[str, float]:
    """Judge groups whose numbers are those of their classes."""
    table = np.zeros((K, K))
    np.add.at(table, (found, truth), 1.0)
    return {
        "own": float(np.mean(table.argmax(axis=1) == np.arange(K))),
        "accuracy": float(np.trace(table) / len(truth)),
        "ari": float(adjusted_rand_score(truth, found)),
        "nmi": float(normalized_mutual_info_score(truth, found)),
    }


def groups(documents: Documents, half: int, *, peers: bool) -> dict[str, dict[str, float]]:
    """Return the measures of each method, with words and labels of one half."""
    truth, rows, K = documents.truth, documents.rows, documents.n_classes
    draw = np.random.default_rng(half + 1)
    known, judged = np.array_split(draw.permutation(len(truth)), 2)
    words, labels = words_of_classes(documents, known), some_labels(documents, known, draw)
    free = sm.VMFMixture(K, random_state=half).fit(rows).labels_
    table = np.zeros((K, K))
    np.add.at(table, (free[judged], truth[judged]), 1.0)
    found = {"nothing, names afterwards": linear_sum_assignment(table, maximize=True)[1][free]}
    for weight in WEIGHTS:
        mix = sm.VMFMixture(K, seeds=words, seed_weight=weight, random_state=half).fit(rows)
        found[f"words, weight {weight:g}"] = mix.labels_
    if peers and half == 0:  # takes minutes
        found |= topic_models(documents, words)
    for weight in WEIGHTS:
        mix = sm.VMFMixture(K, seed_weight=weight, random_state=half).fit(rows, labels=labels)
        found[f"labels, weight {weight:g}"] = mix.labels_
    if peers:
        found |= spread(rows, labels)
    return {name: measure(own[judged], truth[judged], K) for name, own in found.items()}


def run(name: str) -> dict:
    """Return the size of a set, and the measures of each method, one value for each half."""
    documents = load(name)
    n, d = documents.counts.shape
    each = [groups(documents, half, peers=name in JUDGED) for half in range(HALVES)]
    found = {
        row: {key: [one[row][key] for one in each if row in one] for key in MEASURES}
        for row in each[0]
    }
    return {"documents": n, "words": d, "classes": documents.n_classes, "found": found}


def tables(figures: dict) -> str:
    """Return the tables, as Markdown."""
    lines = [
        "# Groups that were asked for",
        "",
        INTRODUCTION,
    ]
    for name in JUDGED:
        size, found = figures[name], figures[name]["found"]
        lines += [
            "",
            f"## {name}",
            "",
            f"{size['documents']:,} documents, {size['words']:,} words, {size['classes']} classes.",
            "",
            HEAD,
            "|" + "---|" * 6,
        ]
        for row, own in found.items():
            values = " | ".join(f"{np.mean(own[key]):.3f}" for key in MEASURES)
            lines.append(f"| {row} | {values} | {own['ari'][0]:.3f} |")
    lines += [
        "",
        "## The weight",
        "",
        CHOICE,
        "",
        "| asked for by | " + " | ".join(CHOOSING) + " | mean | groups | accuracy |",
        "|" + "---|" * (len(CHOOSING) + 4),
    ]
    for row in figures[CHOOSING[0]]["found"]:
        each = [figures[name]["found"][row] for name in CHOOSING]
        ari = [float(np.mean(own["ari"])) for own in each]
        others = [np.mean([np.mean(own[key]) for own in each]) for key in ("own", "accuracy")]
        values = [*ari, np.mean(ari), *others]
        lines.append(f"| {row} | " + " | ".join(f"{value:.3f}" for value in values) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, and print or save."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", help="all of them unless some are named")
    parser.add_argument("--save", action="store_true", help=f"write {FIGURES.name} and its tables")
    arguments = parser.parse_args()
    figures = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {}
    for name in arguments.sets or (*CHOOSING, *JUDGED):
        figures[name] = run(name)
        if arguments.save:
            FIGURES.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    if {*CHOOSING, *JUDGED} <= figures.keys():
        text = tables(figures)
        print(text)
        if arguments.save:
            FIGURES.with_suffix(".md").write_text(text, "utf-8")


if __name__ == "__main__":
    main()

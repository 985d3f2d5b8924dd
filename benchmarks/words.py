"""How well the words of clusters describe them, ours and those of other methods.

Run as ``python benchmarks/words.py``; it needs the folder of real data, named by SPHEREMIX_DATA,
and writes ``benchmarks/results/words.json`` and, from it, the tables of ``words.md``. Cases such as
"bbc-5" run those and keep the others; ``--rankings`` compares rankings of the words of our clusters
on the same fits, and writes ``word_rankings.json`` and ``word_rankings.md`` instead.
``benchmarks/intrusion.py`` asks readers.

Ten words of each cluster are measured. NPMI: normalised pointwise mutual information of two words,
by the documents of the corpus that contain both, mean over the pairs of a cluster and over
clusters; -1 for two words that never meet. Diversity: different words among all of them. Coverage:
share of the cluster's documents that contain a word, mean over words and clusters. All methods have
the same words, documents and number of clusters.
"""

from __future__ import annotations

import argparse
import gzip
import json
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer
from timing import DATA, ROOT

import spheremix as sm
from spheremix.reading import Reading, word_shares
from spheremix.reading.names import naming_words
from spheremix.reading.words import expected_shares

if TYPE_CHECKING:
    from pathlib import Path

FIGURES = ROOT / "benchmarks" / "results" / "words.json"
RANKED = FIGURES.with_stem("word_rankings")
STEP = 0.05  # least relative increase of beta from one step of the path to the next
LISTED = 10  # words of a cluster that are measured
NAMED = 3  # words of a name
OURS = "spheremix, characteristic words"


@dataclass(frozen=True, eq=False)
class Texts:
    """Documents as counts of words."""

    counts: sparse.csr_array
    words: list[str]

    @property
    def rows(self) -> sparse.csr_array:
        """The matrix that is clustered: tf-idf with logarithmic counts, rows of length one."""
        return sparse.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(self.counts))


def load_texts(name: str) -> Texts:
    """Read a corpus, its words chosen by the defaults of the library."""
    if name in {"docstrings", "docstrings_prose"}:
        return vectorized(sm.datasets.load_docstrings(prose=name != "docstrings").texts)
    folder = DATA / {"bbc": "bbc_news", "sec8k": "sec8k_stanford"}.get(name, name)
    if (folder / "docs.jsonl.gz").exists():
        with gzip.open(folder / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
            return vectorized([json.loads(line)["text"] for line in lines])
    counts = sparse.csr_array(sparse.load_npz(folder / "X.npz"))
    vocabulary = folder / "vocabulary.txt"
    words = [f"column{j}" for j in range(counts.shape[1])]
    if vocabulary.exists():
        words = vocabulary.read_text("utf-8").splitlines()
    return Texts(counts[np.diff(counts.indptr) > 0], words)


def vectorized(texts: list[str]) -> Texts:
    """Count words as the library does by default; documents without a word are left out."""
    vectorizer = sm.text.TextVectorizer()
    counts = sparse.csr_array(vectorizer.fit_count(texts))
    counts.indices, counts.indptr = (  # scikit-learn's k-means refuses 64 bits
        one.astype(np.int32) for one in (counts.indices, counts.indptr)
    )
    return Texts(counts[np.diff(counts.indptr) > 0], [str(word) for word in vectorizer.vocabulary_])


CASES = {
    "bbc-5": ("bbc", 5),
    "bbc-18": ("bbc", 18),
    "poliblog5k-12": ("poliblog5k", 12),
    "sec8k-15": ("sec8k", 15),
    "docstrings-10": ("docstrings", 10),
    "docstrings-25": ("docstrings", 25),
    "docstrings_prose-10": ("docstrings_prose", 10),
    "docstrings_prose-22": ("docstrings_prose", 22),
    "docstrings_prose-25": ("docstrings_prose", 25),
    "ng20-20": ("ng20_bydate_cai", 20),
}


# ------------------------------------------------------------------------------------- measures


def measure(
    counts: sparse.csr_array, words: list[list[int]], names: list[list[int]], shares: np.ndarray
) -> dict:
    """Measure lists of words of all clusters, and their names."""
    lists = [several[:LISTED] for several in words]
    return {
        "npmi": float(sm.metrics.npmi(lists, counts).mean()),
        "diversity": sm.metrics.diversity(lists),
        "coverage": float(np.mean([shares[k, several].mean() for k, several in enumerate(lists)])),
        "names": float(sm.metrics.npmi(names, counts).mean()),
    }


# -------------------------------------------------------------------------------------- methods


def top(scores: np.ndarray) -> list[list[int]]:
    """Return the columns of the largest scores of each row, the largest first."""
    return [np.argsort(-row, kind="stable")[:LISTED].tolist() for row in scores]


def peers(texts: Texts, K: int) -> dict[str, tuple[list[list[int]], np.ndarray]]:
    """Return the words of each cluster, and the labels, of the other methods."""
    counts = texts.counts
    components, largest = factors(texts, K)
    lda = LatentDirichletAllocation(K, random_state=0, max_iter=30, learning_method="batch")
    topics = lda.fit_transform(counts)
    kmeans = KMeans(K, n_init=10, random_state=0).fit(texts.rows)
    return {
        "NMF": (top(components), largest),
        "LDA": (top(lda.components_), topics.argmax(axis=1)),
        "k-means, centroid": (top(kmeans.cluster_centers_), kmeans.labels_),
        "k-means, c-TF-IDF": (top(class_tfidf(counts, kmeans.labels_, K)), kmeans.labels_),
    }


def factors(texts: Texts, K: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the components of NMF, and the largest one of each document."""
    nmf = NMF(K, init="nndsvda", random_state=0, max_iter=400)
    parts = nmf.fit_transform(texts.rows)
    return nmf.components_, parts.argmax(axis=1)


def class_tfidf(counts: sparse.csr_array, labels: np.ndarray, K: int) -> np.ndarray:
    """Weigh words as in BERTopic: frequency in the class times log(1 + words a class / frequency).

    Grootendorst, "BERTopic", arXiv 2203.05794.
    """
    inside = sm.reading.group_counts(counts, labels, n_groups=K)
    per_class = inside.sum() / K
    weights: np.ndarray = (
        inside
        / np.maximum(inside.sum(axis=1, keepdims=True), 1.0)
        * np.log1p(per_class / np.maximum(inside.sum(axis=0), 1.0))
    )
    return weights


def fit(texts: Texts, K: int) -> Reading:
    """Fit sparse prototypes as the command does, by a path of fewer steps."""
    path = sm.VMFPath(K, relaxed=True, min_relative_increase=STEP, random_state=0).fit(texts.rows)
    return Reading(path, texts.words, X=texts.rows)


def ours(reading: Reading) -> tuple[list[list[int]], list[list[int]]]:
    """Return ten characteristic words of each cluster, and the words of its name."""
    vocabulary = reading.vocabulary
    words = [[one.feature for one in vocabulary.words(k, LISTED)] for k in range(reading.n_groups)]
    names = [[one.feature for one in name] for name in naming_words(vocabulary, NAMED)]
    return words, names


def compare(name: str, K: int) -> dict[str, dict]:
    """Measure all methods on one corpus."""
    texts = load_texts(name)
    reading = fit(texts, K)
    words, names = ours(reading)
    found = {OURS: measure(texts.counts, words, names, reading.vocabulary.document_shares)}
    for method, (listed, labels) in peers(texts, K).items():
        shares = word_shares(texts.counts, labels, n_groups=K)
        found[method] = measure(texts.counts, listed, [one[:NAMED] for one in listed], shares)
    found[OURS] |= {"n_documents": texts.counts.shape[0], "n_words": len(texts.words)}
    return found


# ------------------------------------------------------------------------------------- rankings


def rankings(texts: Texts, reading: Reading) -> dict[str, np.ndarray]:
    """Score the words of our clusters in several ways, on the same fit."""
    vocabulary, labels, K = reading.vocabulary, reading.model.labels_, reading.n_groups
    mu = np.abs(reading.prototypes)
    share = expected_shares(mu, vocabulary.masses)
    equal = expected_shares(mu)
    sums = sm.reading.group_counts(texts.rows, labels, n_groups=K)
    means = sums / np.maximum(np.bincount(labels, minlength=K), 1)[:, None]
    M = reading.scorer.matrix
    others = np.array([np.delete(M, k, axis=0).max(axis=0) for k in range(K)])
    rank = lambda values: values.argsort(axis=1).argsort(axis=1) / values.shape[1]  # noqa: E731
    frex = 1.0 / (0.5 / (rank(np.where(mu > 0, share, 0)) + 1e-9) + 0.5 / (rank(mu) + 1e-9))
    alone = (mu > 0) & (vocabulary.n_sharing == 1)
    return {
        "weight": mu,
        "own words by weight": np.where(alone, 1.0 + mu, mu * 1e-3),
        "c-TF-IDF of our labels": class_tfidf(texts.counts, labels, K),
        "weight x share": mu * share,
        "weight^1.5 x share": mu**1.5 * share,
        "weight^2 x share": mu**2 * share,
        "weight^2 x share, equal masses": mu**2 * equal,
        "weight^2 x share^2": mu**2 * share**2,
        "weight^2 x sqrt share": mu**2 * share**0.5,
        "weight x share x document share": mu * share * vocabulary.document_shares,
        "document share x share of the documents": vocabulary.document_shares
        * expected_shares(vocabulary.document_shares, np.bincount(labels, minlength=K)),
        "mean exact term against the best other": means * (M - others),
        "FREX (0.5)": np.where(mu > 0, frex, 0.0),
    }


def compare_rankings(name: str, K: int) -> dict[str, dict]:
    """Measure several rankings of the words of our clusters."""
    texts = load_texts(name)
    reading = fit(texts, K)
    shares = reading.vocabulary.document_shares
    found = {}
    for method, scores in rankings(texts, reading).items():
        listed = top(scores)
        found[method] = measure(texts.counts, listed, [one[:NAMED] for one in listed], shares)
    return found


# --------------------------------------------------------------------------------------- tables

HEADS = {
    FIGURES: [
        "# Words of clusters",
        "",
        "Ten words of each cluster, three of each name; `python benchmarks/words.py` says how they",
        "are measured. Same documents, words and number of clusters for all methods.",
    ],
    RANKED: [
        "# Rankings of the words of our clusters",
        "",
        "Ten words of each cluster, ranked in several ways on the same fits;",
        "`python benchmarks/words.py --rankings` says how they are measured. The library ranks by",
        "weight^1.5 x share. NPMI of names: of the first three words, which are not the names that",
        "the library gives.",
    ],
}
REMARKS = {
    "ng20-20": [
        "Why the words of NMF go together better here: [word_partitions.md](word_partitions.md).",
    ]
}


def table(found: dict[str, dict]) -> list[str]:
    """Write the measures of one case; the best of the other methods in NPMI is said below."""
    lines = ["| words of | NPMI | diversity | coverage | NPMI of names |", "|---|---|---|---|---|"]
    for method, one in found.items():
        cells = [f"{one[key]:.3f}" for key in ("npmi", "diversity", "coverage", "names")]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return lines


def page(target: Path, figures: dict[str, dict]) -> str:
    """Write the results of all cases."""
    lines = list(HEADS[target])
    for case, found in figures.items():
        name, K = CASES[case]
        lines += ["", f"## {name}, K = {K}", ""]
        if OURS in found:
            about = found[OURS]
            lines += [f"{about['n_documents']:,} documents, {about['n_words']:,} words.", ""]
        lines += table(found)
        if OURS in found and case in REMARKS:
            lines += ["", *REMARKS[case]]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the cases that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", choices=[[], *CASES], metavar="case")
    parser.add_argument("--rankings", action="store_true", help="rankings of our words, no others")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    target, measure = (RANKED, compare_rankings) if arguments.rankings else (FIGURES, compare)
    known = json.loads(target.read_text("utf-8")) if target.exists() else {}
    for case in arguments.cases or CASES:
        known[case] = measure(*CASES[case])
        print(f"{case}\n" + "\n".join(table(known[case])), flush=True)
        ordered = {one: known[one] for one in CASES if one in known}
        target.write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")
        target.with_suffix(".md").write_text(page(target, ordered), "utf-8")


if __name__ == "__main__":
    main()

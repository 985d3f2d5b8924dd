"""Whether words go together because of the clusters, or because of the ranking of words.

Run as ``python benchmarks/word_partitions.py``; it needs the folder of real data, named by
SPHEREMIX_DATA, and writes ``benchmarks/results/word_partitions.md``. Cases such as "bbc-5" run
those and keep the others. The same rankings of words are measured on several partitions of the same
documents: our clusters, those of NMF (the largest factor of a document), those of k-means, and the
classes that people gave. ``benchmarks/words.py`` says how words are measured.
"""

from __future__ import annotations

import argparse
import gzip
import json
import warnings

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from timing import DATA, ROOT
from words import CASES, NAMED, Texts, class_tfidf, factors, fit, load_texts, measure, top

import spheremix as sm
from spheremix.text.selection import Frequencies, Thresholds

FIGURES = ROOT / "benchmarks" / "results" / "word_partitions.json"
TARGET = FIGURES.with_suffix(".md")
BOUNDED = "ng20-20-bounded"
SHOWN = ("bbc-5", "ng20-20", BOUNDED)
FIXED = 6  # rarest words of a factor of NMF that documents may have all together


def load(case: str) -> tuple[Texts, np.ndarray, int]:
    """Return the documents as counts, their classes, and the number of clusters."""
    name, K = CASES[case.removesuffix("-bounded")]
    texts = load_texts(name)
    if name == "bbc":
        with gzip.open(DATA / "bbc_news" / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
            labels = [json.loads(line)["label"] for line in lines]
    else:
        labels = np.load(DATA / name / "labels.npy").tolist()
    if case == BOUNDED:
        texts = within_bounds(texts)
    if len(labels) != texts.counts.shape[0]:
        raise ValueError(f"{case}: there are {len(labels)} classes for other documents.")
    return texts, np.unique(labels, return_inverse=True)[1], K


def within_bounds(texts: Texts) -> Texts:
    """Leave out rare and common words, as the library does by default with texts."""
    bounds = Thresholds.choose(texts.counts.shape[0], None, None, None)
    kept, _ = bounds.survivors(Frequencies.of(texts.counts))
    counts = sparse.csr_array(texts.counts[:, kept])
    return Texts(counts[np.diff(counts.indptr) > 0], [texts.words[j] for j in kept])


def rankings(texts: Texts, labels: np.ndarray, K: int) -> dict[str, np.ndarray]:
    """Score the words of a partition in three ways."""
    sums = sm.reading.group_counts(texts.rows, labels, n_groups=K)
    lengths = np.linalg.norm(sums, axis=1)
    prototypes = sums / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    return {
        "characteristic": sm.reading.characteristic_scores(prototypes, lengths),
        "mean direction": prototypes,
        "c-TF-IDF": class_tfidf(texts.counts, labels, K),
    }


def compare(case: str) -> dict:
    """Measure rankings of words on partitions of one corpus."""
    texts, classes, K = load(case)
    components, largest = factors(texts, K)
    partitions = {
        "spheremix": fit(texts, K).model.labels_,
        "NMF": largest,
        "k-means": KMeans(K, n_init=10, random_state=0).fit(texts.rows).labels_,
        "classes": classes,
    }
    rows = []
    for name, labels in partitions.items():
        ways = rankings(texts, labels, K)
        if name == "NMF":
            ways["its own"] = components
        shares = sm.reading.word_shares(texts.counts, labels, n_groups=K)
        sizes = np.bincount(labels, minlength=K)
        for way, scores in ways.items():
            words = top(scores)
            each = sm.metrics.npmi(words, texts.counts)
            found = measure(texts.counts, words, [one[:NAMED] for one in words], shares)
            found["weighted"] = float(each @ sizes / sizes.sum())
            found["ari"] = float(adjusted_rand_score(classes, labels))
            rows.append([name, way, found])
    n, n_words = texts.counts.shape
    return {"n": n, "words": n_words, "rows": rows, "fixed": fixed_texts(texts.counts, components)}


def fixed_texts(counts: sparse.csr_array, components: np.ndarray) -> list[list]:
    """Count the documents that have all of the rarest of the ten words of each factor."""
    has = sparse.csc_array((counts > 0).astype(np.float64))
    frequency = has.mean(axis=0)
    found = []
    for words in top(components):
        rarest = sorted(words, key=lambda j: frequency[j])[:FIXED]
        together = np.asarray(has[:, rarest].sum(axis=1)).ravel()
        most = round(frequency[rarest].max() * has.shape[0])
        found.append(
            [float(sm.metrics.npmi([words], counts)[0]), int(np.sum(together == FIXED)), most]
        )
    return sorted(found, reverse=True)


def page(figures: dict[str, dict]) -> str:
    """Write the results of all cases."""
    lines = [
        "# Words of clusters: the clusters, or the ranking?",
        "",
        "`python benchmarks/word_partitions.py`. Ten words of each cluster, ranked in the same",
        "ways on several partitions of the same documents. NPMI is a mean over clusters; weighted,",
        "a mean over documents. ARI: agreement of the partition with the classes that people gave.",
    ]
    for case, one in figures.items():
        lines += ["", f"## {case}", "", f"{one['n']:,} documents, {one['words']:,} words.", ""]
        lines += ["| clusters of | ARI | ranking | NPMI | weighted | diversity | coverage |"]
        lines += ["|---" * 7 + "|"]
        for name, way, row in one["rows"]:
            cells = [f"{row[key]:.3f}" for key in ("npmi", "weighted", "diversity", "coverage")]
            lines.append(f"| {name} | {row['ari']:.3f} | {way} | {' | '.join(cells)} |")
        lines += [
            "",
            "The four factors of NMF whose words go together best, and the documents that have all",
            f"of the {FIXED} rarest of their ten words. If they are most of the documents with",
            "one of these words, the factor is a text that is repeated, such as a signature.",
            "",
            f"| NPMI of a factor | documents with all {FIXED} | with the most frequent of them |",
            "|---|---|---|",
        ]
        lines += [f"| {npmi:.3f} | {n_all} | {most} |" for npmi, n_all, most in one["fixed"][:4]]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the cases that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", choices=[[], *SHOWN], metavar="case")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    known = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {}
    for case in arguments.cases or SHOWN:
        known[case] = compare(case)
        ordered = {one: known[one] for one in SHOWN if one in known}
        FIGURES.write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")
        TARGET.write_text(page(ordered), "utf-8")
    print(TARGET.read_text("utf-8"))


if __name__ == "__main__":
    main()

"""What the files of a run are, and what their columns mean: README.txt of the folder."""

from __future__ import annotations

import textwrap
from itertools import groupby
from typing import TYPE_CHECKING

from spheremix.select import CRITERIA

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

WIDTH = 92
CLUSTER = "Number of the cluster, from 0; clusters keep it everywhere."
CRITERION = "Information criterion; smaller is better."
TABLES: dict[str, tuple[str, dict[str, str]]] = {
    "documents.csv": (
        "One row a document, in the order of the file.",
        {
            "id": "Id of the document, or its number from 1.",
            "cluster": "Its most probable cluster; empty for a document set aside.",
            "name": "The name of this cluster.",
            "posterior": "Probability of this cluster. Most are 1 to the last digit, of one-word "
            "texts too: that is what the model says, not how sure one should be. Compare by "
            "log_odds and cosine.",
            "margin": "By how much the posterior exceeds that of the runner-up.",
            "runner_up": "The next cluster; empty where there is only one.",
            "log_odds": "Log of the ratio of the two posteriors; near 0, the document sits between "
            "two clusters.",
            "cosine": "With the prototype of the cluster: how typical the document is, up to 1.",
            "set_aside": "Why the document has no cluster; empty where it has one.",
        },
    ),
    "clusters.csv": (
        "One row a cluster, the largest weight first.",
        {
            "cluster": CLUSTER,
            "name": "Words that name it: own ones first, if they weigh enough.",
            "size": "Documents of which it is the most probable cluster.",
            "weight": "Its share in the mixture.",
            "kappa": "Its concentration: how near its documents are to the prototype.",
            "n_words": "Words (or columns) of its prototype.",
            "n_own_words": "Those that no other prototype has.",
            "own_words": "The 20 of them of the largest weight.",
            "shared_words": "The 20 heaviest of those it has in common with some other clusters. "
            "Words of all clusters are in neither list: see n_clusters in words.csv.",
            "contrast_words": "For embeddings with texts: 20 words that set its documents apart.",
        },
    ),
    "words.csv": (
        "One row a word of a cluster, the heaviest ones first.",
        {
            "cluster": CLUSTER,
            "word": "The word; x0, x1, ... for columns without names.",
            "feature": "Number of its column, from 0.",
            "weight": "Coordinate of the prototype.",
            "exit_beta": "The penalty from which the cluster does without it; inf where it never "
            "does.",
            "n_clusters": "How many clusters have the word: 1 for an own word.",
            "rank": "In the cluster, from 1, by the absolute weight.",
        },
    ),
    "tables/typical.csv": (
        "The documents nearest to each prototype; of those with the same text, one.",
        {
            "cluster": CLUSTER,
            "rank": "From 1, the nearest first.",
            "id": "Id of the document.",
            "cosine": "With the prototype.",
            "text": "How the document begins; empty where there are no texts.",
        },
    ),
    "tables/contrast.csv": (
        "For embeddings with texts: words that the documents of a cluster use more than the rest.",
        {
            "cluster": CLUSTER,
            "rank": "From 1, the largest z first.",
            "word": "The word.",
            "z": "Standardised log-odds ratio of its frequencies; beyond 2, hardly by chance.",
            "count": "Occurrences in the cluster.",
            "share": "Of all occurrences, those in the cluster.",
        },
    ),
    "tables/dense.csv": (
        "The mixtures without penalty, one row a number of clusters that was tried.",
        {
            "n_components": "Number of clusters.",
            "log_likelihood": "Of all documents.",
            "n_nonzero": "Non-zero coordinates of the prototypes.",
            "n_converged": "Starts that converged.",
            "agreement": "Mean adjusted Rand index of the other starts with the best one: 1 where "
            "all give the same clusters; nan with one start.",
            **dict.fromkeys(CRITERIA, CRITERION),
        },
    ),
    "tables/path.csv": (
        "The steps of the path, from dense prototypes to sparse ones.",
        {
            "step": "From 0.",
            "beta": "The penalty.",
            "n_nonzero": "Non-zero coordinates of the prototypes.",
            "sparsity": "Share of zeros among the coordinates.",
            "log_likelihood": "Of all documents, without the penalty.",
            **dict.fromkeys(CRITERIA, CRITERION),
            "n_iter": "Iterations of EM.",
            "status": "How EM ended.",
            "selected": "1 for the step that was chosen, else 0.",
        },
    ),
    "tables/labels.csv": (
        "Clusters against the labels, which were compared and never used.",
        {
            "cluster": CLUSTER,
            "label": "The label.",
            "documents": "Documents of the cluster with the label.",
            "share_of_cluster": "Of the documents of the cluster.",
            "share_of_label": "Of the documents with the label.",
        },
    ),
    "tables/time.csv": (
        "Clusters by month, or by year where there are more than 60 months.",
        {
            "cluster": CLUSTER,
            "period": "As 2024-05, or 2024.",
            "documents": "Documents of the cluster.",
        },
    ),
}
OTHERS = {
    "report.html, report.json": "The page of the run, and what it shows, as data.",
    "figures/": "Maps of prototypes and data, to print, and what else the run has: words, path, "
    "criteria, labels, time.",
    "run.json": "Options, versions, seed and checksums: what it takes to repeat the run.",
    "matrix/, kept.npy": "The rows that were clustered, and their documents (from 0).",
    "vocabulary.txt, idf.npy": "Words of the columns, and their weights in tf-idf.",
    "terms.txt, counts/": "Words counted beside embeddings, and how often each document has them.",
    "corpus.jsonl.gz": "The documents: id, text, date, labels.",
    "dense/, path/": "The models, as arrays; path/ where a path was followed.",
}
HEAD = """A run of spheremix explore. In Python, spheremix.load_run gives back its models; on the
command line, spheremix assign clusters new documents with it. Numbers in the tables have six
significant digits, or three decimals where those are more; the arrays have all digits. Texts that a
spreadsheet would run as formulas (=, +, -, @ first) have an apostrophe before them.
"""


def legend(tables: Mapping[str, list[str]]) -> Iterator[str]:
    """Explain the tables of a run, column by column, and its other files, in lines."""
    yield HEAD
    for name, columns in tables.items():
        about, meanings = TABLES[name]
        yield f"\n{name}\n  {about}\n"
        alike = groupby(columns, key=meanings.__getitem__)
        yield from _entries({", ".join(several): meaning for meaning, several in alike})
    yield "\nOther files\n"
    yield from _entries(OTHERS)


def _entries(meanings: Mapping[str, str]) -> Iterator[str]:
    width = max(map(len, meanings)) + 2
    indent = " " * (width + 2)
    for name, meaning in meanings.items():
        lines = textwrap.fill(meaning, WIDTH, initial_indent=indent, subsequent_indent=indent)
        yield f"  {name:{width}}{lines.lstrip()}\n"

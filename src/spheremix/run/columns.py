"""The tables and files of a run: every file and column, once, with its meaning.

Tables are written and read by this description; README.txt of the folder of a run and the page
about it in the documentation are made of it.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from spheremix._files import MANIFEST
from spheremix.select import CRITERIA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

WIDTH = 92
CLUSTER = "Number of the cluster, from 0; a cluster has the same number everywhere."


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: what it means, and of which type its values are."""

    meaning: str
    kind: type[int | float | str] = str


@dataclass(frozen=True, slots=True)
class TableSchema:
    """A table of a run."""

    file: str
    about: str
    columns: Mapping[str, Column]


CRITERION_COLUMNS = dict.fromkeys(
    CRITERIA, Column("Information criterion; smaller is better.", float)
)
TABLES: dict[str, TableSchema] = {
    "documents": TableSchema(
        "documents.csv",
        "One row a document, in the order of the file.",
        {
            "id": Column("Id of the document, or its number from 1."),
            "cluster": Column("Its most probable cluster; empty for a document set aside.", int),
            "name": Column("The name of this cluster."),
            "posterior": Column(
                "Probability of this cluster. Most are 1 to the last digit, of one-word texts "
                "too: that is what the model says, not how sure one should be. Compare by "
                "log_odds and cosine.",
                float,
            ),
            "margin": Column("By how much the posterior exceeds that of the runner-up.", float),
            "runner_up": Column("The next cluster; empty where there is only one.", int),
            "log_odds": Column(
                "Log of the ratio of the two posteriors; near 0, the document sits between two "
                "clusters.",
                float,
            ),
            "cosine": Column(
                "With the prototype of the cluster: how typical the document is, up to 1.", float
            ),
            "set_aside": Column("Why the document has no cluster; empty where it has one."),
        },
    ),
    "clusters": TableSchema(
        "clusters.csv",
        "One row a cluster, the largest weight first.",
        {
            "cluster": Column(CLUSTER, int),
            "name": Column("Words that name it: own ones first, if they weigh enough."),
            "size": Column("Documents of which it is the most probable cluster.", int),
            "weight": Column("Its share in the mixture.", float),
            "kappa": Column(
                "Its concentration: how near its documents are to the prototype.", float
            ),
            "n_words": Column("Words (or columns) of its prototype.", int),
            "n_own_words": Column("Those that no other prototype has.", int),
            "own_words": Column("The 20 of them of the largest weight."),
            "shared_words": Column(
                "The 20 heaviest of those it has in common with some other clusters. Words of "
                "all clusters are in neither list: see n_clusters in words.csv."
            ),
            "contrast_words": Column(
                "For embeddings with texts: 20 words that set its documents apart."
            ),
        },
    ),
    "words": TableSchema(
        "words.csv",
        "One row a word of a cluster, the heaviest ones first.",
        {
            "cluster": Column(CLUSTER, int),
            "word": Column("The word; x0, x1, ... for columns without names."),
            "feature": Column("Number of its column, from 0.", int),
            "weight": Column("Coordinate of the prototype.", float),
            "exit_beta": Column(
                "The penalty from which the cluster does without it; inf where it never does.",
                float,
            ),
            "n_clusters": Column("How many clusters have the word: 1 for an own word.", int),
            "rank": Column("In the cluster, from 1, by the absolute weight.", int),
        },
    ),
    "typical": TableSchema(
        "tables/typical.csv",
        "The documents nearest to each prototype; of those with the same text, one.",
        {
            "cluster": Column(CLUSTER, int),
            "rank": Column("From 1, the nearest first.", int),
            "id": Column("Id of the document."),
            "cosine": Column("With the prototype.", float),
            "text": Column("How the document begins; empty where there are no texts."),
        },
    ),
    "contrast": TableSchema(
        "tables/contrast.csv",
        "For embeddings with texts: words that the documents of a cluster use more than the rest.",
        {
            "cluster": Column(CLUSTER, int),
            "rank": Column("From 1, the largest z first.", int),
            "word": Column("The word."),
            "z": Column(
                "Standardised log-odds ratio of its frequencies; beyond 2, hardly by chance.", float
            ),
            "count": Column("Occurrences in the cluster.", int),
            "share": Column("Of all occurrences, those in the cluster.", float),
        },
    ),
    "dense": TableSchema(
        "tables/dense.csv",
        "The mixtures without penalty, one row a number of clusters that was tried.",
        {
            "n_components": Column("Number of clusters.", int),
            "log_likelihood": Column("Of all documents.", float),
            "n_nonzero": Column("Non-zero coordinates of the prototypes.", int),
            "n_converged": Column("Starts that converged.", int),
            "agreement": Column(
                "Mean adjusted Rand index of the other starts with the best one: 1 where all "
                "give the same clusters; nan with one start.",
                float,
            ),
            **CRITERION_COLUMNS,
        },
    ),
    "path": TableSchema(
        "tables/path.csv",
        "The steps of the path, from dense prototypes to sparse ones.",
        {
            "step": Column("From 0.", int),
            "beta": Column("The penalty.", float),
            "n_nonzero": Column("Non-zero coordinates of the prototypes.", int),
            "sparsity": Column("Share of zeros among the coordinates.", float),
            "log_likelihood": Column("Of all documents, without the penalty.", float),
            **CRITERION_COLUMNS,
            "n_iter": Column("Iterations of EM.", int),
            "status": Column("How EM ended."),
            "selected": Column("1 for the step that was chosen, else 0.", int),
        },
    ),
    "labels": TableSchema(
        "tables/labels.csv",
        "Clusters against the labels, which were compared and never used.",
        {
            "cluster": Column(CLUSTER, int),
            "label": Column("The label."),
            "documents": Column("Documents of the cluster with the label.", int),
            "share_of_cluster": Column("Of the documents of the cluster.", float),
            "share_of_label": Column("Of the documents with the label.", float),
        },
    ),
    "time": TableSchema(
        "tables/time.csv",
        "Clusters by month, or by year where there are more than 60 months.",
        {
            "cluster": Column(CLUSTER, int),
            "period": Column("As 2024-05, or 2024."),
            "documents": Column("Documents of the cluster.", int),
        },
    ),
}
# The other files and folders at the top of a run.
PAGE, CONTENT, FIGURES, LEGEND = "report.html", "report.json", "figures", "README.txt"
DERIVED = "derived.json"
MATRIX, KEPT, VOCABULARY, IDF = "matrix", "kept.npy", "vocabulary.txt", "idf.npy"
TERMS, COUNTS, CORPUS = "terms.txt", "counts", "corpus.jsonl.gz"
MIXTURES, PATH = "dense", "path"
# Names that follow each other and have one meaning are explained together.
FILES: dict[str, str] = {
    **dict.fromkeys((PAGE, CONTENT), "The page of the run, and what it shows, as data."),
    f"{FIGURES}/": "Maps of prototypes and data, to print, and what else the run has: words, path, "
    "criteria, labels, time.",
    LEGEND: "What the files and columns of this run mean.",
    MANIFEST: "Options, versions, seed and checksums: what it takes to repeat the run.",
    DERIVED: "Checksums of what is made from the others: README.txt, figures, report.",
    **dict.fromkeys(
        (f"{MATRIX}/", KEPT), "The rows that were clustered, and their documents (from 0)."
    ),
    **dict.fromkeys((VOCABULARY, IDF), "Words of the columns, and their weights in tf-idf."),
    **dict.fromkeys(
        (TERMS, f"{COUNTS}/"),
        "Words counted beside embeddings, and how often each document has them.",
    ),
    CORPUS: "The documents: id, text, date, labels.",
    **dict.fromkeys(
        (f"{MIXTURES}/", f"{PATH}/"), "The models, as arrays; path/ where a path was followed."
    ),
}
HEAD = """A run of spheremix explore. In Python, spheremix.load_run gives back its models; on the
command line, spheremix assign clusters new documents with it. Numbers in the tables have six
significant digits, or three decimals where those are more; the arrays have all digits. Texts that a
spreadsheet would run as formulas (=, +, -, @ first) have an apostrophe before them.
"""


def explain(tables: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Explain the tables of a run, by key, with their columns, and its other files, in lines."""
    yield HEAD
    for key, columns in tables.items():
        table = TABLES[key]
        yield f"\n{table.file}\n  {table.about}\n"
        alike = groupby(columns, key=lambda name: table.columns[name].meaning)
        yield from _entries({", ".join(several): meaning for meaning, several in alike})
    yield "\nOther files\n"
    alike = groupby(FILES, key=FILES.__getitem__)
    yield from _entries({", ".join(several): meaning for meaning, several in alike})


def _entries(meanings: Mapping[str, str]) -> Iterator[str]:
    width = max(map(len, meanings)) + 2
    indent = " " * (width + 2)
    for name, meaning in meanings.items():
        lines = textwrap.fill(meaning, WIDTH, initial_indent=indent, subsequent_indent=indent)
        yield f"  {name:{width}}{lines.lstrip()}\n"

"""The files and folders of a run beside its tables: each of them, once, with its meaning."""

from __future__ import annotations

from spheremix._files import MANIFEST

PAGE, CONTENT, FIGURES, LEGEND = "report.html", "report.json", "figures", "README.txt"
DERIVED = "derived.json"
MATRIX, KEPT, VOCABULARY, IDF = "matrix", "kept.npy", "vocabulary.txt", "idf.npy"
FORMS = "forms.tsv.gz"
POSITIONS = "positions.npy"
TERMS, COUNTS, CORPUS = "terms.txt", "counts", "corpus.jsonl.gz"
MIXTURES, PATH, TREE, FIRMNESS, STAGES = "dense", "path", "tree", "firmness", "stages"
EDITS, EDITED = "edits.json", "edited"
# Names that follow each other and have one meaning are explained together.
FILES: dict[str, str] = {
    **dict.fromkeys((PAGE, CONTENT), "The report as a page, and its content as data."),
    f"{FIGURES}/": "Figures to print: maps of prototypes and data, words, path, criteria, labels, "
    "time, as far as the run has them.",
    LEGEND: "What the files and columns of this run mean.",
    MANIFEST: "Description of the run: options, versions, seed and checksums.",
    DERIVED: "Checksums of the files made from the others: README.txt, figures, report.",
    **dict.fromkeys(
        (f"{MATRIX}/", KEPT), "The rows that were clustered, and their documents by number, from 0."
    ),
    **dict.fromkeys((VOCABULARY, IDF), "The words of the columns, and their weights in tf-idf."),
    FORMS: "The forms in which words are written, each with its word.",
    **dict.fromkeys(
        (TERMS, f"{COUNTS}/"),
        "For embeddings with texts: the words that were counted, and counts.",
    ),
    CORPUS: "The documents with id, text, title, date, labels and all other columns.",
    **dict.fromkeys(
        (f"{MIXTURES}/", f"{PATH}/"), "The models as arrays; path/ only if a path was followed."
    ),
    f"{TREE}/": "The fine group of each row; for a saved VMFTree, the sums of its leaves.",
    f"{FIRMNESS}/": "How firm documents, clusters and words are, as arrays.",
    POSITIONS: "The rows on a map: two coordinates each, between 0 and 1.",
    EDITS: "The edits that people made to the run, in their order; only if there are any.",
    f"{EDITED}/": "What was fitted again after edits; the arrays of the run before them stay.",
    f"{STAGES}/": "What each step of the work left and what it depends on: with other options, the "
    "next command reuses what they do not change.",
}

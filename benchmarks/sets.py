"""Real data sets as rows at length one, and rows that count how often they are swept."""

from __future__ import annotations

import gzip
import json

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from timing import DATA, EMBEDDINGS, load_cstr

import spheremix as sm
from spheremix.text.meaning import embed


class Counted:
    """Rows that count how many components they were swept with."""

    def __init__(self, X):
        self._rows = sm.as_directions(X)
        self.n_rows, self.n_features = X.shape
        self.map_rows, self.take = self._rows.map_rows, self._rows.take
        self.n_threads = self._rows.n_threads
        self.swept = 0

    def sweep(self, scorers, weights=None):
        """Sweep, and count."""
        self.swept += sum(scorer.n_components for scorer in scorers)
        return self._rows.sweep(scorers, weights)


def counts(name):
    X = sparse.load_npz(DATA / name / "X.npz").astype(np.float64)
    return TfidfTransformer().fit_transform(X), np.load(DATA / name / "labels.npy")


def texts(name):
    with gzip.open(DATA / name / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    labels = np.array([document.get("label") or "" for document in documents])
    return vectorized([document["text"] for document in documents]), labels


def docstrings():
    corpus = sm.datasets.load_docstrings()
    return vectorized(corpus.texts), np.array([label for (label,) in corpus.labels["package"]])


def vectorized(documents):
    return sm.text.TextVectorizer(weighting="tfidf").fit_transform(documents)


def embeddings():
    folder = DATA / "minilm_bbc"
    return np.load(folder / "embeddings.npy").astype(np.float64), np.load(folder / "labels.npy")


def short_texts(name):
    """Return the label and the text of each line."""
    with gzip.open(DATA / "short" / f"{name}.tsv.gz", "rt", encoding="utf-8") as lines:
        labels, documents = zip(*(line.rstrip("\n").split("\t", 1) for line in lines), strict=True)
    return list(documents), np.array(labels)


def short(name):
    documents, labels = short_texts(name)
    return vectorized(documents), labels


def both_views(name):
    """Return the words and the meaning of short texts, as the command groups them; and labels."""
    documents, labels = short_texts(name)
    words = sm.text.TextVectorizer().fit_transform(documents)
    meaning = embed(documents, "static")
    kept = (np.diff(words.indptr) > 0) | meaning.any(axis=1)
    return {"words": words[kept], "meaning": meaning[kept]}, labels[kept]


def embedded(name):
    """Return the stored embeddings of short texts, such as stackoverflow_minilm."""
    rows = np.load(EMBEDDINGS / f"{name}.npy").astype(np.float64)
    kept = np.linalg.norm(rows, axis=1) > 0.0
    return rows[kept], short_texts(name.rpartition("_")[0])[1][kept]


SHORT = ("stackoverflow", "searchsnippets", "tweet", "banking77")
SETS = {
    "20 newsgroups": (lambda: counts("ng20_bydate_cai"), (20,)),
    "bbc": (lambda: texts("bbc_news"), (5, 18)),
    "sec8k": (lambda: texts("sec8k_stanford"), (15,)),
    "poliblog": (lambda: counts("poliblog5k"), (10,)),
    "cstr": (load_cstr, (4, 8, 20)),
    "classic3": (lambda: counts("classic3"), (3, 10, 40)),
    "news4": (lambda: counts("news4"), (4,)),
    "minilm_bbc": (embeddings, (5, 20)),
    "docstrings": (docstrings, (10,)),
    "german": (lambda: texts("german"), (9,)),
    **{name: ((lambda name=name: short(name)), ()) for name in SHORT},
    **{
        f"{name}_{kind}": ((lambda name=f"{name}_{kind}": embedded(name)), ())
        for name in SHORT
        for kind in ("minilm", "static")
    },
}
LABELLED = set(SETS) - {"sec8k", "poliblog"}  # item codes and blogs are no clusters of words


def load(name):
    """Return rows that are not empty, at length one, and their classes."""
    X, labels = SETS[name][0]()
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        kept = np.diff(X.indptr) > 0
        X, labels = X[kept], labels[kept]
        lengths = np.sqrt(X.multiply(X).sum(axis=1)).ravel()
        X = sparse.csr_array(sparse.diags_array(1.0 / lengths) @ X)
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        return X, labels
    return X / np.linalg.norm(X, axis=1, keepdims=True), labels

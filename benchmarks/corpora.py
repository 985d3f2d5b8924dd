"""Texts and rows of several corpora, and texts that belong nowhere, for benchmarks/noise.py."""

from __future__ import annotations

import gzip
import json

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize
from timing import DATA

import spheremix as sm
from spheremix.text import vectorize

BOILERPLATE = [
    "Subscribe to our newsletter. Click here to read more. All rights reserved.",
    "Page not found. Error 404. Please try again later or contact the administrator.",
    "Toggle button. Menu, home, sign in, register, search, accessibility, help.",
    "We use cookies. Accept all, reject all, read our policy and terms of use.",
]
FAR = ("docstrings", "MEDLINE", "CISI", "CRANFIELD")  # of other subjects than news
ALL = (*FAR, "poliblog5k", "sec8k_stanford")  # and politics, and business


def texts_of(name):
    """Return the texts of a corpus, and the labels of bbc_news."""
    if name == "docstrings":
        return list(sm.datasets.load_docstrings().texts), None
    if name in FAR:
        own = np.load(DATA / "classic3" / "labels.npy") == FAR.index(name) - 1
        texts = _from_counts("classic3")
        return [texts[i] for i in np.flatnonzero(own)], None
    if name == "poliblog5k":
        return _from_counts(name), None
    with gzip.open(DATA / name / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    documents = [one for one in documents if len(one["text"]) > 200]  # some filings are empty
    return [one["text"] for one in documents], [one.get("label") for one in documents]


def _from_counts(name):
    """Return bags of words as texts, their words in the order of the vocabulary."""
    X = sparse.load_npz(DATA / name / "X.npz").tocsr()
    words = (DATA / name / "vocabulary.txt").read_text(encoding="utf-8").split("\n")
    parts = zip(X.indptr, X.indptr[1:], strict=False)
    return [
        " ".join(
            " ".join([words[j]] * int(c)) for j, c in zip(X.indices[a:b], X.data[a:b], strict=True)
        )
        for a, b in parts
    ]


def foreign(rng, n, pools):
    """Draw as many documents of each pool."""
    each = n // len(pools)
    return [pool[i] for pool in pools for i in rng.choice(len(pool), each, replace=False)]


def nonsense(rng, n, words, lengths):
    """Return words at random, as many of them as documents have."""
    return [" ".join(rng.choice(words, rng.choice(lengths))) for _ in range(n)]


def empty(rng, n, words):
    """Return texts of one to three words."""
    return [" ".join(rng.choice(words, rng.integers(1, 4))) for _ in range(n)]


def boilerplate(rng, n):
    return [" ".join(rng.permutation(BOILERPLATE[i % 4].split())) for i in range(n)]


def class_means(X, truth):
    """Return the cosine of each row with the nearest mean of a class, itself left out."""
    classes = np.unique(truth[truth != "noise"])
    own = truth[:, None] == classes
    sums = np.vstack([np.asarray(X[truth == one].sum(axis=0)).ravel() for one in classes])
    dots = np.asarray(X @ sums.T)
    squares = np.einsum("kj,kj->k", sums, sums) - own * (2.0 * dots - 1.0)
    return ((dots - own) / np.sqrt(squares)).max(axis=1)


# Rows


def planted_texts(texts, labels, noise):
    found = vectorize(texts + noise)
    return found.X, np.array(labels + ["noise"] * len(noise))[found.rows]


def counts(name):
    X = sparse.load_npz(DATA / name / "X.npz").astype(np.float64)
    X = normalize(X if name == "cstr" else TfidfTransformer().fit_transform(X))
    kept = np.asarray(X.sum(axis=1)).ravel() > 0
    return sparse.csr_array(X[kept]), np.load(DATA / name / "labels.npy").astype(str)[kept]


def embeddings():
    X = np.load(DATA / "minilm_bbc" / "embeddings.npy")
    return X, np.load(DATA / "minilm_bbc" / "labels.npy").astype(str)


def newsgroups(seed, n=1600):
    """Return posts of four newsgroups: a corpus on which no rule was developed."""
    X, truth = counts("ng20_bydate_cai")
    rng = np.random.default_rng(seed)
    own = np.isin(truth, rng.choice(np.unique(truth), 4, replace=False))
    ids = rng.choice(np.flatnonzero(own), n, replace=False)
    return X[ids], truth[ids]

"""The documents of benchmarks/news.py, and the checks of new documents."""

from __future__ import annotations

import gzip
import json

import numpy as np
from scipy import sparse
from timing import DATA

from spheremix.text import TextVectorizer

CHECKS = ("new group", "fit", "shares", "words")


def texts(name):
    with gzip.open(DATA / name / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def bbc():
    """Return the topics, and what makes rows: the words are those of the past."""
    documents = texts("bbc_news")
    all_texts = np.array([one["text"] for one in documents], dtype=object)

    def rows(past, *others):
        vectorizer = TextVectorizer()
        found = [vectorizer.fit_transform(list(all_texts[past]))]
        return [*found, *(vectorizer.transform(list(all_texts[ids])) for ids in others)]

    return np.array([one["label"] for one in documents]), rows


def embeddings():
    X = np.load(DATA / "minilm_bbc" / "embeddings.npy").astype(np.float64)
    return np.load(DATA / "minilm_bbc" / "labels.npy"), lambda *parts: [X[ids] for ids in parts]


def stacked(*parts):
    return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.vstack(parts)

"""A sentence encoder without weights: the pages that load a real one run with it.

It has the calls of sentence-transformers that the pages make, and no others: a call that the real
one does not know would be a mistake of the page.
"""

from __future__ import annotations

import zlib
from types import ModuleType

import numpy as np

DIMENSION = 64


class SentenceTransformer:
    """Add up one random direction for each word: texts with the same words are near each other."""

    def __init__(self, model_name_or_path):
        assert isinstance(model_name_or_path, str)

    def encode(self, sentences, *, batch_size=32, normalize_embeddings=False):
        assert batch_size > 0
        rows = np.array([sum(map(direction, text.lower().split())) for text in sentences])
        if normalize_embeddings:
            rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows.astype(np.float32)


def direction(word):
    """Return a direction that depends on the word alone."""
    return np.random.default_rng(zlib.crc32(word.encode())).normal(size=DIMENSION)


def module():
    """Return a module that can stand for sentence_transformers in sys.modules."""
    found = ModuleType("sentence_transformers")
    found.SentenceTransformer = SentenceTransformer
    return found

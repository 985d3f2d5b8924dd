"""Documents to directions: readers of files, and the vectoriser of the paper's section 6."""

from __future__ import annotations

from spheremix.text.corpus import Corpus, ReadError
from spheremix.text.matrices import Matrix, read_matrix
from spheremix.text.passages import Passages, split
from spheremix.text.readers import read_documents
from spheremix.text.vectorizer import SetAside, TextVectorizer, Vectorized, vectorize

__all__ = [
    "Corpus",
    "Matrix",
    "Passages",
    "ReadError",
    "SetAside",
    "TextVectorizer",
    "Vectorized",
    "read_documents",
    "read_matrix",
    "split",
    "vectorize",
]

"""Options that would do nothing for a source are refused, wherever it comes from."""

from __future__ import annotations

import numpy as np
import pytest

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.text import Corpus, Matrix

TEXTS = ["red apple", "apple pie", "green apple", "blue sky", "sky and sea", "blue sea"]
CORPUS = Corpus(TEXTS, list("abcdef"))
ROWS = np.random.default_rng(0).normal(size=(6, 3))
EMBEDDINGS = Matrix(ROWS, None, "rows.npy", "NumPy", [], "0")
COUNTED = Matrix(np.abs(ROWS), ["x", "y", "z"], "counts.npy", "NumPy", [], "0")
FOR_FILES = {
    "text": "body",
    "id": "none",
    "date": "day",
    "label": "section",
    "vocabulary": "words.txt",
    "texts": "nowhere.csv",
}
FOR_WORDS = {
    "language": "fr",
    "lemmatizer": "none",
    "stop_words": ["said"],
    "drop": "said,mr",
    "ngrams": 2,
    "drop_mixed": True,
    "drop_repeated_lines": True,
    "mend_encoding": True,
    "min_count": 1,
    "min_df": 1,
    "max_df": 0.5,
}


@pytest.mark.parametrize("name", FOR_FILES)
@pytest.mark.parametrize("source", [TEXTS, CORPUS, EMBEDDINGS], ids=["texts", "corpus", "matrix"])
def test_columns_and_files_beside_are_for_files(source, name, tmp_path):
    with pytest.raises(ParameterError, match=f": {name} is for files alone"):
        sm.explore_corpus(source, tmp_path / "run", k=2, **{name: FOR_FILES[name]})
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", [*FOR_WORDS, "weighting"])
@pytest.mark.parametrize(
    "source", [EMBEDDINGS, COUNTED, COUNTED.beside(CORPUS)], ids=["bare", "counted", "both"]
)
def test_nothing_is_counted_for_a_ready_matrix(source, name, tmp_path):
    given = {**FOR_WORDS, "weighting": "counts"}[name]
    with pytest.raises(ParameterError, match=rf"\.npy: .*: {name} is for"):
        sm.explore_corpus(source, tmp_path / "run", k=2, **{name: given})
    assert not (tmp_path / "run").exists()


def test_words_of_texts_beside_embeddings_are_counted_as_asked(tmp_path):
    run = sm.explore_corpus(EMBEDDINGS.beside(CORPUS), tmp_path / "run", k=2, min_count=1, min_df=1)
    assert "contrast" in run.manifest.tables
    with pytest.raises(ParameterError, match="min_df"):
        sm.explore_corpus(EMBEDDINGS.beside(CORPUS), tmp_path / "other", k=2, min_df=0)

"""Options: what cannot be read, or would do nothing for a source, is refused by its name."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.run.options import ExploreOptions
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
    "keep_boilerplate": True,
    "mend_encoding": True,
    "min_count": 1,
    "min_df": 1,
    "max_df": 0.5,
}


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (np.arange(2, 5), (2, 3, 4)),
        (np.int64(3), (3,)),
        (np.array([4, 2], dtype=np.uint8), (2, 4)),
        (range(2, 4), (2, 3)),
        ({5, 2}, (2, 5)),
        (iter([2]), (2,)),
        ("auto", None),
    ],
)
def test_numbers_of_groups_come_in_many_forms(given, read):
    assert ExploreOptions(k=given).k == read


@pytest.mark.parametrize(
    "given",
    [
        *(True, [True], 2.0, np.array([2.0, 3.0]), np.array(3), np.eye(2, dtype=int), np.bool_(1)),
        *(b"ab", b"5", [[2]], [None], [], "", "2:", range(1, 10**9), 0, -1),
    ],
    ids=repr,
)
def test_other_numbers_of_groups_are_refused(given):
    with pytest.raises(ParameterError, match=r"^k must"):
        ExploreOptions(k=given)


@pytest.mark.parametrize("name", ["min_df", "max_df"])
@pytest.mark.parametrize(
    "given",
    [
        *([1], True, np.bool_(0), -3, -0.5, "-3", "-1%", "nan%", "inf%", "nan.", math.nan),
        *(math.inf, "many", "", "%", b"5", 1j, np.array([1, 2]), "1.0e999", b"5"),
    ],
    ids=repr,
)
def test_other_thresholds_are_refused(name, given):
    with pytest.raises(ParameterError, match=f"^{name} must be a number of documents"):
        ExploreOptions(**{name: given})


def test_thresholds_keep_numbers_and_shares_apart():
    for given, read in ((np.int32(5), 5), (np.float32(0.5), 0.5), (Fraction(1, 4), 0.25), ("5", 5)):
        found = ExploreOptions(min_df=given).min_df
        assert found == read
        assert type(found) is type(read)
    json.dumps(ExploreOptions(k=np.arange(2, 4), min_df=np.int64(2)).command())


@pytest.mark.parametrize(
    "given",
    [True, np.bool_(1), None, [3], np.array([3.0]), "nan", -1, 0, math.inf, 10**400, b"3", "own"],
    ids=lambda value: repr(value)[:20],
)
def test_other_concentrations_are_refused(given):
    with pytest.raises(ParameterError, match=r"^kappa must be shared, free or a number above 0"):
        ExploreOptions(kappa=given)


# Options and sources


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
    both = EMBEDDINGS.beside(CORPUS)
    options = {"k": 2, "min_count": 1, "meaning_only": True}
    run = sm.explore_corpus(both, tmp_path / "run", min_df=1, **options)
    assert run.read_table("contrast") is not None
    with pytest.raises(ParameterError, match="min_df"):
        sm.explore_corpus(both, tmp_path / "other", min_df=0, **options)


@pytest.mark.parametrize(
    ("given", "n", "found"),
    [(None, 50_000, 0.05), (None, 50_001, 0.15), (0.01, 50_001, 0.01), (0.0, 10, 0.0)],
)
def test_the_path_of_many_documents_has_fewer_steps(given, n, found):
    options = ExploreOptions(min_relative_increase=given)
    assert options.completed(words=True, n_documents=n).min_relative_increase == found

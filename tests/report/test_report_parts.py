"""What the content of a report is made of: steps kept, levels, heaviest words, texts cut to fit."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_common import dequantise
from scipy import sparse

import spheremix as sm
from spheremix.data.open import as_directions
from spheremix.report.documents import (
    LEVELS,
    MOST_WORDS,
    heaviest,
    length,
    shorten,
    token_forms,
)
from spheremix.report.packing import packed_size
from spheremix.report.steps import evenly_spaced, quantise
from spheremix.text import Corpus, TextVectorizer


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=60),
    st.integers(2, 20),
    st.data(),
)
def test_kept_steps_are_spread_in_non_zeros(drops, most, data):
    counts = 5000 - np.cumsum(drops)
    wanted = data.draw(st.sets(st.integers(0, len(counts) - 1), max_size=2))
    kept = evenly_spaced(counts, wanted, most)
    ends = {0, len(counts) - 1}
    assert len(kept) == len({*wanted, *ends}) or len(kept) == min(most, len(counts))
    assert {*wanted, *ends} <= set(kept)
    if not wanted and most < len(counts):
        # Halving the widest gap leaves none wider than twice the mean, or one jump of the path.
        widest = max(counts[i] - counts[j] for i, j in pairwise(kept))
        mean = (counts[0] - counts[-1]) / (len(kept) - 1)
        jump = max(drops[1:])
        assert widest <= 2 * mean + 2 * jump


@given(
    st.lists(st.floats(-1, 1).filter(lambda v: v == 0 or abs(v) > 1e-12), min_size=1).filter(any)
)
def test_levels_keep_zeros_signs_and_the_bound_of_the_error(values):
    prototypes = np.array([values])
    levels, scale = quantise(prototypes)
    found = dequantise(levels, scale)
    assert (np.sign(levels) == np.sign(prototypes)).all()
    # sqrt|v| is off by half a level, and by one level where the smallest one is taken.
    roots, error = np.sqrt(np.abs(prototypes) / scale), 0.5 / 127
    error = np.where(roots < error, 1 / 127, error)
    assert (np.abs(np.sqrt(np.abs(found) / scale) - roots) <= error + 1e-12).all()


@given(st.integers(0, 1000))
def test_rows_keep_the_heaviest_words(seed):
    rng = np.random.default_rng(seed)
    n, d = 4, 150
    X = rng.random((n, d)) * (rng.random((n, d)) < 0.8)
    X[:, 0] = 1.0
    weights = rng.random((2, d)) * np.array([[1.0], [1.0]])
    weights[0, rng.random(d) < 0.7] = 0.0  # the first line leaves many to the second
    columns = np.sort(rng.choice(d, 120, replace=False))
    found = heaviest(X, weights, columns)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    for i in range(n):
        part = slice(found["indptr"][i], found["indptr"][i + 1])
        kept = columns[found["words"][part]]
        assert (np.diff(kept) > 0).all()
        there = [j for j in columns if unit[i, j] > 0]
        assert len(kept) == min(MOST_WORDS, len(there))
        assert found["n_words"][i] == np.count_nonzero(X[i])
        best = sorted(there, key=lambda j: tuple(-weights[:, j] * unit[i, j]))[:MOST_WORDS]
        assert set(kept) == set(best)
        values = found["scale"][i] * found["values"][part] / LEVELS
        assert np.abs(values - unit[i, kept]).max() <= unit[i].max() / LEVELS


def test_words_of_a_document_are_counted_alike_in_memory_and_behind_an_engine():
    X = np.array([[1.0, 0.0, 2.0, 3.0], [0.0, 1.0, 0.0, 0.0]])
    stored = sparse.csr_array(X)
    stored.data[0] = 0.0  # stored, and still no word of the document
    columns = np.array([1, 2])
    for rows, first in ((X, 3), (stored, 2), (as_directions(X), 3)):
        found = heaviest(rows, np.ones((1, 4)), columns)
        assert found["n_words"].tolist() == [first, 1]
        assert np.diff(found["indptr"]).tolist() == [1, 1]


def test_rows_with_negative_coordinates_are_floats():
    found = heaviest(np.array([[1.0, -2.0, 0.0]]), np.ones((1, 3)), np.arange(3))
    assert found["scale"] is None
    assert found["values"].dtype == np.float32
    assert np.allclose(found["values"], np.array([1.0, -2.0]) / np.sqrt(5.0))


def test_forms_fold_case_and_skip_words_that_are_not_shown():
    texts = ["Boats and BOATS at the naïve harbour", "boats harbour naïve"]
    vectorizer = TextVectorizer(lemmatizer=None, min_df=1).fit(texts)
    assert token_forms(texts, vectorizer, {"boats": 4, "naïve": 7}) == {"boats": 4, "naïve": 7}


@given(st.lists(st.text(max_size=400), max_size=30), st.integers(60, 600))
def test_texts_are_cut_alike_to_fit_the_budget(texts, budget):
    cut = shorten(texts, budget)
    assert packed_size({"text": cut}) <= max(budget, packed_size({"text": [""] * len(texts)}))
    longest = max((len(text) for text in cut), default=0)
    assert all(text.startswith(part) for text, part in zip(texts, cut, strict=True))
    # A text is whole, or as long as the longest one.
    assert all(len(a) in {len(b), longest} for a, b in zip(cut, texts, strict=True))


def test_texts_that_fit_are_whole_and_a_very_long_one_is_cut():
    texts = ["short", "x" * 1_000_000, "é" * 70_000]
    assert [len(text) for text in shorten(texts, 100_000)] == [5, 50_000, 50_000]


def test_the_budget_is_well_used():
    rng = np.random.default_rng(0)
    words = np.array(["".join(rng.choice(list("abcdefgh"), 6)) for _ in range(2000)])
    texts = [" ".join(rng.choice(words, rng.integers(10, 600))) for _ in range(200)]
    cut = shorten(texts, 40_000)
    assert 0.9 * 40_000 < packed_size({"text": cut}) <= 40_000


def test_lengths_are_those_of_javascript():
    assert length("abc") == 3
    assert length("é\u4e2d") == 2
    assert length("\U0001f600") == 2
    assert length("\ud800") == 1


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("news/bbc-news.jsonl.gz", "bbc-news"),
        ("rows.NPY", "rows"),
        ("speeches", "speeches"),
        ("numpy 2.4.6, scipy 1.17.1", "numpy 2.4.6, scipy 1.17.1"),
        (".csv", ".csv"),
        ("", "spheremix"),
    ],
)
def test_the_title_is_the_name_of_the_file_without_its_endings(source, title):
    X = np.eye(4)[[0, 1, 2, 3, 0, 1, 2, 3]]
    model = sm.VMFMixture(1, kappa=1.0).fit(X)
    corpus = Corpus(["a"] * 8, [str(i) for i in range(8)], source=source)
    assert sm.Run.from_model(model, corpus, X=X).title == title
    assert sm.Run.from_model(model, corpus, X=X, title="mine").title == "mine"

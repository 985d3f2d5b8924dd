"""From a corpus to unit rows; documents without words are set aside."""

from __future__ import annotations

import numpy as np
import pytest
from text_common import TEXTS, plain

from spheremix.text import Corpus, vectorize


def test_rows_add_up():
    ids = ["a", "b", "c", "d", "e"]
    found = vectorize(Corpus(TEXTS, ids), plain(min_df=2))
    assert list(found.words) == ["cat", "dogs"]
    assert len(found.rows) + len(found.set_aside) == len(TEXTS)
    assert found.X.shape == (len(found.rows), len(found.words))
    assert found.ids == [ids[i] for i in found.rows]
    assert (np.diff(found.X.indptr) > 0).all()
    reasons = {aside.id: aside.reason for aside in found.set_aside}
    assert reasons["d"] == "no text"
    assert reasons["e"] == "no word but stop words, numbers or single letters"
    assert all(found.set_aside[i].row == ids.index(a.id) for i, a in enumerate(found.set_aside))


def test_new_documents():
    fitted = vectorize(TEXTS, lemmatizer=None, min_df=1).vectorizer
    found = vectorize(["a dog", "an elephant", " "], fitted)
    assert found.vectorizer is fitted
    assert found.ids == ["1"]
    assert [aside.reason for aside in found.set_aside] == [
        "no word of the vocabulary",
        "no text",
    ]
    nothing = vectorize(["elephant"], fitted)
    assert nothing.X.shape == (0, len(fitted.vocabulary_))


def test_either_a_vectorizer_or_parameters():
    with pytest.raises(ValueError, match="either vectorizer or the parameters"):
        vectorize(TEXTS, plain(), min_df=2)


def test_identical_and_single_documents():
    assert vectorize(["one document"], lemmatizer=None).X.shape == (1, 1)
    found = vectorize(["similar words"] * 30, lemmatizer=None)
    assert found.X.shape == (30, 2)
    np.testing.assert_allclose(found.X.toarray(), 0.5**0.5)

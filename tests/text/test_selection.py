"""Words that are left out are counted by the texts that have them."""

from __future__ import annotations

import numpy as np
import pytest

from spheremix.text import TextVectorizer


def test_removed_words_are_counted_as_a_plain_count_counts_them():
    rng = np.random.default_rng(0)
    words = [f"w{i}x" if i % 3 else "abcdefghij"[i % 10] * 3 for i in range(60)]
    shares = np.linspace(0.01, 0.9, 60)
    texts = [
        " ".join(w for w, p in zip(words, shares, strict=True) if rng.random() < p) + " end now"
        for _ in range(80)
    ]
    own = [set(text.split()) for text in texts]
    documents = {w: sum(w in one for one in own) for one in own for w in one}
    found = TextVectorizer(
        lemmatizer=None,
        stop_words=None,
        drop="END,ccc,missing",
        drop_mixed=True,
        min_df=10,
        max_df=0.5,
    ).fit(texts)
    removed = found.removed_
    assert removed["dropped"] == {"end": 80, "ccc": documents["ccc"], "missing": 0}
    assert removed["mixed"] == {w: n for w, n in documents.items() if w[0] == "w"}
    left = {w: n for w, n in documents.items() if w[0] != "w" and w not in {"end", "ccc"}}
    assert removed["rare"] == {w: n for w, n in left.items() if n < 10}
    assert removed["common"] == {w: n for w, n in left.items() if n > 40}
    assert {*found.vocabulary_} == {w for w, n in left.items() if 10 <= n <= 40}


def test_stop_words_and_all_forms_of_a_word_count():
    texts = ["the boats", "a boat sails", "boating by boat", "art"]
    lemma = {"boats": "boat", "boating": "boat"}
    found = TextVectorizer(lemmatizer=lambda form: lemma.get(form, form), drop="boats,the")
    assert found.fit(texts).removed_["dropped"] == {"boats": 3, "the": 1}


@pytest.mark.parametrize("asked", ["press release", "press releases"])
def test_a_phrase_is_left_out_in_any_of_its_forms(asked):
    texts = ["press releases of banks", "a press release", "the press release", "press freedom"]
    found = TextVectorizer(
        lemmatizer=lambda form: form.removesuffix("s") if form == "releases" else form,
        phrases=2,
        min_df=1,
        drop=asked,
    )
    found.fit([*texts, "release of prisoners", "bank holiday", "green tea", "blue sky", "old town"])
    assert found.removed_["dropped"] == {asked: 3}
    assert "press release" not in found.vocabulary_
    assert "press" in found.vocabulary_

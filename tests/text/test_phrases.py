"""Phrases: associations against counting by hand, and texts cut by a slow reference."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from spheremix.text import TextVectorizer
from spheremix.text.phrases import (
    Pairs,
    PhraseTable,
    associated,
    frequent,
    join,
    learn_phrases,
    meetings,
)
from spheremix.text.words import Cutting, Tokens

SEQUENCES = st.lists(st.lists(st.integers(-2, 4), max_size=12), min_size=1, max_size=8)


def tokens_of(lists):
    ends = np.cumsum([0, *map(len, lists)])
    return Tokens(np.array([i for one in lists for i in one], np.int32), ends.astype(np.int64))


def lists_of(tokens):
    bounds = zip(tokens.ends[:-1], tokens.ends[1:], strict=True)
    return [tokens.ids[a:b].tolist() for a, b in bounds]


def by_hand(lists):
    """Count pairs and compute their normalised pointwise mutual information one by one."""
    pairs = [
        (i, a, b) for i, one in enumerate(lists) for a, b in pairwise(one) if a >= 0 and b >= 0
    ]
    n = len(pairs)
    both = Counter((a, b) for _, a, b in pairs)
    first, second = Counter(a for _, a, _ in pairs), Counter(b for _, _, b in pairs)
    texts = Counter((a, b) for _, a, b in set(pairs))
    found = {}
    for (a, b), k in both.items():
        chance = first[a] / n * second[b] / n
        npmi = 1.0 if k == n else math.log(k / n / chance) / -math.log(k / n)
        found[a, b] = (npmi, texts[a, b])
    return found


@given(SEQUENCES, st.integers(1, 3), st.sampled_from([-1.0, 0.0, 0.3]))
def test_associations(lists, least, least_npmi):
    expected = {
        pair: npmi
        for pair, (npmi, texts) in by_hand(lists).items()
        if texts >= least and pair[0] != pair[1] and npmi >= least_npmi + 1e-12
    }
    found = associated(tokens_of(lists), least, least_npmi)
    pairs = dict(
        zip(zip(found.left.tolist(), found.right.tolist(), strict=True), found.npmi, strict=True)
    )
    assert set(expected) <= set(pairs)
    for pair, npmi in pairs.items():
        assert npmi == pytest.approx(by_hand(lists)[pair][0], abs=1e-12)
        assert npmi >= least_npmi
    assert list(pairs) == sorted(pairs)


def joined_slowly(one, strengths, numbers):
    """Join the strongest pair of a text, of equal ones the first, until none is left."""
    free = [True] * len(one)
    chosen = []
    places = [i for i in range(len(one) - 1) if (one[i], one[i + 1]) in strengths]
    for i in sorted(places, key=lambda i: (-strengths[one[i], one[i + 1]], i)):
        if free[i] and free[i + 1]:
            free[i] = free[i + 1] = False
            chosen.append(i)
    return [
        numbers[word, one[i + 1]] if i in chosen else word
        for i, word in enumerate(one)
        if i - 1 not in chosen
    ]


@given(SEQUENCES)
def test_joining(lists):
    tokens = tokens_of(lists)
    pairs = associated(tokens, 1, 0.0)
    keys = list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    strengths = dict(zip(keys, pairs.npmi.tolist(), strict=True))
    numbers = np.arange(10, 10 + len(keys), dtype=np.int32)
    at, which = meetings(tokens, pairs)
    found = lists_of(join(tokens, at, numbers[which]))
    table = dict(zip(keys, numbers.tolist(), strict=True))
    assert found == [joined_slowly(one, strengths, table) for one in lists]


def spell(lists, names):
    return tokens_of([[names.index(word) if word in names else -1 for word in one.split()]
                      for one in lists])  # fmt: skip


TEXTS = [
    "interest rates rise , new york city",
    "the interest rate falls in new york city",
    "interest rates , new york city and new haven",
    "new ideas of great interest , a new york city",
]


def learned(longest, least=2):
    forms = sorted({word for text in TEXTS for word in text.split()} - {"the", "in", ",", "a"})
    lemma = {"rates": "rates", "rate": "rates"}
    names = sorted({lemma.get(form, form) for form in forms} - {"and", "of"})
    written = spell(TEXTS, forms)
    numbers = [names.index(lemma.get(form, form)) if lemma.get(form, form) in names else -1
               for form in forms]  # fmt: skip
    words = written.renumber(numbers)
    before = list(names)
    tokens, phrases = learn_phrases(words, written, names, forms, longest, least)
    return words, tokens, phrases, before, names


def test_a_phrase_takes_the_place_of_its_words_and_is_spelled_as_most_often():
    _, tokens, phrases, before, names = learned(2)
    assert names[len(before) :] == [one.word for one in phrases]
    assert "interest rates" in names  # twice, and "interest rate" once
    assert "new york" in names or "york city" in names
    shown = [[names[i] for i in one if i >= 0] for one in lists_of(tokens)]
    assert shown[1][0] == "interest rates"
    assert "interest" in shown[3]  # where it stands alone


def test_longer_phrases_and_new_texts():
    words, tokens, phrases, before, names = learned(3)
    assert names[len(before) :].count("new york city") == 1
    assert [names[one[-1]] for one in lists_of(tokens)][0:1] == ["new york city"]
    table = PhraseTable(phrases, {name: i for i, name in enumerate(names)})
    assert lists_of(table(words)) == lists_of(tokens)


def test_nothing_to_join():
    empty = tokens_of([[], [3], [-1, 2, -1]])
    found, phrases = learn_phrases(empty, empty, list("abcd"), list("abcd"), 3, 1)
    assert lists_of(found) == [[], [3], [-1, 2, -1]]
    assert phrases == []


RATES = [
    "Interest rates rise. New interest in rates!",
    "The interest rate falls in Oslo, Norway",
    "Interest rates and the rate of interest",
    "Oslo and the norway of old",
]


def singular(form):
    return form.removesuffix("s")


def test_texts_with_phrases():
    vectorizer = TextVectorizer(lemmatizer=singular, phrases=2, min_df=2, weighting="counts")
    counts = vectorizer.fit_count(RATES).toarray()
    found = dict(zip(vectorizer.vocabulary_, counts.T.tolist(), strict=True))
    assert found["interest rates"] == [1, 1, 1, 0]
    assert found["interest"] == [1, 0, 1, 0]  # neither over a full stop nor over a stop word
    assert "oslo norway" not in found
    [phrase] = vectorizer.phrases_
    assert (phrase.left, phrase.right, phrase.word) == ("interest", "rates", "interest rates")
    new = [*RATES, "low INTEREST rates of interest", "interest. rates"]
    again = TextVectorizer.restore(
        vectorizer.vocabulary_,
        forms=vectorizer.forms_,
        known_phrases=vectorizer.phrases_,
        **vectorizer.get_params(),
    )
    for one in (vectorizer, again, pickle.loads(pickle.dumps(again))):  # noqa: S301
        assert (one.transform(new) != vectorizer.transform(new)).nnz == 0
        assert one.words(new[-2]) == ["low", "interest rates", "interest"]
    dropped = TextVectorizer(lemmatizer=None, phrases=2, min_df=2, drop=["Interest  Rates"]).fit(
        RATES
    )
    assert "interest rates" not in dropped.vocabulary_


def test_a_pair_is_not_given_up_with_the_one_that_took_its_places():
    """Without "y z", which "x y" leaves in too few texts, "z w" is in four."""
    x, y, z, w = range(4)
    tokens = tokens_of([[x, y, z]] * 3 + [[y, z, w]] * 2 + [[z, w]] * 2)
    pairs = Pairs(np.array([x, y, z]), np.array([y, z, w]), np.array([0.9, 0.8, 0.7]))
    kept, _, which = frequent(tokens, pairs, 3)
    assert kept.left.tolist() == [x, z]
    assert np.bincount(which).tolist() == [3, 4]


def test_a_line_that_begins_with_a_capital_is_apart():
    """A heading and the line after it; not a line that was broken to be short."""
    cut = Cutting(signs=True)
    assert cut("Form 8\nPress release\n  \u00dcber interest\nrates") == [
        "form", "8", ".", "press", "release", ".", "\u00fcber", "interest", "rates"
    ]  # fmt: skip


def test_signs_and_blank_lines_part_words():
    cut = Cutting(signs=True)
    parts = [
        part for part in cut("Well-known one's (two) x\n\ny\nz, w") if len(part) > 1 or part == "."
    ]
    assert cut("a b, c") == ["a", "b", ".", "c"]
    assert parts == ["well", "known", "one", ".", "two", ".", ".", "."]
    assert cut("été, à l\u2019hôtel \u2013 oui\n \nnon") == [
        "été", ",", "à", "l", "hôtel", "\u2013", "oui", ".", "non"
    ]  # fmt: skip


@pytest.mark.parametrize("sizes", [(1, 2), (2, 2), (1, 3)])
def test_runs_of_words_are_those_of_scikit_learn(sizes):
    texts = ["the cat sat on the mat", "a cat sat on a dog", "dog and mat", "dog the mat unknown"]
    options = {"min_df": 1, "stop_words": ["the", "on", "and"], "ngram_range": sizes}
    ours = TextVectorizer(lemmatizer=None, max_df=1.0, weighting="counts", **options)
    theirs = CountVectorizer(**options)
    expected = theirs.fit_transform(texts[:3])
    assert (ours.fit_count(texts[:3]) != expected).nnz == 0
    assert ours.vocabulary_.tolist() == theirs.get_feature_names_out().tolist()
    new = ["dog unknown mat cat sat", "cat the sat"]
    rows = normalize(theirs.transform(new).astype(float))
    np.testing.assert_allclose(ours.transform(new).toarray(), rows.toarray())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"phrases": 0}, "phrases must be an integer of at least 1"),
        ({"phrases": 2, "ngram_range": (1, 2)}, "either phrases or ngram_range, not both"),
        ({"ngram_range": (2, 1)}, r"ngram_range must be two integers .*; got \(2, 1\)"),
        ({"ngram_range": 2}, "ngram_range must be two integers"),
    ],
)
def test_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        TextVectorizer(lemmatizer=None, **parameters).fit(RATES)


@given(SEQUENCES, st.integers(1, 3))
def test_phrases_are_left_in_enough_texts_once_closer_ones_have_their_places(lists, least):
    tokens = tokens_of(lists)
    candidates = associated(tokens, least, -1.0)
    pairs, at, which = frequent(tokens, candidates, least)
    text = np.searchsorted(tokens.ends, at, side="right") - 1
    left = [len(set(text[which == i].tolist())) for i in range(len(pairs.left))]
    assert all(n >= least for n in left)
    first = meetings(tokens, candidates)[1]
    if len(np.unique(first)) == len(pairs.left) == len(candidates.left):
        assert which.tolist() == first.tolist()


def test_a_pair_that_a_closer_one_always_takes_is_no_phrase():
    texts = ["form press release", "form press release", "press release", "press release", "form"]
    texts += ["blue sky", "green tea", "form letter", "form field", "form press"]
    found = TextVectorizer(lemmatizer=None, phrases=2, min_df=2, stop_words=None).fit(texts)
    assert [one.word for one in found.phrases_] == ["press release"]
    assert found.words("form press release") == ["form", "press release"]
    assert found.words("form press") == ["form", "press"]

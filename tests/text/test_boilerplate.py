"""What is no subject: recognised, left out of the words, and kept where that is asked for."""

from __future__ import annotations

import pytest

from spheremix.errors import ParameterError
from spheremix.text import TextVectorizer, vectorize
from spheremix.text.boilerplate import Boilerplate, repeated_lines
from spheremix.text.vectorizer import NO_SUBJECT
from spheremix.text.words import Written, forms

KINDS = {
    "See https://example.org/a?b=c#d, please": ("See please", "URLs"),
    "See www.example.org/press. Now": ("See Now", "URLs"),
    "shares of Amazon.com rose": ("shares of Amazon rose", "URLs"),
    "write to first.last@mail.example.com now": ("write to now", "e-mail addresses"),
    "thanks @some_body for tea": ("thanks for tea", "handles"),
    "end of the text\nPage 3\nnext": ("end of the text next", "page numbers"),
    "end of the text\n- 12 -\nnext": ("end of the text next", "page numbers"),
    "as said Page 3 of 12 next": ("as said next", "page numbers"),
    "From: A\nSubject: Re: Green apples\nLines: 3\n\nI eat": (
        "Green apples I eat",
        "headers of mails",
    ),
}


@pytest.mark.parametrize("text", KINDS)
def test_each_kind(text):
    left, kinds = Boilerplate().cut(text)
    assert (left.split(), kinds) == (KINDS[text][0].split(), [KINDS[text][1]])
    written = Written.read([text, "plain"], forms, Boilerplate().cut)
    assert written.kinds == {KINDS[text][1]: 1}


def test_a_retweet_leaves_its_words_and_those_of_hashtags():
    text = "RT @some_body: stop the #brexit talk"
    assert Boilerplate()(text).split() == [":", "stop", "the", "#brexit", "talk"]
    words = TextVectorizer(lemmatizer=None, min_df=1, max_df=1.0).fit([text])
    assert list(words.vocabulary_) == ["brexit", "stop", "talk"]


@pytest.mark.parametrize(
    "text",
    [
        "The RT ward has 3 beds",
        "Date: 3 May\nThe meeting began",
        "From: the beginning of it all",
        "A page 3 model; 12 of 30 pages\n1999\nmore",
        "a @ b is their product, e.g. of two, etc.",
        "it ended.Common sense won",
    ],
)
def test_what_only_looks_like_it_stays(text):
    assert Boilerplate().cut(text) == (text, [])


def test_lines_are_repeated_in_many_documents_and_long_or_in_still_more():
    menu, long, rare = "Log in", "Sign up for our daily letter", "You must accept all of this"
    texts = [
        f"line {i}\n{menu}\nOne" + f"\n{long}" * (i < 10) + f"\n{rare}" * (i < 9)
        for i in range(100)
    ]
    assert repeated_lines(texts) == {menu: 100, long: 10}
    heading = [f"line {i}" + "\nClimate change" * (i < 19) for i in range(200)]
    assert repeated_lines(heading) == {}  # two words need a tenth of the documents
    assert repeated_lines(["no answer at all given"] * 50) == {}  # texts of one line


def test_words_are_counted_without_it_in_fits_and_in_new_texts():
    texts = [
        f"Read our terms of use\nat www.shop.com of {('apple', 'pear')[i % 2]} pies {i}"
        for i in range(30)
    ]
    options = {"lemmatizer": None, "max_df": 1.0}
    words = TextVectorizer(**options).fit(texts)
    assert list(words.vocabulary_) == ["apple", "pear", "pies"]
    assert words.lines_ == {"Read our terms of use": 30}
    assert words.boilerplate_ == {"URLs": 30, "repeated lines": 30}
    assert words.words("Read our terms of use\nwww.shop.com pies") == ["pies"]
    known = {"idf": words.idf_, "forms": words.forms_, "drop_lines": list(words.lines_)}
    again = TextVectorizer.restore(words.vocabulary_, **known, **options)
    assert (again.transform(texts) != words.transform(texts)).nnz == 0
    kept = TextVectorizer(keep_boilerplate=True, **options).fit(texts)
    assert {"com", "shop", "www", "terms"} <= set(kept.vocabulary_)
    assert kept.lines_ == kept.boilerplate_ == {}


def test_lines_that_are_named_are_left_out_too():
    texts = ["apple pie\nsent from my phone", "pear pie"]
    words = TextVectorizer(lemmatizer=None, drop_lines=["sent from my phone"]).fit(texts)
    assert list(words.vocabulary_) == ["apple", "pear", "pie"]
    assert words.lines_ == {"sent from my phone": 1}
    with pytest.raises(ParameterError, match="either drop_lines or keep_boilerplate"):
        TextVectorizer(drop_lines=["a line"], keep_boilerplate=True).fit(texts)


def test_a_document_of_nothing_else_is_set_aside_with_this_reason():
    found = vectorize(["apple pie", "http://example.org @me", "apple"], lemmatizer=None)
    assert [(one.row, one.reason) for one in found.set_aside] == [(1, NO_SUBJECT)]

"""How words are written and used: nouns and names against verbs, months and pieces of programs."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spheremix.text import TextVectorizer
from spheremix.text.words import forms
from spheremix.text.writing import learn_writing, pieces

PLAIN = [
    f"{the} {noun} of the year is in {my} {other}. They {verb} in March, and we {verb} {my} {noun}."
    f" You can {verb} on Monday, or Julia will {verb} with {my} {other}, by {the.lower()} {noun}"
    f" of Julia, to {my} Julia."
    for noun, other in (("film", "cinema"), ("cinema", "comedy"), ("comedy", "film"))
    for verb in ("laugh", "watch")
    for the, my in (("The", "his"), ("A", "our"), ("This", "their"))
]


def learned(texts, **parameters):
    parameters = {"min_df": 1, "max_df": 1.0, "lemmatizer": None} | parameters
    return learn_writing(texts, TextVectorizer(**parameters).fit(texts))


def test_nouns_are_told_from_verbs_by_their_neighbours():
    merit = learned(PLAIN).merit
    for noun in ("film", "comedy", "cinema"):
        for verb in ("laugh", "watch"):
            assert merit[noun] > 2 * merit[verb]


def test_months_are_in_no_name_and_words_of_every_subject_come_last():
    merit = learned(PLAIN).merit
    assert merit["march"] == merit["monday"] == 0.0
    assert merit["year"] < 0.3 * merit["film"]


def test_names_are_written_with_capitals_and_nouns_as_within_sentences():
    found = learned([*PLAIN, "Film and cinema. Film or cinema. Film is cinema. Film, cinema."])
    assert found.written["julia"] == "Julia"
    assert found.merit["julia"] == 1.0
    assert "film" not in found.written  # it is most often at the beginning of a sentence


def test_german_nouns_are_known_by_their_capitals():
    texts = [f"Wir sehen den Film im Kino und lachen sehr {x}." for x in "abcd"]
    found = learned(texts, language="de")
    assert found.merit["film"] == found.merit["kino"] == 1.0
    assert found.merit["lachen"] <= 0.1
    assert found.written["kino"] == "Kino"


def test_english_articles_are_in_no_name_of_another_language():
    texts = [f"Wir lesen The Verge und die Zeitung {x}, und The Economist." for x in "abcd"]
    found = learned(texts, language="de")
    assert found.merit["the"] == 0.0
    assert found.merit["zeitung"] == 1.0


def test_a_language_without_lists_has_no_verbs():
    merit = learned(PLAIN, language="pl").merit
    assert merit["watch"] == merit["film"] == 1.0


def test_pieces_of_programs_and_of_hyphens_are_no_names():
    texts = [
        f"Set the max_width of the picture {x}. A picture has a pre-sided frame of the max_width."
        for x in "abcdef"
    ]
    merit = learned(texts).merit
    assert merit["picture"] > 4 * merit["width"]
    assert merit["frame"] > 4 * merit["sided"]
    assert merit["frame"] > 4 * merit["pre"]


# The same as one pattern, which begins anywhere and is slow.
PIECES = re.compile(
    r"\w+(?:_+\w+)+|\b\w+(?=\()|\b\w+(?==[^=])|^[ \t]*\w+(?=[ \t]:[ \t])|`+[^`\n]+`+"
    r"|(?<=\w-)\w+|\b\w+(?=-\w)",
    re.MULTILINE,
)


@given(st.text("ab\u00e92_-(=: \t\n`.", max_size=24))
def test_pieces_of_programs_are_those_of_one_pattern(text):
    found = [form for piece in pieces(text) for form in forms(piece)]
    expected = [form for match in PIECES.finditer(text) for form in forms(match.group())]
    assert sorted(found) == sorted(expected)


def test_words_of_a_sentence_that_is_repeated_are_no_names():
    others = ("the moon", "a dog", "his letter", "my garden", "this river", "our bread")
    texts = [
        f"About {one} and the whale of {one}. Published by Wiley in Hoboken today." * 2
        for one in others
    ]
    merit = learned(texts, stop_words=["about", "and", "the", "of", "by", "in"]).merit
    assert merit["wiley"] < 0.2
    assert merit["wiley"] < merit["moon"]


def test_phrases_are_neighbours_that_go_together_as_they_are_written():
    texts = [
        f"The Supreme Court and the {one}. A {one} of the Supreme Court is a court."
        for one in ("judge", "lawyer", "witness", "jury", "trial", "verdict", "fine", "bail")
    ]
    found = learned(texts)
    assert found.phrases == {"supreme": {"court": "Supreme Court"}}


def test_titles_of_persons_are_in_no_phrase():
    ones = ("judge", "lawyer", "witness", "jury", "trial", "verdict", "fine", "bail")
    texts = [
        f"The {one} saw Mr Brown and the {other}. A {other} of Brown {one} Mr Brown is a {one}."
        for one, other in zip(ones, ones[::-1], strict=True)
    ]
    found = learned([*texts, *PLAIN])
    assert found.merit["brown"] == 1.0
    assert found.phrases == {}


def test_words_without_texts_and_texts_without_words():
    texts = ["sea", "sea"]
    found = learned(texts)
    assert set(found.merit) == {"sea"}
    assert found.phrases == {}


def test_only_some_of_many_texts_are_read(monkeypatch):
    whole = learned(PLAIN).merit
    monkeypatch.setattr("spheremix.text.writing.READ", sum(map(len, PLAIN)) // 2)
    some = learned(PLAIN).merit
    assert whole.keys() == some.keys()
    assert some["film"] > 2 * some["laugh"]


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "it", "nl", "pt"])
def test_merits_are_shares(language):
    merits = learned(PLAIN, language=language).merit.values()
    assert all(0.0 <= one <= 1.0 for one in merits)

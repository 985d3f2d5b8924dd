# ruff: noqa: RUF001
"""Texts into passages."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.text.passages import LONG, WORDS

WAYS = ["auto", "none", "paragraphs", "sentences", 1, 20, 80]
SENTENCE = "The sea was calm and the sky was clear today. "  # ten words


def pieces(text, into="sentences"):
    return sm.text.split([text], into).texts


def strange(seed):
    """Return a text of random signs, words and lines."""
    rng = np.random.default_rng(seed)
    parts = [
        "a",
        "Sea",
        "z.B.",
        ".",
        "!",
        "…",
        ",",
        " ",
        "  ",
        "\n",
        "\n\n",
        "- ",
        "1. ",
        "|",
        "\t",
    ]
    parts += [
        "。",
        "海",
        "天気",
        "«",
        "»",
        "(",
        ")",
        ":",
        "# ",
        "\r\n",
        "1,000",
        "ß",
        "\u2028",
        "ที่",
    ]
    return "".join(rng.choice(parts, 400))


@pytest.mark.parametrize("into", WAYS)
@pytest.mark.parametrize("seed", range(20))
def test_passages_are_places_of_the_text_and_nothing_is_lost(into, seed):
    texts = [strange(seed), "", "Sea.", strange(seed + 100)]
    found = sm.text.split(texts, into)
    assert set(found.documents) == {0, 1, 2, 3}
    assert (np.diff(found.documents) >= 0).all()
    for i, text in enumerate(texts):
        own = np.flatnonzero(found.documents == i)
        places = [(found.starts[j], found.ends[j]) for j in own]
        assert [text[a:b] for a, b in places] == [found.texts[j] for j in own]
        assert places == sorted(places)
        between = [text[b:a] for (_, b), (a, _) in pairwise(places)]
        assert not "".join(between).strip()
        assert not text[: places[0][0]].strip()
        assert not text[places[-1][1] :].strip()


@pytest.mark.parametrize("into", WAYS)
@pytest.mark.parametrize("seed", range(20))
def test_no_word_is_cut(into, seed):
    text = strange(seed)
    found = sm.text.split([text], into)
    for before, after in zip(found.ends[:-1], found.starts[1:], strict=True):
        if before == after:  # no white space: a sign that ends something, and no letter in a number
            assert text[before - 1] in "。»),:…!."
            assert "。" in text[:before] or not text[after].isalnum()


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Weiss met Prof. Smith.|They spoke.",
        "He moved to the U.S. Senate in 1990.|It was late.",
        "J. R. Smith came.|Nobody else did!|Why?",
        "Das gilt z.B. für Hr. Meier, d.h. Nachbarn.|Am 3. Mai ist z. B. Feiertag.",
        "Rund 5 Mio. Euro kostet es lt. Nr. 12 bzw. Abs. 3 usw. Das reicht.",
        "Il habite chez M. Dupont.|« C'est loin. »|Oui.",
        "“Is it true?” he asked.|“Yes.”|She left.",
        "Yahoo! is a name.|So is it.",
        "It fell by 3.5 percent... and rose.|Then it fell.",
        "¿Qué hora es?|¡No sé!|El Sr. López llegó.",
        "今日は天気がいい。|海へ行こう！|「はい。」|そうだ。",
        "Он пришёл.|Она ушла.",
        "वह आया।| वह गया।",
    ],
)
def test_sentences(text):
    expected = [one.strip() for one in text.split("|")]
    assert pieces(text.replace("|", "" if "。" in text else " ")) == expected


def test_paragraphs_and_wrapped_lines():
    wrapped = (
        "The sea was calm and\nthe sky was clear.\nNobody spoke at all\nof it\n\nThen it rained."
    )
    assert pieces(wrapped, "paragraphs") == [wrapped[: wrapped.index("\n\n")], "Then it rained."]
    lines = f"{SENTENCE * 4}\n{SENTENCE * 3}\n{SENTENCE}"
    assert len(pieces(lines, "paragraphs")) == 3


def test_headings_go_with_what_follows():
    for heading in (
        "The weather",
        "# 1. The weather is a subject of many words in this place today",
        "WIND",
    ):
        text = f"{SENTENCE * 8}\n\n{heading}\n\n{SENTENCE * 8}"
        first, second = pieces(text, 80)
        assert first == (SENTENCE * 8).strip()
        assert second.startswith(heading)
        assert pieces(text, "paragraphs")[1] == second


def test_a_colon_goes_with_what_follows():
    text = "These are the points:\n\n- calm sea\n- clear sky\n\nNobody spoke."
    assert pieces(text) == ["These are the points:\n\n- calm sea\n- clear sky", "Nobody spoke."]


@pytest.mark.parametrize(
    "rows",
    [
        [f"- item {i} of the sea" for i in range(12)],
        [f"{i}. item. Of the sea" for i in range(12)],
        [f"| {i} | sea | sky |" for i in range(12)],
        [f"{i}    sea    sky" for i in range(12)],
        [f"{i}\tsea\tsky" for i in range(12)],
    ],
)
def test_lists_and_tables_stay_in_one_piece(rows):
    table = "\n".join(rows)
    text = f"{SENTENCE * 8}\n\n{table}\n\n{SENTENCE * 8}"
    assert any(table in one for one in pieces(text, 80))
    assert pieces(f"{SENTENCE}\n\n{table}\n\n{SENTENCE}", "sentences")[1] == table


def test_a_long_list_is_cut_between_its_rows():
    rows = [f"- item {i} of the calm sea" for i in range(500)]
    found = pieces("\n".join(rows), 80)
    assert len(found) > 10
    assert all(row in rows for one in found for row in one.split("\n"))


def test_sizes():
    rng = np.random.default_rng(0)
    sentences = [" ".join(["sea"] * rng.integers(5, 40)) + ". The sky." for _ in range(400)]
    found = sm.text.split([" ".join(sentences)], 80)
    assert np.mean((found.n_words >= 60) & (found.n_words <= 100)) > 0.95
    assert found.n_words.tolist() == [len(one.split()) for one in found.texts]


def test_a_sentence_without_end_is_cut_at_spaces_or_commas():
    found = sm.text.split([" ".join(["sea"] * 1000)], 80)
    assert found.n_words.min() >= 40
    assert found.n_words.max() <= 120
    commas = ", ".join(["the calm sea"] * 300)
    assert all(one.endswith(("sea,", "sea")) for one in pieces(commas, 80))
    assert pieces("a" * 10_000, 80) == ["a" * 10_000]


def test_scripts_without_spaces_are_counted():
    text = "海は静かで空は晴れていた。" * 100
    found = sm.text.split([text], 80)
    assert 5 < len(found) < 15
    assert all(one.endswith("。") for one in found.texts)
    assert sm.text.split([text * 3, text * 3], "auto").n_split == 2


def test_auto_splits_long_documents_only():
    long, short = SENTENCE * (LONG // 10 + 1), SENTENCE * (LONG // 10)
    found = sm.text.split([long, short, short])
    assert found.n_split == 1
    assert found.texts[-2:] == [short, short]
    assert str(found) == (
        f"1 of 3 documents split into {len(found) - 2} passages of "
        f"{round(found.n_words[:-2].mean())} words on average; 2 stay whole."
    )
    assert abs(found.n_words[:-2].mean() - WORDS) < 20
    none = sm.text.split([long] + [short] * 10)
    assert none.n_split == 0
    assert none.n_left == 1
    assert str(none) == (
        "1 of 11 documents has more than 800 words. These are fewer than a tenth, so all stay "
        "whole, unless you say into how many words to split them, such as 80."
    )
    assert str(sm.text.split([short] * 3)) == "3 documents, none split."


def test_none_leaves_texts_as_they_are():
    texts = [" a \n\n b ", ""]
    assert sm.text.split(texts, "none").texts == texts


@pytest.mark.parametrize(
    "sign",
    [
        ".",
        ". ",
        "(",
        "\n",
        " ",
        "a",
        "a.",
        "1,",
        "- ",
        "\n- ",
        '."',
        "| ",
        "\n ",
        "。",
        ".\n",
        ", ",
    ],
)
@pytest.mark.parametrize("into", ["paragraphs", "sentences", 80])
def test_hostile_texts_end(sign, into):
    """A pattern that goes back over them would not end within hours."""
    text = sign * 60_000
    found = sm.text.split([text], into)
    assert "".join("".join(found.texts).split()) == "".join(text.split())


@pytest.mark.parametrize("into", ["words", 0, -1, 2.5, None, True])
def test_other_ways_are_refused(into):
    with pytest.raises(ParameterError, match="into must be"):
        sm.text.split(["The sea."], into)


def test_one_string_is_refused():
    with pytest.raises(ParameterError, match="list of strings"):
        sm.text.split("The sea.")

"""What looks wrong in texts is named, and mended only where that is asked for."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from spheremix.text.corpus import Corpus
from spheremix.text.trouble import MOJIBAKE, decoded_again, mend, trouble

ENGLISH = "The price of the house is not what it was before, and nobody knows why it is so. "
FRENCH = "Le prix de la maison n'est pas ce qu'il était, et je ne sais pas pourquoi il est ainsi. "
GERMAN = "Der Preis des Hauses ist nicht mehr was er war, und ich weiß nicht warum das so ist. "


def said(texts, words=(), languages=("en",), *, mended=False):
    return [one.message.render() for one in trouble(texts, words, languages, mended=mended)]


def test_good_texts_have_no_trouble():
    texts = [
        f"{ENGLISH} Naïve café, São Paulo, Ångström, NÃO, château: “{i}” \u2013 £5."
        for i in range(50)
    ]
    assert said(texts, ["house", "3d"]) == []
    assert said([GERMAN + FRENCH] * 50, languages=("de", "fr")) == []
    assert said([GERMAN] * 50, languages=("fi",)) == []  # there is no list to compare with


@pytest.mark.parametrize("encoding", ["latin-1", "windows-1252"])
def test_text_that_was_decoded_wrongly(encoding):
    good = ["It\u2019s a café", "plain", "Müller\u2019s"]
    bad = [text.encode().decode(encoding) for text in good]
    [message] = said(bad)
    assert message.startswith("Text seems to be decoded wrongly in 2 of 3 documents (")
    assert message.endswith("mend it with mend_encoding=True.")
    pytest.importorskip("ftfy", reason="ftfy is not installed")
    assert decoded_again(bad) == (good, 2)
    found = mend(Corpus(bad, ["1", "2", "3"]))
    assert (found.texts, found.notes) == (good, ["Text was decoded again in 2 documents."])
    assert said(bad, mended=True) == []


@given(st.text("abcdéèüöäßñçàâôŷÂÃÉ “”\u2019\u2013\u2014£ "))
def test_what_is_right_is_not_mended(text):
    pytest.importorskip("ftfy", reason="ftfy is not installed")
    if not MOJIBAKE.search(text):
        assert decoded_again([text]) == ([text], 0)


def test_mending_needs_a_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "ftfy", None)
    with pytest.raises(ImportError, match=r"mend_encoding=True needs .* pip install ftfy"):
        decoded_again(["text"])


def test_digits_and_letters():
    words = [f"{i}m" for i in range(12)] + ["word"] * 80
    [message] = said([ENGLISH], words)
    assert message.startswith("12 of 92 words mix digits and letters (as 0m, 4m, 8m)")
    assert said([ENGLISH], words[:9]) == []
    assert said([ENGLISH], words + ["more"] * 1000) == []


def test_words_that_run_together():
    texts = [f"the pricesThe house{'abcdefghijklmnop'[i]}Then YouTube" for i in range(12)]
    [message] = said(texts)
    assert message.startswith(
        "Words seem to run together in 12 of 12 documents that were looked at"
    )
    assert "houseaThen" in message
    assert "YouTube" not in message
    assert said(["We watch YouTube on PlayStation"] * 50) == []


@pytest.mark.parametrize(
    ("texts", "remedy"),
    [
        ([FRENCH] * 40, "language=fr"),
        ([ENGLISH] * 80 + [GERMAN] * 20, "language=en,de"),
    ],
)
def test_another_language(texts, remedy):
    [message] = said(texts)
    assert f"say so with {remedy}." in message
    assert "seem to be in another language than English (" in message
    assert said([ENGLISH] * 99 + [GERMAN]) == []


def test_trouble_says_in_which_texts_it_is():
    texts = [ENGLISH] * 30 + [GERMAN] * 8 + ["the pricesThe house"] * 2
    counts = sparse.csr_array(np.eye(40, 12, dtype=int))
    [mixed, foreign] = trouble(texts, [f"{i}m" for i in range(12)], ["en"], counts)
    assert (mixed.documents, mixed.looked_at) == ([*range(12)], 1)
    assert foreign.documents == [*range(30, 38)]
    [found] = trouble(([GERMAN] + [ENGLISH] * 3) * 1000, (), ["en"])
    assert (found.looked_at, found.documents[:2], len(found.documents)) == (2, [0, 4], 1000)

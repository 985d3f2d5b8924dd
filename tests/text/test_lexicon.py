"""Forms of one word are counted together and shown as most people wrote them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spheremix.text import TextVectorizer
from spheremix.text.lexicon import Lexicon, Simplemma
from spheremix.text.stopwords import stop_words
from spheremix.text.words import WordRule


class Dictionary:
    """A lemmatiser as simplemma is one."""

    def __init__(self, lemmas, bases=None, *, cased=False):
        self.lemmas, self.bases, self.cased = lemmas, bases or {}, cased
        self.asked = []

    def __call__(self, form):
        self.asked.append(form)
        return self.lemmas.get(form, form)

    def base(self, form, lemma):
        return self.bases.get((form, lemma))


def learn(occurrences, lemma=None, stop=(), drop=()):
    return Lexicon.learn(occurrences, WordRule(frozenset(stop)), lemma, drop)


def test_a_word_is_shown_as_its_most_frequent_form():
    lemma = Dictionary({"united": "unite", "unites": "unite", "elections": "election"})
    found = learn({"united": 9, "unite": 2, "unites": 1, "election": 3, "elections": 3}, lemma)
    assert found.known == {
        "united": "united",
        "unite": "united",
        "unites": "united",
        "election": "election",  # as often as "elections", and before it in the alphabet
        "elections": "election",
    }


def test_a_lemma_that_nobody_writes_is_not_shown():
    lemma = Dictionary({"fixed": "fixe", "fixing": "fixe", "ran": "run", "runs": "run"})
    found = learn({"fixed": 2, "fixing": 1, "ran": 1}, lemma)
    groups = {"fixed": "fixed", "fixing": "fixed", "fixe": "fixed", "ran": "ran", "run": "ran"}
    assert found.known == groups
    assert found.word("runs") == "ran"  # a form that was not there, through its lemma


@pytest.mark.parametrize(("slips", "fixed"), [(0, "fixed"), (1, "fixed"), (20, "fixed")])
def test_a_wrong_lemma_does_not_split_a_word(slips, fixed):
    lemma = Dictionary({"fixed": "fixe", "fixes": "fixe"}, {("fixed", "fixe"): "fix"})
    found = learn(
        {"fixed": 200, "fixes": 9, "fix": 100, **({"fixe": slips} if slips else {})}, lemma
    )
    together = {found.known[form] for form in ("fixed", "fixes", "fixe")}
    assert together == {fixed}
    # Written once beside 209 forms of it, it is a slip; written twenty times, it is a word.
    assert (found.known["fix"] == "fix") == (slips == 20)


def test_a_plural_that_the_dictionary_does_not_have():
    lemma = Dictionary({}, {("dvds", "dvds"): "dvd", ("pcs", "pcs"): "pc", ("mps", "mps"): "mp"})
    found = learn({"dvds": 3, "dvd": 5, "pcs": 1}, lemma)
    assert found.known == {"dvds": "dvd", "dvd": "dvd", "pcs": "pcs"}
    assert found.word("mps") == "mps"


def test_a_word_of_its_own_is_not_cut_off_from_its_forms():
    lemmas = {"meetings": "meeting", "meeting": "meet", "met": "meet", "showings": "showing",
              "showing": "show"}  # fmt: skip
    counts = {"meetings": 2, "meeting": 40, "met": 9, "showings": 1, "showing": 90, "show": 100}
    found = learn(counts, Dictionary(lemmas)).known
    assert found["meetings"] == found["meeting"] == "meeting"
    assert found["met"] == found["meet"] == "met"
    assert found["showings"] == found["showing"] == found["show"] == "show"  # too few of them


def test_lemmas_in_a_circle():
    found = learn({"ab": 1, "ba": 2}, Dictionary({"ab": "ba"}, {("ba", "ba"): "ab"}))
    assert found.known == {"ab": "ba", "ba": "ba"}


def test_stems_of_a_function_need_be_no_words():
    found = learn({"relational": 1, "relations": 2}, lambda form: form[:7])
    assert set(found.known.values()) == {"relations"}
    assert found.word("relation") == "relations"
    assert found.word("Relationship") == "relations"


@pytest.mark.parametrize("languages", ["en,de", "de,en", "en,fr", "en,nl", "it,es"])
def test_no_stop_word_becomes_a_word(languages):
    texts = ["He died when the tide was in.", "Die Diät, die er di sah.", "She dies. Das dit des."]
    stop = frozenset().union(*map(stop_words, languages.split(",")))
    found = TextVectorizer(language=languages, stop_words=stop, min_df=1, max_df=1.0).fit(texts)
    assert not {word for word in stop if found.forms_.get(word) is not None}


def test_stop_words_are_dropped_as_forms_and_as_lemmas():
    lemma = Dictionary({"bes": "be", "ds": "d", "ai": "be", "being": "be"})
    found = learn({"the": 3, "bes": 1, "ds": 1, "ai": 1, "42": 1}, lemma, stop={"the", "be"})
    assert found.known == {"bes": None, "ds": "ds", "ai": "ai"}
    assert {found.word(form) for form in ("the", "bes", "42", "a", "being", "be")} == {None}


def test_unwanted_words_go_with_all_their_forms():
    lemma = Dictionary({"united": "unite", "unites": "unite"})
    found = learn({"united": 9, "unite": 2, "unites": 1, "dog": 1}, lemma, drop=["Unites", "cow"])
    assert found.known == {"united": None, "unite": None, "unites": None, "dog": "dog"}


def test_a_noun_is_known_by_how_it_is_written_most_often():
    lemma = Dictionary({"Bauten": "Bau", "bauten": "bauen"}, cased=True)
    found = learn({"Bauten": 3, "bauten": 1, "BAU": 1}, lemma)
    assert found.known == {"bauten": "bauten", "bau": "bauten"}
    assert lemma.asked == ["Bauten", "BAU"]


@given(
    st.dictionaries(st.text("abcd", min_size=2, max_size=4), st.integers(1, 9), min_size=1),
    st.integers(1, 3),
)
def test_words_are_forms_and_each_form_has_one(occurrences, length):
    found = learn(occurrences, lambda form: form[:length] + "xx")
    groups = {}
    for form in occurrences:
        groups.setdefault(form[:length], []).append(form)
    for forms in groups.values():
        best = min(forms, key=lambda form: (-occurrences[form], form))
        assert {found.known[form] for form in forms} == {best}


def test_vocabulary_shows_forms_and_counts_groups():
    texts = ["United nations unite", "a united nation", "nations united, nations"]
    lemma = Dictionary({"united": "unite", "nations": "nation"})
    vectorizer = TextVectorizer(lemmatizer=lemma, weighting="counts")
    counts = vectorizer.fit_count(texts)
    assert vectorizer.vocabulary_.tolist() == ["nations", "united"]
    assert counts.toarray().tolist() == [[1, 2], [1, 1], [2, 1]]
    assert vectorizer.forms_["nation"] == "nations"
    assert vectorizer.words("The UNITED nation of birds") == ["united", "nations", "birds"]
    lemma.lemmas["uniting"] = "unite"
    again = TextVectorizer.restore(
        vectorizer.vocabulary_, forms=vectorizer.forms_, **vectorizer.get_params()
    )
    new = [*texts, "uniting nation", "unknown"]
    np.testing.assert_array_equal(
        again.transform(new).toarray(), vectorizer.transform(new).toarray()
    )
    assert again.transform(["uniting"]).toarray().tolist() == [[0.0, 1.0]]


class TestSimplemma:
    @pytest.fixture(autouse=True)
    def package(self):
        pytest.importorskip("simplemma", reason="simplemma is not installed")

    def test_every_word_is_a_form_of_the_texts(self):
        texts = [
            "The United States developed Wales per capita; neighborhoods grow and fix roofs.",
            "A neighborhood in Wales, developed, fixed and growing, unites the states.",
        ]
        vectorizer = TextVectorizer().fit(texts)
        written = Counter(word for text in texts for word in text.lower().replace(".", " ").split())
        words = vectorizer.vocabulary_.tolist()
        assert {"united", "wales", "capita", "developed", "states"} <= set(words)
        assert set(words) <= {word.strip(",;") for word in written}
        known = vectorizer.forms_
        assert known["neighborhood"] == known["neighborhoods"]
        assert known["grow"] == known["growing"]
        assert known["fix"] == known["fixed"]

    @pytest.mark.parametrize(
        ("form", "lemma", "base"),
        [
            ("developed", "develope", "develop"),
            ("growing", "growe", "grow"),
            ("travelling", "travell", "travel"),
            ("caring", "care", None),
            ("calling", "call", None),
            ("wales", "wale", None),
            ("pending", "pend", None),
            ("dvds", "dvds", "dvd"),
            ("skies", "ski", "sky"),
            ("cities", "city", None),
            ("glass", "glass", None),
            ("ran", "run", None),
        ],
    )
    def test_bases_that_lemmas_miss(self, form, lemma, base):
        assert Simplemma(("en",)).base(form, lemma) == base
        if form != lemma:
            assert Simplemma(("fi",)).base(form, lemma) is None

    @pytest.mark.parametrize(
        ("form", "lemma"),
        [("inc", "inc"), ("PR", "Pr"), ("states", "state"), ("wrote", "write"), ("mice", "mouse")],
    )
    def test_abbreviations_are_not_written_out(self, form, lemma):
        assert Simplemma(("en",))(form) == lemma

    def test_new_texts_need_no_lemma_of_a_form_that_was_met(self):
        fitted = TextVectorizer().fit(["The companies were merging", "a company merged"])
        assert fitted.vocabulary_.tolist() == ["companies", "merged"]
        fitted._terms.lexicon.lemma = None  # as if the package had changed
        assert fitted.words("company merging") == ["companies", "merged"]

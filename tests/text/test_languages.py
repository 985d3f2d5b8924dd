"""Languages of texts are found by their stop words, and each text is without its own ones."""

from __future__ import annotations

import pytest

from spheremix.text import TextVectorizer
from spheremix.text.languages import find_languages, language_of

ENGLISH = "The war was long and many soldiers died in it, as the men of the village know."
GERMAN = "Die Suppe war heiß, und das Brot, die Butter und der Käse waren auf dem Tisch."
FRENCH = "La soupe était chaude, et le pain, le beurre et le fromage étaient sur la table."
BOTH = {"language": "en,de", "min_count": 1, "min_df": 1, "max_df": 1.0}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (ENGLISH, "en"),
        (GERMAN, "de"),
        (FRENCH, "fr"),
        ("", None),
        ("Paris London Rom", None),
        ("in so in so", None),  # as much German as English
    ],
)
def test_the_language_of_a_text(text, language):
    assert language_of(text) == language


def test_languages_of_texts():
    assert find_languages([ENGLISH] * 60 + [GERMAN] * 40) == {"en": 60, "de": 40}
    assert find_languages([GERMAN] * 96 + [FRENCH] * 4) == {"de": 96}
    assert find_languages(["Paris"] * 80 + [GERMAN] * 20) == {}  # most of them are not clear
    assert find_languages([]) == {}


@pytest.mark.parametrize("phrases", [1, 2])
def test_each_text_is_without_the_stop_words_of_its_language(phrases):
    vectorizer = TextVectorizer(phrases=phrases, **BOTH).fit([ENGLISH, GERMAN])
    assert " ".join(vectorizer.words(ENGLISH)) == "war long soldiers died men village know"
    assert " ".join(vectorizer.words(GERMAN)) == "suppe heiß brot butter käse tisch"
    again = TextVectorizer.restore(
        vectorizer.vocabulary_,
        vectorizer.idf_,
        vectorizer.forms_,
        vectorizer.phrases_,
        phrases=phrases,
        **BOTH,
    )
    assert (again.transform([GERMAN]) != vectorizer.transform([GERMAN])).nnz == 0


def test_forms_of_stop_words_are_left_out_by_language():
    lemma = {"ihres": "ihr", "theses": "these"}
    vectorizer = TextVectorizer(lemmatizer=lambda form: lemma.get(form, form), **BOTH)
    vectorizer.fit([ENGLISH, GERMAN])
    assert vectorizer.words("die ihres das theses") == ["these"]
    assert vectorizer.words("the ihres and theses") == ["ihr"]


def test_a_text_in_two_languages_has_the_stop_words_of_neither():
    vectorizer = TextVectorizer(**BOTH).fit([f"{ENGLISH} {GERMAN}"])
    assert not {"the", "was", "war", "die", "und"}.intersection(vectorizer.vocabulary_)

"""Texts, and a vectoriser that drops nothing, for tests of words."""

from __future__ import annotations

from spheremix.text import TextVectorizer

TEXTS = [
    "The cats sat on the mat; the cat's mat.",
    "A cat and a dog, 2 dogs!",
    "Dogs dig in 1999.",
    "",
    "The of and",
]


def plain(**parameters):
    """Return a vectoriser that needs no package and drops nothing."""
    options = {"lemmatizer": None, "min_count": 1, "min_df": 1, "max_df": 1.0}
    return TextVectorizer(**{**options, **parameters})

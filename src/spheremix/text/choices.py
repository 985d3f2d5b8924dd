"""What the parameters of a vectoriser stand for: lemmatiser, stop words, runs of words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from spheremix.errors import ParameterError
from spheremix.parameters import require_integer
from spheremix.text.lemmas import Simplemma
from spheremix.text.stopwords import stop_words as stop_words_in
from spheremix.text.wordlists import word_list

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from os import PathLike


def languages_of(language: str) -> tuple[str, ...]:
    """Return the codes of "en,fr"."""
    text = language if isinstance(language, str) else ""
    languages = tuple(code.strip().lower() for code in text.split(","))
    if not all(code.isalpha() and len(code) in {2, 3} for code in languages):
        raise ParameterError(
            '{language} must be a code such as "en", got {got}', got=repr(language)
        )
    return languages


def lemma_of(
    lemmatizer: str | Callable[[str], str] | None, languages: tuple[str, ...]
) -> Callable[[str], str] | None:
    """Return what finds the lemma of a form; None where forms are left as they are."""
    if lemmatizer is None or lemmatizer == "none":
        return None
    if lemmatizer == "simplemma":
        return Simplemma(languages)
    if isinstance(lemmatizer, str) or not callable(lemmatizer):
        raise ParameterError(
            '{lemmatizer} must be "simplemma", "none", None or a callable, got {got}',
            got=repr(lemmatizer),
        )
    return lemmatizer


def stop_words_of(
    stop_words: str | PathLike[str] | Iterable[str] | None, languages: tuple[str, ...]
) -> frozenset[str]:
    """Return the stop words: those of the languages, of scikit-learn, of a file or of a list."""
    if stop_words == "auto":
        return frozenset[str]().union(*map(stop_words_in, languages))
    if stop_words == "english":
        return frozenset(ENGLISH_STOP_WORDS)
    if isinstance(stop_words, str):
        raise ParameterError(
            '{stop_words} must be "auto", "english", None, words or the Path of a file, got {got}',
            got=repr(stop_words),
        )
    return frozenset(word_list("stop_words", stop_words or ()))


def sizes_of(ngram_range: tuple[int, int]) -> tuple[int, int]:
    """Return the least and the largest number of words of a run of words."""
    try:
        low, high = ngram_range
        low, high = require_integer("ngram_range", low, 1), require_integer("", high, low)
    except (TypeError, ValueError):
        raise ParameterError(
            "{ngram_range} must be two integers of at least 1, the smaller one first, as (1, 2); "
            "got {got}",
            got=repr(ngram_range),
        ) from None
    return low, high

"""Which words are kept, and which are left out: why, and how many texts have each of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from spheremix.errors import ParameterError
from spheremix.parameters import require_integer
from spheremix.text.words import UNKNOWN
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray
    from scipy import sparse

    from spheremix.text.lexicon import Lexicon
    from spheremix.text.phrases import Phrase
    from spheremix.text.words import Tokens, Written

RARE, COMMON, DROPPED, MIXED = "rare", "common", "dropped", "mixed"
MOST_LISTED = 1000  # rare words, and words of digits and letters, that are listed

FEW_DOCUMENTS = 20  # so few that a word of one of them may stay, and a word of all of them
USUAL = 5  # documents with a word, at least
SMALL = 40  # documents for each of these five
LARGE = 1000  # documents for each one, where that is more than five
LARGEST_LEAST = 20  # documents with a word, at least, in the largest corpora
HALF = 0.5  # of the documents


@dataclass(frozen=True, slots=True, eq=False)
class Frequencies:
    """How many texts there are, how many have each word, and how often it occurs."""

    n_texts: int
    documents: NDArray[Any]
    occurrences: NDArray[Any]

    @classmethod
    def of(cls, counts: sparse.csr_array) -> Self:
        """Read them off the counts of words in texts."""
        n, size = counts.shape
        documents = np.bincount(counts.indices, minlength=size)
        return cls(n, documents, np.bincount(counts.indices, counts.data, minlength=size))

    @classmethod
    def none(cls, n_words: int) -> Self:
        """Return those of no text."""
        return cls(0, np.zeros(n_words, dtype=np.int64), np.zeros(n_words))

    def __add__(self, other: Frequencies) -> Frequencies:
        return Frequencies(
            self.n_texts + other.n_texts,
            self.documents + other.documents,
            self.occurrences + other.occurrences,
        )


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Least occurrences of a word, least and largest number of documents that have it."""

    min_count: int
    min_df: int
    max_df: int
    lenient: bool = False  # nobody asked for this max_df: it yields where it would leave nothing

    @classmethod
    def choose(cls, n: int, min_count: Any, min_df: Any, max_df: Any) -> Self:
        """Complete what was left open for n documents."""
        if min_count is None:
            min_count = 1
        if min_df is None:
            min_df = least_documents(n)
        lenient = max_df is None
        if lenient:
            max_df = n if n < FEW_DOCUMENTS else HALF
        return cls(
            require_integer("min_count", min_count, 1),
            _documents("min_df", min_df, n),
            _documents("max_df", max_df, n),
            lenient,
        )

    def relaxed(self, counts: Frequencies) -> Thresholds:
        """Return these without the bound of common words that nobody asked for, if no word is left.

        The bound stays where somebody asked for it, and where it leaves a word.
        """
        left = (counts.documents >= self.min_df) & (counts.documents <= self.max_df)
        return replace(self, max_df=counts.n_texts) if self.lenient and not left.any() else self

    def survivors(self, counts: Frequencies) -> tuple[NDArray[np.intp], dict[str, int]]:
        """Return the columns of the words within the thresholds, and what each threshold cost.

        A word is counted once, for the first of ``min_df``, ``min_count`` and ``max_df`` that it
        does not meet.
        """
        n, documents, occurrences = counts.n_texts, counts.documents, counts.occurrences
        n_words = len(documents)
        tests = {
            "min_df": documents >= self.min_df,
            "min_count": occurrences >= self.min_count,
            "max_df": documents <= self.max_df,
        }
        kept = np.ones(n_words, dtype=bool)
        cost = {}
        for name, test in tests.items():
            cost[name] = int(np.count_nonzero(kept & ~test))
            kept &= test
        if not kept.any():
            left = {name: int(test.sum()) for name, test in tests.items()}
            raise self._no_survivors(n, n_words, left)
        return np.flatnonzero(kept), cost

    def beyond(self, words: Sequence[str], counts: Frequencies) -> dict[str, dict[str, int]]:
        """Return the words that are left out, with the number of their texts, by reason."""
        documents, occurrences = counts.documents, counts.occurrences
        rare = (documents < self.min_df) | (occurrences < self.min_count)
        common = ~rare & (documents > self.max_df)
        return {
            reason: {words[i]: int(documents[i]) for i in np.flatnonzero(which).tolist()}
            for reason, which in ((RARE, rare), (COMMON, common))
        }

    def _no_survivors(self, n: int, n_words: int, left: dict[str, int]) -> ParameterError:
        """Say which threshold is to blame."""
        parts = ", ".join(
            f"{{{name}={getattr(self, name)}}} leaves {words:,}" for name, words in left.items()
        )
        blamed = [name for name, words in left.items() if not words] or list(left)
        return ParameterError(
            f"None of the {{words}} of {{texts}} is left; alone, {parts}",
            remedies=tuple(
                f"{'lower' if name.startswith('min') else 'raise'} {{{name}}}" for name in blamed
            ),
            words=count(n_words, "word"),
            texts=count(n, "text"),
        )


def least_documents(n: int) -> int:
    """Return how many of n documents have a word at least, unless somebody says so.

    Two where there are 20 documents, and one more for each 40 documents, up to five; a thousandth
    of them where that is more, up to twenty.
    """
    if n < FEW_DOCUMENTS:
        return 1
    return max(2, min(USUAL, n // SMALL), min(LARGEST_LEAST, n // LARGE))


def _documents(name: str, value: Any, n: int) -> int:
    """Return a number of documents out of n; a float is a share of them."""
    if isinstance(value, float | np.floating):
        if not 0.0 <= value <= 1.0:
            raise ParameterError(
                f"{{{name}}} must be a share in [0, 1] or an integer, got {{got}}", got=repr(value)
            )
        return math.ceil(value * n) if name == "min_df" else math.floor(value * n)
    return require_integer(name, value, 1)


def no_words(n: int, blank: int) -> ParameterError:
    """Say why n texts, so many of them blank, have no word at all."""
    if blank == n:
        return ParameterError("No word in {texts}: all are empty", texts=count(n, "text"))
    return ParameterError(
        "No word in {texts}, of which {blank} are empty and the others have only stop words, "
        "numbers, signs or single letters",
        remedies=("try {stop_words=None}", "{keep_numbers=True}", "{min_length=1}"),
        texts=count(n, "text"),
        blank=f"{blank:,}",
    )


def texts_with(tokens: Tokens, keys: Sequence[str | None]) -> dict[str, int]:
    """Count the texts that have each key; token i stands for ``keys[i]``, and None for nothing."""
    places = {key: i for i, key in enumerate(sorted({key for key in keys if key is not None}))}
    numbers = [UNKNOWN if key is None else places[key] for key in keys]
    counts = tokens.renumber(numbers).counts(len(places))
    return dict(
        zip(places, np.bincount(counts.indices, minlength=len(places)).tolist(), strict=True)
    )


def left_out_forms(
    written: Written, lexicon: Lexicon, drop: Sequence[str]
) -> tuple[dict[str, int], dict[str, int]]:
    """Count the texts with each word that was to be left out, and with each mixed form that was.

    A word counts with all of its forms; one that no text has is counted 0.
    """
    lower = [form.lower() for form in written.forms]
    asked = {word: lexicon.dropped.get(word, word) for word in drop}
    wanted = {*asked.values(), *lexicon.dropped.values()}
    words = [lexicon.dropped.get(form, form) for form in lower]
    tokens = written.tokens
    found = texts_with(tokens, [word if word in wanted else None for word in words])
    without = replace(lexicon.rule, drop_mixed=False)
    mixed = [form if without(form) and not lexicon.rule(form) else None for form in lower]
    return {word: found.get(key, 0) for word, key in asked.items()}, texts_with(tokens, mixed)


def phrases_of(asked: Iterable[str], phrases: Iterable[Phrase], lexicon: Lexicon) -> dict[str, str]:
    """Return the phrase as it is shown for each asked one, in whatever forms it was asked for."""
    parts: dict[str, tuple[str, ...]] = {}
    for one in phrases:  # those of fewer words come first
        parts[one.word] = parts.get(one.left, (one.left,)) + parts.get(one.right, (one.right,))
    shown = {words: name for name, words in parts.items()}
    found = {text: tuple(lexicon.known.get(w) or w for w in text.split()) for text in asked}
    return {text: shown[words] for text, words in found.items() if words in shown}


def most_frequent(texts: Mapping[str, int], most: int | None = None) -> dict[str, int]:
    """Put words into the order of their texts, those of the most texts first; keep some of them."""
    return dict(sorted(texts.items(), key=lambda one: (-one[1], one[0]))[:most])

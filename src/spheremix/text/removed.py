"""Words that are left out: why, and how many texts have each of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from spheremix.text.tokens import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scipy import sparse

    from spheremix.text.lexicon import Lexicon
    from spheremix.text.phrases import Phrase
    from spheremix.text.thresholds import Thresholds
    from spheremix.text.tokens import Tokens

RARE, COMMON, DROPPED, MIXED = "rare", "common", "dropped", "mixed"
MOST = 1000  # rare words, and words of digits and letters, that are listed


def texts_with(tokens: Tokens, keys: Sequence[str | None]) -> dict[str, int]:
    """Count the texts that have each key; token i stands for ``keys[i]``, and None for nothing."""
    places = {key: i for i, key in enumerate(sorted({key for key in keys if key is not None}))}
    numbers = [UNKNOWN if key is None else places[key] for key in keys]
    counts = tokens.renumber(numbers).counts(len(places))
    return dict(
        zip(places, np.bincount(counts.indices, minlength=len(places)).tolist(), strict=True)
    )


def left_out_forms(
    written: Tokens, forms: Sequence[str], lexicon: Lexicon, drop: Sequence[str]
) -> tuple[dict[str, int], dict[str, int]]:
    """Count the texts with each word that was to be left out, and with each mixed form that was.

    A word counts with all of its forms; one that no text has is counted 0.
    """
    if not drop and not lexicon.rule.drop_mixed:
        return {}, {}
    lower = [form.lower() for form in forms]
    asked = {word: lexicon.dropped.get(word, word) for word in drop}
    wanted = {*asked.values(), *lexicon.dropped.values()}
    words = [lexicon.dropped.get(form, form) for form in lower]
    found = texts_with(written, [word if word in wanted else None for word in words])
    without = replace(lexicon.rule, drop_mixed=False)
    mixed = [form if without(form) and not lexicon.rule(form) else None for form in lower]
    return {word: found.get(key, 0) for word, key in asked.items()}, texts_with(written, mixed)


def phrases_of(asked: Iterable[str], phrases: Iterable[Phrase], lexicon: Lexicon) -> dict[str, str]:
    """Return the phrase as it is shown for each asked one, in whatever forms it was asked for."""
    parts: dict[str, tuple[str, ...]] = {}
    for one in phrases:  # those of fewer words come first
        parts[one.word] = parts.get(one.left, (one.left,)) + parts.get(one.right, (one.right,))
    shown = {words: name for name, words in parts.items()}
    found = {text: tuple(lexicon.known.get(w) or w for w in text.split()) for text in asked}
    return {text: shown[words] for text, words in found.items() if words in shown}


def beyond(
    thresholds: Thresholds, words: Sequence[str], counts: sparse.csr_array
) -> dict[str, dict[str, int]]:
    """Return the words that thresholds leave out, with the number of their texts."""
    texts = np.bincount(counts.indices, minlength=len(words))
    occurrences = np.bincount(counts.indices, counts.data, minlength=len(words))
    rare = (texts < thresholds.min_df) | (occurrences < thresholds.min_count)
    common = ~rare & (texts > thresholds.max_df)
    return {
        reason: {words[i]: int(texts[i]) for i in np.flatnonzero(which).tolist()}
        for reason, which in ((RARE, rare), (COMMON, common))
    }


def most_frequent(texts: Mapping[str, int], most: int | None = None) -> dict[str, int]:
    """Put words into the order of their texts, those of the most texts first; keep some of them."""
    return dict(sorted(texts.items(), key=lambda one: (-one[1], one[0]))[:most])

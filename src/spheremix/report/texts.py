"""The texts of a report: cut evenly where they are too much, and how their tokens became words."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from spheremix.report.packing import packed_size
from spheremix.text.words import forms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from spheremix.text import TextVectorizer

LONGEST = 50_000  # characters of one text, for a page that stays quick
MOST = 40_000_000  # characters of all texts, however well they pack


def shorten(texts: Sequence[str], budget: int) -> list[str]:
    """Cut texts to a common length at which, packed, they fit the budget.

    The length is the largest one, to a few per cent: how texts pack depends on where they are cut.
    """
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    longest = _common_length(lengths, MOST)
    while True:
        cut = [text[:longest] for text in texts]
        size = packed_size({"text": cut})
        if size <= budget:
            return cut
        shown = int(np.minimum(lengths, longest).sum())
        longest = min(longest - 1, _common_length(lengths, int(0.98 * shown * budget / size)))


def _common_length(lengths: NDArray[np.int64], room: int) -> int:
    """Return the largest length at which cut texts have so many characters at most."""
    low, high = 0, LONGEST
    while low < high:
        middle = (low + high + 1) // 2
        if np.minimum(lengths, middle).sum() <= room:
            low = middle
        else:
            high = middle - 1
    return low


def length(text: str) -> int:
    """Count the characters of a text as JavaScript does, in units of UTF-16."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def token_forms(
    texts: Sequence[str], vectorizer: TextVectorizer, places: Mapping[str, int]
) -> dict[str, int]:
    """Return which word each form is: those that the vectoriser met, and tokens of the texts.

    Parameters
    ----------
    texts : sequence of str
        The texts that are shown.
    vectorizer : TextVectorizer
        Fitted.
    places : mapping of str to int
        Position of each word that is shown.

    Returns
    -------
    dict of str to int
        Lower-case form to the position of its word; where a language tells cases apart, the more
        frequent one decides.
    """
    cut = vectorizer.tokenizer or forms
    tokens = Counter(token for text in texts for token in cut(text))
    met = vectorizer.forms_.items()
    found = {form: places[word] for form, word in met if word is not None and word in places}
    for token, _ in tokens.most_common():
        if token.lower() in vectorizer.forms_:
            continue
        for word in vectorizer.words(token):
            if word in places:
                found.setdefault(token.lower(), places[word])
    return dict(sorted(found.items()))

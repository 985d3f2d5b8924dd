"""Which words are neither rare nor common, what that costs, and what to say when none is left."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from spheremix.errors import ParameterError
from spheremix.parameters import require_integer
from spheremix.wording import count

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

FEW_DOCUMENTS = 20  # so few that a word of one of them may stay, and a word of all of them
USUAL = 5  # documents with a word, at least
SMALL = 40  # documents for each of these five
LARGE = 1000  # documents for each one, where that is more than five
MOST = 20  # documents with a word, at least, in the largest corpora
COMMON = 0.5  # of the documents


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
            max_df = n if n < FEW_DOCUMENTS else COMMON
        return cls(
            require_integer("min_count", min_count, 1),
            _documents("min_df", min_df, n),
            _documents("max_df", max_df, n),
            lenient,
        )

    def settled(self, counts: sparse.csr_array) -> Thresholds:
        """Return up the bound of common words that nobody asked for where it would leave none."""
        n, n_words = counts.shape
        documents = np.bincount(counts.indices, minlength=n_words)
        left = (documents >= self.min_df) & (documents <= self.max_df)
        return replace(self, max_df=n) if self.lenient and not left.any() else self

    def survivors(self, counts: sparse.csr_array) -> tuple[NDArray[np.intp], dict[str, int]]:
        """Return the columns of the words within the thresholds, and what each threshold cost.

        A word is counted once, for the first of ``min_df``, ``min_count`` and ``max_df`` that it
        does not meet.
        """
        n, n_words = counts.shape
        documents = np.bincount(counts.indices, minlength=n_words)
        occurrences = np.bincount(counts.indices, counts.data, minlength=n_words)
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
    return max(2, min(USUAL, n // SMALL), min(MOST, n // LARGE))


def _documents(name: str, value: Any, n: int) -> int:
    """Return a number of documents out of n; a float is a share of them."""
    if isinstance(value, float | np.floating):
        if not 0.0 <= value <= 1.0:
            raise ParameterError(
                f"{{{name}}} must be a share in [0, 1] or an integer, got {{got}}", got=repr(value)
            )
        return math.ceil(value * n) if name == "min_df" else math.floor(value * n)
    return require_integer(name, value, 1)


def no_words(texts: list[str]) -> ParameterError:
    """Say why texts have no word at all."""
    blank = sum(1 for text in texts if not text.strip())
    if blank == len(texts):
        return ParameterError("No word in {texts}: all are empty", texts=count(len(texts), "text"))
    return ParameterError(
        "No word in {texts}, of which {blank} are empty and the others have only stop words, "
        "numbers, signs or single letters",
        remedies=("try {stop_words=None}", "{keep_numbers=True}", "{min_length=1}"),
        texts=count(len(texts), "text"),
        blank=f"{blank:,}",
    )

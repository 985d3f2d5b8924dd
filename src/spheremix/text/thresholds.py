"""Which words are neither rare nor common, and what to say when none is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from spheremix.errors import ParameterError
from spheremix.parameters import require_integer
from spheremix.wording import count

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

PAPER_MIN_COUNT = 100
DOCUMENTS_PER_COUNT = 300  # about those of the paper, whose 37,238 documents go with 100
FEW_DOCUMENTS = 20  # so few that a word of one of them may stay
COMMON = 0.5  # of the documents, in a language without stop words


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Least occurrences of a word, least and largest number of documents that have it."""

    min_count: int
    min_df: int
    max_df: int

    @classmethod
    def choose(cls, n: int, min_count: Any, min_df: Any, max_df: Any, *, listed: bool) -> Self:
        """Complete what was left open for n documents; ``listed`` where stop words were dropped."""
        few = n < FEW_DOCUMENTS
        if min_count is None:
            min_count = min(PAPER_MIN_COUNT, math.ceil(n / DOCUMENTS_PER_COUNT))
        if min_df is None:
            min_df = 1 if few else 2
        if max_df is None:
            max_df = n if listed or few else COMMON
        return cls(
            require_integer("min_count", min_count, 1),
            _documents("min_df", min_df, n),
            _documents("max_df", max_df, n),
        )

    def survivors(self, counts: sparse.csr_array) -> NDArray[np.intp]:
        """Give the columns of the words within the thresholds."""
        n, n_words = counts.shape
        documents = np.bincount(counts.indices, minlength=n_words)
        occurrences = np.bincount(counts.indices, counts.data, minlength=n_words)
        tests = {
            "min_count": occurrences >= self.min_count,
            "min_df": documents >= self.min_df,
            "max_df": documents <= self.max_df,
        }
        kept = np.flatnonzero(np.logical_and.reduce(list(tests.values())))
        if not kept.size:
            left = {name: int(test.sum()) for name, test in tests.items()}
            raise self._no_survivors(n, n_words, left)
        return kept

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


def _documents(name: str, value: Any, n: int) -> int:
    """Give a number of documents out of n; a float is a share of them."""
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

"""Texts as numbers: the words of all texts one after the other, as arrays."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

NO_WORD = -1  # a form that is no word: a stop word, a number, a sign
UNKNOWN = -2  # a word that has no number


@dataclass(frozen=True, slots=True)
class Tokens:
    """The words of texts, in order.

    Attributes
    ----------
    ids : ndarray of int
        Number of each word; negative numbers count for nothing, and separate their neighbours.
    ends : ndarray of int, shape (n + 1,)
        Text i has the words from ``ends[i]`` to ``ends[i + 1]``.
    """

    ids: NDArray[np.int32]
    ends: NDArray[np.int64]

    @classmethod
    def read(
        cls,
        texts: Iterable[str],
        cut: Callable[[str], Iterable[str]],
        numbers: Mapping[str, int],
    ) -> Self:
        """Cut texts into forms and number them; a mapping may make up new numbers."""
        number, ids, ends = numbers.__getitem__, array("i"), array("q", [0])
        for text in texts:
            ids.extend(map(number, cut(text)))
            ends.append(len(ids))
        return cls(np.array(ids, dtype=np.int32), np.array(ends, dtype=np.int64))

    def renumber(self, numbers: Sequence[int]) -> Tokens:
        """Return the words with ``numbers[i]`` in the place of i; negative ones stay."""
        table = np.array([*numbers, UNKNOWN, NO_WORD], dtype=np.int32)  # -1 and -2 are at the end
        return Tokens(table[self.ids], self.ends)

    def occurrences(self, size: int) -> NDArray[np.int64]:
        """Count how often each word occurs in all texts."""
        return np.bincount(self.ids[self.ids >= 0], minlength=size).astype(np.int64)

    def counts(self, size: int) -> sparse.csr_array:
        """Count how often each text has each of so many words."""
        words = self.ids >= 0
        before = np.concatenate([[0], np.cumsum(words)])
        ones = np.ones(before[-1], dtype=np.int64)
        shape = (len(self.ends) - 1, size)
        ends = before[self.ends]
        if ends[-1] <= np.iinfo(np.int32).max:  # scikit-learn takes no wider indices
            ends = ends.astype(np.int32)
        found = sparse.csr_array((ones, self.ids[words], ends), shape=shape)
        found.sum_duplicates()
        return found

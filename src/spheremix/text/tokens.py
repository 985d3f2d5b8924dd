"""Texts as numbers: the words of all texts one after the other, as arrays."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
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


@dataclass(frozen=True, slots=True)
class Written:
    """Texts as the forms that are written in them.

    Attributes
    ----------
    tokens : Tokens
        By their places in ``forms``.
    forms : list of str
        In the order in which they are met.
    kinds : dict of str to int
        What was left out as no subject, and the number of texts that have it.
    """

    tokens: Tokens
    forms: list[str]
    kinds: dict[str, int]

    @classmethod
    def read(
        cls,
        texts: Iterable[str],
        cut: Callable[[str], Iterable[str]],
        without: Callable[[str], tuple[str, list[str]]] | None = None,
    ) -> Self:
        """Cut texts into forms; ``without`` returns a text without what is no subject, and why."""
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__
        kinds: Counter[str] = Counter()

        def cut_left(text: str) -> Iterable[str]:
            left, found = without(text)  # type: ignore[misc]
            kinds.update(found)
            return cut(left)

        tokens = Tokens.read(texts, cut if without is None else cut_left, numbers)
        return cls(tokens, list(numbers), dict(kinds))

    def occurrences(self) -> dict[str, int]:
        """Return how often each form occurs."""
        counts = self.tokens.occurrences(len(self.forms)).tolist()
        return dict(zip(self.forms, counts, strict=True))

    def renumbered(self, numbers: Mapping[str, int]) -> Tokens:
        """Return the texts by other numbers of their forms."""
        return self.tokens.renumber([numbers[form] for form in self.forms])

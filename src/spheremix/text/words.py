"""Texts as forms, forms as words, and words as numbers; lists of words that people give.

A form is a run of letters and digits as somebody wrote it. Forms of one word are put together in
:mod:`spheremix.text.lexicon`.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import chain, groupby
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse

from spheremix.errors import ParameterError
from spheremix.text.files import lines, reading

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

LONGEST = 100  # characters: what is longer is no word (a key, a picture, a sequence)
JOINERS = "\u200c\u200d"  # within words of Persian and of Indic scripts
NO_WORD = -1  # a form that is no word: a stop word, a number, a sign
UNKNOWN = -2  # a word that has no number
# Everything but letters and digits becomes a space: for ASCII this is much faster than a pattern.
SPACED = {code: " " for code in range(128) if not chr(code).isalnum()}
SIGNED = SPACED | {ord(sign): " . " for sign in '.,;:!?()[]{}<>|/*"'}
# A line may be broken anywhere, but one that begins with a capital often is, or follows, a heading.
CAPITALS = "A-Z\u00c0-\u00de\u0391-\u03a9\u0410-\u042f"
PART = re.compile(rf"\n\s*\n|\n[ \t]*(?=[{CAPITALS}])")


@dataclass(frozen=True, slots=True)
class WordRule:
    """Tells which forms are words."""

    stop: frozenset[str] = frozenset()  # forms that are none
    keep_numbers: bool = False  # whether what has no letter is a word
    drop_mixed: bool = False  # whether what has digits and letters is none
    min_length: int = 2  # characters

    def __call__(self, form: str) -> bool:
        """Return whether a form in lower case is a word."""
        return (
            self.min_length <= len(form) <= LONGEST
            and form not in self.stop
            and any(map(str.isalnum if self.keep_numbers else str.isalpha, form))
            and not (self.drop_mixed and is_mixed(form))
        )


def is_mixed(form: str) -> bool:
    """Return whether a form has digits and letters."""
    return any(map(str.isdigit, form)) and any(map(str.isalpha, form))


@dataclass(frozen=True, slots=True)
class Cutting:
    """Cuts texts into forms, in lower case or as they are written, with signs between or not."""

    signs: bool = False
    cased: bool = False

    def __call__(self, text: str) -> list[str]:
        """Return the forms of a text."""
        parted = PART.sub("\n.", text) if self.signs else text
        cut = forms_and_signs if self.signs else forms
        return cut(parted if self.cased else parted.lower())


def forms_and_signs(text: str) -> list[str]:
    """Cut a text as ``forms`` does, with a sign wherever something else than a space parts forms.

    Hyphens and apostrophes are as good as spaces.
    """
    if text.isascii():
        return text.translate(SIGNED).split()
    whole = unicodedata.normalize("NFC", text).replace("_", " ")
    return _unicode_words_and_signs().findall(whole)


def forms(text: str) -> list[str]:
    """Cut a text into runs of letters and digits, whatever the script."""
    if text.isascii():
        return text.translate(SPACED).split()
    return _unicode_words().findall(unicodedata.normalize("NFC", text).replace("_", " "))


@cache
def _unicode_words() -> re.Pattern[str]:
    r"""Match words; \w alone would cut those of Indic scripts at their vowel signs."""
    codes = chain(range(0x300, 0x20000), range(0xE0100, 0xE01F0))  # where there are marks
    marks = (code for code in codes if unicodedata.category(chr(code))[0] == "M")
    ranges = []
    for _, run in groupby(enumerate(marks), key=lambda pair: pair[1] - pair[0]):
        together = [chr(code) for _, code in run]
        ranges.append(f"{together[0]}-{together[-1]}")
    return re.compile(rf"\w[\w{''.join(ranges)}{JOINERS}]*")


@cache
def _unicode_words_and_signs() -> re.Pattern[str]:
    return re.compile(rf"{_unicode_words().pattern}|[^\w\s'\u2018\u2019\u2010\u2011\-]")


def word_list(name: str, value: Any) -> tuple[str, ...]:
    """Return words in lower case, each once, in order.

    A path is that of a file with one word a line; a string has words between commas.
    """
    if isinstance(value, PathLike):
        with reading(Path(value)):
            found: list[Any] = list(lines(Path(value)))
    elif isinstance(value, str):
        found = value.split(",")
    else:
        found = list(value) if isinstance(value, Iterable) else [value]
    for word in found:
        if not isinstance(word, str):
            raise ParameterError(f"{{{name}}} must be words; got {{got}}", got=repr(word))
    return tuple(dict.fromkeys(word for one in found if (word := " ".join(one.lower().split()))))


# Texts as numbers: the words of all texts one after the other, as arrays


def growing() -> defaultdict[str, int]:
    """Return a mapping in which everything that is asked for gets the next number."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    return numbers


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
        numbers = growing()
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

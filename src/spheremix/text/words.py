"""From a text to its forms, which forms are words, and lists of words that people give.

A form is a run of letters and digits as somebody wrote it. Forms of one word are put together in
:mod:`spheremix.text.lexicon`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import chain, groupby
from os import PathLike
from pathlib import Path
from typing import Any

from spheremix.errors import ParameterError
from spheremix.text.files import lines, reading

LONGEST = 100  # characters: what is longer is no word (a key, a picture, a sequence)
JOINERS = "\u200c\u200d"  # within words of Persian and of Indic scripts
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

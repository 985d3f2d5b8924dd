"""From a text to its words: Unicode words in lower case, their lemmas, without stop words."""

from __future__ import annotations

import importlib
import re
import unicodedata
from functools import cache
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

from spheremix.errors import MissingPackageError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LONGEST = 100  # characters: what is longer is no word (a key, a picture, a sequence)
JOINERS = "\u200c\u200d"  # within words of Persian and of Indic scripts
PLAIN = re.compile(r"[a-zA-Z0-9]+")
CASED = {"de", "lb"}  # languages whose nouns are known by their first letter


class Words:
    """Give the words of a text, in order; knows each form it has met.

    Parameters
    ----------
    lemma : callable or None
        From a form to its lemma; called once for each form, in lower case unless it has a true
        ``cased``.
    stop : iterable of str
        Dropped, as forms and as lemmas.
    keep_numbers : bool
        Whether what has no letter is a word.
    min_length : int
        Characters of a form, and of a lemma, at least.
    tokenizer : callable or None
        From a text to its forms, in place of the runs of letters and digits.
    """

    def __init__(
        self,
        lemma: Callable[[str], str] | None = None,
        stop: Iterable[str] = (),
        *,
        keep_numbers: bool = False,
        min_length: int = 2,
        tokenizer: Callable[[str], Iterable[str]] | None = None,
    ) -> None:
        self.lemma = lemma
        self.stop = frozenset(stop)
        self.keep_numbers = keep_numbers
        self.min_length = min_length
        self.cased = bool(getattr(lemma, "cased", False))
        self.tokenizer = tokenizer
        self._known: dict[str, str | None] = {}

    def __call__(self, text: str) -> list[str]:
        """Give the words of a text."""
        known, words = self._known, []
        cut = self.tokenizer or forms
        for form in cut(text if self.cased or self.tokenizer else text.lower()):
            try:
                word = known[form]
            except KeyError:
                word = known[form] = self._word(form)
            if word is not None:
                words.append(word)
        return words

    def _word(self, form: str) -> str | None:
        """Give the word of a form, or None where the form is not a word."""
        if not self._is_word(form.lower()):
            return None
        word = (form if self.lemma is None else self.lemma(form)).lower()
        return word if self._is_word(word) else None

    def _is_word(self, form: str) -> bool:
        return (
            self.min_length <= len(form) <= LONGEST
            and form not in self.stop
            and (self.keep_numbers or any(map(str.isalpha, form)))
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_known": {}}


def forms(text: str) -> list[str]:
    """Cut a text into runs of letters and digits, whatever the script."""
    if text.isascii():
        return PLAIN.findall(text)
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


class Simplemma:
    """Lemmas by simplemma, of one language or of several, the first ones preferred."""

    def __init__(self, languages: tuple[str, ...]) -> None:
        self.languages = languages
        self.cased = not CASED.isdisjoint(languages)
        try:
            self._lemmatize = importlib.import_module("simplemma").lemmatize
        except ImportError:
            raise MissingPackageError(
                '{lemmatizer="simplemma"} needs the package simplemma',
                remedies=(
                    'install it with pip install "spheremix[explore]"',
                    "do without lemmas with {lemmatizer=None}",
                ),
            ) from None
        for language in languages:
            try:
                self._lemmatize("a", lang=language)
            except ValueError:
                raise ParameterError(
                    f"simplemma does not know {{language={language}}}",
                    remedies=("do without lemmas with {lemmatizer=None}",),
                ) from None

    def __call__(self, form: str) -> str:
        """Give the lemma of a form, the form itself where it is not known."""
        form = form.capitalize() if form.isupper() else form
        return str(self._lemmatize(form, lang=self.languages))

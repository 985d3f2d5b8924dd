"""Which language a text is in, by the stop words it has; and texts without those of their own."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spheremix.errors import Message, Said
from spheremix.text.lexicon import is_form_of_stop_word
from spheremix.text.stopwords import WORDS, stop_words
from spheremix.text.words import forms
from spheremix.wording import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

LEAD, LEAST_LEAD = 0.1, 2  # of a text, by which the stop words of its language are more: a share,
# and a number
SHARE, FEWEST = 0.05, 2  # texts in a language, from which on a corpus is said to be in it
UNCLEAR = 0.25  # share of the texts whose language is found, below which nothing is said
LOOKED_AT = 2000  # texts, evenly spread
BEGINNING = 3000  # characters of a text that are looked at
NAMES = {
    "en": "English",
    "fr": "French",
    "de": "German",
    "es": "Spanish",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
}
ALSO = 0.6  # of the stop words of the first language of a text: so many are of another one
SIGN = "."  # in the place of a stop word: what it parts stays apart


def evidence(tokens: Sequence[str], languages: Iterable[str] = WORDS) -> dict[str, int]:
    """Count the stop words of each language among words in lower case."""
    return {code: sum(map(stop_words(code).__contains__, tokens)) for code in languages}


def language_of(text: str, languages: Iterable[str] = WORDS) -> str | None:
    """Return the language of a text, by the share of stop words of each; None if it is not clear.

    Examples
    --------
    >>> from spheremix.text.languages import language_of
    >>> language_of("Ich weiß nicht, was soll es bedeuten."), language_of("Loreley")
    ('de', None)
    """
    tokens = forms(text[:BEGINNING].lower())
    found = evidence(tokens, languages)
    best = max(found, key=lambda code: found[code], default=None)
    if best is None:
        return None
    others = max((n for code, n in found.items() if code != best), default=0)
    clear = found[best] - others >= max(LEAST_LEAD, LEAD * len(tokens))
    return best if clear else None


def find_languages(texts: Sequence[str]) -> dict[str, int]:
    """Return the languages of texts, the most frequent first, with the number of texts in each.

    Of many texts, some at even distances are looked at. None are found where most are not clear.
    """
    sample = [text for text in texts[:: max(1, -(-len(texts) // LOOKED_AT))] if text.strip()]
    found = Counter(code for text in sample if (code := language_of(text)) is not None)
    if found.total() < UNCLEAR * len(sample):
        return {}
    least = max(FEWEST, SHARE * len(sample))
    return {code: n for code, n in found.most_common() if n >= least}


def said_of_languages(found: Mapping[str, int]) -> Said:
    """Say which languages were found, and are taken."""
    first = NAMES[next(iter(found))]
    if len(found) == 1:
        text = f"Most documents are in {first}, and are read so: {{language=languages}}"
    else:
        text = "Documents are in {names}, and each is read in its own: {language=languages}"
    values = {
        "names": joined([f"{NAMES[code]} ({n:,})" for code, n in found.items()]),
        "languages": ",".join(found),
    }
    return Said(Message(text, values))


@dataclass(eq=False)
class WithoutStopWords:
    """Cuts texts into forms, without the stop words of the language that each is in.

    A stop word of one language may be a word in texts of another one, as "die" and "war" are. A
    text is in the language that it has most stop words of, and in others of which it has nearly as
    many.
    """

    languages: tuple[str, ...]
    cut: Callable[[str], Iterable[str]]
    lemmas: Mapping[str, Callable[[str], str]]  # of each language
    known: dict[tuple[str, str], bool] = field(default_factory=dict)

    def __call__(self, text: str) -> list[str]:
        """Return the forms of a text."""
        found = list(self.cut(text))
        n = evidence([form.lower() for form in found], self.languages)
        own = [code for code in self.languages if n[code] >= ALSO * max(n.values())]
        return [SIGN if any(self._stops(code, form) for code in own) else form for form in found]

    def _stops(self, code: str, form: str) -> bool:
        """Return whether a form is a stop word of a language, or one of its forms."""
        known = self.known.get((code, form))
        if known is None:
            stop, lower = stop_words(code), form.lower()
            known = lower in stop or is_form_of_stop_word(
                stop, lower, self.lemmas[code](form).lower()
            )
            self.known[code, form] = known
        return known

"""Which word each form is: forms with one lemma are one word, shown as most people wrote it."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from spheremix.errors import MissingPackageError, ParameterError
from spheremix.text.words import NO_WORD, UNKNOWN
from spheremix.wording import install

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from spheremix.text.words import WordRule

    Lemma = Callable[[str], str]

# A form is a word of its own, whatever its lemma, where its own forms are so often written as this
# share of it: "meeting", since there are "meetings".
OWN = 0.05
# A lemma that is written less than this share of its forms is as good as not written: a slip.
SLIP = 0.01
CASED = {"de", "lb"}  # languages whose nouns are known by their first letter
PLURAL_S = {"en", "es", "fr", "nl", "pt"}  # languages whose plurals end in s
# The dictionaries write abbreviations out: "pr" is "prairie" and "inc" is "incorporated". A lemma
# that is a form and so many more letters is one of these.
ABBREVIATED = 4
# A short English verb doubles its last letter before -ed and -ing: "caring" is not of "car", and
# the lemmas of "planning" and "calling" are right.
DOUBLING = re.compile("[^aeiou]*[aeiouy][^aeiouwxy]")


class Lexicon:
    """Knows the word of every form.

    Parameters
    ----------
    rule : WordRule
        Which forms are words.
    lemma : callable or None
        From a form to its lemma, for forms that are not known; asked in lower case unless it has a
        true ``cased``. It may have a method ``base``, from a form and its lemma to another base
        that the form may have, or None.
    known : mapping of str to str or None
        The word of each form that was met, in lower case; None for those that are left out.
    """

    def __init__(
        self, rule: WordRule, lemma: Lemma | None, known: Mapping[str, str | None]
    ) -> None:
        self.rule = rule
        self.lemma = lemma
        self.known = dict(known)
        self.dropped: dict[str, str] = {}  # forms that were met and left out as asked, by word

    @classmethod
    def learn(
        cls,
        occurrences: Mapping[str, int],
        rule: WordRule,
        lemma: Lemma | None,
        drop: Iterable[str] = (),
    ) -> Lexicon:
        """Put the forms of a corpus together to words.

        A form goes to its lemma, and from there to the lemma of the lemma, until a word of its own
        is reached: one that is its own lemma, or whose forms are written often enough beside it.
        What ends in the same place is one word. It is shown as its most frequent form, of equally
        frequent ones as the first in the alphabet.

        Parameters
        ----------
        occurrences : mapping of str to int
            How often each form occurs; the case of letters may differ.
        rule, lemma
            As above.
        drop : iterable of str
            Words that are left out, with all of their forms.
        """
        written = _in_lower_case(occurrences)
        counts = {form: n for form, (n, _) in written.items() if rule(form)}
        if lemma is None:
            roots: dict[str, str | None] = {form: form for form in counts}
        else:
            lemmas = {form: lemma(written[form][1]).lower() for form in counts}
            roots = _roots(counts, lemmas, rule, lemma)
        shown: dict[str, tuple[int, str]] = {}
        for form, n in counts.items():
            root = roots[form]
            if root is not None:
                shown[root] = min(shown.get(root, (0, "")), (-n, form))
        known = {
            form: None if root is None else shown[root][1]
            for form, root in roots.items()
            if root is None or root in shown
        }
        unwanted = {known.get(word) for word in map(str.lower, drop)}
        kept = {form: None if word in unwanted else word for form, word in known.items()}
        found = cls(rule, lemma, kept)
        found.dropped = {
            form: word for form, word in known.items() if word is not None and word in unwanted
        }
        return found

    def word(self, form: str) -> str | None:
        """Return the word of a form, or None where it is none; a new word is its lemma."""
        lower = form.lower()
        if lower in self.known:
            return self.known[lower]
        if not self.rule(lower):
            return None
        if self.lemma is None:
            return lower
        lemma = self.lemma(form).lower()
        for one in (lemma, _base(self.lemma, lower, lemma)):
            if one in self.known:
                return self.known[one]
        if is_form_of_stop_word(self.rule.stop, lower, lemma):
            return None
        return lemma if self.rule(lemma) else lower

    def numbering(self, numbers: Mapping[str, int]) -> Mapping[str, int]:
        """Return a mapping from any form to the number of its word."""
        return _Numbering(self, numbers)


class _Numbering(dict[str, int]):
    """Finds the number of a form when it is first asked for."""

    def __init__(self, lexicon: Lexicon, numbers: Mapping[str, int]) -> None:
        super().__init__()
        self._lexicon, self._numbers = lexicon, numbers

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel without what was found."""
        return type(self), (self._lexicon, self._numbers)

    def __missing__(self, form: str) -> int:
        word = self._lexicon.word(form)
        number = NO_WORD if word is None else self._numbers.get(word, UNKNOWN)
        self[form] = number
        return number


def _in_lower_case(occurrences: Mapping[str, int]) -> dict[str, tuple[int, str]]:
    """Return the occurrences of each form in lower case, and how it is written most often."""
    found: dict[str, tuple[int, int, str]] = {}
    for form, n in occurrences.items():
        total, best, written = found.get(form.lower(), (0, 0, form))
        if (-n, form) < (-best, written):
            best, written = n, form
        found[form.lower()] = (total + n, best, written)
    return {form: (total, written) for form, (total, _, written) in found.items()}


def _roots(
    counts: Mapping[str, int], lemmas: Mapping[str, str], rule: WordRule, lemma: Lemma
) -> dict[str, str | None]:
    """Return where forms and lemmas lead to; None where they lead to a stop word."""
    derived: Counter[str] = Counter()
    for form, one in lemmas.items():
        if one != form:
            derived[one] += counts[form]
    bases: dict[str, str] = {}
    for form, one in lemmas.items():
        missing = one == form or counts.get(one, 0) < SLIP * derived[one]
        missing &= one not in rule.stop  # which is no slip: it was left out
        base = _base(lemma, form, one) if missing else None
        if base is not None and base in counts and base != form:
            bases[one] = max(base, bases.get(one, base), key=lambda b: (counts[b], b))
    steps = dict(bases)
    for form, one in lemmas.items():
        own = derived[form] >= OWN * counts[form] and derived[form]
        if form not in steps and not own and (one in rule.stop or rule(one)):
            steps[form] = one
    return {form: _follow(form, steps, rule) for form in {**lemmas, **dict.fromkeys(derived)}}


def _follow(form: str, steps: Mapping[str, str], rule: WordRule) -> str | None:
    """Go from step to step to the end; of a circle, the first in the alphabet is the end."""
    way = [form]
    while (after := steps.get(way[-1], way[-1])) != way[-1]:
        if after in rule.stop:
            return None if is_form_of_stop_word(rule.stop, way[-1], after) else way[-1]
        if after in way:
            return min(way[way.index(after) :])
        way.append(after)
    return way[-1]


def is_form_of_stop_word(stop: Collection[str], form: str, lemma: str) -> bool:
    """Return whether a form is left out for its lemma: not "ai", which is one of "be" to some."""
    return lemma in stop and lemma[:1] == form[:1]


def _base(lemma: Lemma, form: str, found: str) -> str | None:
    base = getattr(lemma, "base", None)
    return None if base is None else base(form, found)


class Simplemma:
    """Lemmas by simplemma, of one language or of several, the first ones preferred.

    Attributes
    ----------
    cased : bool
        Whether it should be asked with the capital letters that were written.
    """

    def __init__(self, languages: tuple[str, ...]) -> None:
        self.languages = languages
        self.cased = not CASED.isdisjoint(languages)
        try:
            package = importlib.import_module("simplemma")
        except ImportError:
            raise MissingPackageError(
                '{lemmatizer="simplemma"} needs the package simplemma',
                remedies=(
                    install("simplemma"),
                    "do without lemmas with {lemmatizer=None}",
                ),
            ) from None
        self._lemmatize, self._is_known = package.lemmatize, package.is_known
        # A dictionary takes a fifth of a second to read: it is, when a form is looked up.
        shipped = importlib.import_module("simplemma.strategies.dictionaries.dictionary_factory")
        for language in languages:
            if language not in shipped.SUPPORTED_LANGUAGES:
                raise ParameterError(
                    f"simplemma does not know {{language={language}}}",
                    remedies=("do without lemmas with {lemmatizer=None}",),
                )

    def __call__(self, form: str) -> str:
        """Return the lemma of a form, the form itself where it is not known."""
        form = form.capitalize() if form.isupper() else form
        lemma = str(self._lemmatize(form, lang=self.languages))
        written_out = lemma.startswith(form) and len(lemma) >= len(form) + ABBREVIATED
        return form if written_out else lemma

    def knows(self, form: str) -> bool:
        """Return whether a form is in a dictionary."""
        return bool(self._is_known(form, lang=self.languages))

    def base(self, form: str, lemma: str) -> str | None:
        """Return the base of a regular form in lower case that the lemma may have missed, or None.

        The English lemmas of some forms have a letter too many ("develope" of *developed*,
        "travell" of *travelling*) or another vowel ("ski" of *skies*), and plurals of words that
        are not in the dictionary have none.
        """
        if "en" in self.languages and form.endswith("ies") and lemma != f"{form[:-3]}y":
            return f"{form[:-3]}y"
        if lemma == form:
            plural = form.endswith("s") and not PLURAL_S.isdisjoint(self.languages)
            return form[:-1] if plural and not self.knows(form) else None
        base = lemma[:-1]
        if "en" not in self.languages or len(base) < 2 or lemma[-1] not in {"e", base[-1]}:
            return None
        stem = base if lemma[-1] == "e" else lemma
        regular = form in {f"{stem}ed", f"{stem}ing"}
        return base if regular and not DOUBLING.fullmatch(base) else None

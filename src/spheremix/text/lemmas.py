"""Lemmas of words by the package simplemma."""

from __future__ import annotations

import importlib
import re

from spheremix.errors import MissingPackageError, ParameterError

CASED = {"de", "lb"}  # languages whose nouns are known by their first letter
PLURAL_S = {"en", "es", "fr", "nl", "pt"}  # languages whose plurals end in s
# The dictionaries write abbreviations out: "pr" is "prairie" and "inc" is "incorporated". A lemma
# that is a form and so many more letters is one of these.
ABBREVIATED = 4
# A short English verb doubles its last letter before -ed and -ing: "caring" is not of "car", and
# the lemmas of "planning" and "calling" are right.
DOUBLING = re.compile("[^aeiou]*[aeiouy][^aeiouwxy]")


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
                    'install it with pip install "spheremix[explore]"',
                    "do without lemmas with {lemmatizer=None}",
                ),
            ) from None
        self._lemmatize, self._is_known = package.lemmatize, package.is_known
        for language in languages:
            try:
                self._lemmatize("a", lang=language)
            except ValueError:
                raise ParameterError(
                    f"simplemma does not know {{language={language}}}",
                    remedies=("do without lemmas with {lemmatizer=None}",),
                ) from None

    def __call__(self, form: str) -> str:
        """Return the lemma of a form, the form itself where it is not known."""
        form = form.capitalize() if form.isupper() else form
        lemma = str(self._lemmatize(form, lang=self.languages))
        written_out = lemma.startswith(form) and len(lemma) >= len(form) + ABBREVIATED
        return form if written_out else lemma

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
            return form[:-1] if plural and not self._is_known(form, lang=self.languages) else None
        base = lemma[:-1]
        if "en" not in self.languages or len(base) < 2 or lemma[-1] not in {"e", base[-1]}:
            return None
        stem = base if lemma[-1] == "e" else lemma
        regular = form in {f"{stem}ed", f"{stem}ing"}
        return base if regular and not DOUBLING.fullmatch(base) else None

"""From texts to terms by number: words, phrases in the place of their words, or runs of words."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from spheremix.text.lexicon import Lexicon
from spheremix.text.parts import Here, added
from spheremix.text.phrases import PhraseTable, learn_phrases
from spheremix.text.selection import DROPPED, MIXED, left_out_forms
from spheremix.text.words import NO_WORD, UNKNOWN, Tokens, Written, growing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from spheremix.text.lexicon import Lemma
    from spheremix.text.parts import Parts
    from spheremix.text.phrases import Phrase
    from spheremix.text.words import WordRule

    Cut = Callable[[str], Iterable[str]]


class Terms:
    """Finds the terms of texts, which are cut into forms; phrases of fewer words come first."""

    def __init__(self, lexicon: Lexicon, cut: Cut, phrases: Sequence[Phrase] = ()) -> None:
        self.lexicon, self.cut, self.phrases = lexicon, cut, list(phrases)
        words = sorted({word for word in lexicon.known.values() if word is not None})
        self.names = list(dict.fromkeys([*words, *(one.word for one in phrases)]))
        numbers = {name: i for i, name in enumerate(self.names)}
        self._numbers = lexicon.numbering(numbers)
        self._table = PhraseTable(phrases, numbers)

    @classmethod
    def learn(
        cls,
        written: Parts,
        cut: Cut,
        rule: WordRule,
        lemma: Lemma | None,
        *,
        drop: Iterable[str] = (),
        longest: int = 1,
        least: int = 1,
    ) -> tuple[Terms, Parts, dict[str, dict[str, int]]]:
        """Find the words of texts, and phrases of so many words at most; read the texts by them.

        Returns also the forms that were left out: how many texts have each of them, by reason.
        Phrases are found in texts that are one part.
        """
        drop = list(drop)
        occurrences = added(written.each(Written.occurrences))
        lexicon = Lexicon.learn(occurrences, rule, lemma, drop)
        found = cls(lexicon, cut)
        numbers = {form: found._numbers[form] for form in occurrences}
        tokens = written.keep(Written.renumbered, numbers)
        dropped, mixed = dict[str, int](), dict[str, int]()
        if drop or rule.drop_mixed:
            left_out = written.each(left_out_forms, lexicon, drop)
            dropped, mixed = (added(one) for one in zip(*left_out, strict=True))
        if longest > 1:
            lower = growing()
            forms = {form: lower[form.lower()] for form in occurrences}
            [spelt] = written.each(Written.renumbered, forms)
            names = list(found.names)
            ids, phrases = learn_phrases(tokens.matrix(), spelt, names, list(lower), longest, least)
            tokens, found = Here(ids), cls(lexicon, cut, phrases)
        return found, tokens, {DROPPED: dropped, MIXED: mixed}

    def read(self, texts: Iterable[str]) -> Tokens:
        """Return the terms of texts, by their places in ``names``."""
        return self._table(Tokens.read(texts, self.cut, self._numbers))

    def of(self, text: str) -> list[str]:
        """Return the terms of a text, also those without a number."""
        forms = list(self.cut(text))
        words = [self.lexicon.word(form) for form in forms]
        if not self.phrases:
            return [word for word in words if word is not None]
        numbers = dict.fromkeys(word for word in words if word is not None)
        known = {name: i for i, name in enumerate(self.names)}
        names = [*self.names, *(word for word in numbers if word not in known)]
        places = {name: i for i, name in enumerate(names)}
        ids = [NO_WORD if word is None else places[word] for word in words]
        tokens = Tokens(np.array(ids, dtype=np.int32), np.array([0, len(ids)]))
        return [names[i] for i in self._table(tokens).ids.tolist() if i >= 0]


def runs_of_words(
    tokens: Tokens, names: Sequence[str], sizes: tuple[int, int], numbers: Mapping[str, int]
) -> Tokens:
    """Return the runs of so many words, at least and at most, once the stop words are left out.

    Runs get their numbers from the mapping, which may make up new ones; those of words without a
    number count for nothing.
    """
    ids, ends = [], [0]
    for start, end in pairwise(tokens.ends.tolist()):
        words = [
            names[i] if i >= 0 else None for i in tokens.ids[start:end].tolist() if i != NO_WORD
        ]
        for size in range(sizes[0], sizes[1] + 1):
            for i in range(len(words) - size + 1):
                run = [word for word in words[i : i + size] if word is not None]
                ids.append(numbers[" ".join(run)] if len(run) == size else UNKNOWN)
        ends.append(len(ids))
    return Tokens(np.array(ids, dtype=np.int32), np.array(ends, dtype=np.int64))

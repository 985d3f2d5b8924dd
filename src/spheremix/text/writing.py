"""How words are written and used in texts: what a name of a group can be made of.

No grammar is known here, only neighbours. A word that stands between "the" and "of", or between a
comma and "is", is a noun more often than not; one after "to" or "they" is a verb; one that has a
capital within sentences is a name. Little words of a language, its stop words, tell which is which.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from spheremix.text.boilerplate import Boilerplate
from spheremix.text.lexicon import Simplemma
from spheremix.text.phrases import associated, meetings
from spheremix.text.stopwords import EMPTY, NOTHING, TITLES, stop_words
from spheremix.text.words import Cutting, Tokens, growing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from spheremix.text.vectorizer import TextVectorizer

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]

READ = 4_000_000  # characters, at most: texts at even distances are read of larger corpora
PRIOR, UNKNOWN = 4.0, 0.6  # merit of a word of which nothing is known, as so many occurrences
# What is left of the merit of a word that no dictionary knows, of one that says little in any
# group, and of a piece of a program, of an address or of a sentence that is repeated.
STRANGE, LITTLE, PIECE = 0.6, 0.25, 0.15
NAMED = 0.7  # share of capitals within sentences from which a word is a name
# Two neighbours are written together in a name: so many texts, at least, have them, and so on.
LEAST_TEXTS, LEAST_NPMI = 8, 0.35
CLOSE = 0.5  # NPMI of those of which one says little by itself, as current account
HEAD = (
    0.3  # merit of the one that says what the two are, at least: the second one in some languages
)
HEAD_LAST = {"en", "de", "nl"}
MOST_TIMES = 0.25  # share of the rarer one's occurrences that are beside the other one
SAME, LEAST_SAME = 0.4, 10  # share of occurrences, of so many, between the same two neighbours
# Around these are pieces of programs, and of words with a hyphen: no words by themselves. What is
# around them is looked at where there are any, which is faster than a pattern that begins anywhere.
SIGN = re.compile(
    r"_(?<=\w_)|\((?<=\w\()|=(?<=\w=)(?=[^=])|-(?<=\w-)(?=\w)|:(?<=\w[ \t]:)(?=[ \t])"
)
SNAKE, WORD, QUOTED = re.compile(r"\w+(?:_+\w+)+"), re.compile(r"\w+"), re.compile(r"`+[^`\n]+`+")

# After these a noun stands, or what goes before a noun.
BEFORE_NOUNS = {
    "en": "the a an this that these those his her its their our my your of in for by from at on"
    " no any some each every another between into under over with without about against",
    "de": "der die das den dem des ein eine einen einem einer eines im am zum zur vom beim",
    "fr": "le la les un une des du au aux ce cet cette ces son sa ses leur leurs de en l d",
    "es": "el la los las un una unos unas del al este esta estos estas su sus de en",
    "it": "il lo la i gli le un uno una del della dei delle dello nel nella al alla di l dell",
    "pt": "o a os as um uma do da dos das no na nos nas ao este esta seu sua de em",
    "nl": "de het een dit dat deze die zijn haar hun van in op voor",
}
# After these a verb stands.
BEFORE_VERBS = {
    "en": "to will would can could may might must shall should cannot he she it we they i you who"
    " not don doesn didn won couldn wouldn shouldn ll has have had having been be was were is are"
    " being very so too more most how as if when which",
    "fr": "je tu il elle on nous vous ils elles ne se qui a ont est sont été très plus pas",
    "es": "yo él ella nosotros ellos se no que ha han es son muy más",
    "it": "io egli lui lei noi loro si non che ha hanno è sono molto più",
    "pt": "eu ele ela nós eles se não que foi é são muito mais",
    "nl": "ik jij hij zij wij te niet wordt worden is zeer meer",
}
# Before these a verb stands, unless it is a noun that something goes before.
AFTER_VERBS = {
    "en": "the a an this these those him her it them us me his their our my your itself himself",
    "fr": "le la les un une des ce cet cette ces",
    "es": "el la los las un una",
    "it": "il lo la i gli le un una",
    "pt": "o a os as um uma",
    "nl": "de het een",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """How the words of a corpus are written and used.

    Attributes
    ----------
    written : dict of str to str
        How each word is written most often within sentences.
    merit : dict of str to float
        How good each word is in a name, from 0 to 1: nouns and names are, verbs, months and titles
        of persons are not.
    phrases : dict of str to dict of str to str
        For each word, those that often stand right after it, and how the two are written.
    """

    written: dict[str, str] = field(default_factory=dict)
    merit: dict[str, float] = field(default_factory=dict)
    phrases: dict[str, dict[str, str]] = field(default_factory=dict)


def learn_writing(texts: Sequence[str], vectorizer: TextVectorizer) -> Writing:
    """Learn how the words of texts are written and used.

    Parameters
    ----------
    texts : sequence of str
        The texts; of many, some at even distances are read.
    vectorizer : TextVectorizer
        Fitted to them.

    Returns
    -------
    Writing
        Of the words of the vectoriser.

    Examples
    --------
    >>> from spheremix.text import TextVectorizer
    >>> from spheremix.text.writing import learn_writing
    >>> texts = ["We love Paris in the spring.", "A trip to Paris is a dream of spring."]
    >>> vectorizer = TextVectorizer(min_df=1).fit(texts)
    >>> learn_writing(texts, vectorizer).written
    {'paris': 'Paris'}
    """
    languages = [one.strip().lower() for one in vectorizer.language.split(",")]
    vocabulary, forms = [str(word) for word in vectorizer.vocabulary_], vectorizer.forms_
    places = {word: j for j, word in enumerate(vocabulary)}
    some = texts[:: max(1, -(-sum(map(len, texts)) // READ))]
    clean = Boilerplate(frozenset(vectorizer.lines_))
    plain, signed = Cutting(), Cutting(signs=True, cased=True)
    code = np.zeros(len(vocabulary))

    def cut(text: str) -> list[str]:
        left = text if vectorizer.keep_boilerplate else clean(text)
        for piece in pieces(left):
            for form in plain(piece):
                j = places.get(forms.get(form) or "", -1)
                if j >= 0:
                    code[j] += 1.0
        return signed(left)

    numbers: dict[str, int] = growing()
    tokens = Tokens.read(some, cut, numbers)
    empty = _listed(EMPTY, languages)
    found = _Occurrences(tokens, list(numbers), vocabulary, forms, languages)
    merits, written = found.merits(), found.written()
    merits[code > 0.5 * np.maximum(found.n, 1.0)] *= PIECE
    merits[found.sameness() > SAME] *= PIECE
    lemma = Simplemma(tuple(languages)) if vectorizer.lemmatizer == "simplemma" else None
    titles = _listed(TITLES, languages)
    none = titles | _listed(NOTHING, languages)
    for j, word in enumerate(vocabulary):
        parts = word.split()
        if len(parts) > 1:
            merits[j] = max((merits[places[one]] for one in parts if one in places), default=1.0)
            written[word] = " ".join(written.get(one, one) for one in parts)
        elif word in none:
            merits[j] = 0.0
        elif found.capitals[j] < NAMED:
            plain_one = written.get(word, word) == word
            strange = plain_one and lemma is not None and not lemma.knows(word)
            merits[j] *= _left(word, little=word in empty, strange=strange)
    return Writing(
        written={word: one for word, one in written.items() if one != word},
        merit={word: round(float(m), 3) for word, m in zip(vocabulary, merits, strict=True)},
        phrases=found.phrases(empty, titles, merits),
    )


def pieces(text: str) -> Iterator[str]:
    """Find pieces of programs, and of words with a hyphen.

    They are what stands between backticks, and a run of letters, digits and underscores that has an
    underscore within, or that is before "(", before one "=", before or after a hyphen, or that
    begins a line as the name in ``name : type``.
    """
    quoted = [match.span() for match in QUOTED.finditer(text)] if "`" in text else []
    yield from (text[slice(*span)] for span in quoted)
    begins = set()
    for match in SIGN.finditer(text):
        sign, begin = match.group(), match.start() - (match.group() == ":")
        while begin and (text[begin - 1].isalnum() or text[begin - 1] == "_"):
            begin -= 1
        if sign == "-":
            begins.add(match.end())
        indent = text[text.rfind("\n", 0, begin) + 1 : begin]
        named = sign != ":" or not indent.strip(" \t")
        if named and (sign != "_" or SNAKE.match(text, begin)):
            begins.add(begin)
    for begin in begins:
        if not any(first <= begin < last for first, last in quoted):
            word = WORD.match(text, begin)
            yield word.group() if word else ""


def _left(word: str, *, little: bool, strange: bool) -> float:
    """Return what is left of the merit of a word that is no name."""
    if any(map(str.isdigit, word)) or (len(word) < 3 and word.isascii()):
        return PIECE
    return LITTLE if little else STRANGE if strange else 1.0


def _listed(lists: Mapping[str, str], languages: Iterable[str]) -> set[str]:
    return {one for language in languages for one in lists.get(language, "").split()}


class _Occurrences:
    """Where the words of texts stand: each with the form before it and the form after it."""

    def __init__(
        self,
        tokens: Tokens,
        forms: list[str],
        vocabulary: list[str],
        known: Mapping[str, str | None],
        languages: Sequence[str],
    ) -> None:
        self.tokens, self.forms, self.languages = tokens, forms, languages
        self.vocabulary = vocabulary
        places = {word: j for j, word in enumerate(vocabulary)}
        self.nothing = len(forms)  # is beside the first and the last word of a text
        self._lower = [form.lower() for form in forms]
        self.word = np.array([places.get(known.get(one) or "", -1) for one in self._lower] + [-1])
        self.ids = tokens.ids.astype(np.intp)
        self.before = np.full(len(self.ids), self.nothing)
        self.after = self.before.copy()
        self.before[1:], self.after[:-1] = self.ids[:-1], self.ids[1:]
        starts, lasts = tokens.ends[:-1], tokens.ends[1:] - 1
        self.before[starts[starts < len(self.ids)]] = self.nothing
        self.after[lasts[lasts >= 0]] = self.nothing
        self.own = self.word[self.ids]
        self.n = self._times(np.ones(len(self.ids), dtype=bool))
        self._sign = self._of_forms(lambda form: not form[:1].isalnum(), beside=True)
        capital = self._of_forms(lambda form: form[:1].isupper())
        # After a sign every word may have a capital, and in a heading most of them have.
        heading = capital & ~self._of_forms(lambda form: len(form) == 1)
        self._within = ~self._sign[self.before] & ~heading[self.before]
        self._n_within = self._times(self._within)
        with_capital = self._times(self._within & capital[self.ids])
        self.capitals = with_capital / np.maximum(self._n_within, 1.0)

    def _of_forms(self, rule: Callable[[str], bool], *, beside: bool = False) -> Flags:
        return np.array([*map(rule, self.forms), beside], dtype=bool)

    def _times(self, which: Flags) -> Floats:
        """Count the occurrences of each word among some of all."""
        chosen = self.own[which & (self.own >= 0)]
        return np.bincount(chosen, minlength=len(self.vocabulary)).astype(float)

    def _among(self, words: Collection[str]) -> Flags:
        return np.array([*(one in words for one in self._lower), False], dtype=bool)

    def merits(self) -> Floats:
        """Return how much like a noun or a name each word is used."""
        if not any(language in BEFORE_NOUNS for language in self.languages):
            return np.ones(len(self.vocabulary))
        nouns, verbs, objects = (
            self._among(_listed(lists, self.languages))
            for lists in (BEFORE_NOUNS, BEFORE_VERBS, AFTER_VERBS)
        )
        stop = frozenset[str]().union(*map(stop_words, self.languages))
        little = self._sign | self._among(stop)
        before, after = self.before, self.after
        last = little[after] & ~objects[after]
        noun = self._times(nouns[before] & last)
        noun += 0.5 * self._times(~little[before] & last)
        verb = self._times(verbs[before]) + self._times(~nouns[before] & objects[after])
        modifier = self._times(nouns[before] & ~little[after])
        merits = (noun + 0.3 * modifier + UNKNOWN * PRIOR) / (noun + 2 * verb + modifier + PRIOR)
        seen = self._n_within >= 3
        if "de" in self.languages:  # where nouns have capitals
            merits = np.where(seen, np.minimum(1.0, self.capitals + 0.1), merits)
        found: Floats = np.where(seen & (self.capitals >= NAMED), 1.0, merits)
        return found

    def sameness(self) -> Floats:
        """Return the share of the occurrences of each word that have the same two neighbours.

        Words of a sentence that many texts have, as of a reference or of a licence, have a large
        one. Zero for words of few occurrences.
        """
        found = np.flatnonzero(self.own >= 0)
        beside = self.before[found] * (self.nothing + 1) + self.after[found]
        _, beside = np.unique(beside, return_inverse=True)
        size = len(found) + 1
        keys, counts = np.unique(self.own[found] * size + beside, return_counts=True)
        most = np.zeros(len(self.vocabulary))
        np.maximum.at(most, keys // size, counts)
        shares: Floats = np.where(self.n >= LEAST_SAME, most / np.maximum(self.n, 1.0), 0.0)
        return shares

    def written(self) -> dict[str, str]:
        """Return how each word is written most often within sentences."""
        counts = np.bincount(self.ids[self._within], minlength=len(self.forms))
        best: dict[str, tuple[int, str]] = {}
        for i, (form, lower) in enumerate(zip(self.forms, self._lower, strict=True)):
            j = int(self.word[i])
            if j >= 0 and counts[i] and lower == self.vocabulary[j]:
                best[lower] = max(best.get(lower, (0, "")), (int(counts[i]), form))
        return {word: form for word, (_, form) in best.items()}

    def phrases(
        self, empty: Collection[str], titles: set[str], merits: Floats
    ) -> dict[str, dict[str, str]]:
        """Return the words that often stand right after each word, and how the two are written."""
        read = self.tokens.renumber(self.word[:-1].tolist())
        occurrences = read.occurrences(len(self.vocabulary))
        pairs = associated(read, LEAST_TEXTS, LEAST_NPMI)
        at, which = meetings(read, pairs)
        n = np.bincount(which, minlength=len(pairs.left))
        rarer = np.minimum(occurrences[pairs.left], occurrences[pairs.right])
        often = n >= MOST_TIMES * rarer + np.sqrt(rarer)  # by more than chance
        first = np.zeros(len(n)) if HEAD_LAST & {*self.languages} else merits[pairs.left]
        often &= np.maximum(first, merits[pairs.right]) >= HEAD
        size = len(self.forms)
        keys, times = np.unique(
            (which * size + self.ids[at]) * size + self.ids[at + 1], return_counts=True
        )
        found: dict[str, dict[str, str]] = {}
        for i in np.argsort(times, kind="stable").tolist():  # the most frequent one last
            pair, two = divmod(int(keys[i]), size * size)
            left, right = (self.vocabulary[int(each[pair])] for each in (pairs.left, pairs.right))
            little = left in empty or right in empty
            if (
                often[pair]
                and titles.isdisjoint((left, right))
                and (not little or pairs.npmi[pair] >= CLOSE)
            ):
                found.setdefault(left, {})[right] = " ".join(
                    self.forms[form] for form in divmod(two, size)
                )
        return found

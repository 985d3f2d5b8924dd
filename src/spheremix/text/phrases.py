"""Phrases: neighbouring words that go together, found by association, and put in their places.

The association of two neighbours is their normalised pointwise mutual information

    npmi(a, b) = log(p(a b) / (p(a .) p(. b))) / -log p(a b)

over all pairs of neighbouring words: p(a b) is the share of the pairs that are a b, p(a .) of those
that begin with a, and p(. b) of those that end with b. It is 1 where neither word is ever beside
another one, and 0 where they meet as often as by chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spheremix.text.words import Tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

LEAST_NPMI = 0.5


@dataclass(frozen=True, slots=True)
class Phrase:
    """Two neighbours that are one word; each of them may be a phrase."""

    left: str
    right: str
    word: str  # the phrase as it is written most often
    npmi: float


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of neighbours by number, in increasing order of left and right."""

    left: Ints
    right: Ints
    npmi: Floats

    def take(self, chosen: NDArray[np.bool_]) -> Pairs:
        """Return some of them."""
        return Pairs(self.left[chosen], self.right[chosen], self.npmi[chosen])


def neighbours(tokens: Tokens) -> Ints:
    """Return the positions of the words that have a word right after them, in the same text."""
    ids = tokens.ids
    both = (ids[:-1] >= 0) & (ids[1:] >= 0)
    last = tokens.ends[1:-1] - 1
    both[last[(last >= 0) & (last < len(both))]] = False
    return np.flatnonzero(both)


def associated(tokens: Tokens, least: int, least_npmi: float = LEAST_NPMI) -> Pairs:
    """Find the pairs of different words that at least so many texts have, and that go together."""
    at = neighbours(tokens)
    ids = tokens.ids.astype(np.int64)
    size = int(ids.max(initial=0)) + 1
    keys, where, counts = np.unique(
        ids[at] * size + ids[at + 1], return_inverse=True, return_counts=True
    )
    left, right = np.divmod(keys, size)
    texts = _texts_with(tokens, at, where, len(keys))
    total = max(len(at), 1)
    share = counts / total
    begin = np.bincount(left, counts, minlength=size)[left] / total
    end = np.bincount(right, counts, minlength=size)[right] / total
    with np.errstate(divide="ignore", invalid="ignore"):  # one pair alone has the share 1
        npmi = np.where(share < 1.0, np.log(share / (begin * end)) / -np.log(share), 1.0)
    pairs = Pairs(left, right, npmi)
    return pairs.take((texts >= least) & (left != right) & (npmi >= least_npmi))


def meetings(tokens: Tokens, pairs: Pairs) -> tuple[Ints, Ints]:
    """Find where pairs are to be joined: positions of the left words, and which pairs they are.

    Where two pairs overlap, the closer one is joined, of equal ones the first.
    """
    at, which = _places(tokens, pairs)
    won = _apart(at, pairs.npmi[which])
    return at[won], which[won]


def _places(tokens: Tokens, pairs: Pairs) -> tuple[Ints, Ints]:
    """Find where pairs are, also where they overlap: as ``meetings``."""
    at = neighbours(tokens)
    size = 1 + max(int(each.max(initial=0)) for each in (tokens.ids, pairs.left, pairs.right))
    wanted = pairs.left * size + pairs.right
    found = tokens.ids[at].astype(np.int64) * size + tokens.ids[at + 1]
    which = np.searchsorted(wanted, found)
    hit = which < len(wanted)
    hit[hit] = wanted[which[hit]] == found[hit]
    return at[hit], which[hit]


def frequent(tokens: Tokens, pairs: Pairs, least: int) -> tuple[Pairs, Ints, Ints]:
    """Keep the pairs that at least so many texts have once closer ones have taken their places.

    Returns them with where they are to be joined. What a pair that is given up leaves may go to
    others: the places are looked for again, and a pair is not given up together with a closer one
    that has taken places of it.
    """
    while True:
        at, which = _places(tokens, pairs)
        won = _apart(at, pairs.npmi[which])
        enough = _texts_with(tokens, at[won], which[won], len(pairs.left)) >= least
        if enough.all():
            return pairs, at[won], which[won]
        closeness, leaves = pairs.npmi[which], won & ~enough[which]
        touches = np.diff(at) == 1
        waits = np.zeros(len(at), dtype=bool)
        waits[1:] |= touches & leaves[:-1] & (closeness[:-1] > closeness[1:])
        waits[:-1] |= touches & leaves[1:] & (closeness[1:] > closeness[:-1])
        enough[which[waits]] = True
        pairs = pairs.take(enough)


def _texts_with(tokens: Tokens, at: Ints, which: Ints, size: int) -> Ints:
    """Count the texts in which each of so many pairs is at one of these positions."""
    text = np.searchsorted(tokens.ends, at, side="right") - 1
    both = np.unique(which * len(tokens.ends) + text)
    return np.bincount(both // len(tokens.ends), minlength=size)


def join(tokens: Tokens, at: Ints, numbers: NDArray[np.int32]) -> Tokens:
    """Put one number each in the place of the words at these positions and those after them."""
    ids = tokens.ids.copy()
    ids[at] = numbers
    kept = np.ones(len(ids), dtype=bool)
    kept[at + 1] = False
    before = np.concatenate([[0], np.cumsum(kept)])
    return Tokens(ids[kept], before[tokens.ends])


def _apart(at: Ints, strength: Floats) -> NDArray[np.bool_]:
    """Choose positions of which none follows right after another, the strongest first."""
    won = np.zeros(len(at), dtype=bool)
    left = np.arange(len(at))  # undecided
    while left.size:
        place, value = at[left], strength[left]
        touches = np.diff(place) == 1
        loses = np.zeros(len(left), dtype=bool)
        loses[1:] |= touches & (value[:-1] >= value[1:])
        loses[:-1] |= touches & (value[1:] > value[:-1])
        best = left[~loses]
        won[best] = True
        taken = np.isin(place, np.concatenate([at[best] - 1, at[best], at[best] + 1]))
        left = left[~taken]
    return won


def learn_phrases(
    words: Tokens, written: Tokens, names: list[str], forms: Sequence[str], longest: int, least: int
) -> tuple[Tokens, list[Phrase]]:
    """Find phrases of so many words at most, in so many texts at least, and put them in place.

    ``written`` has the forms behind the words, in the same order; ``names`` and ``forms`` are words
    and forms by number, and ``names`` grows by the phrases. Returns the words with phrases, and the
    phrases, those of fewer words first.
    """
    lengths = np.ones(len(names), dtype=np.int64)
    numbers = {name: i for i, name in enumerate(names)}
    spelled, found = list(forms), list[Phrase]()
    for length in range(2, longest + 1):
        pairs = associated(words, least)
        pairs = pairs.take(lengths[pairs.left] + lengths[pairs.right] == length)
        pairs, at, which = frequent(words, pairs, least)
        size = len(spelled)
        keys, first, where, counts = np.unique(
            written.ids[at].astype(np.int64) * size + written.ids[at + 1],
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        pieces = [f"{spelled[a]} {spelled[b]}" for a, b in zip(*np.divmod(keys, size), strict=True)]
        ranked = sorted(zip(which[first].tolist(), (-counts).tolist(), pieces, strict=True))
        shown = {pair: piece for pair, _, piece in reversed(ranked)}  # the first of each pair stays
        places = np.zeros(len(pairs.left), dtype=np.int32)
        for pair, name in sorted(shown.items()):
            left, right = names[pairs.left[pair]], names[pairs.right[pair]]
            found.append(Phrase(left, right, name, float(pairs.npmi[pair])))
            if name not in numbers:  # "new york" and "city", "new" and "york city": one phrase
                numbers[name] = len(names)
                names.append(name)
            places[pair] = numbers[name]
        words = join(words, at, places[which])
        written = join(written, at, (size + where).astype(np.int32))
        spelled += pieces
        lengths = np.concatenate([lengths, np.full(len(names) - len(lengths), length)])
    return words, found


class PhraseTable:
    """Puts known phrases, those of fewer words first, in their places in new texts."""

    def __init__(self, phrases: Sequence[Phrase], numbers: Mapping[str, int]) -> None:
        lengths: dict[str, int] = {}
        levels: dict[int, list[tuple[int, int, float, int]]] = {}
        for one in phrases:
            length = lengths.get(one.left, 1) + lengths.get(one.right, 1)
            lengths[one.word] = length
            row = (numbers[one.left], numbers[one.right], one.npmi, numbers[one.word])
            levels.setdefault(length, []).append(row)
        self._levels = []
        for _, rows in sorted(levels.items()):
            left, right, npmi, number = zip(*sorted(rows), strict=True)
            pairs = Pairs(np.array(left, np.int64), np.array(right, np.int64), np.array(npmi))
            self._levels.append((pairs, np.array(number, dtype=np.int32)))

    def __call__(self, tokens: Tokens) -> Tokens:
        """Return the words with phrases."""
        for pairs, numbers in self._levels:
            at, which = meetings(tokens, pairs)
            tokens = join(tokens, at, numbers[which])
        return tokens

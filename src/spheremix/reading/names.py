"""Names of groups: words of many of their documents, of which two groups never share two."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from spheremix.reading.words import Vocabulary, Word
    from spheremix.text.writing import Writing

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]
    Part = tuple[int, ...]  # the words of a part of a name, by number

Key = TypeVar("Key", bound="Hashable")
CONSIDERED = 60  # characteristic words of a group among which those of its name are chosen
STEM = 4  # first letters that two forms of one word share, at least
BETWEEN = " \N{MIDDLE DOT} "  # the parts of a name
TOGETHER = 1.5  # how much more two words that are written together are worth than the lesser one
MANY, TIMES, MORE = 1 / 3, 5.0, 1.5  # such a share here, so many times that elsewhere: so much more
TINY = 1e-3  # share of documents that counts as none
LEAST = 0.003  # of the worth of the first part: what is worth less is left out


def choose_names(
    ranked: Sequence[Sequence[Key]],
    order: Iterable[int],
    n: int,
    alike: Callable[[Key, Key], bool] | None = None,
) -> list[list[Key]]:
    """Choose words for the names of all groups, so that no two names share two words.

    Groups take turns, in the given order: in each turn a group takes the best of its words that
    leaves it with at most one word in common with every other name. A group that has no such word
    left keeps the shorter name. So the rule always holds, and every group that has a word has a
    name; with less words than groups, two names may be the same single word. ``ranked`` has the
    words of each group, the best one first; a name has ``n`` words at most, and no two that are
    ``alike``.
    """
    names: list[list[Key]] = [[] for _ in ranked]
    having: dict[Key, list[int]] = {}  # the groups whose names have a word
    turns = list(order)
    for _ in range(n):
        for k in turns:
            barred = {word for mine in names[k] for other in having[mine] for word in names[other]}
            word = next(
                (
                    one
                    for one in ranked[k]
                    if one not in barred
                    and (alike is None or not any(alike(one, mine) for mine in names[k]))
                ),
                None,
            )
            if word is not None:
                names[k].append(word)
                having.setdefault(word, []).append(k)
    return names


def alike(one: str, other: str) -> bool:
    """Return whether two words say nearly the same, judged by their letters.

    One begins or ends with the other ("type" and "dtype"), or both begin with the same letters, at
    least four and two thirds of the shorter word ("stats" and "statistic"). Two phrases are alike
    where they share a word, and a phrase and a word where that is one of its words. Words with
    digits, such as names of columns, are never alike.
    """
    if " " in one or " " in other:
        return not set(one.split()).isdisjoint(other.split())
    short, long = sorted((one, other), key=len)
    if len(short) == 1 or not (short + long).isalpha():
        return one == other
    shared = next((i for i, letter in enumerate(short) if letter != long[i]), len(short))
    stem = shared >= STEM and 3 * shared >= 2 * len(short)
    return stem or long.startswith(short) or long.endswith(short)


def alike_parts(words: Sequence[str]) -> Callable[[Part, Part], bool]:
    """Return what says whether two parts of a name have words that say nearly the same."""
    return lambda one, other: any(alike(words[i], words[j]) for i in one for j in other)


def naming_words(vocabulary: Vocabulary, n: int = 3) -> list[list[Word]]:
    """Return the words that name each group: of many of its documents, and of few others.

    Of the 60 most characteristic words of the group
    (:func:`~spheremix.reading.characteristic_scores`), those that are worth most. The worth of a
    word is the square root of its score, times by how much the share of the group's documents with
    the word is above that among the documents of all other groups, plus by how much it is above
    the largest share of another group (each of the two at least zero), times 1.5 where a third of
    the group's documents have the word and no other group has a fifth of that share, times its
    merit: how much like a noun or a name it is used in the texts, where they are known
    (``spheremix.text.writing.Writing``). Without known documents, scores take the place of
    shares. Two words that are mostly written together are one part of a name. A name has no two
    words that say the same ("type" and "dtype"), and no two groups share two parts of their names:
    then the group of smaller mass takes its next one. Where a group has no other word, its name is
    shorter. The parts stand in an order that depends on the group alone.

    Parameters
    ----------
    vocabulary : Vocabulary
        Prototypes with names for their features.
    n : int, default=3
        Parts of a name.

    Returns
    -------
    list of list of Word
        A list a group, in the order of the name.

    Examples
    --------
    >>> import numpy as np
    >>> from spheremix.reading import Vocabulary, naming_words
    >>> prototypes = np.array([[0.8, 0.6, 0.0], [0.0, 0.6, 0.8]])
    >>> words = Vocabulary(prototypes, ["heart", "the", "wing"])
    >>> [[word.word for word in name] for name in naming_words(words, n=2)]
    [['heart', 'the'], ['wing', 'the']]
    """
    found = []
    for k, name in enumerate(name_parts(vocabulary, n)):
        features = [j for part in name for j in part]
        few = vocabulary.ranked(k, np.array(features, np.intp), None)
        by_feature = {one.feature: one for one in few}
        found.append([by_feature[j] for j in features])
    return found


def name_parts(vocabulary: Vocabulary, n: int) -> list[list[Part]]:
    """Return the parts of the name of each group: a word each, or two written together."""
    K = len(vocabulary.prototypes)
    masses = np.ones(K) if vocabulary.masses is None else np.asarray(vocabulary.masses)
    ranked = []
    for k in range(K):
        found = np.flatnonzero(vocabulary.support[k])
        found = found[vocabulary.ranking(k, found)]
        first, rest = found[:CONSIDERED], found[CONSIDERED:]
        worth = np.sqrt(vocabulary.scores[k, first])
        if vocabulary.document_shares is not None:
            here = vocabulary.document_shares[k, first]
            others = vocabulary.share_among_others(k)[first]
            nearest = vocabulary.shares_elsewhere(k)[first]
            worth *= beyond(here, others, nearest)
        parts = ranked_parts(first, worth, vocabulary.names, vocabulary.writing)
        ranked.append(parts or [(int(j),) for j in (*first, *rest)])
    order = np.argsort(-masses, kind="stable").tolist()
    names = choose_names(ranked, order, n, alike_parts(vocabulary.names))
    return [in_order(vocabulary, k, parts) for k, parts in enumerate(names)]


def in_order(vocabulary: Vocabulary, k: int, parts: list[Part]) -> list[Part]:
    """Return the parts of a name in an order that no other group changes.

    By the share of its documents with a word, times the logarithm of how often it is that of all
    others together: so a name stays as it is where other groups are merged or divided.
    """
    if vocabulary.document_shares is None or len(vocabulary.prototypes) < 2:
        return parts
    here, others = vocabulary.document_shares[k], vocabulary.share_among_others(k)
    telling = here * np.log(np.maximum(here, TINY) / np.maximum(others, TINY))
    return sorted(parts, key=lambda part: -min(telling[j] for j in part))


def beyond(here: Array, others: Array, nearest: Array) -> Array:
    """Return by how much shares of documents are above two others, each at least zero.

    A word that a third of the documents have, and hardly any other group, counts more.
    """
    found = np.maximum(here - others, 0.0) + np.maximum(here - nearest, 0.0)
    found[(here >= MANY) & (here > TIMES * nearest)] *= MORE
    return np.asarray(found)


def ranked_parts(
    features: Ids, worth: Array, words: Sequence[str], writing: Writing | None
) -> list[Part]:
    """Return words, and pairs that are written together, by what they are worth in a name."""
    merits = np.ones(len(features))
    if writing is not None:
        merits = np.array([writing.merit.get(words[j], 1.0) for j in features.tolist()])
    values: dict[Part, float] = {
        (j,): value for j, value in zip(features.tolist(), (worth * merits).tolist(), strict=True)
    }
    if writing is not None:
        places = {words[j]: i for i, j in enumerate(features.tolist())}
        for i, left in enumerate(features.tolist()):
            for other in writing.phrases.get(words[left], ()):
                k = places.get(other)
                if k is not None:
                    lesser = min(worth[i], worth[k]) * max(merits[i], merits[k])
                    values[left, int(features[k])] = float(TOGETHER * lesser)
    best = max(values.values(), default=0.0)
    found = sorted(values, key=lambda part: -values[part])  # stable: the characteristic one first
    return [part for part in found if values[part] > LEAST * best or not best]


def write_names(
    names: Sequence[Sequence[Part]], words: Sequence[str], writing: Writing | None
) -> list[str]:
    """Write names as people do: with the capitals of the texts, the first letters large."""
    return [write_name([[words[j] for j in part] for part in parts], writing) for parts in names]


def write_name(parts: Iterable[Sequence[str]], writing: Writing | None) -> str:
    """Write the parts of a name, which are words or phrases of two."""
    if writing is None:
        return BETWEEN.join(" ".join(part) for part in parts)
    found = []
    for part in parts:
        text = " ".join(writing.written.get(word, word) for word in part)
        if len(part) == 2:
            text = writing.phrases.get(part[0], {}).get(part[1], text)
        found.append(_titled(text))
    return BETWEEN.join(found)


def _titled(text: str) -> str:
    """Write the first letter large, unless the word has capitals elsewhere, as jQuery."""
    first = text.split(" ", 1)[0]
    return text if first != first.lower() else text[:1].upper() + text[1:]


def words_in(name: str) -> set[str]:
    """Return the words of a name, in lower case."""
    return {word for part in name.lower().split(BETWEEN) for word in part.split()}

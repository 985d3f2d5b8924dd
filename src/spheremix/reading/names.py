"""Names of groups: characteristic words, of which two groups never share two."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from spheremix.reading.words import Vocabulary, Word

Key = TypeVar("Key", bound="Hashable")
CONSIDERED = 20  # characteristic words of a group among which those of its name are chosen
STEM = 4  # first letters that two forms of one word share, at least


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


def naming_words(vocabulary: Vocabulary, n: int = 3) -> list[list[Word]]:
    """Return the words that name each group: characteristic words that set it apart.

    Of the 20 most characteristic words of the group
    (:func:`~spheremix.reading.characteristic_scores`), those with the largest product of two
    numbers, where the shares of documents that contain each word are known. The first number is
    the score. The second one is by how much the share of the group is above the share among the
    documents of all other groups, plus by how much it is above the largest share of another
    group; each of the two is at least zero. A name should be about many documents of its group
    and about few others, and should set it apart from the groups that are like it. A name has no
    two words that say the same ("type" and "dtype"), and no two groups share two words of their
    names: then the group of smaller mass takes its next word. Where a group has no other word,
    its name is shorter.

    Parameters
    ----------
    vocabulary : Vocabulary
        Prototypes with names for their features.
    n : int, default=3
        Words of a name.

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
    K = len(vocabulary.prototypes)
    masses = np.ones(K) if vocabulary.masses is None else np.asarray(vocabulary.masses)
    order = np.argsort(-masses, kind="stable").tolist()
    words = vocabulary.names
    ranked = [_candidates(vocabulary, k) for k in range(K)]
    names = choose_names(ranked, order, n, lambda i, j: alike(words[i], words[j]))
    found = []
    for k, name in enumerate(names):
        by_feature = {one.feature: one for one in vocabulary.ranked(k, np.array(name, np.intp), n)}
        found.append([by_feature[j] for j in name])
    return found


def _candidates(vocabulary: Vocabulary, k: int) -> list[int]:
    """Return the features of a group, those that are best in its name first."""
    found = np.flatnonzero(vocabulary.support[k])
    found = found[vocabulary.ranking(k, found)]
    first, rest = found[:CONSIDERED], found[CONSIDERED:]
    if vocabulary.document_shares is not None:
        here = vocabulary.document_shares[k, first]
        beyond = np.maximum(here - vocabulary.shares_elsewhere(k)[first], 0.0)
        beyond += np.maximum(here - vocabulary.share_among_others(k)[first], 0.0)
        first = first[np.argsort(-vocabulary.scores[k, first] * beyond, kind="stable")]
    return [*first.tolist(), *rest.tolist()]


def join_each(names: Sequence[Sequence[str]]) -> list[str]:
    """Write the words of several names; with commas in all of them where one has a phrase."""
    commas = any(" " in word for words in names for word in words)
    return [(", " if commas else " ").join(words) for words in names]

"""Names of clusters: characteristic words, of which two clusters never share two."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from spheremix.reading.vocabulary import Vocabulary, Word

Key = TypeVar("Key", bound="Hashable")


def choose_names(ranked: Sequence[Sequence[Key]], order: Iterable[int], n: int) -> list[list[Key]]:
    """Choose words for the names of all clusters, so that no two names share two words.

    Clusters take turns, in the given order: in each turn a cluster takes the best of its words that
    leaves it with at most one word in common with every other name. A cluster that has no such word
    left keeps the shorter name. So the rule always holds, and every cluster that has a word has a
    name; with less words than clusters, two names may be the same single word.

    Parameters
    ----------
    ranked : sequence of sequences
        The words of each cluster, each word once, the best one first.
    order : iterable of int
        The clusters, those that choose first come first.
    n : int
        Words of a name, at most.

    Returns
    -------
    list of list
        One name a cluster.
    """
    names: list[list[Key]] = [[] for _ in ranked]
    having: dict[Key, list[int]] = {}  # the clusters whose names have a word
    turns = list(order)
    for _ in range(n):
        for k in turns:
            barred = {word for mine in names[k] for other in having[mine] for word in names[other]}
            word = next((one for one in ranked[k] if one not in barred), None)
            if word is not None:
                names[k].append(word)
                having.setdefault(word, []).append(k)
    return names


def all_naming_words(vocabulary: Vocabulary, n: int = 3) -> list[list[Word]]:
    """Give the words that name each cluster: characteristic words that set it apart.

    The most characteristic words of the cluster
    (:func:`~spheremix.reading.characteristic_scores`), except that no two clusters share two words
    of their names: then the cluster of smaller mass takes its next word. Where a cluster has no
    other word, its name is shorter.

    Parameters
    ----------
    vocabulary : Vocabulary
        Prototypes with names for their features.
    n : int, default=3
        Words of a name.

    Returns
    -------
    list of list of Word
        A list a cluster, the most characteristic word first.

    Examples
    --------
    >>> import numpy as np
    >>> from spheremix.reading import Vocabulary, all_naming_words
    >>> prototypes = np.array([[0.8, 0.6, 0.0], [0.0, 0.6, 0.8]])
    >>> words = Vocabulary(prototypes, ["heart", "the", "wing"])
    >>> [[word.word for word in name] for name in all_naming_words(words, n=2)]
    [['heart', 'the'], ['wing', 'the']]
    """
    K = len(vocabulary.prototypes)
    masses = np.ones(K) if vocabulary.masses is None else np.asarray(vocabulary.masses)
    order = np.argsort(-masses, kind="stable").tolist()
    features = [np.flatnonzero(row) for row in vocabulary.support]
    ranked = [found[vocabulary.ranking(k, found)].tolist() for k, found in enumerate(features)]
    names = choose_names(ranked, order, n)
    return [
        vocabulary.ranked(k, np.array(name, dtype=np.intp), None) for k, name in enumerate(names)
    ]


def naming_words(vocabulary: Vocabulary, cluster: int, n: int = 3) -> list[Word]:
    """Give the words that name a cluster, by :func:`~spheremix.reading.all_naming_words`.

    Parameters
    ----------
    vocabulary : Vocabulary
        Prototypes with names for their features.
    cluster : int
        The cluster.
    n : int, default=3
        How many; less where the prototype has less words, or where others have the same ones.

    Returns
    -------
    list of Word
        The most characteristic word first.

    Examples
    --------
    >>> import numpy as np
    >>> from spheremix.reading import Vocabulary, naming_words
    >>> prototypes = np.array([[0.8, 0.6, 0.0], [0.0, 0.6, 0.8]])
    >>> words = Vocabulary(prototypes, ["heart", "the", "wing"])
    >>> [word.word for word in naming_words(words, 0, n=1)]
    ['heart']
    """
    return all_naming_words(vocabulary, n)[vocabulary.require_cluster(cluster)]


def cluster_name(vocabulary: Vocabulary, cluster: int, n_words: int = 3) -> str:
    """Name a cluster, by :func:`~spheremix.reading.naming_words`.

    Parameters
    ----------
    vocabulary : Vocabulary
        Prototypes with names for their features.
    cluster : int
        The cluster.
    n_words : int, default=3
        How many words.

    Returns
    -------
    str
        The words, separated by spaces.

    Examples
    --------
    >>> import numpy as np
    >>> from spheremix.reading import Vocabulary, cluster_name
    >>> prototypes = np.array([[0.8, 0.6, 0.0], [0.0, 0.6, 0.8]])
    >>> cluster_name(Vocabulary(prototypes, ["heart", "the", "wing"]), 1, n_words=1)
    'wing'
    """
    return " ".join(word.word for word in naming_words(vocabulary, cluster, n_words))

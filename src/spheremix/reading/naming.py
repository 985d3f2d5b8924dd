"""Names of clusters: their own words that survive longest, among those that weigh enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from spheremix.reading.vocabulary import Vocabulary, Word

# Of the heaviest word of the cluster.
HEAVY = 1.0 / 3.0
FAINT = 1.0 / 10.0


def naming_words(vocabulary: Vocabulary, cluster: int, n: int = 3) -> list[Word]:
    """Give the words that name a cluster.

    Its own words that survive longest on the path, if they are *heavy*: if they weigh at least a
    third of what the heaviest word of the cluster weighs. A word that few documents of a cluster
    have can be its own and survive, and would still be a poor name. Where there are less than n of
    them, the heavy words follow that the cluster *leads*: that weigh more in it than in any other.
    Then come its other own words and the other words it leads, if they are not *faint*: less than
    a tenth of the heaviest. Within each of these groups those come first that survive longest, and
    of equals the heavier one. Last comes the rest, by weight: what is faint may survive, since a
    path can end early.

    Parameters
    ----------
    vocabulary : Vocabulary
        Prototypes with names for their features.
    cluster : int
        The cluster.
    n : int, default=3
        How many; less where the prototype has less words.

    Returns
    -------
    list of Word
        The best name first.

    Examples
    --------
    >>> import numpy as np
    >>> from spheremix.reading import Vocabulary, naming_words
    >>> prototypes = np.array([[0.8, 0.6, 0.0], [0.0, 0.6, 0.8]])
    >>> words = Vocabulary(prototypes, ["heart", "the", "wing"])
    >>> [word.word for word in naming_words(words, 0, n=1)]
    ['heart']
    """
    k = vocabulary.require_cluster(cluster)
    weights = np.abs(vocabulary.prototypes)
    has = vocabulary.support[k]
    own = has & (vocabulary.n_sharing == 1)
    leads = weights[k] > np.delete(weights, k, axis=0).max(axis=0, initial=0.0)
    heavy = has & (weights[k] >= HEAVY * weights[k].max())
    seen = has & (weights[k] >= FAINT * weights[k].max())
    words: list[Word] = []
    left = has.copy()
    for group in (heavy & own, heavy & leads, seen & own, seen & leads):
        words += vocabulary.ranked(k, np.flatnonzero(group & left), n - len(words), by="exit")
        left &= ~group
    return words + vocabulary.ranked(k, np.flatnonzero(left), n - len(words))


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

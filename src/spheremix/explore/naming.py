"""Names of clusters: their own words that survive longest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from spheremix.explore.vocabulary import Vocabulary, Word


def naming_words(vocabulary: Vocabulary, cluster: int, n: int = 3) -> list[Word]:
    """Give the words that name a cluster.

    Its own words that survive longest on the path. Where it has less than n of them, shared words
    follow: first those that it keeps longer than any other cluster (without a path, those that
    weigh more in it than in any other), then the others.

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
        Own words first.
    """
    words = vocabulary.own_words(cluster, n)
    if len(words) < n:
        shared = np.flatnonzero(vocabulary.support[cluster] & (vocabulary.n_sharing > 1))
        exits = vocabulary.exit_betas
        grip = np.abs(vocabulary.prototypes[:, shared]) if exits is None else exits[:, shared]
        leads = grip[cluster] > np.delete(grip, cluster, axis=0).max(axis=0, initial=0.0)
        words += vocabulary.ranked(cluster, shared[leads], n - len(words))
        words += vocabulary.ranked(cluster, shared[~leads], n - len(words))
    return words


def cluster_name(vocabulary: Vocabulary, cluster: int, n_words: int = 3) -> str:
    """Name a cluster, by :func:`naming_words`.

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
    """
    return " ".join(word.word for word in naming_words(vocabulary, cluster, n_words))

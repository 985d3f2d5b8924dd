"""How good groups and their words are, and how similar the groups of two partitions are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from spheremix.data.open import as_directions
from spheremix.seeding import class_resultants

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

__all__ = ["calinski_harabasz_cosine", "coverage", "diversity", "npmi"]


def calinski_harabasz_cosine(X: Any, labels: ArrayLike) -> float:
    """Return the Calinski-Harabasz index of a partition, with one minus the cosine for a distance.

    A cluster's centre is the direction of the sum of its rows, as in spherical k-means; the
    dispersion within clusters is n minus the coherence, that between them is the coherence minus
    what one cluster of all rows would have. scikit-learn's ``calinski_harabasz_score`` has squared
    Euclidean distances to means inside the sphere, and takes no sparse matrix. Its
    ``silhouette_score(X, labels, metric="cosine")`` serves as it is.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or Directions
        Rows are normalised; a sparse matrix stays sparse.
    labels : array-like of shape (n,)
        The partition, at least 2 and at most n - 1 classes.

    Returns
    -------
    float
        Larger is better; infinity where the rows of every class coincide.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, labels, _ = sm.datasets.make_vmf_mixture(200, 5, 3, kappa=20.0, random_state=0)
    >>> index = sm.metrics.calinski_harabasz_cosine
    >>> index(X, labels) > index(X, labels % 2)
    True
    """
    directions = as_directions(X)
    classes, members = np.unique(np.asarray(labels), return_inverse=True)
    n, k = directions.n_rows, len(classes)
    if members.shape != (n,):
        raise ValueError(f"labels must have one value a row ({n}), got shape {members.shape}.")
    if not 1 < k < n:
        raise ValueError(f"labels must have 2 to {n - 1} classes, got {k}.")
    sums = class_resultants(directions, members, k).vectors
    coherence = float(np.linalg.norm(sums, axis=1).sum())
    between = coherence - float(np.linalg.norm(sums.sum(axis=0)))
    within = n - coherence
    if within <= 1e-12 * n:
        return float("inf")
    return between / (k - 1) / (within / (n - k))


def npmi(
    words: Sequence[Sequence[Hashable]], counts: Any, vocabulary: Sequence[Hashable] | None = None
) -> Array:
    """Return the coherence of each group's words: normalised pointwise mutual information.

    For two words, log(p(a, b) / (p(a) p(b))) / -log p(a, b), where p is the share of the documents
    that contain a word, or both; -1 for words that never meet, 1 for words that are in every
    document together. A group has the mean over all pairs of its words.

    Parameters
    ----------
    words : sequence of sequences
        The words of each group, usually ten.
    counts : array-like or sparse matrix of shape (n_documents, n_words)
        The documents by which words are judged, best those of another corpus or part of it. A word
        is in a document where the value is not zero.
    vocabulary : sequence of shape (n_words,), default=None
        The words of the columns; None where ``words`` are numbers of columns.

    Returns
    -------
    ndarray of shape (n_groups,)
        Between -1 and 1, larger is better; nan for a group of fewer than two words.

    Examples
    --------
    >>> import spheremix as sm
    >>> counts = [[1, 1, 0], [2, 1, 0], [0, 0, 1], [0, 1, 1]]
    >>> vocabulary = ["sea", "ship", "wheat"]
    >>> sm.metrics.npmi([["sea", "ship"], ["sea", "wheat"]], counts, vocabulary).round(3)
    array([ 0.415, -1.   ])
    """
    has, groups = _columns(words, counts, vocabulary)
    frequency = np.asarray(has.sum(axis=0)).ravel() / has.shape[0]
    found = np.full(len(groups), np.nan)
    for g, columns in enumerate(groups):
        a, b = np.triu_indices(len(columns), 1)
        if not len(a):
            continue
        chosen = has[:, columns]
        both = (chosen.T @ chosen).toarray()[a, b] / has.shape[0]
        apart = frequency[columns[a]] * frequency[columns[b]]
        some = (both > 0.0) & (both < 1.0)
        pairs = np.where(both == 0.0, -1.0, 1.0)
        pairs[some] = np.log(both[some] / apart[some]) / -np.log(both[some])
        found[g] = pairs.mean()
    return found


def diversity(words: Sequence[Sequence[Hashable]]) -> float:
    """Return the share of different words among the words of all groups.

    Parameters
    ----------
    words : sequence of sequences
        The words of each group.

    Returns
    -------
    float
        1 where no word is listed twice.

    Examples
    --------
    >>> import spheremix as sm
    >>> sm.metrics.diversity([["sea", "ship"], ["sea", "wheat"]])
    0.75
    """
    every = [word for several in words for word in several]
    if not every:
        raise ValueError("words must have at least one word.")
    return len(set(every)) / len(every)


def coverage(
    words: Sequence[Sequence[Hashable]],
    counts: Any,
    labels: ArrayLike,
    vocabulary: Sequence[Hashable] | None = None,
) -> Array:
    """Return the share of a group's documents that contain one of its words, mean over its words.

    Parameters
    ----------
    words : sequence of sequences
        The words of each group: first those of group 0.
    counts : array-like or sparse matrix of shape (n_documents, n_words)
        The documents. A word is in a document where the value is not zero.
    labels : array-like of shape (n_documents,)
        The group of each document; negative numbers are documents without a group.
    vocabulary : sequence of shape (n_words,), default=None
        The words of the columns; None where ``words`` are numbers of columns.

    Returns
    -------
    ndarray of shape (n_groups,)
        Between 0 and 1; nan for a group without words or without documents.

    Examples
    --------
    >>> import spheremix as sm
    >>> counts = [[1, 1, 0], [2, 0, 0], [0, 0, 1], [0, 1, 1]]
    >>> sm.metrics.coverage([[0, 1], [2]], counts, labels=[0, 0, 1, 1])
    array([0.75, 1.  ])
    """
    has, groups = _columns(words, counts, vocabulary)
    labels = np.asarray(labels)
    if labels.shape != (has.shape[0],):
        raise ValueError(
            f"labels must have one value a document ({has.shape[0]}), got shape {labels.shape}."
        )
    found = np.full(len(groups), np.nan)
    for g, columns in enumerate(groups):
        members = np.flatnonzero(labels == g)
        if len(members) and len(columns):
            found[g] = has[members][:, columns].mean()
    return found


def _columns(
    words: Sequence[Sequence[Hashable]], counts: Any, vocabulary: Sequence[Hashable] | None
) -> tuple[sparse.csr_array, list[Ids]]:
    """Return which documents have which words, and the columns of the words of each group."""
    has = sparse.csr_array(counts).astype(bool).astype(np.float64)
    has.eliminate_zeros()
    n_words = has.shape[1]
    if vocabulary is None:
        place: dict[Hashable, int] = {j: j for j in range(n_words)}
    else:
        place = {word: j for j, word in enumerate(vocabulary)}
        if len(vocabulary) != n_words:
            raise ValueError(
                f"vocabulary has {len(vocabulary)} words, and counts {n_words} columns."
            )
    unknown = next((word for several in words for word in several if word not in place), None)
    if unknown is not None:
        raise ValueError(f"words: {unknown!r} is not in the vocabulary of counts.")
    return has, [np.array([place[word] for word in one], dtype=np.intp) for one in words]


def count_common(
    first: Ids, second: Ids, shape: tuple[int, int], weights: Array | None = None
) -> Array:
    """Count the rows that each pair of groups of two partitions has in common, or add weights."""
    counts = np.bincount(first * shape[1] + second, weights, shape[0] * shape[1])
    return counts.reshape(shape).astype(np.float64)


def jaccard(common: Array) -> Array:
    """Return, for each pair of groups, the rows in both as a share of those in either."""
    either = common.sum(axis=1)[:, None] + common.sum(axis=0) - common
    shares: Array = np.divide(common, either, out=np.zeros_like(common), where=either > 0.0)
    return shares

"""Words of a group where features are no words: those of its texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from spheremix.reading.labels import as_groups, count_groups
from spheremix.reading.words import Vocabulary, characteristic_scores, word_shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from spheremix.text.writing import Writing

    Array = NDArray[np.float64]

BY_CHANCE = 2.0  # up to this z, a difference may be due to chance


@dataclass(frozen=True, slots=True)
class ContrastWord:
    """A characteristic word of the texts of a group.

    Attributes
    ----------
    word : str
        The word.
    column : int
        Its column in the counts.
    group : int
        The group.
    score : float
        How characteristic it is of the texts of the group.
    z : float
        The standardised log-odds ratio; beyond 2, hardly by chance.
    count : float
        Occurrences in the group.
    share : float
        Of all occurrences, those in the group.
    """

    word: str
    column: int
    group: int
    score: float
    z: float
    count: float
    share: float


def log_odds_contrast(
    counts: Any, labels: ArrayLike, *, n_groups: int | None = None, prior: float | None = None
) -> Array:
    """Compare the words of each group with those of all the other documents.

    The log-odds ratio with an informative Dirichlet prior of Monroe, Colaresi and Quinn,
    "Fightin' words", Political Analysis 16 (2008). With y_kj the occurrences of word j in group
    k, y_rj those in the rest, n_k and n_r their sums over the words, and prior counts
    a_j = ``prior`` * (y_kj + y_rj) / (n_k + n_r) that add up to a = ``prior``::

        delta_kj = log (y_kj + a_j) / (n_k + a - y_kj - a_j)
                 - log (y_rj + a_j) / (n_r + a - y_rj - a_j)
        z_kj     = delta_kj / sqrt(1 / (y_kj + a_j) + 1 / (y_rj + a_j))

    A rare word has a large variance and so a small z, however uneven it is; a word that is spread
    evenly has z = 0, however frequent it is.

    Parameters
    ----------
    counts : array-like or sparse matrix of shape (n, n_words)
        Occurrences of words in the documents, non-negative.
    labels : array-like of shape (n,)
        Group of each document; documents without one (-1) are left out.
    n_groups : int, default=None
        K, where the last groups may be empty.
    prior : float, default=None
        Weight of the prior, in words; the mean length of a document by default.

    Returns
    -------
    ndarray of shape (K, n_words)
        z, positive for the words of the group. Zero for a word that never occurs.

    Examples
    --------
    >>> from spheremix.reading import log_odds_contrast
    >>> z = log_odds_contrast([[9, 0, 4], [0, 9, 4]], [0, 1])
    >>> (z > 2.0).tolist()
    [[True, False, False], [False, True, False]]
    """
    inside = group_counts(counts, labels, n_groups=n_groups)
    totals = inside.sum(axis=0)
    everything = totals.sum()
    if prior is None:
        prior = everything / max(np.count_nonzero(np.asarray(labels) >= 0), 1) or 1.0
    if not 0.0 < prior < np.inf:
        raise ValueError(f"prior must be a positive number of words, got {prior!r}.")
    expected = prior * totals / (everything or 1.0)
    y = inside + expected
    y_rest = (totals - inside) + expected
    other = inside.sum(axis=1)[:, None] + prior - y
    other_rest = (everything - inside.sum(axis=1))[:, None] + prior - y_rest
    # Nothing to compare where a word never occurs, or where no other word does.
    fair = (y > 0.0) & (y_rest > 0.0) & (other > 0.0) & (other_rest > 0.0)
    y, y_rest, other, other_rest = (
        np.where(fair, one, 1.0) for one in (y, y_rest, other, other_rest)
    )
    delta = np.log(y / other) - np.log(y_rest / other_rest)
    z: Array = delta / np.sqrt(1.0 / y + 1.0 / y_rest)
    return z


def contrast_words(
    counts: Any,
    labels: ArrayLike,
    vocabulary: Sequence[str],
    n: int | None = 10,
    *,
    n_groups: int | None = None,
    prior: float | None = None,
) -> list[list[ContrastWord]]:
    """List the characteristic words of the texts of each group.

    They are ranked as the words of prototypes are
    (:func:`~spheremix.reading.characteristic_scores`), with the mean direction of the texts of a
    group in the place of its prototype: rows of tf-idf with logarithmic counts, of length one,
    are added up. Only words are listed that the group uses more than the rest: the z of
    :func:`~spheremix.reading.log_odds_contrast` is positive. Words with a z of 2 or less, whose
    difference may be due to chance, come last.

    Parameters
    ----------
    counts, labels, n_groups, prior
        As in :func:`log_odds_contrast`.
    vocabulary : sequence of str
        One word a column.
    n : int, default=10
        How many words a group at most; None for all that the group uses more than the rest.

    Returns
    -------
    list of list of ContrastWord
        A list a group, the most characteristic word first.

    Examples
    --------
    >>> from spheremix.reading import contrast_words
    >>> found = contrast_words([[9, 0, 4], [0, 9, 4]], [0, 1], ["heart", "wing", "the"], n=1)
    >>> [word.word for [word] in found]
    ['heart', 'wing']
    """
    inside = group_counts(counts, labels, n_groups=n_groups)
    if len(vocabulary) != inside.shape[1]:
        raise ValueError(
            f"There are {len(vocabulary)} words for {inside.shape[1]} columns of counts."
        )
    z = log_odds_contrast(counts, labels, n_groups=n_groups, prior=prior)
    scores = _scores(counts, labels, n_groups)
    totals = inside.sum(axis=0)
    return [
        [
            ContrastWord(
                vocabulary[j],
                j,
                k,
                float(scores[k, j]),
                float(z[k, j]),
                float(row[j]),
                float(row[j] / totals[j]),
            )
            for j in _ordered(scores[k], z[k])[:n]
        ]
        for k, row in enumerate(inside)
    ]


def _ordered(scores: Array, z: Array) -> list[int]:
    """Order the words of one group by score, those that may be there by chance last."""
    order = np.lexsort((-z, -scores, z <= BY_CHANCE))
    return [j for j in order.tolist() if z[j] > 0.0]


def _scores(counts: Any, labels: ArrayLike, n_groups: int | None) -> Array:
    """Score the words of each group, by the sums of the directions of its texts."""
    sums = text_sums(counts, labels, n_groups)
    lengths = np.linalg.norm(sums, axis=1)
    if not lengths.any():
        return sums
    return characteristic_scores(sums / np.where(lengths > 0.0, lengths, 1.0)[:, None], lengths)


def text_vocabulary(
    counts: Any,
    words: Sequence[str],
    labels: ArrayLike,
    n_groups: int,
    writing: Writing | None = None,
) -> Vocabulary:
    """Return the words of groups of texts, as those of prototypes: the mean directions of texts."""
    sums = text_sums(counts, labels, n_groups)
    lengths = np.linalg.norm(sums, axis=1)
    masses = lengths if lengths.any() else np.ones(len(lengths))
    shares = word_shares(counts, labels, n_groups=n_groups)
    directions = sums / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    return Vocabulary(directions, words, None, masses, shares, writing)


def text_sums(counts: Any, labels: ArrayLike, n_groups: int | None = None) -> Array:
    """Add up the tf-idf directions of the texts of each group, with logarithmic counts."""
    rows = TfidfTransformer(sublinear_tf=True).fit_transform(sparse.csr_array(counts, dtype=float))
    return group_counts(rows, labels, n_groups=n_groups)


def group_counts(counts: Any, labels: ArrayLike, *, n_groups: int | None = None) -> Array:
    """Add up the counts of the documents of each group.

    Parameters
    ----------
    counts, labels, n_groups
        As in :func:`log_odds_contrast`.

    Returns
    -------
    ndarray of shape (K, n_words)
        Occurrences of each word in each group.

    Examples
    --------
    >>> from spheremix.reading import group_counts
    >>> group_counts([[1, 2], [3, 4], [5, 6]], [0, 1, 1]).tolist()
    [[1.0, 2.0], [8.0, 10.0]]
    """
    ids = as_groups(labels)
    try:
        rows: Any = sparse.csr_array(counts)
    except (TypeError, ValueError):  # texts, or lists of words
        raise ValueError(
            "counts must be a table of counts, one row a document, as CountVectorizer gives."
        ) from None
    if ids.shape != rows.shape[:1] or rows.ndim != 2:
        raise ValueError(f"counts has the shape {rows.shape}, and there are {ids.size} labels.")
    if rows.nnz and not (rows.data.min() >= 0 and rows.data.max() < np.inf):
        raise ValueError("counts must be finite and non-negative.")
    K = count_groups(ids, n_groups)
    kept = np.flatnonzero(ids >= 0)
    members = sparse.csr_array((np.ones(kept.size), (ids[kept], kept)), shape=(K, ids.size))
    sums: Array = (members @ rows).toarray()
    return sums

"""Characteristic words: how much a word weighs in a group, times how much of it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from spheremix import bessel
from spheremix.data.parts import nonzero_parts
from spheremix.reading.labels import as_groups, count_groups

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

POWER = 1.5  # of the weight of a word in its score; the page of the report has it too


def characteristic_scores(prototypes: ArrayLike, masses: ArrayLike | None = None) -> Array:
    """Score every word for every group: what the words of a group are ranked by.

    With mu_kj the coordinate of word j in the prototype of group k, and m_k the mass of the
    group (:func:`~spheremix.reading.group_masses`)::

        share_kj = m_k |mu_kj| / sum over l of m_l |mu_lj|
        score_kj = |mu_kj| to the power 1.5 * share_kj

    ``m_k |mu_kj|`` is what the model expects the rows of group k to have of the word, so share_kj
    is the share of the word that is in this group: 1 for a word that no other group has. The
    power says how much the weight counts beside the share. With 1, rare words come first in small
    groups of dense prototypes; with 2, words that several groups use come too early. Absolute
    values define the score for embeddings and centred data, where coordinates may be negative.
    ``benchmarks/words.py --rankings`` compares this score with others.

    Parameters
    ----------
    prototypes : array-like of shape (K, d)
        One row a group.
    masses : array-like of shape (K,), default=None
        Non-negative, and not all zero; equal masses by default. Only their ratios matter.

    Returns
    -------
    ndarray of shape (K, d)
        Zero exactly where the prototype is zero, if all masses are positive.

    Examples
    --------
    >>> from spheremix.reading import characteristic_scores
    >>> characteristic_scores([[0.8, 0.6, 0.0], [0.0, 0.6, 0.8]]).round(2).tolist()
    [[0.72, 0.23, 0.0], [0.0, 0.23, 0.72]]
    """
    sizes = np.abs(np.asarray(prototypes, dtype=np.float64))
    scores: Array = sizes**POWER * expected_shares(sizes, masses)
    return scores


def expected_shares(prototypes: ArrayLike, masses: ArrayLike | None = None) -> Array:
    """Return the share of each word that the model expects in each group.

    Parameters
    ----------
    prototypes, masses
        As in :func:`characteristic_scores`.

    Returns
    -------
    ndarray of shape (K, d)
        Each column sums to one; a word of no group has zeros.
    """
    sizes = np.abs(np.asarray(prototypes, dtype=np.float64))
    if masses is not None:
        given = np.asarray(masses, dtype=np.float64)
        if given.shape != sizes.shape[:1] or not (np.all(given >= 0.0) and given.sum() > 0.0):
            raise ValueError(
                f"masses must be {len(sizes)} numbers, one a group, none negative and not all "
                f"zero: got {masses!r}."
            )
        sizes = sizes * (given / given.sum())[:, None]
    totals = sizes.sum(axis=0)
    shares: Array = sizes / np.where(totals > 0.0, totals, 1.0)
    return shares


def group_masses(weights: ArrayLike, kappas: ArrayLike | None, n_features: int) -> Array:
    """Return the expected length of the sum of the rows of each group, for one row in all.

    The mean of a von Mises-Fisher distribution is A_d(kappa) mu, so the mean over all rows of
    those of group k is alpha_k A_d(kappa_k) mu_k. For equal kappas the factor A_d(kappa) is the
    same everywhere and changes no ranking.

    Parameters
    ----------
    weights : array-like of shape (K,)
        Weights of the mixture; shares of the rows for spherical k-means.
    kappas : array-like of shape (K,), or None
        Concentrations; None for spherical k-means, which has none.
    n_features : int
        d.

    Returns
    -------
    ndarray of shape (K,)
        ``masses`` of :func:`characteristic_scores`.

    Examples
    --------
    >>> from spheremix.reading import group_masses
    >>> group_masses([0.5, 0.5], [100.0, 1.0], 3).round(3).tolist()
    [0.495, 0.157]
    """
    masses = np.asarray(weights, dtype=np.float64)
    if kappas is None:
        return masses
    return np.asarray(masses * bessel.mean_length(n_features, np.asarray(kappas, dtype=float)))


def document_shares(X: Any, labels: ArrayLike, *, n_groups: int | None = None) -> Array:
    """Return the share of the documents of each group that contain each word.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), path, iterable of blocks, or Directions
        Documents as rows; a word that is not zero in a row is in that document.
    labels : array-like of shape (n,)
        Group of each document; documents without one (-1) are left out.
    n_groups : int, default=None
        K, where the last groups may be empty.

    Returns
    -------
    ndarray of shape (K, d)
        Between 0 and 1; zeros for an empty group.

    Examples
    --------
    >>> from spheremix.reading import document_shares
    >>> document_shares([[3, 0], [1, 2], [0, 5]], [0, 0, 1]).tolist()
    [[1.0, 0.5], [0.0, 1.0]]
    """
    ids = as_groups(labels)
    K = count_groups(ids, n_groups)
    counts: Any = 0.0
    first = 0
    for part in nonzero_parts(X):
        n = part.shape[0]
        within = ids[first : first + n]
        kept = np.flatnonzero(within >= 0)
        members = sparse.csr_array((np.ones(len(kept)), (within[kept], kept)), shape=(K, n))
        counts = counts + (members @ part).toarray()
        first += n
    if first != len(ids):
        raise ValueError(f"There are {len(ids)} labels for {first} rows.")
    sizes = np.bincount(ids[ids >= 0], minlength=K)
    shares: Array = counts / np.maximum(sizes, 1)[:, None]
    return shares

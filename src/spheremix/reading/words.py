"""Words of groups: how characteristic each word is, and whose words are whose."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from spheremix import bessel
from spheremix.data.parts import nonzero_parts
from spheremix.reading.labels import as_groups, count_groups

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from spheremix.text.writing import Writing

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

POWER = 1.5  # of the weight of a word in its score; the page of the report has it too
Rank = Literal["characteristic", "weight", "exit"]
# Words that no other group has are listed if at least this share of the group's documents
# contain them. Below it, most of them are names and misprints of a few documents.
ONLY_HERE_SHARE = 0.05
# And if the share of documents with the word is so many times that of any other group: documents
# of other groups may contain a word that their prototype does without.
ONLY_HERE_TIMES = 2.0


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
    """Return the share of each word that the model expects in each group; zeros for nobody's."""
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


def word_shares(X: Any, labels: ArrayLike, *, n_groups: int | None = None) -> Array:
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
    >>> from spheremix.reading import word_shares
    >>> word_shares([[3, 0], [1, 2], [0, 5]], [0, 0, 1]).tolist()
    [[1.0, 0.5], [0.0, 1.0]]
    """
    ids = as_groups(labels)
    K = count_groups(ids, n_groups)
    counts: Any = 0.0
    first = 0
    for part in nonzero_parts(X):
        n, d = part.shape
        within = ids[first : first + n]
        first += n
        if len(within) == n:
            groups = np.repeat(within, np.diff(part.indptr))
            places = (groups * d + part.indices)[groups >= 0]
            counts = counts + np.bincount(places, minlength=K * d).reshape(K, d)
    if first != len(ids):
        raise ValueError(f"There are {len(ids)} labels for {first} rows.")
    sizes = np.bincount(ids[ids >= 0], minlength=K)
    shares: Array = counts / np.maximum(sizes, 1)[:, None]
    return shares


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a group.

    Attributes
    ----------
    word : str
        The name of the feature.
    feature : int
        Its number.
    group : int
        The group.
    weight : float
        The coordinate of the prototype.
    score : float
        How characteristic it is (:func:`~spheremix.reading.characteristic_scores`).
    exit_beta : float or None
        The penalty from which the group does without it; infinite where it never does, None
        without a path.
    shared_with : tuple of int
        Other groups in which it is non-zero.
    document_share : float or None
        Share of the group's documents that contain it; None where the rows are not known.
    """

    word: str
    feature: int
    group: int
    weight: float
    score: float
    exit_beta: float | None
    shared_with: tuple[int, ...]
    document_share: float | None = None


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Sparse prototypes with a name for each feature.

    Words of a group are ranked in one of three ways. ``"characteristic"``: by a power
    of the coordinate of the prototype times the share of the word that is in this group
    (:func:`~spheremix.reading.characteristic_scores`). ``"weight"``: by the absolute coordinate
    alone. ``"exit"``: by the penalty up to which the group keeps them on the path. Many words
    leave together on a path, or are still there when it ends: of those, the heavier one comes
    first. Without a path, "exit" and "weight" are the same.

    Parameters
    ----------
    prototypes : ndarray of shape (K, d)
        Its exact zeros say which group has which word.
    names : sequence of str
        One a feature.
    exit_betas : ndarray of shape (K, d), default=None
        ``exit_betas_`` of a path.
    masses : array-like of shape (K,), default=None
        How much of the rows each group has, as :func:`~spheremix.reading.group_masses` gives
        it; equal by default.
    document_shares : ndarray of shape (K, d), default=None
        Share of the documents of each group that contain each word, as
        :func:`~spheremix.reading.word_shares` gives it.
    writing : Writing, default=None
        How the words are written and used in the texts; names are made with it.

    Examples
    --------
    >>> import numpy as np
    >>> from spheremix.reading import Vocabulary
    >>> prototypes = np.array([[0.8, 0.6, 0.0], [0.0, 0.6, 0.8]])
    >>> words = Vocabulary(prototypes, ["heart", "the", "wing"])
    >>> [word.word for word in words.words(0)], words.common_words()
    (['heart', 'the'], ['the'])
    """

    prototypes: Array
    names: Sequence[str]
    exit_betas: Array | None = None
    masses: Array | None = None
    document_shares: Array | None = None
    writing: Writing | None = None

    def __post_init__(self) -> None:
        if len(self.names) != self.prototypes.shape[1]:
            raise ValueError(
                f"There are {len(self.names)} names for {self.prototypes.shape[1]} features."
            )
        for name in ("exit_betas", "document_shares"):
            given = getattr(self, name)
            if given is not None and given.shape != self.prototypes.shape:
                raise ValueError(
                    f"{name} must have the shape of the prototypes, {self.prototypes.shape}: "
                    f"got {given.shape}."
                )

    @cached_property
    def support(self) -> NDArray[np.bool_]:
        """Which group has which word, of shape (K, d)."""
        support: NDArray[np.bool_] = self.prototypes != 0.0
        return support

    @cached_property
    def scores(self) -> Array:
        """How characteristic each word is of each group, of shape (K, d)."""
        return characteristic_scores(self.prototypes, self.masses)

    @cached_property
    def n_sharing(self) -> Ids:
        """Groups that have each word, of shape (d,)."""
        counts: Ids = self.support.sum(axis=0)
        return counts

    # Features

    def features_of(self, groups: Iterable[int]) -> Ids:
        """Return the features of exactly these groups, and of no other.

        Parameters
        ----------
        groups : iterable of int
            ``[k]`` for the words that only this group has, ``[k, l]`` for those of a pair, all
            the groups for common words, ``[]`` for nobody's.

        Returns
        -------
        ndarray
            Numbers of features, those of the largest sum of absolute coordinates first.
        """
        wanted = sorted({self.require_group(k) for k in groups})
        found = np.flatnonzero(
            self.support[wanted].all(axis=0) & (self.n_sharing == len(wanted))
            if wanted
            else self.n_sharing == 0
        )
        intensities = np.abs(self.prototypes[:, found]).sum(axis=0)
        return found[np.argsort(-intensities, kind="stable")]

    def roles(self, group: int) -> NDArray[np.str_]:
        """Return what each feature is to a group.

        Parameters
        ----------
        group : int
            The group.

        Returns
        -------
        ndarray of str of shape (d,)
            "own": of this group only; "common": of all groups; "shared": of this one and some
            others; "other": of others only; "none": of no group.
        """
        has, count = self.support[self.require_group(group)], self.n_sharing
        return np.select(
            [has & (count == 1), has & (count == len(self.prototypes)), has, count > 0],
            ["own", "common", "shared", "other"],
            "none",
        )

    # Words

    def words(self, group: int, n: int | None = None, *, by: Rank = "characteristic") -> list[Word]:
        """Return the words of a group, the most characteristic ones first.

        Parameters
        ----------
        group : int
            The group.
        n : int, default=None
            How many at most; all of them by default.
        by : {"characteristic", "weight", "exit"}, default="characteristic"
            The ranking.

        Returns
        -------
        list of Word
            The most important ones first.
        """
        k = self.require_group(group)
        return self.ranked(k, np.flatnonzero(self.support[k]), n, by)

    def only_here_words(
        self,
        group: int,
        n: int | None = None,
        *,
        by: Rank = "characteristic",
        least_share: float = ONLY_HERE_SHARE,
    ) -> list[Word]:
        """Return the words that only this group has, and that enough of its documents contain.

        No other prototype has these words, and the share of the documents with the word is at least
        twice that of any other group.

        Parameters
        ----------
        group, n, by
            As in :meth:`words`.
        least_share : float, default=0.05
            Share of the group's documents that must contain a word. Without
            ``document_shares`` there is no such bound, and documents of others are not asked.

        Returns
        -------
        list of Word
            The most important ones first.
        """
        k = self.require_group(group)
        found = self.support[k] & (self.n_sharing == 1)
        if self.document_shares is not None:
            here = self.document_shares[k]
            found &= (here >= least_share) & (here >= ONLY_HERE_TIMES * self.shares_elsewhere(k))
        return self.ranked(k, np.flatnonzero(found), n, by)

    def shared_words(
        self, group: int, n: int | None = None, *, by: Rank = "characteristic"
    ) -> list[Word]:
        """Return the words that this group has in common with some others, not with all.

        Those of all groups are common words; of two groups, no word is shared.

        Parameters
        ----------
        group, n, by
            As in :meth:`words`.

        Returns
        -------
        list of Word
            The most important ones to this group first.
        """
        k = self.require_group(group)
        some = (self.n_sharing > 1) & (self.n_sharing < len(self.prototypes))
        return self.ranked(k, np.flatnonzero(self.support[k] & some), n, by)

    def common_words(self, n: int | None = None) -> list[str]:
        """Return the words of all groups.

        Parameters
        ----------
        n : int, default=None
            How many at most; all of them by default.

        Returns
        -------
        list of str
            Those of the largest sum of absolute coordinates first.
        """
        return self.named(self.features_of(range(len(self.prototypes)))[:n])

    def shares_elsewhere(self, group: int) -> Array:
        """Return the largest share of documents with each word among the other groups.

        Zeros for one group alone, and where ``document_shares`` are not known.
        """
        if self.document_shares is None:
            return np.zeros(self.prototypes.shape[1])
        others: Array = np.delete(self.document_shares, self.require_group(group), axis=0)
        found: Array = others.max(axis=0, initial=0.0)
        return found

    def share_among_others(self, group: int) -> Array:
        """Return the share of documents with each word among those of all other groups together.

        Zeros for one group alone, and where ``document_shares`` are not known.
        """
        found: Array = np.zeros(self.prototypes.shape[1])
        if self.document_shares is not None:
            given = np.ones(len(self.prototypes)) if self.masses is None else self.masses
            masses = np.array(given, dtype=np.float64)
            masses[self.require_group(group)] = 0.0
            found += masses @ self.document_shares / max(masses.sum(), np.finfo(float).tiny)
        return found

    def named(self, features: Iterable[int]) -> list[str]:
        """Return the names of features."""
        return [self.names[j] for j in features]

    def table(self) -> dict[str, NDArray[Any]]:
        """Return every word of every group, column by column: ready for a data frame.

        Returns
        -------
        dict of ndarray
            ``group``, ``rank`` in the group from 1, ``word``, ``feature``, ``score``,
            ``weight``, ``document_share`` (NaN where rows are not known), ``exit_beta`` (NaN
            without a path) and ``n_groups`` that have the word; a row a non-zero coordinate,
            group after group, the most characteristic words first.
        """
        groups, features = np.nonzero(self.support)
        missing = np.full(len(groups), np.nan)
        exits, shares = (
            missing if one is None else one[groups, features]
            for one in (self.exit_betas, self.document_shares)
        )
        weights, scores = self.prototypes[groups, features], self.scores[groups, features]
        order = np.lexsort((-exits, -np.abs(weights), -scores, groups))
        groups, features = groups[order], features[order]
        firsts = np.searchsorted(groups, groups)
        return {
            "group": groups,
            "rank": np.arange(len(groups)) - firsts + 1,
            "word": np.array(self.named(features), dtype=object),
            "feature": features,
            "score": scores[order],
            "weight": weights[order],
            "document_share": shares[order],
            "exit_beta": exits[order],
            "n_groups": self.n_sharing[features],
        }

    def require_group(self, k: int) -> int:
        """Refuse a group that is not there: -1 is one that is set aside, not the last one."""
        if not 0 <= k < len(self.prototypes):
            raise ValueError(f"There is no group {k}: they are 0 to {len(self.prototypes) - 1}.")
        return int(k)

    def ranked(
        self, k: int, features: Ids, n: int | None, by: Rank = "characteristic"
    ) -> list[Word]:
        """Return some features of a group as words, the most important ones first."""
        order = self.ranking(k, features, by)[:n]
        exits, shares = self.exit_betas, self.document_shares
        return [
            Word(
                self.names[j],
                j,
                k,
                float(self.prototypes[k, j]),
                float(self.scores[k, j]),
                None if exits is None else float(exits[k, j]),
                tuple(int(other) for other in np.flatnonzero(self.support[:, j]) if other != k),
                None if shares is None else float(shares[k, j]),
            )
            for j in features[order].tolist()
        ]

    def ranking(self, k: int, features: Ids, by: Rank = "characteristic") -> Ids:
        """Order some features of a group: their places, the most important one first."""
        if by not in get_args(Rank):
            raise ValueError(f"by must be one of {', '.join(get_args(Rank))}, got {by!r}.")
        weights = -np.abs(self.prototypes[k, features])
        exits = np.zeros(len(features))
        if self.exit_betas is not None:
            exits = -self.exit_betas[k, features]
        if by == "characteristic":
            return np.lexsort((exits, weights, -self.scores[k, features]))
        return np.lexsort((weights, exits) if by == "exit" else (exits, weights))

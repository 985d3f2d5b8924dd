"""Whose words are whose: own, shared, common and nobody's vocabulary, ranked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

Rank = Literal["weight", "exit"]


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a cluster.

    Attributes
    ----------
    word : str
        The name of the feature.
    feature : int
        Its number.
    cluster : int
        The cluster.
    weight : float
        The coordinate of the prototype.
    exit_beta : float or None
        The penalty from which the cluster does without it; infinite where it never does, None
        without a path.
    shared_with : tuple of int
        Other clusters in which it is non-zero.
    """

    word: str
    feature: int
    cluster: int
    weight: float
    exit_beta: float | None
    shared_with: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Sparse prototypes with a name for each feature.

    Words of a cluster are ranked by ``"weight"``, the absolute coordinate of the prototype, or by
    ``"exit"``, the penalty up to which the cluster keeps them on the path. Many words leave
    together on a path, or are still there when it ends: of those, the heavier one comes first.
    Without a path both are the same.

    Parameters
    ----------
    prototypes : ndarray of shape (K, d)
        Its exact zeros say which cluster has which word.
    names : sequence of str
        One a feature.
    exit_betas : ndarray of shape (K, d), default=None
        ``exit_betas_`` of a path.

    Examples
    --------
    >>> import numpy as np
    >>> from spheremix.reading import Vocabulary
    >>> prototypes = np.array([[0.8, 0.6, 0.0], [0.0, 0.6, 0.8]])
    >>> words = Vocabulary(prototypes, ["heart", "the", "wing"])
    >>> [word.word for word in words.own_words(0)], words.common_words()
    (['heart'], ['the'])
    """

    prototypes: Array
    names: Sequence[str]
    exit_betas: Array | None = None

    def __post_init__(self) -> None:
        if len(self.names) != self.prototypes.shape[1]:
            raise ValueError(
                f"There are {len(self.names)} names for {self.prototypes.shape[1]} features."
            )
        if self.exit_betas is not None and self.exit_betas.shape != self.prototypes.shape:
            raise ValueError(
                f"exit_betas must have the shape of the prototypes, {self.prototypes.shape}: "
                f"got {self.exit_betas.shape}."
            )

    @cached_property
    def support(self) -> NDArray[np.bool_]:
        """Which cluster has which word, of shape (K, d)."""
        support: NDArray[np.bool_] = self.prototypes != 0.0
        return support

    @cached_property
    def n_sharing(self) -> Ids:
        """Clusters that have each word, of shape (d,)."""
        counts: Ids = self.support.sum(axis=0)
        return counts

    # Features

    def features_of(self, clusters: Iterable[int]) -> Ids:
        """Give the features of exactly these clusters, and of no other.

        Parameters
        ----------
        clusters : iterable of int
            ``[k]`` for the own words of a cluster, ``[k, l]`` for the words of a pair, all the
            clusters for common words, ``[]`` for nobody's.

        Returns
        -------
        ndarray
            Numbers of features, those of the largest sum of absolute coordinates first.
        """
        wanted = sorted({self.require_cluster(k) for k in clusters})
        found = np.flatnonzero(
            self.support[wanted].all(axis=0) & (self.n_sharing == len(wanted))
            if wanted
            else self.n_sharing == 0
        )
        intensities = np.abs(self.prototypes[:, found]).sum(axis=0)
        return found[np.argsort(-intensities, kind="stable")]

    def roles(self, cluster: int) -> NDArray[np.str_]:
        """Tell what each feature is to a cluster.

        Parameters
        ----------
        cluster : int
            The cluster.

        Returns
        -------
        ndarray of str of shape (d,)
            "own": of this cluster only; "common": of all clusters; "shared": of this one and some
            others; "other": of others only; "none": of no cluster.
        """
        has, count = self.support[self.require_cluster(cluster)], self.n_sharing
        return np.select(
            [has & (count == 1), has & (count == len(self.prototypes)), has, count > 0],
            ["own", "common", "shared", "other"],
            "none",
        )

    # Words

    def words(self, cluster: int, n: int | None = None, *, by: Rank = "weight") -> list[Word]:
        """Give the words of a cluster, own or not.

        Parameters
        ----------
        cluster : int
            The cluster.
        n : int, default=None
            How many at most; all of them by default.
        by : {"weight", "exit"}, default="weight"
            The ranking.

        Returns
        -------
        list of Word
            The most important ones first.
        """
        k = self.require_cluster(cluster)
        return self.ranked(k, np.flatnonzero(self.support[k]), n, by)

    def own_words(self, cluster: int, n: int | None = None, *, by: Rank = "weight") -> list[Word]:
        """Give the words that only this cluster has.

        Parameters
        ----------
        cluster, n, by
            As in :meth:`words`.

        Returns
        -------
        list of Word
            The most important ones first.
        """
        k = self.require_cluster(cluster)
        return self.ranked(k, np.flatnonzero(self.support[k] & (self.n_sharing == 1)), n, by)

    def shared_words(
        self, cluster: int, n: int | None = None, *, by: Rank = "weight"
    ) -> list[Word]:
        """Give the words that this cluster has in common with some others, not with all.

        Those of all clusters are common words; of two clusters, no word is shared.

        Parameters
        ----------
        cluster, n, by
            As in :meth:`words`.

        Returns
        -------
        list of Word
            The most important ones to this cluster first.
        """
        k = self.require_cluster(cluster)
        some = (self.n_sharing > 1) & (self.n_sharing < len(self.prototypes))
        return self.ranked(k, np.flatnonzero(self.support[k] & some), n, by)

    def common_words(self, n: int | None = None) -> list[str]:
        """Give the words of all clusters.

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

    def named(self, features: Iterable[int]) -> list[str]:
        """Give the names of features.

        Parameters
        ----------
        features : iterable of int
            Numbers of features.

        Returns
        -------
        list of str
            One a feature.
        """
        return [self.names[j] for j in features]

    def table(self) -> dict[str, NDArray[Any]]:
        """Give every word of every cluster: a data frame in waiting.

        Returns
        -------
        dict of ndarray
            ``cluster``, ``word``, ``feature``, ``weight``, ``exit_beta`` (NaN without a path),
            ``n_clusters`` that share the word and ``rank`` in the cluster from 1; a row a non-zero
            coordinate, cluster after cluster, the heaviest words first.
        """
        clusters, features = np.nonzero(self.support)
        weights = self.prototypes[clusters, features]
        missing = np.full(len(weights), np.nan)
        exits = missing if self.exit_betas is None else self.exit_betas[clusters, features]
        order = np.lexsort((-exits, -np.abs(weights), clusters))
        clusters, features = clusters[order], features[order]
        firsts = np.searchsorted(clusters, clusters)
        return {
            "cluster": clusters,
            "word": np.array(self.named(features), dtype=object),
            "feature": features,
            "weight": weights[order],
            "exit_beta": exits[order],
            "n_clusters": self.n_sharing[features],
            "rank": np.arange(len(clusters)) - firsts + 1,
        }

    def require_cluster(self, k: int) -> int:
        """Refuse a cluster that is not there: -1 is one that is set aside, not the last one."""
        if not 0 <= k < len(self.prototypes):
            raise ValueError(f"There is no cluster {k}: they are 0 to {len(self.prototypes) - 1}.")
        return int(k)

    def ranked(self, k: int, features: Ids, n: int | None, by: Rank = "weight") -> list[Word]:
        """Give some features of a cluster as words, the most important ones first."""
        if by not in get_args(Rank):
            raise ValueError(f"by must be one of {', '.join(get_args(Rank))}, got {by!r}.")
        weights = self.prototypes[k, features]
        exits = None if self.exit_betas is None else self.exit_betas[k, features]
        keys = [-np.abs(weights)]
        if exits is not None:
            keys.insert(1 if by == "exit" else 0, -exits)
        return [
            Word(
                self.names[j := int(features[i])],
                j,
                k,
                float(weights[i]),
                None if exits is None else float(exits[i]),
                tuple(int(other) for other in np.flatnonzero(self.support[:, j]) if other != k),
            )
            for i in np.lexsort(keys)[:n]
        ]

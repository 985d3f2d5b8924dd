"""What is known of each number of clusters, and how it is weighed.

Two kinds of evidence decide. Clusters should be *stable*: rows that are drawn again should fall
into the same clusters, more than rows without any clusters do. And the number should be a *turning
point*: the last cluster should explain much more than a further one would.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What is known of each number of clusters; NaN where something is not known.

    Attributes
    ----------
    candidates : ndarray of int of shape (C,)
        The numbers of clusters, increasing.
    n_rows : float
        Rows, or the sum of their weights.
    n_features : int
        Columns.
    log_likelihoods : ndarray of shape (C,)
        Of the best mixture of each number.
    one_cluster : float
        The log-likelihood of a mixture of one component.
    n_parameters : ndarray of shape (C,)
        Parameters of the mixtures, as the criteria count them.
    criteria : dict of str to ndarray of shape (C,)
        Information criteria; smaller is better.
    stability : ndarray of shape (C,)
        Mean adjusted Rand index between the clusters of rows that were drawn again.
    chance : ndarray of shape (C,)
        The same for rows without clusters.
    agreement : ndarray of shape (C,)
        Mean adjusted Rand index of the other runs of the search with the best one.
    largest : ndarray of shape (C,)
        Share of the largest cluster.
    merge_costs : ndarray of shape (C,) or None
        What merging two of K clusters loses, in nats; of a tree.
    held_out : ndarray of shape (C,) or None
        Log-likelihood of rows that were left out, a row.
    apart : float or None
        By how many standard deviations clusters gain more than in rows without clusters.
    chance_gain : float
        What a further cluster gains in rows without clusters, in nats a row.
    by_length : float or None
        Rank correlation of two clusters with the number of words of the documents.
    by_label : (str, float) or None
        The column of labels that two clusters agree with most, and the adjusted Rand index.
    """

    candidates: NDArray[np.intp]
    n_rows: float
    n_features: int
    log_likelihoods: Array
    one_cluster: float
    n_parameters: Array
    criteria: dict[str, Array]
    stability: Array
    chance: Array
    agreement: Array
    largest: Array
    merge_costs: Array | None = None
    held_out: Array | None = None
    apart: float | None = None
    chance_gain: float = 0.0
    by_length: float | None = None
    by_label: tuple[str, float] | None = None

    @property
    def adjusted_stability(self) -> Array:
        """Stability between 0, what chance gives, and 1; 0 for one cluster.

        Where rows were not drawn again, the agreement of the runs stands for it.
        """
        found = np.where(np.isfinite(self.stability), self.stability, self.agreement)
        corrected = (found - self.chance) / (1.0 - self.chance)
        corrected = np.where(self.candidates == 1, 0.0, np.nan_to_num(corrected, nan=0.0))
        return np.clip(corrected, 0.0, 1.0)

    @property
    def gains(self) -> Array:
        """What each further cluster adds to the log-likelihood, in nats a row."""
        steps = np.diff(self.candidates, prepend=1)
        added = np.diff(self.log_likelihoods, prepend=self.one_cluster)
        if steps[0] == 0:  # one cluster is a candidate: it adds nothing
            steps[0], added[0] = 1, 0.0
        gains: Array = added / steps / self.n_rows
        return gains

    @property
    def least_gain(self) -> Array:
        """What a further cluster must gain to count: more than by chance, and what BIC asks for."""
        each = self.n_parameters / np.maximum(self.candidates, 1)
        price = each * np.log(max(self.n_rows, 2.0)) / (2.0 * self.n_rows)
        least: Array = np.maximum(price, self.chance_gain)
        return least

    @property
    def turning(self) -> Array:
        """How much less a further cluster explains than the last one did, between 0 and 1.

        With merge costs, the mean of both. The last number has none, since what follows is not
        known; nor has the first one, above two, since the last of its clusters may have added much
        less than all of them together.
        """
        gains = self.gains
        if self.candidates[0] > 2:
            gains[0] = np.nan
        falls = [_falls(gains, self.least_gain)]
        if self.merge_costs is not None:
            falls.append(_falls(self.merge_costs / self.n_rows, self.least_gain))
        turning: Array = np.mean(falls, axis=0)
        return turning

    @property
    def scores(self) -> Array:
        """Adjusted stability plus turning: between 0 and 2."""
        return self.adjusted_stability + self.turning


def _falls(gains: Array, least: Array) -> Array:
    """Return the relative fall after each gain; gains below the least one count as the least."""
    floored = np.maximum(np.nan_to_num(gains, nan=0.0), np.maximum(least, 1e-300))
    falls = np.zeros(len(gains))
    falls[:-1] = np.clip(1.0 - floored[1:] / floored[:-1], 0.0, 1.0)
    return falls

"""Whether the shares or the words of groups have changed: tests by exchanging documents.

If nothing has changed, documents of the past and new ones can be exchanged. What is seen is
compared with what would be seen if other documents were the new ones. Groups are judged together:
the largest value of all groups in a draw is what a group is compared with (Westfall and Young's
maxT), so the false alarms are those of the whole batch, however many groups there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.reading.document_fit import products, some

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.reading.document_fit import Scored

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

N_SHARES = 9999  # draws of the shares
N_WORDS = 999  # draws of the words
LEAST = 2  # documents on either side that a mean needs
MOST = 300  # documents of a group on either side whose words are compared


@dataclass(frozen=True, slots=True, eq=False)
class SharesDrift:
    """How many new documents each group has, and how many it would have."""

    found: Ids
    expected: Array  # as many as its share of the past
    p_values: Array  # probability that any group differs so much by chance


def compare_shares(past: Ids, new: Ids, n_groups: int, rng: np.random.Generator) -> SharesDrift:
    """Compare the shares of groups; the labels of documents of the past and of new ones."""
    before = np.bincount(past, minlength=n_groups)
    found = np.bincount(new, minlength=n_groups)
    n, m = len(past), len(new)
    expected = m * before / n
    pooled = before + found
    total = n + m
    share = pooled / total
    # Number of new documents of a group if m of all n + m are called new: hypergeometric.
    error = np.sqrt(np.maximum(m * share * (1.0 - share) * n / max(total - 1, 1), 1e-12))
    drawn = rng.multivariate_hypergeometric(pooled, m, size=N_SHARES)
    differences = np.abs(drawn - m * share) / error
    largest = differences.max(axis=1)
    p_values = _adjusted(np.abs(found - m * share) / error, largest)
    return SharesDrift(found, expected, p_values)


@dataclass(frozen=True, slots=True, eq=False)
class WordsDrift:
    """How far the mean of the new documents of each group is from that of its old ones."""

    p_values: Array  # that any group differs so much by chance; NaN where documents are too few
    differences: Array  # (K, d): the mean of the new documents minus that of the old ones
    n_with: Ids  # (K, d): new documents that have the word


def compare_words(past: Scored, new: Scored, n_groups: int, rng: np.random.Generator) -> WordsDrift:
    """Compare the mean directions of new and old documents, group by group.

    The statistic of a group is the squared length of the difference of the two means. In units of
    the mean and the standard deviation of its own draws, that of one group can be compared with
    that of others.
    """
    d = new.rows.shape[1]
    differences = np.zeros((n_groups, d))
    n_with = np.zeros((n_groups, d), dtype=np.intp)
    values = np.full(n_groups, np.nan)
    largest = np.full(N_WORDS, -np.inf)
    for k in range(n_groups):
        fresh, old = (
            one.take(some(np.flatnonzero(one.labels == k), MOST, rng)) for one in (new, past)
        )
        if min(len(old), len(fresh)) < LEAST:
            continue
        differences[k] = _mean(fresh.rows) - _mean(old.rows)
        n_with[k] = np.asarray((fresh.rows != 0).sum(axis=0)).ravel()
        drawn = distances(_all_products(fresh, old), _draws(len(fresh), len(old), rng))
        mean, deviation = drawn.mean(), max(float(drawn.std()), 1e-12)
        values[k] = (drawn[0] - mean) / deviation
        largest = np.maximum(largest, (drawn[1:] - mean) / deviation)
    return WordsDrift(_adjusted(values, largest), differences, n_with)


def _mean(rows: Any) -> Array:
    return np.asarray(rows.mean(axis=0)).ravel()


def _all_products(fresh: Scored, old: Scored) -> Array:
    """Return the products of all pairs of rows, the new ones first."""
    across = products(fresh.rows, old.rows)
    own, past = (products(one.rows, one.rows) for one in (fresh, old))
    return np.block([[own, across], [across.T, past]])


def _draws(n_new: int, n_old: int, rng: np.random.Generator) -> Array:
    """Return which documents are called new in each draw: first those that are, then others."""
    called = np.zeros((N_WORDS + 1, n_new + n_old))
    called[0, :n_new] = 1.0
    called[1:] = rng.permuted(np.tile(called[0], (N_WORDS, 1)), axis=1)
    return called


def distances(gram: Array, called: Array) -> Array:
    """Return the squared distances of the means of two sets of rows, from the products of all rows.

    Each row of ``called`` has one for the rows of the first set and zero for those of the second.
    """
    n = called.sum(axis=1, keepdims=True)
    weights = called / n - (1.0 - called) / (called.shape[1] - n)
    found: Array = np.einsum("bi,bi->b", weights @ gram, weights)
    return found


def _adjusted(values: Array, largest: Array) -> Array:
    """Return the share of draws whose largest value reaches each value; NaN stays what it is."""
    above = len(largest) - np.searchsorted(np.sort(largest), values, side="left")
    return np.where(np.isnan(values), np.nan, (1.0 + above) / (1.0 + len(largest)))

"""Documents that fit no group, and groups among them: compared with what documents of the past do.

A new document is scored by prototypes that it did not help to make. Documents of the fit are
therefore scored without their own part in the prototypes (:mod:`spheremix.estimators.left_out`), so
that both kinds of scores can be compared. The score is the cosine with the prototype of the group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse, stats

from spheremix.estimators.left_out import LeftOut

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.data.base import Directions
    from spheremix.estimators.mixture import VMFMixture

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

ENTRIES = 2**22  # of the rows that are dense at a time: 32 MB
MOST_PAST = 2000  # documents of the fit that new ones are compared with
BADLY = 0.05  # share of the documents of the past that fit as badly as what is said to fit badly
N_DRAWS = 399  # batches of the past that the largest new group is compared with
MOST_SEARCHED = 300  # documents of a batch, the worst fitting, among which groups are searched
SEEDS = 30  # of them around which groups are searched
NEIGHBOURS = 4  # with which a search begins
ITERATIONS = 5
SPARSE = 0.2  # share of non-zeros up to which products of rows are taken sparse


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Rows with the group that each fits best, and how well.

    Attributes
    ----------
    rows : ndarray or CSR array of shape (n, d)
        The rows; sparse if they are mostly zeros.
    labels : ndarray of int
        Their groups.
    cosines : ndarray of float
        With the prototypes of these groups.
    """

    rows: Any
    labels: Ids
    cosines: Array

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, places: Any) -> Scored:
        """Give some of them, by numbers or by a mask."""
        return Scored(self.rows[places], self.labels[places], self.cosines[places])


def score_past(mixture: VMFMixture, rows: Directions, rng: np.random.Generator) -> Scored:
    """Score rows of the fit, 2,000 of them at most, each left out of the prototypes."""
    ids = np.arange(rows.n_rows)
    if len(ids) > MOST_PAST:
        ids = np.sort(rng.permutation(ids)[:MOST_PAST])
    found = []
    for _, block in LeftOut(mixture, rows, None).blocks(ids):
        products = block.part(np.arange(rows.n_features)).products
        scores = block.log_weights + block.left.log_normalizers + products
        found.append(_scored(block.rows, scores, products / mixture.kappas_))
    return _joined(found)


def score_new(mixture: VMFMixture, rows: Directions) -> Scored:
    """Score rows that were not in the fit."""
    scorer = mixture.scorer_.clusters()
    size = max(1, ENTRIES // rows.n_features)
    found = []
    for begin in range(0, rows.n_rows, size):
        taken = rows.take(np.arange(begin, min(begin + size, rows.n_rows)))
        scores = taken @ scorer.matrix.T + scorer.biases
        found.append(_scored(taken, scores, taken @ mixture.prototypes_.T))
    return _joined(found)


def _scored(rows: Array, scores: Array, cosines: Array) -> Scored:
    labels = scores.argmax(axis=1)
    sparsely = np.count_nonzero(rows) <= SPARSE * rows.size
    kept = sparse.csr_array(rows) if sparsely else rows
    return Scored(kept, labels, cosines[np.arange(len(labels)), labels])


def _joined(parts: list[Scored]) -> Scored:
    rows = [one.rows for one in parts]
    sparsely = any(map(sparse.issparse, rows))
    return Scored(
        sparse.vstack(rows, format="csr") if sparsely else np.concatenate(rows),
        np.concatenate([one.labels for one in parts]),
        np.concatenate([one.cosines for one in parts]),
    )


# Documents that fit badly


def fit_values(past: Array, new: Array) -> Array:
    """Give the share of the documents of the past, the new one included, that fit as badly.

    It is a p-value: of documents from the same source, a share of at most p has a value of at most
    p.
    """
    worse = np.searchsorted(np.sort(past), new, side="right")
    return np.asarray((1.0 + worse) / (1.0 + len(past)), dtype=np.float64)


def count_test(values: Array, n_past: int) -> tuple[int, float, float]:
    """Count the documents that fit badly, how many one expects, and the probability of so many.

    Of n documents of the past, r fit as badly as the limit or worse. If m new documents come from
    the same source, all orders of the n + m documents are equally probable, and the number of new
    ones beyond the limit has a beta-binomial distribution with the parameters m, r and n + 1 - r.
    """
    limit = max(1, int(BADLY * (n_past + 1)))
    # A value of r / (n + 1) or less: at most r - 1 of the past fit as badly.
    n_bad = int(np.count_nonzero(values * (n_past + 1) <= limit + 1e-9))
    expected = len(values) * limit / (n_past + 1)
    p_value = stats.betabinom.sf(n_bad - 1, len(values), limit, n_past + 1 - limit)
    return n_bad, expected, float(p_value)


# Groups of documents that are nearer to each other than to any group that is known


def products(rows: Any, others: Any) -> Array:
    """Give the products of all pairs of rows, dense or sparse."""
    found: Any = rows @ others.T
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found)


def largest_group(gram: Array, cosines: Array) -> tuple[float, Ids]:
    """Find the largest group of rows that are nearer to each other than to their own groups.

    A row belongs to a candidate if its cosine with the sum of the other rows of the candidate is
    larger than its cosine with the prototype of its own group. Candidates begin with one of the
    worst fitting rows and its neighbours, and change until they have been changed five times.

    Parameters
    ----------
    gram : ndarray of shape (m, m)
        Products of the rows.
    cosines : ndarray of shape (m,)
        With the prototypes of their own groups.

    Returns
    -------
    (float, ndarray of int)
        The number of rows of the largest candidate, to which less than one is added: its mean gain
        of cosine. And these rows.
    """
    m = len(cosines)
    if m < 2:
        return 0.0, np.empty(0, dtype=np.intp)
    seeds = np.argsort(cosines, kind="stable")[:SEEDS]
    nearness = gram[seeds] - cosines
    nearness[np.arange(len(seeds)), seeds] = np.inf
    first = np.argsort(-nearness, axis=1, kind="stable")[:, : NEIGHBOURS + 1]
    members = np.zeros((len(seeds), m))
    np.put_along_axis(members, first, 1.0, axis=1)
    gains = np.zeros_like(members)
    for _ in range(ITERATIONS):
        sums = members @ gram
        squares = np.sum(sums * members, axis=1, keepdims=True)
        own = members * np.diagonal(gram)  # what a member adds to its own product
        lengths = np.sqrt(np.maximum(squares - 2.0 * members * sums + own, 1e-12))
        others = members.sum(axis=1, keepdims=True) - members
        gains = (sums - own) / lengths - cosines
        members = np.where((gains > 0.0) & (others > 0.0), 1.0, 0.0)
        members[members.sum(axis=1) < 2.0] = 0.0
    sizes = members.sum(axis=1)
    mean = np.sum(gains * members, axis=1) / np.maximum(sizes, 1.0)
    found = sizes + np.clip(mean, 0.0, 0.999)
    best = int(found.argmax())
    return float(found[best]), np.flatnonzero(members[best])


def search_group(scored: Scored, places: Ids, gram: Array | None = None) -> tuple[float, Ids]:
    """Search the largest new group among some rows, or the worst fitting where they are many.

    The products of all scored rows may be given; the group is given by places among them.
    """
    cosines = scored.cosines[places]
    if len(places) > MOST_SEARCHED:
        worst = np.sort(np.argsort(cosines, kind="stable")[:MOST_SEARCHED])
        places, cosines = places[worst], cosines[worst]
    own = (
        products(scored.rows[places], scored.rows[places])
        if gram is None
        else gram[np.ix_(places, places)]
    )
    value, members = largest_group(own, cosines)
    return value, places[members]


def draw_largest(past: Scored, gram: Array, n_new: int, rng: np.random.Generator) -> Array:
    """Give the largest groups among documents of the past, drawn as a batch, many times."""
    found = np.empty(N_DRAWS)
    for i in range(N_DRAWS):
        drawn = np.sort(rng.choice(len(past), n_new, replace=False))
        found[i], _ = search_group(past, drawn, gram)
    return found


def others_of(scored: Scored, members: Ids, places: Ids) -> Ids:
    """Add what was not searched: rows that are nearer to the members than to their own group."""
    if len(places) <= MOST_SEARCHED or not len(members):
        return members
    total = np.asarray(scored.rows[members].sum(axis=0)).ravel()
    unseen = np.setdiff1d(places, members)
    products = np.asarray(scored.rows[unseen] @ (total / np.linalg.norm(total)))
    return np.sort(np.concatenate([members, unseen[products > scored.cosines[unseen]]]))

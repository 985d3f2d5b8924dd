"""How well documents fit their groups: those of the past, and new ones.

A new document is scored by prototypes that it did not help to make. Documents of the fit are
therefore scored without their own part in the prototypes (:mod:`spheremix.estimators.calibration`),
so that both kinds of scores can be compared. The score is the cosine with the prototype of the
group. With several views it is the mean of their cosines, weighted by the concentrations of the
views, and rows have the columns of a view times the root of its weight: then the cosine of two rows
is such a mean too.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from spheremix.estimators.calibration import assign
from spheremix.estimators.views import word_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.data.base import Directions
    from spheremix.estimators.calibration import LeftOut
    from spheremix.estimators.mixture import VMFMixture

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

ENTRIES = 2**22  # of the rows that are dense at a time: 32 MB
MOST_PAST = 2000  # documents of the fit that new ones are compared with
BADLY = 0.05  # share of the documents of the past that fit as badly as what is said to fit badly
PULL = 1e-4  # smallest part in the sum of a group that is not left out of account
SPARSE = 0.2  # share of non-zeros up to which products of rows are taken sparse


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Rows with the group that each fits best, and how well.

    The pulls of a row are its posteriors times its weight: the part that it has, or would have, in
    the sums of the groups.
    """

    rows: Any  # (n, d), without the columns of absences; sparse if they are mostly zeros
    sizes: Array  # their squared lengths: less than one where a row has nothing in some view
    labels: Ids
    cosines: Array  # with the prototypes of these groups
    nowhere: NDArray[np.bool_]  # in a mixture with noise; the group is then the nearest
    pulls: Any  # CSR, (n, K)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def unstable(self) -> float:
        """Share of the rows that would belong to another group if they were left out."""
        return float(np.mean(self.pulls.argmax(axis=1) != self.labels))

    def take(self, places: Any) -> Scored:
        """Return some of them, by numbers or by a mask."""
        return Scored(*(getattr(self, one.name)[places] for one in fields(self)))


@dataclass(frozen=True, slots=True)
class Share:
    """What a view counts in cosines, and where it is; of one table, all columns count once."""

    columns: slice
    share: float


def shares_of(mixture: VMFMixture) -> list[Share]:
    """Return what each view of a mixture counts in cosines: its mean concentration, times weight.

    Views of weight zero have no say.
    """
    model: Any = mixture.model_
    if np.ndim(mixture.kappas_) == 1:
        return [Share(slice(0, mixture.prototypes_.shape[1]), 1.0)]
    pulls = np.array(model.view_weights) * (mixture.weights_ @ mixture.kappas_)
    shares = pulls / pulls.sum()
    pairs = zip(model.columns, shares.tolist(), strict=True)
    return [Share(columns, share) for columns, share in pairs if share > 0.0]


def scaled(rows: Array, shares: list[Share]) -> Array:
    """Return the columns of each view, times the root of its share."""
    parts = [rows[:, one.columns] * np.sqrt(one.share) for one in shares]
    return parts[0] if len(parts) == 1 else np.hstack(parts)


def places_of(shares: list[Share]) -> list[Share]:
    """Return the same views as they lie in scaled rows."""
    ends = accumulate((one.columns.stop - one.columns.start for one in shares), initial=0)
    pairs = zip(pairwise(ends), shares, strict=True)
    return [Share(slice(a, b), one.share) for (a, b), one in pairs]


def word_places(mixture: VMFMixture) -> slice:
    """Return where the words lie in scaled rows; nowhere if they have no weight."""
    shares, words = shares_of(mixture), word_columns(mixture)
    if len(shares) == 1 and words == slice(None):
        return words
    found = [
        place.columns
        for place, one in zip(places_of(shares), shares, strict=True)
        if one.columns == words
    ]
    return found[0] if found else slice(0, 0)


def score_past(left: LeftOut, rng: np.random.Generator) -> Scored:
    """Score rows of the fit, 2,000 of them at most, each left out of the prototypes."""
    mixture, rows = left.mixture, left.rows
    ids = some(np.arange(rows.n_rows), MOST_PAST, rng)
    # The weights of the groups are what the noise leaves.
    shift = np.log(mixture.weights_.sum()) - mixture.scorer_.offset
    shares = shares_of(mixture)
    found = []
    for _, block in left.blocks(ids):
        each = [
            one.share * part.products / side.kappas
            for one, part, side in zip(shares, block.parts(), left.sides, strict=True)
        ]
        found.append(_scored(mixture, block.rows, shift + block.scores, sum(each), block.pulls))
    return joined_rows(found)


def score_new(mixture: VMFMixture, rows: Directions) -> Scored:
    """Score rows that were not in the fit."""
    scorer, shares = mixture.scorer_, shares_of(mixture)
    prototypes = scaled(mixture.prototypes_, shares)
    size = max(1, ENTRIES // rows.n_features)
    found = []
    for begin in range(0, rows.n_rows, size):
        taken = rows.take(np.arange(begin, min(begin + size, rows.n_rows)))
        scores = taken @ scorer.matrix.T + scorer.biases
        pulls = assign(scores, hard=mixture.e_step == "hard")[:, : scorer.n_clusters]
        cosines = scaled(taken, shares) @ prototypes.T
        found.append(_scored(mixture, taken, scores[:, : scorer.n_clusters], cosines, pulls))
    return joined_rows(found)


def _scored(mixture: VMFMixture, taken: Array, scores: Array, cosines: Any, pulls: Array) -> Scored:
    """Return rows as they were taken; their cosines are sums over the views that they have."""
    labels = scores.argmax(axis=1)
    noise = mixture.scorer_.biases[scores.shape[1] :]  # noise has the same score everywhere
    shares = shares_of(mixture)
    rows = scaled(taken, shares)
    sizes = np.ones(len(rows))
    if len(shares) > 1:
        there = np.column_stack([taken[:, one.columns].any(axis=1) for one in shares])
        sizes = there @ np.array([one.share for one in shares])
    sparsely = np.count_nonzero(rows) <= SPARSE * rows.size
    return Scored(
        sparse.csr_array(rows) if sparsely else rows,
        sizes,
        labels,
        cosines[np.arange(len(labels)), labels] / sizes,
        (noise > scores.max(axis=1, keepdims=True)).any(axis=1),
        sparse.csr_array(np.where(pulls > PULL, pulls, 0.0)),
    )


def some(ids: Ids, most: int, rng: np.random.Generator) -> Ids:
    """Return all of them, or some at random where they are more than that."""
    return ids if len(ids) <= most else np.sort(rng.permutation(ids)[:most])


def joined_rows(parts: list[Scored]) -> Scored:
    """Put rows that were scored after each other."""
    rows = [one.rows for one in parts]
    sparsely = any(map(sparse.issparse, rows))
    return Scored(
        sparse.vstack(rows, format="csr") if sparsely else np.concatenate(rows),
        np.concatenate([one.sizes for one in parts]),
        np.concatenate([one.labels for one in parts]),
        np.concatenate([one.cosines for one in parts]),
        np.concatenate([one.nowhere for one in parts]),
        sparse.vstack([one.pulls for one in parts], format="csr"),
    )


# Documents that fit badly


def fit_values(past: Array, new: Array) -> Array:
    """Return the share of the documents of the past, the new one included, that fit as badly.

    It is a p-value: of documents from the same source, a share of at most p has a value of at most
    p.
    """
    worse = np.searchsorted(np.sort(past), new, side="right")
    return np.asarray((1.0 + worse) / (1.0 + len(past)), dtype=np.float64)


def limit_of_fit(past: Array) -> tuple[float, float]:
    """Return the cosine below which a document fits badly, and the share of documents one expects.

    It is the r-th smallest of the n cosines of the past, r being 5 % of n + 1: of all orders of
    these and a new one, a share of r / (n + 1) has the new one below it.
    """
    r = max(1, int(BADLY * (len(past) + 1)))
    return float(np.partition(past, r - 1)[r - 1]), r / (len(past) + 1)


def cosines_between(one: Scored, other: Scored) -> Array:
    """Return the cosines of all pairs of rows."""
    lengths = np.sqrt(one.sizes)[:, None] * np.sqrt(other.sizes)
    return np.asarray(products(one.rows, other.rows) / lengths)


def products(rows: Any, others: Any) -> Array:
    """Return the products of all pairs of rows, dense or sparse."""
    found: Any = rows @ others.T
    return np.asarray(found.toarray() if hasattr(found, "toarray") else found)

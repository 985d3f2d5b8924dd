"""Where documents belong, and how surely: in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.data.parts import open_in_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from spheremix.data.base import Directions, Engine
    from spheremix.scorer import Scorer

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

NOWHERE = "belongs nowhere"  # in place of the name of a group, for documents that are noise
BLOCK_SCORES = 2**22  # scores held at a time: 32 MiB
STABLE = 0.75  # stability from which on one can rely on the place of a document
UNSTABLE = 0.5  # stability below which the document would often be elsewhere
CLEARLY, PROBABLY, BORDERLINE = "clearly here", "probably here", "borderline"


@dataclass(frozen=True, slots=True, eq=False)
class Documents:
    """Where each document belongs: arrays with one entry a document.

    Attributes
    ----------
    labels : ndarray of int
        Most probable group; -1 for noise, of which the other values say where it would belong.
    second_groups : ndarray of int
        The next one; -1 where there is one group only. Of noise, the most probable one.
    posteriors : ndarray of float
        Probability of the most probable group.
    margins : ndarray of float
        By how much it exceeds that of the second group; 1 where there is one group only.
    log_odds : ndarray of float
        Log of their ratio. Most posteriors are 1 to the last digit in thousands of dimensions: the
        log-odds still tell them apart.
    cosines : ndarray of float
        With the prototype of the most probable group; of several views, their mean with the
        concentrations as weights.
    """

    labels: Ids
    second_groups: Ids
    posteriors: Array
    margins: Array
    log_odds: Array
    cosines: Array

    def table(self) -> dict[str, NDArray[Any]]:
        """Return all of it column by column: ready for a data frame.

        Returns
        -------
        dict of ndarray
            ``group``, ``posterior``, ``margin``, ``second_group``, ``log_odds`` and ``cosine``; a
            row a document.
        """
        return {
            "group": self.labels,
            "posterior": self.posteriors,
            "margin": self.margins,
            "second_group": self.second_groups,
            "log_odds": self.log_odds,
            "cosine": self.cosines,
        }

    def sizes(self, n_groups: int) -> Ids:
        """Count the documents of each group.

        Parameters
        ----------
        n_groups : int
            K.

        Returns
        -------
        ndarray of shape (K,)
            Empty groups count zero.
        """
        return np.bincount(self.labels[self.labels >= 0], minlength=n_groups)

    def ambiguous(
        self,
        n: int | None = 10,
        *,
        group: int | None = None,
        between: tuple[int, int] | None = None,
    ) -> Ids:
        """Find the documents that sit between two groups: those of the smallest log-odds.

        Parameters
        ----------
        n : int, default=10
            How many at most; None for all.
        group : int, default=None
            Only documents of this group.
        between : pair of int, default=None
            Only documents whose two most probable groups are these.

        Returns
        -------
        ndarray
            Numbers of documents, the most ambiguous first.
        """
        kept = np.ones(len(self.labels), dtype=bool)
        if group is not None:
            kept &= self.labels == group
        if between is not None:
            low, high = sorted(between)
            kept &= np.minimum(self.labels, self.second_groups) == low
            kept &= np.maximum(self.labels, self.second_groups) == high
        ids = np.flatnonzero(kept)
        return ids[np.argsort(self.log_odds[ids], kind="stable")][:n]

    def typical(self, group: int, n: int | None = 10) -> Ids:
        """Find the documents of a group that are nearest to its prototype.

        Parameters
        ----------
        group : int
            The group.
        n : int, default=10
            How many at most; None for all.

        Returns
        -------
        ndarray
            Numbers of documents, the largest cosine first.
        """
        ids = np.flatnonzero(self.labels == group)
        return ids[np.argsort(-self.cosines[ids], kind="stable")][:n]


def read_documents(
    X: Any, scorer: Scorer, *, engine: Engine = "auto", n_threads: int | None = None
) -> Documents:
    """Assign documents, and measure how surely.

    Tables in memory are read some rows at a time, so that no table of n times K is held; of other
    X there is one.
    Scores of float32 rows have the precision of such rows; :func:`spheremix.reading.explain` has
    that of float64 always.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), path, iterable of blocks, or Directions
        As for :func:`spheremix.as_directions`; rows are normalised.
    scorer : Scorer
        Of a fitted mixture.
    engine : {"auto", "reference", "compiled", "torch"}, default="auto"
        What reads the rows.
    n_threads : int or None, default=None
        As in the estimators.

    Returns
    -------
    Documents
        One entry a row.

    Examples
    --------
    >>> import numpy as np
    >>> from spheremix.reading import read_documents
    >>> from spheremix.scorer import Scorer
    >>> scorer = Scorer.centred(np.array([[9.0, 0.0], [0.0, 9.0]]), np.log([0.5, 0.5]))
    >>> found = read_documents([[3.0, 4.0], [1.0, 0.0]], scorer)
    >>> found.labels.tolist(), found.log_odds.round(1).tolist()
    ([1, 0], [1.8, 9.0])
    """
    scorer = replace(scorer, offset=0.0)  # large, and the same for all groups: it costs digits
    K = scorer.n_clusters
    size = max(1, BLOCK_SCORES // scorer.n_components)
    parts = [
        _assess(directions.map_rows(scorer, "scores"), *_cosines(scorer, directions), K)
        for directions in open_in_parts(X, size, engine, n_threads)
    ]
    return Documents(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _cosines(scorer: Scorer, directions: Directions) -> tuple[Array, Array]:
    """Return what is subtracted from a score, and divided by then, to have a cosine."""
    views = getattr(directions, "views", None)
    if views is None:
        return scorer.biases, np.linalg.norm(scorer.matrix, axis=1)
    lengths = sum(np.linalg.norm(scorer.matrix[:, columns], axis=1) for columns in views.columns)
    absent = np.zeros_like(scorer.matrix)
    absent[:, views.absences] = scorer.matrix[:, views.absences]
    apart = directions.map_rows(replace(scorer, matrix=absent), "scores")
    return apart, np.asarray(lengths)


def _assess(all_scores: Array, apart: Array, lengths: Array, n_groups: int) -> tuple[Any, ...]:
    """Return the columns of Documents from the scores of some rows, those of noise last."""
    scores = np.ascontiguousarray(all_scores[:, :n_groups])
    rows = np.arange(len(scores))
    labels = scores.argmax(axis=1)
    best = scores[rows, labels]
    noise = (all_scores[:, n_groups:] > best[:, None]).any(axis=1)
    posteriors = 1.0 / np.exp(scores - best[:, None]).sum(axis=1)
    length = lengths[labels]
    pulls = best - (apart[labels] if apart.ndim == 1 else apart[rows, labels])
    cosines = np.divide(pulls, length, out=np.zeros_like(best), where=length > 0)
    if n_groups == 1:
        second_groups, log_odds = np.full_like(labels, -1), np.full(len(scores), np.inf)
    else:
        scores[rows, labels] = -np.inf
        second_groups = scores.argmax(axis=1)
        log_odds = best - scores[rows, second_groups]
    margins = -posteriors * np.expm1(-log_odds)
    second_groups = np.where(noise, labels, second_groups)
    return np.where(noise, -1, labels), second_groups, posteriors, margins, log_odds, cosines


def certainties(
    documents: Documents, stability: NDArray[np.float64], names: Sequence[str]
) -> list[str]:
    """Say of each document how surely it is in its group.

    Its stability decides: clearly here from 0.75 on, borderline below 0.5, and probably here
    between. The page of the report follows the same rule; a test compares the cut-offs. It is
    borderline "with" the name of the second group, and noise "belongs nowhere".
    """
    found = []
    each = (documents.labels, documents.second_groups, stability)
    for label, other, stays in zip(*(one.tolist() for one in each), strict=True):
        if label < 0:
            found.append(NOWHERE)
        elif stays < UNSTABLE:
            found.append(f"{BORDERLINE} with {names[other]}" if other >= 0 else BORDERLINE)
        else:
            found.append(CLEARLY if stays >= STABLE else PROBABLY)
    return found

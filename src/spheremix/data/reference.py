"""The specification of a sweep, in NumPy and SciPy.

Every other engine is tested against this one, and it runs where the compiled extension is missing.
All arithmetic is in float64, also on float32 rows where other engines may use float32: see
``arithmetic`` in ``data/base.py``, which also says which posteriors are left out. Rows are read in
blocks and summed on a fixed grain, so that memory stays small (never n times K) and the bits do not
depend on the size of the blocks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.data.base import (
    GRAIN,
    Shown,
    arithmetic,
    check_features,
    check_weights,
    negligible,
    output_array,
    row_numbers,
    uniforms,
)
from spheremix.data.frozen import FrozenRows
from spheremix.data.rows import entries_of, some_rows, taken, unit_rows
from spheremix.resultants import Resultants

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import Want
    from spheremix.data.rows import Rows
    from spheremix.scorer import Scorer

BLOCK_ROWS = 8 * GRAIN  # rows converted to float64 at a time, whole grains


class ReferenceDirections(Shown):
    """Unit rows ``scale[i] * X[i]`` of an array or of a CSR matrix.

    Parameters
    ----------
    X : ndarray of shape (n, d), or SciPy CSR
        float32 or float64, of any strides; it is neither copied nor changed.
    scale : ndarray of shape (n,)
        One over the norm of each row, float64.
    first_row : int
        Number of the first row in the whole data, where X is a block of it: drawn assignments
        depend on it.
    n_threads : int
        Threads of the M-step; a sweep of this engine uses one.
    """

    def __init__(
        self,
        X: Rows,
        scale: NDArray[np.float64],
        *,
        first_row: int = 0,
        n_threads: int = 1,
    ) -> None:
        self.n_rows, self.n_features = X.shape
        self.n_threads = n_threads
        self._X = X
        self._scale = scale
        self._first_row = first_row
        self.dtype = np.dtype(X.dtype)
        self.n_entries, self.longest = entries_of(X)
        self.unit_columns: Sequence[slice] = (slice(None),)

    def precision(self, scorers: Sequence[Scorer]) -> np.dtype[Any]:
        """Return the type of the arithmetic that scorers ask for: here it is float64 always."""
        return arithmetic(self.dtype, scorers)

    def remember(self) -> FrozenRows:
        """Return what sweeps the rows of one fit, and reads only those that can change."""
        return FrozenRows(self)

    def sweep_listed(
        self,
        scorers: Sequence[Scorer],
        weights: NDArray[np.float64] | None,
        rows: NDArray[np.intp] | None = None,
        onto: Resultants | None = None,
        *,
        held: NDArray[np.int32] | None = None,
        clear: float = np.inf,
    ) -> tuple[list[Resultants], NDArray[np.float64], NDArray[np.int32]]:
        """Sweep the listed rows, or all, and return their margins; see ``Listable``."""
        ids = np.arange(self.n_rows) if rows is None else rows
        own = weights_per_scorer(weights, len(scorers), self.n_rows)
        listed = ReferenceDirections(self._X[ids], self._scale[ids])
        margins = np.empty((len(scorers), self.n_rows))
        owners = np.empty((len(scorers), self.n_rows), dtype=np.int32)
        for s, scorer in enumerate(scorers):
            for part, entries in listed.grains():
                scores = listed._scores(scorer, part, entries)
                first = scores.argmax(axis=1)
                largest = np.take_along_axis(scores, first[:, None], axis=1)
                np.put_along_axis(scores, first[:, None], -np.inf, axis=1)
                leads = (largest - scores).min(axis=1)
                margins[s, ids[part]] = np.where(own[s, ids[part]] == 0.0, np.inf, leads)
                owners[s, ids[part]] = first
        counted = own[:, ids]
        if held is not None:
            stays = (owners[0, ids] == held[ids]) & (margins[0, ids] >= clear)
            counted = np.where(stays, 0.0, counted)
        found = []
        for resultants, each in zip(listed.sweep(scorers, counted), own, strict=True):
            total = resultants if onto is None else resultants + onto
            found.append(replace(total, weight=float(each.sum())))
        return found, margins, owners

    def add_listed(
        self,
        rows: NDArray[np.intp],
        owners: NDArray[np.int32],
        factors: NDArray[np.float64],
        vectors: NDArray[np.float64],
        mass: NDArray[np.float64],
    ) -> None:
        """Add listed rows, times factors, to the sums of their owners."""
        listed = ReferenceDirections(self._X[rows], self._scale[rows])
        assigned = (owners[:, None] == np.arange(len(mass))) * factors[:, None]
        mass += assigned.sum(axis=0)
        for part, entries in listed.grains():
            vectors += (entries.T @ (assigned[part] * listed._scale[part, None])).T

    def sweep(
        self, scorers: Sequence[Scorer], weights: NDArray[np.float64] | None = None
    ) -> list[Resultants]:
        """Read the rows once; return the resultants of each scorer."""
        sums = self.begin(scorers, weights, self.n_rows)
        sums.add(self, 0)
        return sums.resultants()

    def begin(
        self, scorers: Sequence[Scorer], weights: NDArray[np.float64] | None, n_rows: int
    ) -> ReferenceSums:
        """Begin the sums over ``n_rows`` rows, of which these are the first."""
        check_features(scorers, self.n_features)
        least = negligible(arithmetic(self._X.dtype, scorers))
        return ReferenceSums(scorers, weights, n_rows, self.n_features, least)

    def map_rows(self, scorer: Scorer, want: Want) -> NDArray[np.generic]:
        """Apply the scorer to each row; see ``Directions``."""
        check_features([scorer], self.n_features)
        out = output_array(want, self.n_rows, scorer.n_components)
        for ids, rows in self.grains():
            scores = self._scores(scorer, ids, rows)
            if want == "labels":
                out[ids] = self._labels(scorer, ids, scores, np.ones(len(scores)))
            elif want == "posteriors":
                out[ids] = _softmax(scores)
            elif want == "scores":
                out[ids] = scores + scorer.offset
            else:
                out[ids] = _log_sum_exp(scores) + scorer.offset
        return out

    def take(self, ids: ArrayLike) -> NDArray[np.float64]:
        """Return a few unit rows, dense."""
        return unit_rows(self._X, self._scale, row_numbers(ids, self.n_rows))

    def part(self, ids: ArrayLike) -> ReferenceDirections:
        """Return some rows as an engine of their own, in the type in which they are stored."""
        rows, scale = some_rows(self._X, self._scale, row_numbers(ids, self.n_rows))
        return ReferenceDirections(rows, scale, n_threads=self.n_threads)

    def grains(self) -> Iterator[tuple[slice, Rows]]:
        """Return the rows, not scaled yet, a grain at a time, in float64."""
        for start in range(0, self.n_rows, BLOCK_ROWS):
            ids = slice(start, start + BLOCK_ROWS)
            block = _float64(taken(self._X, ids))
            for first in range(0, block.shape[0], GRAIN):
                rows = block[first : first + GRAIN]
                yield slice(start + first, start + first + rows.shape[0]), rows

    def _scores(self, scorer: Scorer, ids: slice, rows: Rows) -> NDArray[np.float64]:
        products: NDArray[np.float64] = rows @ scorer.matrix.T
        return products * self._scale[ids, None] + scorer.biases

    def _labels(
        self,
        scorer: Scorer,
        ids: slice,
        scores: NDArray[np.float64],
        weights: NDArray[np.float64],
    ) -> NDArray[np.intp]:
        """Return the first largest score, the drawn component, or the one chosen by variation."""
        if scorer.assignment == "variation":
            scores = _varied(scores, scorer, weights)
        if scorer.assignment != "drawn":
            first_largest: NDArray[np.intp] = scores.argmax(axis=1)
            return first_largest
        posteriors = _softmax(scores)
        numbers = np.arange(ids.start, ids.stop, dtype=np.uint64) + np.uint64(self._first_row)
        above = posteriors.cumsum(axis=1) > uniforms(scorer.key, numbers)[:, None]
        last_possible = scorer.n_components - 1 - (posteriors[:, ::-1] > 0).argmax(axis=1)
        drawn: NDArray[np.intp] = np.where(above.any(axis=1), above.argmax(axis=1), last_possible)
        return drawn

    def resultants(
        self,
        scorer: Scorer,
        ids: slice,
        rows: Rows,
        weights: NDArray[np.float64],
        least: float,
    ) -> Resultants:
        """Return the resultants of one grain; posteriors below ``least`` are left out."""
        scores = self._scores(scorer, ids, rows)
        log_density = _log_sum_exp(scores)
        if scorer.assignment == "soft":
            surprise = log_density[:, None] - scores
            posteriors = np.exp(-surprise)
            entropy = (posteriors * np.where(posteriors > 0, surprise, 0)).sum(axis=1)
            assigned = np.where(posteriors < least, 0, posteriors)
        else:
            labels = self._labels(scorer, ids, scores, weights)
            assigned = (labels[:, None] == np.arange(scorer.n_components)).astype(float)
            best = np.take_along_axis(scores, labels[:, None], axis=1)[:, 0]
            if scorer.assignment != "drawn":
                log_density = best
            entropy = log_density - best
        assigned = assigned * weights[:, None]
        weight = float(weights.sum())
        return Resultants(
            assigned.sum(axis=0),
            np.ascontiguousarray((rows.T @ (assigned * self._scale[ids, None])).T),
            float(weights @ log_density) + scorer.offset * weight,
            float(weights @ entropy),
            weight,
        )


class ReferenceSums:
    """Resultants to which those of one grain after another are added."""

    def __init__(
        self,
        scorers: Sequence[Scorer],
        weights: ArrayLike | None,
        n_rows: int,
        n_features: int,
        least: float,
    ) -> None:
        self._scorers = scorers
        self._weights = weights_per_scorer(weights, len(scorers), n_rows)
        self._least = least
        self._totals = [Resultants.zero(scorer.n_components, n_features) for scorer in scorers]

    def add(self, part: ReferenceDirections, start: int) -> None:
        """Add the rows of a part; ``start`` rows came before."""
        for ids, rows in part.grains():
            own = slice(start + ids.start, start + ids.stop)
            for s, scorer in enumerate(self._scorers):
                weights = self._weights[s, own]
                self._totals[s] += part.resultants(scorer, ids, rows, weights, self._least)

    def resultants(self) -> list[Resultants]:
        """Return the resultants of each scorer."""
        return self._totals


def weights_per_scorer(
    weights: ArrayLike | None, n_scorers: int, n_rows: int
) -> NDArray[np.float64]:
    """Return a row of weights per scorer: ones if there are none, a view if one serves all."""
    weights = check_weights(weights, n_scorers, n_rows)
    return np.broadcast_to(1.0 if weights is None else weights, (n_scorers, n_rows))


def _varied(
    scores: NDArray[np.float64], scorer: Scorer, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what each row adds to each component, its own turning included: see ``pulls``."""
    possible = np.isfinite(scorer.biases)
    biases = np.where(possible, scorer.biases, 0.0)
    products = np.where(possible, scores, 0.0) - biases
    own = scores.argmax(axis=1)[:, None] == np.arange(scorer.n_components)
    signed = np.where(own, -1.0, 1.0) * weights[:, None]
    pull, inverse = scorer.pulls.T
    square = 1.0 + 2.0 * signed * inverse * products + signed**2 * (pull * inverse)
    varied = (2.0 * products + signed * pull) / (1.0 + np.sqrt(np.maximum(square, 0.0)))
    return np.where(possible, varied + biases, -np.inf)


def _float64(rows: Rows) -> Rows:
    if isinstance(rows, np.ndarray):
        return np.ascontiguousarray(rows, dtype=np.float64)
    return rows.astype(np.float64, copy=False)


def _log_sum_exp(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    largest = scores.max(axis=1)
    sums: NDArray[np.float64] = np.exp(scores - largest[:, None]).sum(axis=1)
    logs: NDArray[np.float64] = np.log(sums) + largest
    return logs


def _softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.exp(scores - _log_sum_exp(scores)[:, None])

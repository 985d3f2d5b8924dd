"""The most probable components of each row, in memory that does not grow with their number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.data.base import Directions
    from spheremix.scorer import Scorer

ENTRIES = 2**24  # scores that are held at a time: 128 MB
FEWEST = 16  # components that are scored at a time, however many rows there are


def top_posteriors(directions: Directions, scorer: Scorer, k: int) -> sparse.csr_array:
    """Return the k largest posteriors of each row, of shape (n, K); noise counts, but is no column.

    Some components are scored at a time, which every engine can do: the rows are read once for each
    such block. The best components so far are kept, and the sum over all of them.
    """
    n, K = directions.n_rows, scorer.n_clusters
    k = min(k, K)
    width = min(K, max(FEWEST, ENTRIES // n))
    total = np.full(n, -np.inf)
    if scorer.has_noise:
        total[:] = scorer.biases[-1] + scorer.offset
    best, ids = np.empty((n, 0)), np.empty((n, 0), dtype=np.intp)
    for begin in range(0, K, width):
        part = slice(begin, min(begin + width, K))
        one = replace(
            scorer, matrix=scorer.matrix[part], biases=scorer.biases[part], has_noise=False
        )
        scores = directions.map_rows(one, "scores")
        total = np.logaddexp(total, np.logaddexp.reduce(scores, axis=1))
        numbers = np.broadcast_to(np.arange(part.start, part.stop), scores.shape)
        best, ids = _best(np.hstack([best, scores]), np.hstack([ids, numbers]), k)
    order = np.argsort(ids, axis=1)
    posteriors = np.exp(np.take_along_axis(best, order, axis=1) - total[:, None])
    columns = np.take_along_axis(ids, order, axis=1)
    ends = np.arange(0, n * k + 1, k)
    return sparse.csr_array((posteriors.ravel(), columns.ravel(), ends), shape=(n, K))


def _best(
    scores: NDArray[np.float64], ids: NDArray[np.intp], k: int
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Keep the k largest scores of each row."""
    if scores.shape[1] <= k:
        return scores, ids
    kept = np.argpartition(scores, -k, axis=1)[:, -k:]
    return np.take_along_axis(scores, kept, axis=1), np.take_along_axis(ids, kept, axis=1)

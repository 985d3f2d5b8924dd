"""The compiled CPU engine: rows in memory, read by the kernels of ``csrc/sweep*``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from spheremix._optional import kernels
from spheremix.data.base import negligible
from spheremix.resultants import Resultants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import Want
    from spheremix.scorer import Scorer

_ASSIGNMENTS = {"soft": 0, "hard": 1, "drawn": 2}
_WANTS = {"labels": 0, "posteriors": 1, "scores": 2, "log_density": 3}
_WORD = 0xFFFFFFFFFFFFFFFF


class CompiledDirections:
    """Unit rows ``scale_i * X_i``, swept by compiled kernels; X is neither copied nor changed.

    Parameters
    ----------
    X : ndarray or CSR matrix or array of shape (n, d)
        float32 or float64. An ndarray may have any strides and be read-only or memory-mapped. A
        CSR matrix has sorted indices, each once a row.
    scale : ndarray of shape (n,)
        One over the norm of each row.
    first_row : int
        Number of the first row among all rows, where this engine holds a part of them.
    n_threads : int
        Threads of the kernels. The results are the same bits for any number.
    """

    def __init__(
        self, X: Any, scale: NDArray[np.float64], *, first_row: int = 0, n_threads: int = 1
    ) -> None:
        self.n_rows: int
        self.n_features: int
        self.n_rows, self.n_features = X.shape
        self.first_row = first_row
        self.n_threads = n_threads
        self._scale = np.ascontiguousarray(scale, dtype=np.float64)
        self._X = X
        self._sparse = sparse.issparse(X)
        self._negligible = negligible(X.dtype)
        if self._sparse:
            # The few integers of indptr take the type of the indices when the two differ.
            indptr = X.indptr.astype(X.indices.dtype, copy=False)
            self._rows: tuple[Any, ...] = (indptr, X.indices, X.data)
        else:
            self._rows = (X,)

    def sweep(
        self, scorers: Sequence[Scorer], weights: NDArray[np.float64] | None = None
    ) -> list[Resultants]:
        """Read the rows once; give the resultants of each scorer."""
        if weights is None:
            weight_sums = [float(self.n_rows)] * len(scorers)
        else:
            weights = np.ascontiguousarray(weights, dtype=np.float64)
            sums = weights.sum(axis=-1)
            weight_sums = [float(total) for total in np.broadcast_to(sums, len(scorers))]
        stacked, begin = _stack(scorers)
        vectors, mass, totals = self._sums(stacked, weights, begin[-1], len(scorers))
        return [
            Resultants(mass[a:b], vectors[a:b], float(log_likelihood), float(entropy), weight)
            for a, b, (log_likelihood, entropy), weight in zip(
                begin[:-1], begin[1:], totals, weight_sums, strict=True
            )
        ]

    def map_rows(self, scorer: Scorer, want: Want) -> NDArray[np.generic]:
        """Give row by row what the scorer says."""
        if want not in _WANTS:
            raise ValueError(f"want must be one of {', '.join(_WANTS)}, got {want!r}.")
        stacked, begin = _stack([scorer])
        wide = want in {"posteriors", "scores"}
        shape = (self.n_rows, begin[-1]) if wide else (self.n_rows,)
        out = np.empty(shape, np.int64 if want == "labels" else np.float64)
        kernel = kernels.map_sparse if self._sparse else kernels.map_dense
        kernel(*self._rows, self._scale, self.first_row, stacked, _WANTS[want], out, self.n_threads)
        return out

    def take(self, ids: ArrayLike) -> NDArray[np.float64]:
        """Give a few unit rows, dense."""
        ids = np.atleast_1d(ids) if np.size(ids) else np.empty(0, np.intp)
        rows = self._X[ids]
        dense = rows.toarray() if self._sparse else rows
        unit: NDArray[np.float64] = np.multiply(dense, self._scale[ids, None], order="C")
        return unit

    def _sums(
        self,
        stacked: Any,
        weights: NDArray[np.float64] | None,
        n_components: int,
        n_scorers: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Give the sums over all rows: vectors, masses, and a scorer's likelihood and entropy."""
        if self._sparse:
            vectors = np.zeros((n_components, self.n_features))
            mass = np.zeros(n_components)
            totals = np.zeros((n_scorers, 2))
            kernel, lanes = kernels.sweep_sparse, 0
        else:
            lanes = kernels.dense_lanes(n_components, self.n_features)
            if self.first_row == 0:
                lanes = min(lanes, max(1, -(-self.n_rows // kernels.DENSE_BLOCK)))
            vectors = np.zeros((lanes, n_components, self.n_features))
            mass = np.zeros((lanes, n_components))
            totals = np.zeros((lanes, n_scorers, 2))
            kernel = kernels.sweep_dense
        kernel(
            *self._rows,
            self._scale,
            self.first_row,
            stacked,
            weights,
            self._negligible,
            vectors,
            mass,
            totals,
            self.n_threads,
        )
        if lanes:
            return vectors.sum(axis=0), mass.sum(axis=0), totals.sum(axis=0)
        return vectors, mass, totals


def _stack(scorers: Sequence[Scorer]) -> tuple[Any, list[int]]:
    """Stack the components of the scorers; give where each begins."""
    begin = [0]
    for scorer in scorers:
        begin.append(begin[-1] + scorer.n_components)
    if len(scorers) == 1:
        matrix, biases = scorers[0].matrix, scorers[0].biases
    else:
        matrix = np.concatenate([scorer.matrix for scorer in scorers])
        biases = np.concatenate([scorer.biases for scorer in scorers])
    stacked = kernels.ScorerArrays(
        np.ascontiguousarray(matrix, dtype=np.float64),
        np.ascontiguousarray(biases, dtype=np.float64),
        np.array(begin, dtype=np.int64),
        np.array([_ASSIGNMENTS[scorer.assignment] for scorer in scorers], dtype=np.int32),
        np.array([[part & _WORD for part in scorer.key] for scorer in scorers], dtype=np.uint64),
        np.array([scorer.offset for scorer in scorers], dtype=np.float64),
    )
    return stacked, begin

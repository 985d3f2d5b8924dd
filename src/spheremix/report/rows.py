"""The words of the documents: those that weigh most in their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.data.parts import unit_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

MOST = 60  # words of a document
LEVELS = 65535  # of a coordinate, up to the largest of its document


def heaviest(X: Any, weights: Array, columns: NDArray[np.intp]) -> dict[str, Any]:
    """Return the rows of documents, cut to their heaviest words.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), path, iterable of blocks, or Directions
        As for :func:`spheremix.as_directions`.
    weights : ndarray of shape (m, d)
        How much each word weighs; where the first line is equal, the next one decides.
    columns : ndarray
        The words that are shown, in increasing order; others are left out.

    Returns
    -------
    dict
        ``indptr``, ``words`` (positions in ``columns``), ``values`` and ``scale``; ``n_words``, how
        many different words each document has, before it is cut.
    """
    rows, n_words = unit_columns(X, columns)
    owners = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    values = rows.data
    size = np.abs(values)
    keys = [-(line[columns][rows.indices] * size) for line in weights]
    order = np.lexsort((*keys[::-1], owners))
    ranks = np.arange(len(order)) - rows.indptr[owners[order]]
    kept = np.sort(order[(ranks < MOST) & (size[order] > 0.0)])
    counts = np.bincount(owners[kept], minlength=rows.shape[0])
    packed, scale = _levels(values[kept], owners[kept], rows.shape[0])
    narrow = np.uint16 if len(columns) <= 2**16 else np.uint32
    return {
        "indptr": np.concatenate([[0], np.cumsum(counts)]).astype(np.uint32),
        "words": rows.indices[kept].astype(narrow),
        "values": packed,
        "scale": scale,
        "n_words": n_words,
    }


def _levels(
    values: Array, owners: NDArray[np.intp], n: int
) -> tuple[NDArray[Any], NDArray[np.float32] | None]:
    """Return values in two bytes, as shares of the largest of row; as floats if some are < 0."""
    if (values < 0.0).any():
        return values.astype(np.float32), None
    scale = np.zeros(n)
    np.maximum.at(scale, owners, values)
    shares = values / scale[owners]
    return np.maximum(np.rint(shares * LEVELS), 1.0).astype(np.uint16), scale.astype(np.float32)

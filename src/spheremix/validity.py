"""How good a partition of unit rows is, and how similar the groups of two partitions are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.data.open import as_directions
from spheremix.seeding import class_resultants

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

__all__ = ["calinski_harabasz_cosine"]


def calinski_harabasz_cosine(X: Any, labels: ArrayLike) -> float:
    """Return the Calinski-Harabasz index of a partition, with one minus the cosine for a distance.

    A cluster's centre is the direction of the sum of its rows, as in spherical k-means; the
    dispersion within clusters is n minus the coherence, that between them is the coherence minus
    what one cluster of all rows would have. scikit-learn's ``calinski_harabasz_score`` has squared
    Euclidean distances to means inside the sphere, and takes no sparse matrix. Its
    ``silhouette_score(X, labels, metric="cosine")`` serves as it is.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or Directions
        Rows are normalised; a sparse matrix stays sparse.
    labels : array-like of shape (n,)
        The partition, at least 2 and at most n - 1 classes.

    Returns
    -------
    float
        Larger is better; infinity where the rows of every class coincide.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, labels, _ = sm.datasets.make_vmf_mixture(200, 5, 3, kappa=20.0, random_state=0)
    >>> index = sm.validity.calinski_harabasz_cosine
    >>> index(X, labels) > index(X, labels % 2)
    True
    """
    directions = as_directions(X)
    classes, members = np.unique(np.asarray(labels), return_inverse=True)
    n, k = directions.n_rows, len(classes)
    if members.shape != (n,):
        raise ValueError(f"labels must have one value a row ({n}), got shape {members.shape}.")
    if not 1 < k < n:
        raise ValueError(f"labels must have 2 to {n - 1} classes, got {k}.")
    sums = class_resultants(directions, members, k).vectors
    coherence = float(np.linalg.norm(sums, axis=1).sum())
    between = coherence - float(np.linalg.norm(sums.sum(axis=0)))
    within = n - coherence
    if within <= 1e-12 * n:
        return float("inf")
    return between / (k - 1) / (within / (n - k))


def count_common(
    first: Ids, second: Ids, shape: tuple[int, int], weights: Array | None = None
) -> Array:
    """Count the rows that each pair of groups of two partitions has in common, or add weights."""
    counts = np.bincount(first * shape[1] + second, weights, shape[0] * shape[1])
    return counts.reshape(shape).astype(np.float64)


def jaccard(common: Array) -> Array:
    """Return, for each pair of groups, the rows in both as a share of those in either."""
    either = common.sum(axis=1)[:, None] + common.sum(axis=0) - common
    shares: Array = np.divide(common, either, out=np.zeros_like(common), where=either > 0.0)
    return shares

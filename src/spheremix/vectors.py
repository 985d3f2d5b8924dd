"""The vectors of all components, (K, d): a dense array, or sparse where most coordinates are zero.

Prototypes and resultants are dense arrays nearly everywhere, and are typed as such. Many hard
clusters of sparse rows are the exception (``data/moved.py``), in spherical k-means and in the
search for starts: there they are CSR arrays of SciPy, with increasing indices, and the functions of
this module do what is asked of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import numpy as np
from scipy import sparse

from spheremix._optional import kernels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

SCORES = 2  # what kernels.map_columns is asked for


@runtime_checkable
class SparseForm(Protocol):
    """Directions that take sparse components in hard sweeps, where their rows are sparse."""

    is_sparse: bool

    def prefers_sparse(self, n_components: int) -> bool:
        """Return whether so many components of hard clusters are better kept sparse."""
        ...

    def take_sparse(self, ids: ArrayLike) -> Array:
        """Return a few unit rows, sparse."""
        ...


def is_sparse(vectors: Any) -> bool:
    """Return whether vectors are in sparse form."""
    return bool(sparse.issparse(vectors))


def as_dense(vectors: Array) -> Array:
    """Return vectors as a dense array."""
    found: Array = cast("Any", vectors).toarray() if is_sparse(vectors) else vectors
    return found


def as_sparse(vectors: Array) -> Array:
    """Return vectors in sparse form."""
    if is_sparse(vectors):
        return vectors
    found = sparse.csr_array(vectors)
    return from_parts(found.data, found.indices, found.indptr, vectors.shape[1])


def canonical(matrix: Any) -> Array:
    """Copy a sparse matrix of any format to sparse vectors."""
    found = sparse.csr_array(matrix, dtype=np.float64, copy=True)
    found.sum_duplicates()
    return from_parts(found.data, found.indices, found.indptr, found.shape[1])


def suited(directions: Any, vectors: Array) -> Array:
    """Return prototypes of hard clusters in the form that the directions work with best."""
    if not isinstance(directions, SparseForm) or not directions.is_sparse:
        return as_dense(vectors)
    return as_sparse(vectors) if directions.prefers_sparse(vectors.shape[0]) else vectors


def most_entries(directions: Any, prototypes: Array) -> int:
    """Return how many numbers the prototypes of a run may come to have, from those of its start.

    Those of hard clusters have no more non-zeros than all rows together.
    """
    n = int(np.prod(prototypes.shape))
    return min(n, int(directions.n_entries)) if is_sparse(prototypes) else n


def from_parts(
    values: Array, indices: NDArray[Any], indptr: NDArray[Any], n_features: int
) -> Array:
    """Return sparse vectors that share arrays: SciPy's constructor would check and convert."""
    kind = np.int32 if len(values) <= np.iinfo(np.int32).max else np.int64
    found = sparse.csr_array((len(indptr) - 1, n_features), dtype=np.float64)
    found.data = values
    found.indices = indices.astype(kind, copy=False)
    found.indptr = indptr.astype(kind, copy=False)
    return cast("Array", found)


def kernel_form(vectors: Array) -> Any:
    """Return sparse vectors as the kernels read them."""
    csr = cast("Any", vectors)
    indptr = csr.indptr.astype(np.int64, copy=False)
    indices = csr.indices.astype(np.int32, copy=False)
    return kernels.SparseVectors(indptr, indices, csr.data, csr.shape[1])


def dots(one: Array, other: Array) -> Array:
    """Return the products of vectors, one by one."""
    found: Array
    if is_sparse(one) != is_sparse(other):
        one, other = as_sparse(one), as_sparse(other)
    if not is_sparse(one):
        found = np.einsum("kj,kj->k", one, other)
    elif kernels is None:
        found = np.asarray(cast("Any", one).multiply(other).sum(axis=1)).ravel()
    else:
        found = kernels.sparse_dots(kernel_form(one), kernel_form(other))
    return found


def inner_products(vectors: Array) -> Array:
    """Return the products of all pairs of sparse vectors, (K, K)."""
    csr = cast("Any", vectors)
    if kernels is None:
        found: Array = (csr @ csr.T).toarray()
        return found
    K = csr.shape[0]
    found, form = np.empty((K, K)), kernel_form(vectors)
    rows = (csr.indptr, csr.indices, csr.data, np.ones(K), 0)
    kernels.map_columns(*rows, form, np.zeros(K), 0.0, SCORES, found, True, 1)
    return found


def product(one: Array, other: Array) -> float:
    """Return the sum of the products of all vectors."""
    if is_sparse(one) or is_sparse(other):
        return float(dots(one, other).sum())
    return float(np.einsum("kj,kj->", one, other))


def lengths(vectors: Array) -> Array:
    """Return the lengths of vectors."""
    found: Array
    if is_sparse(vectors):
        found = np.sqrt(dots(vectors, vectors))
    else:
        found = np.linalg.norm(vectors, axis=1)
    return found


def divided(vectors: Array, divisors: Array) -> Array:
    """Return each vector divided by a number."""
    if not is_sparse(vectors):
        return vectors / divisors[:, None]
    csr = cast("Any", vectors)
    values = csr.data / np.repeat(divisors, np.diff(csr.indptr))
    return from_parts(values, csr.indices, csr.indptr, csr.shape[1])


def scaled(vectors: Array, factors: Array) -> Array:
    """Return each vector times a number."""
    if not is_sparse(vectors):
        return factors[:, None] * vectors
    csr = cast("Any", vectors)
    values = np.repeat(factors, np.diff(csr.indptr)) * csr.data
    return from_parts(values, csr.indices, csr.indptr, csr.shape[1])


def stacked(parts: Sequence[Array]) -> Array:
    """Return all vectors of several parts, which have one form."""
    if not is_sparse(parts[0]):
        return np.concatenate(parts)
    both = sparse.vstack(cast("Any", parts), format="csr")
    return from_parts(both.data, both.indices, both.indptr, both.shape[1])


def added_up(vectors: Array, labels: NDArray[np.intp], n_sums: int) -> Array:
    """Return the sum of the vectors of each label."""
    if not is_sparse(vectors):
        found = np.zeros((n_sums, vectors.shape[1]))
        np.add.at(found, labels, vectors)
        return found
    members = np.arange(len(labels))
    which = sparse.csr_array((np.ones(len(labels)), (labels, members)), (n_sums, len(labels)))
    return canonical(which @ vectors)


def replaced(vectors: Array, places: NDArray[np.bool_], by: Array) -> Array:
    """Return vectors of which some are replaced; ``by`` are as many, in their order."""
    if not is_sparse(vectors):
        found = vectors.copy()
        found[places] = by
        return found
    kept, new = np.flatnonzero(~places), np.flatnonzero(places)
    order = np.argsort(np.concatenate([kept, new]), kind="stable")
    both = sparse.vstack(cast("Any", [vectors[kept], as_sparse(by)]), format="csr")[order]
    return from_parts(both.data, both.indices, both.indptr, vectors.shape[1])

"""What chance makes: documents of the past and new ones, exchanged.

If nothing is new, a batch is a random part of all documents, old and new. What is seen in the batch
is therefore compared with what is seen in other random parts of the same size. Each part is scored
by the prototypes that the rest gives, as the batch is by those of the past: a prototype that a
part has helped to make is nearer to its documents. The posteriors, the concentrations and the
supports are those of the fit. Documents of the batch that may be a new group have no part in any
prototype: if they are one, they would spoil the prototypes of known groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.reading.novelty import joined_rows, products, search_group

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.reading.novelty import Scored

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

N_DRAWS = 399  # random parts that the batch is compared with


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """What is seen in random parts, an entry each.

    Attributes
    ----------
    gains : ndarray of float
        Of the clearest new groups.
    sizes : ndarray of int
        Their numbers of documents.
    bad : ndarray of int
        Numbers of documents that fit badly.
    """

    gains: Array
    sizes: Ids
    bad: Ids


class Exchange:
    """Documents of the past and of a batch, any of which can be called new.

    The prototype of group k is the direction of q_k, a sum over documents on the support of the
    prototype: q_k = sum_i t_ik x_i, less a threshold if there is a penalty. Without the documents
    of a part D it is the direction of q_k - sum_{i in D} t_ik x_i on the support.

    Parameters
    ----------
    past, batch : Scored
        Documents of the past, and new ones. All keep the group that they have.
    suspects : ndarray of int
        The clearest new group in the batch, by numbers in it.
    vectors : ndarray of shape (K, d)
        The vectors q_k of the past, of documents that are not among the given ones too.
    gram : ndarray
        Products of the documents of the past.
    """

    def __init__(
        self, past: Scored, batch: Scored, suspects: Ids, vectors: Array, gram: Array
    ) -> None:
        self.n_past, self.n_new = len(past), len(batch)
        self.all = joined_rows([past, batch])
        counts = np.ones(len(self.all))
        counts[self.n_past + suspects] = 0.0
        self._pulls = self.all.pulls.multiply(counts[:, None]).tocsr()
        across = products(batch.rows, past.rows)
        own = products(batch.rows, batch.rows)
        self.gram: Array = np.block([[gram, across.T], [across, own]])
        self._support = None if np.all(vectors) else (vectors != 0.0).astype(np.float64)
        self._vectors: Array = vectors + self._sums(np.arange(self.n_past, len(self.all)))
        self._squares: Array = np.einsum("kj,kj->k", self._vectors, self._vectors)
        self._products = _along(self.all.rows, self._vectors[self.all.labels])

    @property
    def batch(self) -> Ids:
        """The places of the new documents."""
        return np.arange(self.n_past, len(self.all))

    def cosines(self, part: Ids) -> Array:
        """Return the cosines of documents with the prototypes that all others give."""
        labels = self.all.labels[part]
        groups, places = np.unique(labels, return_inverse=True)
        sums = self._sums(part)[groups]
        squares = self._squares[groups] + np.einsum(
            "kj,kj->k", sums, sums - 2.0 * self._vectors[groups]
        )
        lengths = np.sqrt(np.maximum(squares, 1e-12))
        # The product with every sum that occurs costs less than a copy of the right one for a row.
        pulled = products(self.all.rows[part], sums)[np.arange(len(part)), places]
        return np.asarray((self._products[part] - pulled) / lengths[places])

    def draw(self, limit: float, rng: np.random.Generator) -> Draws:
        """Draw random parts as large as the batch; documents below the limit fit badly."""
        gains = np.empty(N_DRAWS)
        sizes, bad = np.empty((2, N_DRAWS), dtype=np.intp)
        for i in range(N_DRAWS):
            part = np.sort(rng.choice(len(self.all), self.n_new, replace=False))
            cosines = self.cosines(part)
            gains[i], members = search_group(part, cosines, self.gram)
            sizes[i], bad[i] = len(members), np.count_nonzero(cosines < limit)
        return Draws(gains, sizes, bad)

    def _sums(self, part: Ids) -> Array:
        """Return the sums of documents in each group, on the supports: (K, d)."""
        found: Any = self._pulls[part].T @ self.all.rows[part]
        sums = found.toarray() if hasattr(found, "toarray") else found
        return np.asarray(sums if self._support is None else sums * self._support)


def _along(rows: Any, others: Array) -> Array:
    """Return the product of each row with another one."""
    if hasattr(rows, "multiply"):
        return np.asarray(rows.multiply(others).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", rows, others))

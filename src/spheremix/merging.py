"""Clusters merged pair after pair, each time with the least loss; resultants are all it sees."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spheremix.vectors import inner_products, is_sparse

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from spheremix.resultants import Resultants

    Array = NDArray[np.float64]
    # What clusters are worth, by their masses and the lengths of their resultant vectors. One that
    # has ``columns`` asks for the lengths of these parts of the vectors, (parts, M).
    ClusterValue = Callable[[Array, Array], Array]
    # The same for clusters of these masses and lengths, which a shared concentration depends on.
    Renewal = Callable[[Array, Array], ClusterValue]

TILE = 64  # rows and columns of products taken at a time


class Merging(NamedTuple):
    """Who was merged with whom, in order.

    ``pairs`` has the clusters (a, b) of each merge, a < b; afterwards a stands for both.
    ``losses`` has what each merge took from the summed values; ``labels`` (M,) tells to which of
    the clusters that are left, numbered from 0 in the order of their first members, each of the
    first clusters belongs.
    """

    pairs: NDArray[np.intp]
    losses: Array
    labels: NDArray[np.intp]


def merge(
    resultants: Resultants,
    value: ClusterValue,
    n_clusters: int,
    *,
    groups: NDArray[np.intp] | None = None,
    renew: Renewal | None = None,
) -> Merging:
    """Merge clusters greedily, by the least loss, until ``n_clusters`` are left.

    Work and memory are of the order of M^2 for M clusters, beside their products. Every cluster
    must have rows, since a cluster without mass has no value. With ``groups`` (M,) only clusters
    of the same group are merged. With ``renew`` the values are renewed after each merge, for the
    clusters that are left, and the work is of the order of M^3.
    """
    together = np.zeros(len(resultants.mass), dtype=np.intp) if groups is None else groups
    _require(resultants, together, n_clusters)
    mass = resultants.mass.copy()
    products = _products_of(resultants.vectors, value)
    squares = np.diagonal(products, axis1=-2, axis2=-1).copy()
    values = value(mass, np.sqrt(squares))
    owner = np.arange(len(mass))
    alive = np.ones(len(mass), dtype=bool)

    def losses_of(a: int) -> Array:
        if not alive[a]:
            return np.full(len(mass), np.inf)
        joint = squares + squares[..., a : a + 1] + 2.0 * products[..., a, :]
        lost: Array = values + values[a] - value(mass + mass[a], np.sqrt(np.maximum(joint, 0.0)))
        lost[~alive | (together != together[a])] = np.inf
        lost[a] = np.inf
        return lost

    def all_losses() -> tuple[Array, NDArray[np.intp], Array]:
        table = np.empty((len(mass), len(mass)))
        for a in range(len(mass)):
            table[a] = losses_of(a)
        partner = table.argmin(axis=1)
        return table, partner, np.take_along_axis(table, partner[:, None], axis=1)[:, 0]

    table, partner, least = all_losses()
    pairs: list[tuple[int, int]] = []
    losses: list[float] = []
    for _ in range(len(mass) - n_clusters):
        if renew is not None and pairs:
            lengths = np.sqrt(np.maximum(squares[..., alive], 0.0))
            value = renew(mass[alive], lengths)
            values[alive] = value(mass[alive], lengths)
            table, partner, least = all_losses()
        a, b = sorted((int(least.argmin()), int(partner[least.argmin()])))
        pairs.append((a, b))
        losses.append(least[a])
        owner[owner == b] = a
        alive[b] = False
        mass[a] += mass[b]
        squares[..., a] += squares[..., b] + 2.0 * products[..., a, b]
        products[..., a, :] += products[..., b, :]
        products[..., :, a] = products[..., a, :]
        products[..., a, a] = squares[..., a]
        if renew is not None:
            continue
        values[a] = value(mass[[a]], np.sqrt(np.maximum(squares[..., [a]], 0.0)))[0]
        table[b] = table[:, b] = least[b] = np.inf
        table[a] = table[:, a] = losses_of(a)
        # Whoever had one of the two for a partner looks again; the others see what is new.
        stale = alive & ((partner == a) | (partner == b))
        stale[a] = True
        closer = alive & ~stale & (table[:, a] < least)
        partner[closer], least[closer] = a, table[closer, a]
        rows = np.flatnonzero(stale)
        partner[rows] = table[rows].argmin(axis=1)
        least[rows] = table[rows, partner[rows]]
    labels = np.unique(owner, return_inverse=True)[1]
    return Merging(np.array(pairs, dtype=np.intp).reshape(-1, 2), np.array(losses), labels)


def _require(resultants: Resultants, groups: NDArray[np.intp], n_clusters: int) -> None:
    """Refuse what cannot be merged."""
    if not len(np.unique(groups)) <= n_clusters <= len(resultants.mass):
        raise ValueError(f"{len(resultants.mass)} clusters cannot be merged to {n_clusters}.")
    if not np.all(resultants.mass > 0.0):
        raise ValueError("Clusters without mass cannot be merged.")


def _products_of(vectors: Array, value: ClusterValue) -> Array:
    """Return all inner products, (M, M), or those of each part that a value asks for."""
    columns = getattr(value, "columns", None)
    if columns is None:
        return _products(vectors)
    return np.stack([_products(vectors[:, own]) for own in columns])


def _products(vectors: Array) -> Array:
    """Return all inner products, in tiles that no library of linear algebra shares among threads.

    So the bits do not depend on how many it has.
    """
    if is_sparse(vectors):
        return inner_products(vectors)
    n, d = vectors.shape
    products = np.empty((n, n))
    for a in range(0, n, TILE):
        for b in range(a, n, TILE):
            rows, columns = vectors[a : a + TILE], vectors[b : b + TILE]
            total = np.zeros((len(rows), len(columns)))
            for j in range(0, d, TILE):
                total += rows[:, j : j + TILE] @ columns[:, j : j + TILE].T
            products[a : a + TILE, b : b + TILE] = total
            products[b : b + TILE, a : a + TILE] = total.T
    return products

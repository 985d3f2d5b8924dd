"""Lloyd's iterations with the cosine, and what becomes of clusters that lose all their rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from spheremix import em
from spheremix.models.skmeans import SphericalKMeansModel
from spheremix.seeding import put_on_rows
from spheremix.vectors import divided, lengths, suited

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from spheremix.data.base import Directions

    Array = NDArray[np.float64]

RESEEDINGS = 20  # of one run, at most


def lloyd(
    directions: Directions,
    starts: list[Array],
    settings: em.Settings,
    weights: Array | None = None,
    callback: Callable[[em.Progress], None] | None = None,
) -> list[tuple[em.Fit[Array], int]]:
    """Run spherical k-means from each start, re-seeding clusters that lose all their rows.

    All runs share their sweeps; those that lost a cluster go on together once the others are done.
    Prototypes are in the form that the directions work with best. Gives for each start its fit, and
    how many prototypes were re-seeded.
    """
    model = SphericalKMeansModel()
    starts = [suited(directions, start) for start in starts]
    fits = em.fit(model, directions, starts, settings, weights=weights, callback=callback)
    reseeded = [0] * len(fits)
    for _ in range(RESEEDINGS):
        moved = {}
        for i, fit in enumerate(fits):
            stopped = not fit.ok and fit.n_iter < settings.max_iter
            if stopped and (found := reseed(directions, fit, weights)) is not None:
                moved[i], n = found
                reseeded[i] += n
        if not moved:
            break
        used = max(fits[i].n_iter for i in moved)
        left = replace(settings, max_iter=settings.max_iter - used)
        again = em.fit(
            model, directions, list(moved.values()), left, weights=weights, callback=callback
        )
        for i, fit in zip(moved, again, strict=True):
            before = fits[i]
            fits[i] = replace(
                fit, n_iter=before.n_iter + fit.n_iter, trace=before.trace + fit.trace
            )
    return list(zip(fits, reseeded, strict=True))


def reseed(
    directions: Directions, fit: em.Fit[Array], weights: Array | None = None
) -> tuple[Array, int] | None:
    """Update the prototypes that have rows, and put the others on the rows served worst.

    The coherence does not fall by the re-seeding of an empty cluster, whose prototype was nobody's.
    None where every row lies on a prototype already, and there is nothing to win.
    """
    sizes = lengths(fit.resultants.vectors)
    lost = sizes == 0.0  # empty, or rows that cancel out
    prototypes = divided(fit.resultants.vectors, np.where(lost, 1.0, sizes))
    found = put_on_rows(directions, prototypes, lost, weights)
    return None if found is None else (found, int(lost.sum()))

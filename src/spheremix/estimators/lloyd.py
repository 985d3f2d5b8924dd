"""Lloyd's iterations with the cosine, clusters that lose all their rows, and how a run went."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from spheremix import em
from spheremix.estimators.problem import OUTDONE
from spheremix.models.skmeans import SphericalKMeansModel
from spheremix.seeding import put_on_rows
from spheremix.vectors import divided, lengths, suited

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from spheremix.data.base import Directions
    from spheremix.estimators.starts import Start

    Array = NDArray[np.float64]

RESEEDINGS = 20  # of one run, at most


@dataclass(frozen=True, slots=True)
class KMeansRestart:
    """How one run of spherical k-means went: how it started, and the coherence at both ends.

    The status is "outdone" where, on large data, the search found a better start in another run,
    and Lloyd's iterations did not go on from this one.
    """

    seed: int | None
    status: str
    n_iter: int
    coherence: float
    n_reseeded: int
    start: str
    start_coherence: float


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


def summary(start: Start, result: tuple[em.Fit[Array], int] | None) -> KMeansRestart:
    """Say how the run from a start went; None where there was none."""
    if result is None:
        status = OUTDONE if start.is_outdone else "no_start"
        return KMeansRestart(start.seed, status, 0, np.nan, 0, start.kind, np.nan)
    fit, n_reseeded = result
    first = start.first_value if start.masses else fit.trace[0]
    reached = (fit.status, fit.n_iter, fit.objective, n_reseeded)
    return KMeansRestart(start.seed, *reached, start.kind, first)


def said(i: int, n: int, run: KMeansRestart) -> str:
    """Return the line about a run that ``verbose`` prints."""
    return (
        f"run {i + 1}/{n} ({run.start}): {run.status} after {run.n_iter} iterations, "
        f"coherence {run.coherence:.6f}"
        + (f", {run.n_reseeded} clusters re-seeded" if run.n_reseeded else "")
    )

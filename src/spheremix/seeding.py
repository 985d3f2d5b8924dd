"""Where EM starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np

from spheremix import em
from spheremix.models.base import DegenerateError
from spheremix.models.skmeans import SHARPNESS, SphericalKMeansModel, sharp_scorer
from spheremix.models.views import ViewsModel
from spheremix.resultants import Resultants
from spheremix.scorer import Scorer
from spheremix.vectors import (
    SparseForm,
    as_dense,
    divided,
    is_sparse,
    lengths,
    most_entries,
    replaced,
    suited,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.data.base import Directions
    from spheremix.models.base import Model

    Array = NDArray[np.float64]

P = TypeVar("P")

TRIES = 10  # redraws of a start that fails
BATCH_WEIGHTS = 2**25  # weights of rows held for the classes that share a sweep: 256 MiB
SAME = 1.0 - 1e-12  # cosine from which on two rows are one direction, up to rounding
LLOYD = em.Settings(max_iter=100, e_step="hard")
Init = Literal["random", "k-means++", "spherical-k-means"]


def draw_starts(
    model: Model[P],
    directions: Directions,
    n_components: int,
    seeds: list[int],
    init: Init = "random",
    weights: Array | None = None,
) -> list[P | None]:
    """Draw one start a seed; None where every try failed.

    The tries of all starts share their sweeps; k-means++ reads the rows K times more for each of
    them. A start depends on its own seed only.
    """

    def choose(rng: np.random.Generator) -> Array:
        if init == "random":
            return random_rows(directions, n_components, rng, weights, hard=_is_hard(model))
        return _spread_rows(directions, n_components, rng, weights)

    generators = [np.random.default_rng(seed) for seed in seeds]
    starts: list[P | None] = [None] * len(seeds)
    for _ in range(TRIES):
        missing = [i for i, start in enumerate(starts) if start is None]
        if not missing:
            break
        prototypes = [choose(generators[i]) for i in missing]
        if init == "spherical-k-means":
            prototypes = _lloyd(directions, prototypes, weights)
        drawn = from_prototypes(model, directions, prototypes, weights)
        for i, start in zip(missing, drawn, strict=True):
            starts[i] = start
    return starts


def from_prototypes(
    model: Model[P],
    directions: Directions,
    prototypes: list[Array],
    weights: Array | None = None,
) -> list[P | None]:
    """Start from prototypes: rows go to the nearest one (Algorithm 4)."""
    prototypes = [in_form(model, directions, rows) for rows in prototypes]
    scorers = [nearest(model, rows) for rows in prototypes]
    starts: list[P | None] = []
    for rows, resultants in zip(prototypes, directions.sweep(scorers, weights), strict=True):
        try:
            starts.append(model.start(resultants, rows))
        except DegenerateError:
            starts.append(None)
    return starts


def nearest(model: object, prototypes: Array) -> Scorer:
    """Return the scores that send each row to the nearest prototype: cosines."""
    if isinstance(model, ViewsModel):
        return model.nearest(prototypes)
    return Scorer(prototypes, np.zeros(prototypes.shape[0]), 0.0, "hard")


def _is_hard(model: object) -> bool:
    """Return whether the clusters of a model are hard, and its prototypes may be sparse."""
    return isinstance(model, SphericalKMeansModel)


def in_form(model: object, directions: Directions, prototypes: Array) -> Array:
    """Return prototypes, dense or sparse, as a model and directions work with them best."""
    return suited(directions, prototypes) if _is_hard(model) else as_dense(prototypes)


def from_labels(
    model: Model[P],
    directions: Directions,
    labels: NDArray[np.intp],
    n_components: int,
    weights: Array | None = None,
) -> P:
    """Start from a partition; DegenerateError where a class is empty."""
    resultants = class_resultants(directions, labels, n_components, weights)
    sizes = np.linalg.norm(resultants.vectors, axis=1, keepdims=True)
    return model.start(resultants, resultants.vectors / np.where(sizes > 0, sizes, 1.0))


def _lloyd(directions: Directions, prototypes: list[Array], weights: Array | None) -> list[Array]:
    """Run spherical k-means from each start, as many at a time as memory allows."""
    runs = em.in_batches(
        [suited(directions, start) for start in prototypes],
        lambda start: most_entries(directions, start),
        lambda _, batch: em.fit(SphericalKMeansModel(), directions, batch, LLOYD, weights=weights),
    )
    return [as_dense(run.parameters) for run in runs if run is not None]


def class_resultants(
    directions: Directions, labels: NDArray[np.intp], n_classes: int, weights: Array | None = None
) -> Resultants:
    """Sum the rows of each class, in one sweep (several where that would take much memory).

    The weights of a class are those of its rows, and zero elsewhere: the classes are as many weight
    vectors, and share a reading.
    """
    everywhere = Scorer(np.zeros((1, directions.n_features)), np.zeros(1))
    base = np.ones(directions.n_rows) if weights is None else weights
    together = max(1, BATCH_WEIGHTS // directions.n_rows)
    parts: list[Resultants] = []
    for first in range(0, n_classes, together):
        classes = np.arange(first, min(first + together, n_classes))
        own = np.where(labels == classes[:, None], base, 0.0)
        parts += directions.sweep([everywhere] * len(classes), own)
    return Resultants(
        np.concatenate([part.mass for part in parts]),
        np.concatenate([part.vectors for part in parts]),
        0.0,
        0.0,
        sum(part.weight for part in parts),
    )


def random_rows(
    directions: Directions,
    n_components: int,
    rng: np.random.Generator,
    weights: Array | None,
    *,
    hard: bool = False,
) -> Array:
    """Choose rows without replacement, in proportion to their weights, no direction twice.

    For hard clusters they are in the form that the directions work with best. Of rows of one
    direction one is kept; the others are drawn again from other directions, until none repeats. A
    direction comes twice only if there are fewer directions than rows asked for.
    """
    chances = np.ones(directions.n_rows) if weights is None else weights
    p = None if weights is None else weights / weights.sum()
    take = directions.take
    if hard and isinstance(directions, SparseForm) and directions.prefers_sparse(n_components):
        take = directions.take_sparse
    ids = rng.choice(directions.n_rows, n_components, replace=False, p=p)
    chosen = take(ids)
    while (twice := repeated(_of_length_one(directions, chosen))).any():
        equal = largest_cosines(directions, _inverted(directions, chosen[twice])) > SAME
        chances = np.where(equal, 0.0, chances)
        again = np.flatnonzero(twice)[: np.count_nonzero(chances)]
        if not again.size:
            break
        p = chances / chances.sum()
        ids[again] = rng.choice(directions.n_rows, len(again), replace=False, p=p)
        chosen = take(ids)
    return chosen


def _of_length_one(directions: Directions, rows: Array) -> Array:
    """Return rows at length one: those of several views are longer."""
    return divided(rows, lengths(rows)) if hasattr(directions, "views") else rows


def _inverted(directions: Directions, rows: Array) -> Array:
    """Return vectors whose product with their rows is one."""
    return divided(rows, lengths(rows) ** 2) if hasattr(directions, "views") else rows


def repeated(rows: Array) -> NDArray[np.bool_]:
    """Return which unit rows have the direction of an earlier one.

    Only rows whose products with three fixed vectors are equal are compared: K d work, not K^2 d.
    """
    group = np.zeros(rows.shape[0], dtype=np.intp)
    for step in (1.0, np.sqrt(2.0), np.sqrt(3.0)):
        fixed = np.cos(step * np.arange(rows.shape[1]))
        marks = rows @ (fixed / np.linalg.norm(fixed))
        order = np.lexsort((marks, group))
        apart = np.diff(marks[order]) > 2.0 * np.sqrt(1.0 - SAME)  # rows are sqrt(2 - 2 cos) apart
        group[order[1:]] = np.cumsum(apart | (np.diff(group[order]) > 0))
        group[order[0]] = 0
    found = np.zeros(rows.shape[0], dtype=bool)
    order = np.argsort(group, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        left = members
        while len(left) > 1:
            equal = rows[left] @ as_dense(rows[left[:1]])[0] > SAME
            equal[0] = True
            found[left[equal][1:]] = True
            left = left[~equal]
    return found


def largest_cosines(directions: Directions, prototypes: Array) -> Array:
    """Return cosine of each row to its prototype, in one reading and without an (n, K) array."""
    densities: Array = directions.map_rows(sharp_scorer(prototypes), "log_density")
    return densities / SHARPNESS


def put_on_rows(
    directions: Directions, prototypes: Array, lost: NDArray[np.bool_], weights: Array | None = None
) -> Array | None:
    """Put prototypes that were lost on the rows that the others serve worst.

    One after another: the row of positive weight whose largest cosine is the smallest (the first
    one where several are equal), given the prototypes so far. None where every row lies on a
    prototype already, or where there are no other prototypes.
    """
    if lost.all():
        return None
    served = largest_cosines(directions, prototypes[~lost])
    if weights is not None:
        served = np.where(weights > 0.0, served, np.inf)
    if served.min() > SAME:
        return None
    ids = []
    for _ in range(int(lost.sum())):
        ids.append(int(served.argmin()))
        cosines = directions.map_rows(Scorer(directions.take(ids[-1:]), np.zeros(1)), "scores")
        served = np.maximum(served, cosines[:, 0])
    take = directions.take
    if is_sparse(prototypes) and isinstance(directions, SparseForm):
        take = directions.take_sparse
    return replaced(prototypes, lost, take(ids))


def _spread_rows(
    directions: Directions,
    n_components: int,
    rng: np.random.Generator,
    weights: Array | None,
) -> Array:
    """Choose rows one after another in proportion to 1 - cosine to the nearest one (k-means++)."""
    base = np.ones(directions.n_rows) if weights is None else weights
    chances, nearest = base, np.full(directions.n_rows, -np.inf)
    chosen = np.empty((n_components, directions.n_features))
    for k in range(n_components):
        # Fewer distinct rows than components: the rest is drawn from all rows.
        total = chances.sum()
        chances = chances / total if total > 0 else base / base.sum()
        chosen[k : k + 1] = directions.take([rng.choice(directions.n_rows, p=chances)])
        cosines = directions.map_rows(Scorer(chosen[k : k + 1], np.zeros(1)), "scores")
        nearest = np.maximum(nearest, cosines[:, 0])
        # A row's cosine to itself is one up to rounding.
        chances = base * np.where(nearest < SAME, 1.0 - nearest, 0.0)
    return chosen

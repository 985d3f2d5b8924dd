"""Where the runs of an estimator start: drawn, or given by ``init``.

On large data the search for starts reads a sample of the rows, and EM goes on from its best start.
That concerns ``init="merge"`` with ``n_init="auto"``: whoever gives a number of runs gets them all,
on all rows.
"""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

from spheremix import em, seeding
from spheremix.errors import NotedWarning, ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.options import count_runs
from spheremix.estimators.problem import is_runaway
from spheremix.models.base import COLLAPSED, DegenerateError
from spheremix.scorer import Scorer
from spheremix.search import Search
from spheremix.vectors import canonical, divided, is_sparse, lengths

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import Directions
    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import Seeds

    Array = NDArray[np.float64]

STARTS = ("merge", "random", "k-means++", "spherical-k-means")
SAME = 1e-12  # relative difference of the values of one partition that was found twice
# Entries of the rows times components, in one sweep, from which on data are large. At 3.8e9 five
# runs on all rows took much longer than the k-means of other packages; at 3.4e7, on 20 newsgroups,
# a sample costs likelihood and saves half of the time at most. docs/benchmarks.md has the figures.
LARGE = 2e8
SAMPLE_ROWS = 128  # of the sample for each component, at least
SAMPLE_SHARE = 0.5  # of the rows: where the sample would be more, the search reads them all
SAMPLE_RUNS = 2  # of the search, before they are crossed
SAMPLE_TOL = 1e-5  # a refinement on a sample ends at gains below it: the sample is not known better
M = TypeVar("M")


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """Where one run of EM starts.

    Attributes
    ----------
    parameters : Any
        Of the model; None where every try failed.
    kind : str
        "merge", "cross", "tree", "random", "k-means++", "spherical-k-means", "seeds" or "given".
    seed : int or None
        Of what was drawn.
    first_value, value : float
        What the search found, before and after rows were moved; NaN where there was none.
    masses : tuple of float
        Of the clusters that the search found, the smallest first.
    is_outdone : bool
        Whether, on large data or with several views, another start was better; there are no
        parameters then.
    agreement : float
        Where other starts are outdone: their mean adjusted Rand index with this one.
    """

    parameters: Any
    kind: str = "given"
    seed: int | None = None
    first_value: float = np.nan
    value: float = np.nan
    masses: tuple[float, ...] = ()
    is_outdone: bool = False
    agreement: float = np.nan

    def is_like(self, other: Start) -> bool:
        """Return whether the search has found one partition twice."""
        near = abs(self.value - other.value) <= SAME * abs(self.value)
        return (
            near
            and len(self.masses) == len(other.masses)
            and np.allclose(self.masses, other.masses)
        )


def count_sweeps(
    callback: Callable[[em.Progress], None] | None,
) -> Callable[[em.Progress], None] | None:
    """Return a callback that counts the sweeps of all stages of a fit, from its first one on."""
    if callback is None:
        return None
    numbers = itertools.count(1)
    return lambda progress: callback(replace(progress, n_sweeps=next(numbers)))


def draw(
    problem: Problem[Any],
    init: Any,
    n_init: Any,
    random_state: Any,
    callback: Callable[[em.Progress], None] | None = None,
    tol: float = 1e-4,
) -> list[Start]:
    """Draw the starts, or take the given one; groups that are asked for start at their seeds."""
    if isinstance(init, str):
        if getattr(problem.model, "seeds", None) is not None:
            return _at_seeds(problem, init, n_init, random_state, callback, tol)
        return draw_all([problem], init, n_init, random_state, callback, tol)[0]
    return [Start(_given(problem, init))]


def _at_seeds(
    problem: Problem[Any],
    init: str,
    n_init: Any,
    random_state: Any,
    callback: Callable[[em.Progress], None] | None,
    tol: float,
) -> list[Start]:
    """Start components that have seeds at these; search for the others, if there are any.

    Of the components that were found, those that are most like the seeds make room for them.
    """
    model = problem.model
    seeds: Seeds = model.seeds
    there, sums = seeds.mass > 0.0, seeds.resultants()
    if there.all():
        own = np.zeros((len(there), problem.n_features))
        for columns in model.columns:
            own[:, columns] = _unit(sums.vectors[:, columns])
        return [Start(model.start(sums, own), "seeds")]
    found = draw_all([problem], init, n_init, random_state, callback, tol)[0]
    return [
        start
        if start.parameters is None
        else replace(start, parameters=_with_seeds(model, start.parameters), kind="seeds")
        for start in found
    ]


def _with_seeds(model: Any, found: Any) -> Any:
    """Put components at their seeds, in place of those that are most like them."""
    there = np.flatnonzero(model.seeds.mass)
    own = np.zeros((len(there), found.prototypes.shape[1]))
    for columns in model.columns:
        own[:, columns] = _unit(model.seeds.vectors[there, columns])
    _, like = linear_sum_assignment(own @ found.prototypes.T, maximize=True)
    order = np.empty(len(found.weights), dtype=np.intp)
    order[there] = like
    free = np.setdiff1d(np.arange(len(order)), there)
    order[free] = np.setdiff1d(np.arange(len(order)), like)
    prototypes = found.prototypes[order]
    for columns in model.columns:  # what a seed has no part in is as it was found
        has_part = own[:, columns].any(axis=1)
        prototypes[there[has_part], columns] = own[has_part, columns]
    kappas = found.kappas if model.kappa_mode == "given" else found.kappas[order]
    return model.parameters(prototypes, kappas, found.weights[order])


def _unit(vectors: Array) -> Array:
    """Return vectors at length one; zeros stay."""
    sizes = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(sizes > 0.0, sizes, 1.0))


def from_seeds(problem: Problem[Any], init: Any, seeds: list[int]) -> list[Start]:
    """Draw a start for each seed."""
    model, K = problem.model, problem.n_components
    drawn = seeding.draw_starts(model, problem.directions, K, seeds, init, problem.weights)
    return [Start(start, init, seed) for start, seed in zip(drawn, seeds, strict=True)]


def draw_all(
    problems: Sequence[Problem[Any]],
    init: str,
    n_init: Any,
    random_state: Any,
    callback: Callable[[em.Progress], None] | None = None,
    tol: float = 1e-4,
) -> list[list[Start]]:
    """Draw the starts of problems that differ in the number of components only.

    ``tol`` is what ends refinements of a search, in units of the objective per unit of weight.
    """
    check.require_choice("init", init, STARTS)
    seeds = check.draw_seeds(random_state, count_runs(n_init, init))
    if init == "merge":
        auto = isinstance(n_init, str)
        small = [one for one in problems if not (auto and is_large(one))]
        found = iter(_searched(small, seeds, callback, tol) if small else ())
        return [
            _best_of_few(one, seeds, callback, tol)
            if one not in small
            else _best_alone(one, next(found))
            if hasattr(one.model, "for_starts")
            else next(found)
            for one in problems
        ]
    return [from_seeds(one, init, seeds) for one in problems]


def _searched(
    problems: Sequence[Problem[Any]],
    seeds: list[int],
    callback: Callable[[em.Progress], None] | None,
    tol: float,
) -> list[list[Start]]:
    """Search for partitions, all problems sharing their sweeps."""
    first, n_runs = problems[0], len(seeds) * len(problems)

    def tell(n_sweeps: int) -> None:
        if callback is not None:
            callback(em.Progress(n_sweeps, n_runs, n_runs, np.nan))

    model, *others = getattr(first.model, "for_starts", first.model.for_search)()
    search = Search(model, first.directions, first.weights, tol=tol, callback=tell)
    found = search.run([one.n_components for one in problems], seeds)
    for other in others:
        again = Search(other, first.directions, first.weights, tol=tol, callback=tell)
        found = [again.improved(partitions) for partitions in found]
    each = []
    for one, partitions in zip(problems, found, strict=True):
        starts = [Start(None, "merge", seed) for seed in seeds]
        starts += [Start(None, "cross")] * (len(partitions) - len(seeds))
        for i, partition in enumerate(partitions):
            if partition is not None:
                starts[i] = replace(
                    starts[i],
                    parameters=one.model.from_partition(partition.resultants),
                    first_value=partition.first_value,
                    value=partition.value,
                    masses=tuple(np.sort(partition.resultants.mass)),
                )
        each.append(starts)
    return each


def _best_of_few(
    problem: Problem[Any],
    seeds: list[int],
    callback: Callable[[em.Progress], None] | None,
    tol: float,
) -> list[Start]:
    """Search in a sample, in few runs, and keep the best start alone."""
    part = sample_rows(problem, seeds[-1])
    (found,) = _searched([part], seeds[:SAMPLE_RUNS], callback, max(tol, SAMPLE_TOL))
    return _best_alone(part, found)


def _best_alone(problem: Problem[Any], found: list[Start]) -> list[Start]:
    """Keep the start that the search thinks most of; the others are outdone."""
    model = problem.model
    there = [i for i, start in enumerate(found) if start.parameters is not None]
    if not there:
        return found
    best = max(there, key=lambda i: (not is_runaway(model, found[i].parameters), found[i].value))
    labels = {
        i: problem.directions.map_rows(model.scorer(found[i].parameters, "hard"), "labels")
        for i in there
        if i == best or found[i].kind != "cross"
    }
    scores = [adjusted_rand_score(labels[best], own) for i, own in labels.items() if i != best]
    agreed = float(np.mean(scores)) if scores else np.nan
    kept = found[best]
    return [
        Start(kept.parameters, kept.kind, kept.seed, agreement=agreed)
        if i == best
        else replace(start, parameters=None, is_outdone=start.parameters is not None)
        for i, start in enumerate(found)
    ]


def _given(problem: Problem[Any], init: Any) -> Any:
    """Return the parameters of a start that was given."""
    model, K = problem.model, problem.n_components
    directions, weights = problem.directions, problem.weights
    init = given_start(init)
    if hasattr(init, "prototypes_"):
        shape = init.prototypes_.shape
        if shape != (K, problem.n_features):
            raise other_shape(shape, problem)
        if hasattr(init, "kappas_"):
            shares = model.beside_noise(init.weights_)
            return model.parameters(init.prototypes_, init.kappas_, shares)
        init = init.prototypes_  # spherical k-means
    array = init if is_sparse(init) else np.asarray(init)
    if array.ndim == 1:
        return _start_from_labels(array, problem)
    rows = seeding.in_form(model, directions, unit_prototypes(array, problem))
    start = seeding.from_prototypes(model, directions, [rows], weights)[0]
    return _start_from_moved(rows, problem) if start is None else start


def _start_from_moved(rows: Array, problem: Problem[Any]) -> Any:
    """Put prototypes that are nearest to no row on rows, warn, and return the start of them all."""
    directions, weights = problem.directions, problem.weights
    nearest = Scorer(rows, np.zeros(rows.shape[0]), 0.0, "hard")
    (resultants,) = directions.sweep([nearest], weights)
    unused = ~(resultants.mass > COLLAPSED * resultants.weight)
    moved, start = seeding.put_on_rows(directions, rows, unused, weights), None
    if moved is not None:
        start = seeding.from_prototypes(problem.model, directions, [moved], weights)[0]
    n, K = int(unused.sum()), rows.shape[0]
    if start is None:
        raise ParameterError(
            "{init}: {n} of the {K} prototypes are nearest to no row, and there are not enough "
            "different rows to put them on",
            remedies=("lower {n_components}",),
            n=n,
            K=K,
        )
    warnings.warn(
        NotedWarning(
            "{init}: {n} of the {K} prototypes {are} nearest to no row, and put on the rows "
            "that the others are farthest from",
            n=n,
            are="is" if n == 1 else "are",
            K=K,
        ),
        stacklevel=6,
    )
    return start


def other_shape(shape: tuple[int, int], problem: Problem[Any]) -> ParameterError:
    """Refuse a model of another shape as a start."""
    return ParameterError(
        "{init} is a model of {K} components in {d} dimensions; {wanted} in {features} are asked "
        "for",
        K=shape[0],
        d=shape[1],
        wanted=problem.n_components,
        features=problem.n_features,
    )


def given_start(init: Any) -> Any:
    """Return what stands for a start: for a path or a study, the mixture that it chose."""
    init = getattr(init, "best_estimator_", init)
    if hasattr(init, "get_params") and not hasattr(init, "prototypes_"):
        raise ParameterError(
            "{init} is a model without prototypes_: it is not fitted, or not one of spheremix. "
            "clone and GridSearchCV forget fits: wrap a fitted model in "
            "sklearn.frozen.FrozenEstimator. For scikit-learn's KMeans, give its cluster_centers_"
        )
    return init


def unit_prototypes(array: NDArray[Any], problem: Problem[Any]) -> Array:
    """Return the prototypes of a start at length one, or an error that says which are asked for."""
    shape, n = (problem.n_components, problem.n_features), problem.directions.n_rows
    if len(problem.columns.get("views_in_", ())) > 1:
        raise ParameterError(
            "{init} must be the name of a start, a fitted model or labels of shape ({n},) where X "
            "has several views; got an array of shape {got}",
            n=n,
            got=array.shape,
        )
    if array.shape != shape:
        raise ParameterError(
            "{init} must be the name of a start, a fitted model, labels of shape ({n},) or "
            "prototypes of shape {shape}; got an array of shape {got}",
            n=n,
            shape=shape,
            got=array.shape,
        )
    prototypes: Array = canonical(array) if is_sparse(array) else array.astype(np.float64)
    sizes = lengths(prototypes)
    bad = np.flatnonzero(~((sizes > 0.0) & (sizes < np.inf)))
    if bad.size:
        raise ParameterError("{init}: prototype {i} is zero or not finite", i=bad[0])
    return divided(prototypes, sizes)


def _start_from_labels(labels: NDArray[Any], problem: Problem[Any]) -> Any:
    K = problem.n_components
    if labels.shape != (problem.directions.n_rows,) or labels.dtype.kind not in "iu":
        raise ParameterError(
            "{init} given as labels must be integers, one for each of the {n} rows; got shape "
            "{shape} of {dtype}",
            n=problem.directions.n_rows,
            shape=labels.shape,
            dtype=labels.dtype,
        )
    least = -getattr(problem.model, "n_noise", 0)  # -1: a row that belongs nowhere
    if labels.min() < least or labels.max() >= K:
        raise ParameterError(
            "{init} given as labels must be in {least}..{last}", least=least, last=K - 1
        )
    try:
        return seeding.from_labels(
            problem.model, problem.directions, labels.astype(np.intp), K, problem.weights
        )
    except DegenerateError as error:
        raise ParameterError(
            "{init}: class {k} of the labels has {status}", k=error.component, status=error.status
        ) from None


def first_alike(starts: Sequence[Start]) -> list[int]:
    """Return for each start the place of the first one that is the same partition, or its own."""
    return [
        next(j for j, other in enumerate(starts) if other is start or other.is_like(start))
        for start in starts
    ]


def known_seeds(starts: Sequence[Start], random_state: Any) -> list[int]:
    """Return a seed for the drawn assignments of each start; some have none of their own."""
    seeds = [start.seed for start in starts]
    own = check.draw_seeds(random_state, 1)[0] if None in seeds else 0
    return [own if seed is None else seed for seed in seeds]


@runtime_checkable
class Divisible(Protocol):
    """Directions of which some rows can be had as Directions in memory."""

    n_entries: int  # stored ones of all rows

    def part(self, ids: ArrayLike) -> Directions:
        """Return some rows, by numbers in increasing order."""
        ...


def is_large(problem: Problem[Any]) -> bool:
    """Return whether the search must not read all rows many times.

    Engines that cannot return some of their rows (those of Dask and torch, and those of users) keep
    the search on all rows.
    """
    return isinstance(problem.directions, Divisible) and _work(problem) > LARGE


def sample_rows(problem: Problem[M], seed: int) -> Problem[M]:
    """Return the problem on rows drawn by the seed, or on all of them where the sample is most.

    Rows are drawn without replacement, with equal chances for all rows of positive weight, and
    keep their weights. There are as many as make a sweep ``LARGE``, and not fewer than
    ``SAMPLE_ROWS`` for each component.
    """
    directions, weights = problem.directions, problem.weights
    rows = _weighted_rows(problem)
    least = SAMPLE_ROWS * problem.n_components
    n_drawn = max(least, int(len(rows) * LARGE / _work(problem)))
    if not isinstance(directions, Divisible) or n_drawn > SAMPLE_SHARE * len(rows):
        return problem
    ids = np.sort(np.random.default_rng(seed).choice(rows, n_drawn, replace=False))
    own = None if weights is None else weights[ids]
    return replace(problem, directions=directions.part(ids), weights=own)


def _work(problem: Problem[Any]) -> float:
    """Return the entries of the rows that count, times components."""
    directions: Any = problem.directions
    share = len(_weighted_rows(problem)) / directions.n_rows
    return float(directions.n_entries * share * problem.n_components)


def _weighted_rows(problem: Problem[Any]) -> NDArray[np.intp]:
    """Return the numbers of the rows of positive weight."""
    if problem.weights is None:
        return np.arange(problem.directions.n_rows)
    return np.flatnonzero(problem.weights)

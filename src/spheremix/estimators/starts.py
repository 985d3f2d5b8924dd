"""Where the runs of an estimator start: drawn, or given by ``init``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix import seeding
from spheremix.errors import ParameterError
from spheremix.estimators import validation as check
from spheremix.models.base import DegenerateError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.estimators.problem import Problem

    Array = NDArray[np.float64]

STARTS = ("random", "k-means++", "spherical-k-means")


def draw(
    problem: Problem[Any], init: Any, n_init: int, random_state: Any
) -> tuple[list[Any], list[int | None]]:
    """Draw the starts, or take the given one: parameters of the model, and their seeds."""
    model, K = problem.model, problem.n_components
    directions, weights = problem.directions, problem.weights
    if isinstance(init, str):
        check.require_choice("init", init, STARTS)
        seeds = check.draw_seeds(random_state, n_init)
        return seeding.draw_starts(model, directions, K, seeds, init, weights), list(seeds)  # type: ignore[arg-type]
    init = given_start(init)
    if hasattr(init, "prototypes_"):
        shape = init.prototypes_.shape
        if shape != (K, directions.n_features):
            raise other_shape(shape, problem)
        if hasattr(init, "kappas_"):
            return [model.parameters(init.prototypes_, init.kappas_, init.weights_)], [None]
        init = init.prototypes_  # spherical k-means
    array = np.asarray(init)
    if array.ndim == 1:
        return [_start_from_labels(array, problem)], [None]
    rows = unit_prototypes(array, problem)
    start = seeding.from_prototypes(model, directions, [rows], weights)[0]
    if start is None:
        raise ParameterError("{init}: no row is nearest to one of the prototypes; spread them out")
    return [start], [None]


def other_shape(shape: tuple[int, int], problem: Problem[Any]) -> ParameterError:
    """Refuse a model of another shape as a start."""
    return ParameterError(
        "{init} is a model of {K} components in {d} dimensions; {wanted} in {features} are asked "
        "for",
        K=shape[0],
        d=shape[1],
        wanted=problem.n_components,
        features=problem.directions.n_features,
    )


def given_start(init: Any) -> Any:
    """Give what stands for a start: for a path or a study, the mixture that it chose."""
    init = getattr(init, "best_estimator_", init)
    if hasattr(init, "get_params") and not hasattr(init, "prototypes_"):
        raise ParameterError(
            "{init} is a model without prototypes_: it is not fitted, or not one of spheremix. "
            "clone and GridSearchCV forget fits: wrap a fitted model in "
            "sklearn.frozen.FrozenEstimator. For scikit-learn's KMeans, give its cluster_centers_"
        )
    return init


def unit_prototypes(array: NDArray[Any], problem: Problem[Any]) -> Array:
    """Give the prototypes of a start at length one, or an error that says which are asked for."""
    shape, n = (problem.n_components, problem.directions.n_features), problem.directions.n_rows
    if array.shape != shape:
        raise ParameterError(
            "{init} must be the name of a start, a fitted model, labels of shape ({n},) or "
            "prototypes of shape {shape}; got an array of shape {got}",
            n=n,
            shape=shape,
            got=array.shape,
        )
    prototypes: Array = array.astype(np.float64)
    lengths = np.linalg.norm(prototypes, axis=1)
    bad = np.flatnonzero(~((lengths > 0.0) & (lengths < np.inf)))
    if bad.size:
        raise ParameterError("{init}: prototype {i} is zero or not finite", i=bad[0])
    prototypes /= lengths[:, None]
    return prototypes


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
    if labels.min() < 0 or labels.max() >= K:
        raise ParameterError("{init} given as labels must be in 0..{last}", last=K - 1)
    try:
        return seeding.from_labels(
            problem.model, problem.directions, labels.astype(np.intp), K, problem.weights
        )
    except DegenerateError as error:
        raise ParameterError(
            "{init}: class {k} of the labels has {status}", k=error.component, status=error.status
        ) from None


def known_seeds(seeds: list[int | None], random_state: Any) -> list[int]:
    """Give a seed for the drawn assignments of each start, given starts included."""
    own = check.draw_seeds(random_state, 1)[0] if None in seeds else 0
    return [own if seed is None else seed for seed in seeds]

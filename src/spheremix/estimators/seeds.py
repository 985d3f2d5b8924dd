"""Groups that are asked for: words and labels of some rows as a conjugate prior of components.

The rows that have words of a group, and those with its label, stand for it. Their mean, counted as
so many rows, is added to the resultants of the component in each M-step.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.errors import NotedWarning, ParameterError
from spheremix.models.vmf import Seeds
from spheremix.scorer import Scorer
from spheremix.seeding import class_resultants

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.estimators.options import MixtureOptions
    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel

    Array = NDArray[np.float64]
    Labels = NDArray[np.intp]

GivenSeeds = Mapping[str, Sequence[str | int]] | Sequence[Sequence[str | int]]
NO_WORD = 1e-9  # a cosine below which a row has none of the words
MOST_NAMED = 20  # words in one message


def with_seeds(
    options: MixtureOptions, problem: Problem[VMFModel], labels: Any = None
) -> Problem[VMFModel]:
    """Return the problem with what is known of some components, where something is."""
    parts = []
    if options.seeds is not None:
        parts.append(_rows_with_words(options.seeds, problem, with_labels=labels is not None))
    if labels is not None:
        parts.append(_require_labels(labels, problem))
    means = [_means(problem, part) for part in parts]
    known = sum(part[0].astype(float) for part in means)
    if not np.any(known):
        return problem
    weight = options.seed_weight * float(problem.row_weights.sum()) / problem.n_components
    vectors = sum(part[1] for part in means) / np.maximum(known, 1.0)[:, None]
    seeds = Seeds(np.where(known > 0.0, weight, 0.0), weight * vectors)
    return replace(problem, model=replace(problem.model, seeds=seeds))


def _rows_with_words(given: Any, problem: Problem[VMFModel], *, with_labels: bool) -> Labels:
    """Return for each row the group whose words it has most of, -1 where it has none.

    Beside labels, a group may be without words.
    """
    names, columns = _columns(given, problem, with_labels=with_labels)
    directions = problem.directions
    matrix = np.zeros((len(columns) + 1, directions.n_features))
    for row, own in zip(matrix, columns, strict=False):
        row[own] = max(len(own), 1) ** -0.5
    biases = np.zeros(len(matrix))
    biases[-1] = NO_WORD
    found = np.asarray(directions.map_rows(Scorer(matrix, biases, 0.0, "hard"), "labels"))
    labels = np.where(found == len(columns), -1, found).astype(np.intp)
    counts = np.bincount(labels[labels >= 0], problem.row_weights[labels >= 0], len(columns))
    lost = [i for i, own in enumerate(columns) if own and not counts[i]]
    if lost:
        raise ParameterError(
            "{seeds}: no row has more of the words of {name} than of those of other groups",
            remedies=("give it other words",),
            name=repr(names[lost[0]]),
        )
    return labels


def _columns(
    given: Any, problem: Problem[VMFModel], *, with_labels: bool
) -> tuple[list[Any], list[list[int]]]:
    """Return the name and the columns of each group; words that X does not have are named."""
    is_map = isinstance(given, Mapping)
    groups = list(given.values()) if is_map else given
    is_list = isinstance(groups, Sequence) and not isinstance(groups, str)
    if not (is_list and len(groups) and all(_is_seed(one, with_labels) for one in groups)):
        raise ParameterError(
            "{seeds} must be a list or a dictionary of groups, each a list of words or of numbers "
            "of columns; got {got}",
            got=repr(given)[:80],
        )
    names = list(given) if is_map else list(range(len(groups)))
    if len(groups) > problem.n_components:
        raise ParameterError(
            f"{{seeds}} has {{n}} groups, and {{n_components={problem.n_components}}}",
            remedies=(f"raise {{n_components}} to {len(groups)} or more",),
            n=len(groups),
        )
    words = [str(word) for word in problem.columns.get("feature_names_in_", ())]
    if not words and any(isinstance(one, str) for group in groups for one in group):
        raise ParameterError(
            "{seeds} has words, and the columns of X have no names",
            remedies=("give numbers of columns", "give X as a data frame"),
        )
    places: dict[Any, int] = {word: j for j, word in enumerate(words)}
    places |= {j: j for j in range(problem.n_features)}
    columns = [[places[one] for one in group if one in places] for group in groups]
    missing = [one for group in groups for one in group if one not in places]
    each = zip(names, groups, columns, strict=True)
    _tell_missing(missing, [repr(n) for n, asked, own in each if len(asked) and not own])
    return names, columns


def _is_seed(group: Any, with_labels: bool) -> bool:
    return (
        isinstance(group, Sequence | np.ndarray)
        and not isinstance(group, str)
        and (with_labels or len(group) > 0)
        and all(isinstance(one, str | int | np.integer) for one in group)
    )


def _tell_missing(missing: Sequence[Any], empty: Sequence[str]) -> None:
    """Name the words that X does not have: a warning, or an error where a group has no other."""
    if not missing:
        return
    listed = ", ".join(repr(one) for one in missing[:MOST_NAMED])
    more = len(missing) - MOST_NAMED
    values: dict[str, Any] = {
        "n": len(missing),
        "what": "word that is no column" if len(missing) == 1 else "words that are no columns",
        "listed": listed + (f" and {more} others" if more > 0 else ""),
    }
    text = "{seeds} has {n} {what} of X: {listed}"
    if empty:
        raise ParameterError(
            text + "; nothing is left of the group {empty}",
            remedies=("give other words",),
            empty=empty[0],
            **values,
        )
    warnings.warn(NotedWarning(text + ", which is left out", **values), stacklevel=6)


def _require_labels(labels: Any, problem: Problem[VMFModel]) -> Labels:
    """Return labels of the rows, -1 where none is known."""
    found, n, K = np.asarray(labels), problem.directions.n_rows, problem.n_components
    if found.shape != (n,) or found.dtype.kind not in "iu":
        raise ParameterError(
            "{labels} must be integers, one for each of the {n} rows, -1 where none is known; got "
            "shape {shape} of {dtype}",
            n=n,
            shape=found.shape,
            dtype=found.dtype,
        )
    if found.min() < -1 or found.max() >= K:
        raise ParameterError(
            "{labels} must be in -1..{last}, got {got}",
            remedies=("raise {n_components}",),
            last=K - 1,
            got=int(found.min() if found.min() < -1 else found.max()),
        )
    return found.astype(np.intp)


def _means(problem: Problem[VMFModel], labels: Labels) -> tuple[NDArray[np.bool_], Array]:
    """Return which components have rows, and the mean of these rows, of the length of all alike.

    The mean of few rows is longer than that of all rows like them. The mean cosine of two different
    rows, rho^2, does not depend on how many there are: the mean is brought to the length rho. It is
    not brought below that of all rows of X, which is also the length for a single row where no
    component has more.
    """
    directions, weights, K = problem.directions, problem.row_weights, problem.n_components
    sums = class_resultants(directions, labels, K, problem.weights)
    (everything,) = directions.sweep(
        [Scorer(np.zeros((1, directions.n_features)), np.zeros(1))], problem.weights
    )
    there = sums.mass > 0.0
    mass = np.where(there, sums.mass, 1.0)
    inside = labels >= 0
    alone = np.bincount(labels[inside], weights[inside] ** 2, K) / mass**2
    means = np.asarray(sums.vectors) / mass[:, None]
    common = np.asarray(everything.vectors) / everything.weight
    for columns in problem.model.columns:
        own = means[:, columns]
        least = float((common[:, columns] ** 2).sum())
        squares = (own**2).sum(axis=1)
        several = there & (alone < 1.0 - 1e-9)
        pairs = np.divide(squares - alone, 1.0 - alone, out=np.zeros(K), where=several)
        pairs[there & ~several] = pairs[several].mean() if several.any() else least
        target = np.sqrt(np.minimum(np.maximum(pairs, least), squares))
        means[:, columns] = (
            own * np.divide(target, np.sqrt(squares), out=np.zeros(K), where=squares > 0.0)[:, None]
        )
    return there, means

"""What every model must do: its gain is what it says, and the objective rises by that at least."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from spheremix import seeding
from spheremix.models.base import DegenerateError
from spheremix.resultants import merged_resultants
from spheremix.testing.suite import ASSIGNMENTS, assert_raises, by_reference

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from spheremix.models.base import Model
    from spheremix.resultants import Resultants
    from spheremix.scorer import Assignment, Scorer

    Array = NDArray[np.float64]

P = TypeVar("P")

M_STEPS = 25
ROUNDING = 1e-12  # of the terms whose sum is the objective


def check_model(
    model: Model[P],
    n_components: int = 3,
    n_features: int = 8,
    *,
    exact: bool = True,
    seed: int = 0,
) -> None:
    """Make M-steps of a model on drawn rows, and compute again, row by row, what they gain.

    With soft and hard assignments, with and without weights, from drawn starts: the gain of each
    M-step is the rise of the expected completed objective, which the scores of all rows before and
    after give. It is never negative, nor always zero, and the objective rises by as much or more.
    Two M-steps on the same resultants are the same, and none does worse than a start on them. A
    component without rows is a DegenerateError.

    Parameters
    ----------
    model : Model
        The four methods of ``spheremix.models.base``.
    n_components, n_features : int
        Of the drawn rows, where the model has its own.
    exact : bool
        False for an M-step that climbs without reaching the maximum, as the block mixture's: it
        may do worse than a start.
    seed : int
        Of the rows and of the starts.

    Raises
    ------
    AssertionError
        Where the model does something else.

    Examples
    --------
    >>> from spheremix.models.skmeans import SphericalKMeansModel
    >>> from spheremix.testing import check_model
    >>> check_model(SphericalKMeansModel())
    """
    rng = np.random.default_rng(seed)
    rows = _clouds(rng, 60 * n_components, n_components, n_features)
    kept = rng.random(len(rows)) < 0.9
    gained = 0.0
    for weights in (np.ones(len(rows)), kept * rng.exponential(size=len(rows))):
        starts = seeding.draw_starts(
            model, by_reference(rows), n_components, [seed, seed + 1], weights=weights
        )
        for start in starts:
            assert start is not None, "start has no answer for ten draws of rows."
            _check_empty(model, rows, weights, start, n_components)
            for assignment in ASSIGNMENTS[:2]:
                gained += _check_steps(
                    model, rows, weights, start, assignment, n_components, exact=exact
                )
    assert gained, "no M-step has an answer that gains anything."


def _clouds(rng: Generator, n: int, n_clouds: int, d: int) -> Array:
    """Return unit rows in clouds with columns of their own, which overlap: EM takes its time."""
    clouds = np.arange(n) % n_clouds
    own = clouds[:, None] == np.arange(d) % n_clouds
    rows = own + 0.5 * rng.random((n_clouds, d))[clouds] + 0.6 * rng.normal(size=(n, d))
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def _check_steps(
    model: Model[P],
    rows: Array,
    weights: Array,
    start: P,
    assignment: Assignment,
    n_components: int,
    *,
    exact: bool,
) -> float:
    """Follow EM from a start to a fixed point, or to where it has no answer; sum its gains."""
    directions, parameters = by_reference(rows), start
    scorer = _scorer(model, parameters, assignment)
    (swept,) = directions.sweep([scorer], weights)
    gained = 0.0
    for i in range(M_STEPS):
        try:
            step, again = (model.m_step(swept, parameters) for _ in range(2))
        except DegenerateError:
            break
        moved = _scorer(model, step.parameters, assignment)
        _assert_same_scores(_scorer(model, again.parameters, assignment), moved)
        _assert_same_scores(_scorer(model, parameters, assignment), scorer)
        assert again.gain == step.gain, "two M-steps on the same resultants differ."

        assigned = _assigned(scorer, rows, weights)
        old_value, old_terms = _completed(scorer, rows, assigned, model.penalty(parameters))
        value, terms = _completed(moved, rows, assigned, model.penalty(step.parameters))
        slack = ROUNDING * max(terms, old_terms, 1.0)
        untrue = "the gain is not the rise of the expected completed objective, row by row"
        assert_allclose(step.gain, value - old_value, 0, slack, err_msg=untrue)
        assert step.gain >= -slack, f"M-step {i} loses {-step.gain}."
        if exact:
            together = _of_components(swept, n_components)
            other = model.start(together, _directions_of(together))
            begun = _scorer(model, other, assignment)
            rival, _ = _completed(begun, rows, assigned, model.penalty(other))
            assert rival <= value + slack, f"M-step {i} is below a start at the same resultants."

        (after,) = directions.sweep([moved], weights)
        rise = after.log_likelihood - model.penalty(step.parameters)
        rise -= swept.log_likelihood - model.penalty(parameters)
        assert rise >= step.gain - slack, f"M-step {i} gains {step.gain}, the objective {rise}."
        if step.gain <= slack:
            break
        gained += step.gain
        parameters, scorer, swept = step.parameters, moved, after
    return gained


def _check_empty(model: Model[P], rows: Array, weights: Array, start: P, n_components: int) -> None:
    """Take all rows from a component: it has no parameters then."""
    (swept,) = by_reference(rows).sweep([model.scorer(start)], weights)
    own = _component_of(swept, n_components) == 0
    mass, vectors = swept.mass.copy(), swept.vectors.copy()
    mass[own], vectors[own] = 0.0, 0.0
    empty = replace(swept, mass=mass, vectors=vectors)
    assert_raises(DegenerateError, model.m_step, empty, start)
    empty = _of_components(empty, n_components)
    assert_raises(DegenerateError, model.start, empty, _directions_of(empty))


def _scorer(model: Model[P], parameters: P, assignment: Assignment) -> Scorer:
    """Return the scores of parameters, in the form that engines need, and a copy."""
    scorer = model.scorer(parameters, assignment, (3, 5))
    assert (scorer.assignment, scorer.key) == (assignment, (3, 5)), "the scorer is for another one."
    matrix, biases = scorer.matrix, scorer.biases
    assert matrix.dtype == biases.dtype == np.float64
    assert matrix.flags.c_contiguous
    assert matrix.ndim == 2
    assert biases.shape == (len(matrix),)
    assert np.isfinite(matrix).all()
    assert np.isfinite(biases).all()
    return replace(scorer, matrix=matrix.copy(), biases=biases.copy())


def _assert_same_scores(actual: Scorer, expected: Scorer) -> None:
    changed = "an M-step changes what it was given, or depends on more than that."
    assert_array_equal(actual.matrix, expected.matrix, err_msg=changed)
    assert_array_equal(actual.biases, expected.biases, err_msg=changed)
    assert actual.offset == expected.offset, changed


def _assigned(scorer: Scorer, rows: Array, weights: Array) -> Array:
    """Return how much of each row belongs to each component, from the scores alone."""
    scores = rows @ scorer.matrix.T + scorer.biases
    if scorer.assignment == "hard":
        shares = np.eye(scorer.n_components)[scores.argmax(axis=1)]
    else:
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
    return np.asarray(weights[:, None] * shares)


def _completed(scorer: Scorer, rows: Array, assigned: Array, penalty: float) -> tuple[float, float]:
    """Return expected completed objective of scores, and the size of the terms it is a sum of."""
    scores = rows @ scorer.matrix.T + (scorer.biases + scorer.offset)
    lengths = np.linalg.norm(scorer.matrix, axis=1) + np.abs(scorer.biases) + abs(scorer.offset)
    terms = float(assigned.sum(axis=0) @ lengths) + abs(penalty)
    return float((assigned * scores).sum()) - penalty, terms


def _component_of(resultants: Resultants, n_components: int) -> NDArray[np.intp]:
    """Return the component that each score belongs to: those of one are next to each other.

    A last one more than these is that of noise.
    """
    each, others = divmod(len(resultants.mass), n_components)
    assert others == 0 or (each, others) == (1, 1), "components have different numbers of scores."
    return np.arange(len(resultants.mass)) // each


def _of_components(resultants: Resultants, n_components: int) -> Resultants:
    """Return the resultants of components, where each may have several scores."""
    return merged_resultants(resultants, _component_of(resultants, n_components))


def _directions_of(resultants: Resultants) -> Array:
    """Return the directions of the resultant vectors, zero where there is none."""
    lengths = np.linalg.norm(resultants.vectors, axis=1, keepdims=True)
    return np.asarray(resultants.vectors / np.where(lengths > 0.0, lengths, 1.0))

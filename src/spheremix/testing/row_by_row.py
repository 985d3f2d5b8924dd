"""What is given row by row."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from spheremix.testing.suite import (
    assert_raises,
    by_reference,
    draw_rows,
    draw_scorer,
    engine_check,
    map_rows,
    tolerance_of,
)

if TYPE_CHECKING:
    from numpy.random import Generator

    from spheremix.testing.suite import Contain, Make


@engine_check
def check_map_rows(make: Make, contain: Contain, rng: Generator) -> None:
    """Row by row, the scorer says what its sweep adds up."""
    X = contain(draw_rows(rng, 160, 14))
    tested, reference = make(X), by_reference(X)
    for scorer in (
        draw_scorer(rng, 1, 14),
        draw_scorer(rng, 11, 14),
        draw_scorer(rng, 4, 14, "hard"),
    ):
        tolerance, K = tolerance_of(X, scorer), scorer.n_components
        labels, posteriors = (
            map_rows(tested, scorer, "labels"),
            map_rows(tested, scorer, "posteriors"),
        )
        scores, density = (
            map_rows(tested, scorer, "scores"),
            map_rows(tested, scorer, "log_density"),
        )
        assert labels.shape == density.shape == (160,)
        assert posteriors.shape == scores.shape == (160, K)
        assert np.issubdtype(labels.dtype, np.integer)
        assert_array_equal(labels, map_rows(reference, scorer, "labels"))
        assert_allclose(posteriors.sum(axis=1), 1.0, 0, tolerance)
        assert_allclose(posteriors, map_rows(reference, scorer, "posteriors"), 0, tolerance)
        assert_allclose(scores, map_rows(reference, scorer, "scores"), 0, 30 * tolerance)
        assert_allclose(density, map_rows(reference, scorer, "log_density"), 0, 30 * tolerance)
        chosen = scorer.assignment in {"hard", "variation"}
        likelihood = scores[np.arange(160), labels] if chosen else density
        [swept] = tested.sweep([scorer])
        assert_allclose(likelihood.sum(), swept.log_likelihood, 0, 30 * tolerance * 160)
    assert_raises(ValueError, map_rows, tested, scorer, "colours")


@engine_check
def check_draws(make: Make, contain: Contain, rng: Generator) -> None:
    """Draws are those of the reference: functions of seed, sweep and row, and of nothing else."""
    rows = draw_rows(rng, 400, 5)
    X = contain(rows)
    scorer = draw_scorer(rng, 6, 5, "drawn", 3.0)
    labels = make(X, first_row=7).map_rows(scorer, "labels")
    assert_array_equal(labels, by_reference(X, first_row=7).map_rows(scorer, "labels"))
    later = make(contain(rows[150:]), first_row=157)
    assert_array_equal(later.map_rows(scorer, "labels"), labels[150:])
    [swept] = make(X, first_row=7).sweep([scorer])
    assert_array_equal(swept.mass, np.bincount(labels, minlength=6))
    for key in ((scorer.key[0] + 1, scorer.key[1]), (scorer.key[0], scorer.key[1] + 1)):
        other = make(X, first_row=7).map_rows(replace(scorer, key=key), "labels")
        assert (other != labels).any()


@engine_check
def check_take(make: Make, contain: Contain, rng: Generator) -> None:
    """Rows come dense, in float64, of norm one and in the order asked for, or by a mask."""
    rows = draw_rows(rng, 30, 7)
    X = contain(rows)
    tested = make(X)
    ids = [3, 29, 0, 3, -1]
    found = tested.take(ids)
    assert found.dtype == np.float64
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert_allclose(found, unit[ids], 0, 1e-6 if X.dtype == np.float32 else 1e-15)
    assert_allclose(np.linalg.norm(found, axis=1), 1.0, 0, 1e-12)
    mask = rng.random(30) < 0.4
    assert_array_equal(tested.take(mask), tested.take(np.flatnonzero(mask)))
    assert_array_equal(tested.take(3), found[:1])
    assert_array_equal(tested.take(np.array([29, 0], dtype=np.uint8)), found[1:3])
    assert tested.take([]).shape == (0, 7)
    assert (tested.n_rows, tested.n_features) == (30, 7)
    for nonsense in ([30], [-31], [0.5], [True, False], mask[1:], [[0, 1], [2, 3]], ["first"]):
        assert_raises(IndexError, tested.take, nonsense)

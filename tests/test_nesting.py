"""Nested levels: cells of two partitions, merging within clusters, one EM for all levels."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tree_common import resultants_of, themes

from spheremix import em
from spheremix.bessel import concentration
from spheremix.data.open import as_directions
from spheremix.models.base import DegenerateError
from spheremix.models.vmf import VMFModel
from spheremix.nesting import NestedModel, nest

D = 20


def model(kappa="shared"):
    return VMFModel(D, kappa, kappa_max=float(concentration(D, 1 - 1e-6)))


def parameters(rows, labels, weights, kappa="shared"):
    return model(kappa).from_partition(resultants_of(rows, labels, weights))


def labels_of(nested, directions):
    fine = directions.map_rows(nested.model.scorer(nested.fit.parameters), "labels")
    return [up[fine] for up in nested.model.above]


def test_levels_that_disagree_are_nested_all_the_same():
    """Free partitions that cross each other give cells; as many as asked for are left."""
    rows, _, topics = themes(noise=0.3)
    directions, weights = as_directions(rows), np.ones(len(rows))
    crossing = (np.arange(len(rows)) * 7919 % 4).astype(int)
    free = [parameters(rows, one, weights) for one in (crossing, topics // 2, topics)]
    nested = nest(model(), directions, free, em.Settings())
    each = labels_of(nested, directions)
    for coarse, fine, parents in zip(each, each[1:], nested.model.parents, strict=False):
        assert_array_equal(parents[fine], coarse)
    assert [len(one.kappas) for one in nested.fit.parameters] == [4, 5, 9]


def test_weights_are_repetition():
    rows, chosen, topics = themes(noise=0.3)
    times = np.random.default_rng(0).integers(1, 4, size=len(rows)).astype(float)
    free = [parameters(rows, one, times, "free") for one in (chosen, topics)]
    again = as_directions(np.repeat(rows, times.astype(int), axis=0))
    weighted = nest(model("free"), as_directions(rows), free, em.Settings(tol=1e-11), times)
    repeated = nest(model("free"), again, free, em.Settings(tol=1e-11))
    assert_allclose(weighted.fit.objective, repeated.fit.objective, rtol=1e-9)
    for one, other in zip(weighted.fit.parameters, repeated.fit.parameters, strict=True):
        assert_allclose(one.prototypes, other.prototypes, atol=1e-6)
        assert_allclose(one.kappas, other.kappas, rtol=1e-5)


def test_a_level_without_enough_clusters_is_refused():
    """Two fine components at the same place have the rows of one."""
    rows, chosen, _ = themes()
    one = parameters(rows, chosen, np.ones(len(rows)))
    twice = model().parameters(
        np.repeat(one.prototypes, 2, axis=0),
        np.repeat(one.kappas, 2),
        np.repeat(one.weights, 2) / 2,
    )
    with pytest.raises(DegenerateError):
        nest(model(), as_directions(rows), [one, twice], em.Settings())


def test_one_pair_of_levels_by_brute_force():
    """The score of a branch is the sum of the scores of its clusters on all levels."""
    rows, chosen, topics = themes(n=10)
    weights = np.ones(len(rows))
    free = [parameters(rows, one, weights, "free") for one in (chosen, topics)]
    nested = nest(model("free"), as_directions(rows), free, em.Settings(max_iter=3))
    coarse, fine = nested.fit.parameters
    scores = [
        as_directions(rows).map_rows(model("free").scorer(one), "scores") for one in (coarse, fine)
    ]
    up = nested.model.above[0]
    together = as_directions(rows).map_rows(nested.model.scorer(nested.fit.parameters), "scores")
    assert_allclose(together, scores[0][:, up] + scores[1], rtol=1e-9)


def test_parents():
    above = (np.array([0, 0, 1, 1]), np.array([0, 0, 1, 2]), np.arange(4))
    first, second = NestedModel(VMFModel(5, "shared"), above).parents
    assert_array_equal(first, [0, 1, 1])
    assert_array_equal(second, [0, 0, 1, 2])

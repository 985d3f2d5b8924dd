"""Nested levels of a tree: every row's fine cluster lies in its coarse one, exactly."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score
from tree_common import themes

import spheremix as sm


def assert_nested(levels, labels=None):
    each = levels.labels if labels is None else labels
    for coarse, fine, parents in zip(each, each[1:], levels.parents, strict=False):
        assert_array_equal(parents[fine], coarse)


@pytest.mark.parametrize("kappa", ["shared", "free", 60.0])
def test_planted_levels(kappa):
    rows, chosen, topics = themes()
    # With a concentration of their own, more leaves than topics would be single rows.
    tree = sm.VMFTree(9 if kappa == "free" else 14, kappa=kappa, random_state=0).fit(rows)
    levels = tree.cut(levels=[9, 3])  # in any order
    assert levels.numbers == (3, 9)
    assert_nested(levels)
    assert adjusted_rand_score(levels.labels[0], chosen) == 1.0
    assert adjusted_rand_score(levels.labels[1], topics) == 1.0
    assert np.all(np.diff(levels.parents[0]) >= 0)  # siblings are neighbours


@pytest.mark.parametrize("seed", range(4))
def test_noisy_levels_are_nested_exactly(seed):
    """Free cuts of these rows are not nested; the levels are, for other rows too."""
    rows, _, _ = themes(noise=0.6, seed=seed)
    tree = sm.VMFTree(14, random_state=0).fit(rows)
    levels = tree.cut(levels=[2, 5, 11])
    free = [tree.cut(K).labels_ for K in (2, 5, 11)]
    crossing = [len(sm.reading.flows(*pair)) for pair in itertools.pairwise(free)]
    assert crossing != [5, 11]
    assert_nested(levels)
    assert [len(sm.reading.flows(*levels.labels[i : i + 2])) for i in (0, 1)] == [5, 11]
    unseen, _, _ = themes(noise=0.6, seed=seed + 10)
    assert_nested(levels, levels.predict(unseen))
    for mine, theirs in zip(levels.predict(rows), levels.labels, strict=True):
        assert_array_equal(mine, theirs)


def test_levels_are_fitted_mixtures():
    rows, _, _ = themes(noise=0.3)
    weights = np.random.default_rng(0).exponential(size=len(rows))
    tree = sm.VMFTree(12, random_state=0).fit(rows, sample_weight=weights)
    levels = tree.cut(levels=[3, 8])
    for K in (3, 8):
        mixture = levels[K]
        assert mixture.n_components == K
        assert mixture.status_ == "converged"
        assert 0.0 <= mixture.stationarity_gap_ <= 1e-7
        assert_allclose(mixture.log_likelihood_, weights @ mixture.score_samples(rows), rtol=1e-9)
        # The price of nesting is never a gain: the free cut went on from there.
        free = sm.VMFMixture(K, init=mixture).fit(rows, sample_weight=weights)
        assert free.log_likelihood_ >= mixture.log_likelihood_ - 1e-6
    assert tree.cut(levels=(8, 3)) is levels
    with pytest.raises(KeyError, match=r"\(3, 8\) clusters, and none has 4"):
        levels[4]

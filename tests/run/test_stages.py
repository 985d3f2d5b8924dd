"""How the stages of an exploration fit."""

from __future__ import annotations

import numpy as np
import pytest

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.run.options import ExploreOptions


def test_a_dense_mixture_is_that_of_the_estimator_to_the_last_bit(tmp_path):
    texts = ["red apple", "apple pie", "green apple", "blue sky", "sky and sea", "blue sea"]
    options = {"k": "2,3", "criterion": "none", "starts": 3, "min_count": 1, "min_df": 1}
    run = sm.explore_corpus(texts, tmp_path / "run", seed=4, **options)
    for K, mixture in run.dense.items():
        alone = sm.VMFMixture(K, n_init=3, random_state=4).fit(run.matrix())
        np.testing.assert_array_equal(alone.prototypes_, mixture.prototypes_)
        np.testing.assert_array_equal(alone.agreement_, mixture.agreement_)
        assert alone.criteria_ == mixture.criteria_
    assert run.start_agreement == {K: m.agreement_ for K, m in run.dense.items()}


TEXTS = ["red apple pie", "apple pie", "green apple", "blue sky", "sky and sea", "blue sea sky"] * 3


@pytest.mark.parametrize("options", [{}, {"relaxed": False}])
def test_an_exploration_is_relaxed_unless_told_otherwise(tmp_path, options):
    words = {"k": 2, "min_count": 1, "min_df": 1}
    run = sm.explore_corpus(TEXTS, tmp_path / "run", **words, **options)
    relaxed = not options
    assert run.path.relaxed is relaxed
    assert run.info.command["relaxed"] is relaxed
    expected = sm.VMFPath(
        2, init=run.dense[2], min_relative_increase=0.01, random_state=0, relaxed=relaxed
    ).fit(run.matrix())
    for i in range(len(expected.betas_)):
        np.testing.assert_array_equal(run.path.model(i).prototypes_, expected.model(i).prototypes_)
    np.testing.assert_array_equal(run.mixture.prototypes_, expected.best_estimator_.prototypes_)


def test_the_option_is_a_flag():
    assert ExploreOptions().relaxed is True
    with pytest.raises(ParameterError, match="relaxed must be True or False, got 'no'"):
        ExploreOptions(relaxed="no")

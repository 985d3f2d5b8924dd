"""How the stages of an exploration fit."""

from __future__ import annotations

import numpy as np

import spheremix as sm


def test_a_dense_mixture_is_that_of_the_estimator_to_the_last_bit(tmp_path):
    texts = ["red apple", "apple pie", "green apple", "blue sky", "sky and sea", "blue sea"]
    options = {"k": "2,3", "criterion": "none", "starts": 3, "min_count": 1, "min_df": 1}
    run = sm.explore_corpus(texts, tmp_path / "run", seed=4, **options)
    for K, mixture in run.dense.items():
        alone = sm.VMFMixture(K, n_init=3, random_state=4).fit(run.matrix())
        np.testing.assert_array_equal(alone.prototypes_, mixture.prototypes_)
        np.testing.assert_array_equal(alone.agreement_, mixture.agreement_)
        assert alone.criteria_ == mixture.criteria_
    assert run.info.start_agreement == {K: m.agreement_ for K, m in run.dense.items()}

"""What the stages of an exploration tell of their progress, and how they fit."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import spheremix as sm
from spheremix.run.options import ExploreOptions
from spheremix.run.stages import _advance


def reached(betas, kappas, resultants):
    """Make the state of a path that has come this far."""
    fit = SimpleNamespace(
        parameters=SimpleNamespace(kappas=np.array(kappas)),
        resultants=SimpleNamespace(vectors=np.array(resultants)),
    )
    steps = [SimpleNamespace(beta=beta) for beta in betas]
    return SimpleNamespace(steps=steps, fit=fit, model=SimpleNamespace(clusters=lambda sums: sums))


@pytest.mark.parametrize(
    ("betas", "increase", "share"),
    [
        ([0.0], 0.01, 0.1),  # by the number of steps
        ([0.0, 1.0, 2.0], 0.0, 0.5),  # log 2 of log 4
        ([0.0, 4.0], 0.0, 0.2),  # the first event is the last one
        ([0.0, 4.0, 4.0], 0.0, 0.3),
        ([0.0, 2.0, 4.0], 0.0, 1.0),
    ],
)
def test_the_share_of_a_path_that_is_behind(betas, increase, share):
    """The prototype keeps its last coordinate, so that the event at 2 * 2 = 4 is the end."""
    options = ExploreOptions(min_relative_increase=increase, max_steps=10)
    state = reached(betas, [2.0], [[1.0, -2.0, 3.0]])
    assert _advance(state, options) == pytest.approx(share)


def test_a_dense_mixture_is_that_of_the_estimator_to_the_last_bit(tmp_path):
    texts = ["red apple", "apple pie", "green apple", "blue sky", "sky and sea", "blue sea"]
    options = {"k": "2,3", "criterion": "none", "starts": 3, "min_count": 1, "min_df": 1}
    run = sm.explore_corpus(texts, tmp_path / "run", seed=4, **options)
    for K, mixture in run.dense.items():
        alone = sm.VMFMixture(K, n_init=3, random_state=4).fit(run.matrix())
        np.testing.assert_array_equal(alone.prototypes_, mixture.prototypes_)
        np.testing.assert_array_equal(alone.agreement_, mixture.agreement_)
        assert alone.criteria_ == mixture.criteria_
    assert run.manifest.start_agreement == {K: m.agreement_ for K, m in run.dense.items()}

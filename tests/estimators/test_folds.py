"""The likelihood of rows that were left out, against fits without these rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.estimators.advice import held_out_likelihoods
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.problem import build_problem
from spheremix.models.base import DegenerateError
from spheremix.models.vmf import VMFModel
from spheremix.search import Search


def problem_of(X, weights=None, **parameters):
    mixture = sm.VMFMixture(1, **{"n_threads": 1, **parameters})
    return build_problem(MixtureOptions.of(mixture), X, weights)


@pytest.mark.parametrize("kappa", ["shared", "free"])
def test_every_row_is_scored_by_a_fit_without_it(kappa):
    X, _, _ = sm.datasets.make_vmf_mixture(150, 6, 3, overlap=0.001, random_state=0)
    weights = 1.0 + np.arange(150) % 2
    found = held_out_likelihoods(problem_of(X, weights, kappa=kappa), [1, 3], 3, 7)
    folds = np.random.default_rng(7).permutation(np.arange(150) % 3)
    for size, mean in zip((1, 3), found, strict=True):
        total = 0.0
        for fold in range(3):
            out = folds == fold
            mixture = sm.VMFMixture(size, kappa=kappa, random_state=0, n_threads=1)
            mixture.fit(X[~out], sample_weight=weights[~out])
            total += weights[out] @ mixture.score_samples(X[out])
        assert_allclose(mean, total / weights.sum(), rtol=1e-5)
    assert found[1] > found[0]


def test_a_fold_without_a_mixture_is_not_a_number():
    X = np.repeat(np.eye(2), 4, axis=0)
    assert np.isnan(held_out_likelihoods(problem_of(X), [3], 2, 0)).all()


def test_a_fold_whose_rows_cancel_out_is_not_a_number(monkeypatch):
    X, _, _ = sm.datasets.make_vmf_mixture(60, 6, 2, overlap=0.001, random_state=0)
    searched, started, over = Search.replicates, VMFModel.from_partition, []

    def replicates(self, sizes, seeds):
        found = searched(self, sizes, seeds)
        over.append(True)
        return found

    def vanished(self, resultants):
        if over and len(resultants.mass) == 2:
            raise DegenerateError("vanished", 0)
        return started(self, resultants)

    monkeypatch.setattr(Search, "replicates", replicates)
    monkeypatch.setattr(VMFModel, "from_partition", vanished)
    problem = problem_of(X)
    one, two = held_out_likelihoods(problem, [1, 2], 3, 0)
    assert np.isfinite(one)
    assert np.isnan(two)


def test_the_advice_has_it_when_asked():
    X, _, _ = sm.datasets.make_vmf_mixture(150, 6, 3, overlap=0.01, random_state=0)
    options = {"paths": "none", "n_init": 1, "random_state": 0, "n_threads": 1}
    study = sm.VMFMixtureIC((2, 3), n_folds=3, **options).fit(X)
    table = study.advice_.table()
    assert table["held_out"][1] > table["held_out"][0]
    with pytest.raises(ParameterError, match="n_folds must be 0, or 2 and more"):
        sm.VMFMixtureIC((2, 3), n_folds=1, **options).fit(X)
    with pytest.raises(ParameterError, match="n_folds is part of the advice"):
        sm.VMFMixtureIC((2, 3), n_folds=3, **{**options, "k_criterion": "bic"}).fit(X)

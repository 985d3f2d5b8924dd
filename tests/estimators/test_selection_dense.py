"""A study that follows no path: the number of components alone, and how far starts agree."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import adjusted_rand_score

import spheremix as sm


@pytest.fixture(scope="module")
def study(rows):
    return sm.VMFMixtureIC(
        [3, 4, 5], k_criterion="ebic", paths="none", n_init=3, random_state=0
    ).fit(rows)


def test_it_chooses_a_dense_mixture(rows, study):
    alone = sm.VMFMixture(study.best_n_components_, n_init=3, random_state=0).fit(rows)
    assert study.best_estimator_ is study.dense_models_[study.best_n_components_]
    assert_array_equal(study.best_estimator_.prototypes_, alone.prototypes_)
    assert_array_equal(study.predict(rows), alone.labels_)
    assert study.paths_ == {}
    assert not hasattr(study, "best_path_")
    assert study.total_weight_ == len(rows)


def test_a_path_of_before_is_not_kept(rows):
    study = sm.VMFMixtureIC([2], n_init=1, max_steps=3, random_state=0).fit(rows)
    assert study.best_path_ is study.paths_[2]
    assert not hasattr(study.set_params(paths="none").fit(rows), "best_path_")


def test_it_is_read_drawn_reported_and_saved(rows, study, tmp_path):
    reading = sm.reading.Reading(study)
    assert reading.path is None
    assert len(reading.groups()) == study.best_n_components_
    assert sm.CriteriaDisplay.from_estimator(study).n_samples == len(rows)
    content = sm.Report(study, X=rows).content
    assert content["model"]["n_groups"] == study.best_n_components_
    run = sm.load_run(sm.save_run(tmp_path / "run", study))
    assert run.path is None
    assert_array_equal(run.mixture.prototypes_, study.best_estimator_.prototypes_)
    assert list(run.dense) == [3, 4, 5]


def test_refit_needs_zeros(rows):
    with pytest.raises(ValueError, match="refit=True is for the zeros of a path"):
        sm.VMFMixtureIC([2], paths="none", refit=True).fit(rows)


def test_weights_are_summed(rows):
    weights = np.arange(len(rows)) % 3
    study = sm.VMFMixtureIC([2], paths="none", n_init=1, random_state=0)
    assert study.fit(rows, sample_weight=weights).total_weight_ == weights.sum()


def test_agreement_is_that_of_the_restarts_one_by_one(rows, study):
    for K, found in zip(study.candidates_, study.agreement_, strict=True):
        seeds = study.table_["seed"][study.table_["n_components"] == K]
        assert sum(seed is not None for seed in seeds) == 3  # crossings have none
        model = study.dense_models_[K]
        alone = []
        for i in range(3):  # n_init=i + 1 makes the same first starts
            few = sm.VMFMixture(K, n_init=i + 1, random_state=0).fit(rows)
            alone.append((few.objective_, few.labels_))
        best = max(alone, key=lambda one: one[0])[1]
        assert adjusted_rand_score(best, model.labels_) == 1.0
        assert -1.0 <= found <= 1.0

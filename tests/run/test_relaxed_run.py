"""Relaxed paths as files: the same bits come back, go on, and are what a run shows."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from spheremix.run.saving import load_run, save_run
from spheremix.run.store import RunError

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.run.folder import RunFolder
from spheremix.run.options import ExploreOptions
from spheremix.run.stages import Checkpoints

ROWS, _, _ = sm.datasets.make_vmf_mixture(150, 12, 3, overlap=0.02, random_state=0)
OPTIONS = {"n_components": 3, "random_state": 0, "n_init": 2, "relaxed": True}


@pytest.fixture(scope="module")
def whole():
    return sm.VMFPath(**OPTIONS).fit(ROWS)


@pytest.fixture(scope="module")
def saved(whole, tmp_path_factory):
    return save_run(tmp_path_factory.mktemp("relaxed") / "run", whole)


def assert_same_refits(one, other):
    """The same bits, of the refits and of the steps."""
    for name in ("betas_", "log_likelihoods_", "n_iters_", "n_nonzero_", "kappas_", "labels_"):
        assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.statuses_ == other.statuses_
    for i in range(len(one.betas_)):
        for refit in (True, False):
            found, expected = one.model(i, refit=refit), other.model(i, refit=refit)
            assert_array_equal(found.prototypes_, expected.prototypes_)
            assert found.criteria_ == expected.criteria_


# Saved and loaded


def test_a_relaxed_path_comes_back_and_goes_on(whole, tmp_path):
    part = sm.VMFPath(max_steps=7, **OPTIONS).fit(ROWS)
    path = load_run(save_run(tmp_path / "run", part)).path
    assert path.relaxed
    assert_same_refits(path, part)
    path.set_params(warm_start=True, max_steps=None).fit(ROWS)
    assert_same_refits(path, whole)


def test_places_are_stored_once(saved):
    names = {path.name for path in (saved / "path" / "refits").iterdir()}
    assert "values.npy" in names
    assert "places.npy" not in names


def test_zeros_that_only_a_refit_has_come_back(whole, saved, tmp_path):
    """Of a coordinate that the refit lost, and one step whose refit failed."""
    steps, refits = whole.state_.steps, list(whole.state_.refits)
    for i, status, gap in ((2, "converged", 1e-9), (3, "collapsed", np.nan)):
        kept = np.arange(len(refits[i].places)) != 5
        values, places = refits[i].values[kept], refits[i].places[kept]
        refits[i] = replace(refits[i], values=values, places=places, status=status, gap=gap)
    changed = load_run(saved).path
    changed.state_ = replace(whole.state_, refits=refits)
    found = load_run(save_run(tmp_path / "run", changed)).path.state_.refits
    for one, other in zip(found, refits, strict=True):
        assert_array_equal(one.places, other.places)
        assert_array_equal(one.values, other.values)
        assert one.status == other.status
    assert len(found[2].places) == len(steps[2].places) - 1
    assert np.isnan(found[3].gap)


@pytest.mark.parametrize("change", ["refits", "last_refit", "relaxed", "n_steps"])
def test_refits_that_do_not_belong_are_refused(saved, tmp_path, change):
    copy = shutil.copytree(saved, tmp_path / "copy")
    manifest = json.loads((copy / "run.json").read_text())
    if change == "relaxed":
        manifest["path"]["params"]["relaxed"] = False
    elif change == "n_steps":
        manifest["path"]["refits"] = {**manifest["path"]["refits"], "n_features": 11}
    else:
        manifest["path"][change] = None
    (copy / "run.json").write_text(json.dumps(manifest))
    with pytest.raises(RunError, match="damaged: refits"):
        load_run(copy)


# Checkpoints

KEY = "0" * 64


def test_a_path_goes_on_from_its_checkpoints(whole, tmp_path):
    folder = RunFolder(tmp_path / "run")
    with folder.locked():
        folder.claim_new()
        marks = Checkpoints(folder, KEY)
        for n in (2, 5, 9):
            marks.store(sm.VMFPath(max_steps=n, **OPTIONS).fit(ROWS).state_)
        assert Checkpoints(folder, KEY).read(whole.state_.model, relaxed=True).relaxed
        names = {path.name for path in (tmp_path / "run" / "progress").glob("*fit-*.json")}
        assert names == {"fit-0.json", "fit-3.json", "refit-3.json"}
        path = sm.VMFPath(warm_start=True, **OPTIONS)
        path.state_ = Checkpoints(folder, KEY).read(whole.state_.model, relaxed=True)
        assert len(path.state_.steps) == len(path.state_.refits) == 9
        assert_same_refits(path.fit(ROWS), whole)
        folder.drop(["refits-1"])  # the power went before the disk was done
        assert Checkpoints(folder, KEY).read(whole.state_.model, relaxed=True) is None
        assert not folder.checkpoints("steps")
        assert not folder.checkpoints("refit")


# Explorations


TEXTS = ["red apple pie", "apple pie", "green apple", "blue sky", "sky and sea", "blue sea sky"] * 3


@pytest.mark.parametrize("options", [{}, {"relaxed": False}])
def test_an_exploration_is_relaxed_unless_told_otherwise(tmp_path, options):
    words = {"k": 2, "min_count": 1, "min_df": 1}
    run = sm.explore_corpus(TEXTS, tmp_path / "run", **words, **options)
    relaxed = not options
    assert run.path.relaxed is relaxed
    assert run.manifest.command["relaxed"] is relaxed
    expected = sm.VMFPath(
        2, init=run.dense[2], min_relative_increase=0.01, random_state=0, relaxed=relaxed
    ).fit(run.matrix())
    for i in range(len(expected.betas_)):
        assert_array_equal(run.path.model(i).prototypes_, expected.model(i).prototypes_)
    assert_array_equal(run.mixture.prototypes_, expected.best_estimator_.prototypes_)


def test_the_option_is_a_flag():
    assert ExploreOptions().relaxed is True
    with pytest.raises(ParameterError, match="relaxed must be True or False, got 'no'"):
        ExploreOptions(relaxed="no")

"""Trees saved as runs, and read again."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from spheremix.run.store import RunError
from tree_common import themes

import spheremix as sm
from spheremix.errors import ParameterError


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    rows, _, _ = themes(n=20)
    tree = sm.VMFTree(8, n_clusters=3, random_state=0, n_threads=1).fit(rows)
    tree.cut(5)
    return rows, tree, sm.save_run(tmp_path_factory.mktemp("trees") / "run", tree)


def test_a_tree_is_read_as_it_was(saved):
    rows, tree, folder = saved
    run = sm.load_run(folder)
    found = run.tree
    assert isinstance(found, sm.VMFTree)
    assert found.get_params()["n_components"] == 8
    assert_array_equal(found.linkage_, tree.linkage_)
    assert_array_equal(found.losses_, tree.losses_)
    assert_array_equal(found.sizes_, tree.sizes_)
    assert sorted(found.cuts_) == sorted(tree.cuts_) == sorted(run.dense)
    assert_array_equal(found.labels_, tree.labels_)
    assert_array_equal(found.predict_proba(rows), tree.predict_proba(rows))
    assert found.best_estimator_ is run.mixture


def test_other_cuts_need_the_rows_and_have_the_same_bits(saved):
    rows, tree, folder = saved
    found = sm.load_run(folder).tree
    with pytest.raises(ParameterError, match="attach"):
        found.cut(4)
    assert_array_equal(found.attach(rows).cut(4).prototypes_, tree.cut(4).prototypes_)


def test_other_models_have_no_tree(tmp_path):
    rows, _, _ = themes(n=10)
    mixture = sm.VMFMixture(2, random_state=0).fit(rows)
    assert sm.load_run(sm.save_run(tmp_path / "run", mixture)).tree is None
    with pytest.raises(NotFittedError):
        sm.save_run(tmp_path / "other", sm.VMFTree(3))


@pytest.mark.parametrize("change", ["pairs", "values", "origins", "n_features", "repeated"])
def test_a_damaged_tree_is_refused(saved, change):
    folder = saved[2]
    path = folder / "run.json"
    whole = path.read_text(encoding="utf-8")
    manifest = json.loads(whole)
    tree = manifest["fitted_tree"]["tree"]
    if change == "n_features":
        tree[change] += 1
    elif change == "repeated":
        tree["pairs"][0][0] = tree["pairs"][1][0]
    else:
        tree[change].pop()
    try:
        path.write_text(json.dumps(manifest), encoding="utf-8")
        with pytest.raises(RunError, match="damaged"):
            sm.load_run(folder)
    finally:
        path.write_text(whole, encoding="utf-8")


def test_a_tree_of_one_leaf(tmp_path):
    tree = sm.VMFTree(1, random_state=0).fit(np.eye(3) + 1.0)
    assert sm.load_run(sm.save_run(tmp_path / "run", tree)).tree.n_leaves_ == 1

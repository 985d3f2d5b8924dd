"""Trees whose rows may belong nowhere: leaves, cuts, splits, paths, and back from the disk."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score, f1_score

import spheremix as sm
from spheremix.errors import ParameterError

N, N_NOISE = 240, 40


@pytest.fixture(scope="module")
def planted():
    """Return four clusters and uniform noise."""
    rows, labels, _ = sm.datasets.make_vmf_mixture(N, 12, 4, kappa=80.0, random_state=0)
    noise = np.random.default_rng(0).normal(size=(N_NOISE, 12))
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    return np.vstack([rows, noise]), np.concatenate([labels, np.full(N_NOISE, -1)])


@pytest.fixture(scope="module")
def tree(planted):
    X, _ = planted
    return sm.VMFTree(5, n_clusters=4, noise="uniform", random_state=0, n_threads=1).fit(X)


def test_noise_is_in_no_leaf_and_in_no_cluster(planted, tree):
    X, truth = planted
    assert f1_score(truth < 0, tree.labels_ < 0) > 0.9
    kept = (truth >= 0) & (tree.labels_ >= 0)
    assert adjusted_rand_score(truth[kept], tree.labels_[kept]) == 1.0
    assert tree.n_noise_ == np.sum(tree.labels_ < 0)
    leaves = tree.cut(tree.n_leaves_)
    assert_allclose(tree.sizes_[-1], np.sum(leaves.labels_ >= 0))
    assert_array_equal(tree.sizes_[: tree.n_leaves_], np.bincount(leaves.labels_ + 1)[1:])
    assert_array_equal(tree.predict(X), tree.labels_)


def test_every_cut_is_a_fit_with_noise(planted, tree):
    X, _ = planted
    for K in (1, 3):
        cut = tree.cut(K)
        assert cut.status_ == "converged"
        assert cut.model_.noise is not None
        assert_allclose(cut.weights_.sum() + cut.noise_weight_, 1.0)
        assert_array_equal(cut.predict(X), cut.labels_)


def test_a_share_is_kept_to(planted):
    X, _ = planted
    options = {"noise": "uniform", "max_noise": 0.05, "random_state": 0, "n_threads": 1}
    limited = sm.VMFTree(5, n_clusters=4, **options).fit(X)
    assert 0 < limited.n_noise_ <= 0.05 * len(X)


def test_a_cluster_is_split_without_the_noise_of_others(tree):
    inner = tree.split(0, 2)
    inside = tree.labels_ == 0
    assert set(inner.labels_[~inside]) == {-1}
    assert set(inner.labels_[inside]) <= {-1, 0, 1}


def test_a_path_begins_at_the_level_of_the_cut(tree):
    path = tree.path(max_steps=3)
    assert path.state_.model.noise == tree.best_estimator_.model_.noise


def test_a_saved_tree_knows_its_noise(planted, tree, tmp_path):
    X, _ = planted
    again = sm.load_run(sm.save_run(tmp_path / "run", tree)).tree
    assert_array_equal(again.predict(X), tree.labels_)
    assert_array_equal(again.attach(X).cut(2).labels_, tree.cut(2).labels_)


def test_nested_levels_have_no_noise(tree):
    before = set(tree.cuts_)
    with pytest.raises(ParameterError, match="A tree with noise has no nested levels"):
        tree.cut(levels=[2, 4])
    assert set(tree.cuts_) == before

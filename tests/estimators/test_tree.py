"""VMFTree: leaves, cuts, nested levels, loading."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import adjusted_rand_score, f1_score
from tree_common import themes

import spheremix as sm
from spheremix.errors import ParameterError


def planted(M=12, **parameters):
    rows, chosen, topics = themes()
    return rows, chosen, topics, sm.VMFTree(M, **{"random_state": 0, **parameters}).fit(rows)


@pytest.fixture(scope="module")
def known():
    return planted(n_clusters=3)


def test_planted_topics_and_themes_are_found(known):
    _, chosen, topics, tree = known
    assert tree.n_clusters_ == 3
    assert adjusted_rand_score(tree.labels_, chosen) == 1.0
    assert planted()[3].n_clusters_ == 9  # the first guess: the topics are further apart
    assert adjusted_rand_score(tree.cut(9).labels_, topics) == 1.0


def test_cuts_are_converged_mixtures(known):
    rows, _, _, tree = known
    for K in range(1, tree.n_leaves_ + 1):
        cut = tree.cut(K)
        assert cut.status_ == "converged"
        assert 0.0 <= cut.stationarity_gap_ <= 1e-7
        assert len(cut.weights_) == K
        assert_array_equal(cut.labels_, cut.predict(rows))
        again = sm.VMFMixture(K, init=cut).fit(rows)
        assert_allclose(cut.log_likelihood_, again.log_likelihood_, rtol=1e-8)
    assert tree.cut(5) is tree.cut(5)
    assert tree.best_estimator_ is tree.cut(tree.n_clusters_)


def test_a_cut_is_no_worse_than_the_tree_s_clusters(known):
    """EM starts from the merged clusters, and never falls: likelihoods are above the tree's."""
    _, _, _, tree = known
    found = [tree.cut(K).log_likelihood_ for K in range(1, tree.n_leaves_ + 1)]
    assert np.all(np.array(found) >= tree.hierarchy_.values - 1e-6)


@pytest.mark.parametrize("K", [3, 6, 9, 12])
def test_clusters_follow_the_tree_from_left_to_right(known, K):
    _, _, _, tree = known
    merged = tree.hierarchy_.cut(K).vectors
    merged /= np.linalg.norm(merged, axis=1, keepdims=True)
    assert_array_equal((tree.cut(K).prototypes_ @ merged.T).argmax(axis=1), np.arange(K))


def test_many_cuts_are_those_of_one_by_one(known):
    rows, _, _, tree = known
    other = sm.VMFTree(12, random_state=0).fit(rows)
    for K, cut in zip((6, 2, 4), other.cuts([6, 2, 4]), strict=True):
        assert_allclose(cut.log_likelihood_, tree.cut(K).log_likelihood_, rtol=1e-9)
        assert_array_equal(cut.labels_, tree.cut(K).labels_)


def test_predictions_are_those_of_the_chosen_cut(known):
    rows, _, _, tree = known
    fixed = sm.VMFTree(12, n_clusters=9, random_state=0).fit(rows)
    assert fixed.n_clusters_ == 9
    assert_array_equal(fixed.predict(rows), fixed.cut(9).labels_)
    assert_allclose(fixed.predict_proba(rows), fixed.cut(9).predict_proba(rows))
    assert fixed.score(rows) == fixed.cut(9).score(rows)
    assert_array_equal(fixed.labels_, tree.cut(9).labels_)


def test_weights_are_copies():
    rows, _, _ = themes(n=20)
    weights = 1.0 + (np.arange(len(rows)) % 3)
    repeated = np.repeat(rows, weights.astype(int), axis=0)
    weighted = sm.VMFTree(9, random_state=0).fit(rows, sample_weight=weights)
    copied = sm.VMFTree(9, random_state=0).fit(repeated)
    assert_allclose(weighted.losses_, copied.losses_, rtol=1e-6)
    assert_allclose(weighted.sizes_[-1], weights.sum())
    assert_allclose(weighted.cut(3).log_likelihood_, copied.cut(3).log_likelihood_, rtol=1e-9)


def opened(rows, place, tmp_path):
    if place == "blocks":
        np.save(tmp_path / "rows.npy", rows)
        return sm.as_directions(str(tmp_path / "rows.npy"), block_rows=100)
    if place == "dask":
        return pytest.importorskip("dask.array").from_array(rows, chunks=(100, -1))
    if place == "torch":
        return pytest.importorskip("torch").tensor(rows)
    return sparse.csr_array(rows)


@pytest.mark.parametrize("place", ["blocks", "dask", "torch", "sparse"])
def test_rows_anywhere(known, place, tmp_path):
    rows, chosen, topics, tree = known
    other = sm.VMFTree(12, random_state=0).fit(opened(rows, place, tmp_path))
    assert_allclose(other.losses_[-5:], tree.losses_[-5:], rtol=1e-5)
    assert adjusted_rand_score(other.cut(9).labels_, topics) == 1.0
    assert adjusted_rand_score(other.cut(levels=[3, 9]).labels[0], chosen) == 1.0
    inside = other.cut(3).labels_ == 0
    part = other.split(0, 3, n_clusters=3)
    assert adjusted_rand_score(part.labels_[inside], topics[inside]) == 1.0
    assert other.path(3, max_steps=2).betas_.shape == (2,)


def test_a_cluster_is_split(known):
    rows, _, topics, tree = known
    for k in range(3):
        inside = tree.labels_ == k
        part = tree.split(k, 3)
        assert_array_equal(part.labels_ == -1, ~inside)
        assert adjusted_rand_score(part.labels_[inside], topics[inside]) == 1.0
        alone = sm.VMFMixture(3, random_state=0).fit(rows[inside])
        assert_allclose(part.log_likelihood_, alone.log_likelihood_, rtol=1e-8)
    assert tree.split(2, 1, n_clusters=9).status_ == "converged"


def test_a_path_begins_at_a_cut(known):
    rows, _, _, tree = known
    path = tree.path(9, max_steps=5, criterion="aic")
    assert path.criterion == "aic"
    assert_allclose(path.log_likelihoods_[0], tree.cut(9).log_likelihood_, rtol=1e-9)
    assert len(path.betas_) == 5
    assert len(tree.path(max_steps=2).best_estimator_.weights_) == 3
    assert_array_equal(path.predict(rows[:5]), path.best_estimator_.predict(rows[:5]))


def test_pickles_leave_the_rows_behind(known):
    rows, _, _, tree = known
    tree.cut(4)
    tree.cut(levels=[2, 4])
    stored = pickle.dumps(tree)
    loaded = pickle.loads(stored)  # noqa: S301
    assert_array_equal(loaded.predict(rows), tree.labels_)
    assert_array_equal(loaded.cut(4).labels_, tree.cut(4).labels_)
    assert_array_equal(
        loaded.cut(levels=[2, 4]).predict(rows)[1], tree.cut(levels=[2, 4]).labels[1]
    )
    assert_array_equal(loaded.linkage_, tree.linkage_)
    fresh = pickle.loads(pickle.dumps(sm.VMFTree(12, random_state=0).fit(rows)))  # noqa: S301
    with pytest.raises(ParameterError, match=r"loaded without its rows.*attach"):
        fresh.cut(5)
    assert_allclose(fresh.attach(rows).cut(5).log_likelihood_, tree.cut(5).log_likelihood_)
    for wrong in (rows[:-1], rows[:, :-1], np.roll(rows, 1, axis=1)):
        with pytest.raises(ParameterError, match="not the rows"):
            fresh.attach(wrong)
    with pytest.raises(ParameterError, match="not the rows"):
        fresh.attach(rows, sample_weight=np.arange(len(rows)) + 1.0)


def test_a_failed_fit_changes_nothing(known):
    rows, _, _, tree = known
    before = dict(vars(tree))
    with pytest.raises(ValueError, match="NaN"):
        tree.fit(np.where(np.arange(rows.shape[0])[:, None] == 5, np.nan, np.asarray(rows)))
    assert vars(tree) == before


def test_fewer_rows_than_leaves_make_a_leaf_each():
    rows, _, _ = themes(n=2)
    tree = sm.VMFTree(40, kappa=50.0, random_state=0).fit(rows)
    assert tree.n_leaves_ <= rows.shape[0]
    assert tree.cut(3).prototypes_.shape[0] == 3


@pytest.mark.parametrize("n", [20, 39])
def test_leaves_that_lose_their_rows_in_em_are_those_of_the_search(n):
    """Leaves of a row each, whose concentrations a prior keeps low."""
    X = sm.datasets.make_vmf_mixture(n, 10, 3, overlap=0.02, random_state=0)[0]
    tree = sm.VMFTree(kappa="free", kappa_prior=(1, 0.5), random_state=0).fit(X)
    assert tree.trees_.leaves is None
    assert tree.n_leaves_ == n
    assert tree.hierarchy_.leaves.mass.sum() == n
    assert tree.cut(3).status_ == "converged"
    with pytest.raises(
        RuntimeError, match=rf"mixture of {n} .*: lower n_clusters or lower n_leaves\.$"
    ):
        tree.cut(n)


def test_doubts_are_about_the_number_of_the_tree(known):
    rows, _, _, tree = known  # 3 clusters
    nine = sm.VMFTree(12, n_clusters=9, random_state=0).fit(rows)
    assert tree.advice_.n_clusters == nine.advice_.n_clusters == 9
    assert nine.doubts_ == nine.advice_.doubts
    first, *others = tree.doubts_
    assert first.startswith("The tree is cut into 3 groups, and the evidence speaks for another")
    assert first.endswith(tree.advice_.recommended[0].sentence)
    assert tuple(others) == tree.advice_.doubts


def test_one_leaf_and_two():
    rows, _, _ = themes(n=10)
    one = sm.VMFTree(1, random_state=0).fit(rows)
    assert (one.linkage_.shape, one.losses_.shape) == ((0, 4), (0,))
    assert one.n_clusters_ == 1
    assert set(one.labels_) == {0}
    assert sm.VMFTree(2, random_state=0).fit(rows).n_clusters_ == 2


def test_fewer_different_rows_than_leaves():
    rows = np.repeat(np.eye(4, 6) + 0.1, 5, axis=0)
    with pytest.raises(RuntimeError, match=r"fewer different rows than components.*n_leaves"):
        sm.VMFTree(10, random_state=0).fit(rows)


def test_questions_that_have_no_answer(known):
    _, _, _, tree = known
    with pytest.raises(ParameterError, match="one of n_clusters and levels"):
        tree.cut()
    with pytest.raises(ParameterError, match="one of n_clusters and levels"):
        tree.cut(3, levels=[2, 3])
    with pytest.raises(ParameterError, match=r"n_clusters: a tree of 12 leaves.*n_leaves"):
        tree.cut(13)
    with pytest.raises(ParameterError, match="levels: a tree of 12 leaves"):
        tree.cut(levels=[3, 13])
    with pytest.raises(ParameterError, match="at least two different"):
        tree.cut(levels=[3, 3])
    with pytest.raises(ParameterError, match=r"k must be in 0\.\.2, got 3"):
        tree.split(3, 2)
    with pytest.raises(ParameterError, match="rows of positive weight"):
        tree.split(0, 400)


def test_the_callback_hears_of_every_sweep():
    rows, _, _ = themes(n=10)
    heard = []
    tree = sm.VMFTree(6, random_state=0, callback=heard.append).fit(rows)
    fitted = len(heard)
    assert fitted > 0
    tree.cut(4)
    assert len(heard) > fitted


# Nested levels of a tree: every row's fine cluster lies in its coarse one, exactly


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
    assert adjusted_rand_score(tree.cut(3).labels_, chosen) == 1.0
    assert adjusted_rand_score(tree.cut(9).labels_, topics) == 1.0
    assert len(np.unique(tree.cut(9).kappas_)) == (9 if kappa == "free" else 1)
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


# Trees whose rows may belong nowhere: leaves, cuts, splits, paths, and back from the disk


N, N_NOISE = 240, 40


@pytest.fixture(scope="module")
def with_noise():
    """Return four clusters and uniform noise."""
    rows, labels, _ = sm.datasets.make_vmf_mixture(N, 12, 4, kappa=80.0, random_state=0)
    noise = np.random.default_rng(0).normal(size=(N_NOISE, 12))
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    return np.vstack([rows, noise]), np.concatenate([labels, np.full(N_NOISE, -1)])


@pytest.fixture(scope="module")
def tree(with_noise):
    X, _ = with_noise
    return sm.VMFTree(5, n_clusters=4, noise="uniform", random_state=0, n_threads=1).fit(X)


def test_noise_is_in_no_leaf_and_in_no_cluster(with_noise, tree):
    X, truth = with_noise
    assert f1_score(truth < 0, tree.labels_ < 0) > 0.9
    kept = (truth >= 0) & (tree.labels_ >= 0)
    assert adjusted_rand_score(truth[kept], tree.labels_[kept]) == 1.0
    assert tree.n_noise_ == np.sum(tree.labels_ < 0)
    leaves = tree.cut(tree.n_leaves_)
    assert_allclose(tree.sizes_[-1], np.sum(leaves.labels_ >= 0))
    assert_array_equal(tree.sizes_[: tree.n_leaves_], np.bincount(leaves.labels_ + 1)[1:])
    assert_array_equal(tree.predict(X), tree.labels_)


def test_cuts_splits_and_paths_have_noise_too(with_noise, tree):
    X, _ = with_noise
    for K in (1, 3):
        cut = tree.cut(K)
        assert cut.status_ == "converged"
        assert cut.model_.noise is not None
        assert_allclose(cut.weights_.sum() + cut.noise_weight_, 1.0)
        assert_array_equal(cut.predict(X), cut.labels_)
    inner, inside = tree.split(0, 2), tree.labels_ == 0
    assert set(inner.labels_[~inside]) == {-1}
    assert set(inner.labels_[inside]) <= {-1, 0, 1}
    assert tree.path(max_steps=3).state_.model.noise == tree.best_estimator_.model_.noise
    options = {"noise": "uniform", "max_noise": 0.05, "random_state": 0, "n_threads": 1}
    limited = sm.VMFTree(5, n_clusters=4, **options).fit(X)
    assert 0 < limited.n_noise_ <= 0.05 * len(X)
    before = set(tree.cuts_)
    with pytest.raises(ParameterError, match="A tree with noise has no nested levels"):
        tree.cut(levels=[2, 4])
    assert set(tree.cuts_) == before


def test_a_saved_tree_knows_its_noise(with_noise, tree, tmp_path):
    X, _ = with_noise
    again = sm.load_run(sm.save_run(tmp_path / "run", tree)).tree
    assert_array_equal(again.predict(X), tree.labels_)
    assert_array_equal(again.attach(X).cut(2).labels_, tree.cut(2).labels_)

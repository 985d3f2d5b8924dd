"""The advice of a tree: both levels of planted hierarchies, merge costs, loading."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from tree_common import classification_likelihood, themes

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.estimators import advice


@pytest.fixture(scope="module", autouse=True)
def few_draws():
    """Draw less often than the advice does, since these hierarchies are plain."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(advice, "CHANCE_SETS", 3)
        patch.setattr(advice, "N_REPLICATES", 4)
        yield


def reloaded(tree):
    return pickle.loads(pickle.dumps(tree))  # noqa: S301


@pytest.fixture(scope="module")
def planted(few_draws):  # noqa: ARG001
    rows, chosen, topics = themes(n=20)
    return rows, chosen, topics, sm.VMFTree(12, random_state=0, n_threads=1).fit(rows)


def test_both_levels_of_a_hierarchy_are_recommended(planted):
    tree = planted[3]
    assert {one.n_clusters for one in tree.advice_.recommended[:2]} == {3, 9}
    readings = {one.n_clusters: one.reading for one in tree.advice_.recommended}
    assert {readings[3], readings[9]} in ({"first", "finer"}, {"first", "coarser"})


def test_another_hierarchy():
    rows, _, _ = themes(2, 4, n=20, seed=2)
    found = sm.VMFTree(10, random_state=0, n_threads=1).fit(rows).advice_
    assert {one.n_clusters for one in found.recommended[:2]} == {2, 8}


def test_merge_costs_are_differences_of_classification_likelihoods(planted):
    rows, _, _, tree = planted
    evidence = tree.advice_.evidence
    assert_array_equal(evidence.candidates, np.arange(2, len(evidence.candidates) + 2))
    assert_array_equal(tree.advice_.table()["merge_cost"], evidence.merge_costs)
    leaves = tree.cut(tree.n_leaves_)
    hard = tree.hierarchy_.leaves
    labels = leaves.labels_
    assert_allclose(np.bincount(labels), hard.mass)
    values = [
        classification_likelihood(
            rows, tree.hierarchy_.nodes_of(K)[1][labels], np.ones(len(rows)), "shared"
        )
        for K in range(1, len(evidence.candidates) + 2)
    ]
    assert_allclose(evidence.merge_costs, np.diff(values), rtol=1e-6, atol=1e-6)
    falls = 1.0 - evidence.merge_costs[1:] / evidence.merge_costs[:-1]
    at = int(np.flatnonzero(evidence.candidates == 3)[0])
    gains = 1.0 - evidence.gains[at + 1] / evidence.gains[at]
    assert_allclose(evidence.turning[at], (gains + falls[at]) / 2.0)


def test_the_cuts_are_the_candidates(planted):
    tree = planted[3]
    evidence = tree.advice_.evidence
    assert set(evidence.candidates.tolist()) <= set(tree.cuts_)
    assert_array_equal(
        evidence.log_likelihoods, [tree.cut(K).log_likelihood_ for K in evidence.candidates]
    )
    assert tree.advice_ is tree.advice_


def test_a_tree_that_takes_its_advice(planted):
    rows, chosen, topics, tree = planted
    taken = sm.VMFTree(12, n_clusters="advice", random_state=0, n_threads=1).fit(rows)
    assert str(taken.advice_) == str(tree.advice_)
    assert taken.n_clusters_ == tree.advice_.n_clusters
    truth = {3: chosen, 9: topics}[taken.n_clusters_]
    assert adjusted_rand_score(taken.labels_, truth) == 1.0


def test_advice_is_saved_or_made_when_the_rows_are_back(planted):
    rows, _, _, tree = planted
    assert str(reloaded(tree).advice_) == str(tree.advice_)
    fresh = sm.VMFTree(12, random_state=0, n_threads=1).fit(rows)
    loaded = reloaded(fresh)
    with pytest.raises(ParameterError, match="attach"):
        loaded.advice_  # noqa: B018
    assert str(loaded.attach(rows).advice_) == str(tree.advice_)


def test_long_and_short_documents_are_seen():
    """The numbers of words of the rows are not pickled; they are known again after attach."""
    rng = np.random.default_rng(0)
    counts = np.zeros((80, 40))
    counts[:40, :4] = 1 + rng.poisson(3.0, size=(40, 4))
    counts[40:, 4:] = 1 + rng.poisson(1.0, size=(40, 36))
    X = sparse.csr_array(counts)
    loaded = reloaded(sm.VMFTree(4, random_state=0, n_threads=1).fit(X))
    assert abs(loaded.attach(X).advice_.evidence.by_length) == 1.0


def test_what_cannot_be_advised_on():
    rows, _, _ = themes(n=10)
    with pytest.raises(ParameterError, match="n_clusters must be"):
        sm.VMFTree(4, n_clusters="best").fit(rows)
    single = sm.VMFTree(1, n_clusters="advice", random_state=0).fit(rows)
    assert single.n_clusters_ == 1
    with pytest.raises(ParameterError, match="A tree of one leaf"):
        single.advice_  # noqa: B018

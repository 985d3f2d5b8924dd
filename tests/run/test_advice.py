"""The number of groups in an exploration: its stages, its table, and what is said of it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from little_advice import STEPS, with_values
from numpy.testing import assert_allclose
from sklearn.metrics import adjusted_rand_score
from tree_common import themes

import spheremix as sm
from spheremix.estimators import advice as measured
from spheremix.report import content as contents
from spheremix.run.sentences import headline, remarks
from spheremix.run.stages import dense
from spheremix.run.stages.tree import ancestors

OPTIONS = {"max_steps": 3, "starts": 2, "threads": 1, "criterion": "none"}


@pytest.fixture(scope="module", autouse=True)
def little_advice():
    """All of it, but few steps of the map."""
    with with_values(STEPS):
        yield


def rows(n_clusters=3):
    if n_clusters == 1:
        return sm.datasets.make_vmf_mixture(200, 8, 1, kappa=8.0, random_state=0)[0]
    return sm.datasets.make_vmf_mixture(200, 8, n_clusters, overlap=0.01, random_state=0)[0]


def matrix(X, folder):
    path = folder / "rows.npy"
    np.save(path, X)
    return path


@pytest.fixture(scope="module")
def explored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("advised")
    return sm.explore_corpus(matrix(rows(), folder), folder / "run", **OPTIONS)


def test_the_advice_chooses_and_is_written(explored):
    assert len(explored.mixture.weights_) == 3
    advice = explored.advice
    assert advice.recommended[0].n_clusters == 3
    assert advice.certainty == "clear"
    table = explored.read_table("advice")
    assert table["n_groups"] == advice.evidence.candidates.tolist()
    assert table["level"][table["n_groups"].index(3)] == "fine"
    assert_allclose(table["agreement"], advice.evidence.agreement, rtol=1e-5)
    assert list(explored.dense) == [3]  # without numbers asked for, what is advised is fitted


def test_the_summary_says_how_many_and_how_sure(explored):
    said = " ".join(one.render() for one in remarks(explored))
    assert "How many: 3 groups: halves of the documents give the same ones" in said
    assert "The evidence for it is clear" in said
    assert "3 groups (by advice, 10 numbers tried)" in headline(explored)


def test_a_killed_run_goes_on_and_ends_with_the_same_bytes(explored, tmp_path, monkeypatch):
    path, calls = matrix(rows(), tmp_path), []
    fitted = dense.fit_dense

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("spheremix.run.explore.fit_dense", killed)
    with pytest.raises(KeyboardInterrupt):
        sm.explore_corpus(path, tmp_path / "run", **OPTIONS)
    monkeypatch.setattr("spheremix.run.explore.fit_dense", fitted)
    monkeypatch.setattr(measured.Adviser, "evidence", calls.append)
    run = sm.explore_corpus(path, tmp_path / "run", **OPTIONS)
    assert calls == []  # the advice was made before
    name = "tables/advice.csv"
    assert (run.folder / name).read_bytes() == (explored.folder / name).read_bytes()


def test_levels_are_named_groups_each_in_one_of_the_level_above(tmp_path):
    """Nodes of a level are a partition; parents lie above their groups in the tree."""
    X, themes_of, _ = themes(n=40)
    run = sm.explore_corpus(matrix(X, tmp_path), tmp_path / "run", levels="2,3,9", **OPTIONS)
    n = len(X)
    table, tree = run.read_table("levels"), run.read_table("tree")
    rows = [dict(zip(table, one, strict=True)) for one in zip(*table.values(), strict=True)]
    levels = {M: [one for one in rows if one["level"] == M] for M in (2, 3, 9)}
    assert [len(own) for own in levels.values()] == [2, 3, 9]
    assert all(sum(one["size"] for one in own) == n for own in levels.values())
    assert [one["parent"] for one in levels[2]] == [None, None]
    for above, own in ((levels[2], levels[3]), (levels[3], levels[9])):
        names = {one["node"]: one["name"] for one in above}
        for one in own:
            assert names[one["parent"]] == one["parent_name"]
            node = one["node"]
            while node not in names:
                node = tree["parent"][node]
            assert node == one["parent"]
    assert sorted(one["group"] for one in levels[9]) == list(range(9))
    of_groups = {one["group"]: one for one in levels[9]}
    for k, name in zip(run.groups["group"], run.groups["name"], strict=True):
        assert of_groups[k]["name"] == name
    assert set(run.groups["broad_group"]) == {one["node"] for one in levels[2]}
    assert [M for M, _ in contents.build(run)["tree"]["levels"]] == [2, 3]
    above = {one["group"]: one["parent"] for one in levels[9]}
    assert adjusted_rand_score([above[k] for k in run.documents["group"]], themes_of) == 1.0
    assert (run.folder / "tables" / "levels.csv").exists()


def test_broad_groups_are_nodes_of_the_tree(tmp_path):
    """Nine subjects in three themes: where nine are shown, their themes are the broad groups."""
    X, themes_of, topics = themes(n=40)
    run = sm.explore_corpus(matrix(X, tmp_path), tmp_path / "run", **OPTIONS)
    assert {3, 9} <= {one.n_clusters for one in run.advice.recommended}
    if run.info.n_groups == 9:
        assert adjusted_rand_score(run.documents["broad_group"], themes_of) == 1.0
        nodes = run.read_table("tree")
        for node, name in zip(run.groups["broad_group"], run.groups["broad_name"], strict=True):
            assert nodes["name"][nodes["node"].index(node)] == name
    assert adjusted_rand_score(run.documents["group"], topics) > 0.4


def test_ancestors_of_a_cut():
    """Leaves 0 to 4; 0 and 1 make 5, 2 and 3 make 6, 5 and 6 make 7, 7 and 4 make 8."""
    parents = [5, 5, 6, 6, 8, 7, 7, 8, None]
    nodes = [
        SimpleNamespace(parent=parent, chosen=i < 5, group=i if i < 5 else None)
        for i, parent in enumerate(parents)
    ]
    assert ancestors(nodes, 5) == [0, 1, 2, 3, 4]
    assert ancestors(nodes, 4) == [5, 5, 2, 3, 4]
    assert ancestors(nodes, 3) == [5, 5, 6, 6, 4]
    assert ancestors(nodes, 2) == [7, 7, 7, 7, 4]


def test_no_groups_are_said(tmp_path):
    run = sm.explore_corpus(matrix(rows(1), tmp_path), tmp_path / "run", k="2:4", **OPTIONS)
    assert run.advice.recommended[0].n_clusters == 1
    assert len(run.mixture.weights_) in {2, 3, 4}
    assert any("There seem to be no groups" in one.render() for one in remarks(run))


def test_a_criterion_needs_no_halves(tmp_path, monkeypatch):
    monkeypatch.setattr(measured.Adviser, "evidence", None)
    source = matrix(rows(), tmp_path)
    run = sm.explore_corpus(source, tmp_path / "run", k="4:6", k_criterion="bic", **OPTIONS)
    assert run.advice is None
    assert run.read_table("advice") is None
    assert list(run.dense) == [4, 5, 6]
    assert len(run.mixture.weights_) == 4
    said = " ".join(one.render() for one in remarks(run))
    assert "The smallest number of groups that was tried was chosen" in said


def test_the_summary_says_where_coarser_and_finer_groups_are(explored):
    said = [one.render() for one in remarks(explored)]
    assert (
        "Coarser and finer: tables/tree.csv merges the 3 groups step by step to two and divides "
        "them into 6 fine groups." in said
    )

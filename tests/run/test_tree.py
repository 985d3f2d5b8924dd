"""The tree of an exploration and the map of its documents: tables, stages, and the report."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest
from cli_common import SHARED, texts, write_lines
from numpy.testing import assert_allclose, assert_array_equal
from reuse_common import Heard, explore

import spheremix as sm
from spheremix.advice import Advice, Recommendation
from spheremix.reading import document_positions
from spheremix.report.content import build
from spheremix.run.folder.files import RunError
from spheremix.run.run import Run
from spheremix.run.stages import tree as stage
from spheremix.run.stages.tree import check_tree, count_leaves

OPTIONS = {"k": 3, "starts": 2, "criterion": "none", "lemmatizer": "none", "threads": 1}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return write_lines(tmp_path_factory.mktemp("corpus") / "docs.jsonl", texts(60))


@pytest.fixture(scope="module")
def run(source, tmp_path_factory):
    return sm.explore_corpus(source, tmp_path_factory.mktemp("grown") / "run", **OPTIONS)


def advice(*numbers):
    return Advice(tuple(Recommendation(K, "first", "") for K in numbers), "clear", (), None)


def test_how_many_fine_groups():
    assert count_leaves(5, None, 1000) == 10
    assert count_leaves(5, advice(5, 14), 1000) == 14
    assert count_leaves(5, advice(5, 8), 1000) == 10
    assert count_leaves(30, advice(30, 50), 1000) == 40
    assert count_leaves(60, None, 1000) == 60
    assert count_leaves(5, advice(5, 14), 60) == 12
    assert count_leaves(5, None, 20) == 5
    assert count_leaves(1, None, 9) == 1


def test_one_row_a_node(run):
    tree, groups = run.read_table("tree"), run.groups
    L = len(run.read_table("tree")["node"]) // 2 + 1
    assert L == 6
    assert tree["node"] == list(range(2 * L - 1))
    assert tree["parent"][-1] is None
    for node, parent in enumerate(tree["parent"][:-1]):
        assert parent >= max(L, node + 1)
        assert tree["parent"].count(parent) == 2
    for node in range(L, 2 * L - 1):
        parts = [i for i, parent in enumerate(tree["parent"]) if parent == node]
        assert tree["size"][node] == sum(tree["size"][i] for i in parts)
        assert tree["n_fine_groups"][node] == sum(tree["n_fine_groups"][i] for i in parts)
        assert not set(tree["sibling_words"][parts[0]].split(", ")) & set(
            tree["sibling_words"][parts[1]].split(", ")
        )
    assert tree["height"] == sorted(tree["height"])
    chosen = {k: i for i, k in enumerate(tree["group"]) if tree["chosen"][i]}
    assert sorted(chosen) == sorted(groups["group"])
    for k, name, size, words in zip(
        *(groups[column] for column in ("group", "name", "size", "words")), strict=True
    ):
        node = chosen[k]
        assert (tree["name"][node], tree["size"][node]) == (name, size)
        assert tree["words"][node] == words


def test_fine_groups_of_documents_lie_in_their_groups(run):
    tree, documents = run.read_table("tree"), run.documents
    groups = np.array(documents["fine_group"])
    assert_array_equal(np.array(tree["group"][:6])[groups], documents["group"])
    assert_array_equal(np.bincount(groups), tree["size"][:6])


def test_words_are_those_of_the_topics(run):
    tree = run.read_table("tree")
    for node, only in enumerate(tree["only_here_words"]):
        if tree["chosen"][node]:
            assert only
            assert not set(only.split(", ")) & set(SHARED.split())
    assert tree["name"][-1] == "all"


def test_the_tree_is_reused_and_renamed(run, source, tmp_path, monkeypatch):
    folder = tmp_path / "run"
    shutil.copytree(run.folder, folder)
    with monkeypatch.context() as patch:
        patch.setattr(stage, "tree_inside", None)
        named = sm.explore_corpus(
            source, folder, listener=Heard(), **OPTIONS, names={0: "the first"}
        )
    tree = named.read_table("tree")
    chosen = [i for i, k in enumerate(tree["group"]) if k == 0 and tree["chosen"][i]]
    assert [tree["name"][i] for i in chosen] == ["the first"]
    other = sm.explore_corpus(source, folder, listener=Heard(), **{**OPTIONS, "seed": 1})
    fresh = sm.explore_corpus(source, tmp_path / "new", **{**OPTIONS, "seed": 1})
    name = "tables/tree.csv"
    assert (other.folder / name).read_bytes() == (fresh.folder / name).read_bytes()


def test_the_report_has_the_tree(run):
    content = run.report().content
    tree, table = content["tree"], run.read_table("tree")
    assert (tree["leaves"], tree["chosen"]) == (6, 3)
    assert tree["parents"] == [-1 if one is None else one for one in table["parent"]]
    assert tree["groups"] == [-1 if one is None else one for one in table["group"]]
    assert tree["sizes"] == table["size"]
    assert tree["names"] == table["name"]
    assert tree["words"] == [words.split(", ")[:10] for words in table["words"]]
    assert tree["only"] == [
        words.split(", ")[:10] if words else [] for words in table["only_here_words"]
    ]
    assert tree["is_chosen"] == [bool(one) for one in table["chosen"]]
    assert content["documents"]["leaf"].tolist() == run.documents["fine_group"]


def test_embeddings_have_the_words_of_their_texts(tmp_path):
    documents = list(texts(60))
    rng = np.random.default_rng(0)
    topics = np.array([["sea", "sky", "food"].index(one["topic"]) for one in documents])
    rows = np.eye(3)[topics] + rng.normal(scale=0.2, size=(60, 3))
    np.save(tmp_path / "rows.npy", rows)
    beside = write_lines(tmp_path / "docs.jsonl", documents)
    options = {name: OPTIONS[name] for name in ("k", "starts", "lemmatizer", "threads")}
    options["meaning_only"] = True
    run = sm.explore_corpus(tmp_path / "rows.npy", tmp_path / "run", texts=str(beside), **options)
    tree = run.read_table("tree")
    words = {word for listed in tree["words"] for word in listed.split(", ")}
    assert {"boat", "planet", "cheese"} <= words
    chosen = [i for i, one in enumerate(tree["chosen"]) if one]
    contrast = run.contrast()
    assert [tree["words"][i].split(", ") for i in chosen] == [
        contrast[tree["group"][i]] for i in chosen
    ]


def test_one_group_has_no_tree(tmp_path):
    lines = ["apple pie", "apple tart", "sky blue", "sea blue", "deep sea"]
    run = sm.explore_corpus(lines, tmp_path / "run", k=1, min_df=1, threads=1, criterion="none")
    assert run.nodes is None
    assert run.read_table("tree") is None
    assert "fine_group" not in run.documents


def test_coordinates_are_no_words_of_a_report(tmp_path):
    X, _, _ = sm.datasets.make_vmf_mixture(60, 5, 2, kappa=50.0, random_state=0)
    np.save(tmp_path / "rows.npy", X)
    options = {name: OPTIONS[name] for name in ("starts", "threads", "criterion")}
    run = sm.explore_corpus(tmp_path / "rows.npy", tmp_path / "run", k=2, **options)
    tree = run.report().content["tree"]
    for node, chosen in enumerate(tree["is_chosen"][:-1]):
        expected = f"group {tree['groups'][node]}" if chosen else f"node {node}"
        assert tree["names"][node] == expected
    assert not any(tree["words"])


@pytest.mark.parametrize(
    "change",
    [{"pairs": slice(0, -1)}, {"values": slice(1, None)}, {"leaves": slice(1, None)}],
    ids=str,
)
def test_a_tree_that_is_none_is_refused(run, change):
    kept = run._part("tree")
    check_tree(kept, 60, 3)
    other = {name: getattr(kept, name)[part] for name, part in change.items()}
    with pytest.raises(RunError, match="damaged"):
        check_tree(replace(kept, **other), 60, 3)
    with pytest.raises(RunError, match="damaged: labels out of"):
        check_tree(replace(kept, groups=kept.groups + 1), 60, 3)


# The map


@pytest.fixture(scope="module")
def lines():
    return [*(one["text"] for one in texts(30)), "?!"]


@pytest.fixture(scope="module")
def mapped(lines, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mapped") / "run"
    explore(lines, folder, criterion="none", k=2)
    return sm.load_run(folder)


def test_positions_are_those_of_the_rows_and_groups(mapped):
    expected = document_positions(mapped.matrix(), mapped.mixture.labels_)
    assert_array_equal(mapped.positions(), expected)
    x, y = mapped.documents["x"], mapped.documents["y"]
    assert x[-1] is y[-1] is None  # set aside
    assert_allclose(np.column_stack([x[:-1], y[:-1]]), mapped.positions(), rtol=1e-5)
    found = build(mapped)["layout"]
    assert found["x"].dtype == found["y"].dtype == np.uint16
    both = np.column_stack([found["x"], found["y"]]) / 65535.0
    assert_allclose(both, mapped.positions(), atol=1e-5)


def test_the_map_is_reused_as_long_as_groups_are_the_same(lines, mapped, tmp_path, monkeypatch):
    folder = shutil.copytree(mapped.folder, tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr(stage.DocumentMap, "positions", None)
        patch.setattr(stage.DocumentMap, "islands", None)
        explore(lines, folder, criterion="none", k=2, names={0: "one", 1: "other"})
    assert_array_equal(sm.load_run(folder).positions(), mapped.positions())
    with monkeypatch.context() as patch:  # other groups: islands on the same map
        patch.setattr(stage.DocumentMap, "positions", None)
        heard = explore(lines, folder, criterion="none", k=3)
    assert "Placing the documents on a map" not in heard.begun
    assert "Making islands of the groups" in heard.begun
    assert (sm.load_run(folder).positions() != mapped.positions()).any()


def test_a_model_without_a_map_places_its_documents_in_the_report(tmp_path):
    X, _, _ = sm.datasets.make_vmf_mixture(40, 4, 2, kappa=30.0, random_state=0)
    model = sm.VMFMixture(2, random_state=0).fit(X)
    run = sm.load_run(sm.save_run(tmp_path / "run", model, X=X))
    assert run.positions() is None
    for found in (run, Run.from_model(model, X=X)):
        x = build(found)["layout"]["x"]
        assert_allclose(x / 65535.0, document_positions(X, model.labels_)[:, 0], atol=1e-5)
    assert build(Run.from_model(model))["layout"] is None


def test_one_group_has_a_map(lines, tmp_path):
    explore(lines, tmp_path / "run", criterion="none", k=1)
    assert np.ptp(sm.load_run(tmp_path / "run").positions(), axis=0).max() > 0.9

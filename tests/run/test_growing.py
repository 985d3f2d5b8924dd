"""The tree of an exploration: its table, its words, its stage, and the report."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from cli_common import SHARED, texts, write_lines
from numpy.testing import assert_array_equal
from reuse_common import Heard
from spheremix.run.growing import count_leaves
from spheremix.run.store import RunError

import spheremix as sm
from spheremix.advice import Advice, Recommendation
from spheremix.run import growing

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
    tree, clusters = run.read_table("tree"), run.clusters
    L = len(run.manifest.tree.grown.clusters)
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
    chosen = {k: i for i, k in enumerate(tree["cluster"]) if tree["chosen"][i]}
    assert sorted(chosen) == sorted(clusters["cluster"])
    for k, name, size, words in zip(
        *(clusters[column] for column in ("cluster", "name", "size", "words")), strict=True
    ):
        node = chosen[k]
        assert (tree["name"][node], tree["size"][node]) == (name, size)
        assert tree["words"][node] == words


def test_fine_groups_of_documents_lie_in_their_clusters(run):
    tree, documents = run.read_table("tree"), run.documents
    groups = np.array(documents["fine_group"])
    assert_array_equal(np.array(tree["cluster"][:6])[groups], documents["cluster"])
    assert_array_equal(np.bincount(groups), tree["size"][:6])


def test_words_are_those_of_the_topics(run):
    tree = run.read_table("tree")
    for node, only in enumerate(tree["only_here_words"]):
        if tree["chosen"][node]:
            assert only
            assert not set(only.split(", ")) & set(SHARED.split())
    assert tree["name"][-1] == "all"


def test_a_killed_run_goes_on_with_the_same_bytes(run, source, tmp_path, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(growing, "tree_inside", killed)
        with pytest.raises(KeyboardInterrupt):
            sm.explore_corpus(source, tmp_path / "run", **OPTIONS)
    again = sm.explore_corpus(source, tmp_path / "run", **OPTIONS)
    for name in ("tables/tree.csv", "documents.csv", "run.json", "tree/leaves.npy", "report.json"):
        assert (again.folder / name).read_bytes() == (run.folder / name).read_bytes()


def test_the_tree_is_reused_and_renamed(run, source, tmp_path, monkeypatch):
    folder = tmp_path / "run"
    shutil.copytree(run.folder, folder)
    with monkeypatch.context() as patch:
        patch.setattr(growing, "tree_inside", None)
        named = sm.explore_corpus(
            source, folder, listener=Heard(), **OPTIONS, names={0: "the first"}
        )
    tree = named.read_table("tree")
    chosen = [i for i, k in enumerate(tree["cluster"]) if k == 0 and tree["chosen"][i]]
    assert [tree["name"][i] for i in chosen] == ["the first"]
    other = sm.explore_corpus(source, folder, listener=Heard(), **{**OPTIONS, "seed": 1})
    fresh = sm.explore_corpus(source, tmp_path / "new", **{**OPTIONS, "seed": 1})
    name = "tables/tree.csv"
    assert (other.folder / name).read_bytes() == (fresh.folder / name).read_bytes()


def test_the_report_and_the_tables_have_the_same_names(run):
    content = json.loads((run.folder / "report.json").read_text(encoding="utf-8"))
    named = dict(zip(run.clusters["cluster"], run.clusters["name"], strict=True))
    assert content["names"] == [named[k] for k in range(3)]


def test_the_report_has_the_tree(run):
    content = json.loads((run.folder / "report.json").read_text(encoding="utf-8"))
    tree, table = content["tree"], run.read_table("tree")
    assert (tree["leaves"], tree["chosen"]) == (6, 3)
    assert tree["parents"] == [-1 if one is None else one for one in table["parent"]]
    assert tree["groups"] == [-1 if one is None else one for one in table["cluster"]]
    assert tree["sizes"] == table["size"]
    assert tree["names"] == table["name"]
    assert tree["words"] == [words.split(", ")[:10] for words in table["words"]]
    assert tree["only"] == [
        words.split(", ")[:10] if words else [] for words in table["only_here_words"]
    ]
    assert tree["is_chosen"] == [bool(one) for one in table["chosen"]]
    assert content["documents"]["leaf"] == run.documents["fine_group"]


@pytest.mark.parametrize("change", ["pairs", "values", "cluster"])
def test_a_damaged_tree_is_refused(run, tmp_path, change):
    folder = tmp_path / "run"
    shutil.copytree(run.folder, folder)
    manifest = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    if change == "cluster":
        manifest["tree"]["nodes"][0]["cluster"] = 7
    else:
        manifest["tree"]["grown"][change].pop()
    (folder / "run.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(RunError, match="damaged"):
        sm.load_run(folder).report().write_json(tmp_path / "report.json")


def test_embeddings_have_the_words_of_their_texts(tmp_path):
    documents = list(texts(60))
    rng = np.random.default_rng(0)
    topics = np.array([["sea", "sky", "food"].index(one["topic"]) for one in documents])
    rows = np.eye(3)[topics] + rng.normal(scale=0.2, size=(60, 3))
    np.save(tmp_path / "rows.npy", rows)
    beside = write_lines(tmp_path / "docs.jsonl", documents)
    options = {name: OPTIONS[name] for name in ("k", "starts", "lemmatizer", "threads")}
    run = sm.explore_corpus(tmp_path / "rows.npy", tmp_path / "run", texts=str(beside), **options)
    tree = run.read_table("tree")
    words = {word for listed in tree["words"] for word in listed.split(", ")}
    assert {"boat", "planet", "cheese"} <= words
    chosen = [i for i, one in enumerate(tree["chosen"]) if one]
    contrast = run.contrast()
    assert [tree["words"][i].split(", ") for i in chosen] == [
        contrast[tree["cluster"][i]] for i in chosen
    ]


def test_one_group_has_no_tree(tmp_path):
    lines = ["apple pie", "apple tart", "sky blue", "sea blue", "deep sea"]
    run = sm.explore_corpus(lines, tmp_path / "run", k=1, min_df=1, threads=1, criterion="none")
    assert run.manifest.tree is None
    assert "tree" not in run.manifest.tables
    assert "fine_group" not in run.documents


def test_coordinates_are_no_words_of_a_report(tmp_path):
    X, _, _ = sm.datasets.make_vmf_mixture(60, 5, 2, kappa=50.0, random_state=0)
    np.save(tmp_path / "rows.npy", X)
    options = {name: OPTIONS[name] for name in ("starts", "threads", "criterion")}
    run = sm.explore_corpus(tmp_path / "rows.npy", tmp_path / "run", k=2, **options)
    tree = json.loads((run.folder / "report.json").read_text(encoding="utf-8"))["tree"]
    for node, chosen in enumerate(tree["is_chosen"][:-1]):
        expected = f"group {tree['groups'][node]}" if chosen else f"node {node}"
        assert tree["names"][node] == expected
    assert not any(tree["words"])

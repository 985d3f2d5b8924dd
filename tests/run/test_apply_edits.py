"""Edits made to runs: they reach everything that people read, and can be taken back."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from cli_common import TOPICS, texts, write_lines
from edit_common import Told, contents, edits_of, explore, write_edits
from scipy import sparse
from story import outputs

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.run.apply_edits import (
    OTHERS,
    Groups,
    Marks,
    Nodes,
    Plan,
    follow,
    identities,
)
from spheremix.run.colour_places import add_places
from spheremix.run.edits import EditNotes, Edits
from spheremix.run.explore import check_run
from spheremix.run.names import AUTOMATIC, Name
from spheremix.run.stages.rows import Rows
from spheremix.run.stages.tree import Node, Tree
from spheremix.text import Corpus

MARKS = {
    "names": {"0": "Seefahrt", "2": "<b>Sky</b>"},
    "notes": {"groups": {"1": 'check, "this"\nagain'}, "documents": {"doc 3": "=odd"}},
    "misplaced": ["doc 5", "doc 0"],
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_lines(tmp_path_factory.mktemp("corpus") / "docs.jsonl", texts(40))


@pytest.fixture(scope="module")
def base(corpus, tmp_path_factory):
    return explore(corpus, tmp_path_factory.mktemp("base") / "run")[0]


@pytest.fixture
def run(base, tmp_path):
    return sm.load_run(shutil.copytree(base.folder, tmp_path / "run"))


def test_a_run_is_made_again_whatever_order_its_edits_were_written_in(run, tmp_path):
    away = {
        one: (k + 1) % 3 for one, k in zip(run.documents["id"], run.documents["group"], strict=True)
    }
    ids = ["doc 9", "doc 3", "doc 21"]
    parts = {"move": {one: away[one] for one in ids}}
    parts["notes"] = {"groups": {}, "documents": dict.fromkeys(ids, "look again")}
    edited = run.edit(write_edits(tmp_path / "mine.json", run, **parts))
    assert edited.info.misplaced == sorted(ids)
    assert check_run(edited, refit=True) == []


def test_names_notes_and_marks_reach_tables_report_and_readme(base, run, tmp_path):
    edited = run.edit(write_edits(tmp_path / "mine.json", run, **MARKS))
    by_number = dict(zip(base.groups["group"], base.groups["name"], strict=True))
    by_number |= {0: "Seefahrt", 2: "<b>Sky</b>"}
    assert edited.groups["name"] == [by_number[k] for k in edited.groups["group"]]
    assert edited.documents["name"] == [by_number[k] for k in edited.documents["group"]]
    assert {"mine.json", "spheremix"} == {one.source for one in edited.info.names}
    notes = dict(zip(edited.groups["group"], edited.groups["note"], strict=True))
    assert notes == {0: "", 1: MARKS["notes"]["groups"]["1"], 2: ""}
    ids = edited.documents["id"]
    assert edited.documents["note"][ids.index("doc 3")] == "=odd"
    wrong = [one for one, w in zip(ids, edited.documents["misplaced"], strict=True) if w]
    assert sorted(wrong) == sorted(MARKS["misplaced"])
    same = {"group", "posterior", "cosine"}
    assert all(edited.documents[name] == base.documents[name] for name in same)
    content = edited.report().content
    assert content["run"] == base.info.fit == edited.info.fit
    assert content["names"] == [by_number[k] for k in range(3)]
    assert content["edits"]["notes"] == {
        "groups": {"1": MARKS["notes"]["groups"]["1"]},
        "documents": {"doc 3": "=odd"},
    }
    assert set(content["edits"]["misplaced"]) == {"doc 0", "doc 5"}
    assert base.report().content["edits"] is None
    said = edited.edits[0].changes
    assert said == [
        "2 names and 2 notes were given.",
        "2 documents marked as misplaced, which changes no group.",
    ]
    assert "edited once. The last edits (mine.json): 2 names" in " ".join(
        (run.folder / "README.txt").read_text("utf-8").split()
    )
    assert repr(edited._repr_html_()).count("edited") == 1
    assert edited.assign([run.corpus().texts[0]])["name"] == [edited.documents["name"][0]]


def test_later_edits_add_to_earlier_ones_and_are_taken_back_one_by_one(base, run):
    first = run.edit({"names": {0: "one"}, "notes": {"groups": {0: "a"}}})
    second = first.edit({"names": {1: "two", 0: "uno"}, "notes": {"groups": {1: "b"}}})
    assert second.names()[:2] == ["uno", "two"]
    assert sorted(second.groups["note"]) == ["", "a", "b"]
    with pytest.raises(ParameterError, match="groups 1 and 2 have the same name, 'two'"):
        second.edit({"names": {2: "two"}})
    back = second.undo_edits()
    assert back.names()[0] == "one"
    assert outputs(back.undo_edits().folder) == outputs(base.folder)
    with pytest.raises(sm.RunError, match="there are no edits that could be taken back"):
        run.undo_edits()


def test_the_same_edits_are_made_once(run):
    merged = run.edit({"merge": [[0, 1]]})
    before = contents(run.folder)
    assert run.edit({"merge": [[0, 1]]}).info.fit == merged.info.fit
    assert contents(run.folder) == before
    with pytest.raises(ParameterError, match=f"another run, '{run.info.fit}'"):
        run.edit({"merge": [[0, 2]]})  # these numbers were those before the merge
    assert len(merged.edit({"merge": [[0, 1]]}).mixture.weights_) == 1


def test_what_is_refused_leaves_the_folder_as_it_was(run, tmp_path):
    before = contents(run.folder)
    for parts, problem in (
        ({"merge": [[0, 7]]}, "there is no group 7"),
        ({"drop_words": ["nowhere"]}, "'nowhere' is not a word"),
        ({"misplaced": ["doc 99"]}, "no document with the id 'doc 99'"),
        ({"names": {0: run.groups["name"][1]}}, "groups 0 and 1 have the same name"),
    ):
        with pytest.raises(ParameterError, match=problem):
            run.edit(parts)
        assert contents(run.folder) == before
    words = [word for word in run.feature_names if word not in {"boat", "wave"}]
    with pytest.raises(ParameterError, match=r"the edited groups cannot be fitted .*class"):
        run.edit({"drop_words": words, "names": {0: "x"}})
    assert contents(run.folder) == before
    saved = sm.load_run(sm.save_run(tmp_path / "saved", run.mixture))
    with pytest.raises(sm.RunError, match="only a run of spheremix explore can be edited"):
        saved.edit({"names": {0: "x"}})


def test_names_given_with_the_options_stay_and_follow_a_merge(corpus, tmp_path):
    run, _ = explore(corpus, tmp_path / "run", names={0: "first", 2: "last"})
    before = outputs(run.folder)
    edited = run.edit({"merge": [[1, 2]]})
    assert edited.names() == ["first", "last"]
    assert outputs(edited.undo_edits().folder) == before


def test_a_merged_group_has_the_name_that_was_given_with_the_merge(corpus, tmp_path):
    run, _ = explore(corpus, tmp_path / "run", names={0: "earlier"})
    edited = run.edit({"names": {1: "now"}, "merge": [[0, 1]]})
    assert edited.names()[0] == "now"


def test_embeddings_are_merged_split_and_noted(tmp_path):
    rows, _, _ = sm.datasets.make_vmf_mixture(60, 5, 3, kappa=30.0, random_state=0)
    rows[7] = 0.0
    np.save(tmp_path / "rows.npy", rows)
    run, _ = explore(tmp_path / "rows.npy", tmp_path / "run", lemmatizer=None)
    before = outputs(run.folder)
    edited = run.edit({"merge": [[0, 1]], "notes": {"documents": {"8": "empty"}}})
    assert len(edited.mixture.weights_) == 2
    assert edited.documents["group"][7] is None
    assert edited.documents["note"][7] == "empty"
    edited.edit({"split": [0]}).undo_edits().undo_edits()
    assert outputs(run.folder) == before
    with pytest.raises(ParameterError, match="the columns of this run are no words"):
        run.edit({"drop_words": ["x0"]})


def test_the_folder_says_what_was_done(run):
    told = Told()
    edited = run.edit(edits_of(run, split=[0], misplaced=["doc 1"]), listener=told)
    assert "Fitting 4 groups again, from the edited ones" in told.begun
    [step] = json.loads((run.folder / "run.json").read_text("utf-8"))["edits"]
    assert step["edits"] == edits_of(
        run, split=[0], misplaced=["doc 1"], names={}, nodes=[], merge=[], move={}, drop_words=[],
        notes={"groups": {}, "documents": {}},
    )  # fmt: skip
    assert step["on"] == {"rows": run.info.parts["rows"], "dense": run.info.dense[3]}
    assert edited.edits[0].changes == step["changes"]


# Edits that follow their groups to other options and documents


def by_topic(run):
    """Return the name of the group that has most documents of each topic."""
    table = run.documents
    found = {}
    for topic in TOPICS:
        names = [
            name
            for name, other in zip(table["name"], table["topic"], strict=True)
            if other == topic and name
        ]
        found[topic] = max(set(names), key=names.count)
    return found


@pytest.fixture
def edited(base, tmp_path):
    """Return a run whose groups have the names of their topics, with notes and a dropped word."""
    run = sm.load_run(shutil.copytree(base.folder, tmp_path / "run"))
    groups = {topic: run.documents["group"][i] for i, topic in enumerate(TOPICS)}
    return run.edit(
        {
            "names": {k: topic.upper() for topic, k in groups.items()},
            "notes": {"groups": {groups["sky"]: "of stars"}, "documents": {"doc 4": "this one"}},
            "misplaced": ["doc 7"],
            "drop_words": ["onion"],
        }
    )


def test_with_more_documents_edits_find_their_groups(edited, tmp_path):
    """The new documents come first and the seed is another one: no number is what it was."""
    more = [*({**one, "id": f"new {i}"} for i, one in enumerate(texts(29, seed=5))), *texts(40)]
    run, told = explore(
        write_lines(tmp_path / "more.jsonl", more), edited.folder, force=True, seed=3
    )
    assert by_topic(run) == {topic: topic.upper() for topic in TOPICS}
    assert "onion" not in run.feature_names
    table = run.documents
    assert table["note"][table["id"].index("doc 4")] == "this one"
    assert [one for one, w in zip(table["id"], table["misplaced"], strict=True) if w] == ["doc 7"]
    assert run.groups["note"][run.groups["name"].index("SKY")] == "of stars"
    assert not [line for line in told.told if "could not" in line.lower()]
    assert len(run.edits) == 1
    back = run.undo_edits()
    assert back.names() is None
    assert "onion" in back.feature_names
    explore(tmp_path / "more.jsonl", tmp_path / "new" / "run", seed=3)
    assert outputs(back.folder) == outputs(tmp_path / "new" / "run")


def test_what_cannot_follow_is_said_and_kept_in_words(edited, tmp_path):
    """Without the documents of a topic its group is not there any more."""
    left = [one for one in texts(40) if one["topic"] != "sea" and one["id"] != "doc 4"]
    run, told = explore(write_lines(tmp_path / "left.jsonl", left), edited.folder, force=True, k=2)
    assert set(run.names()) == {"SKY", "FOOD"}
    lost = [line for line in told.told if line.startswith("Could not be kept")]
    assert len(lost) == 2
    assert "the name 'SEA' of the earlier group" in lost[0]
    assert "the note 'this one' on document 'doc 4', which is not there" in lost[1]
    assert run.edits[0].changes[-2:] == lost


def test_other_options_keep_edits_and_the_same_command_changes_nothing(corpus, edited):
    before, seen = contents(edited.folder), outputs(edited.folder)
    _, told = explore(corpus, edited.folder)
    assert "holds this run already, finished" in told.begun[-1]
    assert contents(edited.folder) == before
    run, _ = explore(corpus, edited.folder, label="none", criterion="aic")
    assert sorted(run.names()) == sorted(edited.names())
    assert run.info.fit == edited.info.fit  # the fits are those that were there
    run, _ = explore(corpus, edited.folder, kappa="free")
    assert by_topic_names(run, edited) == 40
    assert outputs(explore(corpus, edited.folder)[0].folder) == seen


def by_topic_names(run, other):
    """Count the documents whose group has the same name in two runs."""
    both = zip(run.documents["name"], other.documents["name"], strict=True)
    return sum(one == two for one, two in both)


def test_a_merge_that_cannot_be_made_again_is_said(corpus, base, tmp_path):
    run = sm.load_run(shutil.copytree(base.folder, tmp_path / "run"))
    merged = run.edit({"merge": [[0, 1]], "names": {0: "both"}})
    run, told = explore(corpus, merged.folder, k=2)
    assert any("the merge of the earlier groups 0 and 1" in line for line in told.told)
    assert run.mixture.weights_.size == 2
    assert run.edits[0].edits.merge == []


def test_documents_of_another_corpus_leave_all_edits_in_words(edited, tmp_path):
    other = [{"id": f"x{i}", "text": one["text"]} for i, one in enumerate(texts(40, seed=9))]
    run, told = explore(write_lines(tmp_path / "other.jsonl", other), edited.folder, force=True)
    assert {one.source for one in run.info.names} == {"spheremix"}
    assert len([line for line in told.told if line.startswith("Could not be kept")]) == 6


@pytest.mark.parametrize("damaged", ["dense-3-*", "rows-*", "documents-*", "run.json"])
def test_edits_of_a_damaged_run_are_kept_by_force(corpus, edited, damaged):
    """Where the groups that were edited can be found again, or made again; else it is said."""
    for path in edited.folder.rglob(damaged):
        if path.is_dir():
            (path / "content.json.gz").write_bytes(b"")
        else:
            content = json.loads(path.read_text(encoding="utf-8"))
            path.write_text(json.dumps({**content, "n_groups": "many"}), encoding="utf-8")
    run, told = explore(corpus, edited.folder, force=True)
    if damaged == "run.json":
        assert run.names() is None
        assert any(line.startswith("The run that was here cannot be read") for line in told.told)
    else:
        assert run.names() == edited.names()
        assert not run.check()


# In single steps


def groups_of(labels, ids, texts=None, words=("a", "b")):
    """Return groups of documents that are known by ids; -1 for those set aside."""
    labels = np.array(labels)
    kept = np.flatnonzero(labels >= 0)
    K = int(labels.max()) + 1
    rows = Rows(
        X=None,
        words=list(words),
        kept=kept,
        reasons={int(i): "" for i in np.flatnonzero(labels < 0)},
        corpus=Corpus(texts or [""] * len(ids), list(ids)),
    )
    return Groups(rows, "", {K: SimpleNamespace(labels_=labels[kept])}, K, {})


def test_a_group_is_the_same_from_two_thirds_of_the_documents_in_either():
    """Worked by hand: 2 of 3 documents in either are common to 0 and 1; 1 of 2 to 1 and 0."""
    known = Edits(
        run="old",
        names={0: "zero", 1: "one"},
        merge=[[0, 1]],
        split=[1],
        drop_words=["b", "z"],
        notes=EditNotes(groups={0: "n"}, documents={"c": "d", "q": "e"}),
        misplaced=["a", "q"],
    )
    now = groups_of([1, 1, 0, 0, -1, 0], ["a", "b", "c", "d", "e", "f"])
    edits, lost = follow(known, dict(zip("abcde", [0, 0, 0, 1, 1], strict=True)), now)
    assert edits.names == {1: "zero"}
    assert (edits.merge, edits.split, edits.drop_words) == ([], [], ["b"])
    assert edits.notes == EditNotes(groups={1: "n"}, documents={"c": "d"})
    assert edits.misplaced == ["a"]
    assert len(lost) == 6
    assert all(line.startswith("Could not be kept: the ") or "its split" in line for line in lost)
    assert "the dropping of 'z', which this run does not have as a word" in lost[-2]


def test_documents_with_numbers_only_are_known_by_their_texts():
    assert identities(Corpus(["x", "y"], ["a", "b"])) == ["a", "b"]
    one, two = identities(Corpus(["x", "y"], ["1", "2"]))
    assert identities(Corpus(["y", "z", "x"], ["1", "2", "3"]))[::2] == [two, one]
    known = Edits(run="old", notes=EditNotes(documents={"2": "of y"}), misplaced=["1"])
    now = groups_of([0, 1, 1], list("123"), ["y", "z", "x"])
    edits, lost = follow(known, {one: 0, two: 1}, now)
    assert edits.notes.documents == {"1": "of y"}
    assert edits.misplaced == ["3"]
    assert lost == []


def test_equal_texts_are_told_apart_by_their_order():
    found = identities(Corpus.from_texts(["a b", "c d", "a b", "a b"]))
    assert len(set(found)) == 4
    assert identities(Corpus.from_texts(["c d", "a b", "a b"])) == [found[1], found[0], found[2]]


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_rows_without_texts_are_known_by_their_values(container):
    """The second document is set aside; the first row comes again, and is told apart."""
    X = container(np.array([[1.0, 0.0], [0.6, 0.8], [1.0, 0.0]]))
    kept = np.array([0, 2, 3])
    rows = Rows(X=X, words=None, kept=kept, reasons={1: "empty row"}).beside(None)
    found = identities(rows.corpus, rows)
    assert len(set(found)) == 4
    assert found[3] == f"{found[0]}-2"
    order = Rows(X=X[[1, 0]], words=None, kept=np.array([0, 1]), reasons={}).beside(None)
    assert identities(order.corpus, order) == [found[2], found[0]]


def test_documents_that_nobody_knows_are_called_so():
    edits = Edits(run="old", notes=EditNotes(documents={"a": "x"}))
    found, lost = follow(edits, {"a": 0, "b": 0}, groups_of([0, 0], ["c", "d"]))
    assert found.notes.documents == {}
    assert lost[-1] == OTHERS


@pytest.mark.parametrize(
    ("merge", "split", "n_groups", "became", "parts"),
    [
        ([[0, 1]], [], 5, [0, 0, 2, 3, 1], {}),  # the last take the numbers that are freed
        ([[0, 1, 2]], [], 6, [0, 0, 0, 3, 1, 2], {}),
        ([[3, 4]], [], 5, [0, 1, 2, 3, 3], {}),
        ([[3, 1], [0, 4]], [2], 6, [0, 1, 2, 1, 0, 3], {2: 4}),
        ([[4, 1], [0, 5]], [3, 2], 6, [0, 1, 2, 3, 1, 0], {3: 4, 2: 5}),
        ([], [], 2, [0, 1], {}),
    ],
)
def test_numbers_after_merges_and_splits(merge, split, n_groups, became, parts):
    """Groups keep theirs, where a merge leaves them."""
    plan = Plan.of(Edits(run="", merge=merge, split=split), n_groups)
    assert (plan.became, plan.parts) == (became, parts)
    assert plan.n_groups == len({*became, *parts.values()})
    assert plan.after(np.array([1, -1, 0])).tolist() == [became[1], -1, became[0]]


# Groups along the tree: 0 and 1 are leaves 0 and 1; group 2 is node 4, of leaves 2 and 3


def small_tree():
    leaves, pairs = np.array([0, 0, 1, 2, 3, 3, -1]), np.array([[2, 3], [0, 1], [4, 5]])
    return Tree(leaves=leaves, groups=np.array([0, 1, 2, 2]), pairs=pairs, values=np.zeros(4))


@pytest.mark.parametrize(
    ("nodes", "numbers", "labels"),
    [
        ([4, 5], {5: 0, 4: 1}, [0, 0, 0, 1, 1, 1, -1]),
        ([0, 1, 4], {0: 0, 1: 1, 4: 2}, [0, 0, 1, 2, 2, 2, -1]),
        # The larger part of group 2 keeps its number, the other one comes last.
        ([0, 1, 2, 3], {0: 0, 1: 1, 3: 2, 2: 3}, [0, 0, 1, 3, 2, 2, -1]),
        ([6], {6: 0}, [0, 0, 0, 0, 0, 0, -1]),
        ([2, 3, 5], {5: 0, 3: 2, 2: 1}, [0, 0, 0, 1, 2, 2, -1]),
    ],
)
def test_numbers_of_nodes_as_groups(nodes, numbers, labels):
    found = Nodes.of(small_tree(), nodes, 3, "mine.json")
    assert found.numbers == numbers
    assert found.labels.tolist() == labels


@pytest.mark.parametrize("nodes", [[4], [4, 5, 0], [4, 4, 5], [4, 5, 9], [4, 5, -1]])
def test_nodes_that_are_no_cut_are_refused(nodes):
    with pytest.raises(ParameterError, match="nodes: they must hold each fine group"):
        Nodes.of(small_tree(), nodes, 3, "mine.json")


def test_names_notes_and_colours_go_along_the_tree():
    marks = Marks(named("zero", "one", "two"), EditNotes(groups={0: "a", 1: "b", 2: "c"}))
    marks = replace(marks, colours=[[3.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    both = marks.along(Nodes.of(small_tree(), [4, 5], 3, ""))
    assert {k: one.name for k, one in both.names.items()} == {0: "zero", 1: "two"}
    assert both.notes.groups == {0: "a\nb", 1: "c"}
    assert both.colours == [[1.0, 0.0], [0.0, 0.0]]
    parts = marks.along(Nodes.of(small_tree(), [0, 1, 2, 3], 3, ""))
    assert {k: one.name for k, one in parts.names.items()} == {0: "zero", 1: "one", 2: "two"}
    assert parts.colours == [*marks.colours, [0.0, 1.0]]
    automatic = replace(marks, names=named("zero", "one", "two", source=AUTOMATIC))
    for nodes, kept in (([4, 5], {1}), ([0, 1, 2, 3], {0, 1})):
        assert set(automatic.along(Nodes.of(small_tree(), nodes, 3, "")).names) == kept


def test_edits_of_nodes_are_in_the_numbers_of_groups():
    nodes = Nodes.of(small_tree(), [0, 1, 2, 3], 3, "")
    edits = Edits(
        run="", nodes=[0, 1, 2, 3], names={2: "small"}, merge=[[3, 0]], split=[1], move={"x": 3}
    )
    found = nodes.renumbered(edits)
    assert (found.nodes, found.names, found.merge) == ([], {3: "small"}, [[2, 0]])
    assert (found.split, found.move) == ([1], {"x": 2})


def test_groups_of_the_tree_are_fitted_and_taken_back(run):
    before, nodes = contents(run.folder), run.nodes
    own = {one.group: i for i, one in enumerate(nodes) if one.chosen}
    children = {k: [i for i, one in enumerate(nodes) if one.parent == own[k]] for k in own}
    k = next(k for k, parts in children.items() if parts)
    first, second = sorted(children[k], key=lambda i: -nodes[i].size)
    stay = [one for one in own if one != k]
    wanted = [*(own[one] for one in stay), first, second]
    names = {str(second): "second part", str(own[stay[0]]): "whole"}
    edited = run.edit(edits_of(run, nodes=wanted, names=names))
    assert edited.info.n_groups == 4
    was, now = (dict(zip(x.groups["group"], x.groups["name"], strict=True)) for x in (run, edited))
    assert (now[3], now[stay[0]]) == ("second part", "whole")
    # The others keep number, name and colour.
    assert now[stay[1]] == was[stay[1]]
    assert all(edited.colours[one] == run.colours[one] for one in stay)
    sizes = dict(zip(edited.groups["group"], edited.groups["size"], strict=True))
    told = [abs(sizes[k] - nodes[first].size), abs(sizes[3] - nodes[second].size)]
    assert max(told) <= 0.2 * nodes[own[k]].size
    assert "made from 4 nodes of the tree" in edited.edits[-1].changes[0]
    assert check_run(edited, refit=True) == []
    again = edited.edit({"names": {3: "later"}})
    assert "later" in again.groups["name"]
    assert contents(again.undo_edits().undo_edits().folder) == before


def test_documents_begin_where_they_are_moved_to(run):
    groups = dict(zip(run.documents["id"], run.documents["group"], strict=True))
    one = next(k for k, group in groups.items() if group == 0)
    edited = run.edit({"move": {one: 1}, "names": {1: "there"}})
    last = edited.edits[-1]
    moved = [line for line in last.changes if "moved by hand" in line]
    now = dict(zip(edited.documents["id"], edited.documents["group"], strict=True))[one]
    # A document of another subject goes back, and is marked.
    assert now == 0
    assert len(moved) == 1
    assert moved[0].startswith(
        "1 document moved by hand, of which 0 stayed; the others fit another"
    )
    assert edited.info.misplaced == [one]
    assert "there" in edited.groups["name"]


def named(*names, source="me"):
    return {k: Name(name=name, source=source) for k, name in enumerate(names) if name}


def test_names_notes_and_colours_go_with_their_groups():
    """The first of a merge that is named gives its name; automatic names of what changed go."""
    edits = Edits(run="", merge=[[2, 0]], split=[1])
    colours = [[3.0, 0.0], [0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]
    notes = EditNotes(groups={0: "a", 2: "b", 3: "c"}, documents={"x": "d"})
    marks = Marks({**named("zero", "one"), 3: Name(name="auto", source=AUTOMATIC)}, notes)
    after = replace(marks, colours=colours).moved(Plan.of(edits, 4), edits)
    assert {k: one.name for k, one in after.names.items()} == {0: "zero", 1: "one", 2: "auto"}
    assert after.notes == EditNotes(groups={0: "b\na", 2: "c"}, documents={"x": "d"})
    assert after.colours == [colours[2], colours[1], colours[3], [3.0, 0.0]]
    automatic = Marks(named("a, b", "c d", "e", "f", source=AUTOMATIC))
    assert {k: one.name for k, one in automatic.moved(Plan.of(edits, 4), edits).names.items()} == {
        2: "f"
    }
    dropped = Edits(run="", drop_words=["b"])
    assert set(automatic.moved(Plan.of(dropped, 4), dropped).names) == {1, 2, 3}
    both = Edits(run="", merge=[[0, 1]], names={1: "one"})
    assert marks.moved(Plan.of(both, 4), both).names[0].name == "one"


def test_equal_names_are_refused_or_told_apart():
    marks = Marks(named("same", "other", "same"))
    with pytest.raises(ParameterError, match="groups 0 and 2 have the same name, 'same'"):
        marks.check("edits.json")
    apart, said = marks.apart()
    assert [one.name for one in apart.names.values()] == ["same", "other", "same (2)"]
    assert said == ["Two groups would have the name 'same': group 2 is called 'same (2)'."]


# Colours


def node(parent, size, group, *, chosen=False):
    of = {"height": 0.0, "n_leaves": 1, "name": "", "words": []}
    words = {"sibling_words": [], "only_here_words": []}
    return Node(parent=parent, size=size, group=group, chosen=chosen, **of, **words)


def test_new_groups_get_the_first_colours_that_are_free():
    found = add_places([[2.0, 0.0], [0.0, 1.0]], 3)
    assert found == [[2.0, 0.0], [0.0, 1.0], [1.0, 0.0], [3.0, 0.0], [4.0, 0.0]]
    assert add_places([], 1) == [[0.0, 0.0]]

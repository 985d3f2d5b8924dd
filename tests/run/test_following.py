"""Edits that follow their groups when documents are explored again, or with other options."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from cli_common import TOPICS, texts, write_lines
from edit_common import contents, explore
from scipy import sparse
from spheremix.run.following import STRANGERS, follow, identities, places_of, rows_of, write_groups
from spheremix.run.history import read_groups
from spheremix.run.prepare import Rows
from spheremix.run.refitting import Groups

import spheremix as sm
from spheremix.run.edits import EditNotes, Edits, WaitingEdits
from spheremix.text import Corpus


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


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return write_lines(tmp_path_factory.mktemp("few") / "docs.jsonl", texts(40))


@pytest.fixture(scope="module")
def base(few, tmp_path_factory):
    return explore(few, tmp_path_factory.mktemp("base") / "run")[0]


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
    assert contents(back.folder) == contents(tmp_path / "new" / "run")


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


def test_other_options_keep_edits_and_the_same_command_changes_nothing(few, edited):
    before = contents(edited.folder)
    _, told = explore(few, edited.folder)
    assert "holds this run already, finished" in told.begun[-1]
    assert contents(edited.folder) == before
    run, _ = explore(few, edited.folder, label="none", criterion="aic")
    assert sorted(run.names()) == sorted(edited.names())
    assert run.info.fit == edited.info.fit  # the fits are those that were there
    run, _ = explore(few, edited.folder, kappa="free")
    assert by_topic_names(run, edited) == 40
    again = contents(explore(few, edited.folder)[0].folder)
    gone = {name for name in before if name not in again}  # nobody needs it but who goes back
    needless = ("path/", "stages/path", "firmness/", "stages/firmness")
    assert all(name.startswith(needless) for name in gone)
    assert again == {name: content for name, content in before.items() if name not in gone}


def by_topic_names(run, other):
    """Count the documents whose group has the same name in two runs."""
    both = zip(run.documents["name"], other.documents["name"], strict=True)
    return sum(one == two for one, two in both)


def test_a_merge_that_cannot_be_made_again_is_said(few, base, tmp_path):
    run = sm.load_run(shutil.copytree(base.folder, tmp_path / "run"))
    merged = run.edit({"merge": [[0, 1]], "names": {0: "both"}})
    run, told = explore(few, merged.folder, k=2)
    assert any("the merge of the earlier groups 0 and 1" in line for line in told.told)
    assert run.mixture.weights_.size == 2
    assert run.edits[0].edits.merge == []


def test_documents_of_another_corpus_leave_all_edits_in_words(edited, tmp_path):
    other = [{"id": f"x{i}", "text": one["text"]} for i, one in enumerate(texts(40, seed=9))]
    run, told = explore(write_lines(tmp_path / "other.jsonl", other), edited.folder, force=True)
    assert run.names() is None
    assert len([line for line in told.told if line.startswith("Could not be kept")]) == 6
    assert json.loads((Path(run.folder) / "edits.json").read_text("utf-8"))["steps"]


def test_a_damaged_run_is_replaced_by_force_and_its_edits_are_given_up(few, edited):
    (edited.folder / "edits.json").write_text("{}")
    with pytest.raises(sm.RunError, match=r"edits.json: damaged"):
        explore(few, edited.folder, k=2)
    (edited.folder / "edits.json").unlink()
    run, told = explore(few, edited.folder, k=2, force=True)
    assert any(line.startswith("The edits of the run cannot be kept") for line in told.told)
    assert run.edits() is None


# In single steps


def groups_of(labels, ids, words=("a", "b")):
    """Return groups of documents that are known by ids; -1 for those set aside."""
    labels = np.array(labels)
    kept = np.flatnonzero(labels >= 0)

    class Mixture:
        labels_ = labels[kept]

    K = int(labels.max()) + 1
    reasons = {int(i): "" for i in np.flatnonzero(labels < 0)}
    material = Rows(None, list(words), kept, reasons, Corpus([""] * len(ids), list(ids)))
    return Groups(material, {K: Mixture()}, K, None)


def test_groups_are_written_and_read_back():
    groups = groups_of([0, 2, -1, 1], "abcd")
    assert write_groups(groups.mixture.labels_, groups.material) == "0 2 - 1"
    assert read_groups("0 2 - 1").tolist() == [0, 2, -1, 1]


def test_a_group_is_the_same_from_two_thirds_of_the_documents_in_either():
    """Worked by hand: 2 of 3 documents in either are common to 0 and 1; 1 of 2 to 1 and 0."""
    known = WaitingEdits(
        edits=Edits(
            run="old",
            names={0: "zero", 1: "one"},
            merge=[[0, 1]],
            split=[1],
            drop_words=["b", "z"],
            notes=EditNotes(groups={0: "n"}, documents={"c": "d", "q": "e"}),
            misplaced=["a", "q"],
        ),
        groups="0 0 0 1 1",
        documents=list("abcde"),
        lost=[],
    )
    now = groups_of([1, 1, 0, 0, -1, 0], ["a", "b", "c", "d", "e", "f"])
    edits, lost = follow(known, places_of(now.material), now)
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
    known = WaitingEdits(
        edits=Edits(run="old", notes=EditNotes(documents={"2": "of y"}), misplaced=["1"]),
        groups="0 1",
        documents=[one, two],
        lost=[],
    )
    now = groups_of([0, 1, 1], ["1", "2", "3"])
    material = Rows(None, None, now.material.kept, {}, Corpus(["y", "z", "x"], list("123")))
    edits, lost = follow(known, places_of(material), Groups(material, now.dense, 2, None))
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
    rows = container(np.array([[1.0, 0.0], [0.6, 0.8], [1.0, 0.0]]))
    numbers = Corpus([""] * 4, list("1234"))
    material = Rows(rows, None, np.array([0, 2, 3]), {1: "empty row"}, numbers)
    found = identities(material.source, rows_of(material))
    assert len(set(found)) == 4
    assert found[3] == f"{found[0]}-2"
    order = Rows(rows[[1, 0]], None, np.array([0, 1]), {}, Corpus(["", ""], list("12")))
    assert identities(order.source, rows_of(order)) == [found[2], found[0]]


def test_documents_that_nobody_knows_are_called_so():
    edits = Edits(run="old", notes=EditNotes(documents={"a": "x"}))
    known = WaitingEdits(edits=edits, groups="0 0", documents=["a", "b"], lost=[])
    now = groups_of([0, 0], ["c", "d"])
    found, lost = follow(known, places_of(now.material), now)
    assert found.notes.documents == {}
    assert lost[-1] == STRANGERS

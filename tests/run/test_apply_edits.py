"""Edits made to runs: they reach everything that people read, and can be taken back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from cli_common import texts, write_lines
from edit_common import Told, contents, edits_of, explore, write_edits
from spheremix.run.ownership import Ownership

import spheremix as sm
from spheremix.errors import ParameterError

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
    assert contents(back.undo_edits().folder) == contents(base.folder)
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


@pytest.mark.parametrize(
    "parts",
    [{"merge": [[2, 0]]}, {"split": [1]}, {"drop_words": ["boat", "water"]}, {"names": {0: "x"}}],
    ids=str,
)
def test_going_back_gives_the_bytes_before(base, run, parts):
    edited = run.edit({**parts, "notes": {"groups": {1: "kept"}}})
    assert "kept" in edited.groups["note"]
    assert edited.info.versions == base.info.versions
    assert not any(Ownership(run.folder).others(checked=True))
    assert not (run.folder / "progress").exists()
    assert contents(edited.undo_edits().folder) == contents(base.folder)


def test_a_chain_of_edits_is_that_of_a_new_folder(base, run, tmp_path):
    """However often it is edited and taken back, what stands depends on the edits alone."""
    chain = ({"merge": [[0, 1]], "names": {0: "both"}}, {"drop_words": ["boat"]}, {"split": [0]})
    state = run
    for parts in chain:
        state = state.edit(parts)
    state.undo_edits().undo_edits()
    one = contents(run.folder)
    other = sm.load_run(shutil.copytree(base.folder, tmp_path / "other" / "run"))
    assert contents(other.edit(chain[0]).folder) == one
    assert state.names() == ["both", *state.names()[1:]]


def test_what_is_refused_leaves_the_folder_as_it_was(run, tmp_path):
    before = contents(run.folder)
    for parts, problem in (
        ({"merge": [[0, 7]]}, "there is no group 7"),
        ({"drop_words": ["nowhere"]}, "'nowhere' is not a word"),
        ({"misplaced": ["doc 99"]}, "no document with the id 'doc 99'"),
        ({"names": {0: run.groups["name"][1]}}, "is the automatic name of group"),
    ):
        with pytest.raises(ParameterError, match=problem):
            run.edit(parts)
        assert contents(run.folder) == before
    words = [word for word in run.feature_names if word not in {"boat", "wave"}]
    with pytest.raises(ParameterError, match=r"the edited groups cannot be fitted .*class"):
        run.edit({"drop_words": words, "names": {0: "x"}})
    assert contents(run.folder) == before
    with (run.folder / "groups.csv").open("ab") as file:
        file.write(b"mine")
    with pytest.raises(sm.RunError, match=r"groups.csv .changed since"):
        run.edit({"names": {0: "x"}})
    saved = sm.load_run(sm.save_run(tmp_path / "saved", run.mixture))
    with pytest.raises(sm.RunError, match="only a run of spheremix explore can be edited"):
        saved.edit({"names": {0: "x"}})


def test_other_versions_of_libraries_are_named(run, monkeypatch):
    monkeypatch.setattr(sm, "__version__", "99")
    with pytest.raises(sm.RunError, match=r"versions of libraries .spheremix is 99 now and was "):
        run.edit({"names": {0: "x"}})


def test_names_given_with_the_options_stay_and_follow_a_merge(corpus, tmp_path):
    run, _ = explore(corpus, tmp_path / "run", names={0: "first", 2: "last"})
    before = contents(run.folder)
    edited = run.edit({"merge": [[1, 2]]})
    assert edited.names() == ["first", "last"]
    assert contents(edited.undo_edits().folder) == before


def test_a_merged_group_has_the_name_that_was_given_with_the_merge(corpus, tmp_path):
    run, _ = explore(corpus, tmp_path / "run", names={0: "earlier"})
    edited = run.edit({"names": {1: "now"}, "merge": [[0, 1]]})
    assert edited.names()[0] == "now"


def test_embeddings_are_merged_split_and_noted(tmp_path):
    rows, _, _ = sm.datasets.make_vmf_mixture(60, 5, 3, kappa=30.0, random_state=0)
    rows[7] = 0.0
    np.save(tmp_path / "rows.npy", rows)
    run, _ = explore(tmp_path / "rows.npy", tmp_path / "run", lemmatizer=None)
    before = contents(run.folder)
    edited = run.edit({"merge": [[0, 1]], "notes": {"documents": {"8": "empty"}}})
    assert len(edited.mixture.weights_) == 2
    assert edited.documents["group"][7] is None
    assert edited.documents["note"][7] == "empty"
    edited.edit({"split": [0]}).undo_edits().undo_edits()
    assert contents(run.folder) == before
    with pytest.raises(ParameterError, match="the columns of this run are no words"):
        run.edit({"drop_words": ["x0"]})


def test_the_file_of_the_folder_says_what_was_done(run):
    told = Told()
    edited = run.edit(edits_of(run, split=[0], misplaced=["doc 1"]), listener=told)
    assert "Fitting 4 groups again, from the edited ones" in told.begun
    content = json.loads((Path(run.folder) / "edits.json").read_text("utf-8"))
    assert content["format"] == "spheremix edits of a run"
    [step] = content["steps"]
    assert step["edits"] == edits_of(
        run, split=[0], misplaced=["doc 1"], names={}, merge=[], drop_words=[],
        notes={"groups": {}, "documents": {}},
    )  # fmt: skip
    dense = run.dense[3].labels_
    assert [int(k) for k in step["groups"].split()] == dense.tolist()
    assert edited.edits[0].changes == step["changes"]


@pytest.mark.parametrize("damage", [{"steps": []}, {"format": "other"}, {"version": 9}])
def test_a_history_that_is_none_is_called_damaged(run, monkeypatch, damage):
    edited = run.edit({"names": {0: "first"}})
    kept = json.loads((edited.folder / "edits.json").read_text(encoding="utf-8"))
    monkeypatch.setattr("spheremix.run.history.read_json", lambda _: {**kept, **damage})
    with pytest.raises(sm.RunError, match=r"edits.json: damaged: this is no history of edits"):
        edited.edits()

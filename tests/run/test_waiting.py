"""Edits that a later run cannot have wait, and are made again when their groups come back."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from cli_common import texts, write_lines
from edit_common import contents, explore
from spheremix.run.marks import Marks
from spheremix.run.schema import NameRecord

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.run import refitting
from spheremix.run.names import LONGEST, put_names, told_apart


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_lines(tmp_path_factory.mktemp("corpus") / "docs.jsonl", texts(40))


@pytest.fixture(scope="module")
def base(corpus, tmp_path_factory):
    return explore(corpus, tmp_path_factory.mktemp("base") / "run", max_steps=2)[0]


@pytest.fixture
def run(base, tmp_path):
    return sm.load_run(shutil.copytree(base.folder, tmp_path / "run"))


def test_edits_come_back_with_their_groups(corpus, run):
    """To two groups and back: what was kept in words only is made again, to the same bytes."""
    edits = {"merge": [[1, 2]], "names": {0: "zero", 2: "two"}, "notes": {"groups": {1: "mine"}}}
    before = contents(run.edit(edits).folder)["edits.json"]
    fewer, told = explore(corpus, run.folder, max_steps=2, k=2)
    lost = [line for line in told.told if line.startswith("Could not be kept")]
    [step] = fewer.edits().steps
    assert step.waiting.lost == lost
    assert step.waiting.edits.merge == [[1, 2]]
    assert step.edits.merge == []
    fewer.edit({"misplaced": ["doc 1"]}, listener=told)
    assert [line for line in told.told if line in lost] == lost  # said once
    fewer.undo_edits()
    back, told = explore(corpus, run.folder, max_steps=2)
    assert not [line for line in told.told if "Could not be kept" in line]
    assert contents(back.folder)["edits.json"] == before
    assert back.names() == ["zero", "two"]


def test_rows_of_another_matrix_get_no_notes_and_the_first_ones_get_them_back(tmp_path):
    """Rows have numbers only: row 3 of another matrix is another document."""
    rows, _, _ = sm.datasets.make_vmf_mixture(60, 5, 3, kappa=30.0, random_state=0)
    other, _, _ = sm.datasets.make_vmf_mixture(60, 5, 3, kappa=30.0, random_state=1)
    more = np.vstack([other[:20], rows])
    paths = {}
    for name, one in {"rows": rows, "other": other, "more": more}.items():
        paths[name] = tmp_path / f"{name}.npy"
        np.save(paths[name], one)
    how = {"lemmatizer": None, "max_steps": 2, "force": True}
    run, _ = explore(paths["rows"], tmp_path / "run", **how)
    run.edit({"notes": {"documents": {"3": "this row"}}, "misplaced": ["5"]})
    run, told = explore(paths["other"], run.folder, **how)
    assert "note" not in run.documents
    assert "misplaced" not in run.documents
    assert any("the note 'this row' on document '3', which is not there" in x for x in told.told)
    assert any("None of the documents that were edited is in this run" in x for x in told.told)
    run, told = explore(paths["more"], run.folder, **how)
    assert [i for i, note in enumerate(run.documents["note"]) if note] == [22]
    assert [i for i, wrong in enumerate(run.documents["misplaced"]) if wrong] == [24]
    assert not [line for line in told.told if "not there" in line]


def test_names_that_clash_since_edits_followed_are_both_kept(corpus, run):
    run.edit({"names": {1: "Sea"}})
    names = {0: "Sea"}
    found, told = explore(corpus, run.folder, max_steps=2, names=names)
    assert found.names()[:2] == ["Sea", "Sea (2)"]
    line = "Two groups would have the name 'Sea': group 1 is called 'Sea (2)'."
    assert line in told.told
    again = found.edit({"notes": {"groups": {0: "kept"}}})
    assert again.names()[:2] == ["Sea", "Sea (2)"]
    with pytest.raises(ParameterError, match=r"have the same name, 'Sea': give one of them"):
        again.edit({"names": {2: "Sea"}})


def test_an_automatic_name_yields_to_one_that_followed():
    given = {1: NameRecord(name="boat", source="mine.json")}
    with pytest.raises(ParameterError, match="'boat' is the automatic name of cluster 0"):
        put_names(["boat", "sky"], given)
    found = put_names(["boat", "sky"], given, {"boat"})
    assert [one.name for one in found] == ["boat (2)", "boat"]
    assert told_apart("a", {"a", "a (2)"}) == "a (3)"
    assert len(told_apart("a" * LONGEST, {"a" * LONGEST})) <= LONGEST
    three = {k: NameRecord(name="x", source="f") for k in (2, 0, 1)}
    apart, said = Marks(three).apart()
    assert {k: one.name for k, one in apart.names.items()} == {0: "x", 1: "x (2)", 2: "x (3)"}
    assert len(said) == 2


@pytest.mark.parametrize("parts", [{"misplaced": ["doc 1"]}, {"merge": [[0, 1]]}], ids=str)
def test_names_of_a_function_stay_when_the_run_is_edited_further(corpus, run, parts):
    def namer(clusters):
        return [f"called {one['cluster']}" for one in clusters]

    run.edit(parts)
    named, _ = explore(corpus, run.folder, max_steps=2, names=namer)
    expected = [f"called {k}" for k in range(len(named.mixture.weights_))]
    assert named.names() == expected
    further = named.edit({"notes": {"groups": {0: "more"}}})
    assert further.names() == expected
    assert further.edit({"merge": [[0, 1]]}).names() == [expected[0], *expected[2:]]
    assert further.undo_edits().names() == expected


def test_a_fit_that_fails_in_another_run_leaves_nothing_behind(corpus, run, monkeypatch):
    """What is fitted after it lies where a run without such edits has it."""
    run.edit({"drop_words": ["boat"], "names": {0: "zero"}})

    def fail(*_):
        raise ParameterError("no such groups")

    monkeypatch.setattr(refitting, "_fit", fail)
    found, told = explore(corpus, run.folder, max_steps=2, seed=4)
    assert any("merges, splits and dropped words: no such groups" in line for line in told.told)
    assert "zero" in found.names()
    assert not [name for name in contents(found.folder) if "edited" in name]
    assert found.edits().steps[0].waiting.edits.drop_words == ["boat"]

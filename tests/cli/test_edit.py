"""``spheremix edit``: edits, what it says about them, and the way back."""

from __future__ import annotations

import shutil

import pytest
from cli_common import refusal, rows, run, texts, write_lines
from edit_common import contents, explore, write_edits

import spheremix as sm


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    place = tmp_path_factory.mktemp("edit")
    return explore(write_lines(place / "docs.jsonl", texts(30)), place / "run")[0]


def test_edits_are_made_told_refused_and_taken_back(base, tmp_path):
    before = contents(base.folder)
    assert "take back the last edits" in run("edit", "--help")[0].lower()
    wrong = write_edits(tmp_path / "wrong.json", base, merge=[[0, 9]])
    assert refusal("edit", base.folder, wrong) == (
        "error: edits (wrong.json): there is no group 9: the run has 3 groups, numbered from 0: "
        "use the numbers of groups.csv."
    )
    line = refusal("edit", base.folder)
    assert line == "error: Give either a file of edits or --undo: see --help."
    assert refusal("edit", base.folder, wrong, "--undo") == line
    assert "no edits that could be taken back" in refusal("edit", base.folder, "--undo")
    assert "there is no such folder" in refusal("edit", tmp_path / "nowhere", wrong)
    assert contents(base.folder) == before
    file = write_edits(tmp_path / "mine.json", base, names={"2": "Küche"}, merge=[[0, 1]])
    out, _ = run("edit", base.folder, file, "--threads", 1)
    assert "Küche" in out
    assert "2 groups (edited)" in out
    assert "Edited once. mine.json: Groups 0 and 1 were merged" in out
    told = " ".join((base.folder / "README.txt").read_text(encoding="utf-8").split())
    assert "This run was edited once. The last edits (mine.json): Groups 0 and 1" in told
    assert [row["name"] for row in rows(base.folder / "groups.csv")].count("Küche") == 1
    assert len(sm.load_run(base.folder).mixture.weights_) == 2
    again, said = run("edit", base.folder, file)
    assert "Fitting" not in said
    assert "Edited once" in again
    out, _ = run("edit", base.folder, "--undo")
    assert "edited" not in out
    assert contents(base.folder) == before


def test_a_table_renames_groups_as_an_edit(base, tmp_path):
    folder = shutil.copytree(base.folder, tmp_path / "run")
    before, table = contents(folder), tmp_path / "names.csv"
    table.write_text("group,name\n2,K\u00fcche\n", encoding="utf-8")
    out, _ = run("edit", folder, table, "--threads", 1)
    assert "Edited once. names.csv: " in out
    found = sm.load_run(folder)
    assert found.groups["name"][found.groups["group"].index(2)] == "K\u00fcche"
    table.write_text("group,name,fit\n2,Sky,0123456789abcdef\n", encoding="utf-8")
    assert "made for another run" in refusal("edit", folder, table)
    table.write_text("cluster,name\n2,Sky\n", encoding="utf-8")
    assert "there is no column 'group'" in refusal("edit", folder, table)
    run("edit", folder, "--undo")
    assert contents(folder) == before


def test_the_help_says_how_groups_are_renamed():
    told = " ".join(run("edit", "--help")[0].split())
    assert "spheremix edit run names.csv" in told
    assert "spheremix edits" in told

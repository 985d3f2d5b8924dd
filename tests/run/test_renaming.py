"""Groups are renamed by a table of clusters and names."""

from __future__ import annotations

import shutil

import pytest
from cli_common import refusal, run, texts, write_lines
from edit_common import contents, explore

import spheremix as sm


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    place = tmp_path_factory.mktemp("renaming")
    return explore(write_lines(place / "docs.jsonl", texts(30)), place / "run")[0]


def test_a_table_renames_groups_as_an_edit(base, tmp_path):
    folder = shutil.copytree(base.folder, tmp_path / "run")
    before, table = contents(folder), tmp_path / "names.csv"
    table.write_text("cluster,name\n2,K\u00fcche\n", encoding="utf-8")
    out, _ = run("edit", folder, table, "--threads", 1)
    assert "The last edits (names.csv)" in out
    found = sm.load_run(folder)
    assert found.groups["name"][found.groups["group"].index(2)] == "K\u00fcche"
    table.write_text("cluster,name,fit\n2,Sky,0123456789abcdef\n", encoding="utf-8")
    assert "made for another run" in refusal("edit", folder, table)
    table.write_text("group,name\n2,Sky\n", encoding="utf-8")
    assert "there is no column 'cluster'" in refusal("edit", folder, table)
    run("edit", folder, "--undo")
    assert contents(folder) == before


def test_the_help_says_how_groups_are_renamed():
    told = " ".join(run("edit", "--help")[0].split())
    assert "spheremix edit run names.csv" in told
    assert "spheremix edits" in told

"""Histories of edits: kept whatever happens to the rest of a run, and checked before they count."""

from __future__ import annotations

import hashlib
import json
import shutil

import pytest
from cli_common import texts, write_lines
from edit_common import contents, explore
from listening import Told
from spheremix.run.history import read_groups
from spheremix.run.store import read_json

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.run import render, store


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_lines(tmp_path_factory.mktemp("corpus") / "docs.jsonl", texts(30))


@pytest.fixture(scope="module")
def base(corpus, tmp_path_factory):
    run, _ = explore(corpus, tmp_path_factory.mktemp("base") / "run", max_steps=2)
    return run.edit({"names": {0: "zero"}, "notes": {"groups": {1: "mine"}}})


@pytest.fixture
def run(base, tmp_path):
    return sm.load_run(shutil.copytree(base.folder, tmp_path / "run"))


def rewritten(run, **parts):
    """Write another history of one step into a run, with its size and checksum in run.json."""
    path, manifest = run.folder / "edits.json", run.folder / "run.json"
    content = json.loads(path.read_bytes())
    for name, value in parts.items():
        where = content["steps"][0] if name == "groups" else content["steps"][0]["edits"]
        where[name] = value
    path.write_text(json.dumps(content), encoding="utf-8")
    listed = json.loads(manifest.read_bytes())
    data = path.read_bytes()
    listed["files"]["edits.json"] = {
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    manifest.write_text(json.dumps(listed), encoding="utf-8")


@pytest.mark.parametrize(
    "missing",
    ["dense/3/kappas.npy", "documents.csv", "corpus.jsonl.gz", "matrix/data.npy", "manifest"],
)
def test_edits_of_a_damaged_run_are_kept_by_force(corpus, run, missing):
    if missing == "manifest":  # it can be read, but not as that of a run
        content = read_json(run.folder / "run.json")
        content.update(best_n_components="many", edits=None)
        (run.folder / "run.json").write_text(json.dumps(content))
    else:
        (run.folder / missing).unlink()
    found, told = explore(corpus, run.folder, max_steps=2, force=True)
    assert found.names()[0] == "zero"
    assert "mine" in found.clusters["note"]
    assert not [line for line in told.told if "kept" in line]


def test_edits_of_a_damaged_run_find_their_groups_among_other_documents(run, tmp_path):
    (run.folder / "dense/3/kappas.npy").unlink()
    more = [*texts(30), {"id": "new", "text": "boat wave boat sailor"}]
    source = write_lines(tmp_path / "more.jsonl", more)
    found, told = explore(source, run.folder, max_steps=2, force=True)
    assert "zero" in found.names()
    assert not [line for line in told.told if "kept" in line]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_stopped_after_edits_were_taken_back_no_more_is_taken_back(run, monkeypatch, error):
    """The second command, and the third, go on with the first."""
    first = contents(run.folder)
    run.edit({"notes": {"groups": {0: "second"}}})
    third = run.edit({"notes": {"groups": {2: "third"}}})
    with monkeypatch.context() as patch:

        def stop(*_):
            raise error

        patch.setattr(render, "draw", stop)
        for _ in range(2):
            with pytest.raises(error):
                third.undo_edits()
    back = third.undo_edits()
    assert len(back.edits().steps) == 2
    assert not (run.folder / "progress").exists()
    assert contents(back.undo_edits().folder) == first


def test_more_edits_than_can_be_read_are_refused_and_change_nothing(run, monkeypatch):
    before = contents(run.folder)
    read = [name for name in before if name.endswith(".json") and name != "report.json"]
    size = max((run.folder / name).stat().st_size for name in read) + 5_000
    monkeypatch.setattr(store, "MANIFEST_BYTES", size)
    with pytest.raises(sm.RunError, match=r"edits.json: with all edits .* in one file") as raised:
        run.edit({"notes": {"documents": {f"doc {i}": "x" * 9000 for i in range(30)}}})
    assert f"and {size:,} can be read" in str(raised.value)
    assert contents(run.folder) == before


def test_files_that_are_too_large_are_called_so(tmp_path, monkeypatch):
    path = tmp_path / "edits.json"
    path.write_text('{"a": "' + "x" * 2**20 + '"}')
    monkeypatch.setattr(store, "MANIFEST_BYTES", 2**20)
    with pytest.raises(sm.RunError, match=r"edits.json: larger than 1 MiB, which no such file is"):
        read_json(path)


@pytest.mark.parametrize("groups", ["0 1 30", "0 999999999 -", "0 x", f"0 {'9' * 30}", "0 -1"])
def test_groups_that_no_run_has_are_called_damaged(run, groups):
    with pytest.raises(ParameterError, match=r"number of a group|there is no group"):
        read_groups(groups)
    rewritten(run, groups=groups)
    for work in (run.undo_edits, sm.load_run(run.folder).edits):
        with pytest.raises(sm.RunError, match=r"edits.json: damaged: edit 1: .*put the file back"):
            work()


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"merge": [[0, 99]]}, "there is no group 99"),
        ({"split": [2**61]}, f"there is no group {2**61}"),
        ({"names": {"7": "x"}}, "there is no group 7"),
        ({"merge": [[0]]}, "is not two groups or more"),
        ({"drop_words": ["nowhere"]}, "'nowhere' is not a word of the run"),
    ],
    ids=str,
)
def test_numbers_of_a_stored_history_are_checked_and_nothing_is_lost(run, parts, problem):
    rewritten(run, **parts)
    told = Told()
    found = run.edit({"misplaced": ["doc 1"]}, listener=told)
    assert any(problem in line for line in told.told)
    first, second = found.edits().steps
    assert second.edits.misplaced == ["doc 1"]
    name, value = next(iter(parts.items()))
    kept = getattr(first.waiting.edits, name)
    assert kept == ({7: "x"} if name == "names" else value)


def test_damaged_names_and_notes_are_called_so(run):
    rewritten(run, names={"0": "a\u202eb"})
    with pytest.raises(sm.RunError, match=r"edits.json: damaged: edit 1: .*unprintable"):
        run.undo_edits()

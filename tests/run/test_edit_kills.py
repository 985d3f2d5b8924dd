"""Edits that are killed at any moment go on, and end with the same bytes."""

from __future__ import annotations

import shutil

import pytest
from cli_common import texts, write_lines
from edit_common import contents, edits_of, explore
from killing import killed
from spheremix.run.editing import edit_run, undo_edits
from spheremix.run.ownership import Ownership

import spheremix as sm

STEP = 24  # files between two kills: fewer than those for which neither run is there
WORK = """
from spheremix.run.editing import edit_run, undo_edits
if {edits!r} is None:
    undo_edits({folder!r}, threads=1)
else:
    edit_run({folder!r}, {edits!r}, threads=1)
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_lines(tmp_path_factory.mktemp("corpus") / "docs.jsonl", texts(30))


@pytest.fixture(scope="module")
def base(corpus, tmp_path_factory):
    return explore(corpus, tmp_path_factory.mktemp("base") / "run", max_steps=2)[0]


def killed_edit(server, folder, edits, n):
    """Kill an edit before it renames or removes its n-th file; tell whether it was."""
    return killed(server, WORK.format(folder=str(folder), edits=edits), n)


def again(folder, edits):
    """Return the command again that was killed."""
    if edits is None:
        return undo_edits(folder)
    return edit_run(folder, edits)


@pytest.mark.parametrize("undoing", [False, True], ids=["edit", "undo"])
def test_killed_at_any_moment_edits_go_on(server, corpus, base, tmp_path, undoing):
    """Whoever goes on, by the same command, by the other one or by explore, it is as it should."""
    words = {"merge": [[0, 1]], "drop_words": ["boat"], "names": {2: "last"}}
    edits = {"format": "spheremix edits", "version": 1, "run": base.manifest.fit, **words}
    edited = sm.load_run(shutil.copytree(base.folder, tmp_path / "edited" / "run")).edit(edits)
    start, end = (edited, base) if undoing else (base, edited)
    given = None if undoing else edits
    first, last, on_the_way, n = contents(start.folder), contents(end.folder), 0, 1
    while True:
        folder = tmp_path / "killed" / "run"
        shutil.copytree(start.folder, folder)
        if not killed_edit(server, folder, given, n):
            break
        state = contents(folder)
        if "run.json" not in state:
            on_the_way += 1
            with pytest.raises(sm.RunError, match="not a finished run"):
                sm.load_run(folder)
            explored = shutil.copytree(folder, tmp_path / "explored" / "run")
            explore(corpus, explored, max_steps=2)
            assert contents(explored) == last, n
            shutil.rmtree(explored)
        elif state["run.json"] == first["run.json"]:
            assert sm.load_run(folder).manifest.fit == start.manifest.fit
        if state.get("run.json") == last["run.json"] and "progress/command.json" not in state:
            left = {name: state[name] for name in state if not name.startswith("progress/")}
            assert left == last, n  # all was done but the lock: taken back again, more would go
        else:
            again(folder, given)
            assert contents(folder) == last, n
            assert not any(Ownership(folder).others(checked=True))
        shutil.rmtree(folder)
        n += STEP
    assert on_the_way
    assert contents(folder) == last


def test_edits_on_their_way_can_be_taken_back_or_followed_by_others(server, base, tmp_path):
    edits = {"format": "spheremix edits", "version": 1, "run": base.manifest.fit, "split": [0]}
    found, n = [], 10
    while not found:  # the first moment at which neither run is there
        folder = shutil.copytree(base.folder, tmp_path / str(n) / "run")
        assert killed_edit(server, folder, edits, n)
        found = [] if (folder / "run.json").exists() else [folder]
        n += STEP
    other = shutil.copytree(folder, tmp_path / "other" / "run")
    assert contents(again(folder, None).folder) == contents(base.folder)
    run = sm.load_run(shutil.copytree(base.folder, tmp_path / "split" / "run")).edit(edits)
    more = {**edits, "run": run.manifest.fit, "split": [], "names": {"3": "part"}}
    assert again(other, more).names()[3] == "part"
    assert contents(other) == contents(run.edit(more).folder)


def test_edits_on_their_way_find_their_groups_in_another_run(server, corpus, base, tmp_path):
    """The groups that were meant are recorded before the run goes that had them."""
    edits = edits_of(base, names={"0": "zero"})
    folder, n = shutil.copytree(base.folder, tmp_path / "run"), 1
    while (folder / "run.json").exists():
        assert killed_edit(server, folder, edits, n)
        n += 1
    run, told = explore(corpus, folder, max_steps=2, kappa="free")
    assert run.manifest.fit != base.manifest.fit
    assert "zero" in run.names()
    assert not [line for line in told.told if "Could not be kept" in line]

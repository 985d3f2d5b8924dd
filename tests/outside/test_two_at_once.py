"""Two commands at once in one folder: one does it, the other waits or is refused in one line."""

from __future__ import annotations

import os
import shutil
import signal

import pytest

pytest.importorskip("typer")

from processes import changes_of, refusals, until
from story import group_names, outputs

import spheremix as sm


def check(found):
    """Commands that were started at once: each did it, or said in one line why not."""
    codes = [code for code, _ in found]
    assert set(codes) <= {0, 2}
    assert 0 in codes
    for code, text in found:
        assert len(refusals(text)) == (code != 0), text
    return codes


@pytest.mark.parametrize("n", [2, 4])
def test_exploring(small, commands, tmp_path, n):
    folder = tmp_path / "run"
    started = [commands.start(*small.explore(folder)) for _ in range(n)]
    check([commands.end(one) for one in started])
    assert outputs(folder) == outputs(small.folder)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_second_one_while_the_first_is_in_the_middle(small, commands, tmp_path, share):
    """The first is stopped where it is, and goes on when the second has tried."""
    changes = commands.done(*small.explore(tmp_path / "calm"), folder=tmp_path / "calm")
    folder, at = tmp_path / "run", max(1, int(share * changes))
    how = {"folder": folder, "at": at, "what": signal.SIGSTOP}
    first = commands.start(*small.explore(folder), **how)
    assert until(lambda: changes_of(first) >= at)
    second = commands.start(*small.explore(folder, "--seed", "1", "--force"))
    second.join(3)
    os.kill(first.pid, signal.SIGCONT)
    found = [commands.end(first), commands.end(second)]
    codes = check(found)
    assert codes[0] == 0
    if codes[1]:
        assert outputs(folder) == outputs(small.folder)
    else:  # it waited
        commands.done(*small.explore(folder, "--seed", "1"))


def test_edits(small, commands, copy):
    """Each is made or refused, and none is lost."""
    given = [small.edits_file(f"at once {k}.json", names={str(k): f"called {k}"}) for k in range(3)]
    started = [commands.start("edit", copy, one) for one in given]
    codes = check([commands.end(one) for one in started])
    names = list(group_names(sm.load_run(copy)).values())
    assert [f"called {k}" in names for k in range(3)] == [code == 0 for code in codes]
    for code in codes:
        if code == 0:
            commands.done("edit", copy, "--undo")
    assert outputs(copy) == outputs(small.folder)


def test_updates(small, commands, tmp_path):
    alone = ("update", small.named, small.new, "--threads", 1, "-o")
    commands.done(*alone, tmp_path / "alone")
    started = [commands.start(*alone, tmp_path / "run") for _ in range(2)]
    check([commands.end(one) for one in started])
    assert outputs(tmp_path / "run") == outputs(tmp_path / "alone")


def test_an_edit_and_an_exploration(small, commands, copy):
    """Whatever comes first, a run with all of its outputs is left."""
    edit = commands.start("edit", copy, small.edits)
    other = commands.start(*small.explore(copy, "--criterion", "aic"))
    check([commands.end(edit), commands.end(other)])
    assert set(outputs(copy)) >= set(outputs(small.folder))
    sm.load_run(copy)
    shutil.rmtree(copy)

"""Killed at any moment, the same command gives the same outputs as one that nobody disturbed."""

from __future__ import annotations

import shutil
import time

import numpy as np
import pytest

pytest.importorskip("typer")

from processes import changes_of
from story import outputs

import spheremix as sm

QUICK, LONG = 3, 40
WORKS = ("explore", "force", "other options", "edit", "undo", "update")
KILLS = [
    *((work, QUICK, 0) for work in WORKS),
    *(pytest.param(work, LONG, 1, marks=pytest.mark.slow) for work in WORKS),
]


def begin(small, work, folder):
    """Put what is there before a command into a folder."""
    before = {"edit": small.folder, "undo": small.edited}
    before |= dict.fromkeys(("other options", "force"), small.folder)
    if work in before:
        shutil.copytree(before[work], folder)
    return folder


def typed(small, work, folder):
    """Return what is typed."""
    return {
        "explore": small.explore(folder),
        "force": small.explore(folder, "--min-df", "3", "--force"),
        "other options": small.explore(folder, "--criterion", "aic", "--kappa", "free"),
        "edit": ("edit", folder, small.edits, "--threads", 1),
        "undo": ("edit", folder, "--undo", "--threads", 1),
        "update": ("update", small.named, small.new, "-o", folder, "--threads", 1),
    }[work]


@pytest.fixture(scope="module")
def calm(server, small, tmp_path_factory):
    """Return, for each command, what it leaves where nobody disturbs it, and how many changes."""
    from processes import Commands  # noqa: PLC0415

    found = {}

    def of(work):
        if work not in found:
            place = tmp_path_factory.mktemp("calm")
            folder = begin(small, work, place / "run")
            process = Commands(server, place).start(*typed(small, work, folder), folder=folder)
            begun = time.monotonic()
            process.join()
            assert process.exitcode == 0, process.said.read_text()
            found[work] = outputs(folder), changes_of(process), time.monotonic() - begun
        return found[work]

    return of


def check_between(folder):
    """A folder on the way is not a finished run, or one that can be read."""
    try:
        run = sm.load_run(folder)
    except sm.RunError as error:
        assert len(str(error).splitlines()) == 1  # noqa: PT017
    else:
        assert run.documents is not None
        assert run.documents.n_rows


@pytest.mark.parametrize(("work", "n", "seed"), KILLS)
def test_killed_at_any_change_of_a_file(small, commands, calm, tmp_path, work, n, seed):
    expected, changes, _ = calm(work)
    rng, kills = np.random.default_rng([seed, WORKS.index(work)]), 0
    assert changes > 2
    for i in range(n):  # the moments are spread over the whole command
        folder = begin(small, work, tmp_path / f"{i}" / "run")
        command = typed(small, work, folder)
        at = 1 + int((i + rng.random()) * changes / n)
        for moment in (at, *rng.integers(1, changes + 1, size=i % 2)):
            code, text = commands.run(*command, folder=folder, at=int(moment))
            assert code in {0, -9}, text
            kills += code == -9
            if folder.exists() and outputs(folder) == expected:
                break
            if folder.exists():
                check_between(folder)
        if outputs(folder) != expected:
            commands.done(*command)
        assert outputs(folder) == expected, at
        shutil.rmtree(folder)
    assert kills >= n / 2


@pytest.mark.parametrize("n", [3, pytest.param(LONG, marks=pytest.mark.slow)])
def test_killed_at_any_time(small, commands, calm, tmp_path, n):
    """Also in the middle of a write, or while nothing is written."""
    rng = np.random.default_rng(n)
    for i in range(n):
        work = str(rng.choice(WORKS))
        expected, _, seconds = calm(work)
        folder = begin(small, work, tmp_path / f"{i}" / "run")
        command = typed(small, work, folder)
        for _ in range(int(rng.integers(1, 3))):
            commands.killed(float(rng.uniform(0, 1.1 * seconds)), *command)
            if folder.exists() and outputs(folder) == expected:
                break
        if not folder.exists() or outputs(folder) != expected:
            commands.done(*command)
        assert outputs(folder) == expected, work

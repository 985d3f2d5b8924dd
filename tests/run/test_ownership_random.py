"""Folders of random files: whatever a command is told, no byte of others changes."""

from __future__ import annotations

import contextlib
import os
import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from spheremix.run.assign import assign_documents, write_assigned
from spheremix.run.layout import LAYOUT
from spheremix.run.listener import Listener
from spheremix.run.output import check_output
from spheremix.run.saving import load_run
from spheremix.run.store import RunError

import spheremix as sm
from spheremix.errors import ParameterError
from spheremix.run import render
from spheremix.run.explore import explore_corpus
from spheremix.run.folder import RunFolder

TEXTS = ["red apple", "apple pie", "green apple", "blue sky", "sky and sea", "blue sea"]
OPTIONS = {"min_count": 1, "min_df": 1, "starts": 1, "max_steps": 3, "lemmatizer": "none"}
# Names that a run has, names that it might have had, and names of anybody.
OLD = "0123456789abcdef0123456789abcdef"
NAMES = [
    *sorted(
        LAYOUT - {"progress", "matrix", "dense", "path", "stages", "tables", "counts", "figures"}
    ),
    *("run.json", "derived.json", "matrix/data.npy", "dense/2/kappas.npy", "path/beta.npy"),
    *("tables/typical.csv", "figures/prototypes.svg", "figures/holiday.png", "dense/notes.txt"),
    *("progress/lock", "progress/command.json", "progress/placing.json", "stages/matrix.json"),
    *("progress/replaced.json", "stages/dense-2.json", "stages/dense-3.json", "stages/mine.txt"),
    *("stages/path.json", "dense/3/kappas.npy", "progress/diary.txt"),
    *(
        f"progress/{OLD}/0.part",
        f"progress/{OLD}/fit-0/mass.npy",
        "progress/steps-0/values.npy",
    ),
    *("notes.txt", ".hidden", ".report.html.part", "figures.draft/a.svg", "deep/er/still.txt"),
]
CONTENTS = [
    *(b"", b"precious", b"{}", b"[]", b'{"format": "spheremix run"}', b"spheremix \n"),
    *(b'{"format": "spheremix run", "version": 2, "files": {}}', b"spheremix " + OLD.encode()),
    b'{"format": "spheremix run on its way", "files": {"notes.txt": {"bytes": 8}}}',
]
KINDS = ["file", "link to a file", "link to a folder", "broken link", "pipe", "hard link"]
THING = st.tuples(st.sampled_from(NAMES), st.sampled_from(KINDS), st.sampled_from(CONTENTS))
COMMANDS = ["explore", "force", "another", "named", "report", "assign", "save", "assign into"]


@pytest.fixture(scope="module")
def states(tmp_path_factory):
    """A finished run, and ones that were stopped after each of their stages."""
    home = tmp_path_factory.mktemp("states")
    explore_corpus(TEXTS, home / "finished", k=2, listener=Quiet(), **OPTIONS)
    for i in range(1, 6):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(RunFolder, "commit", stopping(i))
            with pytest.raises(KeyboardInterrupt):
                explore_corpus(TEXTS, home / f"stopped{i}", k=2, listener=Quiet(), **OPTIONS)
    (home / "empty").mkdir()
    return home


class Quiet(Listener):
    """Says nothing."""

    def begin(self, *arguments, **more):
        """Say nothing."""

    def note(self, *arguments, **more):
        """Say nothing."""


def stopping(n):
    commit, left = RunFolder.commit, [n]

    def stop(*arguments):
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        commit(*arguments)

    return stop


def plant(folder, things, outside):
    """Put things of others into a folder, in the place of what is there; tell which they are."""
    for name, kind, content in things:
        path = folder / name
        if path.is_dir() and not path.is_symlink():
            continue
        if name.endswith(".json") and b'"format"' in content:  # it says that it is ours
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
        except OSError:  # a file or a link where a folder would be
            continue
        if kind == "file":
            path.write_bytes(content)
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "hard link":
            os.link(outside / "victim.txt", path)
        else:
            victim = {"link to a file": "victim.txt", "link to a folder": "."}.get(kind, "nothing")
            path.symlink_to(outside / victim)
        yield path


def seen(path):
    """Return all that can be told of a thing."""
    if path.is_symlink():
        return str(path.readlink())
    return path.read_bytes() if path.is_file() else str(path.exists())


def act(command, folder, outside):
    """Do what a command does."""
    if command in {"explore", "force", "another", "named"}:
        k = 3 if command == "another" else 2
        more = {"names": {0: "fruit"}} if command == "named" else {"force": command == "force"}
        explore_corpus(TEXTS, folder, k=k, listener=Quiet(), **more, **OPTIONS)
    elif command == "report":
        run, home = load_run(folder), RunFolder(folder)
        with home.locked():
            render.render(home, run, ["report.html", "report.json"])
    elif command == "save":
        X, _, _ = sm.datasets.make_vmf_mixture(20, 3, 2, kappa=20.0, random_state=0)
        sm.save_run(folder, sm.VMFMixture(2, n_init=1, random_state=0).fit(X))
    else:
        into = outside / "new.csv" if command == "assign" else folder / "documents.csv"
        check_output(into, "assigned.csv", force=command == "assign into")
        write_assigned(assign_documents(load_run(folder), TEXTS, Quiet()), into)


@settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(
    state=st.sampled_from(
        ["empty", "finished", "stopped1", "stopped2", "stopped3", "stopped4", "stopped5"]
    ),
    things=st.lists(THING, max_size=4, unique_by=lambda thing: thing[0]),
    commands=st.lists(st.sampled_from(COMMANDS), min_size=1, max_size=3),
)
def test_no_byte_of_others_changes(states, tmp_path, state, things, commands):
    folder, outside = tmp_path / "run", tmp_path / "outside"
    for place in (folder, outside):
        shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(states / state, folder)
    outside.mkdir()
    (outside / "victim.txt").write_bytes(b"")
    theirs = list(plant(folder, things, outside))
    before = {path: seen(path) for path in [*theirs, outside / "victim.txt"]}
    own = {path: seen(path) for path in folder.rglob("*") if path not in before}
    for command in commands:
        with contextlib.suppress(RunError, ParameterError, sm.text.ReadError):
            act(command, folder, outside)
        assert {path: seen(path) for path in before} == before, command
    if theirs and state == "empty":  # nothing was begun beside them
        left = [path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()]
        assert sorted(left) == sorted(theirs)
    if theirs and set(commands) <= {"force", "another"}:  # refused before anything was touched
        assert {path: seen(path) for path in own if not path.is_dir()} == {
            path: content for path, content in own.items() if not path.is_dir()
        }

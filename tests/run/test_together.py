"""Several commands at once, full disks and closed streams: outputs are complete or not there."""

from __future__ import annotations

import csv
import multiprocessing
import os
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("typer")

from cli_common import refusal, run, texts, write_lines
from spheremix.run.lock import Lock
from spheremix.run.saving import load_run
from spheremix.run.store import RunError, replacing

from spheremix.run import lock
from spheremix.run.folder import RunFolder

OPTIONS = ("--k", "2", "--starts", "1", "--max-steps", "5", "--lemmatizer", "none")
COMMAND = """
import os, resource, sys, time
{first}
sys.argv = ["spheremix", *{arguments!r}]
sys.stdout = sys.stderr = open({said!r}, "w")
from spheremix.__main__ import main
from spheremix.run import render

def draw(run, folder):
    folder.mkdir()
    for i in range(20):
        (folder / f"picture{{i}}.svg").write_text("<svg/>")
        time.sleep(0.01)

render.draw = draw
main()
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_lines(tmp_path_factory.mktemp("together") / "docs.jsonl", texts(60))


@pytest.fixture(scope="module")
def explored(corpus):
    folder = corpus.parent / "run"
    run("explore", corpus, "-o", folder, *OPTIONS)
    return folder


def start(server, place, *arguments, first=""):
    said = str(place / f"said{len(list(place.glob('said*')))}")
    with open(said, "w"):  # noqa: PTH123 (it counts from now on)
        pass
    code = COMMAND.format(arguments=[str(one) for one in arguments], said=said, first=first)
    process = server.Process(target=exec, args=(code, {}))
    process.start()
    return process


def join(processes):
    for process in processes:
        process.join()
    return [process.exitcode for process in processes]


@pytest.mark.parametrize("n", [2, 5])
def test_assigning_to_one_table_at_once(server, explored, tmp_path, n):
    """Each of different documents: the table is always one of them, whole."""
    tables = []
    for i in range(n):
        new = write_lines(
            tmp_path / f"new{i}.jsonl", [dict(one, id=f"{i} {one['id']}") for one in texts(300)]
        )
        run("assign", explored, new, "-o", tmp_path / f"alone{i}.csv")
        tables.append((tmp_path / f"alone{i}.csv").read_bytes())
    table, seen = tmp_path / "table.csv", set()
    processes = [
        start(
            server, tmp_path, "assign", explored, tmp_path / f"new{i}.jsonl", "-o", table, "--force"
        )
        for i in range(n)
    ]
    while any(process.exitcode is None for process in processes):
        if table.exists():
            seen.add(table.read_bytes())
        time.sleep(0.002)
    assert join(processes) == [0] * len(processes)
    seen.add(table.read_bytes())
    assert seen <= set(tables)
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("n", [2, 5])
def test_exploring_into_one_folder_at_once(server, corpus, tmp_path, n):
    """One works, or several after another; others are refused, and nothing is left behind."""
    folder = tmp_path / "run"
    codes = join(
        [start(server, tmp_path, "explore", corpus, "-o", folder, *OPTIONS) for _ in range(n)]
    )
    assert set(codes) <= {0, 2}
    assert 0 in codes
    for said in tmp_path.glob("said*"):
        if "error" in said.read_text():
            assert "another spheremix is at work in this folder" in said.read_text()
    load_run(folder)
    assert len(list((folder / "figures").iterdir())) == 20
    assert not (folder / "progress").exists()
    records = RunFolder(folder).own.records
    assert {name for name in records if not name.startswith("stages/")} == {
        "run.json",
        "derived.json",
    }
    assert list(RunFolder(folder).own.others(checked=True)) == []


def test_a_lock_that_another_takes_before_its_maker(tmp_path, monkeypatch):
    """The file is made, locked by a second one, and the maker refused: the second one works."""
    locked, taken, refused = lock._locked, threading.Event(), threading.Event()
    second: list[Lock] = []
    thread = threading.Thread(target=lambda: second.append(Lock(tmp_path)))

    def late(handle):
        if threading.current_thread() is thread:
            assert locked(handle)
            taken.set()
            return refused.wait(10)
        if not taken.is_set():
            thread.start()
            assert taken.wait(10)
        return locked(handle)

    monkeypatch.setattr(lock, "_locked", late)
    with pytest.raises(RunError, match="another spheremix is at work"):
        Lock(tmp_path)
    refused.set()
    thread.join()
    (holder,) = second
    holder.leave(keep=False)
    assert list(tmp_path.iterdir()) == []


def test_a_second_one_while_the_first_draws(server, corpus, tmp_path):
    folder = tmp_path / "run"
    first = start(server, tmp_path, "explore", corpus, "-o", folder, *OPTIONS)
    while not list(folder.glob("progress/*/*.part/*.svg")) and first.exitcode is None:
        time.sleep(0.001)
    commands = (
        ("explore", corpus, "-o", folder, *OPTIONS),
        ("explore", corpus, "-o", folder, *OPTIONS, "--force"),
        ("report", folder),
    )
    others = [start(server, tmp_path, *command) for command in commands]
    assert 0 in {*join([first])}
    assert set(join(others)) <= {0, 2}
    load_run(folder)
    assert not (folder / "progress").exists()
    assert list(RunFolder(folder).own.others(checked=True)) == []


@pytest.mark.parametrize("n", [2, 5])
def test_reports_at_once(server, explored, tmp_path, n):
    before = (explored / "report.html").read_bytes()
    codes = join([start(server, tmp_path, "report", explored) for _ in range(n)])
    assert set(codes) <= {0, 2}
    assert 0 in codes
    assert (explored / "report.html").read_bytes() == before
    assert not (explored / "progress").exists()


def hold(folder, n, told):
    """Take the lock again and again; tell where two had it, or somebody was wrongly refused."""
    for _ in range(n):
        try:
            held = Lock(folder)
        except RunError as error:
            if "another spheremix is at work" not in str(error):
                told.put(str(error))
            continue
        mark = folder / "held"
        try:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            told.put("two at once")
        mark.unlink(missing_ok=True)
        held.leave(keep=False)


def test_the_lock_is_that_of_one(tmp_path):
    context = multiprocessing.get_context("fork")
    told = context.Queue()
    processes = [context.Process(target=hold, args=(tmp_path, 200, told)) for _ in range(5)]
    for process in processes:
        process.start()
    assert join(processes) == [0] * 5
    assert [told.get() for _ in range(told.qsize())] == []
    assert list(tmp_path.iterdir()) == []


# What fails names its file, and leaves no draft


def test_a_full_disk_is_told_with_the_file(server, corpus, explored, tmp_path):
    """As far as a limit of the size of files is like a full disk."""
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))"
    new = write_lines(tmp_path / "new.jsonl", texts(40))
    commands = {
        "table.csv": ("assign", explored, new, "-o", tmp_path / "table.csv"),
        "page.html": ("report", explored, "-o", tmp_path / "page.html"),
        "X.npy": ("simulate", "-o", tmp_path / "simulated"),
        "run/": ("explore", corpus, "-o", tmp_path / "run", *OPTIONS),
    }
    for i, (name, arguments) in enumerate(commands.items()):
        assert join([start(server, tmp_path, *arguments, first=limit)]) == [2]
        line = (tmp_path / f"said{i}").read_text().splitlines()[-1]
        assert name in line
        assert "cannot be written: " in line
        if name != "X.npy":  # NumPy has words of its own
            assert "File too large: make room for it" in line
        assert not list(tmp_path.rglob("*.part"))
    assert not (tmp_path / "table.csv").exists()
    assert not (tmp_path / "run").exists()  # it failed before anything was fitted


def test_a_file_that_fails_leaves_the_old_one(tmp_path):
    path = tmp_path / "old.txt"
    path.write_text("old")
    error = OSError(5, "Input/output error")
    with pytest.raises(RunError, match=r"old.txt: cannot be written: Input"), replacing(path):
        raise error
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["old.txt"]


@pytest.mark.parametrize(
    "closed", [(0, 1, 2), *(pytest.param(n, marks=pytest.mark.slow) for n in [(1,), (2,), (1, 2)])]
)
def test_closed_streams(explored, tmp_path, closed):
    def close():
        for number in closed:
            os.close(number)

    new = write_lines(tmp_path / "new.jsonl", texts(9))
    table = tmp_path / "table.csv"
    command = [
        sys.executable,
        "-m",
        "spheremix",
        "assign",
        str(explored),
        str(new),
        "-o",
        str(table),
    ]
    done = subprocess.run(command, preexec_fn=close, check=False)  # noqa: S603
    assert done.returncode == 0
    with table.open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 9


def test_steps_that_no_number_can_take(corpus, tmp_path):
    folder = tmp_path / "run"
    for value in ("1e308", "1e7"):
        line = refusal("explore", corpus, "-o", folder, "--min-relative-increase", value)
        assert "--min-relative-increase must be at most 1,000,000" in line
    assert not folder.exists()

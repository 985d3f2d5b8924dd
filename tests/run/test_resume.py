"""Killed at any moment and started again, an exploration ends with the same bits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("typer")

# As the command, out of a process that has imported it already: many kills in little time.
# Figures take ten times as long as all the rest: they have their own test.
COMMAND = """
import os, sys
sys.argv = ["spheremix", *{arguments!r}]
sys.stdout = sys.stderr = open(os.devnull, "w")
from spheremix.__main__ import main
from spheremix.run import render
if not {drawn}:
    render.draw = lambda run, folder: folder.mkdir()
main()
"""
KILLS = 12
# What appears in the folder, in this order.
STAGES = ["command", "matrix", "dense-3", "dense-4", "dense-5", "dense-6", "steps-0", "path"]


def record(stage):
    """Return where the record of a stage lies: what lasts is not among what is on its way."""
    passing = stage == "command" or stage.startswith("steps-")
    return f"{'progress' if passing else 'stages'}/{stage}.json"


MARKS = [*map(record, STAGES), "report.html", "run.json"]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Four topics that share words, with labels, dates and some empty documents."""
    rng = np.random.default_rng(0)
    letters = "abcdef"
    topics = [
        [f"{t}{a}{b}" for a in letters for b in letters] for t in ("kor", "lum", "mip", "nez")
    ]
    shared = [f"vo{a}{b}" for a in letters for b in letters]
    path = tmp_path_factory.mktemp("resume") / "docs.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for i in range(160):
            words = [rng.choice(topics[i % 4] if rng.random() < 0.5 else shared) for _ in range(40)]
            document = {"id": f"d{i}", "text": " ".join(words) if i % 50 else "", "label": i % 4}
            file.write(json.dumps({**document, "date": f"20{10 + i % 3}-05-17"}) + "\n")
    return path


def explore(corpus, folder):
    """Return what is typed; advice is killed in test_reuse.py."""
    options = ["--k", "3:6", "--starts", "2", "--k-criterion", "ebic", "--lemmatizer", "none"]
    return ["explore", str(corpus), "-o", str(folder), *options, "--checkpoint", "0.05"]


def start(server, corpus, folder, *options, drawn=False):
    arguments = [*explore(corpus, folder), *options]
    process = server.Process(
        target=exec, args=(COMMAND.format(arguments=arguments, drawn=drawn), {})
    )
    process.start()
    return process


def contents(folder):
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


@pytest.fixture(scope="module")
def calm(server, corpus, tmp_path_factory):
    """A run that nobody disturbs, and how long it takes."""
    folder = tmp_path_factory.mktemp("calm") / "run"
    first = server.Process(target=exec, args=("", {}))  # it waits for the imports
    first.start()
    first.join()
    begin = time.monotonic()
    process = start(server, corpus, folder)
    process.join()
    assert process.exitcode == 0
    return contents(folder), time.monotonic() - begin


@pytest.fixture(scope="module")
def dense(server, corpus, tmp_path_factory):
    """A run without a path that nobody disturbs."""
    folder = tmp_path_factory.mktemp("dense") / "run"
    process = start(server, corpus, folder, "--criterion", "none")
    process.join()
    assert process.exitcode == 0
    found = contents(folder)
    assert not any(name.startswith("path/") for name in found)
    return found


def test_killed_at_random_it_ends_with_the_same_bits(server, corpus, calm, tmp_path):
    """A little after a mark drawn among those not yet reached, again and again."""
    expected, seconds = calm
    rng, kills, rounds, places = np.random.default_rng(1), 0, 0, set()
    while kills < KILLS:
        folder = tmp_path / f"run{rounds}"
        while True:
            left = [mark for mark in MARKS if not (folder / mark).exists()] or MARKS[-1:]
            mark = folder / rng.choice(left)
            process = start(server, corpus, folder, "--threads", str(rng.choice([1, 2])))
            while not mark.exists() and process.exitcode is None:
                time.sleep(0.001)
            process.join(seconds / len(MARKS) * rng.random())
            if process.exitcode is not None:
                assert process.exitcode == 0
                break
            process.kill()
            process.join()
            kills += 1
            places.add(sum((folder / mark).exists() for mark in MARKS))
        found = contents(folder)
        assert set(found) == set(expected)
        assert [name for name in found if found[name] != expected[name]] == []
        rounds += 1
    assert len(places) >= 4, places  # not always at the same place


@pytest.mark.parametrize(
    "after", ["command", "matrix", "dense-3", "dense-6", "steps-0", "steps-2", "path"]
)
def test_killed_after_each_stage_it_ends_with_the_same_bits(server, corpus, calm, tmp_path, after):
    expected, _ = calm
    folder = tmp_path / "run"
    process = start(server, corpus, folder, "--checkpoint", "0")
    mark = folder / record(after)
    while not mark.exists() and process.exitcode is None:
        time.sleep(0.001)
    process.kill()
    process.join()
    # Between the path and the end there is little time, and the machine may be busy.
    assert process.exitcode == -signal.SIGKILL or after == "path"
    again = start(server, corpus, folder)
    again.join()
    assert again.exitcode == 0
    assert contents(folder) == expected


@pytest.mark.parametrize("after", ["dense-4", "dense-6"])
def test_a_run_without_path_goes_on_too(server, corpus, dense, tmp_path, after):
    folder = tmp_path / "run"
    process = start(server, corpus, folder, "--criterion", "none")
    mark = folder / record(after)
    while not mark.exists() and process.exitcode is None:
        time.sleep(0.001)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL or after == "dense-6"
    again = start(server, corpus, folder, "--criterion", "none")
    again.join()
    assert again.exitcode == 0
    assert contents(folder) == dense


def test_damaged_marks_are_computed_again(server, corpus, calm, tmp_path):
    """The power may go before the disk has what was written."""
    expected, _ = calm
    folder = tmp_path / "run"
    process = start(server, corpus, folder, "--checkpoint", "0")
    mark = folder / "progress" / "steps-3.json"
    while not mark.exists() and process.exitcode is None:
        time.sleep(0.001)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    for values in (folder / "progress").glob("*/steps-*/values.npy"):
        values.write_bytes(values.read_bytes()[:100])
    for name in ("dense/4/prototypes.npy", "matrix/data.npy"):
        (folder / name).write_bytes(b"")
    again = start(server, corpus, folder)
    again.join()
    assert again.exitcode == 0
    assert contents(folder) == expected


def test_other_documents_and_other_words_are_refused_on_the_way(server, corpus, tmp_path):
    folder = tmp_path / "run"
    process = start(server, corpus, folder)
    while not (folder / record("dense-3")).exists() and process.exitcode is None:
        time.sleep(0.001)
    process.kill()
    process.join()
    before = contents(folder)
    other = tmp_path / "other.jsonl"
    other.write_text(corpus.read_text(encoding="utf-8").replace("vo", "va"), encoding="utf-8")
    for source, options in ((corpus, ["--min-df", "3"]), (other, [])):
        refused = start(server, source, folder, *options)
        refused.join()
        assert refused.exitcode == 2
        assert contents(folder) == before
    forced = start(server, other, folder, "--force")
    forced.join()
    assert forced.exitcode == 0


def test_other_options_go_on_from_what_is_there(server, corpus, calm, tmp_path):
    folder = tmp_path / "run"
    for options in (["--k", "3:4"], ["--kappa", "free"], ["--seed", "1"], ["--criterion", "aic"]):
        process = start(server, corpus, folder, "--checkpoint", "0", *options)
        while not (folder / record("steps-1")).exists() and process.exitcode is None:
            time.sleep(0.001)
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
    last = start(server, corpus, folder)
    last.join()
    assert last.exitcode == 0
    assert contents(folder) == calm[0]


def test_two_at_once_are_one_too_many(server, corpus, tmp_path):
    folder = tmp_path / "run"
    first = start(server, corpus, folder)
    while not (folder / "progress" / "command.json").exists() and first.exitcode is None:
        time.sleep(0.001)
    os.kill(first.pid, signal.SIGSTOP)
    second = start(server, corpus, folder)
    second.join()
    os.kill(first.pid, signal.SIGCONT)
    first.join()
    assert (first.exitcode, second.exitcode) == (0, 2)


def test_killed_while_it_draws(server, corpus, calm, tmp_path):
    """The folder of the figures is there when all of them are."""
    expected = dict(calm[0])
    folder = tmp_path / "run"
    process = start(server, corpus, folder, drawn=True)
    while not list(folder.glob("progress/*/*.part/*.svg")) and process.exitcode is None:
        time.sleep(0.001)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert not (folder / "figures").exists()
    again = start(server, corpus, folder, drawn=True)
    again.join()
    assert again.exitcode == 0
    assert list((folder / "figures").iterdir())
    assert not (folder / "progress").exists()
    del expected["derived.json"]

    """Leave out figures, and the file that lists them."""
    found = contents(folder)
    assert "figures/prototypes.svg" in json.loads(found.pop("derived.json"))["files"]
    return {name: part for name, part in found.items() if "figures/" not in name}


def test_interrupted_it_says_how_to_go_on(server, corpus, calm, tmp_path):
    """As a person would: Ctrl-C in a terminal."""
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "spheremix", *explore(corpus, folder)]
    process = subprocess.Popen(  # noqa: S603
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not (folder / "progress" / "steps-0.json").exists() and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert process.returncode == 130, err
    assert err.splitlines()[-1] == "interrupted: start the same command again to go on."
    assert out == ""
    again = start(server, corpus, folder)
    again.join()
    assert again.exitcode == 0
    assert contents(folder) == calm[0]

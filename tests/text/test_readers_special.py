"""What is no document: pipes, folders of runs, folders without permission; files that explode."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from readers_common import error_of

from spheremix.text import ReadError, read_documents, read_matrix

LIMIT = 2**30  # bytes of memory for files that unpack to as much


def test_a_pipe_is_not_waited_for(tmp_path):
    for name in ("pipe.csv", "pipe.jsonl", "pipe.parquet", "pipe.json"):
        os.mkfifo(tmp_path / name)
        assert "not a regular file" in error_of(tmp_path / name)
    for name in ("pipe.npy", "pipe.npz", "pipe.mtx", "pipe.mtx.gz"):
        os.mkfifo(tmp_path / name)
        with pytest.raises(ReadError, match="not a regular file"):
            read_matrix(tmp_path / name)
    np.save(tmp_path / "x.npy", np.eye(2))
    with pytest.raises(ReadError, match="not a regular file"):
        read_matrix(tmp_path / "x.npy", tmp_path / "pipe.csv")


def test_a_pipe_in_a_folder_is_left_out_and_said(tmp_path):
    (tmp_path / "one.txt").write_text("one")
    (tmp_path / "link.txt").symlink_to(tmp_path / "one.txt")
    os.mkfifo(tmp_path / "pipe.txt")
    corpus = read_documents(tmp_path)
    assert corpus.ids == ["link.txt", "one.txt"]
    assert "1 pipe or device left out: 'pipe.txt'." in corpus.notes


def test_a_folder_that_cannot_be_read_is_not_passed_over(tmp_path, monkeypatch):
    """Root reads everything: the system's refusal is put in its place."""
    (tmp_path / "one.txt").write_text("one")
    closed = tmp_path / "closed"
    closed.mkdir()
    scandir = os.scandir

    def scan(path):
        if os.fspath(path) == os.fspath(closed):
            raise PermissionError(13, "Permission denied", os.fspath(closed))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", scan)
    assert error_of(tmp_path) == "/closed: cannot be read: Permission denied."


def test_runs_among_documents_are_left_out_and_said(tmp_path):
    """Finished or not; what only looks like one is read."""
    (tmp_path / "one.txt").write_text("one")
    finished, begun, other = (tmp_path / name for name in ("run", "begun", "other"))
    for folder in (finished, begun / "cache", other):
        folder.mkdir(parents=True)
        (folder / "README.txt").write_text("columns")
    (finished / "run.json").write_text(json.dumps({"format": "spheremix run"}))
    (begun / ".lock").write_text("")
    (other / "run.json").write_text(json.dumps({"format": "another tool"}))
    corpus = read_documents(tmp_path)
    assert corpus.ids == ["one.txt", "other/README.txt"]
    assert "2 folders of runs left out: 'begun', 'run'." in corpus.notes
    assert "is the folder of a run of spheremix" in error_of(finished)


def packed_zeros(size):
    """Return so many zeros gzipped: one member of the file after another, each of a mebibyte."""
    return gzip.compress(bytes(2**20)) * (size // 2**20)


def test_a_small_file_does_not_fill_the_memory(tmp_path):
    """A gibibyte of zeros, read by a process that may not take as much."""
    (tmp_path / "in").mkdir()
    names = ["zeros.csv.gz", "zeros.jsonl.gz", "zeros.json.gz", "in/zeros.txt.gz"]
    for name in names:
        (tmp_path / name).write_bytes(packed_zeros(2**30))
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from spheremix.text import ReadError, read_documents\n"
        "for name in sys.argv[1:]:\n"
        "    try: read_documents(name)\n    except ReadError as error: print(error)\n"
        "print(Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0])\n"
    )
    given = [str(tmp_path / name) for name in (*names[:3], "in")]
    found = subprocess.run(  # noqa: S603
        [sys.executable, "-c", script, *given], capture_output=True, text=True, check=True
    )
    *lines, peak = found.stdout.splitlines()
    for name, line in zip(names, lines, strict=True):
        assert line.startswith(f"{tmp_path / name}: unpacks to more than 200 times its size")
    assert int(peak) <= LIMIT / 1024


def test_market_matrices_are_unpacked_with_care(tmp_path):
    path = tmp_path / "zeros.mtx.gz"
    path.write_bytes(packed_zeros(2**28))
    with pytest.raises(ReadError, match="unpacks to more than 200 times"):
        read_matrix(path)


def test_what_repeats_itself_is_read(tmp_path):
    """Many lines alike: a file that packs well, below what is suspicious."""
    path = tmp_path / "alike.jsonl.gz"
    line = json.dumps({"text": "the same words again and again " * 20}) + "\n"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for _ in range(3000):
            file.write(line)
    assert len(read_documents(path)) == 3000


def test_dates_beyond_the_calendar_of_python(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "far.parquet"
    for kind, far in (
        (pa.date32(), 2**31 - 2),
        (pa.timestamp("ms"), 2**52),
        (pa.date32(), -(2**30)),
    ):
        whole = pa.int32() if kind == pa.date32() else pa.int64()
        days = pa.array([0, far], whole).cast(kind)
        pq.write_table(pa.table({"text": ["one", "two"], "date": days}), path)
        corpus = read_documents(path)
        assert corpus.dates is None
        assert any("row 2" in note and "is not a date" in note for note in corpus.notes)
        assert "row 2: column 'date'" in error_of(path, date="date")
    spans = pa.array([0, 2**62], pa.int64()).cast(pa.duration("s"))
    pq.write_table(pa.table({"text": ["one", "two"], "span": spans}), path)
    assert len(read_documents(path)) == 2

"""What attacks have found once: wrong results, stuck runs, slow checks, locks and power that go."""

from __future__ import annotations

import errno
import json
import os
import shutil
import time

import numpy as np
import pytest

pytest.importorskip("typer")

from cli_common import refusal
from cli_common import run as command
from processes import refusals
from small_run import fit_of
from story import group_names, outputs, quiet

import spheremix as sm

# An update that was killed has nothing to undo


def test_undo_of_a_killed_update_is_refused(small, commands, tmp_path):
    update = ("update", small.named, small.new, "--threads", 1, "-o")
    changes = commands.done(*update, tmp_path / "calm", folder=tmp_path / "calm")
    expected, wrong = outputs(tmp_path / "calm"), []
    for share in (0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        folder = tmp_path / f"{share}" / "run"
        code, _ = commands.run(*update, folder, folder=folder, at=int(share * changes))
        assert code == -9
        if (folder / "run.json").exists():
            continue
        code, text = commands.run("edit", folder, "--undo", "--threads", 1)
        if code == 0 or len(refusals(text)) != 1:
            wrong.append(share)
        commands.run(*update, folder)
        if outputs(folder) != expected:
            wrong.append(-share)
    assert wrong == []


# Names that are not UTF-8


def odd_name(path, name=b"ed\xffits.json"):
    """Return the path of a name that is no text; skip where the system has no such names."""
    odd = path / os.fsdecode(name)
    try:
        odd.write_bytes(b"")
    except OSError:
        pytest.skip("no such names here")
    odd.unlink()
    return odd


def test_a_file_of_edits_with_an_odd_name(small, commands, copy, tmp_path):
    """It is applied as any other, or refused; in both cases the run can be used afterwards."""
    odd = odd_name(tmp_path)
    shutil.copy(small.edits_file("plain.json", names={"0": "odd name"}), odd)
    code, text = commands.run("edit", copy, odd)
    if code == 0:
        assert "odd name" in group_names(sm.load_run(copy)).values()
        assert set(outputs(copy)) == set(outputs(small.folder))
        commands.done("edit", copy, "--undo")
    else:
        assert len(refusals(text)) == 1
    assert outputs(copy) == outputs(small.folder)
    parts = {"run": fit_of(copy), "names": {"1": "plain"}}
    commands.done("edit", copy, small.edits_file("more.json", **parts))
    commands.done("edit", copy, "--undo")
    assert outputs(copy) == outputs(small.folder)


def test_an_update_of_a_run_in_a_folder_with_an_odd_name(small, commands, tmp_path):
    """It is made, or refused before anything is made."""
    folder = odd_name(tmp_path, b"r\xffun")
    shutil.copytree(small.named, folder)
    process = commands.start("update", folder, small.new, "--threads", 1, "-o", tmp_path / "new")
    code, text = commands.end(process, patience=60.0)
    if code:
        assert len(refusals(text)) == 1
        assert not (tmp_path / "new" / "run.json").exists()
    else:
        assert set(outputs(tmp_path / "new")) >= set(outputs(small.named))
        assert "Zero" in group_names(sm.load_run(tmp_path / "new")).values()


# Checks take time in proportion to what they check


def seconds(work):
    """Return the least processor time of some tries."""
    found = []
    for _ in range(3):
        begin = time.process_time()
        work()
        found.append(time.process_time() - begin)
    return min(found)


def test_many_names_in_a_file_of_edits(small, copy):
    def work(n):
        names = {str(k): f"name {k}" for k in range(n)}
        path = small.edits_file(f"many{n}.json", names=names)
        return seconds(lambda: refusal("edit", copy, path))

    few, many = work(2500), work(10_000)
    assert many < 8 * few + 0.1  # 4 times as many; squared, 16 times as long


def test_many_columns_of_a_table(tmp_path):
    def work(n):
        path = tmp_path / f"table{n}.csv"
        header = ",".join(["text", *(f"c{i}" for i in range(n))])
        row = ",".join(["boat"] * (n + 1))
        path.write_text(f"{header}\n{row}\n{row}\n", encoding="utf-8")
        arguments = ("explore", path, "-o", tmp_path / "run", "--text", "nowhere")
        return seconds(lambda: refusal(*arguments))

    few, many = work(2500), work(10_000)
    assert many < 8 * few + 0.1


def sparse_parts(**more):
    """Return the arrays of a small sparse matrix as SciPy saves it."""
    return {
        "format": np.array(b"csr"),
        "shape": np.array([4, 3]),
        "indptr": np.arange(5),
        "indices": np.array([0, 1, 2, 0]),
        "data": np.ones(4),
        **more,
    }


MEMORY = """
import resource
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before, leave = peak(), main
def main():
    try:
        leave()
    finally:
        open({told!r}, "w").write(str(peak() - before))
"""


def test_an_archive_that_unpacks_to_far_more(commands, tmp_path):
    """A thousand times as large as its file: told before it is unpacked."""
    words, told = tmp_path / "words.txt", tmp_path / "told"
    words.write_text("one\ntwo\nthree\n")
    np.savez_compressed(tmp_path / "bomb.npz", **sparse_parts(data=np.zeros(5 * 10**7)))
    arguments = ("explore", tmp_path / "bomb.npz", "--vocabulary", words, "-k", "2")
    first = MEMORY.format(told=str(told))
    code, text = commands.run(*arguments, "-o", tmp_path / "run", first=first)
    assert code == 2
    (line,) = refusals(text)
    assert "bomb.npz" in line
    assert int(told.read_text()) < 200  # MiB


# Locks and power that go


def without_locks(monkeypatch, code):
    """Let no file be locked, as on some network file systems."""
    fcntl = pytest.importorskip("fcntl")

    def refuse(*_):
        raise OSError(code, os.strerror(code))

    for name in ("flock", "lockf"):
        monkeypatch.setattr(fcntl, name, refuse)


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks(small, copy, tmp_path, monkeypatch, code):
    """The command works without one, or says that there are no locks."""
    without_locks(monkeypatch, code)
    for arguments in (small.explore(tmp_path / "new"), ("edit", copy, small.edits)):
        try:
            command(*arguments)
        except AssertionError:
            line = refusal(*arguments)
            assert "lock" in line
            assert "at work" not in line


@pytest.mark.parametrize("damage", ["missing", "empty", "zeros"])
def test_an_output_that_the_power_took_is_made_again(small, copy, damage):
    """Nobody makes a file of nothing, or of zeros: it is noticed by the same command."""
    for name in outputs(small.folder):
        path = copy / name
        size = path.stat().st_size
        path.unlink()
        if damage != "missing":
            path.write_bytes(bytes(size if damage == "zeros" else 0))
        command(*small.explore(copy))
        assert outputs(copy) == outputs(small.folder), name


SYNCED = """
import json
synced, unsynced = set(), []
sync, leave = os.fsync, main

def fsync(file):
    found = os.fstat(file if isinstance(file, int) else file.fileno())
    synced.add(found.st_ino)
    sync(file)

def files(path):
    if os.path.isdir(path):
        for one in os.listdir(path):
            yield from files(os.path.join(path, one))
    else:
        yield path

def renamed(event, arguments):
    if event == "os.rename":
        source, target = map(os.fsdecode, arguments[:2])
        if os.path.abspath(target).startswith(folder):
            for one in files(source):
                if os.stat(one).st_ino not in synced:
                    unsynced.append(os.path.relpath(target, folder))

def main():
    try:
        leave()
    finally:
        open({told!r}, "w").write(json.dumps(unsynced))

os.fsync = fsync
sys.addaudithook(renamed)
"""


def test_what_counts_is_on_the_disk_before_it_has_its_name(small, commands, tmp_path):
    """All that people open; the rest is compared with its checksum when it is used."""
    told, folder = tmp_path / "told.json", tmp_path / "run"
    first = SYNCED.format(told=str(told))
    commands.done(*small.explore(folder), folder=folder, first=first)
    counts = {"run.json", "figures", *outputs(folder)}
    assert [name for name in json.loads(told.read_text()) if name in counts] == []


# Names that people have seen do not change by themselves


def groups_by_document(run):
    return dict(zip(run.documents["id"], run.documents["group"], strict=True))


def test_groups_that_were_not_touched_stay_who_they_are(tmp_path):
    """Name, number and colour, after a merge and after a split."""
    from corpora import several_sizes  # noqa: PLC0415

    case = several_sizes(tmp_path)
    first = quiet(sm.explore_corpus, case.source, tmp_path / "run", **{**case.options, "k": 5})
    names, numbers, colours = group_names(first), groups_by_document(first), first.colours
    for edits, touched in (({"merge": [[1, 3]]}, {1, 3}), ({"split": [2]}, {2})):
        run = quiet(first.edit, edits)
        after, now = group_names(run), groups_by_document(run)
        for number in set(names) - touched:
            found = [now[one] for one, of in numbers.items() if of == number]
            same = max(set(found), key=found.count)
            assert after[same] == names[number]
            if number < len(after):  # the last one takes a number that the merge has freed
                assert same == number
            assert run.colours[same] == colours[number]
        first = quiet(run.undo_edits)

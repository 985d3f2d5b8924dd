"""The folder of a run: stages are complete or not there, outputs change together, others stay."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from spheremix._files import RUN_VERSION
from spheremix.run.folder import archive, files
from spheremix.run.folder.files import RunError, check_output, read_json, replacing
from spheremix.run.folder.store import Store, key_of
from spheremix.text import ReadError

KEY, OTHER = key_of("one"), key_of("other")
FIRST = {"a.csv": b"a,b\n1,2\n", "tables/b.csv": b"x\n", "gone.csv": b"y\n"}
THEN = {"a.csv": b"a,b\n3,4\n", "tables/b.csv": b"z\n", "tables/new.csv": b"w\n"}


class KilledError(BaseException):
    """In place of a signal."""


def everything(folder):
    """Return what lies in a folder; the lock does not count."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


def done(folder, outputs, value=(1, 2), key=KEY):
    """Do a stage and commit outputs, as a command does."""
    store = Store(folder)
    with store.locked():
        found = store.stage("rows", key, list[int], lambda: list(value))
        before = store.listed
        info = {"format": "spheremix run", "version": RUN_VERSION, "n": len(value)}
        store.commit(info, {name: [content] for name, content in outputs.items()})
        store.prune(before)
    return found, store


@pytest.fixture
def folder(tmp_path):
    done(tmp_path / "run", FIRST)
    return tmp_path / "run"


# Stages


def test_keys_are_of_values_and_not_of_their_order():
    assert key_of({"a": 1, "b": [2.5, None]}) == key_of({"b": [2.5, None], "a": 1})
    assert len({key_of(1), key_of("1"), key_of(1, None), key_of([1])}) == 4


def test_a_stage_is_done_once(folder):
    store = Store(folder)
    assert store.has("rows", KEY)
    assert store.stage("rows", KEY, list[int], None) == [1, 2]
    assert store.reused == ["rows"]
    assert store.stage("rows", OTHER, list[int], lambda: [3]) == [3]
    assert store.stage("rows", KEY, list[int], None) == [1, 2]  # with its own key
    store.drop("rows", OTHER)
    assert not store.has("rows", OTHER)


@pytest.mark.parametrize("at", ["making", "writing", "naming"])
def test_a_stage_is_complete_or_not_there(folder, monkeypatch, at):
    def stop(*_, **__):
        raise KilledError

    places = {"writing": (archive, "write"), "naming": (Path, "rename")}
    with monkeypatch.context() as patch:
        if at in places:
            patch.setattr(*places[at], stop)
        with pytest.raises(KilledError):
            Store(folder).stage("rows", OTHER, list[int], stop if at == "making" else lambda: [3])
    store = Store(folder)
    assert not store.has("rows", OTHER)
    with store.locked():
        assert [path.name for path in store.cache.iterdir()] == [f"rows-{KEY}"]  # no drafts
    assert store.stage("rows", OTHER, list[int], lambda: [3]) == [3]


@pytest.mark.parametrize("damage", ["cut", "zeros", "empty", "gone", "link", "more", "other"])
def test_a_damaged_stage_is_made_again(folder, tmp_path, damage):
    place = folder / "cache" / f"rows-{KEY}"
    path = place / "content.json.gz"
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    elif damage == "link":
        path.rename(tmp_path / "elsewhere")
        path.symlink_to(tmp_path / "elsewhere")
    elif damage == "more":
        (place / "7.npy").write_bytes(b"x")
    elif damage == "other":  # as good as any, but not what the run lists
        path.unlink()
        archive.write(place, list[int], [5], stage="")
    else:
        parts = {"cut": content[:-9], "zeros": bytes(len(content)), "empty": b""}
        path.write_bytes(parts[damage])
    store = Store(folder)
    assert store.check() == [f"cache/rows-{KEY}: missing or damaged."]
    found, again = done(folder, FIRST)
    assert found == [1, 2]
    assert again.reused == []
    assert again.check() == []


def test_a_stage_of_another_type_is_made_again(folder):
    assert Store(folder).stage("rows", KEY, list[str], lambda: ["x"]) == ["x"]


@pytest.mark.parametrize("called", ["../run", "rows", f"rows-{OTHER}", "rows-../../x", ""])
def test_only_stages_are_read(folder, called):
    with pytest.raises(RunError, match="damaged: there is no such stage"):
        Store(folder).read(called, list[int])
    with pytest.raises(RunError):
        Store(folder).checksum(called or "nothing")


def test_stages_that_nobody_uses_go(folder):
    done(folder, FIRST, key=OTHER)
    names = {f"rows-{KEY}", f"rows-{OTHER}"}
    assert {path.name for path in (folder / "cache").iterdir()} == names  # of the run before, too
    done(folder, FIRST, key=OTHER)
    assert {path.name for path in (folder / "cache").iterdir()} == {f"rows-{OTHER}"}


def test_without_a_folder_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found, store = done(None, FIRST)
    assert found == [1, 2]
    assert store.stored("rows", KEY, list[int]) is None
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(RunError, match="has no folder"):
        _ = store.place


# Outputs


def test_outputs_are_listed_with_their_checksums(folder):
    assert {name: (folder / name).read_bytes() for name in FIRST} == FIRST
    info = Store(folder).info()
    assert set(info["outputs"]) == set(FIRST)
    assert set(info["stages"]) == {f"rows-{KEY}"}
    assert Store(folder).check() == []
    done(folder, THEN)
    assert {name: (folder / name).read_bytes() for name in THEN} == THEN
    assert not (folder / "gone.csv").exists()


@pytest.mark.parametrize("name", FIRST)
def test_an_output_that_somebody_changed_is_not_replaced(folder, name):
    """One letter for another, with the time put back; or in another encoding, which has zeros."""
    path, before = folder / name, (folder / name).stat()
    for content in (FIRST[name][:-2] + b"!\n", FIRST[name].decode().encode("utf-16")):
        path.write_bytes(content)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        kept = everything(folder)
        with pytest.raises(RunError, match=rf"{name}: changed since spheremix wrote it"):
            done(folder, THEN)
        assert everything(folder) == kept
        assert Store(folder).check() == [f"{name}: changed or damaged since it was written."]
        with pytest.raises(RunError, match="changed since"):
            Store(folder).missing()


@pytest.mark.parametrize("content", [b"", bytes(8), b"a,b\n" + bytes(2000)])
def test_an_output_that_the_power_took_is_replaced(folder, content):
    (folder / "a.csv").write_bytes(content)
    (folder / "gone.csv").unlink()
    assert Store(folder).missing() == ["a.csv", "gone.csv"]
    assert Store(folder).check() == [
        "a.csv: changed or damaged since it was written.",
        "gone.csv: missing.",
    ]
    done(folder, FIRST)
    assert Store(folder).check() == []


CHANGES = ((Path, "replace"), (Path, "unlink"), (Path, "rename"), (Path, "mkdir"))


def kill_before(patch, n):
    """Let the n-th change of a file fail, and all after it, as in a process that is killed."""
    left = [n]

    def counting(method):
        def change(*arguments, **more):
            left[0] -= 1
            if left[0] < 0:
                raise KilledError
            return method(*arguments, **more)

        return change

    for owner, name in CHANGES:
        patch.setattr(owner, name, counting(getattr(owner, name)))


def test_killed_between_any_two_steps_outputs_are_those_of_one_run(folder, tmp_path, monkeypatch):
    done(tmp_path / "calm", FIRST)
    for _ in range(2):  # the second time, the stages of the run before go
        done(tmp_path / "calm", THEN, (3,), OTHER)
    calm = everything(tmp_path / "calm")
    seen = set()
    for n in range(100):
        copy = shutil.copytree(folder, tmp_path / f"copy{n}")
        with monkeypatch.context() as patch:
            kill_before(patch, n)
            try:
                done(copy, THEN, (3,), OTHER)
            except KilledError:
                pass
            else:
                break
        store = Store(copy)
        was_committing = store.is_committing()
        with store.locked():
            pass
        assert store.check() == []
        assert not store.is_committing()
        outputs = {name: (copy / name).read_bytes() for name in store.info()["outputs"]}
        assert outputs == (THEN if store.info()["n"] == 1 else FIRST)
        assert store.info()["n"] == 1 or not was_committing
        seen.add((store.info()["n"], was_committing))
        for _ in range(2):
            done(copy, THEN, (3,), OTHER)
        assert everything(copy) == calm
    assert n > 8
    assert seen == {(2, False), (1, True), (1, False)}  # the last: done, and not yet said so


def test_who_ends_a_commit_replaces_nothing_that_was_changed_since(folder, monkeypatch):
    def stop(store):
        if store.is_committing():
            raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(Store, "finish_commit", stop)
        with pytest.raises(KilledError):
            done(folder, THEN)
    (folder / "gone.csv").write_bytes(b"mine")
    (folder / "a.csv").write_bytes(b"mine, too")
    for name in ("a.csv", "gone.csv"):
        with pytest.raises(RunError, match=rf"{name}: changed since"), Store(folder).locked():
            pass
        assert (folder / "gone.csv").read_bytes() == b"mine"
        (folder / name).unlink()
    with Store(folder).locked():
        pass
    assert Store(folder).check() == []
    assert (folder / "a.csv").read_bytes() == THEN["a.csv"]


@pytest.mark.parametrize(
    "hostile",
    [
        {"drafts": {"../out.csv": "tmp-out-0"}},
        {"drafts": {"a.csv": "../../precious"}},
        {"drafts": {"a.csv": ["tmp-out-0"]}},
        {"drafts": []},
        {"remove": ["../precious"]},
        {"remove": ["/etc/passwd"]},
        {"remove": "a.csv"},
        {"run": 5},
    ],
    ids=str,
)
def test_a_commit_that_nobody_began_is_none(folder, tmp_path, hostile):
    (tmp_path / "precious").write_bytes(b"precious")
    commit = {"run": Store(folder).info(), "drafts": {}, "remove": [], **hostile}
    (folder / "cache" / "commit.json").write_bytes(files.as_json(commit))
    before = everything(tmp_path)
    assert not Store(folder).is_committing()
    with Store(folder).locked():
        pass
    assert everything(tmp_path) == before


# Whose folder it is


@pytest.mark.parametrize("error", [RunError("no"), KeyboardInterrupt()])
def test_a_folder_in_which_nothing_was_done_goes(tmp_path, error):
    place = tmp_path / "deep" / "run"
    with pytest.raises(type(error)), Store(place).locked():
        raise error
    assert not place.exists()
    place.mkdir()
    with pytest.raises(type(error)), Store(place).locked():  # it was there before
        raise error
    assert place.exists()


@pytest.mark.parametrize(
    "name",
    [
        *("notes.txt", ".hidden", "tables/mine.csv", "deep/er.txt", "cache/mine.txt", "run.json"),
        *("cache/rows-xyz/content.json.gz", ".run.json.part", ".lock/x"),
    ],
)
@pytest.mark.parametrize("kind", ["file", "link", "pipe"])
def test_what_is_not_ours_is_named_and_left(tmp_path, name, kind):
    folder = tmp_path / "theirs"
    (folder / name).parent.mkdir(parents=True)
    if kind == "file":
        (folder / name).write_text("precious")
    elif kind == "link":
        (folder / name).symlink_to(tmp_path)
    else:
        os.mkfifo(folder / name)
    before = sorted(folder.rglob("*"))
    with pytest.raises(RunError, match="holds other files than those of a run: "):
        done(folder, FIRST)
    assert sorted(folder.rglob("*")) == before


def test_the_first_files_of_others_are_named(tmp_path):
    for name in "abcde":
        (tmp_path / f"{name}.txt").write_text(name)
    with pytest.raises(RunError, match=r"of a run: a.txt, b.txt, c.txt and more: choose"):
        done(tmp_path, FIRST)
    with pytest.raises(RunError, match="there is a file of this name"):
        done(tmp_path / "a.txt", FIRST)


def test_a_run_does_not_make_files_of_others_its_own(folder):
    """Even if run.json lists them, with their true checksum: they are not replaced unasked."""
    outside = folder.parent / "outside.txt"
    outside.write_bytes(b"mine")
    info = Store(folder).info()
    info["outputs"]["../outside.txt"] = {"bytes": 4, "sha256": files.digest(outside)}
    (folder / "run.json").write_bytes(files.as_json(info))
    done(folder, THEN)
    assert outside.read_bytes() == b"mine"


def test_figures_and_drafts_of_a_killed_process_are_no_others(folder):
    (folder / "figures").mkdir()
    (folder / "figures" / "tree.svg").write_text("drawn")
    (folder / ".run.json.0123456789abcdef.part").write_text("cut")
    done(folder, THEN)
    assert (folder / "figures" / "tree.svg").exists()
    assert not (folder / ".run.json.0123456789abcdef.part").exists()


# Files


def test_a_file_is_replaced_completely_or_not_at_all(tmp_path):
    path = tmp_path / "file.txt"
    path.write_bytes(b"before")

    def killed():
        with replacing(path) as file:
            file.write(b"half")
            raise KilledError

    with pytest.raises(KilledError):
        killed()
    assert everything(tmp_path) == {"file.txt": b"before"}
    with replacing(path) as file:
        file.write(b"after")
    assert everything(tmp_path) == {"file.txt": b"after"}
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(RunError, match="is a link, or not a file"), replacing(tmp_path / "link"):
        pass


def test_files_that_are_too_large_are_called_so(tmp_path, monkeypatch):
    path = tmp_path / "run.json"
    path.write_text('{"a": "' + "x" * 2**20 + '"}')
    monkeypatch.setattr(files, "MANIFEST_BYTES", 2**20)
    with pytest.raises(RunError, match=r"run.json: larger than 1 MiB, which no such file is"):
        read_json(path)


def test_outputs_that_are_named_replace_no_link_no_input_and_no_part_of_a_run(folder, tmp_path):
    victim, link, pipe = (tmp_path / name for name in ("victim.csv", "link.csv", "pipe"))
    victim.write_text("precious")
    link.symlink_to(victim)
    os.mkfifo(pipe)
    for path, problem in (
        (link, "is a link, or not a file"),
        (pipe, "is a link, or not a file"),
        (folder / "a.csv", "is a file of the run in"),
        (folder / "cache" / "commit.json", "is a file of the run in"),
        (victim, "is read by this command"),
        (tmp_path, "is a folder: name a file in it"),
    ):
        path.parent.mkdir(exist_ok=True)
        if not os.path.lexists(path):
            path.write_text("x")
        with pytest.raises(RunError, match=problem):
            check_output(path, "new.csv", force=True, inputs=(victim,))
    with pytest.raises(RunError, match="there already: choose another with out or replace it"):
        check_output(victim, "new.csv", force=False)
    with pytest.raises(ReadError, match="there is no such file"):
        check_output(victim, "new.csv", force=True, inputs=(tmp_path / "nothing",))
    check_output(victim, "new.csv", force=True)


def test_a_record_that_could_not_be_read_again_is_refused(folder, monkeypatch):
    """Nothing is replaced, and nothing is said to be done."""
    before = everything(folder)
    monkeypatch.setattr("spheremix.run.folder.store.MANIFEST_BYTES", 1000)
    store, info = Store(folder), {"format": "spheremix run", "version": RUN_VERSION}
    with store.locked(), pytest.raises(RunError, match=r"run\.json.*shorten the notes"):
        store.commit({**info, "notes": "x" * 2000}, {"a.csv": [b"new"]})
    now = everything(folder)
    assert {name: now.get(name) for name in before} == before


def test_a_stage_is_copied_whole(folder, tmp_path):
    source, target = Store(folder), Store(tmp_path / "copy")
    called = f"rows-{KEY}"
    with target.locked():
        target.take(source, called)
        assert target.read(called, list[int]) == [1, 2]
    assert target.checksum(called) == source.checksum(called)

"""Nothing of the user's is lost: what is not provably ours is neither removed nor replaced."""

from __future__ import annotations

import json
import os
import shutil

import pytest

pytest.importorskip("typer")

from cli_common import refusal, run, texts, write_lines
from spheremix.run.ownership import Ownership
from spheremix.run.saving import load_run
from spheremix.run.store import RunError, digest

from spheremix.run import render
from spheremix.run.folder import RunFolder

OPTIONS = ("--k", "2", "--starts", "1", "--max-steps", "5", "--lemmatizer", "none")
MANIFEST = {"format": "spheremix run", "version": 1, "files": {}}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return write_lines(tmp_path_factory.mktemp("ownership") / "docs.jsonl", texts(30))


def explore(corpus, folder, *more):
    return ("explore", corpus, "-o", folder, *OPTIONS, *more)


@pytest.fixture(scope="module")
def explored(corpus, tmp_path_factory):
    folder = tmp_path_factory.mktemp("explored") / "run"
    run(*explore(corpus, folder))
    return folder


@pytest.fixture
def copy(explored, tmp_path):
    return shutil.copytree(explored, tmp_path / "run")


def everything(folder):
    """Return every file and link below a folder, with its content."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            found[path] = str(path.readlink())
        elif path.is_file():
            found[path] = path.read_bytes()
        elif not path.is_dir():
            found[path] = "pipe"
    return found


# Folders that are not ours


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize(
    "files",
    [
        {"progress/diary.txt": "precious", "README.txt": "mine"},
        {"progress/diary.txt": "precious", "run.json": "{}"},
        {"progress/diary.txt": "precious"},
        {"progress/lock": ""},
        {"progress/lock": "mine"},
        {"progress/command.json": '{"command": {}, "versions": {}}'},
        {"stages/matrix.json": '{"content": {}, "files": {}}'},
        {"stages/notes.json": "mine"},
        {"figures/holiday.png": "precious", "run.json": '{"format": "another tool"}'},
        {"tables/a.csv": "1", "README.txt": "mine", "run.json": "[]"},
        {"run.json": json.dumps(MANIFEST), "documents.csv": "mine"},
        {"run.json": json.dumps(MANIFEST), "figures/holiday.png": "precious"},
        {"derived.json": "{}"},
        {"report.html": "mine"},
        {"deep/er/notes.txt": "mine"},
        {".hidden": "mine"},
    ],
)
def test_a_folder_of_others_is_refused_and_untouched(corpus, tmp_path, files, force):
    folder = tmp_path / "theirs"
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    before = everything(tmp_path)
    line = refusal(*explore(corpus, folder, *force))
    assert "with -o" in line
    assert everything(tmp_path) == before


def test_the_first_files_of_others_are_named(corpus, tmp_path):
    for name in "abcde":
        (tmp_path / f"{name}.txt").write_text(name)
    line = refusal(*explore(corpus, tmp_path))
    assert "holds other files than those of a run: a.txt, b.txt, c.txt and more: choose" in line


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize(
    "link",
    ["progress", "progress/lock", "progress/command.json", "figures", "run.json", "derived.json"],
)
def test_links_are_not_followed(corpus, tmp_path, link, force):
    """Not even where a run would have a file or a folder of this name, and not in a failing run."""
    folder, victim = tmp_path / "linked", tmp_path / "victim"
    victim.mkdir()
    (victim / "precious.txt").write_text("precious")
    (folder / link).parent.mkdir(parents=True)
    target = victim if link in {"progress", "figures"} else victim / "precious.txt"
    (folder / link).symlink_to(target)
    before = everything(tmp_path)
    refusal(*explore(corpus, folder, *force))
    refusal(*explore(corpus, folder, "--min-df", "1000", *force))
    assert everything(tmp_path) == before


def test_a_hard_link_is_no_lock(corpus, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("")
    (tmp_path / "run" / "progress").mkdir(parents=True)
    os.link(victim, tmp_path / "run" / "progress" / "lock")
    assert "is not the lock of a run" in refusal(*explore(corpus, tmp_path / "run"))
    assert victim.read_bytes() == b""


@pytest.mark.parametrize("name", ["progress/lock", "run.json", "derived.json", "progress/x.json"])
def test_pipes_are_not_waited_for(corpus, tmp_path, name):
    folder = tmp_path / "run"
    (folder / name).parent.mkdir(parents=True)
    os.mkfifo(folder / name)
    for force in ((), ("--force",)):
        refusal(*explore(corpus, folder, *force))
    refusal("report", folder)
    refusal("assign", folder, corpus)


# Folders of ours


def test_force_replaces_a_run_and_leaves_nothing_of_it(corpus, copy):
    run(*explore(corpus, copy, "--seed", "1", "--force"))
    assert load_run(copy).manifest.command["seed"] == 1
    stages = ("documents", "matrix", "dense-2", "path", "firmness", "layout", "tree")
    listed = {"run.json", "derived.json", *(f"stages/{stage}.json" for stage in stages)}
    for name in ("run.json", "derived.json"):
        listed |= set(json.loads((copy / name).read_text())["files"])
    assert {path.relative_to(copy).as_posix() for path in everything(copy)} == listed


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("notes.txt", "mine"),
        ("tables/mine.csv", "mine"),
        ("figures/mine.png", "mine"),
        ("documents.csv", "edited"),
        ("README.txt", "edited"),
        ("report.html", "edited"),
        ("progress/diary.txt", "mine"),
    ],
)
def test_force_is_refused_where_somebody_worked(corpus, copy, name, content):
    (copy / name).parent.mkdir(exist_ok=True)
    (copy / name).write_text(content)
    before = everything(copy)
    assert name in refusal(*explore(corpus, copy, "--seed", "1", "--force"))
    assert everything(copy) == before
    refusal(*explore(corpus, copy, "--seed", "1"))
    assert everything(copy) == before


@pytest.mark.parametrize(
    "name", ["documents.csv", "tables/typical.csv", "README.txt", "report.html"]
)
def test_an_edit_that_keeps_the_size_is_seen(corpus, copy, name):
    """One letter for another, with the time of the file put back: only the checksum tells."""
    before = (copy / name).stat()
    content = (copy / name).read_bytes()
    (copy / name).write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
    os.utime(copy / name, ns=(before.st_atime_ns, before.st_mtime_ns))
    edited = everything(copy)
    assert name in refusal(*explore(corpus, copy, "--seed", "1", "--force"))
    assert everything(copy) == edited


def test_a_manifest_does_not_make_files_of_others_ours(corpus, copy):
    """Even with their true checksum: a run writes nothing of such a name."""
    victim, outside = copy / "notes.txt", copy.parent / "outside.txt"
    info = json.loads((copy / "run.json").read_text())
    for path in (victim, outside):
        path.write_text("mine")
        entry = {"bytes": 4, "sha256": digest(path)}
        info["files"][path.name] = info["files"][f"../{path.name}"] = entry
    (copy / "run.json").write_text(json.dumps(info))
    before = everything(copy.parent)
    refusal(*explore(corpus, copy, "--seed", "1", "--force"))
    assert everything(copy.parent) == before
    victim.unlink()
    run(*explore(corpus, copy, "--seed", "1", "--force"))
    assert outside.read_text() == "mine"


def test_the_report_of_somebody_stays(copy):
    (copy / "report.html").write_text("edited")
    before = everything(copy)
    line = refusal("report", copy)
    assert "report.html (changed since spheremix wrote it)" in line
    assert everything(copy) == before
    (copy / "report.html").unlink()
    (copy / "report.json").write_bytes((copy / "report.json").read_bytes()[:100])  # it was cut
    run("report", copy)
    assert everything(copy).keys() == before.keys()


def test_a_temporary_name_that_is_a_link(copy, tmp_path):
    """Names of drafts cannot be guessed: what has an old one is left alone."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (copy / ".report.html.part").symlink_to(victim)
    (copy / "figures.draft").symlink_to(tmp_path)
    run("report", copy)
    assert victim.read_text() == "precious"
    assert (copy / ".report.html.part").is_symlink()


@pytest.mark.parametrize("name", ["figures", "report.html", "README.txt"])
def test_a_link_in_the_place_of_what_is_derived(corpus, copy, tmp_path, name):
    victim = tmp_path / "victim"
    if name == "figures":
        shutil.rmtree(copy / name)
        victim.mkdir()
    else:
        (copy / name).unlink()
        victim.write_text("precious")
    (copy / name).symlink_to(victim)
    before = everything(tmp_path)
    run(*explore(corpus, copy))  # it is there: nothing is made
    assert everything(tmp_path) == before
    if name == "report.html":
        assert "is a link" in refusal("report", copy)
        assert everything(tmp_path) == before


@pytest.mark.parametrize("place", ["/dev/zero", "/etc/passwd", "../../outside", "tables/typical"])
def test_tables_of_a_manifest_are_not_opened_unchecked(corpus, copy, place):
    info = json.loads((copy / "run.json").read_text())
    info["tables"]["typical"] = place
    (copy / "run.json").write_text(json.dumps(info))
    (copy / "README.txt").unlink()
    refusal(*explore(corpus, copy))
    assert not (copy / "README.txt").exists()


def test_a_pipe_in_a_run_is_damage(copy):
    (copy / "documents.csv").unlink()
    os.mkfifo(copy / "documents.csv")
    with pytest.raises(RunError, match=r"not a regular file|damaged"):
        load_run(copy).read_table("documents")


# Outputs that are named


def test_assign_replaces_no_link_no_input_and_no_part_of_a_run(copy, tmp_path):
    victim, link = tmp_path / "victim.csv", tmp_path / "link.csv"
    victim.write_text("precious")
    link.symlink_to(victim)
    new = write_lines(tmp_path / "new.jsonl", texts(9))
    os.mkfifo(tmp_path / "pipe")
    places = (link, tmp_path / "pipe", new, copy / "documents.csv", copy / "run.json")
    before = everything(tmp_path)
    for place in (*places, copy / "matrix" / "data.npy", copy / "derived.json"):
        assert "with -o" in refusal("assign", copy, new, "-o", place, "--force")
    assert everything(tmp_path) == before
    run("assign", copy, new, "-o", victim, "--force")
    assert victim.read_text().startswith("id,date,cluster")


def test_a_report_replaces_a_file_by_force_alone(copy, tmp_path):
    page = tmp_path / "page.html"
    page.write_text("mine")
    assert "there already" in refusal("report", copy, "-o", page)
    assert page.read_text() == "mine"
    run("report", copy, "-o", page, "--force")
    assert page.read_bytes() == (copy / "report.html").read_bytes()


# What a killed process leaves


def test_a_killed_removal_goes_on(corpus, copy, monkeypatch):
    """The manifest goes first; what was listed in it is known until it is gone."""

    def stop(self, names):
        names = list(names)
        before(self, names[:3])
        if "documents.csv" in names:
            raise KeyboardInterrupt

    before = Ownership.remove
    monkeypatch.setattr(Ownership, "remove", stop)
    run(*explore(corpus, copy, "--seed", "1", "--force"), code=130)
    monkeypatch.undo()
    assert not (copy / "run.json").exists()
    (copy / "notes.txt").write_text("mine")
    assert "notes.txt" in refusal(*explore(corpus, copy))
    (copy / "notes.txt").unlink()
    run(*explore(corpus, copy))
    assert load_run(copy).manifest.command["seed"] == 0
    assert not (copy / "progress").exists()


@pytest.mark.parametrize("at", ["place", "record"])
def test_what_was_not_recorded_is_known_by_its_intent(corpus, copy, monkeypatch, at):
    """Stopped between a file's name and its record, or between two names."""
    page = (copy / "report.html").read_bytes()
    (copy / "report.html").unlink()
    (copy / "report.json").unlink()
    before = getattr(Ownership, at)

    def stop(self, first, second):
        if "report.json" in (first, second) or first == "derived.json":
            raise SystemExit(3)
        before(self, first, second)

    monkeypatch.setattr(Ownership, at, stop)
    monkeypatch.setattr("spheremix.run.folder.RunFolder._leave", lambda self, failed: True)  # noqa: ARG005
    folder = RunFolder(copy)
    with pytest.raises(SystemExit), folder.locked():
        render.render(folder, load_run(copy), ["report.html", "report.json"])
    monkeypatch.undo()
    assert (copy / "report.html").read_bytes() == page
    assert (copy / "progress" / "placing.json").exists()
    run(*explore(corpus, copy))
    assert not (copy / "progress").exists()
    assert set(json.loads((copy / "derived.json").read_text())["files"]) >= {
        "report.html",
        "report.json",
    }
    run(*explore(corpus, copy, "--seed", "1", "--force"))


def test_a_run_among_its_documents(tmp_path, monkeypatch):
    """As `cd texts; spheremix explore .`: our own files are no documents."""
    monkeypatch.chdir(tmp_path)
    for one in texts(30):
        (tmp_path / f"{one['id']}.txt").write_text(one["text"])
    run("explore", ".", *OPTIONS)
    assert "holds this run already" in "".join(run("explore", ".", *OPTIONS))
    found = load_run(tmp_path / "run")
    assert found.manifest.corpus.n_documents == 30
    _, err = run("explore", ".", *OPTIONS, "--seed", "1", "-o", "another")
    assert "1 folder of a run left out: 'run'." in err
    assert load_run(tmp_path / "another").manifest.corpus.n_documents == 30

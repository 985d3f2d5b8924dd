"""What others have in a folder stays: changed outputs, links, pipes, files of their own."""

from __future__ import annotations

import os
import shutil

import pytest

pytest.importorskip("typer")

from cli_common import refusal, run
from processes import everything
from story import outputs


def changed(path):
    """Change one letter of a file; its size and its time stay."""
    before, content = path.stat(), path.read_bytes()
    path.write_bytes(content[:-2] + bytes([content[-2] ^ 1]) + content[-1:])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def is_untouched(folder, before):
    """Return whether all is there as it was; the program may add to what it keeps itself."""
    now = everything(folder)
    return {name: now.get(name) for name in before} == before


def commands(small, folder):
    """Return commands that would write outputs again."""
    return {
        "edit": ("edit", folder, small.edits),
        "other options": small.explore(folder, "--criterion", "aic"),
        "force": small.explore(folder, "--min-df", "3", "--force"),
    }


@pytest.mark.parametrize("what", ["edit", "other options", "force"])
def test_a_changed_output_is_refused_by_name(small, copy, what):
    for name in outputs(small.folder):
        changed(copy / name)
        before = everything(copy)
        line = refusal(*commands(small, copy)[what])
        assert name in line, (name, line)
        assert is_untouched(copy, before)
        shutil.copy2(small.folder / name, copy / name)
    run(*commands(small, copy)[what])  # all is as it was: nothing to refuse


def test_a_changed_page_is_not_replaced_by_a_new_one(copy):
    changed(copy / "report.html")
    before = everything(copy)
    assert "report.html" in refusal("report", copy)
    assert is_untouched(copy, before)


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize(
    "name",
    [
        *("notes.txt", "documents.csv", "report.html", "run.json", ".hidden", "deep/er/still.txt"),
        *("tables/mine.csv", "figures/holiday.png", "cache/mine.txt", "progress/mine.txt"),
    ],
)
def test_a_folder_of_others_is_refused_and_untouched(small, tmp_path, name, force):
    folder = tmp_path / "theirs"
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("precious")
    before = everything(tmp_path)
    for command in (
        small.explore(folder, *force),
        ("update", small.named, small.new, "-o", folder),
    ):
        refusal(*command)
        assert everything(tmp_path) == before


@pytest.mark.parametrize("name", ["notes.txt", "tables/mine.csv", ".hidden", "deep/er/still.txt"])
@pytest.mark.parametrize("what", ["edit", "other options", "force"])
def test_files_of_others_in_a_run_stay(small, copy, name, what):
    """Whether a command works beside them or is refused."""
    (copy / name).parent.mkdir(parents=True, exist_ok=True)
    (copy / name).write_text("precious")
    before = everything(copy)
    try:
        run(*commands(small, copy)[what])
    except AssertionError:
        assert name.split("/")[0] in refusal(*commands(small, copy)[what])
        assert is_untouched(copy, before)
    assert (copy / name).read_text() == "precious"


@pytest.mark.parametrize("kind", ["link", "link to a folder", "broken link", "hard link", "pipe"])
@pytest.mark.parametrize("what", ["edit", "other options", "force"])
def test_links_and_pipes_are_not_followed(small, copy, tmp_path, kind, what):
    """In the place of each output: it is refused, and what the link leads to is untouched."""
    outside = tmp_path / "outside"
    outside.mkdir()
    victim = outside / "precious.txt"
    victim.write_text("precious")
    for name in outputs(small.folder):
        path = copy / name
        path.unlink()
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "hard link":
            os.link(victim, path)
        else:
            leads = {"link": victim, "link to a folder": outside}.get(kind, outside / "nothing")
            path.symlink_to(leads)
        before = everything(tmp_path)
        line = refusal(*commands(small, copy)[what])
        assert name in line, (name, line)
        assert is_untouched(tmp_path, before)
        path.unlink()
        shutil.copy2(small.folder / name, path)


def test_every_folder_of_a_run_may_be_a_link_and_is_not_followed(small, copy, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious.txt").write_text("precious")
    for folder in sorted(path for path in small.folder.iterdir() if path.is_dir()):
        place = copy / folder.name
        shutil.rmtree(place)
        place.symlink_to(outside)
        before = everything(tmp_path)
        for command in commands(small, copy).values():
            refusal(*command)
            assert is_untouched(tmp_path, before), folder.name
        place.unlink()
        shutil.copytree(folder, place)
    run("edit", copy, small.edits)

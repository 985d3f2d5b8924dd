"""The command in a shell and in scripts: completion, exit codes, environment variables."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

pytest.importorskip("typer")

from typer import Exit
from typer.testing import CliRunner

from spheremix.__main__ import warn_in_one_line
from spheremix.cli.guard import guarded
from spheremix.cli.main import app

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explore.md"


def section():
    text = PAGE.read_text(encoding="utf-8")
    return text.partition("\n## In a shell and in scripts\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [("spheremix ex", "explore"), ("spheremix explore --min-d", "--min-df")],
)
def test_commands_and_options_are_completed(typed, offered):
    surroundings = {
        "_SPHEREMIX_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - 1),
    }
    done = CliRunner().invoke(app, [], prog_name="spheremix", env=surroundings)
    assert offered in done.output.split()


def test_exit_codes_are_documented(tmp_path):
    def code(*typed):
        return CliRunner().invoke(app, typed).exit_code

    listed = set(map(int, re.findall(r"^\| (\d+) \|", section(), re.MULTILINE)))
    assert listed == {0, 1, 2, 130}
    assert code("--version") == 0
    assert code("explore", str(tmp_path / "absent.csv")) == 2
    assert code("explore", "--no-such-option") == 2

    @guarded()
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(Exit) as caught:
        interrupted()
    assert caught.value.exit_code == 130


def test_every_variable_is_in_the_table():
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "csrc").iterdir()]
    read = {
        name
        for path in files
        for name in re.findall(r"\"(SPHEREMIX_[A-Z]+)\"", path.read_text(encoding="utf-8"))
    }
    listed = re.findall(r"^\| `(\w+)` \|", section(), re.MULTILINE)
    assert read | {"OMP_NUM_THREADS"} == set(listed)
    assert listed[:-1] == sorted(listed[:-1])


def test_a_warning_is_one_line(monkeypatch):
    monkeypatch.setattr("warnings.formatwarning", warnings.formatwarning)  # put back afterwards
    warn_in_one_line()
    shown = warnings.formatwarning(RuntimeWarning("slow."), RuntimeWarning, "open.py", 108, "x = 1")
    assert shown == "note: slow.\n"

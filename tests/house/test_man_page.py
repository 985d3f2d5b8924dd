"""The manual page names every command and every option, and troff can read it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import typer

from spheremix.cli.main import app

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def manual(load_tool):
    return load_tool("man_page").manual()


def test_every_option_is_named_in_the_part_of_its_command(manual):
    commands = typer.main.get_command(app).commands
    assert len(commands) >= 8
    for name, command in commands.items():
        part = manual.partition(f"\n.SS spheremix {name} ")[2]
        part = re.split(r"\n\.S[SH] ", part)[0].replace(r"\-", "-")
        for one in command.params:
            if one.param_type_name == "argument":
                assert rf"\fI{one.name.upper()}\fR" in part
            else:
                assert all(rf"\fB{long}\fR" in part for long in one.opts)


def test_exit_codes_and_variables_are_those_of_the_page(manual):
    plain = manual.replace(r"\-", "-")
    codes = plain.partition("\n.SH EXIT STATUS\n")[2].partition("\n.SH ")[0]
    assert re.findall(r"^\\fB(\d+)\\fR$", codes, re.MULTILINE) == ["0", "1", "2", "130"]
    page = (ROOT / "docs" / "explore.md").read_text(encoding="utf-8")
    variables = set(re.findall(r"^\| `(SPHEREMIX_\w+)` \|", page, re.MULTILINE))
    assert len(variables) >= 4
    assert all(rf"\fB{name}\fR" in plain for name in variables)


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff")
def test_troff_reads_it_without_a_warning(manual, tmp_path):
    file = tmp_path / "spheremix.1"
    file.write_text(manual, encoding="ascii")
    done = subprocess.run(  # noqa: S603
        ["groff", "-man", "-ww", "-Tutf8", str(file)],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert "spheremix explore" in done.stdout

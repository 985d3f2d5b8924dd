"""What pages tell to type: the commands of spheremix have these names and these options."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import typer

from spheremix.cli.main import app

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
MAIN = typer.main.get_command(app)


def typed(page):
    """Return the commands of a page, word by word: of its shell blocks, and between backquotes."""
    text = page.read_text(encoding="utf-8")
    lines = []
    for block in re.findall(r"^ *```sh\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL):
        lines += block.replace("\\\n", " ").splitlines()
    plain = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    lines += [re.sub(r"\s+", " ", one) for one in re.findall(r"`(spheremix [^`]+)`", plain)]
    for line in lines:
        for part in re.split(r"&&|\||;", line):
            words = shlex.split(part, comments=True)
            if words[:1] == ["spheremix"]:
                yield words[1:]


def parse(words):
    """Read the options of a command, and do nothing."""
    name = words[0]
    command = MAIN if name.startswith("-") else MAIN.commands[name]
    context = command.context_class(command, info_name=name)
    command.make_parser(context).parse_args(words if command is MAIN else words[1:])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_commands_of_pages_are_understood(page):
    for words in typed(page):
        parse(words)  # an unknown option, or one without its value, is an error


def test_commands_are_found():
    assert sum(len(list(typed(page))) for page in PAGES) > 60
    with pytest.raises(KeyError):
        parse(["explain", "run"])
    with pytest.raises(Exception, match="No such option: --nothing"):
        parse(["explore", "articles.csv", "--nothing"])


def test_gallery_tells_to_type_what_was_run(load_tool):
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    commands = load_tool("draw_gallery").COMMANDS
    for name, command in commands.items():
        shown = rf"```sh\n{re.escape(command)}\n```\n\n!\[[^]]+\]\(figures/gallery-{name}\.png\)\n"
        assert re.search(shown, page), name
        picture = (ROOT / "docs" / "figures" / f"gallery-{name}.png").read_bytes()
        assert picture.startswith(b"\x89PNG\r\n")
        assert len(picture) < 170_000
    assert page.count("![") == len(commands)

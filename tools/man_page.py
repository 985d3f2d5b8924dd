"""Write the manual page of the command, for packagers and for `man`.

    python tools/man_page.py build/spheremix.1

Commands and options come from the command itself, exit codes and environment variables from the
tables of docs/explore.md.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

import spheremix
from spheremix.cli.main import app

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).resolve().parents[1] / "docs" / "explore.md"


def escaped(text: str) -> str:
    """Return text as troff takes it; marks of Markdown become bold."""
    text = re.sub(r"\s+", " ", text).strip().replace("\\", r"\e").replace("-", r"\-")
    text = re.sub(r"`([^`]*)`|\*\*([^*]*)\*\*", lambda m: rf"\fB{m[1] or m[2]}\fR", text)
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)  # of a link its words
    text = "".join(one if one.isascii() else rf"\[u{ord(one):04X}]" for one in text)
    return rf"\&{text}" if text[:1] in {".", "'"} else text


def paragraphs(text: str) -> Iterator[str]:
    """Return the lines of paragraphs."""
    for i, part in enumerate(re.split(r"\n\s*\n", text.strip())):
        yield from ([".PP"] if i else []) + [escaped(part)]


def option(found: Any) -> list[str]:
    """Describe an option."""
    names = ", ".join(rf"\fB{escaped(one)}\fR" for one in [*found.opts, *found.secondary_opts])
    value = "" if found.is_flag else rf" \fI{escaped(found.name.replace('_', '-')).upper()}\fR"
    text, _, default = (found.help or "").partition("  \n[default: ")
    default = default.rstrip("]")
    if not default and not found.is_flag and found.default is not None and found.show_default:
        default = str(getattr(found.default, "value", found.default))
    said = f"{text} Default: {default}." if default else text
    return [".TP", names + value, escaped(said)]


def command(name: str, found: Any) -> Iterator[str]:
    """Describe a command with its options, in the groups of its help."""
    arguments = [one for one in found.params if one.param_type_name == "argument"]
    shown = " ".join(rf"\fI{one.name.upper()}\fR" for one in arguments)
    yield f".SS spheremix {name} [OPTIONS] {shown}".rstrip()
    yield from paragraphs(found.help)
    for one in arguments:
        yield from (".TP", rf"\fI{one.name.upper()}\fR", escaped(one.help or ""))
    options = [one for one in found.params if one.param_type_name == "option" and not one.hidden]
    for panel in dict.fromkeys(one.rich_help_panel for one in options):
        if panel is not None:
            yield from (".PP", rf"\fI{escaped(panel)}\fR")
        for one in options:
            if one.rich_help_panel == panel:
                yield from option(one)


def table(first: str) -> Iterator[str]:
    """Return the rows of a table of the page that begins with this heading."""
    lines = PAGE.read_text(encoding="utf-8").partition(f"\n| {first} |")[2].splitlines()[2:]
    for line in lines:
        if not line.startswith("|"):
            return
        key, *values = [cell.strip() for cell in line.strip("|").split("|")]
        yield from (".TP", rf"\fB{escaped(key.strip('`'))}\fR", escaped(": ".join(values)))


def manual() -> str:
    """Return the whole page."""
    main: Any = typer.main.get_command(app)
    lines = [
        rf'.TH SPHEREMIX 1 "" "spheremix {spheremix.__version__}" "User Commands"',
        ".SH NAME",
        r"spheremix \- group documents by topic, and show which words define each group",
        ".SH SYNOPSIS",
        r"\fBspheremix\fR \fICOMMAND\fR [OPTIONS] ...",
        ".SH DESCRIPTION",
        escaped(main.help),
        ".SH COMMANDS",
    ]
    for name, found in main.commands.items():
        lines += command(name, found)
    lines += [".SH EXIT STATUS", *table("exit code"), ".SH ENVIRONMENT", *table("variable")]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    place = Path(sys.argv[1])
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(manual(), encoding="utf-8")

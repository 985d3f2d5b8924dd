"""Write docs/llms.txt: the commands, options and tables, for programs with a language model.

    python tools/llms_page.py

Everything comes from the command, from the columns of the tables and from the tools for programs.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from spheremix.cli.flags import FIRST
from spheremix.cli.main import app
from spheremix.cli.programs import EDITING, READING, Tools
from spheremix.run.columns import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).resolve().parents[1] / "docs" / "llms.txt"
HEAD = """\
# spheremix

> Groups documents (texts, embeddings) by topic with mixtures of von Mises-Fisher distributions
> whose prototypes are sparse, so that each group is told by few words. One command reads a file,
> finds the number of groups, and writes tables and an offline report.

- Numbers of groups begin at 0 and are the same in all tables of a run.
- Stability, 0 to 1, is how often a document stays with its group when documents are drawn again.
  Below 0.5 a group is not to be relied on. It is no probability of being right.
- The same command with the same options gives the same result. In the same folder it goes on, or
  reuses what other options do not change.
- From Python: run = spheremix.explore_corpus(file_or_frame_or_texts, "folder"); run.groups,
  run.documents, run.assign(texts), run.effects("column"), run.edit({"merge": [[1, 4]]}).
- To ask a run: spheremix serve RUN --mcp (Model Context Protocol).
"""


def plain(text: str) -> str:
    """Return a text on one line, without what a terminal shows in bold."""
    return re.sub(r"\s+", " ", text.partition("  \n[default: ")[0]).strip()


def first(text: str | None) -> str:
    """Return the first sentence of a help."""
    return plain((text or "").split("\n\n")[0])


def sentence(text: str) -> str:
    """Return the first sentence of a text."""
    return re.split(r"(?<=\.) (?=[A-Z])", text)[0]


def commands() -> Iterator[str]:
    """List the commands with their options: of the longest one those that its short help has."""
    yield "\n## Commands\n"
    group: Any = typer.main.get_command(app)
    for name, found in group.commands.items():
        arguments = [one.name.upper() for one in found.params if one.param_type_name == "argument"]
        yield f"- spheremix {' '.join([name, *arguments])}: {first(found.help)}"
        for one in found.params:
            if one.param_type_name != "argument" and (name != "explore" or one.name in FIRST):
                yield f"  - {', '.join(one.opts)}: {plain(one.help or '')}"


def tables() -> Iterator[str]:
    """List the tables of a run with their columns."""
    yield "\n## Tables of a run\n"
    for table in TABLES.values():
        yield f"- {table.file}: {sentence(plain(table.about))} Columns: {', '.join(table.columns)}."


def tools() -> Iterator[str]:
    """List what programs can ask."""
    yield "\n## Tools of spheremix serve RUN --mcp\n"
    for name in READING + EDITING:
        tool = getattr(Tools, name)
        values = ", ".join(list(inspect.signature(tool).parameters)[1:])
        needs = " Needs --edit." if name in EDITING else ""
        yield f"- {name}({values}): {first(tool.__doc__)}{needs}"


def page() -> str:
    """Return the page."""
    return "\n".join([HEAD.rstrip(), *commands(), *tables(), *tools(), ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

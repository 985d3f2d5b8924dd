"""The summary of a run: groups, sizes, words, and what to open next."""

from __future__ import annotations

import webbrowser
from typing import TYPE_CHECKING

from spheremix.cli.console import remark, say, table
from spheremix.cli.naming import option_name
from spheremix.run.folder.readme import PAGE
from spheremix.run.sentences import (
    common_words,
    group_tables,
    headline,
    remarks,
    what_to_open,
)

if TYPE_CHECKING:
    from pathlib import Path

    from spheremix.run.run import Run


def summarise(run: Run, *, open_page: bool = False) -> None:
    """Print what was found, and open the report where that was asked."""
    say()
    say(headline(run), bold=True)
    for headers, rows, right in group_tables(run):
        say()
        table(headers, rows, right=right)
    if common := common_words(run):
        say()
        say(f"Words of all groups: {', '.join(common)}")
    for one in remarks(run):
        say()
        say(one.render(option_name))
    say()
    say("Open next:")
    for name, what in what_to_open(run).items():
        say(f"  {name}: {what}")
    if open_page:
        show_page(run)


def show_page(run: Run, page: Path | None = None) -> None:
    """Open the report in the browser, where there is one."""
    path = page or run.store.place / PAGE
    if not webbrowser.open(path.resolve().as_uri()):
        remark(f"no browser was found: open {path}.")

"""The summary of a run: what was found, a line a group, a few remarks, and where the report is."""

from __future__ import annotations

import webbrowser
from typing import TYPE_CHECKING

from spheremix.cli.console import columns, remark, say
from spheremix.cli.naming import option_name
from spheremix.run.folder.schema import PAGE
from spheremix.run.sentences import first_remarks, group_lines, result

if TYPE_CHECKING:
    from pathlib import Path

    from spheremix.run.run import Run


def summarise(run: Run, *, open_page: bool = False) -> None:
    """Print what was found, and open the report where that was asked; README.txt says more."""
    say()
    say(result(run), bold=True)
    say()
    columns([(one.name, f"{one.size:,}", one.words) for one in group_lines(run)])
    said = first_remarks(run)
    if said:
        say()
    for one in said:
        say(one.render(option_name))
    say()
    say(str(run.store.place / PAGE), whole=True)
    if open_page:
        show_page(run)


def show_page(run: Run, page: Path | None = None) -> None:
    """Open the report in the browser, where there is one."""
    path = page or run.store.place / PAGE
    if not webbrowser.open(path.resolve().as_uri()):
        remark(f"no browser was found: open {path}.")

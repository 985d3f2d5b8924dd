"""``spheremix report``: the page of a run, rendered again from its folder."""

# ruff: noqa: PLC0415 (help does not wait for SciPy: what works is loaded when there is work)
from __future__ import annotations

from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import Annotated

import typer

from spheremix.cli import flags  # noqa: TC001 (typer reads the annotations)
from spheremix.cli.console import say, terminal
from spheremix.cli.guard import guarded


@guarded()
def report(
    run: flags.Run,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A file .html or .json in place of the two there."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of --output.")] = False,
    open_page: Annotated[bool, typer.Option("--open", help="Show it in the browser.")] = False,
) -> None:
    """Write the report of a run: one page that opens from disk, and the same as JSON.

    The documents are inside: whoever has the file can read them.
    """
    from spheremix.cli.summary import show_page
    from spheremix.run.render import report_run
    from spheremix.run.saving import load_run

    found = load_run(run)
    with terminal() as listener:
        wanted = report_run(found, output, force=force, listener=listener)
    for path in wanted:
        say(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    if open_page:
        show_page(found, wanted[0])

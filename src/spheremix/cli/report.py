"""``spheremix report``: the page of a run, rendered again from its folder."""

# ruff: noqa: PLC0415 (help does not wait for SciPy: what works is loaded when there is work)
from __future__ import annotations

from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import Annotated

import typer

from spheremix.cli.guard import guarded


@guarded
def report(
    run: Annotated[
        Path, typer.Argument(help="Folder of a run of spheremix explore.", show_default=False)
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="A file .html or .json in place of the two in the folder.",
            show_default=False,
        ),
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Show it in the browser.")] = False,
) -> None:
    """Write the report of a run: one page that opens from disk, and the same as JSON.

    The documents are inside: whoever has the file can read them.
    """
    from spheremix.run.render import run_report

    run_report(run, output, open_page=open_page)

"""``spheremix assign``: clusters of new documents, by a run that was saved."""

# ruff: noqa: PLC0415 (help does not wait for SciPy: what works is loaded when there is work)
from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spheremix.cli.guard import guarded


@guarded
def assign(
    run: Annotated[
        Path, typer.Argument(help="Folder of a run of spheremix explore.", show_default=False)
    ],
    new: Annotated[
        Path,
        typer.Argument(help="New documents, in a file as explore reads.", show_default=False),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The table to write.")] = Path(
        "assigned.csv"
    ),
    text: Annotated[str | None, typer.Option(help="Column of the texts.")] = None,
    id: Annotated[str | None, typer.Option(help="Column of the ids, or none.")] = None,  # noqa: A002
    force: Annotated[bool, typer.Option("--force", help="Replace the table.")] = False,
) -> None:
    """Cluster new documents with a saved run.

    Words are those of the run: documents that have none of them are written with an empty cluster
    and the reason.
    """
    from spheremix.run.assign import run_assign
    from spheremix.run.options import Options

    run_assign(run, new, Options(text=text, id=id, date="none", label="none"), output, force=force)

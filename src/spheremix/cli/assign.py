"""``spheremix assign``: clusters of new documents, by a run that was saved."""

# ruff: noqa: PLC0415 (help does not wait for SciPy: what works is loaded when there is work)
from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spheremix.cli import flags  # noqa: TC001 (typer reads the annotations)
from spheremix.cli.console import say, terminal
from spheremix.cli.guard import guarded


@guarded()
def assign(
    run: flags.Run,
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
    from spheremix.run.assign import assign_documents, describe_assigned, write_assigned
    from spheremix.run.output import check_output
    from spheremix.run.saving import load_run

    known = load_run(run)
    check_output(output, "assigned.csv", force=force, inputs=(new,))
    with terminal() as listener:
        table = assign_documents(known, new, listener, text=text, id=id)
    write_assigned(table, output)
    for line in describe_assigned(known, table):
        say(line)
    say(f"Open next: {output}")

"""``spheremix assign``: groups of new documents, by a run that was saved."""

# ruff: noqa: PLC0415 (help does not wait for SciPy: what works is loaded when there is work)
from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
    vocabulary: flags.Vocabulary = None,
    text: Annotated[str | None, typer.Option(help="Column of the texts.")] = None,
    id: Annotated[str | None, typer.Option(help="Column of the ids, or none.")] = None,  # noqa: A002
    false_alarms: Annotated[
        float, typer.Option(help="Share of batches without any change that may raise an alarm.")
    ] = 0.05,
    force: Annotated[bool, typer.Option("--force", help="Replace the table.")] = False,
) -> None:
    """Put new documents into the groups of a run, and tell what is new in them.

    Do they fit? Is there a new group among them? Have the shares or the words of groups changed?
    Words are those of the run: documents that have none of them are written with an empty group
    and the reason.
    """
    from spheremix.run.folder.files import check_output
    from spheremix.run.new_documents import compare_documents
    from spheremix.run.run import load_run
    from spheremix.text import read_matrix

    known = load_run(run)
    check_output(
        output,
        "assigned.csv",
        force=force,
        inputs=(new,) if vocabulary is None else (new, vocabulary),
    )
    how: dict[str, Any] = {"text": text, "id": id, "false_alarms": false_alarms}
    with terminal() as listener:
        rows = new if vocabulary is None else read_matrix(new, vocabulary)
        found = compare_documents(known, rows, listener, **how)
    found.write(output)
    for line in found.lines():
        say(line)
    say(f"Open next: {output}")

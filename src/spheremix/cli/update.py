"""``spheremix update``: a run with new documents, its groups kept."""

# ruff: noqa: PLC0415 (help does not wait for SciPy: what works is loaded when there is work)
from __future__ import annotations

from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import Annotated, Any

import typer

from spheremix.cli import flags  # noqa: TC001 (typer reads the annotations)
from spheremix.cli.console import terminal
from spheremix.cli.guard import guarded


@guarded(resumes=True)
def update(
    run: flags.Run,
    new: Annotated[
        Path, typer.Argument(help="New documents, in a file as explore reads.", show_default=False)
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder of the new run.  \n[default: RUN-updated]"),
    ] = None,
    texts: Annotated[
        Path | None, typer.Option(help="Documents of the rows of a new matrix, one a row.")
    ] = None,
    vocabulary: flags.Vocabulary = None,
    text: Annotated[str | None, typer.Option(help="Column of the texts.")] = None,
    id: Annotated[str | None, typer.Option(help="Column of the ids, or none.")] = None,  # noqa: A002
    metadata: Annotated[
        Path | None, typer.Option(help="Table with one row for each file of a new folder.")
    ] = None,
    threads: flags.Threads = None,
    open_page: flags.Open = False,
) -> None:
    """Make a run of the documents of a run and new ones: its groups stay, new ones are added.

    Groups keep their numbers, names, notes and colours. New ones come last, if there is a new
    group among the new documents. The run before is only read. The summary says what changed.
    """
    from spheremix.cli.summary import summarise
    from spheremix.run.update import update_run
    from spheremix.text import read_matrix

    with terminal() as listener:
        how: dict[str, Any] = {"texts": texts, "text": text, "id": id, "threads": threads}
        how |= {"metadata": metadata, "listener": listener}
        rows = new if vocabulary is None else read_matrix(new, vocabulary)
        found = update_run(run, rows, output, **how)
    summarise(found, open_page=open_page)

"""``spheremix edit``: names, notes, merges, splits, dropped words, and the way back."""

# ruff: noqa: PLC0415 (help does not wait for SciPy: what works is loaded when there is work)
from __future__ import annotations

from pathlib import Path  # noqa: TC003 (typer reads the annotations)
from typing import Annotated, Any

import typer

from spheremix.cli import flags  # noqa: TC001 (typer reads the annotations)
from spheremix.cli.console import terminal
from spheremix.cli.guard import guarded


@guarded(resumes=True)
def edit(
    run: flags.Run,
    edits: Annotated[
        Path | None,
        typer.Argument(
            help="The edits.json that the report exports, or a table (CSV, TSV or JSON lines) with "
            "the columns group and name, which renames groups."
        ),
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take back the last edits.")] = False,
    threads: flags.Threads = None,
    open_page: flags.Open = False,
) -> None:
    """Make edits to a run: names, notes, merges, splits, dropped words, misplaced documents.

    To rename groups, write a table with the columns group and name: `spheremix edit run
    names.csv`. For other edits, press *edits* in the report, which saves edits.json. Written by
    hand, it has the keys format ("spheremix edits"), version (1), run (fit in `spheremix names
    RUN`) and any of names ({"0": "Elections"}), merge ([[1, 4]]), split ([2]) and drop_words
    (["said"]).

    Merged and split groups, and dropped words, are fitted again from where the groups are; the
    summary says what changed. `--undo` gives the run before the last edits, to the last byte.
    """
    from spheremix.cli.summary import summarise
    from spheremix.run.explore import edit_run, undo_edits
    from spheremix.run.folder.files import RunError

    if (edits is None) != undo:
        raise RunError("Give either a file of edits or {undo=True}", remedies=("see --help",))
    with terminal() as listener:
        how: dict[str, Any] = {"listener": listener, "threads": threads}
        found = undo_edits(run, **how) if edits is None else edit_run(run, edits, **how)
    summarise(found, open_page=open_page)

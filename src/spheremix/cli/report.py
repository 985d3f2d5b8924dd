"""``spheremix report``, ``figures`` and ``check``: made of a run on demand."""

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
        typer.Option("--output", "-o", help="A file .html or .json in place of the page there."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of --output.")] = False,
    open_page: Annotated[bool, typer.Option("--open", help="Show it in the browser.")] = False,
) -> None:
    """Write the report of a run again: one page that opens from disk; or the same as JSON.

    The documents are inside: whoever has the file can read them.
    """
    from spheremix.cli.summary import show_page
    from spheremix.run.explore import write_report
    from spheremix.run.run import load_run

    found = load_run(run)
    with terminal() as listener:
        path = write_report(found, output, force=force, listener=listener)
    say(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    if open_page:
        show_page(found, path)


@guarded()
def figures(
    run: flags.Run,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder.  \n[default: figures in the folder of RUN]"),
    ] = None,
) -> None:
    """Draw the figures of a run, to print: maps, words, path, criteria, labels, time."""
    from spheremix.run.run import load_run

    found = load_run(run)
    with terminal() as listener:
        listener.begin("Drawing the figures")
        names = found.figures(output)
    say(f"{found.store.place / 'figures' if output is None else output}: {', '.join(names)}")


@guarded()
def check(
    run: flags.Run,
    refit: Annotated[
        bool, typer.Option("--refit", help="Also make the run again, and compare every byte.")
    ] = False,
    threads: flags.Threads = None,
) -> None:
    """Compare every table, page and stage of a run with its checksum; --refit makes it again.

    Ends with the exit code 1 where something differs.
    """
    from spheremix.run.explore import check_run
    from spheremix.run.run import load_run

    with terminal() as listener:
        problems = check_run(load_run(run), refit=refit, listener=listener, threads=threads)
    for line in problems:
        say(line)
    if problems:
        raise typer.Exit(1)
    say(f"{run}: every file is as it was written{', and made again to the same bytes' * refit}.")

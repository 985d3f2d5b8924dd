"""The commands, but for ``simulate``: each makes or asks a run."""

# ruff: noqa: PLC0415 (help does not wait for SciPy: what works is loaded when there is work)
from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from spheremix.cli import flags
from spheremix.cli.console import say, terminal
from spheremix.cli.guard import guarded

# What the demonstration is made with.
DEMO: dict[str, Any] = {"k": 22, "starts": 20, "min_df": 5, "max_df": 0.5}
DEMO |= {"min_relative_increase": 0.02, "drop_mixed": True}


@guarded(resumes=True)
@flags.with_explore_options
def explore(
    files: flags.Files,
    output: flags.Output = Path("run"),
    force: flags.Force = False,
    open_page: flags.Open = False,
    help_all: flags.HelpAll = False,  # noqa: ARG001 (it is done when it is read)
    **options: Any,
) -> None:
    """Group documents, and say in which words.

    Killed at any moment and started again with the same command, it goes on from where it was and
    ends with the same result. With other options for the same documents it reuses what they do not
    change. If the folder holds a run of other documents, the command changes nothing and says what
    differs.

    For example: `spheremix explore news.csv --text body -k 2:20 -o news`, then open
    news/report.html. For a folder of dated text files: `spheremix explore speeches --date-from name
    --label-from folder -o run`.
    """
    from spheremix.cli.summary import summarise
    from spheremix.run.explore import explore_corpus

    with terminal() as listener:
        source = files[0] if len(files) == 1 else files
        run = explore_corpus(source, output, force=force, listener=listener, **options)
    summarise(run, open_page=open_page)


@guarded(resumes=True)
def demo(
    output: flags.Output = Path("demo"),
    threads: flags.Threads = None,
    force: flags.Force = False,
    open_page: flags.Open = False,
) -> None:
    """Group the docstrings of numpy, scipy and scikit-learn.

    About 3,000 documents of the versions that are installed, nothing to download: their prose,
    without code, in 22 groups.
    """
    from spheremix.cli.summary import summarise
    from spheremix.datasets import load_docstrings
    from spheremix.run.explore import explore_corpus

    with terminal() as listener:
        listener.begin("Collecting docstrings")
        documents = load_docstrings(prose=True)
        how = {"force": force, "threads": threads, **DEMO}
        run = explore_corpus(documents, output, listener=listener, **how)
    summarise(run, open_page=open_page)


@guarded()
def report(
    run: flags.Run,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="A file .html, .json or .parquet in place of the page there."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file of --output.")] = False,
    open_page: Annotated[bool, typer.Option("--open", help="Show it in the browser.")] = False,
) -> None:
    """Write the report of a run again: one page that opens from disk; or the same as JSON.

    A file .parquet has x, y, group and stability of each document or passage, as Embedding Atlas
    and DataMapPlot read it. The texts are inside: whoever has the file can read them.
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
    """Draw the figures of a run, to print: maps, overview, words, path, criteria, labels, time."""
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


@guarded()
def assign(
    run: flags.Run,
    new: flags.New,
    output: Annotated[Path, typer.Option("--output", "-o", help="The table to write.")] = Path(
        "assigned.csv"
    ),
    vocabulary: flags.Vocabulary = None,
    text: flags.Text = None,
    id: flags.Id = None,  # noqa: A002
    meaning: flags.Meaning = None,
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
    how["meaning"] = meaning
    with terminal() as listener:
        rows = new if vocabulary is None else read_matrix(new, vocabulary)
        found = compare_documents(known, rows, listener, **how)
    found.write(output)
    for line in found.lines():
        say(line)
    say(f"Open next: {output}")


@guarded()
def effects(
    run: flags.Run,
    by: Annotated[
        str,
        typer.Option(help="Columns: labels, others of the input, date or year, as party,year."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The table to write.")] = Path(
        "effects.csv"
    ),
    draws: Annotated[int, typer.Option(help="How often documents are drawn again.")] = 200,
    force: Annotated[bool, typer.Option("--force", help="Replace the table.")] = False,
) -> None:
    """Tell how the shares of the groups depend on a label, a number or a date, with intervals.

    Documents are drawn again, and the groups are fitted again from where they are: intervals have
    the uncertainty of the groups too. Of a group that is not stable nothing is told.
    """
    from spheremix.run.effects import write_effects
    from spheremix.run.run import load_run

    with terminal() as listener:
        found = write_effects(load_run(run), by, output, listener, n_draws=draws, force=force)
    for line in str(found).splitlines():
        say(line)
    say(f"All shares and differences, with their intervals: {output}")


@guarded(resumes=True)
def update(
    run: flags.Run,
    new: flags.New,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder of the new run.  \n[default: RUN-updated]"),
    ] = None,
    texts: Annotated[
        Path | None, typer.Option(help="Documents of the rows of a new matrix, one a row.")
    ] = None,
    vocabulary: flags.Vocabulary = None,
    text: flags.Text = None,
    id: flags.Id = None,  # noqa: A002
    metadata: Annotated[
        Path | None, typer.Option(help="Table with one row for each file of a new folder.")
    ] = None,
    meaning: flags.Meaning = None,
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
        how |= {"metadata": metadata, "meaning": meaning, "listener": listener}
        rows = new if vocabulary is None else read_matrix(new, vocabulary)
        found = update_run(run, rows, output, **how)
    summarise(found, open_page=open_page)


@guarded()
def names(run: flags.Run) -> None:
    """Describe the groups of a run as JSON, for whoever names them.

    Names go back in a table with the columns group and name: `spheremix edit RUN names.csv`. A
    third column, fit, copied from this JSON, is optional: names of other groups are then refused.
    """
    from spheremix.run.run import load_run

    typer.echo(json.dumps(load_run(run).describe_groups(), indent=1))

"""``spheremix explore``: from a file of documents to clusters one can name."""

# ruff: noqa: PLC0415 (help does not wait for SciPy: what works is loaded when there is work)
from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spheremix.cli.console import progress
from spheremix.cli.guard import guarded

Columns = "Columns of the file"
Words = "From texts to words"
Model = "Clusters and sparsity"
Running = "Running"


@guarded
def explore(
    file: Annotated[
        Path,
        typer.Argument(
            help="CSV, TSV, JSON lines or Parquet file, or a folder of text files; or a ready "
            "matrix: .npz or .mtx with a vocabulary, .npy embeddings.",
            show_default=False,
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the run.")] = Path(
        "run"
    ),
    text: Annotated[
        str | None,
        typer.Option(help="Column of the texts; guessed where obvious.", rich_help_panel=Columns),
    ] = None,
    id: Annotated[  # noqa: A002
        str | None, typer.Option(help="Column of the ids, or none.", rich_help_panel=Columns)
    ] = None,
    date: Annotated[
        str | None, typer.Option(help="Column of the dates, or none.", rich_help_panel=Columns)
    ] = None,
    label: Annotated[
        str | None,
        typer.Option(
            help="Column of the labels, or none. They are compared, never used.",
            rich_help_panel=Columns,
        ),
    ] = None,
    vocabulary: Annotated[
        Path | None,
        typer.Option(help="Words of the columns of a matrix, one a line.", rich_help_panel=Columns),
    ] = None,
    texts: Annotated[
        Path | None,
        typer.Option(
            help="Documents beside a matrix, one a row: words, ids, dates and labels for its rows.",
            rich_help_panel=Columns,
        ),
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="Language, as en or en,fr (en).", rich_help_panel=Words)
    ] = None,
    lemmatizer: Annotated[
        str | None, typer.Option(help="simplemma or none (simplemma).", rich_help_panel=Words)
    ] = None,
    min_count: Annotated[
        int | None,
        typer.Option(help="Least occurrences of a word (by size).", rich_help_panel=Words),
    ] = None,
    min_df: Annotated[
        str | None,
        typer.Option(
            help="Least documents with a word, as 5, or their share, as 0.01 (2).",
            rich_help_panel=Words,
        ),
    ] = None,
    max_df: Annotated[
        str | None,
        typer.Option(
            help="Most documents with a word, as 500, or their share, as 0.5 (all).",
            rich_help_panel=Words,
        ),
    ] = None,
    weighting: Annotated[
        str | None,
        typer.Option(
            help="counts, binary, tfidf or sublinear-tfidf (sublinear-tfidf).",
            rich_help_panel=Words,
        ),
    ] = None,
    k: Annotated[
        str | None,
        typer.Option(
            "--k",
            "-k",
            help="Number of clusters, as 5, or a range to choose from, as 2:20 (by size).",
            rich_help_panel=Model,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="The same seed gives the same bits.", rich_help_panel=Model)
    ] = 0,
    criterion: Annotated[
        str,
        typer.Option(
            help="Chooses the sparsity: aic, bic, ric, ricc, ebic or icl.", rich_help_panel=Model
        ),
    ] = "bic",
    k_criterion: Annotated[
        str, typer.Option(help="Chooses the number of clusters.", rich_help_panel=Model)
    ] = "ebic",
    kappa: Annotated[
        str,
        typer.Option(
            help="Concentration: shared, free (one a cluster) or a number, as 100.",
            rich_help_panel=Model,
        ),
    ] = "shared",
    starts: Annotated[
        int, typer.Option(help="Starts of each number of clusters.", rich_help_panel=Model)
    ] = 10,
    min_relative_increase: Annotated[
        float,
        typer.Option(
            help="Of beta, between two steps of the path. The paper's for texts; VMFPath has "
            "0.001, which takes several times as many steps.",
            rich_help_panel=Model,
        ),
    ] = 0.01,
    max_steps: Annotated[
        int, typer.Option(help="Steps of the path, at most.", rich_help_panel=Model)
    ] = 1000,
    threads: Annotated[
        int | None, typer.Option(help="Threads (all cores).", rich_help_panel=Running)
    ] = None,
    checkpoint: Annotated[
        float,
        typer.Option(
            help="Seconds of work that a kill may cost on a path.", rich_help_panel=Running
        ),
    ] = 3.0,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace another run in the folder.", rich_help_panel=Running),
    ] = False,
    open_page: Annotated[
        bool,
        typer.Option("--open", help="Show the report in the browser.", rich_help_panel=Running),
    ] = False,
) -> None:
    """Cluster documents, and say in which words.

    Killed at any moment and started again with the same command, it goes on from where it was and
    ends with the same result. A folder that holds another run is left alone.
    """
    from spheremix.cli.exploration import run_explore
    from spheremix.cli.material import check_options, read_source
    from spheremix.cli.options import Options, parse_df, parse_kappa

    options = Options(
        text=text,
        id=id,
        date=date,
        label=label,
        vocabulary=None if vocabulary is None else str(vocabulary),
        texts=None if texts is None else str(texts),
        language=language,
        lemmatizer=lemmatizer,
        min_count=min_count,
        min_df=parse_df("--min-df", min_df),
        max_df=parse_df("--max-df", max_df),
        weighting=weighting,
        k=k,
        seed=seed,
        criterion=criterion,
        k_criterion=k_criterion,
        kappa=parse_kappa(kappa),
        starts=starts,
        min_relative_increase=min_relative_increase,
        max_steps=max_steps,
        threads=threads,
        checkpoint=checkpoint,
    )
    check_options(file, options)
    with progress() as shown:
        shown.begin(f"Reading {file}")
        source = read_source(file, options)
    run_explore(source, options, output, force=force, open_page=open_page)

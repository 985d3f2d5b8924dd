"""``spheremix explore``: from a file of documents to clusters one can name."""

# ruff: noqa: PLC0415 (help does not wait for SciPy: what works is loaded when there is work)
from __future__ import annotations

from pathlib import Path

from spheremix.cli import flags  # noqa: TC001 (typer reads the annotations)
from spheremix.cli.console import progress
from spheremix.cli.guard import guarded


@guarded
def explore(
    file: flags.File,
    output: flags.Output = Path("run"),
    text: flags.Text = None,
    id: flags.Id = None,  # noqa: A002
    date: flags.Date = None,
    label: flags.Label = None,
    vocabulary: flags.Vocabulary = None,
    texts: flags.Texts = None,
    language: flags.Language = None,
    lemmatizer: flags.Lemmatizer = None,
    min_count: flags.MinCount = None,
    min_df: flags.MinDf = None,
    max_df: flags.MaxDf = None,
    weighting: flags.Weighting = None,
    k: flags.K = None,
    seed: flags.Seed = 0,
    criterion: flags.Criterion = None,
    k_criterion: flags.KCriterion = "ebic",
    kappa: flags.Kappa = "shared",
    starts: flags.Starts = 10,
    min_relative_increase: flags.MinRelativeIncrease = 0.01,
    max_steps: flags.MaxSteps = 1000,
    threads: flags.Threads = None,
    checkpoint: flags.Checkpoint = 3.0,
    force: flags.Force = False,
    open_page: flags.Open = False,
) -> None:
    """Cluster documents, and say in which words.

    Killed at any moment and started again with the same command, it goes on from where it was and
    ends with the same result. A folder that holds another run is left alone.

    For example: `spheremix explore news.csv --text body -k 2:20 -o news`, then open
    news/report.html.
    """
    from spheremix.run.explore import run_explore
    from spheremix.run.options import Options, parse_df, parse_kappa
    from spheremix.run.prepare import check_options, read_source

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

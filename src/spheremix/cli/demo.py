"""``spheremix demo``: the main job, on documents that every machine has."""

# ruff: noqa: PLC0415 (help does not wait for SciPy: what works is loaded when there is work)
from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spheremix.cli import flags  # noqa: TC001 (typer reads the annotations)
from spheremix.cli.console import progress
from spheremix.cli.guard import guarded


@guarded
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the run.")] = Path(
        "demo"
    ),
    threads: flags.Threads = None,
    force: Annotated[
        bool, typer.Option("--force", help="Replace another run in the folder.")
    ] = False,
) -> None:
    """Cluster the docstrings of numpy, scipy and scikit-learn.

    About 3,000 documents of the versions that are installed, nothing to download: ten clusters, and
    the words that make them.
    """
    from spheremix.datasets import load_docstrings
    from spheremix.run.explore import run_explore
    from spheremix.run.options import Options

    options = Options(
        k="10",
        min_df=5,
        max_df=0.5,
        weighting="sublinear-tfidf",
        min_relative_increase=0.02,
        threads=threads,
    )
    with progress() as shown:
        shown.begin("Collecting docstrings")
        corpus = load_docstrings()
    run_explore(corpus, options, output, force=force)

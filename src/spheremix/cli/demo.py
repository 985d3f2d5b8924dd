"""``spheremix demo``: the main job, on documents that every machine has."""

# ruff: noqa: PLC0415 (help does not wait for SciPy: what works is loaded when there is work)
from __future__ import annotations

from pathlib import Path
from typing import Any

from spheremix.cli import flags  # noqa: TC001 (typer reads the annotations)
from spheremix.cli.console import terminal
from spheremix.cli.guard import guarded

OPTIONS: dict[str, Any] = {"k": 22, "starts": 20, "min_df": 5, "max_df": 0.5}
OPTIONS |= {"min_relative_increase": 0.02, "drop_repeated_lines": True, "drop_mixed": True}


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
        how = {"force": force, "threads": threads, **OPTIONS}
        run = explore_corpus(documents, output, listener=listener, **how)
    summarise(run, open_page=open_page)

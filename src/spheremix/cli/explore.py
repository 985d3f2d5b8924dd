"""``spheremix explore``: from a file of documents to groups one can name."""

# ruff: noqa: PLC0415 (help does not wait for SciPy: what works is loaded when there is work)
from __future__ import annotations

from pathlib import Path
from typing import Any

from spheremix.cli import flags
from spheremix.cli.console import terminal
from spheremix.cli.guard import guarded


@guarded(resumes=True)
@flags.with_explore_options
def explore(
    file: flags.File,
    output: flags.Output = Path("run"),
    force: flags.Force = False,
    open_page: flags.Open = False,
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
        run = explore_corpus(file, output, force=force, listener=listener, **options)
    summarise(run, open_page=open_page)

"""Figures, report and README.txt of a run: derived files, made where they are missing.

This is the one place where a run asks for pictures and pages.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from spheremix.run.columns import explain
from spheremix.run.store import replacing

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from spheremix.run.listener import Listener
    from spheremix.run.run import Run

PAGE, CONTENT, FIGURES, LEGEND = "report.html", "report.json", "figures", "README.txt"


def complete(run: Run, listener: Listener) -> Path:
    """Make what is missing of the derived files of a finished run; give the page."""
    if not (run.folder / LEGEND).exists():
        explain_tables(run, run.folder / LEGEND)
    figures = run.folder / FIGURES
    if not figures.exists():
        listener.begin("Drawing the figures")
        draw(run, figures)
    paths = (run.folder / PAGE, run.folder / CONTENT)
    missing = [path for path in paths if not path.exists()]
    if missing:
        listener.begin("Writing the report")
        render(run, missing)
    return paths[0]


def explain_tables(run: Run, path: Path) -> None:
    """Write what the files of a run are, and what their columns mean."""
    tables = {key: list(run.read_table(key) or ()) for key in run.manifest.tables}
    with replacing(path) as file:
        file.writelines(line.encode("utf-8") for line in explain(tables))


def draw(run: Run, folder: Path) -> None:
    """Draw the figures of a run; the folder is there when all of them are."""
    from spheremix.display import draw_run  # noqa: PLC0415 (pictures are made of runs)

    draft = folder.with_name(f"{folder.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)  # of a run that was killed here
    draw_run(run, draft)
    draft.rename(folder)


def render(run: Run, paths: Iterable[Path]) -> None:
    """Write the report of a run to files .html or .json, as their names say."""
    report = run.report()
    for path in paths:
        write = report.write_json if path.suffix == ".json" else report.write_html
        write(path)

"""Figures and reports of runs: derived files, made when they are missing or asked for."""

from __future__ import annotations

import shutil
import webbrowser
from typing import TYPE_CHECKING

from spheremix.cli.console import progress, remark, say
from spheremix.display import draw_run
from spheremix.report import Report
from spheremix.run import RunError, load_run
from spheremix.run.legend import legend
from spheremix.run.store import replacing

if TYPE_CHECKING:
    from pathlib import Path

    from spheremix.run import Run

PAGE, CONTENT, FIGURES, LEGEND = "report.html", "report.json", "figures", "README.txt"


def run_report(folder: Path, output: Path | None, *, open_page: bool) -> None:
    """Render the report of a run, and say where it is."""
    if output is not None and output.suffix not in {".html", ".json"}:
        raise RunError(f"{output}: a report is a file .html or .json: choose such a name.")
    run = load_run(folder)
    wanted = [run.folder / PAGE, run.folder / CONTENT] if output is None else [output]
    render(run, wanted)
    for path in wanted:
        say(f"{path}: {path.stat().st_size / 1e6:.1f} MB")
    if open_page:
        show(wanted[0])


def complete(run: Run) -> Path:
    """Make what is missing of the derived files of a finished run; give the page."""
    if not (run.folder / LEGEND).exists():
        explain_tables(run, run.folder / LEGEND)
    figures = run.folder / FIGURES
    if not figures.exists():
        with progress() as shown:
            shown.begin("Drawing the figures")
            draw(run, figures)
    paths = (run.folder / PAGE, run.folder / CONTENT)
    render(run, [path for path in paths if not path.exists()])
    return paths[0]


def explain_tables(run: Run, path: Path) -> None:
    """Write what the files of a run are, and what their columns mean."""
    columns = {}
    for name in run.info.get("tables", {}).values():
        with (run.folder / name).open(encoding="utf-8") as file:
            columns[name] = file.readline().rstrip("\n").split(",")
    with replacing(path) as file:
        file.writelines(line.encode("utf-8") for line in legend(columns))


def draw(run: Run, folder: Path) -> None:
    """Draw the figures of a run; the folder is there when all of them are."""
    draft = folder.with_name(f"{folder.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)  # of a run that was killed here
    draw_run(run, draft)
    draft.rename(folder)


def render(run: Run, paths: list[Path]) -> None:
    """Write the report of a run to files, as their names say."""
    if not paths:
        return
    with progress() as shown:
        shown.begin("Writing the report")
        report = Report.from_run(run)
        for path in paths:
            write = report.write_json if path.suffix == ".json" else report.write_html
            write(path)


def show(path: Path) -> None:
    """Open a file in the browser, where there is one."""
    if not webbrowser.open(path.resolve().as_uri()):
        remark(f"no browser was found: open {path}.")

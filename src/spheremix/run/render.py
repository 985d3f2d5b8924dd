"""Figures, report and README.txt of a run: derived files, made where they are missing.

This is the one place where a run asks for pictures and pages.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from spheremix.run.changes import updated
from spheremix.run.files import CONTENT, FIGURES, LEGEND, PAGE
from spheremix.run.folder import RunFolder
from spheremix.run.legend import explain
from spheremix.run.output import check_output
from spheremix.run.remarks import edited, kept_words
from spheremix.run.store import RunError, naming

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spheremix.report import Report
    from spheremix.run.listener import Listener
    from spheremix.run.run import Run


def complete(folder: RunFolder, run: Run, listener: Listener) -> None:
    """Make what is missing of the derived files of a finished run, under its lock."""
    if not folder.has(LEGEND):
        tables = {key: list(run.read_table(key) or ()) for key in run.manifest.tables}
        with folder.deriving() as writer:
            about = [
                one.render()
                for one in (kept_words(run), updated(run), edited(run))
                if one is not None
            ]
            writer.text(LEGEND, explain(tables, " ".join(about)))
    if not folder.has(FIGURES):
        listener.begin("Drawing the figures")
        with folder.deriving() as writer:
            draft = writer.draft()
            draw(run, draft)
            writer.take(FIGURES, draft)
    missing = [name for name in (PAGE, CONTENT) if not folder.has(name)]
    if missing:
        listener.begin("Writing the report")
        render(folder, run, missing)


def draw(run: Run, folder: Path) -> None:
    """Draw the figures of a run into a folder."""
    from spheremix.display import draw_run  # noqa: PLC0415 (pictures are made of runs)

    with naming(run.folder / FIGURES):
        draw_run(run, folder)


def render(folder: RunFolder, run: Run, names: Iterable[str]) -> None:
    """Write the report of a run into its folder, under its lock: report.html, report.json."""
    report = run.report()
    with folder.deriving() as writer:
        for name in names:
            draft = writer.draft()
            write_report(report, draft, Path(name).suffix)
            writer.take(name, draft)


def report_run(run: Run, output: Path | None, *, force: bool, listener: Listener) -> list[Path]:
    """Write the report of a finished run into its folder, or into one file elsewhere."""
    if force and output is None:
        raise RunError("{force=True} replaces the file of {out}", remedies=("leave it out",))
    if output is not None and output.suffix not in {".html", ".json"}:
        raise RunError(f"{output}: a report is a file .html or .json: choose such a name.")
    if output is None:
        folder = RunFolder(run.folder)
        with folder.locked():
            listener.begin("Writing the report")
            render(folder, run, [PAGE, CONTENT])
        return [run.folder / PAGE, run.folder / CONTENT]
    check_output(output, PAGE, force=force)
    listener.begin("Writing the report")
    write_report(run.report(), output, output.suffix)
    return [output]


def write_report(report: Report, path: Path, suffix: str) -> None:
    """Write a report as .html or .json."""
    write = report.write_json if suffix == ".json" else report.write_html
    write(path)

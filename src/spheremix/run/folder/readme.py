"""README.txt of the folder of a run: what its files and columns mean, made of their description."""

from __future__ import annotations

import textwrap
from itertools import groupby
from typing import TYPE_CHECKING

from spheremix._files import CACHE, LOCK, MANIFEST
from spheremix.run.columns import TABLES
from spheremix.run.folder.store import FIGURES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

PAGE, README = "report.html", "README.txt"
# The files and folders of a run beside its tables.
FILES: dict[str, str] = {
    PAGE: "The report: one page that opens in any browser, without a network.",
    README: "What was found, and what the files and columns of this run mean.",
    MANIFEST: "Description of the run: options, versions, seed, names, edits and checksums.",
    f"{FIGURES}/": "Figures to print, drawn by spheremix figures.",
    f"{CACHE}/": "What each step of the work left: rows, documents, models. With other options, "
    "the next command reuses what they do not change. Please leave it as it is.",
    LOCK: "Keeps two commands from working here at once.",
}
WIDTH = 92
MARGIN = 50  # characters of names that have their meaning beside them
HEAD = """This folder is a run of spheremix explore. In Python, spheremix.load_run opens it. On the
command line, spheremix assign puts new documents into its groups. Numbers in the tables have six
significant digits, or three decimals if that is more; in Python they have all digits. A text that a
spreadsheet would run as a formula (it begins with =, +, - or @) has an apostrophe before it.
"""


def explain(
    tables: Mapping[str, Iterable[str]],
    about: Iterable[str] = (),
    groups: Mapping[str, str] | None = None,
) -> Iterator[str]:
    """Explain the tables of a run, by key, with their columns, and its other files, in lines.

    What there is to say about this run alone comes after the first lines, a paragraph each; its
    groups are the last.
    """
    yield HEAD
    for paragraph in about:
        yield f"\n{textwrap.fill(paragraph, WIDTH)}\n"
    for key, columns in tables.items():
        table = TABLES[key]
        yield f"\n{table.file}\n  {table.about}\n"
        described = table.columns
        alike = groupby(
            columns, key=lambda name: described[name].meaning if name in described else table.others
        )
        yield from _entries({", ".join(several): meaning for meaning, several in alike})
    yield "\nOther files\n"
    alike = groupby(FILES, key=FILES.__getitem__)
    yield from _entries({", ".join(several): meaning for meaning, several in alike})
    if groups:
        yield "\nGroups (number, name and size; characteristic words)\n"
        yield from _entries(groups)


def _entries(meanings: Mapping[str, str]) -> Iterator[str]:
    width = min(MARGIN, max(map(len, meanings))) + 2
    indent = " " * (width + 2)
    for name, meaning in meanings.items():
        lines = textwrap.fill(meaning, WIDTH, initial_indent=indent, subsequent_indent=indent)
        if len(name) <= MARGIN:
            yield f"  {name:{width}}{lines.lstrip()}\n"
        else:  # many columns, or long ones: their meaning is below them
            names = " ".join(name.split())
            yield textwrap.fill(names, WIDTH, initial_indent="  ", subsequent_indent="  ")
            yield f"\n{lines}\n"

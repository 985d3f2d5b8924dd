"""Write docs/run-folder.md: every file, column and key of a run, from the code that defines them.

python tools/run_folder_page.py

The tables come from spheremix.run.columns, the files and the keys of run.json from
spheremix.run.folder.schema. A test compares the committed page with what this script makes.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spheremix.run.columns import TABLES
from spheremix.run.folder.schema import FILES, HEAD, RunInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGE = Path(__file__).parents[1] / "docs" / "run-folder.md"
KINDS = {
    int: "whole number",
    float: "number",
    str: "text",
    dict: "object",
    list: "list",
    Any: "any value",
}
INTRODUCTION = """# The folder of a run

[The command](explore.md) `spheremix explore` and the function `sm.explore_corpus` write one folder.
This page lists every file in it, every column of its tables, and every key of `run.json`. It is
written by `python tools/run_folder_page.py` from the definitions that the program itself uses.
`README.txt` in the folder explains the files and columns of that run.
"""
TABLES_BEGIN = """## The tables

All tables are CSV files in UTF-8 with a header. In Python, `run.documents`, `run.groups` and
`run.words` are the first three of them as dictionaries of columns, and `run.read_table("typical")`
reads one of the others. A run has only the tables for which it has data: without dates there is no
`tables/time.csv`.
"""
KEYS_BEGIN = """## run.json

`run.json` describes the run. A folder without it is not a finished run. In Python it is `run.info`,
with the same names: `run.info.corpus.n_documents`. Where a key may be null, its value in Python is
`None`. Nothing is pickled, every part is compared with its checksum before it is used, and
`spheremix check` compares them all.

The file of [edits](edits.md) that the report exports and `spheremix edit` takes is one object of
the type [Edits](#edits).
"""


def page() -> str:
    """Make the whole page."""
    parts = [INTRODUCTION, HEAD, TABLES_BEGIN]
    for table in TABLES.values():
        alike = groupby(table.columns, key=table.columns.__getitem__)
        rows = [(_code(names), KINDS[column.kind], column.meaning) for column, names in alike]
        rows += [("other columns", KINDS[str], table.others)] if table.others else []
        parts.append(f"### `{table.file}`\n\n{table.about}\n\n{_table('column', rows)}")
    together = groupby(FILES, key=FILES.__getitem__)
    files = [(_code(names), meaning) for meaning, names in together]
    parts.append(f"## The other files\n\n{_table('file', files)}")
    parts.append(KEYS_BEGIN)
    parts += [_keys(record) for record in _records(RunInfo)]
    return "\n".join(parts)


def _keys(record: Any) -> str:
    """Explain one object of run.json."""
    about = " ".join((record.__doc__ or "").split()).replace("``", "`")
    hints = typing.get_type_hints(record)
    title = "The keys of run.json" if record is RunInfo else f"`{record.__name__}`"
    fields = dataclasses.fields(record)
    if not all(one.metadata for one in fields):
        names = _code(one.name for one in fields)
        return f"### {title}\n\n{about} Keys: {names}.\n"
    rows = [(_code([one.name]), _kind(hints[one.name]), one.metadata["meaning"]) for one in fields]
    return f"### {title}\n\n{about}\n\n{_table('key', rows)}"


def _records(record: Any) -> Iterator[Any]:
    """Return a record and those inside it, each once, in the order of the page."""
    found: dict[Any, None] = {record: None}
    waiting = [record]
    while waiting:
        hints = typing.get_type_hints(waiting.pop(0))
        inside = [one for hint in hints.values() for one in _parts(hint)]
        new = [one for one in dict.fromkeys(inside) if dataclasses.is_dataclass(one)]
        waiting += [one for one in new if one not in found]
        found.update(dict.fromkeys(new))
    return iter(found)


def _parts(hint: Any) -> Iterator[Any]:
    yield hint
    for part in typing.get_args(hint):
        yield from _parts(part)


def _kind(hint: Any) -> str:
    """Say a type in words."""
    if hint in KINDS:
        return KINDS[hint]
    if dataclasses.is_dataclass(hint):
        name = typing.cast("type", hint).__name__
        return f"[{name}](#{name.lower()})"
    base, args = typing.get_origin(hint), typing.get_args(hint)
    if base is types.UnionType or base is typing.Union:
        [kind] = [one for one in args if one is not type(None)]
        return f"{_kind(kind)}; may be null"
    if base is list:
        return f"list of {_kind(args[0])}"
    if base is dict:
        return f"object: {_kind(args[0])} to {_kind(args[1])}"
    return "list"


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _table(first: str, rows: list[tuple[str, ...]]) -> str:
    titles = (first, "type", "meaning") if len(rows[0]) == 3 else (first, "meaning")
    lines = [titles, ("---",) * len(titles), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

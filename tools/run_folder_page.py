"""Write docs/run-folder.md: every file, column and key of a run, from the code that defines them.

python tools/run_folder_page.py

The tables come from spheremix.run.columns, the files and the keys of run.json from
spheremix.run.folder.schema. A test compares the committed page with what this script makes.
"""

from __future__ import annotations

import dataclasses
import typing
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spheremix.run.columns import TABLES
from spheremix.run.edits import Edits, EditStep, UpdateRecord
from spheremix.run.folder.schema import FILES, HEAD, RunInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PAGE = Path(__file__).parents[1] / "docs" / "run-folder.md"
# What undo and updates need, and what another page explains: keys are named only.
NAMED = (EditStep, UpdateRecord, Edits)
INTRODUCTION = """# The folder of a run

[The command](explore.md) `spheremix explore` and the function `sm.explore_corpus` write one folder.
Here are its files, the columns of its tables and the keys of `run.json`, as
`python tools/run_folder_page.py` takes them from the program. `README.txt` in the folder explains
that run.
"""
TABLES_BEGIN = """## The tables

CSV files in UTF-8 with a header. In Python, `run.documents`, `run.groups` and `run.words` are the
first three as dictionaries of columns, and `run.read_table("typical")` reads one of the others. A
run has the tables for which it has data: without dates there is no `tables/time.csv`.
"""
KEYS_BEGIN = """## run.json

`run.json` describes the run; a folder without it is not a finished run. In Python it is `run.info`,
with the same names: `run.info.corpus.n_documents`. Nothing is pickled, and `spheremix check`
compares every part with its checksum. The file of [edits](edits.md) is one object of the type
[Edits](#edits).
"""


def page() -> str:
    """Make the whole page. What an earlier table explains is named only."""
    parts = [INTRODUCTION, HEAD, TABLES_BEGIN]
    explained: dict[tuple[str, Any], str] = {}
    for table in TABLES.values():
        lines, known = [], []
        for column, names in groupby(table.columns, key=table.columns.__getitem__):
            fresh = [name for name in names if (name, column) not in explained]
            lines += [f"- {_code(fresh)}: {column.meaning}\n"] if fresh else []
            explained.update(((name, column), table.file) for name in fresh)
        for file in dict.fromkeys(map(explained.__getitem__, table.columns.items())):
            if file != table.file:
                names = [one[0] for one in table.columns.items() if explained[one] == file]
                known.append(f"- As in `{file}`: {_code(names)}\n")
        lines += [f"- Other columns: {table.others}\n"] if table.others else []
        parts.append(f"### `{table.file}`\n\n{table.about}\n\n{''.join(lines + known)}")
    together = groupby(FILES, key=FILES.__getitem__)
    files = "".join(f"- {_code(names)}: {meaning}\n" for meaning, names in together)
    parts.append(f"## The other files\n\n{files}")
    parts.append(KEYS_BEGIN)
    parts += [_keys(record) for record in _records(RunInfo)]
    return "\n".join(parts)


def _keys(record: Any) -> str:
    """Explain one object of run.json."""
    about = " ".join((record.__doc__ or "").split()).replace("``", "`")
    title = "The keys of run.json" if record is RunInfo else f"`{record.__name__}`"
    fields = dataclasses.fields(record)
    if record in NAMED:
        return f"### {title}\n\n{about} Keys: {_code(one.name for one in fields)}.\n"
    hints = typing.get_type_hints(record)
    lines = [
        f"- `{one.name}`: {one.metadata['meaning']}{_link(hints[one.name])}\n" for one in fields
    ]
    return f"### {title}\n\n{about}\n\n{''.join(lines)}"


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


def _link(hint: Any) -> str:
    """Return a link to the object that a value is or has, if there is one."""
    names = [one.__name__ for one in _parts(hint) if dataclasses.is_dataclass(one)]
    return "".join(f" [{name}](#{name.lower()})" for name in names)


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

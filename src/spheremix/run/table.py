"""Tables of a run in memory: columns with the types that the schema gives them."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from spheremix.run.columns import TABLES
from spheremix.run.documents import unpack_table
from spheremix.run.store import RunError

if TYPE_CHECKING:
    from spheremix.run.store import Reader
    from spheremix.run.typed import FileName

SHOWN = 20  # rows that a notebook shows


class Table(dict[str, list[Any]]):
    """Columns by name, all of one length; ``pandas.DataFrame(table)`` takes it as it is.

    A cell that is empty in the file is None, except in columns of texts.
    """

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.values()), []))

    def __repr__(self) -> str:
        return f"Table of {self.n_rows:,} rows: {', '.join(self)}"

    def _repr_html_(self) -> str:
        """Show the first rows in a notebook."""
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self)
        rows = [
            "".join(f"<td>{html.escape(_shown(column[i]))}</td>" for column in self.values())
            for i in range(min(self.n_rows, SHOWN))
        ]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        more = f"<p>{SHOWN} of {self.n_rows:,} rows</p>" if self.n_rows > SHOWN else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def read_table(reader: Reader, key: str, name: FileName) -> Table:
    """Read a table, its columns in the types of the schema; others stay texts."""
    known = TABLES[key].columns
    found = Table()
    for column, cells in unpack_table(reader, name).items():
        kind = known[column].kind if column in known else str
        try:
            found[column] = (
                cells if kind is str else [kind(cell) if cell else None for cell in cells]
            )
        except ValueError:
            raise RunError(f"{reader.folder / name}: damaged: {column} has no numbers.") from None
    return found

"""Small words for messages and help, and how values are shown in a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SHOWN = 20  # rows that a notebook shows


def count(number: int, what: str, plural: str = "") -> str:
    """Return "1 word" or "2 words"."""
    return f"{number:,} {what if number == 1 else plural or what + 's'}"


def joined(parts: list[str]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def install(*packages: str) -> str:
    """Say how to install packages that are missing, as a remedy of a message."""
    return f"install {'it' if len(packages) == 1 else 'them'} with pip install {' '.join(packages)}"


def html_table(columns: Mapping[str, Any]) -> str:
    """Return the first rows of a table as HTML."""
    n_rows = len(next(iter(columns.values()), ()))
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    rows = [
        "".join(f"<td>{html.escape(_shown(column[i]))}</td>" for column in columns.values())
        for i in range(min(n_rows, SHOWN))
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    more = f"<p>{SHOWN} of {n_rows:,} rows</p>" if n_rows > SHOWN else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def html_lines(lines: Iterable[str]) -> str:
    """Return sentences as HTML, each on a line."""
    return "".join(f"<p>{html.escape(line)}</p>" for line in lines)


def _shown(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)

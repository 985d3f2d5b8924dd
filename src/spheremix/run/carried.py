"""Columns of the input in documents.csv: labels and metadata, under names of their own."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from spheremix.run.columns import TABLES
from spheremix.text.columns import write_labels
from spheremix.text.corpus import shown

if TYPE_CHECKING:
    from spheremix.text import Corpus

OURS = frozenset(TABLES["documents"].columns)
ANOTHER = "_input"  # the end of a name that a column of ours has already


def carried_columns(corpus: Corpus) -> dict[str, list[str | None]]:
    """Return the columns of the input that follow ours: labels first, then the others.

    Several labels of a document are separated by semicolons; numbers, lists and objects are written
    as JSON, with all their digits.
    """
    found: list[list[str | None]]
    found = [[write_labels(one) for one in column] for column in corpus.labels.values()]
    found += [[_written(one) for one in column] for column in corpus.metadata.values()]
    return dict(zip(_names(corpus), found, strict=True))


def renamed(corpus: Corpus) -> list[str]:
    """Say which columns of the input have another name in documents.csv."""
    both = zip((*corpus.labels, *corpus.metadata), _names(corpus), strict=True)
    return [
        f"Column {shown(name)} is called {shown(written)} in documents.csv, which has a column of "
        "that name already."
        for name, written in both
        if name != written
    ]


def _names(corpus: Corpus) -> list[str]:
    """Return each column its name, or one with an end where the name is taken."""
    given = {*corpus.labels, *corpus.metadata}
    taken = set(OURS)
    names = []
    for name in (*corpus.labels, *corpus.metadata):
        written = name
        while written in taken or (written != name and written in given):
            written += ANOTHER
        taken.add(written)
        names.append(written)
    return names


def _written(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)

"""Histories of edits as files: read with every check, written no larger than they can be read.

A file may be damaged or written by somebody else. What does not depend on the run is checked here:
types, names, notes, and the groups of the documents. Whether a group, a word or a document is there
is checked when the edits are made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.errors import ParameterError
from spheremix.run.edit_schema import (
    EDITS_VERSION,
    HISTORY_FORMAT,
    CarriedEdits,
    EditHistory,
)
from spheremix.run.edits import settled
from spheremix.run.files import EDITS
from spheremix.run.store import RunError, as_edits, read_json
from spheremix.run.typed import decode, encode

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from spheremix.run.edit_schema import EditStep

    Ids = NDArray[np.intp]

NOBODY = "-"  # in place of the number of a group
DIGITS = 9  # of the number of a group
REMEDIES = (
    "put the file back as it was",
    "remove it and make the run again with {force=True}, without these edits",
)


def read_history(path: Path) -> EditHistory:
    """Read the edits that were made to a run."""
    history = decode(EditHistory, read_json(path), str(path))
    known = (history.format, history.version) == (HISTORY_FORMAT, EDITS_VERSION)
    if not known or not history.steps:
        raise RunError("{path}: damaged: this is no history of edits", remedies=REMEDIES, path=path)
    _check(history.steps, str(path))
    return history


def read_carried(content: Any, where: str) -> CarriedEdits:
    """Read edits that were on their way to a run."""
    carried = decode(CarriedEdits, content, where)
    _check(carried.steps, where)
    return carried


def _check(steps: list[EditStep], where: str) -> None:
    for i, step in enumerate(steps, 1):
        try:
            for one in (step, step.waiting):
                if one is not None:
                    settled(step.source, one.edits)
                    read_groups(one.groups)
        except ParameterError as error:
            raise RunError(
                "{where}: damaged: edit {i}: {error}",
                remedies=REMEDIES,
                where=where,
                i=i,
                error=error,
            ) from None


def read_groups(text: str) -> Ids:
    """Return the group of each document, -1 for none; a run has no more groups than documents."""
    parts = text.split()
    found = np.empty(len(parts), dtype=np.intp)
    for i, one in enumerate(parts):
        number = one.isascii() and one.isdecimal() and len(one) <= DIGITS
        if not number and one != NOBODY:
            raise ParameterError("{one} is not the number of a group", one=repr(one[:60]))
        found[i] = int(one) if number else -1
    if found.max(initial=-1) >= len(parts):
        raise ParameterError(
            "there is no group {k} among {n} documents", k=found.max(), n=len(parts)
        )
    return found


def write_history(steps: Sequence[EditStep], folder: Path) -> str | None:
    """Return the text of ``edits.json``; None where there are no edits."""
    if not steps:
        return None
    return as_edits(folder / EDITS, encode(EditHistory(steps=list(steps)))).decode()

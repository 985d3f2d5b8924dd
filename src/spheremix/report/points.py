"""The documents of a run as points: the columns that programs for maps read."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.errors import ParameterError
from spheremix.reading.documents import NOWHERE
from spheremix.report.documents import LARGEST, describe, layout
from spheremix.report.sample import Shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spheremix.run.run import Run


def point_columns(run: Run, names: Sequence[str]) -> dict[str, Any]:
    """Return the columns of all documents that have a row, with whole texts; of passages theirs.

    ``names`` are those of the groups.
    """
    everything = Shown(run, run.assigned, most=sys.maxsize)
    documents, places, stability = describe(everything), layout(everything), run.stability()
    if documents is None or places is None:
        raise ParameterError("This report has no documents: {X} of the fit is needed", X="X")
    known = [*names, NOWHERE]
    group = np.asarray(documents["group"], dtype=np.int64)
    columns: dict[str, Any] = {"id": documents["id"]}
    for name in ("title", "text"):
        if documents[name] is not None:
            columns[name] = documents[name]
    for name in ("x", "y"):
        columns[name] = (places[name] / LARGEST).astype(np.float32)
    columns["group"] = np.where(group == len(names), -1, group)
    columns["group_name"] = [known[k] for k in group]
    if stability is not None:
        columns["stability"] = stability.documents.astype(np.float32)
    if documents["second_group"] is not None:
        columns["second_group"] = documents["second_group"].astype(np.int64)
    columns["posterior"] = documents["posterior"]
    if documents["date"] is not None:
        columns["date"] = [None if day is None else str(day) for day in documents["date"]]
    for column in documents["label_columns"] or []:
        own = range(column["start"], column["stop"])
        name = column["name"] if column["name"] not in columns else f"{column['name']}_input"
        columns[name] = [
            "; ".join(documents["label_names"][one] for one in several if one in own)
            for several in documents["labels"]
        ]
    return columns

"""The documents of a report as points: the columns that programs for maps read."""

from __future__ import annotations

from typing import Any

import numpy as np

from spheremix.errors import ParameterError
from spheremix.reading.documents import NOWHERE

LARGEST = 2**16 - 1  # what the position 1 is written as in the content


def point_columns(content: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of the documents of the content of a report, one row a document."""
    documents, layout, K = content["documents"], content["layout"], content["model"]["n_groups"]
    if documents is None:
        raise ParameterError("This report has no documents: {X} of the fit is needed", X="X")
    names = [*content["names"], NOWHERE]
    group = np.asarray(documents["group"], dtype=np.int64)
    found: dict[str, Any] = {"id": documents["id"]}
    for name in ("title", "text"):
        if documents[name] is not None:
            found[name] = documents[name]
    if layout is not None:
        for name in ("x", "y"):
            found[name] = (np.asarray(layout[name]) / LARGEST).astype(np.float32)
    found["group"] = np.where(group == K, -1, group)
    found["group_name"] = [names[k] for k in group]
    if content["stability"] is not None:
        found["stability"] = np.asarray(content["stability"]["documents"])
    if documents["second_group"] is not None:
        found["second_group"] = np.asarray(documents["second_group"], dtype=np.int64)
    found["posterior"] = np.asarray(documents["posterior"])
    if documents["date"] is not None:
        found["date"] = [None if day is None else str(day) for day in documents["date"]]
    for column in documents["label_columns"] or []:
        own = range(column["start"], column["stop"])
        name = column["name"] if column["name"] not in found else f"{column['name']}_input"
        found[name] = [
            "; ".join(documents["label_names"][one] for one in several if one in own)
            for several in documents["labels"]
        ]
    return found

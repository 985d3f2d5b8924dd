"""What is said about a run beside its numbers: the advice on the number of groups, and remarks."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.report.numbers import digits
from spheremix.run.doubts import warnings
from spheremix.run.remarks import remarks
from spheremix.wording import in_groups

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spheremix.run.run import Run
    from spheremix.run.schema import AdviceRecord

# Columns of the table of evidence that the page shows.
EVIDENCE = (
    "n_components",
    "stability",
    "adjusted_stability",
    "gain",
    "turning",
    "score",
    "agreement",
)


def advised(record: AdviceRecord | None, table: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the advice on the number of groups, with its evidence for each of them."""
    if record is None:
        return None
    columns = {name: list((table or {}).get(name, [])) for name in EVIDENCE}
    evidence = {
        name: [None if one is None or not np.isfinite(one) else digits(one) for one in values]
        for name, values in columns.items()
        if values
    }
    found = asdict(record)
    said = [one | {"sentence": in_groups(one["sentence"])} for one in found["recommended"]]
    doubts = [in_groups(one) for one in record.doubts]
    return found | {"recommended": said, "doubts": doubts, "evidence": evidence}


def remarked(run: Run) -> list[dict[str, Any]]:
    """Return what is said about a run to readers of the page, and whether it warns of something.

    ``groups`` has the clusters that are named, each with the words of the text that name it.
    """
    warned = warnings(run)
    return [
        {"text": one.page, "warning": one in warned, "groups": [list(pair) for pair in one.groups]}
        for one in remarks(run)
    ]

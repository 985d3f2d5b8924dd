"""What is said about a run beside its numbers: the advice on the number of groups, and remarks."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.report.numbers import digits
from spheremix.run.remarks import remarks, warnings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spheremix.run.run import Run
    from spheremix.run.schema import AdviceRecord

# Columns of the table of evidence that the page shows.
EVIDENCE = ("n_components", "stability", "firmness", "gain", "turning", "score", "agreement")


def advised(record: AdviceRecord | None, table: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Give the advice on the number of clusters, with its evidence for each of them."""
    if record is None:
        return None
    found = {name: list((table or {}).get(name, [])) for name in EVIDENCE}
    evidence = {
        name: [None if one is None or not np.isfinite(one) else digits(one) for one in values]
        for name, values in found.items()
        if values
    }
    return asdict(record) | {"evidence": evidence}


def remarked(run: Run) -> list[dict[str, Any]]:
    """Give what the terminal says of a run, and whether it warns of something."""
    warned = [message.render(_option) for message in warnings(run)]
    said = [message.render(_option) for message in remarks(run)]
    return [{"text": text, "warning": text in warned} for text in said]


def _option(parameter: str) -> str:
    """Name an option of the command, as the remarks on a run use them."""
    return f"--{parameter.replace('_', '-')}"

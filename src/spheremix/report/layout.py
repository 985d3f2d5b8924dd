"""The documents of a report on a map: two small integers each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.reading import document_positions

if TYPE_CHECKING:
    from spheremix.reading import Documents
    from spheremix.report.source import Source

LARGEST = 2**16 - 1  # what the position 1 is written as


def layout(source: Source, found: Documents | None) -> dict[str, Any] | None:
    """Return the positions of the documents; None where their rows are not known.

    A run has them already; for a model they are computed. They are written as integers from 0 to
    65,535, x from left to right and y from bottom to top.
    """
    if found is None:
        return None
    positions = source.positions
    if positions is None:
        positions = document_positions(source.X, found.labels)
    whole = np.rint(np.clip(positions, 0.0, 1.0) * LARGEST).astype(np.uint16)
    return {"x": whole[:, 0].copy(), "y": whole[:, 1].copy()}

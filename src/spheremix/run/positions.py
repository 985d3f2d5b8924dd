"""The stage of an exploration that places the documents on a map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spheremix.reading import document_positions
from spheremix.run.files import POSITIONS
from spheremix.run.schema import LayoutRecord
from spheremix.run.typed import FileName

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.run.folder import RunFolder
    from spheremix.run.keys import Keys
    from spheremix.run.listener import Listener
    from spheremix.run.prepare import Material
    from spheremix.run.store import Reader

DECIMALS = 5  # of a position: more than any screen shows


def place_documents(
    folder: RunFolder,
    material: Material,
    labels: NDArray[np.intp],
    keys: Keys,
    listener: Listener,
) -> NDArray[np.float64]:
    """Return the positions of the rows, where documents of a cluster are islands."""

    def make() -> None:
        listener.begin("Placing the documents on a map")
        found = document_positions(
            material.X, labels, callback=lambda share: listener.update(share, "")
        )
        writer = folder.writer()
        positions = FileName(writer.array(POSITIONS, found.round(DECIMALS)))
        folder.commit("layout", keys.layout(labels), writer, LayoutRecord(positions=positions))

    def read(record: LayoutRecord, reader: Reader) -> NDArray[np.float64]:
        return np.array(reader.array(record.positions, (len(labels), 2), "f"))

    return folder.stage("layout", keys.layout(labels), LayoutRecord, make, read)

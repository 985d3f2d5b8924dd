"""The stages of an exploration: each is a key and a function; what it leaves is in the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spheremix.text.corpus import digest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from spheremix.run import Listener
    from spheremix.run.folder.store import Store
    from spheremix.run.options import ExploreOptions
    from spheremix.run.seeds import Seeded


@dataclass(eq=False, kw_only=True)
class Context:
    """What all stages of an exploration share."""

    store: Store  # where stages leave what they did
    options: ExploreOptions
    listener: Listener
    rows_key: str = ""  # part of the keys of all later stages
    documents: NDArray[np.int64] | None = None  # of each passage, where rows are passages
    start: NDArray[np.intp] | None = None  # groups of documents that are not searched for
    start_key: str = ""  # what tells them from others
    seeded: Seeded | None = None  # groups that are asked for, where any are

    def drawn_whole(self, kept: NDArray[np.intp]) -> tuple[NDArray[np.int64] | None, list[str]]:
        """Return the documents of the passages that were kept, and what they add to a key."""
        if self.documents is None:
            return None, []
        own = self.documents[kept]
        return own, [digest([own.astype("<i8").tobytes()])]

"""The stages of an exploration: each is a key and a function; what it leaves is in the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from spheremix.run import Listener
    from spheremix.run.folder.store import Store
    from spheremix.run.options import ExploreOptions


@dataclass(eq=False, kw_only=True)
class Context:
    """What all stages of an exploration share."""

    store: Store  # where stages leave what they did
    options: ExploreOptions
    listener: Listener
    rows_key: str = ""  # part of the keys of all later stages
    start: NDArray[np.intp] | None = None  # groups of documents that are not searched for
    start_key: str = ""  # what tells them from others

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
    """What all stages of an exploration share.

    Attributes
    ----------
    store : Store
        Where stages leave what they did.
    options : ExploreOptions
        What was asked for.
    listener : Listener
        Hears of progress and notes.
    rows_key : str
        The key of the rows, which is part of the keys of all later stages.
    start : ndarray of int or None
        The groups of the documents that the fit starts from, where it does not search for them.
    start_key : str
        What tells them from others.
    """

    store: Store
    options: ExploreOptions
    listener: Listener
    rows_key: str = ""
    start: NDArray[np.intp] | None = None
    start_key: str = ""

"""A run: one object, made by an exploration and kept in a folder."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from spheremix.errors import NotedWarning

if TYPE_CHECKING:
    from spheremix.errors import Message


class Listener:
    """Hears what a run does. This one shows nothing, and turns notes into warnings.

    A front end that shows more, such as the command, overrides the methods.
    """

    def begin(self, what: str) -> None:
        """Hear that a stage begins."""

    def update(self, share: float, detail: str = "") -> None:
        """Hear which share of the stage is done."""

    def note(self, message: Message) -> None:
        """Hear something about the input or the result that a person should know."""
        warnings.warn(NotedWarning(message), stacklevel=2)

    def inform(self, text: str) -> None:
        """Hear a fact about the input, such as which columns are used; the run keeps it too."""

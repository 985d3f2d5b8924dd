"""What a run tells while it works, and to whom."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from spheremix.errors import Message, NotedWarning

if TYPE_CHECKING:
    from collections.abc import Callable


class Listener:
    """Hears what a run does. This one shows no progress, and turns notes into warnings.

    A front end that shows more, such as the command, overrides the three methods.
    """

    def begin(self, what: str) -> None:
        """Hear that a stage begins."""

    def update(self, share: float, detail: str = "") -> None:
        """Hear which share of the stage is done."""

    def note(self, message: Message) -> None:
        """Hear something about the input or the result that a person should know."""
        warnings.warn(NotedWarning(message), stacklevel=2)

    def relay(self, notes: list[str], say: Callable[[Message], None] | None = None) -> None:
        """Hear several finished sentences."""
        for text in notes:
            (say or self.note)(Message("{text}", {"text": text}))

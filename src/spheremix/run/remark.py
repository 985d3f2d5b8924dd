"""What is said about a run in two ways: to who types commands, and to who reads the page."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spheremix.errors import Message, Naming


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark on a finished run.

    Parameters
    ----------
    message : Message
        As the summary of the command says it: of clusters, with files and options by name.
    page : str
        As the page of the report says it, whose readers see groups and their names, no files and
        no options: what can be done is said in words.
    groups : tuple of (int, str)
        The clusters that the page names, each with the words of ``page`` that name it.
    """

    message: Message
    page: str
    groups: tuple[tuple[int, str], ...] = ()

    def render(self, naming: Naming = str) -> str:
        """Write the remark for the summary, with parameters named as a front end names them."""
        return self.message.render(naming)


def percent(share: float) -> int:
    """Return a share in percent, rounded down: what is shown as 50 % is not below 50 %."""
    return math.floor(100.0 * share + 1e-9)

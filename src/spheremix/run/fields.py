"""Values of a manifest, which may be damaged: each taken out with its type."""

from __future__ import annotations

import math
from typing import Any

from spheremix.run.store import RunError


def number(value: Any) -> float | None:
    """Give a float as JSON can say it: None where it is not finite."""
    return float(value) if math.isfinite(value) else None


class Fields:
    """Takes values of known types out of an object that may be damaged."""

    def __init__(self, content: Any, where: str) -> None:
        if not isinstance(content, dict):
            raise RunError(f"{where}: damaged: an object is missing.")
        self.content: dict[str, Any] = content
        self.where = where

    def integer(self, name: str, least: int = 0) -> int:
        """Give an integer."""
        value = self.content.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**62:
            raise self.bad(name)
        return value

    def real(self, name: str) -> float:
        """Give a float, NaN where it was not finite."""
        value = self.content.get(name)
        if value is None and name in self.content:
            return math.nan
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.bad(name)
        return float(value)

    def string(self, name: str) -> str:
        """Give a string."""
        value = self.content.get(name)
        if not isinstance(value, str):
            raise self.bad(name)
        return value

    def listing(self, name: str) -> list[Any]:
        """Give a list."""
        value = self.content.get(name)
        if not isinstance(value, list):
            raise self.bad(name)
        return value

    def inside(self, name: str) -> Fields:
        """Give an object within."""
        return Fields(self.content.get(name), f"{self.where}: {name}")

    def bad(self, name: str) -> RunError:
        """Say that a value is not as it should be."""
        return RunError(f"{self.where}: damaged: {name!r} is missing or not what it should be.")

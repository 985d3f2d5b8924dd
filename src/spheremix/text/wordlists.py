"""Lists of words that people give: one after the other, or in a file, one word a line."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any

from spheremix.errors import ParameterError
from spheremix.text.files import lines, reading


def word_list(name: str, value: Any) -> tuple[str, ...]:
    """Return words in lower case, each once, in order.

    A path is that of a file with one word a line; a string has words between commas.
    """
    if isinstance(value, PathLike):
        with reading(Path(value)):
            found: list[Any] = list(lines(Path(value)))
    elif isinstance(value, str):
        found = value.split(",")
    else:
        found = list(value) if isinstance(value, Iterable) else [value]
    for word in found:
        if not isinstance(word, str):
            raise ParameterError(f"{{{name}}} must be words; got {{got}}", got=repr(word))
    return tuple(dict.fromkeys(word for one in found if (word := " ".join(one.lower().split()))))

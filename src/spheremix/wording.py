"""Small words for messages and help."""

from __future__ import annotations


def count(number: int, what: str, plural: str = "") -> str:
    """Give "1 word" or "2 words"."""
    return f"{number:,} {what if number == 1 else plural or what + 's'}"

"""Small words for messages and help."""

from __future__ import annotations


def count(number: int, what: str, plural: str = "") -> str:
    """Return "1 word" or "2 words"."""
    return f"{number:,} {what if number == 1 else plural or what + 's'}"


def joined(parts: list[str]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def install(*packages: str) -> str:
    """Say how to install packages that are missing, as a remedy of a message."""
    return f"install {'it' if len(packages) == 1 else 'them'} with pip install {' '.join(packages)}"

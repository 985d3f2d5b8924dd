"""Small words for messages and help."""

from __future__ import annotations

import re


def count(number: int, what: str, plural: str = "") -> str:
    """Return "1 word" or "2 words"."""
    return f"{number:,} {what if number == 1 else plural or what + 's'}"


def joined(parts: list[str]) -> str:
    """Return "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def install(*packages: str) -> str:
    """Say how to install packages that are missing, as a remedy of a message."""
    return f"install {'it' if len(packages) == 1 else 'them'} with pip install {' '.join(packages)}"


def in_groups(sentence: str) -> str:
    """Say a sentence about rows and clusters as the report does, of documents and groups.

    What stands in quotation marks, as the names of labels do, stays as it is.
    """
    words = {"row": "document", "cluster": "group", "Row": "Document", "Cluster": "Group"}
    return re.sub(  # an apostrophe is no quotation mark
        rf"""(?<!\w)'[^']*'(?!\w)|"[^"]*"|\b({"|".join(words)})(s?)\b""",
        lambda found: words[found[1]] + found[2] if found[1] else found[0],
        sentence,
    )

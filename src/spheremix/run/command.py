"""What a run was asked to do and with which libraries, compared with what is asked now."""

from __future__ import annotations

import importlib.metadata
import platform
from typing import Any

import spheremix
from spheremix._optional import kernels

CHECKSUMS = ("checksum", "vocabulary_checksum", "texts_checksum")  # of the documents
LIBRARIES = ("numpy", "scipy", "scikit-learn", "simplemma")


def versions() -> dict[str, str]:
    """Give what the last digits depend on."""
    found = {"spheremix": spheremix.__version__, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "none"
    level = "none" if kernels is None else str(kernels.simd_level())
    return {**found, "kernels": level, "machine": platform.machine()}


def same_documents(before: Any, now: dict[str, Any]) -> bool:
    """Tell whether two commands are about the same documents."""
    known = _known(before)
    return all(known.get(name) == now.get(name) for name in CHECKSUMS)


def differences(before: Any, now: dict[str, Any]) -> list[str]:
    """Say what differs between two commands, or between versions."""
    known = _known(before)
    found: list[str] = []
    for name in sorted({*known, *now}):
        old, new = known.get(name), now.get(name)
        if old != new and name.endswith("checksum"):
            found.insert(0, "of other documents")
        elif old != new:
            found.append(f"{name} was {_short(old)} and is {_short(new)}")
    return found


def _known(before: Any) -> dict[str, Any]:
    """Give what a record says; nothing where it is damaged."""
    return before if isinstance(before, dict) else {}


def _short(value: Any) -> str:
    text = "not given" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."

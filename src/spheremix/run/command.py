"""What a run was asked to do and with which libraries, compared with what is asked now."""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import platform
import re
from typing import Any

import spheremix
from spheremix._optional import kernels
from spheremix.run.options import MODEL, RUNNING, ExploreOptions

CHECKSUMS = ("checksum", "vocabulary_checksum", "texts_checksum")  # of the documents
PLAIN = re.compile(r"[\w.,/ -]{1,60}")  # values that can be shown in a template
LIBRARIES = ("numpy", "scipy", "scikit-learn", "simplemma")


def versions() -> dict[str, str]:
    """Give what the last digits depend on."""
    found = {"spheremix": spheremix.__version__, "python": platform.python_version()}
    found |= {name: _version(name) for name in LIBRARIES}
    level = "none" if kernels is None else str(kernels.simd_level())
    return {**found, "kernels": level, "machine": platform.machine()}


@functools.cache
def _version(name: str) -> str:
    """Give the version of a library; to look it up takes milliseconds."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "none"


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


def left_out(before: Any, now: dict[str, Any]) -> str:
    """Give the options about documents and words that only the command before had, as a template.

    A word list is known by its words and not by the name of its file, which the user must know.
    """
    known = _known(before)
    found = []
    for field in dataclasses.fields(ExploreOptions):
        name, value = field.name, known.get(field.name)
        about_model = field.metadata["panel"] in {MODEL, RUNNING}
        if about_model or value in (None, False, field.default) or value == now.get(name):
            continue
        if name == "stop_words":
            value = "FILE"
        several = value if name == "label" and isinstance(value, list) else [value]
        for one in several:
            text = ",".join(map(str, one)) if isinstance(one, list) else str(one)
            if not PLAIN.fullmatch(text):
                text = "..."
            found.append(f"{{{name}={text}}}")
    return " ".join(found)


def _known(before: Any) -> dict[str, Any]:
    """Give what a record says; nothing where it is damaged."""
    return before if isinstance(before, dict) else {}


def _short(value: Any) -> str:
    text = "not given" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."

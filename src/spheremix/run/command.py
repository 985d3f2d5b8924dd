"""What a run was asked to do and with which libraries, compared with what is asked now."""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import operator
import platform
from typing import TYPE_CHECKING, Any

import spheremix
from spheremix._optional import kernels
from spheremix.errors import Message
from spheremix.run.options import MODEL, RUNNING, ExploreOptions
from spheremix.run.store import RunError

if TYPE_CHECKING:
    from pathlib import Path

CHECKSUMS = ("checksum", "vocabulary_checksum", "texts_checksum")  # of the documents
LONGEST = 40  # characters of a value that is compared
# What an update adds to a command: checksums, which say nothing to people.
OF_UPDATES = {"start": "from other groups", "carried": "with other names, notes or marks"}
# Options that change neither documents nor words.
ABOUT_MODEL = {
    one.name
    for one in dataclasses.fields(ExploreOptions)
    if one.metadata["panel"] in {MODEL, RUNNING}
}
LIBRARIES = ("numpy", "scipy", "scikit-learn", "simplemma")


def versions() -> dict[str, str]:
    """Return what the last digits depend on."""
    found = {"spheremix": spheremix.__version__, "python": platform.python_version()}
    found |= {name: _version(name) for name in LIBRARIES}
    level = "none" if kernels is None else str(kernels.simd_level())
    return {**found, "kernels": level, "machine": platform.machine()}


@functools.cache
def _version(name: str) -> str:
    """Return the version of a library; to look it up takes milliseconds."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def same_documents(before: Any, now: dict[str, Any]) -> bool:
    """Return whether two commands are about the same documents."""
    known = _known(before)
    return all(known.get(name) == now.get(name) for name in CHECKSUMS)


def differences(before: Any, now: dict[str, Any]) -> list[str]:
    """Say what differs between two commands, or between versions, in the names of the library."""
    texts, values = compared(before, now)
    return [Message(text, values).render().removesuffix(".") for text in texts]


def compared(
    before: Any, now: dict[str, Any], older: Any = None, newer: dict[str, str] | None = None
) -> tuple[list[str], dict[str, str]]:
    """Say what differs, as parts of a message and its values; what changes words comes first.

    Versions of libraries are compared beside the commands, where they are given.
    """
    known, now = {**_known(before), **_known(older)}, {**now, **(newer or {})}
    found: list[tuple[int, str]] = []
    values: dict[str, str] = {}
    for name in sorted({*known, *now}):
        old, new = known.get(name), now.get(name)
        if old != new and name.endswith("checksum"):
            found.append((-1, "of other documents"))
        elif old != new and name in OF_UPDATES:
            found.append((0, OF_UPDATES[name]))
        elif old != new:
            values |= {f"{name}_was": _short(name, old), f"{name}_is": _short(name, new)}
            text = f"{{{name}}} is {{{name}_is}} now and was {{{name}_was}} before"
            found.append((int(name in ABOUT_MODEL), text))
    return list(
        dict.fromkeys(text for _, text in sorted(found, key=operator.itemgetter(0)))
    ), values


def given_again(before: Any, now: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """Return the options that would use the words of the run before, for a message with its values.

    There are none where these words are asked for already, or of other documents.
    The options about documents and words are those of the run before, the others those of now. A
    word list is known by its words and not by the name of its file, which the user must know.
    """
    known, usual = _known(before), ExploreOptions().completed(words=True).command()
    parts: list[str] = []
    values: dict[str, str] = {}
    about_words = [name for name in usual if name not in ABOUT_MODEL]
    if not same_documents(before, now) or all(known.get(o) == now.get(o) for o in about_words):
        return "", {}
    for name in ExploreOptions.__dataclass_fields__:
        value = (now if name in ABOUT_MODEL else known).get(name)
        if value is None or value == usual.get(name):
            continue
        for one in value if name == "label" else [value]:
            if isinstance(one, bool):
                parts.append(f"{{{name}=True}}")  # what is not as usual was given
                continue
            key = f"given_{len(parts)}"
            values[key] = "FILE" if name == "stop_words" else as_given(name, one)
            parts.append(f"{{{name}={key}}}")
    return " ".join(parts), values


def another_run(
    folder: Path, there: dict[str, Any], command: dict[str, Any], *, finished: bool
) -> RunError:
    """Say that a folder holds another run, in what it differs, and what to do."""
    texts, values = compared(there.get("command"), command, there.get("versions"), versions())
    again, given = given_again(there.get("command"), command)
    remedies = ["choose another folder with {out}"]
    if "start" not in command:  # an update replaces no run
        remedies = [
            *remedies,
            "replace it with {force=True}",
            *([f"keep its words by giving its options again ({again})"] if again else []),
        ]
    return RunError(
        f"{{folder}}: holds another run{{way}} ({'; '.join(texts[:3])})",
        remedies=tuple(remedies),
        folder=folder,
        way="" if finished else " on its way",
        **values,
        **given,
    )


def as_given(name: str, value: Any) -> str:
    """Write the value of an option as people give it."""
    if name == "names" and isinstance(value, dict):
        return str(value.get("source"))
    if name == "k" and isinstance(value, list) and len(value) > 2:
        first, last = value[0], value[-1]
        if value == list(range(first, last + 1)):
            return f"{first}:{last}"
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, float):
        text = f"{value:.12f}".rstrip("0")
        return f"{text}0" if text.endswith(".") else text
    return str(value)


def _known(before: Any) -> dict[str, Any]:
    """Return what a record says; nothing where it is damaged."""
    return before if isinstance(before, dict) else {}


def _short(name: str, value: Any) -> str:
    if value is None or value is False:
        return "not given"
    text = "given" if value is True else as_given(name, value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."

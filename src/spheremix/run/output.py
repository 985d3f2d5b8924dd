"""Files that a command was told to write, outside of what it keeps itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from spheremix._files import MANIFEST
from spheremix.run.files import DERIVED
from spheremix.run.layout import LAYOUT, PROGRESS
from spheremix.run.ownership import Ownership
from spheremix.run.store import RunError, is_plain
from spheremix.text.corpus import ReadError

if TYPE_CHECKING:
    from pathlib import Path


def check_output(path: Path, example: str, *, force: bool, inputs: tuple[Path, ...] = ()) -> None:
    """Refuse inputs that are missing, then to write a file that must not go, before all the work.

    What is there is replaced with ``force`` alone, and never where it is a link or another thing
    that is not a file, one of the files that are read, or a part of a run.
    """
    for other in inputs:
        if not other.exists():
            raise ReadError.at(other, "there is no such file or folder.")
    if path.is_dir():
        raise RunError(f"{path}: is a folder: name a file in it, as {path / example}.")
    if not os.path.lexists(path):
        return
    if not is_plain(path):
        raise _refusal(path, "is a link, or not a file")
    if not force:
        raise _refusal(path, "there already", "replace it with {force=True}")
    for other in inputs:
        if other.samefile(path):
            raise _refusal(path, "is read by this command")
    refuse_part_of_run(path)


def refuse_part_of_run(path: Path) -> None:
    """Refuse to replace what a run needs."""
    place = path.resolve()
    for folder in place.parents:
        if Ownership(folder).records:
            first = place.relative_to(folder).parts[0]
            if first in {MANIFEST, DERIVED, PROGRESS, *LAYOUT}:
                raise _refusal(path, f"is a file of the run in {folder}")


def _refusal(path: Path, problem: str, *remedies: str) -> RunError:
    """Say why a file is not written, and what can be done."""
    another = "choose another with {out}"
    values = {"path": path, "problem": problem}
    return RunError("{path}: {problem}", remedies=(another, *remedies), **values)

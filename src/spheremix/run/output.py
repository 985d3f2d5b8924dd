"""Files that a command was told to write, outside of what it keeps itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from spheremix._files import MANIFEST
from spheremix.run.ownership import DERIVED, LAYOUT, PROGRESS, Ownership
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
        raise RunError(f"{path}: is a folder: name a file in it, as -o {path / example}.")
    if not os.path.lexists(path):
        return
    if not is_plain(path):
        raise RunError(f"{path}: is a link, or not a file: choose another with -o.")
    if not force:
        raise RunError(f"{path}: there already: choose another with -o, or --force.")
    for other in inputs:
        if other.samefile(path):
            raise RunError(f"{path}: is read by this command: choose another with -o.")
    refuse_part_of_run(path)


def refuse_part_of_run(path: Path) -> None:
    """Refuse to replace what a run needs."""
    place = path.resolve()
    for folder in place.parents:
        if Ownership(folder).records:
            first = place.relative_to(folder).parts[0]
            if first in {MANIFEST, DERIVED, PROGRESS, *LAYOUT}:
                raise RunError(f"{path}: is a file of the run in {folder}: choose another with -o.")

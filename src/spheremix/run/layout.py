"""Names that the files of a run have, and what a record must say to be one of ours."""

from __future__ import annotations

import re
from typing import Any

from spheremix._files import MANIFEST
from spheremix.run.columns import TABLES
from spheremix.run.files import DERIVED, EDITED, FILES, STAGES
from spheremix.run.schema import FORMAT

PROGRESS = "progress"
LOCK = "lock"
COMMAND = "progress/command.json"
PLACING = "progress/placing.json"  # what is about to get its name, before it gets it
REPLACED = "progress/replaced.json"  # the manifest of a run that is being removed
# What a record says that it is.
FORMATS = {MANIFEST: FORMAT, REPLACED: FORMAT, DERIVED: "spheremix derived files"}
ON_THE_WAY = "spheremix run on its way"
# What lasts, so that later runs can use it.
STAGE = re.compile(rf"{STAGES}/({EDITED}-)?[a-z]+(-\d+)?\.json")
MARK = re.compile(
    rf"{PROGRESS}/(fit|refit|refits|steps)-\d+\.json"
)  # where a path was, until it is done
# All that a run writes beside its records: whatever a record says, nothing by another name is ours.
LAYOUT = {
    PROGRESS,
    *(name.partition("/")[0] for name in (*FILES, *(table.file for table in TABLES.values()))),
} - {MANIFEST, DERIVED}
DRAFT = re.compile(r"\.?\d+\.part(\.[0-9a-f]{16}\.part)?|\d+\.part/[A-Za-z0-9_-]+\.(svg|png)")
CHECKPOINT = re.compile(r"(fit|refit|refits|steps)-\d+/[a-z_]+\.npy")


def format_of(name: str) -> str | None:
    """Return what a record of this name says that it is; None where no record has this name."""
    if name in {COMMAND, PLACING} or MARK.fullmatch(name) or STAGE.fullmatch(name):
        return ON_THE_WAY
    return FORMATS.get(name)


def is_on_the_way(name: str) -> bool:
    """Return whether a file is only there until the run is finished."""
    return name.startswith(f"{PROGRESS}/")


def in_layout(name: str) -> bool:
    """Return whether a run writes files of this name."""
    return name.partition("/")[0] in LAYOUT


def proof(entry: Any) -> tuple[int, str] | None:
    """Return the size and the checksum that a record states of a file, where it states them."""
    size, checksum = (
        (entry.get("bytes"), entry.get("sha256")) if isinstance(entry, dict) else (0, 0)
    )
    return (size, checksum) if isinstance(size, int) and isinstance(checksum, str) else None

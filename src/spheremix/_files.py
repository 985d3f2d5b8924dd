"""Files that are read: regular ones only, since a pipe or a device may never end."""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from io import BufferedReader
    from os import PathLike

MANIFEST = "run.json"
RUN, RUN_VERSION = "spheremix run", 3  # what the manifest of a run says that it is
CACHE, LOCK = "cache", ".lock"  # what an unfinished run has
MANIFEST_BYTES = 2**26  # a manifest is small: beyond it, somebody wants memory


def open_regular(path: str | PathLike[str]) -> BufferedReader:
    """Open a file to read its bytes; what is not a regular file is refused, and never waited for.

    Parameters
    ----------
    path : str or path
        A link to a regular file is followed.

    Returns
    -------
    file
        Binary, buffered.

    Raises
    ------
    OSError
        With the name of the file, for a folder, a pipe, a socket or a device too.
    """
    # Without O_NONBLOCK the opening itself waits until somebody writes into a pipe.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise OSError(errno.EINVAL, "not a regular file but a pipe or a device", os.fspath(path))


def is_run(folder: str | PathLike[str]) -> bool:
    """Return whether a folder is that of a run, finished or not."""
    place = Path(folder)
    if (place / LOCK).is_file() and (place / CACHE).is_dir():
        return True
    try:
        with open_regular(place / MANIFEST) as file:
            content = json.loads(file.read(MANIFEST_BYTES))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and content.get("format") == RUN

"""Files that are read: regular ones only, since a pipe or a device may never end."""

from __future__ import annotations

import errno
import os
import stat
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from os import PathLike


def open_regular(path: str | PathLike[str]) -> IO[bytes]:
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

"""One process at a time in the folder of a run.

The lock of a process that was killed is gone with it; the file stays, with the token by which the
next process knows what the killed one was writing.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import secrets
import stat
import time
from typing import TYPE_CHECKING

from spheremix.run.layout import LOCK, PROGRESS
from spheremix.run.store import RunError, naming

if TYPE_CHECKING:
    from pathlib import Path

TOKEN = re.compile(rb"spheremix ([0-9a-f]{32})\n")
DRAFTS = re.compile(r"[0-9a-f]{32}")
ATTEMPTS = 100  # each but the last met a process that was just leaving


class Lock:
    """A lock that is held.

    Parameters
    ----------
    folder : path
        Of a run; made where it is missing.

    Attributes
    ----------
    token : str
        In the name of the folder of drafts, ``progress/TOKEN``.
    """

    def __init__(self, folder: Path) -> None:
        self.progress = folder / PROGRESS
        self.path = self.progress / LOCK
        self.token = secrets.token_hex(16)
        for _ in range(ATTEMPTS):
            with naming(folder):
                handle = self._open()
                if handle is not None:
                    self._handle = handle
                    return
            time.sleep(0.01)
        raise self._at_work()

    def _at_work(self) -> RunError:
        return RunError(f"{self.progress.parent}: another spheremix is at work in this folder.")

    def _open(self) -> int | None:
        """Open the file and lock it; None where it went meanwhile."""
        if self.progress.is_symlink() or (self.progress.exists() and not self.progress.is_dir()):
            raise RunError(
                "{path}: is a link, or a file",
                remedies=("choose another folder with {out}",),
                path=self.progress,
            )
        made = self.progress / self.token
        created = os.O_CREAT | os.O_EXCL
        if os.path.lexists(self.path):
            created = 0
        else:
            self.progress.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                made.mkdir(exist_ok=True)  # before the lock: an empty lock is ours beside it
        flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            handle = os.open(self.path, flags | created, 0o666)
        except (FileExistsError, FileNotFoundError):
            return None
        except OSError:
            if self.path.is_symlink():
                raise self._foreign() from None
            raise
        try:
            held = self._take(handle)
        except BaseException:
            os.close(handle)
            if not created:  # else it stays, for who locked our file needs it to know the file
                with contextlib.suppress(OSError):
                    made.rmdir()
            raise
        if not held:
            os.close(handle)
            return None
        return handle

    def _take(self, handle: int) -> bool:
        """Lock an open file and learn its token; tell whether it is still the lock."""
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            raise self._foreign()
        if not _locked(handle):
            raise self._at_work()
        try:
            there = self.path.lstat()
        except FileNotFoundError:
            return False
        found = os.fstat(handle)
        if (there.st_dev, there.st_ino) != (found.st_dev, found.st_ino):
            return False
        content = os.read(handle, 100)
        known = TOKEN.fullmatch(content)
        if known is not None:
            self.token = known[1].decode()
        elif not content and self._drafts():
            os.write(handle, f"spheremix {self.token}\n".encode())
            os.fsync(handle)
        else:
            raise self._foreign()
        (self.progress / self.token).mkdir(exist_ok=True)
        return True

    def _foreign(self) -> RunError:
        return RunError(
            "{path}: is not the lock of a run",
            remedies=("choose another folder with {out}", "move it away"),
            path=self.path,
        )

    def _drafts(self) -> list[Path]:
        """List folders of drafts, ours and of those who came too late."""
        named = (path for path in self.progress.iterdir() if DRAFTS.fullmatch(path.name))
        return [path for path in named if path.is_dir() and not path.is_symlink()]

    def leave(self, *, keep: bool) -> None:
        """Let others in; without ``keep`` nothing of the lock stays."""
        try:
            if not keep:
                for path in self._drafts():
                    with contextlib.suppress(OSError):  # of somebody else, or not empty
                        path.rmdir()
                self.path.unlink(missing_ok=True)
                with contextlib.suppress(OSError):
                    self.progress.rmdir()
        finally:
            os.close(self._handle)


def _locked(handle: int) -> bool:
    """Lock a file, where the system can; tell whether that was possible."""
    try:
        fcntl = importlib.import_module("fcntl")
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

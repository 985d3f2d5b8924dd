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
ATTEMPTS = 100  # each but the last met a process that was just coming or leaving
BUSY = 5  # attempts in a row that find the lock held: not by somebody who only looks at it


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
        self._is_maker = False  # of a file that may be the lock
        state = "gone"
        try:
            state = self._wait(folder)
        finally:
            # The folder of a maker stays: who locked the file needs it to know the file.
            if state != "held" and not self._is_maker:
                with contextlib.suppress(OSError):
                    (self.progress / self.token).rmdir()
        if state != "held":
            raise self._foreign() if state == "empty" else self._at_work()

    def _wait(self, folder: Path) -> str:
        """Try to take the lock until it is held, or clearly somebody else's; say what it is."""
        state, busy = "gone", 0
        for _ in range(ATTEMPTS):
            with naming(folder):
                state, handle = self._open()
            if handle is not None:
                self._handle = handle
                return state
            busy = busy + 1 if state == "busy" else 0
            if busy == BUSY:
                break
            time.sleep(0.01)
        return state

    def _at_work(self) -> RunError:
        return RunError(f"{self.progress.parent}: another spheremix is at work in this folder.")

    def _open(self) -> tuple[str, int | None]:
        """Open the file and lock it; without a handle, say how it was found, as ``_take`` does."""
        created = 0 if os.path.lexists(self.path) else os.O_CREAT | os.O_EXCL
        if not self._has_room(make=bool(created)):
            return "gone", None
        flags = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            handle = os.open(self.path, flags | created, 0o666)
        except (FileExistsError, FileNotFoundError):
            return "gone", None
        except OSError:
            if self.path.is_symlink():
                raise self._foreign() from None
            raise
        self._is_maker |= bool(created)
        try:
            state = self._take(handle, made=bool(created))
        except BaseException:
            os.close(handle)
            raise
        if state != "held":
            os.close(handle)
            return state, None
        return state, handle

    def _has_room(self, *, make: bool) -> bool:
        """Refuse what is not a folder; make the folders of the lock; False where they went."""
        with contextlib.suppress(FileNotFoundError):  # asked once: it may go at any moment
            if not stat.S_ISDIR(self.progress.lstat().st_mode):
                raise RunError(
                    "{path}: is a link, or a file",
                    remedies=("choose another folder with {out}",),
                    path=self.progress,
                )
        if not make:
            return True
        try:
            self.progress.mkdir(parents=True, exist_ok=True)
            # Before the lock: an empty lock is ours beside it.
            (self.progress / self.token).mkdir(exist_ok=True)
        except FileNotFoundError:
            return False
        except FileExistsError:  # also of a folder that went while it was looked at
            if os.path.lexists(self.progress) and not self.progress.is_dir():
                raise
            return False
        return True

    def _take(self, handle: int, *, made: bool) -> str:
        """Lock an open file and learn its token; tell what it is.

        "held": the lock, and ours now. "busy": somebody else has it. "gone": no longer the lock.
        "empty": of somebody who has just made it, or of another program.
        """
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
            raise self._foreign()
        if not _locked(handle):
            return "busy"
        try:
            there = self.path.lstat()
        except FileNotFoundError:
            return "gone"
        found = os.fstat(handle)
        if (there.st_dev, there.st_ino) != (found.st_dev, found.st_ino):
            return "gone"
        content = os.read(handle, 100)
        known = TOKEN.fullmatch(content)
        if known is not None:
            self.token = known[1].decode()
        elif content:
            raise self._foreign()
        elif made or self._drafts():
            os.write(handle, f"spheremix {self.token}\n".encode())
            os.fsync(handle)
        else:
            return "empty"
        (self.progress / self.token).mkdir(exist_ok=True)
        return "held"

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

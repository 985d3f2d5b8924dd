"""Commands in processes of their own, killed or stopped at a moment that is drawn.

Moments are counted in what a process does to files, as Python's audit hooks report it: a file
opened to be written, renamed or removed, a folder made or removed. So they are the same on a busy
machine, and do not depend on how the program is made.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time

COMMAND = """
import os, signal, sys
sys.argv = ["spheremix", *{arguments!r}]
sys.stdout = sys.stderr = open({said!r}, "w", encoding="utf-8", errors="backslashreplace")
from spheremix.__main__ import main
folder, at, what = {folder!r}, {at!r}, {what!r}
counted, log = [0], open({said!r} + ".count", "w")

def watch(event, arguments):
    if event == "open":
        path, mode, flags = arguments
        if not isinstance(path, (str, bytes)) or not flags & (os.O_WRONLY | os.O_RDWR):
            return
    elif event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.link"):
        path = arguments[0]
    else:
        return
    path = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else ""
    if not os.path.abspath(path).startswith(folder):
        return
    counted[0] += 1
    os.pwrite(log.fileno(), str(counted[0]).encode(), 0)
    if counted[0] == at:
        os.kill(os.getpid(), what)

sys.addaudithook(watch)
{first}
main()
"""
PATIENCE = 120.0  # seconds after which a command is said to hang


class Commands:
    """Commands in one place.

    Parameters
    ----------
    server : context
        Of processes that have imported what they need.
    place : path
        Where they write what they say.
    """

    def __init__(self, server, place):
        self.server, self.place, self.n = server, place, 0

    def start(self, *arguments, folder=None, at=0, what=signal.SIGKILL, first=""):
        """Start a command; after `at` changes of files in a folder it kills or stops itself."""
        self.n += 1
        said = self.place / f"said{self.n}"
        code = COMMAND.format(
            arguments=[
                os.fsdecode(one) if isinstance(one, bytes) else str(one) for one in arguments
            ],
            said=str(said),
            folder=str(folder or self.place),
            at=at,
            what=int(what),
            first=first,
        )
        process = self.server.Process(target=exec, args=(code, {}))
        process.start()
        process.said = said
        return process

    def end(self, process, patience=PATIENCE):
        """Wait for a command; return its code and what it said, which is never a traceback."""
        process.join(patience)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise AssertionError(f"hangs: {text_of(process)}")
        text = text_of(process)
        assert "Traceback" not in text, text
        assert "unexpected" not in text, text
        return process.exitcode, text

    def run(self, *arguments, **more):
        """Run a command to its end, or to where it kills itself."""
        return self.end(self.start(*arguments, **more))

    def done(self, *arguments, **more):
        """Run a command that must succeed; return how many changes of files it made."""
        process = self.start(*arguments, **more)
        code, text = self.end(process)
        assert code == 0, text
        return changes_of(process)

    def killed(self, seconds, *arguments):
        """Start a command and kill it after some seconds; tell whether it was still at work."""
        process = self.start(*arguments)
        process.join(seconds)
        alive = process.exitcode is None
        process.kill()
        process.join()
        return alive


def text_of(process):
    """Return what a process has said."""
    with contextlib.suppress(FileNotFoundError):
        return process.said.read_text(encoding="utf-8", errors="replace")
    return ""


def changes_of(process):
    """Return how many changes of files a process has made."""
    with contextlib.suppress(FileNotFoundError):
        return int(process.said.with_name(f"{process.said.name}.count").read_text() or 0)
    return 0


def refusals(text):
    """Return the lines of a command that say what went wrong."""
    return [line for line in text.splitlines() if line.startswith("error: ")]


def until(happened, seconds=60.0):
    """Wait for something; tell whether it happened."""
    end = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def everything(folder):
    """Return all that can be told of what lies in a folder."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_file():
            found[name] = path.read_bytes()
        elif not path.is_dir():
            found[name] = "pipe"
    return found

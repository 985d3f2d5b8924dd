"""The folder of a run on its way: whose it is, what is done already, and who works on it."""

from __future__ import annotations

import importlib
import importlib.metadata
import platform
import shutil
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any, TypeVar

import spheremix
from spheremix._optional import kernels
from spheremix.run.store import MANIFEST, Reader, RunError, Writer, read_json, write_json
from spheremix.run.typed import decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

R = TypeVar("R")  # the record of a stage
T = TypeVar("T")

PROGRESS = "progress"
COMMAND = "command.json"
LOCK = "lock"
LIBRARIES = ("numpy", "scipy", "scikit-learn", "simplemma")
# All that a run writes: what --force may remove.
OWN = {
    *(MANIFEST, PROGRESS, "matrix", "dense", "path", "tables", "vocabulary.txt", "idf.npy"),
    *("documents.csv", "words.csv", "clusters.csv", "kept.npy", "corpus.jsonl.gz"),
    *("README.txt", "counts", "terms.txt", "report.html", "report.json"),
    *("figures", "figures.draft"),
}


def versions() -> dict[str, str]:
    """Give what the last digits depend on."""
    found = {"spheremix": spheremix.__version__, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "none"
    level = "none" if kernels is None else str(kernels.simd_level())
    return {**found, "kernels": level, "machine": platform.machine()}


class RunFolder:
    """A folder in which stages leave what they did.

    Parameters
    ----------
    folder : path
        Made where it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.progress = folder / PROGRESS

    # Whose folder it is

    def claim(self, command: dict[str, Any], *, force: bool) -> bool:
        """Take the folder for a command; tell whether the command is done already.

        What another command left is refused, or removed with ``force``.
        """
        there = {path.name for path in self.folder.iterdir()}
        if force:
            self._clear()
        elif MANIFEST in there:
            self._compare(read_json(self.folder / MANIFEST), command, finished=True)
            shutil.rmtree(self.progress, ignore_errors=True)
            return True
        elif (self.progress / COMMAND).exists():
            self._compare(read_json(self.progress / COMMAND), command, finished=False)
            return False
        elif there - {PROGRESS}:
            raise RunError(
                f"{self.folder}: holds parts of a run and not what they belong to: choose another "
                "folder with -o, or remove them with --force."
            )
        write_json(self.progress / COMMAND, {"command": command, "versions": versions()})
        return False

    def _compare(self, there: dict[str, Any], command: dict[str, Any], *, finished: bool) -> None:
        """Refuse what another command began; libraries may change once it has finished."""
        before = there.get("command")
        before = before if isinstance(before, dict) else {}
        other = _differences(before, command)
        if not finished and not other:
            found = there.get("versions")
            other = _differences(found if isinstance(found, dict) else {}, versions())
        if other:
            raise RunError(
                f"{self.folder}: holds another run{'' if finished else ' on its way'} ({other}): "
                "choose another folder with -o, or replace it with --force."
            )

    def _clear(self) -> None:
        (self.folder / MANIFEST).unlink(missing_ok=True)  # first: from now on it is no run
        for name in sorted(OWN):
            path = self.folder / name
            if name == PROGRESS:
                self._clear_progress()
            elif path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def _clear_progress(self) -> None:
        """Remove what stages left, and keep the lock."""
        (self.progress / COMMAND).unlink(missing_ok=True)
        for path in self.progress.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name != LOCK:
                path.unlink()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep others out; the lock of a process that was killed is gone with it."""
        if self.folder.exists() and not self.folder.is_dir():
            raise RunError(f"{self.folder}: there is a file of this name: choose another with -o.")
        there = {path.name for path in self.folder.iterdir()} if self.folder.exists() else set()
        known = MANIFEST in there or (self.progress / COMMAND).exists()
        if there - OWN and not known:
            raise RunError(f"{self.folder}: holds other files and no run: choose another with -o.")
        self.progress.mkdir(parents=True, exist_ok=True)
        with (self.progress / LOCK).open("wb") as file:
            if not _lock(file):
                raise RunError(f"{self.folder}: another spheremix is at work in this folder.")
            try:
                yield
            finally:
                if not (self.progress / COMMAND).exists():  # nothing to go on from
                    shutil.rmtree(self.progress, ignore_errors=True)
                    with suppress(OSError):  # there is something in it
                        self.folder.rmdir()

    def discard(self) -> None:
        """Leave nothing of a run that failed before anything was fitted."""
        if not any(self.progress.glob("dense-*.json")):
            self._clear()

    def close(self) -> None:
        """Remove what was only needed on the way."""
        shutil.rmtree(self.progress, ignore_errors=True)
        for part in self.folder.rglob(".*.part"):
            part.unlink(missing_ok=True)

    # Stages

    def writer(self, *, durable: bool = True) -> Writer:
        """Give what writes the files of a stage."""
        return Writer(self.folder, durable=durable)

    def commit(self, stage: str, writer: Writer, record: Any) -> None:
        """Declare a stage done: its files are written, and the record describes them."""
        writer.commit(self.progress / f"{stage}.json", {"content": encode(record)})

    def stage(
        self, name: str, kind: type[R], make: Callable[[], None], read: Callable[[R, Reader], T]
    ) -> T:
        """Give what a stage left; make it where it was not done, or cannot be read."""
        left = self.done(name, kind)
        if left is not None:
            try:
                return read(*left)
            except RunError:  # damaged: do it again
                self.forget(name)
        make()
        left = self.done(name, kind)
        if left is None:
            raise RunError(f"{self.folder}: what was written cannot be read: is the disk full?")
        return read(*left)

    def done(self, stage: str, kind: type[R]) -> tuple[R, Reader] | None:
        """Give the record and the files that a stage left, or None where it was not done."""
        path = self.progress / f"{stage}.json"
        if not path.exists():
            return None
        try:
            found = read_json(path)
            record = decode(kind, found.get("content"), str(path))
            return record, Reader(self.folder, found.get("files"))
        except RunError:  # the power went before the disk was done: do it again
            return None

    def forget(self, stage: str) -> None:
        """Declare a stage undone."""
        (self.progress / f"{stage}.json").unlink(missing_ok=True)


def _differences(before: dict[str, Any], now: dict[str, Any]) -> str:
    """Say what differs between two commands."""
    found: list[str] = []
    for name in sorted({*before, *now}):
        old, new = before.get(name), now.get(name)
        if old != new and name.endswith("checksum"):
            found.insert(0, "of other documents")
        elif old != new:
            found.append(f"{name} was {_short(old)} and is {_short(new)}")
    return ", ".join(found[:3])


def _short(value: Any) -> str:
    text = "not given" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _lock(file: IO[bytes]) -> bool:
    """Lock a file, where the system can; tell whether that was possible."""
    try:
        fcntl = importlib.import_module("fcntl")
    except ImportError:  # Windows
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True

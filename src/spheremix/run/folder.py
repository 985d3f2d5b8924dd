"""The folder of a run on its way: whose it is, what is done already, and who works on it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import spheremix
from spheremix._files import MANIFEST
from spheremix._optional import kernels
from spheremix.run.columns import DERIVED
from spheremix.run.lock import Lock
from spheremix.run.ownership import COMMAND, LOCK, PROGRESS, Ownership
from spheremix.run.store import Reader, RunError, read_json
from spheremix.run.typed import decode, encode
from spheremix.run.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

R = TypeVar("R")  # the record of a stage
T = TypeVar("T")

LIBRARIES = ("numpy", "scipy", "scikit-learn", "simplemma")


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
        self.own = Ownership(folder)

    # Whose folder it is

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep others out; the lock of a process that was killed is gone with it."""
        made = not self.folder.exists()
        if not made and not self.folder.is_dir():
            raise RunError(
                "{folder}: there is a file of this name",
                remedies=("choose another with {out}",),
                folder=self.folder,
            )
        if not self.own.records and not os.path.lexists(self.own.progress / LOCK):
            self.own.refuse_others(checked=False)
        lock = Lock(self.folder)
        keep = True
        try:
            self.own = Ownership(self.folder, lock.token)
            self.own.remove_drafts(checkpoints=False)
            try:
                yield
            finally:
                keep = self._leave()
        finally:
            lock.leave(keep=keep)
            if made:
                with suppress(OSError):  # there is something in it
                    self.folder.rmdir()

    def _leave(self) -> bool:
        """Remove what was only needed on the way; tell whether there is something to go on from."""
        if MANIFEST in self.own.records:
            self._adopt()
            self.own.forget([name for name in self.own.records if "/" in name])
        going_on = any("/" in name for name in self.own.records)
        self.own.remove_drafts(checkpoints=not going_on)
        return going_on

    def claim(self, command: dict[str, Any], *, force: bool) -> bool:
        """Take the folder for a command; tell whether the command is done already.

        What another command left is refused, or removed with ``force``. A folder that holds
        anything else is refused in any case.
        """
        if MANIFEST in self.own.records and not force:
            self._compare(read_json(self.folder / MANIFEST), command, finished=True)
            return True
        if COMMAND in self.own.records and not force:
            self.own.refuse_others(checked=False)
            self._compare(read_json(self.folder / COMMAND), command, finished=False)
            return False
        self.own.clear()
        self.own.record(COMMAND, {"command": command, "versions": versions()})
        return False

    def claim_new(self) -> None:
        """Take a folder that holds no run, nor anything else."""
        if self.own.records & {MANIFEST, COMMAND}:
            raise RunError(
                f"{self.folder}: there is a run already: choose another folder or remove it."
            )
        self.own.clear()

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
                "{folder}: holds another run{way} ({other})",
                remedies=("choose another folder with {out}", "replace it with {force=True}"),
                folder=self.folder,
                way="" if finished else " on its way",
                other=other,
            )

    def discard(self) -> None:
        """Leave nothing of a run that failed before anything was fitted."""
        fitted = [name for name in self.own.records if name.startswith(f"{PROGRESS}/dense-")]
        if not any("content" in read_json(self.folder / name) for name in fitted):
            self.own.clear_what_is_ours()

    # Files that can be made again from the others

    def has(self, name: str) -> bool:
        """Tell whether the folder holds something of this name."""
        return os.path.lexists(self.folder / name)

    @contextmanager
    def deriving(self) -> Iterator[Writer]:
        """Give what writes files that can be made again; they are recorded at the end."""
        writer = self.writer()
        yield writer
        self._record_derived(writer)

    def _record_derived(self, writer: Writer) -> None:
        known = {}
        if DERIVED in self.own.records:
            known = read_json(self.folder / DERIVED).get("files", {})
        writer.entries = dict(sorted({**known, **writer.entries}.items()))
        writer.commit(self.folder / DERIVED, {})

    def _adopt(self) -> None:
        """Record what a killed process put in its place and did not come to record."""
        listed: set[str] = set()
        for name in self.own.records & {MANIFEST, DERIVED}:
            listed |= set(read_json(self.folder / name).get("files", {}))
        left = self.own.unrecorded(listed)
        if left:
            writer = self.writer()
            writer.entries = left
            self._record_derived(writer)

    # Stages

    def writer(self, *, durable: bool = True) -> Writer:
        """Give what writes the files of a stage."""
        return Writer(self.own, durable=durable)

    def commit(self, stage: str, writer: Writer, record: Any) -> None:
        """Declare a stage done: its files are written, and the record describes them."""
        writer.commit(self._record_of(stage), {"content": encode(record)})

    def _record_of(self, stage: str) -> Path:
        return self.own.progress / f"{stage}.json"

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
        path = self._record_of(stage)
        if not path.exists():
            return None
        try:
            found = read_json(path)
            record = decode(kind, found.get("content"), str(path))
            return record, Reader(self.folder, found.get("files"))
        except RunError:  # undone, or the power went before the disk was done: do it again
            return None

    def forget(self, stage: str) -> None:
        """Declare a stage undone; its files stay listed as ours."""
        path = self._record_of(stage)
        if path.exists():
            self.own.record(f"{PROGRESS}/{path.name}", {"files": read_json(path).get("files", {})})

    # Checkpoints: stages whose files lie among the drafts

    def checkpoint(self, stage: str) -> str:
        """Give where the files of a checkpoint go."""
        return f"{PROGRESS}/{self.own.workshop.name}/{stage}" if self.own.workshop else stage

    def drop(self, stages: Iterable[str]) -> None:
        """Remove checkpoints, their records first."""
        for stage in stages:
            path = self._record_of(stage)
            files = read_json(path).get("files", {}) if path.exists() else {}
            self.own.forget([f"{PROGRESS}/{stage}.json"])
            self.own.drop(files)

    def checkpoints(self, kind: str) -> list[str]:
        """List the checkpoints of a kind, the last one first."""
        found = [Path(name).stem for name in self.own.records]
        kept = [stage for stage in found if stage.startswith(f"{kind}-")]
        return sorted(kept, key=lambda stage: int(stage.rpartition("-")[2]), reverse=True)


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

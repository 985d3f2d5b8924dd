"""The folder of a run on its way: whose it is, what is done already, and who works on it."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from spheremix._files import MANIFEST
from spheremix.run.command import another_run, differences, same_documents, versions
from spheremix.run.files import DERIVED, EDITED, STAGES
from spheremix.run.layout import COMMAND, LOCK, MARK, PROGRESS, REPLACED, STAGE
from spheremix.run.lock import Lock
from spheremix.run.ownership import Ownership
from spheremix.run.schema import Manifest
from spheremix.run.store import Reader, RunError, as_edits, read_json
from spheremix.run.typed import decode, encode
from spheremix.run.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy as np
    from numpy.typing import NDArray

    from spheremix.run.edit_schema import CarriedEdits
    from spheremix.run.keys import Keys

ORIGIN = "origin"  # the stage that says where an edited run comes from
R = TypeVar("R")  # the record of a stage
T = TypeVar("T")


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
        self.reused: list[str] = []  # stages that were there
        self._used: set[str] = set()  # keys of the stages of this run
        self.withdrawn: list[str] = []  # stages that other options had left
        self.before: str | None = None  # the fit that was in the folder when the command was given
        self.previous: Manifest | None = None  # the run of other options that is followed
        self._following: dict[str, Any] | None = None  # the command of a run that is to follow
        self.carried: CarriedEdits | None = None  # edits of people, which go from run to run
        self.start: NDArray[np.intp] | None = None  # groups of the documents that a fit starts from
        self.under = ""  # where stages of edited runs leave what the run itself does not have

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
        keep, failed = True, True
        try:
            self.own = Ownership(self.folder, lock.token)
            self.own.remove_drafts(checkpoints=False)
            try:
                yield
                failed = False
            finally:
                keep = self._leave(failed=failed)
        finally:
            lock.leave(keep=keep)
            if made:
                with suppress(OSError):  # there is something in it
                    self.folder.rmdir()

    def _leave(self, *, failed: bool) -> bool:
        """Remove what was only needed on the way; tell whether there is something to go on from.

        Where edits were taken back and the rest failed, this stays recorded: whoever gives the
        command again takes back no more than was asked for.
        """
        finished = MANIFEST in self.own.records
        undone = failed and self.carried is not None and self.carried.undoing
        if finished:
            self._adopt()
            passing = {name for name in self.own.records if name.startswith(f"{PROGRESS}/")}
            self.own.forget(passing - ({COMMAND} if undone else set()))
        kept = COMMAND if finished else "/"
        going_on = any(kept in name for name in self.own.records)
        self.own.remove_drafts(checkpoints=not going_on)
        return going_on

    def claim(self, command: dict[str, Any], keys: Keys, *, force: bool) -> bool:
        """Take the folder for a command; tell whether the command is done already.

        What another command left on the same documents is taken up, as far as their words and rows
        are the same. Other runs are refused, or removed with ``force``. A folder that holds
        anything else is refused in any case.
        """
        finished = MANIFEST in self.own.records
        if force or not (finished or COMMAND in self.own.records):
            if self.carried is None:
                self.own.clear()
                self._record_command(command)
            else:  # edits are recorded before the run goes that they were made to
                self.own.refuse_others(checked=True)
                self._record_command(command)
                self.own.clear(keep_command=True)
            return False
        if not finished:
            self.own.refuse_others(checked=False)
        there = read_json(self.folder / (MANIFEST if finished else COMMAND))
        other = differences(there.get("command"), command)
        if finished and not other:
            return True
        if not finished:
            self.before = there.get("before")
        newer = differences(there.get("versions"), versions())
        if other or newer:
            self._follow(there, command, keys)
        elif self.own.records & {DERIVED, REPLACED}:  # killed when a run was to follow another
            self.own.retire()
        return False

    def _follow(self, there: dict[str, Any], command: dict[str, Any], keys: Keys) -> None:
        """Have a run follow another one on the same documents; refuse others.

        A finished one stays as it is until there is something to write in its place.
        """
        finished = MANIFEST in self.own.records
        same = same_documents(there.get("command"), command)
        usable = {keys.matrix} if finished else {keys.matrix, None}  # None: nothing is there yet
        if not same or self._key("matrix") not in usable:
            raise another_run(self.folder, there, command, finished=finished)
        self.own.refuse_others(checked=True)
        if finished:
            self.previous = decode(Manifest, there, str(self.folder / MANIFEST))
            self.before = self.previous.fit
            self._following = command
        else:
            self.own.retire()
            self._record_command(command)

    def edit(self, command: dict[str, Any], carried: CarriedEdits) -> None:
        """Have an edited run follow the one that is there, as :meth:`claim` does."""
        self.own.refuse_others(checked=True)
        self.carried, self.under = carried, ""
        for known in (self.reused, self._used, self.withdrawn):
            known.clear()
        if MANIFEST in self.own.records:
            self._following = command
        else:
            self.own.retire()
            self._record_command(command)

    def begin(self) -> None:
        """Let a finished run go that this one follows: there is something to write."""
        if self._following is not None:
            self._record_command(self._following)
            self._following = None
            self.own.retire()

    def _record_command(self, command: dict[str, Any]) -> None:
        content = {"command": command, "versions": versions(), "before": self.before}
        if self.carried is not None:
            content["edits"] = encode(self.carried)
            as_edits(self.folder / COMMAND, content)  # refuses what could not be read again
        self.own.record(COMMAND, content)

    def holds(self, command: dict[str, Any]) -> bool:
        """Return whether the run that is there, finished or on its way, is the one of a command."""
        for name in (MANIFEST, COMMAND):
            if name in self.own.records:
                return not differences(read_json(self.folder / name).get("command"), command)
        return False

    def recorded(self) -> dict[str, Any] | None:
        """Return what is recorded of a command that was not brought to its end."""
        return read_json(self.folder / COMMAND) if COMMAND in self.own.records else None

    def claim_new(self) -> None:
        """Take a folder that holds no run, nor anything else."""
        if self.own.records & {MANIFEST, COMMAND}:
            raise RunError(
                f"{self.folder}: there is a run already: choose another folder or remove it."
            )
        self.own.clear()

    def discard(self) -> None:
        """Leave nothing of a run that failed before anything was fitted, unless it follows one."""
        if MANIFEST in self.own.records or self.carried is not None:
            return
        fitted = [name for name in self.own.records if name.startswith(f"{STAGES}/dense-")]
        if not any("content" in read_json(self.folder / name) for name in fitted):
            self.own.clear_what_is_ours()

    def discard_edits(self) -> None:
        """Leave nothing of edits that failed while the run before them is still there."""
        self.under = ""
        if MANIFEST not in self.own.records:
            return
        there = read_json(self.folder / MANIFEST)
        for name in sorted(self.own.records):
            if STAGE.fullmatch(name) and Path(name).stem.startswith(f"{EDITED}-"):
                files = read_json(self.folder / name).get("files", {})
                made = {one for one in files if one.startswith(f"{EDITED}/")}
                if not made & set(there["files"]):
                    self._withdraw(Path(name).stem)
        if there.get("edits") is None:
            self.remove(ORIGIN)

    # Files that can be made again from the others

    def has(self, name: str) -> bool:
        """Return whether the folder holds something of this name."""
        return os.path.lexists(self.folder / name)

    @contextmanager
    def deriving(self) -> Iterator[Writer]:
        """Return what writes files that can be made again; they are recorded at the end."""
        writer = self.writer(top=True)
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
        listed = self.own.staged()
        for name in self.own.records & {MANIFEST, DERIVED}:
            listed |= set(read_json(self.folder / name).get("files", {}))
        left = self.own.unrecorded(listed)
        if left:
            writer = self.writer(top=True)
            writer.entries = left
            self._record_derived(writer)

    # Stages

    def writer(self, *, durable: bool = True, top: bool = False) -> Writer:
        """Return what writes the files of a stage; with ``top``, those of no stage."""
        return Writer(self.own, durable=durable, under="" if top else self.under)

    def commit(self, stage: str, key: str, writer: Writer, record: Any) -> None:
        """Declare a stage done: its files are written, and the record describes them."""
        path = self._record_of(self._called(stage, key))
        writer.commit(path, {"content": encode(record), "key": key})

    def _called(self, stage: str, key: str) -> str:
        """Return name of the record of a stage: an edited run has its own beside those there."""
        mark = MARK.fullmatch(f"{PROGRESS}/{stage}.json")
        if not self.under or mark or stage == ORIGIN or self._key(stage) == key:
            return stage
        return f"{self.under}-{stage}"

    def _record_of(self, stage: str) -> Path:
        passing = f"{PROGRESS}/{stage}.json"
        lasting = f"{STAGES}/{stage}.json"
        return self.folder / (passing if MARK.fullmatch(passing) else lasting)

    def stage(
        self,
        name: str,
        key: str,
        kind: type[R],
        make: Callable[[], None],
        read: Callable[[R, Reader], T],
    ) -> T:
        """Return what a stage left; make it where it was not done so, or cannot be read."""
        self._used.add(key)
        left = self.done(name, key, kind)
        if left is not None:
            try:
                found = read(*left)
            except RunError:  # damaged: do it again
                self.forget(self._called(name, key))
            else:
                self.reused.append(name)
                return found
        called = self._called(name, key)
        if self._key(called) not in {None, key}:
            self.begin()
            self._withdraw(called)
        make()
        return read(*self.left(name, key, kind))

    def left(self, stage: str, key: str, kind: type[R]) -> tuple[R, Reader]:
        """Return the record and the files of a stage that was done in this run."""
        left = self.done(stage, key, kind)
        if left is None:
            raise RunError(f"{self.folder}: what was written cannot be read: is the disk full?")
        return left

    @contextmanager
    def beside(self, under: str) -> Iterator[None]:
        """Let stages leave what they do in a folder of its own; as before where they fail."""
        before, used, self.under = self.under, set(self._used), under
        try:
            yield
        except BaseException:
            self.under, self._used = before, used
            raise

    def done(self, stage: str, key: str, kind: type[R]) -> tuple[R, Reader] | None:
        """Return the record and the files that a stage left, or None where it was not done so."""
        path = self._record_of(self._called(stage, key))
        if not path.exists():
            return None
        try:
            found = read_json(path)
            if found.get("key") != key:
                return None
            record = decode(kind, found.get("content"), str(path))
            return record, Reader(self.folder, found.get("files"))
        except RunError:  # undone, or the power went before the disk was done: do it again
            return None

    def _key(self, stage: str) -> str | None:
        """Return the key with which a stage was done, if it was."""
        path = self._record_of(stage)
        found = read_json(path).get("key") if self._is_record(path) else None
        return found if isinstance(found, str) else None

    def _is_record(self, path: Path) -> bool:
        return path.relative_to(self.folder).as_posix() in self.own.records

    def forget(self, stage: str) -> None:
        """Declare a stage undone; its files stay listed as ours."""
        path = self._record_of(stage)
        if self._is_record(path):
            name = path.relative_to(self.folder).as_posix()
            self.own.record(name, {"files": read_json(path).get("files", {})})

    def sizes(self) -> list[int]:
        """List the numbers of clusters of which the folder has a fit."""
        names = [
            Path(name).stem for name in self.own.records if name.startswith(f"{STAGES}/dense-")
        ]
        return sorted(int(name.removeprefix("dense-")) for name in names)

    def withdraw(self, valid: set[str]) -> None:
        """Remove what stages left, but those of this run and those with one of these keys."""
        for name in sorted(self.own.records):
            stage = Path(name).stem
            if STAGE.fullmatch(name) and self._key(stage) not in {*self._used, *valid}:
                self._withdraw(stage)

    def remove(self, stage: str) -> None:
        """Remove what a stage left, where it left anything."""
        if self._is_record(self._record_of(stage)):
            self._withdraw(stage)

    def key(self, stage: str) -> str:
        """Return the key with which a stage was done; an empty one where it was not."""
        return self._key(stage) or ""

    def _withdraw(self, stage: str) -> None:
        self.own.withdraw(f"{STAGES}/{stage}.json")
        self.withdrawn.append(stage)

    # Checkpoints: stages whose files lie among the drafts

    def checkpoint(self, stage: str) -> str:
        """Return where the files of a checkpoint go."""
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

"""The folder of a run: a cache of stages by key, and outputs that are written last.

    run/
      run.json                 what the run is, and size and SHA-256 of each output and stage
      documents.csv, ...       outputs, made again from the cache at any time
      cache/STAGE-KEY/         what a stage left; renamed into place when it is complete
      cache/commit.json        outputs that are about to get their names, and the next run.json
      .lock                    held while somebody works here

A stage is complete or not there, and other options have other keys: nothing has to be withdrawn.
Outputs change together: once ``commit.json`` is on the disk, whoever comes next brings the commit
to its end. An output is replaced only where it is as ``run.json`` says; a folder that holds
anything else is refused. ``cache/`` is ours, as ``.git/`` is git's.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import spheremix
from spheremix._files import (
    CACHE,
    LOCK,
    MANIFEST,
    MANIFEST_BYTES,
    RUN,
    RUN_VERSION,
    open_regular,
)
from spheremix.run.folder import archive
from spheremix.run.folder.files import (
    RunError,
    as_json,
    digest,
    exclusive,
    is_plain,
    naming,
    read_json,
    replacing,
    require,
    sync,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    Entry = dict[str, Any]

T = TypeVar("T")

COMMIT, FIGURES, DRAFT = "commit.json", "figures", "tmp-"
STAGE = re.compile(r"[a-z]+(-\d+)?-[0-9a-f]{16}")
OURS = re.compile(rf"{STAGE.pattern}|{re.escape(COMMIT)}|{DRAFT}.*|\.{re.escape(COMMIT)}.*\.part")
OUTPUT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}(/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99})?")
PART = re.compile(rf"\.{re.escape(MANIFEST)}\.[0-9a-f]{{16}}\.part")
BLOCK = 512  # bytes of a file that a disk writes at once
NAMED = 3  # files of others that a message names


def require_version(folder: Path, info: Mapping[str, Any]) -> None:
    """Refuse a run of another version of the format, by its ``run.json``."""
    if info.get("version") == RUN_VERSION:
        return
    versions = info.get("versions")
    known = versions.get("spheremix") if isinstance(versions, dict) else None
    raise RunError(
        "{file}: written by {writer}, and spheremix {here} cannot read it",
        remedies=("explore the documents again into another folder", "read it with {writer}"),
        file=folder / MANIFEST,
        writer=f"spheremix {str(known)[:20]}" if known else "another version of spheremix",
        here=spheremix.__version__,
    )


def key_of(*parts: Any) -> str:
    """Return the key of what a stage depends on, in plain values."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


class Store:
    """The stages and outputs of a run in its folder; without a folder, nothing is kept.

    Parameters
    ----------
    folder : path or None
        Made where it is missing.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.used: dict[str, str] = {}  # stages of this run, with their checksums
        self.reused: list[str] = []
        self.listed: dict[str, str] = {}  # stages of the run that is there, with theirs
        self.finished = ""  # what a killed process had begun to commit, and this one ended

    @property
    def place(self) -> Path:
        """The folder, where there is one."""
        if self.folder is None:
            raise RunError("This run has no folder: save it with run.save(folder).")
        return self.folder

    @property
    def cache(self) -> Path:
        """Where the stages are."""
        return self.place / CACHE

    # Whose folder it is

    @contextmanager
    def locked(self, *, reading: bool = False) -> Iterator[None]:
        """Keep others out; refuse a folder with other files; end what a killed process began.

        Who is only reading leaves the record of a commit: whoever gives the same command again
        learns from it that the command is done.
        """
        from filelock import FileLock, Timeout  # noqa: PLC0415 (readers do not need it)

        if self.folder is None:
            yield
            return
        self.refuse_others()
        made = not self.folder.exists()
        lock = FileLock(self.folder / LOCK, timeout=0, is_singleton=False)
        with naming(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                lock.acquire()
            except Timeout:
                raise RunError(
                    f"{self.folder}: another spheremix is at work in this folder."
                ) from None
            except (OSError, NotImplementedError) as error:
                raise RunError(
                    "{folder}: cannot be locked ({error}): this file system may have no locks",
                    remedies=("choose a folder on another one with {out}",),
                    folder=self.folder,
                    error=getattr(error, "strerror", None) or error,
                ) from None
        try:
            with naming(self.folder):
                self.finish_commit()
                if not reading:
                    self._forget_commit()
                    self._remove_drafts()
            self.listed = _stages(self.info())
            yield
            if not reading:
                self._forget_commit()
        finally:
            if self.cache.is_dir() and not any(self.cache.iterdir()):
                self.cache.rmdir()
            unused = made and not self.cache.exists() and not (self.folder / MANIFEST).exists()
            lock.release()
            if unused:
                with suppress(OSError):  # there is something in it
                    (self.folder / LOCK).unlink(missing_ok=True)
                    self.folder.rmdir()

    def refuse_others(self) -> None:
        """Refuse a folder in which anything is not ours."""
        folder = self.place
        if not folder.exists() and not folder.is_symlink():
            return
        if not folder.is_dir():
            raise RunError(
                "{folder}: there is a file of this name",
                remedies=("choose another with {out}",),
                folder=folder,
            )
        info = self.info()
        if info is not None:
            require_version(folder, info)
        found = list(itertools.islice(self._others(), NAMED + 1))
        if found:
            more = " and more" if len(found) > NAMED else ""
            raise RunError(
                "{folder}: holds other files than those of a run: {names}",
                remedies=("choose another place with {out}", "move them away"),
                folder=folder,
                names=f"{', '.join(found[:NAMED])}{more}",
            )

    def refuse_run(self) -> None:
        """Refuse a folder that holds a run, finished or not."""
        if self.info() is not None or self.cache.exists():
            raise RunError(
                f"{self.folder}: there is a run already: choose another folder or remove it."
            )

    def _others(self) -> Iterator[str]:
        """List what is not ours; links are listed and not followed."""
        info = self.info()
        known = {LOCK, *_entries(info), *_entries(self._pending().get("run"))}
        known |= set() if info is None else {MANIFEST}
        ours = {CACHE} if info is None else {CACHE, FIGURES}
        for base, folders, names in os.walk(self.place, onerror=_refuse):
            inside = Path(base).relative_to(self.place)
            if inside == Path():
                apart = [one for one in folders if one in ours and not Path(base, one).is_symlink()]
                folders[:] = [one for one in folders if one not in apart]
                if CACHE in apart:
                    listed = sorted(one.name for one in self.cache.iterdir())
                    yield from (f"{CACHE}/{one}" for one in listed if not OURS.fullmatch(one))
            links = [one for one in folders if Path(base, one).is_symlink()]
            for one in sorted([*names, *links]):
                name = (inside / one).as_posix()
                if not PART.fullmatch(name) and (
                    name not in known or not is_plain(self.place / name)
                ):
                    yield name

    def info(self) -> dict[str, Any] | None:
        """Return what ``run.json`` says, if there is one of ours; None for any other file."""
        path = self.place / MANIFEST
        if not is_plain(path):
            return None
        try:
            found = read_json(path)
        except RunError:
            return None
        return found if found.get("format") == RUN else None

    # Stages

    def stage(self, name: str, key: str, kind: Any, make: Callable[[], T]) -> T:
        """Return what a stage left; make it where it was not done so, or cannot be read."""
        if self.folder is None:
            return make()
        found: T | None = self.stored(name, key, kind)
        if found is not None:
            self.reused.append(name)
            return found
        value = make()
        self.put(name, key, kind, value)
        return value

    def has(self, name: str, key: str) -> bool:
        """Return whether a stage was done with this key."""
        return self.folder is not None and (self.cache / f"{name}-{key}").is_dir()

    def stored(self, name: str, key: str, kind: Any) -> Any:
        """Return what a stage left; None where it was not done so, or is damaged."""
        if self.folder is None:
            return None
        called = f"{name}-{key}"
        if not (self.cache / called).is_dir():
            return None
        try:
            value, checksum = self.read(called, kind), self.checksum(called)
        except RunError:  # the disk was not done, or another spheremix wrote it
            return None
        if self.listed.get(called, checksum) != checksum:
            return None
        self.used[called] = checksum
        return value

    def put(self, name: str, key: str, kind: Any, value: Any) -> None:
        """Write what a stage left, in place of what is there."""
        called = f"{name}-{key}"
        self._make(called, lambda draft: archive.write(draft, kind, value, stage=called))

    def take(self, other: Store, called: str) -> None:
        """Copy a stage of another run."""

        def copy(draft: Path) -> None:
            for path in sorted((other.cache / called).iterdir()):
                with open_regular(path) as source, exclusive(draft / path.name) as file:
                    shutil.copyfileobj(source, file, 2**20)

        self._make(called, copy)

    def _make(self, called: str, fill: Callable[[Path], None]) -> None:
        """Fill a stage, and name it when it is complete, in place of what is there."""
        place, draft, before = (
            self.cache / f"{begins}{called}" for begins in ("", DRAFT, f"{DRAFT}before-")
        )
        with naming(place):
            _remove(draft)
            draft.mkdir(parents=True)
            try:
                fill(draft)
            except BaseException:
                _remove(draft)  # a disk that is full has no room for it
                raise
            sync(draft)
            _remove(before)
            if place.exists():
                place.rename(before)
            draft.rename(place)
            sync(self.cache)
            _remove(before)
        self.used[called] = self.checksum(called)

    def drop(self, name: str, key: str) -> None:
        """Remove what a stage left."""
        called = f"{name}-{key}"
        self.used.pop(called, None)
        if self.folder is not None:
            _remove(self.cache / called)

    def read(self, called: str, kind: Any) -> Any:
        """Read what a stage left, by the name of its folder; it is as its record says."""
        return archive.read(self._stage(called), kind)

    def _stage(self, called: str) -> Path:
        place = self.cache / called
        there = STAGE.fullmatch(called) and place.is_dir() and not place.is_symlink()
        require(there, "there is no such stage", place)
        return place

    def checksum(self, called: str) -> str:
        """Return the SHA-256 of all that a stage left."""
        total = hashlib.sha256()
        for path in sorted(self._stage(called).iterdir()):
            if not is_plain(path):
                raise RunError(f"{path}: is a link, or not a file: a run has none.")
            total.update(f"{path.name} {path.stat().st_size} {digest(path)}\n".encode())
        return total.hexdigest()

    # Outputs

    def commit(
        self, info: dict[str, Any], outputs: Mapping[str, Iterable[bytes]], what: str = ""
    ) -> None:
        """Write the outputs, then ``run.json``: all of them, or none."""
        if self.folder is None:
            return
        known = _entries(self.info())
        self.refuse_changed({*known, *outputs})
        entries: dict[str, Entry] = {}
        drafts: dict[str, str] = {}
        with naming(self.place):
            self.cache.mkdir(exist_ok=True)
            for i, (name, parts) in enumerate(outputs.items()):
                draft = self.cache / f"{DRAFT}out-{i}"
                _remove(draft)
                with exclusive(draft) as file:
                    for part in parts:
                        file.write(part)
                entries[name] = {"bytes": draft.stat().st_size, "sha256": digest(draft)}
                drafts[name] = draft.name
            gone = sorted(set(known) - set(entries))
            run = {**info, "outputs": entries, "stages": dict(sorted(self.used.items()))}
            pending = {"run": run, "drafts": drafts, "remove": gone, "what": what}
            data = as_json(pending)
            if len(data) > MANIFEST_BYTES:
                raise RunError(
                    f"{self.place / MANIFEST}: with all names, notes and edits it would have "
                    f"{len(data):,} bytes, and {MANIFEST_BYTES:,} can be read: shorten the notes."
                )
            with replacing(self.cache / COMMIT) as file:
                file.write(data)
            self.finish_commit()
            self.finished = ""

    def refuse_changed(self, names: Iterable[str] | None = None) -> None:
        """Refuse to replace outputs that somebody has changed since they were written."""
        known = _entries(self.info())
        for name in known if names is None else names:
            path = self.place / name
            if not os.path.lexists(path):
                continue
            if not is_plain(path):
                raise RunError(f"{path}: is a link, or not a file: move it away.")
            if not self.is_whole(name, known) and not _is_damaged(path):
                raise RunError(
                    "{path}: changed since spheremix wrote it",
                    remedies=("move it away", "choose another folder with {out}"),
                    path=path,
                )

    def is_whole(self, name: str, known: Mapping[str, Entry]) -> bool:
        """Return whether an output is as a record says."""
        path, entry = self.place / name, known.get(name)
        if entry is None or not is_plain(path):
            return False
        return bool(path.stat().st_size == entry["bytes"]) and digest(path) == entry["sha256"]

    def missing(self) -> list[str]:
        """List the outputs that are not there, or damaged as by a loss of power."""
        known = _entries(self.info())
        self.refuse_changed(known)
        return [name for name in known if not self.is_whole(name, known)]

    def finish_commit(self) -> None:
        """Bring a commit to its end that was begun, by whomever."""
        pending = self._pending()
        if not pending:
            return
        run, self.finished = pending["run"], str(pending.get("what", ""))
        left = {name: self.cache / draft for name, draft in pending["drafts"].items()}
        left = {name: draft for name, draft in left.items() if is_plain(draft)}
        self.refuse_changed([*left, *pending["remove"]])
        for name, draft in left.items():
            (self.place / name).parent.mkdir(exist_ok=True)
            draft.replace(self.place / name)
        for name in pending["remove"]:
            (self.place / name).unlink(missing_ok=True)
        for folder in {(self.place / name).parent for name in pending["drafts"]}:
            sync(folder)
        with replacing(self.place / MANIFEST) as file:
            file.write(as_json(run))

    def _forget_commit(self) -> None:
        """Remove the record of a commit: the command that made it is done."""
        if self._pending():
            (self.cache / COMMIT).unlink()
            sync(self.cache)

    def is_committing(self) -> bool:
        """Return whether a commit was begun and not ended."""
        pending = self._pending()
        if not pending:
            return False
        drafts = any(is_plain(self.cache / draft) for draft in pending["drafts"].values())
        path = self.place / MANIFEST
        return drafts or not is_plain(path) or path.read_bytes() != as_json(pending["run"])

    def _pending(self) -> dict[str, Any]:
        """Read a commit that was begun and not ended; nothing where there is none of ours."""
        path = self.cache / COMMIT
        if self.cache.is_symlink() or not is_plain(path):
            return {}
        try:
            found = read_json(path)
        except RunError:
            return {}
        run, drafts, gone = (found.get(name) for name in ("run", "drafts", "remove"))
        if not (isinstance(run, dict) and isinstance(drafts, dict) and isinstance(gone, list)):
            return {}
        named = all(isinstance(one, str) and OUTPUT.fullmatch(one) for one in (*drafts, *gone))
        ours = all(re.fullmatch(rf"{DRAFT}out-\d+", str(one)) for one in drafts.values())
        return found if named and ours else {}

    def prune(self, keep: Iterable[str]) -> None:
        """Remove the stages that neither this run nor the one before it uses."""
        if self.folder is None:
            return
        wanted = {*self.used, *keep, COMMIT}
        for path in sorted(self.cache.iterdir()):
            if path.name not in wanted:
                with suppress(OSError):  # where a file is still mapped, as on Windows
                    _remove(path)

    def _remove_drafts(self) -> None:
        """Remove what a killed process was writing."""
        for pattern in (f"{CACHE}/{DRAFT}*", f".{MANIFEST}.*.part", f"{CACHE}/.{COMMIT}.*.part"):
            for path in self.place.glob(pattern):
                _remove(path)

    def check(self) -> list[str]:
        """List what differs from the checksums of the run, in sentences."""
        info = self.info() or {}
        known, said = _entries(info), []
        for name in sorted(known):
            if not os.path.lexists(self.place / name):
                said.append(f"{name}: missing.")
            elif not self.is_whole(name, known):
                said.append(f"{name}: changed or damaged since it was written.")
        for called, checksum in sorted(_stages(info).items()):
            try:
                same = self.checksum(called) == checksum
            except (OSError, RunError):
                same = False
            if not same:
                said.append(f"{CACHE}/{called}: missing or damaged.")
        return said


def _entries(info: Any) -> dict[str, Entry]:
    """Return the outputs that a record lists, by names that outputs have."""
    listed = info.get("outputs") if isinstance(info, dict) else None
    return {
        name: entry
        for name, entry in (listed.items() if isinstance(listed, dict) else ())
        if OUTPUT.fullmatch(name) and isinstance(entry, dict) and {"bytes", "sha256"} <= {*entry}
    }


def _stages(info: Any) -> dict[str, str]:
    """Return the stages that a record lists, with their checksums."""
    listed = info.get("stages") if isinstance(info, dict) else None
    pairs = listed.items() if isinstance(listed, dict) else ()
    return {name: str(checksum) for name, checksum in pairs if STAGE.fullmatch(name)}


def _is_damaged(path: Path) -> bool:
    """Return whether a file is empty or has a block of zeros, as a loss of power leaves it."""
    about = path.stat()
    if about.st_nlink > 1:  # somebody else has it, too
        return False
    zeros = bytes(min(BLOCK, about.st_size))
    with open_regular(path) as file:
        parts = iter(lambda: file.read(2**11 * BLOCK), b"")
        return not zeros or any(zeros in part for part in parts)


def _remove(path: Path) -> None:
    """Remove a file or a folder of ours; a link is removed and not followed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _refuse(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise RunError(f"{error.filename}: cannot be read: {error.strerror}.")

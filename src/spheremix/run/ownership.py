"""Which files of a folder are ours, and nothing removed or replaced that is not.

A file is ours when a record of ours lists it with its size and checksum and it is a regular file
with these. Records are ours by what they say they are; drafts by the token in their name, which
nobody could guess and the lock of the folder states.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spheremix._files import MANIFEST, open_regular
from spheremix.run.files import DERIVED, STAGES
from spheremix.run.layout import (
    CHECKPOINT,
    COMMAND,
    DRAFT,
    LOCK,
    PLACING,
    PROGRESS,
    REPLACED,
    STAGE,
    format_of,
    in_layout,
    is_on_the_way,
    proof,
)
from spheremix.run.store import (
    RunError,
    as_json,
    digest,
    exclusive,
    inside,
    is_plain,
    naming,
    read_json,
    settle,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    Entry = dict[str, Any]

NAMED = 3  # files of others that a message names


class Ownership:
    """Files of a folder that are ours.

    Parameters
    ----------
    folder : path
        Of a run.
    token : str
        In the name of the folder of our drafts; "" where nobody has one.
    """

    def __init__(self, folder: Path, token: str = "") -> None:
        self.folder = folder
        self.progress = folder / PROGRESS
        self.workshop = self.progress / token if token else None
        self.records: set[str] = set()
        self._known: dict[str, set[tuple[int, str]]] = {}
        self._proven: dict[str, tuple[int, ...]] = {}
        self._placing: dict[str, Entry] = {}
        self._staged: dict[str, set[str]] = {}  # by record of a stage, the files that it lists
        self._numbers = itertools.count()
        for name in (MANIFEST, DERIVED, *self._in(PROGRESS), *self._in(STAGES)):
            content = self._record(name)
            if content is not None:
                self.records.add(name)
                self._learn(content.get("files"))
                self._list(name, content)
                if name == PLACING:
                    self._placing = dict(content["files"])

    def _in(self, name: str) -> list[str]:
        """List what may be records in a folder of the run."""
        place = self.folder / name
        found = [] if place.is_symlink() else sorted(place.glob("*.json"))
        return [f"{name}/{path.name}" for path in found]

    def _list(self, name: str, content: dict[str, Any]) -> None:
        """Remember the files of a stage."""
        if STAGE.fullmatch(name):
            self._staged[name] = set(content.get("files", {}))

    def _record(self, name: str) -> dict[str, Any] | None:
        """Read a record that is ours; None for any other file."""
        kind = format_of(name)
        if kind is None or not is_plain(self.folder / name):
            return None
        try:
            content = read_json(self.folder / name)
        except RunError:
            return None
        sound = content.get("format") == kind and isinstance(content.get("files", {}), dict)
        return content if sound and (name != PLACING or "files" in content) else None

    def _learn(self, entries: Any) -> None:
        for name, entry in (entries or {}).items():
            stated = proof(entry)
            if in_layout(name) and stated is not None:
                self._known.setdefault(name, set()).add(stated)

    # Whose is what

    def files(self) -> Iterator[str]:
        """List everything in the folder but folders; links are listed and not followed."""

        def refuse(error: OSError) -> None:
            if not isinstance(error, FileNotFoundError):
                raise RunError(f"{error.filename}: cannot be read: {error.strerror}.")

        for base, folders, names in os.walk(self.folder, onerror=refuse):
            links = [name for name in folders if Path(base, name).is_symlink()]
            for name in sorted([*names, *links]):
                yield Path(base, name).relative_to(self.folder).as_posix()

    def others(self, *, checked: bool) -> Iterator[str]:
        """List the files that are not ours.

        A file with a name of ours counts as ours; with ``checked``, only where its checksum is the
        recorded one.
        """
        return (name for name in self.files() if not self._is_ours(name, checked=checked))

    def _is_ours(self, name: str, *, checked: bool) -> bool:
        path = self.folder / name
        if not is_plain(path):
            return False
        if name in self.records:
            return True
        if self.workshop is not None and path == self.progress / LOCK:
            return True
        if self._is_draft(name):
            return True
        if name not in self._known:
            return False
        return not checked or self._has_checksum(name, path)

    def _is_draft(self, name: str) -> bool:
        """Return whether this is a draft or a checkpoint, by its name."""
        if self.workshop is None or not is_plain(self.folder / name):
            return False
        within = name.removeprefix(f"{PROGRESS}/{self.workshop.name}/")
        if within == name or not (DRAFT.fullmatch(within) or CHECKPOINT.fullmatch(within)):
            return False
        self._proven[name] = _signature(self.folder / name)
        return True

    def _has_checksum(self, name: str, path: Path) -> bool:
        sizes = {size for size, _ in self._known.get(name, ())}
        signature = _signature(path)
        if path.lstat().st_size not in sizes:
            return False
        if (path.lstat().st_size, digest(path)) not in self._known[name]:
            return False
        self._proven[name] = signature
        return True

    def refuse_others(self, *, checked: bool) -> None:
        """Refuse a folder in which anything is not ours."""
        found = list(itertools.islice(self.others(checked=checked), NAMED + 1))
        if found:
            raise self.refusal(found)

    def refusal(self, names: list[str]) -> RunError:
        """Name the first files that are not ours, and say what to do."""
        said = [
            f"{name} (changed since spheremix wrote it)" if name in self._known else name
            for name in names[:NAMED]
        ]
        more = " and more" if len(names) > NAMED else ""
        return RunError(
            "{folder}: holds other files than those of a run: {names}",
            remedies=("choose another place with {out}", "move them away"),
            folder=self.folder,
            names=f"{', '.join(said)}{more}",
        )

    # Removing

    def clear(self, *, keep_command: bool = False) -> None:
        """Remove all that a run left; where anything is not ours, refuse and touch nothing.

        What was recorded of the next command stays if that is asked for.
        """
        self.refuse_others(checked=True)
        self._set_aside_manifest()
        self.remove(self._known)
        self.forget(sorted(self.records - {COMMAND}))
        if not keep_command:
            self.forget([COMMAND])

    def _set_aside_manifest(self) -> None:
        """Make the folder no run any more, before anything else of the run goes.

        The list of its files stays under another name, so that a process that goes on after a kill
        still knows which files to remove.
        """
        if MANIFEST in self.records:
            (self.folder / MANIFEST).replace(self.folder / REPLACED)
            self.records = {REPLACED, *self.records} - {MANIFEST}

    def clear_what_is_ours(self) -> None:
        """Remove what can be proven ours, and leave what cannot."""
        for _ in self.others(checked=True):
            pass
        self.remove(self._known)
        self.forget([*sorted(self.records - {COMMAND}), COMMAND])

    def retire(self) -> None:
        """Let a run go that another one follows in its folder; what its stages left stays."""
        staged = self.staged()
        names = [name for name in self._known if name not in staged and not is_on_the_way(name)]
        there = [name for name in names if os.path.lexists(self.folder / name)]
        others = [name for name in there if not self._is_ours(name, checked=True)]
        if others:
            raise self.refusal(others)
        self._set_aside_manifest()
        self.remove(names)  # also where a kill has left but their folders
        self.forget([DERIVED, PLACING, REPLACED])

    def staged(self) -> set[str]:
        """Return the files that records of stages list."""
        return set().union(*self._staged.values())

    def withdraw(self, record: str) -> None:
        """Remove the record of a stage, after the files that it lists alone."""
        files = self._staged.pop(record, set()) - self.staged()
        for name in files:
            self._is_ours(name, checked=True)
        self.remove(files)
        self.forget([record])

    def remove(self, names: Iterable[str]) -> None:
        """Remove files that were proven ours and are as they were then."""
        parents: set[Path] = set()
        for name in list(names):
            path = self.folder / name
            proven = self._proven.pop(name, None)
            if proven is not None and is_plain(path) and _signature(path) == proven:
                path.unlink()
            parents.update(path.parents)
        stay = {self.folder, *self.folder.parents, self.progress, self.workshop}
        for parent in sorted(parents - stay, key=lambda path: len(path.parts), reverse=True):
            with contextlib.suppress(OSError):  # something is in it, or it is not there
                parent.rmdir()

    def forget(self, records: Iterable[str]) -> None:
        """Remove records of ours."""
        for name in records:
            if name in self.records and is_plain(self.folder / name):
                (self.folder / name).unlink()
                if STAGE.fullmatch(name):
                    with contextlib.suppress(OSError):  # there are others
                        (self.folder / STAGES).rmdir()
            self.records.discard(name)
            self._staged.pop(name, None)
        if PLACING not in self.records:
            self._placing = {}

    # Writing

    def draft(self) -> Path:
        """Return a name for something that is being written, which nobody else has."""
        if self.workshop is None:
            raise RuntimeError(f"{self.folder}: written to without its lock.")
        return self.workshop / f"{next(self._numbers)}.part"

    def remove_drafts(self, *, checkpoints: bool) -> None:
        """Remove the drafts that a killed process left, and with ``checkpoints`` those too."""
        if self.workshop is None or self.workshop.is_symlink():
            return
        prefix = f"{PROGRESS}/{self.workshop.name}/"
        found = [name for name in self.files() if name.startswith(prefix)]
        kinds = [DRAFT, CHECKPOINT] if checkpoints else [DRAFT]
        self.drop(n for n in found if any(kind.fullmatch(n[len(prefix) :]) for kind in kinds))
        for path in self.workshop.glob("*.part"):
            with contextlib.suppress(OSError):
                path.rmdir()

    def drop(self, names: Iterable[str]) -> None:
        """Remove files among the drafts."""
        self.remove([name for name in names if self._is_draft(name)])

    def intend(self, entries: dict[str, Entry]) -> None:
        """Record files before they get their names: after a kill they are known to be ours."""
        entries = {n: e for n, e in entries.items() if not is_on_the_way(n)}
        self._learn(entries)
        if any(self._placing.get(name) != entry for name, entry in entries.items()):
            self._placing.update(entries)
            self.record(PLACING, {"files": self._placing})

    def place(self, draft: Path, name: str) -> None:
        """Return a draft its name."""
        path = self.check(draft, name)
        with naming(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            draft.replace(path)

    def check(self, draft: Path, name: str) -> Path:
        """Return the place of a draft, where nothing is in the way.

        A file of that name may be replaced where it is ours, or where the draft begins with all of
        its content.
        """
        path = inside(self.folder, name)
        if not in_layout(name):
            raise RuntimeError(f"{name}: not a name that a run writes.")
        if os.path.lexists(path) and not self._may_go(path, name, draft):
            raise self.refusal([name])
        return path

    def _may_go(self, path: Path, name: str, draft: Path) -> bool:
        """Return whether nothing is lost when a draft replaces what has its name."""
        if draft.is_dir():
            return path.is_dir() and not any(path.iterdir())
        if not is_plain(path):
            return False
        return self._is_draft(name) or self._has_checksum(name, path) or _begins(draft, path)

    def record(self, name: str, content: dict[str, Any]) -> None:
        """Write a record of ours; from now on it counts."""
        path = inside(self.folder, name)
        if os.path.lexists(path) and not (name in self.records and is_plain(path)):
            raise self.refusal([name])
        draft = self.draft()
        # This one is written often and read by nobody: in one line it takes a tenth of the time.
        indent = None if name == PLACING else 1
        with naming(path):
            path.parent.mkdir(exist_ok=True)
            with exclusive(draft) as file:
                file.write(as_json({**content, "format": format_of(name)}, indent=indent))
            draft.replace(path)
            settle(path.parent)
        self.records.add(name)
        self._list(name, content)

    def unrecorded(self, listed: Iterable[str]) -> dict[str, Entry]:
        """Return the files that a killed process put in their places and no record lists."""
        left = {name: self._placing[name] for name in self._placing.keys() - set(listed)}
        return {
            name: entry
            for name, entry in sorted(left.items())
            if is_plain(self.folder / name) and self._has_checksum(name, self.folder / name)
        }


def _signature(path: Path) -> tuple[int, ...]:
    found = path.lstat()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _begins(long: Path, short: Path) -> bool:
    """Return whether a file begins with all of another one: one that was cut when power went."""
    with open_regular(long) as whole, open_regular(short) as part:
        while found := part.read(2**20):
            if whole.read(len(found)) != found:
                return False
    return True

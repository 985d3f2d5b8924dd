"""Writes the files of a run: drafts that get their names together, once they are recorded."""

from __future__ import annotations

import gzip
import math
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy

from spheremix.run.store import KINDS, RunError, digest, exclusive, naming, settle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from spheremix.run.ownership import Ownership
    from spheremix.run.store import Entry


class Writer:
    """Writes drafts of files and keeps the entries of a manifest.

    Parameters
    ----------
    own : Ownership
        Of the folder.
    durable : bool, default=True
        Whether to wait for the disk. What can be computed again need not be waited for: its
        checksums tell whether it arrived.
    under : str, default=""
        A folder of the run: the files go there, and the names given back begin with it.
    """

    def __init__(self, own: Ownership, *, durable: bool = True, under: str = "") -> None:
        self.folder = own.folder
        self.durable = durable
        self._prefix = f"{under}/" if under else ""
        self.entries: dict[str, Entry] = {}
        self._own = own
        self._drafts: dict[str, Path] = {}

    def array(self, name: str, values: Any) -> str:
        """Write an array of numbers; give its name back."""
        array = np.asarray(values)
        return self.stream(name, [array], array.dtype, array.shape)

    def stream(
        self, name: str, parts: Iterable[NDArray[Any]], dtype: Any, shape: tuple[int, ...]
    ) -> str:
        """Write an array out of pieces that follow each other; give its name back."""
        name, kind = self._prefix + name, np.dtype(dtype).newbyteorder("<")
        if kind.kind not in KINDS:
            raise RunError(f"{name}: {kind} is not a kind of number that can be stored.")
        total = 0
        with self._writing(name) as file:
            header = {"descr": npy.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
            npy.write_array_header_1_0(file, header)
            for part in parts:
                total += part.size
                file.write(np.ascontiguousarray(part, dtype=kind).data)
            if total != math.prod(shape):
                raise RunError(f"{name}: {total} values for the shape {shape}.")
        self.entries[name].update(shape=list(shape), dtype=kind.str)
        return name

    def text(self, name: str, lines: Iterable[str]) -> str:
        """Write a text file out of lines that have their ends; give its name back."""
        name = self._prefix + name
        with self._writing(name) as file:
            for line in lines:
                file.write(line.encode("utf-8"))
        return name

    def packed(self, name: str, lines: Iterable[str]) -> str:
        """Write a gzipped text file, the same bytes at any time of day; give its name back."""
        name, size = self._prefix + name, 0
        with (
            self._writing(name) as file,
            gzip.GzipFile("", "wb", 6, file, mtime=0) as packing,
        ):
            for line in lines:
                size += packing.write(line.encode("utf-8"))
        self.entries[name]["unpacked"] = size
        return name

    @contextmanager
    def _writing(self, name: str) -> Iterator[IO[bytes]]:
        draft = self._own.draft()
        with naming(self.folder / name), exclusive(draft, durable=self.durable) as file:
            yield file
        self._enter(name, draft)
        self._drafts[name] = draft

    def draft(self) -> Path:
        """Return a name under which somebody else may write a file or a folder."""
        return self._own.draft()

    def take(self, name: str, draft: Path) -> str:
        """Take a file or a folder of files that somebody wrote; give its name back."""
        name = self._prefix + name
        if draft.is_dir():
            for path in sorted(draft.iterdir()):
                self._enter(f"{name}/{path.name}", path)
        else:
            self._enter(name, draft)
        self._drafts[name] = draft
        return name

    def _enter(self, name: str, draft: Path) -> None:
        self.entries[name] = {"bytes": draft.stat().st_size, "sha256": digest(draft)}

    def commit(self, manifest: Path, content: dict[str, Any]) -> None:
        """Return the files their names, and write the record that lists them: now they count."""
        for name, draft in self._drafts.items():  # all of them before the first has its name
            self._own.check(draft, name)
        self._own.intend(self.entries)
        for name, draft in self._drafts.items():
            self._own.place(draft, name)
        if self.durable:
            for folder in {(self.folder / name).parent for name in self._drafts}:
                settle(folder)
        self._drafts.clear()
        record = manifest.relative_to(self.folder).as_posix()
        self._own.record(record, {**content, "files": self.entries})

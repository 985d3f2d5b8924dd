"""Files of a run: written atomically with their checksums, read with every check."""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import math
import os
import re
import secrets
import stat
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy

from spheremix._files import MANIFEST_BYTES, open_regular
from spheremix.errors import Explained, Message

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    Entry = dict[str, Any]

KINDS = "biuf"
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG} if os.name == "posix" else {errno.ENOSPC}
PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


class RunError(Explained, ValueError):
    """A run cannot be read or written: one line that names the file and what to do.

    A text without values and remedies is shown as it is. Otherwise they are those of
    :class:`spheremix.errors.Explained`. Ends of lines become spaces.

    Examples
    --------
    >>> import spheremix as sm
    >>> try:
    ...     sm.load_run("nowhere")
    ... except sm.RunError as error:
    ...     print(type(error).__name__)
    RunError
    """

    def __init__(
        self, text: str | Message, /, *, remedies: tuple[str, ...] = (), **values: Any
    ) -> None:
        if isinstance(text, str):
            if not values and not remedies:
                text, values = "{text}", {"text": text}
            shown = {name: " ".join(str(value).split()) for name, value in values.items()}
            text = Message(text, shown, remedies)
        super().__init__(text)


# Writing


@contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[IO[bytes]]:
    """Write a file that is there completely or not at all; durable: even when the power goes.

    What is written has a name of its own until it is complete, so that two who write the same file
    at once do not meet. A link, a pipe or a folder of that name is refused and left as it is.
    """
    if os.path.lexists(path) and not is_plain(path):
        raise RunError(f"{path}: is a link, or not a file: choose another name.")
    part = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.part")
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with exclusive(part, durable=durable) as file:
            yield file
        part.replace(path)


@contextmanager
def exclusive(path: Path, *, durable: bool = True) -> Iterator[IO[bytes]]:
    """Write a file that nobody else has; it goes where it cannot be finished."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
    except BaseException:
        path.unlink(missing_ok=True)
        raise


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Let what the system says against writing name the file: a full disk does not."""
    try:
        yield
    except OSError as error:
        problem = (error.strerror or str(error)).rstrip(".")
        raise RunError(
            f"{path}: cannot be written: {problem}: make room for it, or choose another place."
            if error.errno in FULL
            else f"{path}: cannot be written: {problem}."
        ) from None


def is_plain(path: Path) -> bool:
    """Return whether this is a regular file, and not a link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def inside(folder: Path, name: Any) -> Path:
    """Return the place of a file of a run; none of the folders between is a link."""
    if not isinstance(name, str) or not all(PART.fullmatch(part) for part in name.split("/")):
        raise RunError(f"{folder}: {str(name)[:60]!r} is not the name of a file of a run.")
    path = folder
    for part in name.split("/"):
        if path != folder and path.is_symlink():
            raise RunError(f"{path}: is a link: a run has none.")
        path = path / part
    if path.is_symlink():
        raise RunError(f"{path}: is a link: a run has none.")
    return path


def settle(folder: Path) -> None:
    """Have the names of a folder written too, where the system can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def as_json(content: dict[str, Any], *, indent: int | None = 1) -> bytes:
    """Return an object as JSON, its keys in order, without NaN; in one line without an indent."""
    text = json.dumps(content, indent=indent, sort_keys=True, allow_nan=False, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def as_edits(path: Path, content: dict[str, Any], *, updating: bool = False) -> bytes:
    """Return a file with edits as JSON; refuse to write what could not be read again.

    An update writes what its documents are known by: of too many of them it is refused.
    """
    data = as_json(content)
    if len(data) > MANIFEST_BYTES:
        raise RunError(
            "{path}: with the groups of all documents it would have {size}, and {limit} can be read"
            if updating
            else "{path}: with all edits it would have {size}, and {limit} can be read",
            remedies=("explore old and new documents together in a folder of their own",)
            if updating
            else (
                "take some edits back with {undo=True} and give them again in one file",
                "explore the documents in another folder with {out}",
            ),
            path=path,
            size=f"{len(data):,} bytes",
            limit=f"{MANIFEST_BYTES:,}",
        )
    return data


def digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# Reading


def read_json(path: Path) -> dict[str, Any]:
    """Read an object, or say what the file is instead."""
    try:
        with open_regular(path) as file:
            found = file.read(MANIFEST_BYTES + 1)
    except FileNotFoundError:
        raise RunError(f"{path}: no such file: this is not a finished run.") from None
    except OSError as error:
        raise RunError(f"{path}: cannot be read: {error.strerror or error}.") from None
    if len(found) > MANIFEST_BYTES:
        raise RunError(f"{path}: larger than {MANIFEST_BYTES >> 20} MiB, which no such file is.")
    try:
        content = json.loads(found.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path}: damaged, not JSON ({error}).") from None
    if not isinstance(content, dict):
        raise RunError(f"{path}: damaged: an object is needed.")
    return content


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no number")


class Reader:
    """Reads the files that a manifest lists, and no others.

    Parameters
    ----------
    folder : path
        Where they lie.
    entries : dict
        Name to size, checksum and, for arrays, shape and dtype.
    """

    def __init__(self, folder: Path, entries: Any) -> None:
        if not isinstance(entries, dict):
            raise RunError(f"{folder}: damaged: the list of files is missing.")
        self.folder = folder
        self.entries: dict[str, Entry] = entries

    def path(self, name: Any) -> Path:
        """Return the place of a file whose size and checksum are those of the manifest."""
        entry = self.entries.get(name) if isinstance(name, str) else None
        if not isinstance(entry, dict):
            raise RunError(f"{self.folder}: damaged: {str(name)[:60]!r} is not among its files.")
        path = inside(self.folder, name)
        try:
            size = path.stat().st_size
            if size != entry.get("bytes"):
                raise RunError(f"{path}: damaged: {size} bytes, not {entry.get('bytes')}.")
            if digest(path) != entry.get("sha256"):
                raise RunError(f"{path}: damaged: its checksum is not the one of the run.")
        except OSError as error:
            raise RunError(f"{path}: cannot be read: {error.strerror or error}.") from None
        return path

    def array(
        self,
        name: Any,
        shape: tuple[int | None, ...],
        kinds: str = "f",
        *,
        mapped: bool = False,
        finite: bool = True,
    ) -> NDArray[Any]:
        """Read an array of a known shape (None for any length) and kind of numbers.

        Nothing is allocated before the sizes agree; a mapped one stays on the disk.
        """
        path = self.path(name)
        with path.open("rb") as file:
            found, fortran, dtype = _header(path, file)
            start = file.tell()
        entry = self.entries[name]
        if list(found) != entry.get("shape") or dtype.str != entry.get("dtype") or fortran:
            raise RunError(f"{path}: damaged: not the array that the run describes.")
        fits = [want is None or want == have for want, have in zip(shape, found, strict=False)]
        if len(found) != len(shape) or not all(fits):
            wanted = ", ".join("any" if want is None else str(want) for want in shape)
            raise RunError(f"{path}: damaged: shape {found}, where ({wanted}) is needed.")
        if dtype.kind not in kinds or dtype.byteorder == ">":
            raise RunError(f"{path}: damaged: values of type {dtype}.")
        if start + math.prod(found) * dtype.itemsize != path.stat().st_size:
            raise RunError(f"{path}: damaged: {found} values do not fill the file.")
        if 0 in found:
            return np.empty(found, dtype)
        mapping = np.memmap(path, dtype, "r", start, found)
        if finite and dtype.kind == "f" and not all(np.isfinite(p).all() for p in blocks(mapping)):
            raise RunError(f"{path}: damaged: values that are not finite.")
        return np.asarray(mapping) if mapped else np.array(mapping)

    def text(self, name: Any) -> str:
        """Read a text file."""
        path = self.path(name)
        try:
            return path.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise RunError(f"{path}: damaged: {error}.") from None

    def packed(self, name: Any) -> Iterator[str]:
        """Read a gzipped text file line after line, no further than it was said to go."""
        path = self.path(name)
        left = self.entries[name].get("unpacked")
        if not isinstance(left, int):
            raise RunError(f"{path}: damaged: nobody knows how long it is.")
        try:
            with gzip.open(path) as file:
                for line in file:
                    left -= len(line)
                    if left < 0:
                        raise EOFError("longer than it was said to be")  # noqa: TRY301
                    yield line.decode("utf-8")
        except (OSError, EOFError, TypeError, UnicodeDecodeError, zlib.error) as error:
            raise RunError(f"{path}: damaged: {error}.") from None


def blocks(array: NDArray[Any], size: int = 2**20) -> Iterator[NDArray[Any]]:
    """Go through the values of an array some at a time."""
    flat = array.reshape(-1)
    for start in range(0, flat.size, size):
        yield flat[start : start + size]


def _header(path: Path, file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    try:
        if npy.read_magic(file) != (1, 0):
            raise RunError(f"{path}: damaged: another version of the NumPy format.")
        return npy.read_array_header_1_0(file)
    except (ValueError, TypeError, OverflowError, SyntaxError, EOFError, RecursionError) as error:
        if isinstance(error, RunError):
            raise
        raise RunError(f"{path}: damaged, or not an array of numbers.") from None

"""Files that are written completely or not at all, and read with every check."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import stat
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

from spheremix._files import MANIFEST_BYTES, is_run, open_regular
from spheremix.errors import Explained, Message
from spheremix.text.corpus import ReadError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG} if os.name == "posix" else {errno.ENOSPC}


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


def require(sound: Any, problem: str, where: object = "") -> None:
    """Refuse what no spheremix has written; who reads a file puts its name before the problem."""
    if not sound:
        raise RunError(f"{where}: damaged: {problem}." if where else f"damaged: {problem}.")


# Writing


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Write a file that is there completely or not at all, even when the power goes.

    What is written has a name of its own until it is complete, so that two who write the same file
    at once do not meet. A link, a pipe or a folder of that name is refused and left as it is.
    """
    if os.path.lexists(path) and not is_plain(path):
        raise RunError(f"{path}: is a link, or not a file: choose another name.")
    part = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.part")
    with naming(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with exclusive(part) as file:
            yield file
        part.replace(path)
        sync(path.parent)


@contextmanager
def exclusive(path: Path) -> Iterator[IO[bytes]]:
    """Write a file that nobody else has, to the disk; it goes where it cannot be finished."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags, 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
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


def sync(folder: Path) -> None:
    """Have the names in a folder written too, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def is_path(value: Any) -> bool:
    """Return whether a value names a file."""
    return isinstance(value, str) or hasattr(value, "__fspath__")


def is_plain(path: Path) -> bool:
    """Return whether this is a regular file, and not a link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def as_json(content: Any) -> bytes:
    """Return an object as JSON, its keys in order."""
    text = json.dumps(content, indent=1, sort_keys=True, allow_nan=False, ensure_ascii=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


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
        content = json.loads(found.decode("utf-8-sig"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path}: damaged, not JSON ({error}).") from None
    if not isinstance(content, dict):
        raise RunError(f"{path}: damaged: an object is needed.")
    return content


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no number")


# Files that a command was told to write


def check_output(path: Path, example: str, *, force: bool, inputs: tuple[Path, ...] = ()) -> None:
    """Refuse inputs that are missing, then to write a file that must not go, before all the work.

    What is there is replaced with ``force`` alone, and never where it is a link or another thing
    that is not a file, one of the files that are read, or lies in the folder of a run.
    """
    for other in inputs:
        if not other.exists():
            raise ReadError.at(other, "there is no such file or folder.")
    if path.is_dir():
        raise RunError(f"{path}: is a folder: name a file in it, as {path / example}.")
    if not os.path.lexists(path):
        return
    if not is_plain(path):
        raise _refusal(path, "is a link, or not a file")
    if not force:
        raise _refusal(path, "there already", "replace it with {force=True}")
    if any(other.samefile(path) for other in inputs):
        raise _refusal(path, "is read by this command")
    inside = next((folder for folder in path.resolve().parents if is_run(folder)), None)
    if inside is not None:
        raise _refusal(path, f"is a file of the run in {inside}")


def _refusal(path: Path, problem: str, *remedies: str) -> RunError:
    """Say why a file is not written, and what can be done."""
    another = "choose another with {out}"
    values = {"path": path, "problem": problem}
    return RunError("{path}: {problem}", remedies=(another, *remedies), **values)

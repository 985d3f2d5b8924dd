"""Bytes and lines out of files, with errors that say where and what to do."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, cast

from spheremix.text.corpus import ReadError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

UTF16 = (b"\xff\xfe", b"\xfe\xff")
MARK = b"\xef\xbb\xbf"  # that some programs put before UTF-8


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn the trouble of reading a file into one line that names it."""
    try:
        yield
    except FileNotFoundError:
        raise ReadError.at(path, "there is no such file or folder.") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ReadError.at(
            path, "damaged or cut gzip file ({error}): copy or download it again.", error=error
        ) from None
    except OSError as error:
        raise ReadError.at(path, "cannot be read: {why}.", why=error.strerror or error) from None


def checksum(path: Path) -> str:
    """Give the SHA-256 of a file as it lies there."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_bytes(path: Path) -> IO[bytes]:
    """Open a file, gzipped or not: its first bytes tell."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return cast("IO[bytes]", gzip.open(path)) if packed else path.open("rb")


def lines(path: Path) -> Iterator[str]:
    r"""Decode line after line, with the ends of lines; only "\n" ends one."""
    offset = 0
    with open_bytes(path) as file:
        for number, line in enumerate(file, 1):
            yield decode(path, line, number, offset)
            offset += len(line)


def decode(path: Path, content: bytes, line: int = 1, offset: int = 0) -> str:
    """Decode UTF-8, with or without its mark, or name the byte that is not."""
    if offset == 0 and content.startswith(UTF16):
        raise ReadError.at(path, "the encoding is UTF-16: save it as UTF-8.", "byte 0")
    mark = len(MARK) if offset == 0 and content.startswith(MARK) else 0
    try:
        return content[mark:].decode("utf-8") if mark else content.decode("utf-8")
    except UnicodeDecodeError as error:
        start = mark + error.start
        line += content.count(b"\n", 0, start)
        raise ReadError.at(
            path,
            "byte {byte} at offset {offset} is not UTF-8: save the file as UTF-8 (a file of "
            "Windows: iconv -f WINDOWS-1252 -t UTF-8).",
            f"line {line}",
            byte=f"0x{content[start]:02x}",
            offset=offset + start,
        ) from None

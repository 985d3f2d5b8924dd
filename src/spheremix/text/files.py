"""Bytes and lines out of files, with errors that say where and what to do."""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from contextlib import contextmanager
from io import BufferedReader, RawIOBase
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from spheremix._files import open_regular
from spheremix.text.corpus import ReadError, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Marks of encodings that are not read; that of UTF-32 begins with that of UTF-16.
MARKS = {
    b"\xff\xfe\0\0": "UTF-32",
    b"\0\0\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
EXPANSION = 200  # times its size that a gzipped text has at most: gzip itself stops at 1,032
LEAST_UNPACKED = 2**26  # bytes that are read in any case
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
    """Return the SHA-256 of a file as it lies there."""
    with open_regular(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_bytes(path: Path) -> BufferedReader:
    """Open a file, gzipped or not: its first bytes tell."""
    file = open_regular(path)
    packed = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    return BufferedReader(_Unpacked(path, file), 2**20) if packed else file


class _Unpacked(RawIOBase):
    """The content of a gzipped file, which ends where it is more than any text would be."""

    def __init__(self, path: Path, packed: BufferedReader) -> None:
        self._path, self._packed = path, packed
        self._file = gzip.GzipFile(fileobj=packed, mode="rb")
        self._left = max(LEAST_UNPACKED, EXPANSION * os.fstat(packed.fileno()).st_size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n = self._file.readinto(buffer)
        self._left -= n
        if self._left < 0:
            raise ReadError.at(
                self._path,
                f"unpacks to more than {EXPANSION} times its size, which no text does: if it is "
                "meant, unpack it first (gunzip).",
            )
        return n

    def close(self) -> None:
        self._packed.close()
        super().close()


def content_of(path: Path) -> bytes:
    """Read a file, gzipped or not, to its end."""
    with open_bytes(path) as file:
        return file.read()


def check_unpacked(path: Path) -> None:
    """Refuse a gzipped file that others would unpack without looking."""
    with open_bytes(path) as file:
        if isinstance(file.raw, _Unpacked):
            while file.read(2**20):
                pass


@contextmanager
def archive(path: Path) -> Iterator[ZipFile]:
    """Open a zip archive; damage is said in one line that names the file."""
    try:
        with open_regular(path) as file, ZipFile(file) as found:
            yield found
    except ReadError:
        raise
    except (BadZipFile, EOFError, NotImplementedError, RuntimeError, ValueError, zlib.error) as why:
        problem = shown(f"{type(why).__name__}: {why}")
        raise ReadError.at(
            path, "damaged, or not such a file ({problem}).", problem=problem
        ) from None


def lines(path: Path) -> Iterator[str]:
    r"""Decode line after line, with the ends of lines; only "\n" ends one."""
    offset = 0
    with open_bytes(path) as file:
        for number, line in enumerate(file, 1):
            yield decode(path, line, number, offset)
            offset += len(line)


def decode(path: Path, content: bytes, line: int = 1, offset: int = 0) -> str:
    """Decode UTF-8, with or without its mark, or name the byte that is not."""
    other = [name for mark, name in MARKS.items() if offset == 0 and content.startswith(mark)]
    if other:
        raise ReadError.at(
            path, "the encoding is {name}: save it as UTF-8.", "byte 0", name=other[0]
        )
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

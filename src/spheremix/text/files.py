"""Bytes and lines out of files, with errors that say where and what to do."""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import zlib
from codecs import getincrementaldecoder
from contextlib import contextmanager
from io import BufferedReader, RawIOBase, TextIOWrapper
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

import numpy as np

from spheremix._files import open_regular
from spheremix.text.corpus import ReadError, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
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
UTF8 = "utf-8"
# Bytes of Windows-1252: none, and letters and signs that texts hardly have.
UNUSED = (0x00, 0x81, 0x8D, 0x8F, 0x90, 0x9D)
ODD = (0x83, 0x86, 0x87, 0x88, 0x8A, 0x8E, 0x98, 0x9A, 0x9E, 0x9F, 0xD7, 0xF7)
TWO_BYTES = re.compile(rb"[\xc3-\xdf][\x80-\xbf]")  # a letter with an accent in UTF-8


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


def lines(path: Path, encoding: str = UTF8) -> Iterator[str]:
    r"""Decode line after line, with the ends of lines; only "\n" ends one."""
    if encoding != UTF8:
        with TextIOWrapper(open_bytes(path), encoding=encoding, newline="\n") as text:
            try:
                yield from text
            except UnicodeDecodeError as error:
                raise ReadError.at(path, "damaged text ({error}).", error=error) from None
        return
    offset = 0
    with open_bytes(path) as file:
        for number, line in enumerate(file, 1):
            yield decode(path, line, number, offset)
            offset += len(line)


def encoding_of(path: Path) -> str:
    """Return the encoding of a text, as far as it shows: UTF-8, UTF-16, or Windows-1252.

    What is none of them counts as UTF-8: reading it names the byte that is wrong.
    """
    with open_bytes(path) as file:
        if _mark(file.peek(4)[:4]) == "UTF-16":
            return "utf-16"
        decoder = getincrementaldecoder(UTF8)()
        try:
            while content := file.read(2**20):
                decoder.decode(content)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            file.seek(0)
            marked = file.peek(len(MARK)).startswith(MARK)
            western = not marked and is_western(iter(lambda: file.read(2**20), b""))
            return "cp1252" if western else UTF8
    return UTF8


def is_western(parts: Iterable[bytes]) -> bool:
    """Tell whether bytes that are not UTF-8 look like Windows-1252, as programs of Windows write.

    Letters with accents are some of many there. In other code pages such bytes are most letters,
    or are signs in Windows-1252; where accents of UTF-8 are among them, a few bytes are wrong.
    """
    counts, pairs = np.zeros(256, dtype=np.int64), 0
    for part in parts:
        counts += np.bincount(np.frombuffer(part, np.uint8), minlength=256)
        pairs += len(TWO_BYTES.findall(part))
    plain = counts[65:91].sum() + counts[97:123].sum()
    accents = counts[0xC0:].sum()
    odd = counts[list(ODD)].sum()
    return bool(
        not counts[list(UNUSED)].any()
        and odd <= accents / 10
        and pairs <= accents / 10
        and accents <= plain
    )


def decode_text(path: Path, content: bytes) -> tuple[str, str]:
    """Decode a whole text; return its encoding too."""
    if _mark(content) == "UTF-16":
        try:
            return content.decode("utf-16"), "utf-16"
        except UnicodeDecodeError as error:
            raise ReadError.at(path, "damaged text ({error}).", error=error) from None
    try:
        return decode(path, content), UTF8
    except ReadError:
        if content.startswith(MARK) or not is_western([content]):
            raise
    return content.decode("cp1252"), "cp1252"


def _mark(content: bytes) -> str | None:
    return next((name for mark, name in MARKS.items() if content.startswith(mark)), None)


def decode(path: Path, content: bytes, line: int = 1, offset: int = 0) -> str:
    """Decode UTF-8, with or without its mark, or name the byte that is not."""
    if other := _mark(content) if offset == 0 else None:
        raise ReadError.at(path, "the encoding is {name}: save it as UTF-8.", "byte 0", name=other)
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

"""Known classes as JSON and arrays, and back: the same bits, and nothing in a file is executed.

What is read is made by the type that the reader declares, never by a name in the file. Every value
is checked against the type of its field, and every array against its declared shape and type before
memory is taken for it. A class that changes gets another ``archive_version``: what an older
spheremix wrote is then refused in one sentence.

Large arrays are files of their own, which are mapped and not read; the others are packed together.
"""

from __future__ import annotations

import dataclasses
import functools
import gzip
import io
import json
import math
import re
import types
import typing
import zipfile
import zlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Union

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy import sparse

from spheremix._files import open_regular
from spheremix.run.folder.files import RunError, exclusive, require

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")
Arrays = dict[str, Any]

CONTENT, PACKED = "content.json.gz", "arrays.npz"
LARGE = 2**25  # bytes from which an array is a file of its own
MOST = 2**30  # bytes of the JSON of a stage: beyond it, somebody wants memory
KINDS = "biuf"
LARGEST = 2**62  # no count of a run is larger, and NumPy can hold them all
NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
RESERVED = {"array", "csr", "dict"}  # keys by which arrays are told from dictionaries
PLAIN = frozenset({str, int, bool, type(None)})  # types of values that JSON says as they are
NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")


class Codec(NamedTuple):
    """How a class that is no dataclass is stored: as a dataclass that has its state."""

    state: type
    dump: Callable[[Any], Any]
    load: Callable[[Any], Any]


CODECS: dict[type, Codec] = {}
# Names in annotations that modules import for type checkers alone.
NAMES: dict[str, Any] = {
    "NDArray": NDArray,
    "Array": NDArray[np.float64],
    "Ids": NDArray[np.intp],
}


def about(meaning: str, **default: Any) -> Any:
    """Declare a field together with what it means."""
    return dataclasses.field(metadata={"meaning": meaning}, **default)


def kept_apart(default: Any = None) -> Any:
    """Declare a field that is not stored with the others."""
    return dataclasses.field(default=default, metadata={"stored": False})


# Writing


def encode(value: Any, arrays: Arrays | None = None, name: str = "") -> Any:  # noqa: PLR0911
    """Return a value as JSON can say it; arrays are put aside under the names of their fields."""
    codec = CODECS.get(type(value))
    if codec is not None:
        return encode(codec.dump(value), arrays, name)
    if dataclasses.is_dataclass(value):
        return {
            one.name: encode(getattr(value, one.name), arrays, f"{name}.{one.name}".strip("."))
            for one in _fields(value)
        }
    if isinstance(value, Mapping):
        plain = {
            str(key): one if type(one) in PLAIN else encode(one, arrays, f"{name}.{key}")
            for key, one in value.items()
        }
        return {"dict": plain} if RESERVED & plain.keys() else plain
    if isinstance(value, list | tuple):
        return [
            one if type(one) in PLAIN else encode(one, arrays, f"{name}.{i}")
            for i, one in enumerate(value)
        ]
    if sparse.issparse(value):
        rows = typing.cast("Any", value).tocsr()
        rows = rows if rows.has_sorted_indices else rows.sorted_indices()
        parts = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr}
        return {
            "csr": [int(size) for size in rows.shape],
            **{part: encode(one, arrays, f"{name}.{part}") for part, one in parts.items()},
        }
    if isinstance(value, np.ndarray):
        if arrays is None or value.dtype.kind not in KINDS:
            raise TypeError(f"{name}: an array of {value.dtype} cannot be stored here.")
        arrays[name] = value
        return {"array": name}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value


def _fields(value: Any) -> list[dataclasses.Field[Any]]:
    return [one for one in dataclasses.fields(value) if one.metadata.get("stored", True)]


def versions_of(kind: Any) -> dict[str, int]:
    """Return the versions of all dataclasses that a type is made of."""
    found: dict[str, int] = {}
    _collect(kind, found)
    return found


def _collect(kind: Any, found: dict[str, int]) -> None:
    kind = CODECS[kind].state if isinstance(kind, type) and kind in CODECS else kind
    for inner in typing.get_args(kind):
        _collect(inner, found)
    whole: Any = typing.get_origin(kind) or kind
    name = getattr(whole, "__name__", "")
    if dataclasses.is_dataclass(whole) and name not in found:
        found[name] = getattr(whole, "archive_version", 1)
        hints = _hints(kind)
        for one in _fields(whole):
            _collect(hints[one.name], found)


def write(folder: Path, kind: Any, value: Any, **beside: Any) -> None:
    """Write a value into files of a folder."""
    arrays: Arrays = {}
    content = {
        **beside,
        "versions": versions_of(kind),
        "content": encode(value, arrays),
        "arrays": {name: [list(a.shape), _little(a).str] for name, a in arrays.items()},
    }
    large = {name: a for name, a in arrays.items() if a.nbytes >= LARGE}
    for i, (name, array) in enumerate(large.items()):
        with exclusive(folder / f"{i}.npy") as file:
            _write_array(file, array)
        content["arrays"][name].append(f"{i}.npy")
    small = {name: a for name, a in arrays.items() if name not in large}
    if small:
        with exclusive(folder / PACKED) as file, zipfile.ZipFile(file, "w") as packing:
            for name, array in small.items():
                entry = zipfile.ZipInfo(f"{name}.npy")  # with no time of day
                entry.compress_type = zipfile.ZIP_DEFLATED
                data = io.BytesIO()
                _write_array(data, array)
                packing.writestr(entry, data.getbuffer(), compresslevel=1)
    with exclusive(folder / CONTENT) as file:
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        packed = gzip.compress(text.encode("utf-8", "surrogatepass"), compresslevel=6, mtime=0)
        file.write(packed)


def _little(array: Any) -> np.dtype[Any]:
    found: np.dtype[Any] = np.dtype(array.dtype).newbyteorder("<")
    return found


def _write_array(file: Any, array: Any) -> None:
    kind = _little(array)
    shape = tuple(map(int, array.shape))
    header = {"descr": npy.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
    npy.write_array_header_1_0(file, header)
    size = max(1, LARGE // max(1, kind.itemsize * math.prod(array.shape[1:])))
    for start in range(0, len(array), size) if array.ndim else [0]:
        part = array[start : start + size] if array.ndim else array
        file.write(np.ascontiguousarray(part, dtype=kind).data)


# Reading


def read(folder: Path, kind: Any) -> Any:
    """Read a value of a type from the files of a folder."""
    where = str(folder)
    try:
        content = read_content(folder)
        _check_versions(content.get("versions"), kind, where)
        return decode(kind, content.get("content"), where, _Packed(folder, content.get("arrays")))
    except RunError as error:
        if str(error).startswith(where):
            raise
        raise RunError(f"{where}: {error}") from None
    except DAMAGE as error:
        raise RunError(f"{where}: damaged: {type(error).__name__}: {error}.") from None


def _check_versions(known: Any, kind: Any, where: str) -> None:
    if known != versions_of(kind):
        remedies = ("use the spheremix that wrote it", "make the run again with {force=True}")
        text = "{where}: written by another version of spheremix"
        raise RunError(text, remedies=remedies, where=where)


# What reading of damaged files raises, and estimators for parameters that no estimator ever had.
DAMAGE = (
    *(ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, OSError),
    *(EOFError, RecursionError, zipfile.BadZipFile, zlib.error, NotImplementedError, SyntaxError),
)


def read_content(folder: Path) -> dict[str, Any]:
    """Read the JSON of a stage."""
    with open_regular(folder / CONTENT) as file, gzip.GzipFile(fileobj=file) as unpacking:
        data = unpacking.read(MOST + 1)
    if len(data) > MOST:
        raise RunError(f"{folder / CONTENT}: larger than {MOST >> 20} MiB, which no such file is.")
    content = json.loads(data.decode("utf-8", "surrogatepass"))
    require(isinstance(content, dict), "an object is needed", folder / CONTENT)
    return typing.cast("dict[str, Any]", content)


class _Packed:
    """The arrays of a folder, read when they are asked for."""

    def __init__(self, folder: Path, entries: Any) -> None:
        require(isinstance(entries, dict), "the list of arrays is missing")
        self.folder, self.entries = folder, entries

    def get(self, name: Any) -> Any:
        entry: Any = self.entries.get(name) if isinstance(name, str) else None
        listed = isinstance(entry, list) and len(entry) in {2, 3}
        require(listed, f"{str(name)[:60]!r} is not among its arrays")
        shape, kind = tuple(entry[0]), np.dtype(str(entry[1]))
        require(kind.kind in KINDS and kind.byteorder != ">", f"values of type {kind}")
        sized = all(type(size) is int and 0 <= size < LARGEST for size in shape)
        require(sized, f"an array of shape {shape}")
        size = math.prod(shape) * kind.itemsize
        if len(entry) == 3:
            return self._mapped(entry[2], shape, kind, size)
        with open_regular(self.folder / PACKED) as file, zipfile.ZipFile(file) as packed:
            found = packed.getinfo(f"{name}.npy")
            small = size < LARGE and size <= found.file_size <= size + 2**12
            require(small, f"{name} is not the array of its record")
            data = io.BytesIO(packed.read(found))
        self._check(data, shape, kind, len(data.getbuffer()) - size)
        return np.frombuffer(data.getbuffer(), kind, offset=data.tell()).reshape(shape).copy()

    def _mapped(self, file_name: Any, shape: Any, kind: np.dtype[Any], size: int) -> Any:
        named = isinstance(file_name, str) and re.fullmatch(r"\d{1,4}\.npy", file_name)
        require(named, f"{str(file_name)[:60]!r} is no file of it")
        path = self.folder / file_name
        with open_regular(path) as file:
            start = path.stat().st_size - size
            self._check(file, shape, kind, start)
        return np.asarray(np.memmap(path, kind, "r", start, shape))

    def _check(self, file: Any, shape: Any, kind: np.dtype[Any], start: int) -> None:
        """Refuse an array whose own header says something else than the record."""
        require(npy.read_magic(file) == (1, 0), "another version of the NumPy format")
        same = npy.read_array_header_1_0(file) == (shape, False, kind) and file.tell() == start
        require(same, "not the array that the run describes")


def decode(kind: Any, value: Any, where: str, arrays: _Packed | None = None) -> Any:  # noqa: C901, PLR0911
    """Make a value of a type again out of JSON; what is not of the type is refused by its place."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in {Union, types.UnionType}:
        return _one_of(inner, value, where, arrays)
    if isinstance(kind, type) and kind in CODECS:
        codec = CODECS[kind]
        return codec.load(decode(codec.state, value, where, arrays))
    if dataclasses.is_dataclass(origin or kind):
        return _dataclass(kind, value, where, arrays)
    if isinstance(value, dict) and "array" in value and (kind is Any or origin is np.ndarray):
        return _array(inner, value, where, arrays)
    if isinstance(value, dict) and "csr" in value and kind in {Any, sparse.csr_array}:
        return _csr(value, where, arrays)
    if isinstance(value, dict) and value.keys() == {"dict"} and isinstance(value["dict"], dict):
        value = value["dict"]
    if kind is Any:
        return _plain(value, where, arrays)
    if origin in {list, tuple} and isinstance(value, list):
        return _sequence(origin, inner, value, where, arrays)
    if origin is dict and isinstance(value, dict):
        of_key = _number_key if inner[0] is int else lambda key, _: key
        texts = _texts(inner[1])
        return {
            of_key(key, where): one
            if type(one) in texts
            else decode(inner[1], one, f"{where}: {key[:60]}", arrays)
            for key, one in value.items()
        }
    if kind is float and isinstance(value, str) and value in NOT_FINITE:
        return NOT_FINITE[value]
    if kind in _CHECKS and _CHECKS[kind](value):
        return float(value) if kind is float else value
    raise RunError(f"{where}: damaged: {str(value)[:60]!r} is not what it should be.")


def _dataclass(kind: Any, value: Any, where: str, arrays: _Packed | None) -> Any:
    require(isinstance(value, dict), "an object is needed", where)
    found: dict[str, Any] = {}
    whole, hints = typing.get_origin(kind) or kind, _hints(kind)
    for one in _fields(whole):
        place = f"{where}: {one.name}"
        if one.name in value:
            found[one.name] = decode(hints[one.name], value[one.name], place, arrays)
        else:
            needed = one.default is one.default_factory is dataclasses.MISSING
            require(not needed, "the value is missing", place)
    return whole(**found)


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    """Return the types of the fields of a class; those of a generic one are filled in."""
    whole = typing.get_origin(kind) or kind
    given = dict(zip(getattr(whole, "__parameters__", ()), typing.get_args(kind), strict=False))
    hints = typing.get_type_hints(whole, localns=NAMES)
    return {name: given.get(hint, hint) for name, hint in hints.items()}


def _one_of(kinds: tuple[Any, ...], value: Any, where: str, arrays: _Packed | None) -> Any:
    """Read a value that may have several types: the first one that fits."""
    if value is None and type(None) in kinds:
        return None
    *others, last = (kind for kind in kinds if kind is not type(None))
    for kind in others:
        try:
            return decode(kind, value, where, arrays)
        except RunError:
            continue
    return decode(last, value, where, arrays)


def _sequence(origin: Any, inner: Any, value: Any, where: str, arrays: _Packed | None) -> Any:
    if origin is tuple and inner[1:] != (...,):
        require(len(inner) == len(value), f"{len(value)} values, not {len(inner)}", where)
        pairs = zip(inner, value, strict=True)
        return tuple(decode(kind, one, where, arrays) for kind, one in pairs)
    texts = _texts(inner[0])
    return origin(
        one if type(one) in texts else decode(inner[0], one, where, arrays) for one in value
    )


@functools.cache
def _texts(kind: Any) -> frozenset[type]:
    """Return the types of values of a kind that is text, if it may be missing; none of others."""
    either = typing.get_origin(kind) in {Union, types.UnionType}
    kinds = frozenset(typing.get_args(kind) if either else (kind,))
    return kinds if kinds <= {str, type(None)} else frozenset()


def _array(inner: Any, value: Any, where: str, arrays: _Packed | None) -> Any:
    """Read an array; its type is that of the annotation."""
    require(arrays is not None, "an array has no place here", where)
    found = arrays.get(value["array"])  # type: ignore[union-attr]
    wanted = typing.get_args(inner[1])[0] if len(inner) > 1 else Any
    if wanted is not Any and not np.issubdtype(found.dtype, np.dtype(wanted).type):
        same = np.dtype(wanted).kind == found.dtype.kind
        require(same, f"values of type {found.dtype}", where)
        found = found.astype(wanted)
    return found


def _csr(value: dict[str, Any], where: str, arrays: _Packed | None) -> sparse.csr_array:
    shape = decode(tuple[int, int], value["csr"], where)
    names = ("data", "indices", "indptr")
    parts = [np.asarray(decode(Any, value[name], where, arrays)) for name in names]
    data, indices, indptr = parts
    flat = all(one.ndim == 1 for one in parts) and indices.dtype.kind == indptr.dtype.kind == "i"
    shaped = flat and len(indptr) == shape[0] + 1 and 0 not in shape
    require(shaped, "not the parts of a sparse matrix", where)
    follow = indptr[0] == 0 and np.all(np.diff(indptr) >= 0) and indptr[-1] == len(data)
    require(follow, "rows of the matrix overlap", where)
    inside = not indices.size or 0 <= indices.min() <= indices.max() < shape[1]
    require(len(indices) == len(data) and inside, "columns of the matrix beyond its width", where)
    return sparse.csr_array((data, indices, indptr), shape=shape)


def _plain(value: Any, where: str, arrays: _Packed | None) -> Any:
    """Read what has no declared type: plain values, and arrays among them."""
    if isinstance(value, list):
        return [decode(Any, one, where, arrays) for one in value]
    if isinstance(value, dict):
        return {key: decode(Any, one, where, arrays) for key, one in value.items()}
    return value


def _number_key(key: str, where: str) -> int:
    require(NUMBER.fullmatch(key), f"{key[:60]!r} is not a number", where)
    return int(key)


_CHECKS: dict[Any, Callable[[Any], bool]] = {
    bool: lambda value: isinstance(value, bool),
    int: lambda value: type(value) is int and -LARGEST < value < LARGEST,
    float: lambda value: (
        type(value) is float or (type(value) is int and -LARGEST < value < LARGEST)
    ),
    str: lambda value: isinstance(value, str),
}

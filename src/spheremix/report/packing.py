"""The content of a report as bytes: a header of JSON and arrays after it, gzipped."""

from __future__ import annotations

import base64
import gzip
import json
import math
import struct
import zlib
from typing import TYPE_CHECKING, Any, SupportsFloat

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALIGNMENT = 8  # bytes: typed arrays of JavaScript begin at multiples of the size of their values
DTYPES = ("int8", "uint8", "uint16", "uint32", "float32")
# Steps of a path that hardly change are differences that compress to nothing.
DELTA = frozenset({"values", "labels"})
INFINITY = "Infinity"
PLAIN = frozenset({str, int, bool, type(None)})  # types of values that JSON says as they are


def pack(content: dict[str, Any]) -> str:
    """Return the content as base64 of its gzipped container: the same text for the same content."""
    return base64.b64encode(_compressed(content)).decode("ascii")


def packed_size(content: dict[str, Any]) -> int:
    """Return the bytes of the content, gzipped, before base64."""
    return len(_compressed(content))


def unpack(text: str) -> dict[str, Any]:
    """Return the content back; strings, numbers and arrays are as they were."""
    try:
        data = gzip.decompress(base64.b64decode(text, validate=True))
        (length,) = struct.unpack_from("<I", data)
        header: dict[str, Any] = json.loads(data[4 : 4 + length].decode("utf-8"))
    except (ValueError, EOFError, OSError, zlib.error, struct.error) as error:
        raise ValueError(f"This is not the content of a report: {error}.") from None
    area = memoryview(data)[_padded(4 + length) :]
    found: dict[str, Any] = _restored(header, area)
    return found


def plain(value: Any) -> Any:
    """Return a value as JSON can say it: arrays as lists, infinity as a string, never NaN."""
    if isinstance(value, dict):
        return {str(key): one if type(one) in PLAIN else plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [one if type(one) in PLAIN else plain(one) for one in value]
    if isinstance(value, np.ndarray):
        return _listed(value)
    if isinstance(value, np.generic):
        value = value.item()
    return _number(value) if isinstance(value, float) else value


def to_json(value: Any) -> bytes:
    """Write plain values as JSON in UTF-8; what UTF-8 cannot say, lone surrogates, is escaped."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


# Writing


def _compressed(content: dict[str, Any]) -> bytes:
    # Level 9 takes four times as long and saves 1.5 per cent.
    return gzip.compress(_container(content), 6, mtime=0)


def _container(content: dict[str, Any]) -> bytes:
    arrays: list[bytes] = []
    header = to_json(plain(_described(content, "", arrays)))
    start = struct.pack("<I", len(header)) + header
    return b"".join([start.ljust(_padded(len(start)), b" "), *arrays])


def _described(value: Any, name: str, arrays: list[bytes]) -> Any:
    """Put the description of each array in its place, and its bytes into the list."""
    if isinstance(value, dict):
        return {key: _described(one, key, arrays) for key, one in value.items()}
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.name not in DTYPES:
        raise TypeError(f"{name}: arrays of {value.dtype} cannot be packed.")
    if np.isnan(value).any():
        raise ValueError(f"{name}: there is a NaN.")
    delta = name in DELTA and len(value) > 0
    offset = sum(map(len, arrays))
    stored = value
    if delta:  # unsigned and signed integers of numpy wrap around, as those of JavaScript
        stored = value.copy()
        stored[1:] -= value[:-1]
    data = np.ascontiguousarray(stored, dtype=stored.dtype.newbyteorder("<")).tobytes()
    arrays.append(data.ljust(_padded(len(data)), b"\0"))
    shape = list(value.shape)
    return {"array": value.dtype.name, "shape": shape, "offset": offset, "delta": delta}


def _padded(length: int) -> int:
    return -(-length // ALIGNMENT) * ALIGNMENT


# Reading


def _restored(value: Any, area: memoryview) -> Any:
    if not isinstance(value, dict):
        return value
    if not isinstance(value.get("array"), str):  # among the tokens, "array" has a number
        return {key: _restored(one, area) for key, one in value.items()}
    dtype = np.dtype(value["array"]).newbyteorder("<")
    count = math.prod(value["shape"])
    array = np.frombuffer(area, dtype, count, value["offset"]).reshape(value["shape"])
    array = array.astype(value["array"])
    if value["delta"]:
        array = np.add.accumulate(array, axis=0, dtype=array.dtype)
    return array


# Numbers


def digits(value: SupportsFloat, n: int = 7) -> float:
    """Return a number with n significant digits: a file of many is half as long."""
    return float(f"{float(value):.{n}g}")


def _number(value: float) -> float | str | None:
    if math.isinf(value):
        return INFINITY if value > 0 else f"-{INFINITY}"
    return None if math.isnan(value) else value


def _listed(array: NDArray[Any]) -> list[Any]:
    """List the values of an array; floats with the digits that their type has."""
    if array.dtype.kind != "f":
        listed: list[Any] = array.tolist()
        return listed
    if array.ndim > 1:
        return [_listed(row) for row in array]
    return [_number(digits(value)) for value in array.tolist()]

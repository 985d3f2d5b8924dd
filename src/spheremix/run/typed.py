"""Dataclasses to JSON and back: the one codec of everything that a run says about itself.

A file may be damaged or written by somebody else, so every value is checked against the type that
its field declares before anything uses it. Numbers that are not finite are null in JSON.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import re
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, NewType, TypeVar, Union

from spheremix.run.store import RunError

T = TypeVar("T")

# The name of a file inside the folder of a run; where it leads is checked when it is opened.
FileName = NewType("FileName", str)
FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}(/[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}){0,4}")
LARGEST = 2**62  # no count of a run is larger, and NumPy can hold them all


def about(meaning: str, **default: Any) -> Any:
    """Declare a field together with what it means."""
    return dataclasses.field(metadata={"meaning": meaning}, **default)


def encode(value: Any) -> Any:
    """Return a dataclass, or a value inside one, as JSON can say it."""
    if dataclasses.is_dataclass(value):
        return {one.name: encode(getattr(value, one.name)) for one in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): encode(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [encode(inner) for inner in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def decode(kind: type[T], value: Any, where: str) -> T:
    """Make a dataclass again out of JSON.

    Raises
    ------
    RunError
        Where a value is missing or has another type, named by its place in the file.
    """
    if not isinstance(value, dict):
        raise RunError(f"{where}: damaged: an object is needed.")
    found: dict[str, Any] = {}
    hints = _hints(typing.cast("Any", kind))
    for one in dataclasses.fields(typing.cast("Any", kind)):
        place = f"{where}: {one.name}"
        if one.name in value:
            found[one.name] = _value(hints[one.name], value[one.name], place)
        elif not _has_default(one):
            raise RunError(f"{place}: damaged: the value is missing.")
    return kind(**found)


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _has_default(one: dataclasses.Field[Any]) -> bool:
    missing = dataclasses.MISSING
    return one.default is not missing or one.default_factory is not missing


def _value(kind: Any, value: Any, where: str) -> Any:
    """Check one value against its declared type."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in {Union, types.UnionType}:
        found = _one_of(inner, value, where)
    elif dataclasses.is_dataclass(kind):
        found = decode(typing.cast("type[Any]", kind), value, where)
    elif origin in {list, tuple} and isinstance(value, list):
        found = origin(_value(inner[0], one, where) for one in value)
    elif origin is dict and isinstance(value, dict):
        of_key = _KEYS[inner[0]]
        found = {
            of_key(key, where): _value(inner[1], one, f"{where}: {key[:60]}")
            for key, one in value.items()
        }
    elif kind in _CHECKS and _CHECKS[kind](value):
        found = value
    elif kind is FileName:
        raise RunError(f"{where}: {str(value)[:60]!r} is not the name of a file of a run.")
    else:
        raise RunError(f"{where}: damaged: {str(value)[:60]!r} is not what it should be.")
    if kind is float:
        return math.nan if found is None else float(found)
    return found


def _one_of(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    """Check a value that may have several types: the first one that fits."""
    if value is None and type(None) in kinds:
        return None
    *others, last = (kind for kind in kinds if kind is not type(None))
    for kind in others:
        try:
            return _value(kind, value, where)
        except RunError:
            continue
    return _value(last, value, where)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST


def _is_real(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _is_file_name(value: Any) -> bool:
    return isinstance(value, str) and FILE_NAME.fullmatch(value) is not None


_CHECKS: dict[Any, Callable[[Any], bool]] = {
    Any: lambda value: True,  # noqa: ARG005
    bool: lambda value: isinstance(value, bool),
    int: _is_count,
    float: _is_real,
    str: lambda value: isinstance(value, str),
    FileName: _is_file_name,
}


def _number_key(key: str, where: str) -> int:
    if not re.fullmatch(r"0|[1-9][0-9]{0,8}", key):
        raise RunError(f"{where}: damaged: {key[:60]!r} is not a number.")
    return int(key)


_KEYS: dict[Any, Callable[[str, str], Any]] = {
    str: lambda key, where: key,  # noqa: ARG005
    int: _number_key,
}

"""Values of options that can be given in several ways: clusters, thresholds, names of columns.

NumPy's numbers count as numbers. Nothing here loads NumPy, so that the help of the command does not
wait for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice
from numbers import Integral, Real
from typing import Any

from spheremix.errors import ParameterError

AUTO = "auto"
FREE = "free"
MOST_CANDIDATES = 1000


def parse_k(value: Any) -> tuple[int, ...] | None:
    """Read numbers of clusters: 5, "5", "2:20" (both included), "2,4,8", a range or a list."""
    if value is None or (isinstance(value, str) and value == AUTO):
        return None
    numbers = _from_text(value) if isinstance(value, str) else _from_numbers(value)
    if not numbers:
        raise ParameterError("{k} must have at least one number of clusters; got none")
    if min(numbers) < 1:
        raise ParameterError(
            "{k} must be 1 or more: {least} clusters cannot be; got {got}",
            least=min(numbers),
            got=repr(value),
        )
    if len(numbers) > MOST_CANDIDATES:
        raise ParameterError(
            "{k} must have {most} numbers at most; got {got}",
            most=f"{MOST_CANDIDATES:,}",
            got=repr(value),
        )
    return tuple(sorted(set(numbers)))


def _from_numbers(value: Any) -> list[int]:
    """Read whole numbers; of too many, one more than there may be."""
    try:
        several = isinstance(value, Iterable) and not isinstance(value, bytes | bytearray)
        listed = list(islice(value, MOST_CANDIDATES + 1)) if several else [value]
    except TypeError:  # an array of no dimension
        listed = [value]
    if not all(isinstance(K, Integral) and not isinstance(K, bool) for K in listed):
        raise ParameterError("{k} must be whole numbers of clusters; got {got}", got=repr(value))
    return [int(K) for K in listed]


def _from_text(text: str) -> list[int]:
    first, colon, last = text.partition(":")
    try:
        ends = [int(first), int(last)] if colon else [int(part) for part in text.split(",")]
    except ValueError:
        raise ParameterError(
            "{k} must be a number of clusters, as 5, a range, as 2:20, or several, as 2,4,8; got "
            "{got}",
            got=repr(text),
        ) from None
    if not colon:
        return ends
    if ends[0] > ends[1]:
        raise ParameterError(
            "{k} must be a range that goes up, as {up}; got {got}",
            up=f"{ends[1]}:{ends[0]}",
            got=repr(text),
        )
    return list(range(ends[0], min(ends[1], ends[0] + MOST_CANDIDATES) + 1))


def parse_df(name: str, value: Any) -> float | None:
    """Read a number of documents (5, "5") or a share of them (0.5, "0.5", "50%")."""
    if value is None:
        return None
    try:
        found = _threshold(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not 0 <= found < math.inf:
        raise ParameterError(
            f"{{{name}}} must be a number of documents, as 5, or a share, as 0.5; got {{got}}",
            got=repr(value),
        )
    return found


def _threshold(value: Any) -> float:
    """Read an int for a number of documents, and a float for a share."""
    if isinstance(value, str):
        if value.endswith("%"):
            return float(value[:-1]) / 100.0
        return float(value) if "." in value else int(value)
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    return int(value) if isinstance(value, Integral) else float(value)


def parse_kappa(value: Any) -> str | float:
    """Read "shared", "free" or a number."""
    if isinstance(value, str) and value in {"shared", "free"}:
        return value
    number = isinstance(value, str | Real) and not isinstance(value, bool)
    try:
        kappa = float(value) if number else math.nan
    except (ValueError, OverflowError):
        kappa = math.nan
    if not 0.0 < kappa < math.inf:
        raise ParameterError(
            "{kappa} must be shared, free or a number above 0, as 100; got {got}", got=repr(value)
        )
    return kappa


def parse_share(name: str, value: Any) -> float | str | None:
    """Read a share below one (0.05, "0.05", "5%"), "auto" or "free"."""
    if value is None or (isinstance(value, str) and value in {AUTO, FREE}):
        return value
    try:
        found = float(_threshold(value))
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not 0.0 < found < 1.0:
        raise ParameterError(
            f"{{{name}}} must be auto, free or a share between 0 and 1, as 0.05; got {{got}}",
            got=repr(value),
        )
    return found


def parse_names(name: str, value: Any) -> tuple[str, ...] | None:
    """Read the names of columns: "section", or several of them; "none" stands alone."""
    if value is None or isinstance(value, str):
        return None if value is None else (value,)
    found = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not all(isinstance(one, str) for one in found) or ("none" in found and len(found) > 1):
        raise ParameterError(
            f"{{{name}}} must be the name of a column, several of them, or none alone; got {{got}}",
            got=repr(value),
        )
    return found or None

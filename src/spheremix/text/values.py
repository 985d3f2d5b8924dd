"""Values that come with documents: dates as far as they are known, and what JSON can say."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

MISSING = {"", "-", "na", "n/a", "nan", "nat", "none", "null"}
YEAR = re.compile(r"(\d{4})(?:\.0)?")
MONTH = re.compile(r"(\d{4})[-/](\d{1,2})")
DAY = re.compile(r"(\d{4})([-/.]?)(\d{1,2})\2(\d{1,2})(?:[T ]\d.*)?", re.DOTALL)


def is_missing(value: Any) -> bool:
    """Tell the many ways of not giving a value."""
    if isinstance(value, str):
        return value.strip().lower() in MISSING
    # What is not a number or not a time differs from itself.
    return value is None or (isinstance(value, float | date) and bool(value != value))  # noqa: PLR0124


def is_number(value: Any) -> bool:
    """Tell numbers from other values; true and false are no numbers."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def iso_date(value: Any) -> str | None:
    """Return a date as far as it is known: "2016-10-12", "2016-10" or "2016"; None for none.

    A value that is not a date is a ValueError.
    """
    if is_missing(value) or str(value) == "NaT":  # of NumPy, too
        return None
    if isinstance(value, date):  # or a time
        return date(value.year, value.month, value.day).isoformat()
    known = isinstance(value, str) or is_number(value) or hasattr(value, "dtype")
    text = str(value).strip() if known else ""
    if found := YEAR.fullmatch(text):
        return join_date(found[1])
    if found := MONTH.fullmatch(text):
        return join_date(found[1], found[2])
    if (found := DAY.fullmatch(text)) and (found[2] or len(found[3] + found[4]) == 4):
        return join_date(found[1], found[3], found[4])
    raise ValueError("not a date")


def join_date(year: str, month: str | None = None, day: str | None = None) -> str:
    """Write a year, a month or a day; ValueError for those that do not exist."""
    found = date(int(year), int(month or 1), int(day or 1)).isoformat()
    return found if day else found[:7] if month else found[:4]


def plain(value: Any, clean: Callable[[str], str] = str) -> Any:
    """Return a value as JSON can say it; what is not a number there becomes None.

    Bytes and other values that JSON has no form for are a TypeError.
    """
    found = value
    if isinstance(value, str):
        found = clean(str(value))
    elif isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        pass
    elif is_missing(value):
        found = None
    elif isinstance(value, Mapping):
        found = {clean(str(name)): plain(one, clean) for name, one in value.items()}
    elif isinstance(value, list | tuple):
        found = [plain(one, clean) for one in value]
    elif isinstance(value, date | time):
        found = value.isoformat()
    elif isinstance(value, float | Decimal | timedelta):  # infinite, or with other digits
        found = str(value)
    elif hasattr(value, "dtype") and hasattr(value, "astype"):  # of NumPy; times are written
        found = plain((value.astype(str) if value.dtype.kind in "mM" else value).tolist(), clean)
    else:
        raise TypeError(type(value).__name__)
    return found

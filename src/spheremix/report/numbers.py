"""Numbers with as many digits as are told apart."""

from __future__ import annotations

from typing import SupportsFloat


def digits(value: SupportsFloat, n: int = 7) -> float:
    """Give a number with n significant digits: a file of many is half as long."""
    return float(f"{float(value):.{n}g}")

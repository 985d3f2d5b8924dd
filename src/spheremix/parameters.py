"""Checks of single parameters: each returns the value, or raises an error with its name."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

LARGEST_INCREASE = 1e6  # of beta in a step of a path: beyond it, penalties overflow


def require_integer(name: str, value: Any, least: int) -> int:
    """Return an integer of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ParameterError(
            f"{{{name}}} must be an integer of at least {{least}}, got {{got}}",
            least=least,
            got=repr(value),
        )
    return int(value)


def require_number(
    name: str, value: Any, *, above: float | None = None, at_most: float = np.inf
) -> float:
    """Return a finite number that is at least 0, or strictly above a bound, and at most another."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    if not real or not np.isfinite(value) or (value < 0 if above is None else value <= above):
        wanted = "at least 0" if above is None else f"above {above:g}"
        raise ParameterError(
            f"{{{name}}} must be a finite number {{wanted}}, got {{got}}",
            wanted=wanted if at_most == np.inf else f"{wanted} and at most {at_most:,.0f}",
            got=repr(value),
        )
    if value > at_most:
        raise ParameterError(
            f"{{{name}}} must be at most {{most}}, got {{got}}",
            most=f"{at_most:,.0f}",
            got=repr(value),
        )
    return float(value)


def require_choice(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return one of the choices."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(
            f"{{{name}}} must be one of {{choices}}, got {{got}}",
            choices=", ".join(repr(choice) for choice in choices),
            got=repr(value),
        )
    return value


def require_criterion(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return one of the criteria, which people write in any case: "BIC" is "bic"."""
    return require_choice(name, value.lower() if isinstance(value, str) else value, choices)


def require_vector(name: str, value: Any, length: int, what: str) -> Array:
    """Return a finite, non-negative vector with one value for each row, feature or component."""
    try:
        vector = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(
            f"{{{name}}} must be numbers, one for each {{what}}; got {{got}}",
            what=what,
            got=repr(value),
        ) from None
    if vector.shape != (length,):
        raise ParameterError(
            f"{{{name}}} must have one value for each {{what}}: expected shape ({{length}},), "
            "got {shape}",
            what=what,
            length=length,
            shape=vector.shape,
        )
    bad = np.flatnonzero(~((vector >= 0.0) & (vector < np.inf)))
    if bad.size:
        raise ParameterError(
            f"{{{name}}} must be finite and non-negative: {{what}} {{i}} has {{got}}",
            what=what,
            i=bad[0],
            got=vector[bad[0]],
        )
    return vector


def require_flag(name: str, value: Any) -> bool:
    """Return True or False; most strings would pass for True."""
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(f"{{{name}}} must be True or False, got {{got}}", got=repr(value))
    return bool(value)

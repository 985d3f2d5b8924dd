"""Colours of groups: their numbers in the palette of the report, which edits and updates keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Place = list[float]  # a number in the palette, and a shade: 0 is the colour itself


def colour_places(weights: ArrayLike) -> list[Place]:
    """Return the place of each group: the heaviest one has the first colour.

    It is what ``grouping.js`` of the report computes for groups without a place of their own.
    """
    order = np.argsort(-np.asarray(weights, dtype=float), kind="stable")
    return [[float(number), 0.0] for number in np.argsort(order)]


def add_places(places: list[Place], n_new: int) -> list[Place]:
    """Return new groups the first colours that nobody has."""
    found = [list(one) for one in places]
    for _ in range(n_new):
        taken = {number for number, _ in found}
        free = next(number for number in range(len(found) + 1) if number not in taken)
        found.append([float(free), 0.0])
    return found

"""The values that parameters of estimators can have, for type checkers and for their checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from spheremix.data.base import Engine

__all__ = [
    "Algorithm",
    "Auto",
    "BlockInit",
    "EStep",
    "Engine",
    "Init",
    "KMeansInit",
    "Kappa",
    "KappaName",
    "KappaSolver",
    "MStep",
    "Noise",
    "Paths",
    "SearchStart",
    "Strategy",
]

Auto = Literal["auto"]
KappaName = Literal["shared", "free"]
# Not ArrayLike, which takes any text for an array.
Kappa = KappaName | float | Sequence[float] | NDArray[np.floating[Any] | np.integer[Any]]
KappaSolver = Literal["exact", "banerjee"]
MStep = Literal["exact", "paper"]
EStep = Literal["soft", "hard"]
Noise = Literal["uniform"]
SearchStart = Literal["merge", "random", "k-means++", "spherical-k-means"]


class WithPrototypes(Protocol):
    """A fitted model."""

    prototypes_: NDArray[np.float64]


class SupportsArray(Protocol):
    """What NumPy takes for an array: a column of a data frame, for example."""

    def __array__(self) -> NDArray[Any]:
        """Return the array."""
        ...


GivenStart = WithPrototypes | SupportsArray | Sequence[int] | Sequence[Sequence[float]]
Init = SearchStart | GivenStart
KMeansInit = Literal["merge", "random", "k-means++"] | GivenStart
BlockInit = Literal["random", "k-means++", "spherical-k-means"] | GivenStart
Strategy = Literal["path", "dense", "random", "grid"]
Paths = Literal["best", "all", "none"]
Algorithm = Literal["em", "cem", "sem", "saem", "caem"]

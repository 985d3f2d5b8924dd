"""The values that parameters of estimators can have, for type checkers and for their checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spheremix.data.open import Engine

__all__ = [
    "Algorithm",
    "Auto",
    "EStep",
    "Engine",
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
Strategy = Literal["path", "dense", "random", "grid"]
Paths = Literal["best", "all", "none"]
Algorithm = Literal["em", "cem", "sem", "saem", "caem"]

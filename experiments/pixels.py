"""Pixel figures of section 5.3: prototypes and data, columns in the paper's order."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

import spheremix as sm
from experiments import drawing
from experiments.cstr import TRUE_K, cstr, fitted
from spheremix.display import DataDisplay, PrototypesDisplay
from spheremix.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@lru_cache(maxsize=4)
def shown(kind: str, repetition: int) -> Any:
    """Return the model of a figure: "dbmovmfs", "dense" or "bic"."""
    if kind == "dbmovmfs":
        return fitted("dbmovmfs", TRUE_K, repetition)
    dense = fitted("shared", TRUE_K, repetition)
    if kind == "dense":
        return dense
    X, _ = cstr()
    path = sm.VMFPath(TRUE_K, init=dense, n_threads=1).fit(X)
    return path.best_estimator_


def best_repetition(results: Path, method: str) -> int:
    """Return the repetition whose model has the largest likelihood at K = 4."""
    table = drawing.read(results, "cstr_dense")
    table = table[(table["K"] == TRUE_K) & (table["method"] == method)]
    return int(table.loc[table["quality"].idxmax(), "repetition"])


def figure(kind: str, what: str) -> Callable[[Path], Figure]:
    """Return the function that draws the prototypes of a model, or the data in its order."""

    def plot(results: Path) -> Figure:
        method = "dbmovmfs" if kind == "dbmovmfs" else "shared"
        reading = Reading(shown(kind, best_repetition(results, method)))
        display: Any = PrototypesDisplay.of(reading)
        if what == "data":
            display = DataDisplay.of(reading, cstr()[0])
        canvas = Figure(display.size, layout="constrained")
        display.plot(canvas.subplots())
        return canvas

    return plot


FIGURES = {
    "prototypes-dbmovmfs": figure("dbmovmfs", "prototypes"),
    "data-dbmovmfs": figure("dbmovmfs", "data"),
    "prototypes-dense": figure("dense", "prototypes"),
    "prototypes-bic": figure("bic", "prototypes"),
    "data-bic": figure("bic", "data"),
}

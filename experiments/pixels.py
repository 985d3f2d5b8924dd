"""Pixel figures of section 5.3: prototypes and data, columns in the paper's order.

Columns are ordered by the number n_j of prototypes that use them, then by which ones, then by their
intensity; rows by the size of their cluster. Each n_j has a hue of its own.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import spheremix as sm
from experiments import drawing
from experiments.cstr import TRUE_K, cstr, fitted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

HUES = ("#666666", "#c2549b", "#3f6fb5", "#3c8f5a", "#c0392b")  # nobody's, one's, two's, ...
GAMMA = {"prototypes": 0.5, "data": 0.3}  # small values stay visible
HEIGHT = 120  # pixels of all the prototypes together


def column_order(prototypes: Array) -> NDArray[np.intp]:
    """Give the columns in the paper's order; prototypes come in the order of their rows."""
    used = prototypes != 0
    keys = [-np.abs(prototypes).sum(axis=0), *(~used[::-1]), -used.sum(axis=0)]
    return np.lexsort(keys)


def coloured(values: Array, users: NDArray[np.intp], gamma: float) -> Array:
    """Give an image: white where the value is zero, the hue of the column where it is largest."""
    strength = (np.abs(values) / np.abs(values).max()) ** gamma
    hues = np.array([to_rgb(hue) for hue in HUES])[users]
    return 1.0 - strength[:, :, None] * (1.0 - hues)


@lru_cache(maxsize=4)
def shown(kind: str, repetition: int) -> Any:
    """Give the model of a figure: "dbmovmfs", "dense" or "bic"."""
    if kind == "dbmovmfs":
        return fitted("dbmovmfs", TRUE_K, repetition)
    dense = fitted("shared", TRUE_K, repetition)
    if kind == "dense":
        return dense
    X, _ = cstr()
    path = sm.VMFPath(TRUE_K, init=dense, n_threads=1).fit(X)
    return path.best_estimator_


def best_repetition(results: Path, method: str) -> int:
    """Give the repetition whose model has the largest likelihood at K = 4."""
    table = drawing.read(results, "cstr_dense")
    table = table[(table["K"] == TRUE_K) & (table["method"] == method)]
    return int(table.loc[table["quality"].idxmax(), "repetition"])


def figure(kind: str, what: str) -> Callable[[Path], Figure]:
    """Give the function that draws the prototypes of a model, or the data in its order."""

    def plot(results: Path) -> Figure:
        method = "dbmovmfs" if kind == "dbmovmfs" else "shared"
        model = shown(kind, best_repetition(results, method))
        rows = np.argsort(-model.weights_)
        prototypes = model.prototypes_[rows]
        order = column_order(prototypes)
        users = np.count_nonzero(prototypes, axis=0)[order]
        if what == "prototypes":
            sizes = np.maximum(1, np.rint(HEIGHT * model.weights_[rows]).astype(int))
            values = np.repeat(prototypes[:, order], sizes, axis=0)
        else:
            X, _ = cstr()
            ranks = np.argsort(rows)[model.labels_]
            sizes = np.bincount(ranks)
            values = X.take(np.argsort(ranks, kind="stable"))[:, order]
        canvas = Figure((9.0, 2.2 if what == "prototypes" else 4.6), layout="constrained")
        axis = canvas.subplots()
        axis.imshow(coloured(values, users, GAMMA[what]), aspect="auto", interpolation="none")
        edges = np.cumsum(sizes)[:-1] - 0.5
        axis.hlines(edges, -0.5, len(order) - 0.5, color="black", lw=0.6)
        axis.set_yticks(np.cumsum(sizes) - sizes / 2, range(1, len(sizes) + 1))
        axis.set(xlabel="column", ylabel="cluster")
        _name_blocks(axis, users)
        return canvas

    return plot


def _name_blocks(axis: Any, users: NDArray[np.intp]) -> None:
    """Write above each block of columns how many prototypes use them."""
    for n in np.unique(users):
        places = np.flatnonzero(users == n)
        axis.text(
            places.mean(),
            1.01,
            str(n),
            color=HUES[n],
            ha="center",
            va="bottom",
            weight="bold",
            transform=axis.get_xaxis_transform(),
        )


FIGURES = {
    "prototypes-dbmovmfs": figure("dbmovmfs", "prototypes"),
    "data-dbmovmfs": figure("dbmovmfs", "data"),
    "prototypes-dense": figure("dense", "prototypes"),
    "prototypes-bic": figure("bic", "prototypes"),
    "data-bic": figure("bic", "data"),
}

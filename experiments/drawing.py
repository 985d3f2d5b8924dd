"""What the figures share: colours, names, boxes side by side, panels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from spheremix.display import style

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

COLOURS = {name: look["color"] for name, look in style.CRITERIA.items()} | {
    "dense": "#333333",
    "mixture": "#D55E00",
    "skmeans": "#E69F00",
    "dbmovmfs": "#0072B2",
    "shared": "#D55E00",
    "free": "#009E73",
}
NAMES = style.NAMES | {
    "dense": "dense",
    "mixture": "vMF mixture",
    "skmeans": "Sk-means",
    "dbmovmfs": "dbmovMFs",
    "shared": "shared kappa",
    "free": "free kappas",
}
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


def read(results: Path, name: str) -> pd.DataFrame:
    """Read a result table."""
    return pd.read_csv(results / f"{name}.csv")


def boxes(axis: Any, groups: dict[str, list[np.ndarray]], positions: Sequence[int]) -> None:
    """Draw distributions side by side, one colour a group: median, quartiles, 5 and 95 %."""
    width = 0.8 / len(groups)
    for i, (name, values) in enumerate(groups.items()):
        places = np.asarray(positions) + width * (i - (len(groups) - 1) / 2)
        levels = [np.quantile(v, LEVELS) if len(v) else np.full(5, np.nan) for v in values]
        low, first, middle, third, high = np.transpose(levels)
        axis.vlines(places, low, high, color=COLOURS[name], lw=0.8)
        axis.vlines(places, first, third, color=COLOURS[name], lw=3.5)
        axis.plot(places, middle, "o", ms=3, mec="black", mew=0.5, mfc="white", zorder=3)
        axis.plot([], [], lw=3.5, color=COLOURS[name], label=NAMES[name])
    axis.set_xticks(positions)


def panels(
    table: pd.DataFrame, plot: Callable[[Any, pd.DataFrame], None], xlabel: str, ylabel: str
) -> Figure:
    """Draw one panel a configuration: overlaps in rows, sparsities in columns."""
    overlaps, sparsities = sorted(table["overlap"].unique()), sorted(table["sparsity"].unique())
    figure = Figure((9.0, 4.6), layout="constrained")
    axes = figure.subplots(len(overlaps), len(sparsities), sharex=True, sharey=True, squeeze=False)
    for i, overlap in enumerate(overlaps):
        for j, sparsity in enumerate(sparsities):
            part = table[(table["overlap"] == overlap) & (table["sparsity"] == sparsity)]
            axes[i, j].set_title(f"overlap {overlap:.1%}, sparsity {sparsity:.0%}", fontsize=9)
            if len(part):
                plot(axes[i, j], part)
        axes[i, 0].set_ylabel(ylabel)
    for axis in axes[-1]:
        axis.set_xlabel(xlabel)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside upper center", ncols=6, frameon=False)
    return figure


def grouped(
    part: pd.DataFrame, columns: dict[str, str]
) -> tuple[dict[str, list[np.ndarray]], list[int]]:
    Ks = sorted(part["K"].unique())
    groups = {
        name: [part.loc[part["K"] == K, column].dropna().to_numpy() for K in Ks]
        for name, column in columns.items()
    }
    return groups, Ks

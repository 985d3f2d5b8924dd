"""Where things stand in a figure: axes, labels that do not overlap, words that can be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.isotonic import isotonic_regression

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from spheremix.reading import Reading

    Array = NDArray[np.float64]


def one_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return the axes to draw in: the caller's, or those of a new figure."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt  # noqa: PLC0415

    return plt.figure(figsize=size, layout="constrained").subplots()


def several_axes(
    ax: Any, n: int, n_columns: int, size: tuple[float, float], **shared: Any
) -> NDArray[Any]:
    """Return n axes: the caller's, those that his one is cut into, or those of a new figure."""
    if ax is not None and np.ndim(ax):
        given = np.ravel(ax)
        if len(given) < n:
            raise ValueError(f"ax must have {n} axes, one a panel: got {len(given)}.")
    else:
        shape = (-(-n // n_columns), n_columns)
        if ax is None:
            import matplotlib.pyplot as plt  # noqa: PLC0415

            figure: Any = plt.figure(figsize=size, layout="constrained")
            given = figure.subplots(*shape, squeeze=False, **shared).ravel()
        else:
            ax.set_axis_off()
            grid = ax.get_subplotspec().subgridspec(*shape)
            given = grid.subplots(squeeze=False, **shared).ravel()
    for unused in given[n:]:
        unused.set_axis_off()
    return given[:n]


def whole_figure(ax: Axes) -> Figure:
    """Return the figure that axes stand in, subfigure or not."""
    figure: Any = ax.get_figure(root=True)
    return figure  # type: ignore[no-any-return]


def inches(ax: Axes) -> tuple[float, float]:
    """Lay the figure out as it stands; give width and height of the axes."""
    figure = whole_figure(ax)
    figure.draw_without_rendering()
    box = ax.get_window_extent()
    return box.width / figure.dpi, box.height / figure.dpi


def avoid_overlaps(wanted: ArrayLike, widths: ArrayLike, low: float, high: float) -> Array:
    """Return places to labels, in order, as near as can be to where they are wanted.

    Least squares over the places at which neighbours do not overlap, between two bounds; the widths
    must not add up to more than what is between them.
    """
    wanted, widths = np.asarray(wanted, dtype=float), np.asarray(widths, dtype=float)
    if not wanted.size:
        return wanted
    # Less what stands before it, a label may only move along with the others: isotonic regression.
    before = np.concatenate([[0.0], np.cumsum((widths[1:] + widths[:-1]) / 2)])
    places = np.asarray(isotonic_regression(wanted - before))
    last = high - widths[-1] / 2 - before[-1]
    return np.asarray(np.clip(places, low + widths[0] / 2, max(last, low + widths[0] / 2)) + before)


def shown(text: str, n_characters: int = 24) -> str:
    """Return a text in one line of at most so many characters that can be drawn."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[:200]).split())
    return line if len(line) <= n_characters else line[: n_characters - 1].rstrip() + "…"


def words_of(reading: Reading) -> list[str] | None:
    """Return the names of the features; None where they are but numbers."""
    names = reading.feature_names
    if all(name == f"x{j}" for j, name in enumerate(names)):
        return None
    return names


def cluster_names(reading: Reading) -> list[str]:
    """Name each cluster as people did, or by words of its own, of its documents, or its number."""
    clusters = range(reading.n_groups)
    contrast = reading.contrast or [()] * reading.n_groups
    is_named = reading.names is not None or words_of(reading) is not None
    names = [reading.group_name(k) if is_named or contrast[k] else "" for k in clusters]
    return [name or f"cluster {k}" for k, name in enumerate(names)]


def name_rows(ax: Axes, places: ArrayLike, names: Sequence[str], size: float = 8) -> None:
    """Write the names of rows beside the vertical axis, as they are and not as formulas."""
    ax.set_yticks(np.asarray(places), list(names), fontsize=size)
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.tick_params(axis="y", length=0)

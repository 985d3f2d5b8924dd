"""What is written around a pixel picture: hues and their meaning above, words below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.display.pixels import segments, written
from spheremix.display.place import avoid_overlaps, shown, whole_figure
from spheremix.display.style import FAINT, INK, hue, readable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from spheremix.reading import Layout

    Array = NDArray[np.float64]

FONT = 7.0  # points
LINE = 0.125  # inches from one written word to the next
LEADER = 14.0  # points from the picture down to the words
STRIP, FIRST, LINE_UP = 4.0, 9.0, 11.0  # points from the picture up to the hues, the labels


def write_above(ax: Axes, layout: Layout, names: Sequence[str], features: str) -> None:
    """Draw and write what columns are: hues, of one cluster only, n_j, and how many of each.

    Whatever finds no room is left out.
    """
    height = FIRST + (LINE_UP if _write_blocks(ax, layout, names) else 0.0)
    _write_groups(ax, layout, height)
    title = f"{len(layout.features):,} {features}, by the number of clusters that share them"
    ax.set_title(title, loc="left", fontsize=9, color=INK, pad=height + LINE_UP + 2.0)


def _write_groups(ax: Axes, layout: Layout, height: float) -> None:
    """Draw the hue of each n_j above its columns, and write what it is."""
    K = len(layout.groups)
    above = _points(ax, 1)
    for n, columns in layout.by_sharing.items():
        ends = [columns.start, columns.stop]
        line: dict[str, Any] = {"lw": 4.0, "color": hue(n, K), "solid_capstyle": "butt"}
        ax.plot(ends, [STRIP, STRIP], transform=above, clip_on=False, **line)
    for n, columns in layout.by_sharing.items():
        middle, size = (columns.start + columns.stop) / 2, columns.stop - columns.start
        _write_fitting(ax, middle, height, _meanings(n, K, size), size, hue(n, K))


def _write_blocks(ax: Axes, layout: Layout, names: Sequence[str]) -> int:
    """Write above the words of one cluster only whose they are and how many; count the blocks."""
    K, n_written = len(layout.groups), 0
    for block in layout.blocks:
        if block.n_groups != 1 or K == 1:
            continue
        n, k = block.stop - block.start, block.groups[0]
        name = shown(names[k])
        first = str(k) if name == f"cluster {k}" else name.partition(" ")[0]
        texts = (f"{name}: {n:,}", f"{first}: {n:,}", f"{n:,}")
        middle = (block.start + block.stop) / 2
        n_written += _write_fitting(ax, middle, FIRST, texts, n, hue(1, K))
    return n_written


def _write_fitting(
    ax: Axes, middle: float, height: float, texts: Sequence[str], room: int, colour: str
) -> bool:
    """Write the first of these texts that is narrower than its columns; tell whether one is."""
    text = _label(ax, middle, height, "", colour)
    for words in texts:
        text.set_text(words)
        if _width(ax, text) < 0.96 * room:
            return True
    text.remove()
    return False


def write_words(
    ax: Axes, layout: Layout, words: Sequence[str], intensities: Array, width: float
) -> list[Any]:
    """Write the first words of each block below the picture; a line leads to its column.

    Words and intensities are in the order of the columns; the width is that of the axes in inches.
    """
    K, d = len(layout.groups), len(layout.features)
    gap = max(1.0, LINE / width * d)  # a column that is wide enough has its word right below
    columns = written(segments(layout), intensities, int(d / gap))
    middles: Any = columns + 0.5
    places = avoid_overlaps(middles, np.full(len(columns), gap), 0, d)
    _draw_leaders(ax, middles, places)
    below = _points(ax, 0)
    return [
        ax.text(
            place,
            -LEADER - 2.0,
            shown(words[column], 18),
            transform=below,
            fontsize=FONT,
            color=readable(hue(int(layout.n_sharing[column]), K)),
            rotation=90,
            ha="center",
            va="top",
            parse_math=False,
        )
        for column, place in zip(columns, places, strict=True)
    ]


def _draw_leaders(ax: Axes, columns: Array, places: Array) -> None:
    """Draw a line from each of these columns to its word."""
    from matplotlib.collections import LineCollection  # noqa: PLC0415

    ends = [
        [(column, 0.0), (place, -LEADER)] for column, place in zip(columns, places, strict=True)
    ]
    lines = LineCollection(ends, colors=FAINT, linewidths=0.4, transform=_points(ax, 0))
    lines.set_clip_on(False)
    ax.add_collection(lines, autolim=False)


def _meanings(n: int, K: int, size: int) -> tuple[str, ...]:
    """Say what an n_j means and how many columns have it, at length and in short."""
    special = {2: "pairs", K: "all", 1: "one cluster", 0: "nobody's"}  # all of one: one cluster
    name = special.get(n, f"{n} clusters")
    return (
        f"{name}: {size:,}",
        special.get(n, f"{n}: {size:,}"),
        "one" if n == 1 else special.get(n, str(n)),
    )


def _label(ax: Axes, x: float, points: float, text: str, colour: str) -> Any:
    return ax.text(
        x,
        points,
        text,
        transform=_points(ax, 1),
        color=readable(colour),
        fontsize=FONT + 0.5,
        ha="center",
        va="bottom",
        parse_math=False,
    )


def _points(ax: Axes, edge: int) -> Any:
    """Return columns across, and points above the lower (0) or upper (1) edge of the picture."""
    from matplotlib.transforms import (  # noqa: PLC0415
        Affine2D,
        ScaledTranslation,
        blended_transform_factory,
    )

    points = Affine2D().scale(1.0 / 72.0) + whole_figure(ax).dpi_scale_trans
    corner: Any = ax.transAxes
    return blended_transform_factory(
        ax.transData, points + ScaledTranslation(0.0, float(edge), corner)
    )


def _width(ax: Axes, text: Any) -> float:
    """Return the width of a text in columns."""
    box = text.get_window_extent().transformed(ax.transData.inverted())
    return float(box.width)

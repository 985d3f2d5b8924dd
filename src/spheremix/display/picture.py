"""A picture of pixels with its margins: what the maps of prototypes and of data share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.display import pixels
from spheremix.display.margins import write_above, write_words
from spheremix.display.place import inches, name_rows, shown, whole_figure
from spheremix.display.style import INK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from spheremix.reading import Layout

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

DOTS = 100  # an inch: files of so many dots an inch, or more, show every column of the picture
LOWEST = 0.125  # inches of the lowest row, whose name must find its place


class PixelDisplay:
    """A picture whose columns are features in the paper's order, and whose rows are clusters."""

    levels = 255  # of intensity

    def __init__(
        self,
        layout: Layout,
        intensities: Array,
        sizes: ArrayLike,
        names: Sequence[str] | None,
        words: Sequence[str] | None,
    ) -> None:
        self.layout = layout
        self.intensities = intensities
        self.sizes = np.asarray(sizes)
        self.names = [f"cluster {k}" for k in range(len(layout.groups))] if names is None else names
        self.words = words

    def _plot(self, ax: Axes, gamma: float) -> None:
        """Draw what is written around the picture, then the picture in the room that is left."""
        clusters, d = self.layout.groups, len(self.layout.features)
        sizes = self.sizes[clusters]
        counted = np.issubdtype(sizes.dtype, np.integer)
        rows = [
            f"{shown(self.names[k], 30)}  {size:{',' if counted else '.1%'}}"
            for k, size in zip(clusters, sizes.tolist(), strict=True)
        ]
        ax.set(xlim=(0, d), ylim=(1, 0))
        ax.set_xticks([])
        name_rows(ax, np.linspace(0, 1, len(rows)), rows)
        width, _ = inches(ax)
        write_above(ax, self.layout, self.names, "features" if self.words is None else "words")
        self.words_ = self._write_words(ax, width)
        _, height = inches(ax)
        shares = pixels.heights(sizes, LOWEST / height)
        bands = pixels.rows_of(shares, max(len(rows), int(DOTS * height)))
        bounds = np.array([0, *np.cumsum(bands)]) / sum(bands)
        name_rows(ax, (bounds[1:] + bounds[:-1]) / 2, rows)
        drawn = [self._band(place, n, int(DOTS * width)) for place, n in enumerate(bands)]
        values, counts = (np.concatenate(part) for part in zip(*drawn, strict=True))
        image = pixels.coloured(values, counts, len(rows), gamma, self.levels)
        self.image_ = ax.imshow(
            image, extent=(0, d, 1, 0), aspect="auto", interpolation="none", zorder=0
        )
        ax.hlines(bounds[1:-1], 0, d, color=INK, lw=0.5)
        for spine in ax.spines.values():
            spine.set(visible=True, color=INK, linewidth=0.5)
        self.ax_, self.figure_ = ax, whole_figure(ax)

    def _write_words(self, ax: Axes, width: float) -> list[Any]:
        if self.words is None:
            return []
        intensities = self.intensities[self.layout.features]
        words = [self.words[j] for j in self.layout.features]
        return write_words(ax, self.layout, words, intensities, width)

    def _band(self, place: int, n_rows: int, n_columns: int) -> tuple[Array, Ids]:
        """Return the pixels of one cluster."""
        raise NotImplementedError


def suitable_height(K: int) -> float:
    """Return the height in inches that suits a picture of so many clusters."""
    return max(1.8, min(0.4 * K, 0.15 * K + 2.4))

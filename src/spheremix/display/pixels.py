"""Pictures of pixels: columns that share a pixel, hues, and the words written around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from spheremix.display.style import (
    FAINT,
    INK,
    Display,
    avoid_overlaps,
    hue,
    hues,
    inches,
    name_rows,
    readable,
    rgb,
    shown,
    whole_figure,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from spheremix.reading import Layout

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

FAINTEST = 247  # of 255, the colour of a value that is nearly zero


def heights(sizes: ArrayLike, least: float) -> Array:
    """Return the share of the picture's height of each row: by size, but none below the least."""
    shares = np.asarray(sizes, dtype=float)
    shares = np.maximum(shares / shares.sum(), 1e-9)  # empty groups have a row too
    if least * len(shares) >= 1.0:
        return np.full(len(shares), 1.0 / len(shares))
    small = np.zeros(len(shares), dtype=bool)
    while True:  # what the small ones are given, the others lose, and may become small
        free = 1.0 - least * small.sum()
        given = np.where(small, least, shares * free / shares[~small].sum())
        if not np.any(given[~small] < least):
            return given
        small |= given < least


def rows_of(shares: Array, n_pixels: int) -> list[int]:
    """Return the rows of pixels of each share of the height, at least one each."""
    edges = np.rint(np.append(0.0, np.cumsum(shares)) * n_pixels).astype(int)
    return [max(1, int(rows)) for rows in np.diff(edges)]


def shares_of(n: int, n_pixels: int) -> tuple[Ids, Ids]:
    """Share n items out over pixels: several a pixel where there are many, one again where few.

    Returns the first item of each pixel, and the one after its last.
    """
    pixels = np.arange(n_pixels + 1) * n // n_pixels
    return pixels[:-1], np.maximum(pixels[1:], pixels[:-1] + 1)


def squeeze(values: Array, n_sharing: Ids, n_pixels: int) -> tuple[Array, Ids]:
    """Return each pixel the largest of the columns that fall into it, and the n_j of that column.

    So nothing that is there vanishes, however many columns share a pixel. No more pixels are made
    than there are columns, and values are absolute.
    """
    d = values.shape[1]
    first, after = shares_of(d, min(d, max(1, n_pixels)))
    within = np.arange((after - first).max())
    # Short pixels repeat their last column, which changes no maximum.
    columns = np.minimum(first[:, None] + within, after[:, None] - 1)
    strongest = values[:, columns].argmax(axis=2)
    chosen = columns[np.arange(len(first)), strongest]
    return np.take_along_axis(values, chosen, axis=1), n_sharing[chosen]


def coloured(values: Array, n_sharing: Ids, K: int, gamma: float, levels: int) -> NDArray[np.uint8]:
    """Return an image: white for zero, the hue of n_j for the largest value, by a power between.

    The fewer levels between them, the smaller the file.
    """
    top = values.max()
    strengths = (values / top) ** gamma if top > 0.0 else np.zeros_like(values)
    strengths = np.rint(levels * strengths) / levels
    colours = np.array([rgb(colour) for colour in hues(K)])[n_sharing]
    image = np.rint(255.0 * (1.0 - strengths[..., None] * (1.0 - colours)))
    # What is not zero is not white, faint as it may be.
    faint = (values > 0.0) & (image.min(axis=-1) > FAINTEST)
    image[faint] = FAINTEST
    return image.astype(np.uint8)


def segments(layout: Layout) -> list[slice]:
    """Return the columns that words are written for: of each n_j, those of one group apart."""
    parts = [columns for n, columns in layout.by_sharing.items() if n > 1]
    return parts + [slice(b.start, b.stop) for b in layout.blocks if b.n_groups == 1]


def written(parts: Sequence[slice], intensities: Array, n_places: int) -> Ids:
    """Choose the columns whose words are written: the most intense ones of each part.

    A part has places by its width and one at least. Places left over go to the parts that have few;
    where they do not suffice, parts of little intensity have none.
    """
    d = len(intensities)
    sizes = np.array([part.stop - part.start for part in parts], dtype=int)
    if not len(sizes) or n_places < 1:
        return np.array([], dtype=np.intp)
    by_width = sizes * n_places // d
    places = np.maximum(1, by_width)
    first = np.array([intensities[part].max() for part in parts])
    for i in np.argsort(first):
        if places.sum() <= n_places:
            break
        places[i] = by_width[i]
    most = np.minimum(sizes, 2 * by_width + 4)  # words stay near to their columns
    while places.sum() < n_places and np.any(places < most):
        wanting = np.where(places < most, places / np.sqrt(sizes), np.inf)
        places[wanting.argmin()] += 1
    chosen = [
        part.start + np.argsort(-intensities[part], kind="stable")[:n]
        for part, n in zip(parts, places, strict=True)
    ]
    return np.sort(np.concatenate(chosen))[: max(n_places, 0)]


FONT = 7.0  # points
LINE = 0.125  # inches from one written word to the next
LEADER = 14.0  # points from the picture down to the words
STRIP, FIRST, LINE_UP = 4.0, 9.0, 11.0  # points from the picture up to the hues, the labels


def write_above(ax: Axes, layout: Layout, names: Sequence[str], features: str) -> None:
    """Draw and write what columns are: hues, of one group only, n_j, and how many of each.

    Whatever finds no room is left out.
    """
    height = FIRST + (LINE_UP if _write_blocks(ax, layout, names) else 0.0)
    _write_groups(ax, layout, height)
    title = f"{len(layout.features):,} {features}, by the number of groups that share them"
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
    """Write above the words of one group only whose they are and how many; count the blocks."""
    K, n_written = len(layout.groups), 0
    for block in layout.blocks:
        if block.n_groups != 1 or K == 1:
            continue
        n, k = block.stop - block.start, block.groups[0]
        name = shown(names[k])
        first = str(k) if name == f"group {k}" else name.partition(" ")[0]
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
    special = {2: "pairs", K: "all", 1: "one group", 0: "nobody's"}  # all of one: one group
    name = special.get(n, f"{n} groups")
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


DOTS = 100  # an inch: files of so many dots an inch, or more, show every column of the picture
LOWEST = 0.125  # inches of the lowest row, whose name must find its place


class PixelDisplay(Display):
    """A picture whose columns are features in the paper's order, and whose rows are groups."""

    levels = 255  # of intensity
    gamma = 0.5  # power of the absolute values
    lowest = 1.8  # inches of the picture, at least

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
        self.names = [f"group {k}" for k in range(len(layout.groups))] if names is None else names
        self.words = words

    def _size(self) -> tuple[float, float]:
        K = len(self.sizes)
        height = max(self.lowest, min(0.4 * K, 0.15 * K + 2.4))
        return 10.0, height + (0.9 if self.words is None else 1.8)

    def plot(self, ax: Any = None, *, gamma: float | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where; a new figure by default.
        gamma : float, default=None
            Power of the absolute values: below 1, small ones are easier to see. 0.5 for prototypes
            and 0.3 for data by default.

        Returns
        -------
        Display
            Itself.
        """
        return self._plot(ax, gamma=self.gamma if gamma is None else gamma)

    def _draw(self, ax: Any, gamma: float = 0.5) -> None:
        """Draw what is written around the picture, then the picture in the room that is left."""
        ax = self.ax_ = self._axes(ax)[0]
        groups, d = self.layout.groups, len(self.layout.features)
        sizes = self.sizes[groups]
        counted = np.issubdtype(sizes.dtype, np.integer)
        rows = [
            f"{shown(self.names[k], 30)}  {size:{',' if counted else '.1%'}}"
            for k, size in zip(groups, sizes.tolist(), strict=True)
        ]
        ax.set(xlim=(0, d), ylim=(1, 0))
        ax.set_xticks([])
        name_rows(ax, np.linspace(0, 1, len(rows)), rows)
        width, _ = inches(ax)
        write_above(ax, self.layout, self.names, "features" if self.words is None else "words")
        self.words_ = self._write_words(ax, width)
        _, height = inches(ax)
        shares = heights(sizes, LOWEST / height)
        bands = rows_of(shares, max(len(rows), int(DOTS * height)))
        bounds = np.array([0, *np.cumsum(bands)]) / sum(bands)
        name_rows(ax, (bounds[1:] + bounds[:-1]) / 2, rows)
        drawn = [self._band(place, n, int(DOTS * width)) for place, n in enumerate(bands)]
        values, counts = (np.concatenate(part) for part in zip(*drawn, strict=True))
        image = coloured(values, counts, len(rows), gamma, self.levels)
        self.image_ = ax.imshow(
            image, extent=(0, d, 1, 0), aspect="auto", interpolation="none", zorder=0
        )
        ax.hlines(bounds[1:-1], 0, d, color=INK, lw=0.5)
        for spine in ax.spines.values():
            spine.set(visible=True, color=INK, linewidth=0.5)

    def _write_words(self, ax: Axes, width: float) -> list[Any]:
        if self.words is None:
            return []
        intensities = self.intensities[self.layout.features]
        words = [self.words[j] for j in self.layout.features]
        return write_words(ax, self.layout, words, intensities, width)

    def _band(self, place: int, n_rows: int, n_columns: int) -> tuple[Array, Ids]:
        """Return the pixels of one group."""
        raise NotImplementedError

"""The documents as a figure: their map with the groups in colour, and the groups in their words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.ndimage import gaussian_filter

from spheremix.display.style import FAINT, INK, Display, group_colours, readable, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.text import Text
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

SIDE = 160  # cells of a side, in which documents are counted
NEAR = 3.5  # cells: what is seen as near
AROUND = (0.88, 0.5)  # of the documents of a group, within its lines
FEW = 3  # documents that have lines around them
NAME = 30  # characters
MANY = 20_000  # documents, from which on points are pixels in an SVG, too
BESIDE = (0.0, 0.04, -0.04, 0.08, -0.08)  # of the height: where a name goes that has no room


class DocumentMapDisplay(Display):
    """The map of the documents: near those that are alike, in the colours of their groups.

    Lines are around half and around most of the documents of a group. Names stand where the
    documents are dense, larger for larger groups; one that would cover another is left out.

    Parameters
    ----------
    positions : array-like of shape (n, 2)
        Between 0 and 1.
    groups : array-like of shape (n,)
        The group of each document, -1 where it belongs nowhere.
    names : sequence of str
        Of the groups.
    places : sequence of (number, shade)
        Of the groups in the palette, as ``run.colours``.
    title : str, default=None
        Written above.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    names_ : list of Text
        Those that had room.
    """

    def __init__(
        self,
        positions: ArrayLike,
        groups: ArrayLike,
        names: Sequence[str],
        places: Sequence[Sequence[float]],
        title: str | None = None,
    ) -> None:
        self.positions = np.asarray(positions, dtype=float)
        self.groups = np.asarray(groups)
        self.names = list(names)
        self.colours = group_colours(places)
        self.title = title

    def _size(self) -> tuple[float, float]:
        return 7.2, 7.4

    def _draw(self, ax: Any) -> None:
        [one] = self._axes(ax)
        self.ax_ = one
        one.set(aspect="equal", xlim=(-0.04, 1.04), ylim=(-0.04, 1.04), xticks=[], yticks=[])
        one.spines[:].set_visible(False)
        n = len(self.groups)
        size = float(np.clip(20_000 / max(n, 1), 0.6, 14.0))
        lost = self.groups < 0
        point: dict[str, Any] = {"s": size, "lw": 0, "alpha": 0.75, "rasterized": n > MANY}
        one.scatter(*self.positions[lost].T, color=FAINT, **point)
        for k, colour in enumerate(self.colours):
            own = self.positions[self.groups == k]
            self._lines(one, own, colour)
            one.scatter(*own.T, color=colour, **point)
        if self.title is not None:
            one.set_title(shown(self.title, 90), fontsize=11, loc="left", parse_math=False)
        self.names_ = self._write(one)

    def _lines(self, ax: Axes, own: Array, colour: str) -> None:
        """Draw lines around half and around most of the documents of a group."""
        if len(own) < FEW:
            return
        # Cells beyond the map, so that lines close.
        edges = np.linspace(-0.1, 1.1, round(1.2 * SIDE) + 1)
        density = gaussian_filter(
            np.histogram2d(own[:, 0], own[:, 1], bins=[edges, edges])[0], NEAR
        )
        cells = np.clip(np.searchsorted(edges, own) - 1, 0, len(edges) - 2)
        there = np.sort(density[cells[:, 0], cells[:, 1]])
        least = FEW / (2 * np.pi * NEAR**2)
        levels = [max(least, 0.999 * there[int((1 - share) * len(own))]) for share in AROUND]
        levels = sorted({level for level in levels if level < there[-1]})
        if not levels:
            return
        middles = (edges[1:] + edges[:-1]) / 2
        ax.contourf(middles, middles, density.T, [*levels, np.inf], colors=colour, alpha=0.1)
        ax.contour(middles, middles, density.T, levels, colors=colour, alpha=0.45, linewidths=0.8)

    def _write(self, ax: Axes) -> list[Text]:
        """Write names, those of large groups first; one that would cover another moves or goes."""
        from matplotlib import patheffects  # noqa: PLC0415

        sizes = np.bincount(self.groups[self.groups >= 0], minlength=len(self.names))
        ground = [patheffects.withStroke(linewidth=2.5, foreground="white", alpha=0.9)]
        written: list[Text] = []
        boxes: list[Any] = []
        for k in np.argsort(-sizes, kind="stable"):
            if not sizes[k]:
                continue
            middle = np.median(self.positions[self.groups == k], axis=0)
            text = ax.text(
                middle[0],
                middle[1],
                shown(" · ".join(self.names[k].split(" · ")[:2]), NAME),
                fontsize=7.0 + 4.0 * np.sqrt(sizes[k] / sizes.max()),
                color=readable(self.colours[k]),
                weight="bold",
                ha="center",
                va="center",
                parse_math=False,
                path_effects=ground,
            )
            for up in BESIDE:
                text.set_y(middle[1] + up)
                box = text.get_window_extent()
                if not any(box.overlaps(other) for other in boxes):
                    written.append(text)
                    boxes.append(box)
                    break
            else:
                text.remove()
        return written


class OverviewDisplay(Display):
    """The groups at a glance: colour, name, size and words, a line each, the largest first.

    Parameters
    ----------
    sizes : array-like of shape (K,)
        Documents of each group.
    names : sequence of str
        Of the groups.
    words : sequence of sequences of str
        The words of each group; those of its name are not written again.
    places : sequence of (number, shade)
        Of the groups in the palette, as ``run.colours``.
    title : str, default=None
        Written above.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    bars_ : BarContainer
        The sizes.
    """

    def __init__(
        self,
        sizes: ArrayLike,
        names: Sequence[str],
        words: Sequence[Sequence[str]],
        places: Sequence[Sequence[float]],
        title: str | None = None,
    ) -> None:
        self.sizes = np.asarray(sizes, dtype=float)
        self.names = list(names)
        self.words = [
            [word for word in several if word not in name.lower().split()]
            for name, several in zip(names, words, strict=True)
        ]
        self.colours = group_colours(places)
        self.title = title

    def _size(self) -> tuple[float, float]:
        return 9.6, 0.7 + 0.34 * len(self.names)

    def _draw(self, ax: Any) -> None:
        [one] = self._axes(ax)
        self.ax_ = one
        order = np.argsort(-self.sizes, kind="stable")
        share = self.sizes[order] / max(self.sizes.max(), 1e-9)
        self.bars_ = one.barh(
            range(len(order)),
            0.16 * share,
            left=0.36,
            height=0.5,
            color=[self.colours[k] for k in order],
        )
        for row, k in enumerate(order):
            how = {"va": "center", "parse_math": False}
            one.text(0.35, row, shown(self.names[k], 34), ha="right", weight="bold", **how)
            one.text(0.366 + 0.16 * share[row], row, f"{self.sizes[k]:,.0f}", color=INK, **how)
            words = shown(", ".join(self.words[k]), 62)
            one.text(0.58, row, words, color=INK, fontsize=8, **how)
        one.set(xlim=(0, 1.12), ylim=(len(order) - 0.4, -0.7))
        one.set_axis_off()
        if self.title is not None:
            one.set_title(shown(self.title, 90), fontsize=11, loc="left", parse_math=False)

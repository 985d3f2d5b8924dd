"""What all figures share: colours, fonts, axes, labels that do not overlap, and files."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.isotonic import isotonic_regression

from spheremix import select
from spheremix.errors import MissingPackageError
from spheremix.wording import install

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from spheremix.reading import Reading

    Array = NDArray[np.float64]

INK, FAINT = "#333333", "#9aa3ad"
DPI = 300  # for print

# By how many groups share a word. They differ in lightness too, and for colour-blind readers;
# towards common vocabulary they darken, so that neighbours can be told apart up to many groups.
NOBODYS, OWN, PAIRS, SOME, MOST, ALL = (
    "#8c8c8c",
    "#b5232f",
    "#e69f00",
    "#5ab4e0",
    "#1f74b8",
    "#25216e",
)

# Okabe and Ito's colours; lines differ in their dashes too, and points in their shape.
CRITERIA: dict[str, dict[str, Any]] = {
    **{name: {"color": INK, "linestyle": (0, (1, 3))} for name in select.CRITERIA},  # if not below
    "aic": {"color": "#D55E00", "linestyle": "--"},
    "bic": {"color": "#0072B2", "linestyle": "-"},
    "ebic": {"color": "#009E73", "linestyle": "-."},
    "ric": {"color": "#CC79A7", "linestyle": ":"},
    "ricc": {"color": "#56B4E9", "linestyle": (0, (5, 1, 1, 1, 1, 1))},
    "icl": {"color": "#8c6d4f", "linestyle": (0, (8, 2))},
}
NAMES = {**{name: name.upper() for name in select.CRITERIA}, "ricc": "RICc"}
CLUSTERS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8c6d4f")
# Of groups, by their number in the palette: as ``report/page/lib/colours.js`` has them on white.
GROUPS = (
    *("#6d87df", "#c8455c", "#23918d", "#c7b200", "#6543bd", "#813901"),
    *("#54c0e3", "#6c881c", "#eb8d71", "#086037", "#9b5c73", "#6b3f6d"),
)
MUTED = (
    *("#858da3", "#8d7173", "#688684", "#b5b298", "#605d73", "#614b40"),
    *("#9ab6c1", "#778069", "#bea29a", "#415648", "#846a72", "#5c4b5d"),
    *("#776698", "#ad745c", "#4089a0", "#415928", "#b68ebd", "#cbaa75"),
    *("#2e527b", "#5a906b", "#744d1f", "#72c2b8", "#b77871", "#d89ab0"),
)
PALER = 0.35  # of white, in each shade of a colour
SHAPES = ("o", "s", "^", "D", "v", "P", "X", "<", ">")  # nine, so that pairs repeat after 63

# Scripts that the first font has not, where one of these is installed.
FALLBACKS = (
    "Noto Sans CJK JP",
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "Arial Unicode MS",
    "Microsoft YaHei",
    "Hiragino Sans",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Noto Emoji",
)
STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "spheremix",  # the same file for the same figure
    "image.composite_image": False,
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def hues(n_groups: int) -> list[str]:
    """Return the colours of words that no group has, one, two, ..., all K, as "#rrggbb"."""
    return [hue(n, n_groups) for n in range(n_groups + 1)]


def hue(n_j: int, n_groups: int) -> str:
    """Return the colour of the words that so many of K groups share, as "#rrggbb"."""
    if not 0 <= n_j <= n_groups:
        raise ValueError(f"n_j is a number of groups, from 0 to {n_groups}: got {n_j}.")
    if n_j < 2:
        return (NOBODYS, OWN)[n_j]
    if n_j == n_groups:
        return ALL
    if n_j == 2:
        return PAIRS
    along = (n_j - 3) / max(1, n_groups - 4)
    return _hex((1 - along) * v + along * w for v, w in zip(rgb(SOME), rgb(MOST), strict=True))


def rgb(colour: str) -> tuple[float, float, float]:
    """Return "#rrggbb" as three numbers between 0 and 1."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def readable(colour: str) -> str:
    """Return the colour darkened until letters in it stand out on white, at least 4.5 to 1."""
    channels = np.array(rgb(colour))
    while True:
        linear = np.where(
            channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4
        )
        if 1.05 / (0.05 + linear @ (0.2126, 0.7152, 0.0722)) >= 4.5:
            return _hex(channels)
        channels *= 0.97


def group_colours(places: Sequence[Sequence[float]]) -> list[str]:
    """Return the colour of each group by its number in the palette and its shade."""
    found = []
    for number, shade in places:
        which = int(number)
        after = which - len(GROUPS)
        colour = GROUPS[which] if after < 0 else MUTED[after % len(MUTED)]
        white = 1.0 - (1.0 - PALER) ** (int(shade) % 3)
        found.append(_hex(white + (1.0 - white) * channel for channel in rgb(colour)))
    return found


def _hex(channels: Iterable[float]) -> str:
    return "#" + "".join(f"{round(255 * float(v)):02x}" for v in channels)


def cluster_style(k: int) -> dict[str, Any]:
    """Return the colour and the shape of a group's points."""
    return {"color": CLUSTERS[k % len(CLUSTERS)], "marker": SHAPES[k % len(SHAPES)]}


@contextmanager
def in_style() -> Iterator[None]:
    """Draw in the style of the house, or say what drawing needs."""
    try:
        import matplotlib as mpl  # noqa: PLC0415
        from matplotlib import font_manager  # noqa: PLC0415
    except ImportError as error:
        raise MissingPackageError(
            "Figures take the package matplotlib", remedies=(install("matplotlib"),)
        ) from error
    installed = set(font_manager.get_font_names())
    fonts = ["DejaVu Sans", *(name for name in FALLBACKS if name in installed)]
    settings: Any = STYLE | {"font.family": fonts}
    with mpl.rc_context(settings), warnings.catch_warnings():
        # A script that no font here has is drawn as boxes; SVG files keep the characters.
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        yield


def save(figure: Figure, folder: str | PathLike[str], name: str) -> list[str]:
    """Write a figure as SVG and as PNG into a folder, made where it is missing; name the files."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    with in_style():
        figure.savefig(place / f"{name}.svg", metadata={"Date": None})
        figure.savefig(place / f"{name}.png", dpi=DPI)
    return [f"{name}.svg", f"{name}.png"]


class Display:
    """A figure: values that were computed, which ``plot`` draws.

    Attributes
    ----------
    ax_ : matplotlib Axes or ndarray of them
        Where it was drawn.
    figure_ : Figure
        The whole figure.
    """

    ax_: Any
    figure_: Any

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches that suit it."""
        return self._size()

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or array of them, default=None
            Where; a new figure by default. Several panels take one, which is cut up, or one each.

        Returns
        -------
        Display
            Itself.
        """
        return self._plot(ax)

    def _plot(self, ax: Any, **how: Any) -> Self:
        with in_style():
            self._draw(ax, **how)
        return self

    def _size(self) -> tuple[float, float]:
        raise NotImplementedError

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError

    def _axes(self, ax: Any, n: int = 1, n_columns: int = 1, **shared: Any) -> NDArray[Any]:
        """Return n axes: the caller's, those that his one is cut into, or those of a new figure."""
        shape = (-(-n // n_columns), n_columns)
        if ax is None:
            import matplotlib.pyplot as plt  # noqa: PLC0415

            figure: Any = plt.figure(figsize=self.size, layout="constrained")
            given: NDArray[Any] = figure.subplots(*shape, squeeze=False, **shared).ravel()
        elif n == 1 or np.ndim(ax):
            given = np.ravel(ax)
            if len(given) < n:
                raise ValueError(f"ax must have {n} axes, one a panel: got {len(given)}.")
        else:
            ax.set_axis_off()
            grid = ax.get_subplotspec().subgridspec(*shape)
            given = grid.subplots(squeeze=False, **shared).ravel()
        for unused in given[n:]:
            unused.set_axis_off()
        self.figure_ = whole_figure(given[0])
        return given[:n]


def whole_figure(ax: Axes) -> Figure:
    """Return the figure that axes stand in, subfigure or not."""
    figure: Any = ax.get_figure(root=True)
    return figure  # type: ignore[no-any-return]


def inches(ax: Axes) -> tuple[float, float]:
    """Lay the figure out as it stands; return width and height of the axes."""
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


def group_names(reading: Reading) -> list[str]:
    """Name each group as people did, or by words of its own, of its documents, or its number."""
    contrast = reading.contrast or [()] * reading.n_groups
    is_named = reading.names is not None or words_of(reading) is not None
    names = [
        reading.group_name(k) if is_named or contrast[k] else "" for k in range(reading.n_groups)
    ]
    return [name or f"group {k}" for k, name in enumerate(names)]


def name_rows(ax: Axes, places: ArrayLike, names: Sequence[str], size: float = 8) -> None:
    """Write the names of rows beside the vertical axis, as they are and not as formulas."""
    ax.set_yticks(np.asarray(places), list(names), fontsize=size)
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.tick_params(axis="y", length=0)

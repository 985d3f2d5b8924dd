"""Shares of groups by label, number or date, with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from spheremix.display.style import CLUSTERS, INK, in_style, name_rows, shown, whole_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from spheremix.reading.effects import Effects

BLUE = CLUSTERS[0]
MOST_TICKS = 5


class EffectsDisplay:
    """Shares of the groups at the values of a column, a panel a group, on one scale.

    Labels are points with intervals, numbers and dates are curves with bands. Groups that are not
    stable are named, and nothing is drawn.

    Parameters
    ----------
    effects : Effects
        As :func:`spheremix.effects` returns them.
    column : str, default=None
        Which column; the first by default.

    Attributes
    ----------
    ax_ : ndarray of Axes
        One a group.
    figure_ : Figure
        Where it was drawn.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, y, _ = sm.datasets.make_vmf_mixture(200, 10, 2, overlap=0.02, random_state=0)
    >>> mixture = sm.VMFMixture(2, random_state=0).fit(X)
    >>> found = sm.effects(mixture, X, {"side": y % 2}, n_replicates=20)
    >>> sm.EffectsDisplay(found).plot().ax_.shape
    (2,)
    """

    ax_: Any
    figure_: Any

    def __init__(self, effects: Effects, column: str | None = None) -> None:
        self.effects = effects
        self.column = effects.columns[0] if column is None else effects[column]

    @property
    def n_axes(self) -> int:
        """One for each group."""
        return len(self.effects.names)

    @property
    def size(self) -> tuple[float, float]:
        """Size of a new figure, in inches."""
        each = 1.3 if self.column.kind != "label" else 0.6 + 0.28 * len(self.column.values)
        return 6.0, each * self.n_axes

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : sequence of matplotlib Axes, default=None
            One a group; a new figure by default.

        Returns
        -------
        EffectsDisplay
            Itself.
        """
        column, names = self.column, self.effects.names
        top = float(np.nanmax(column.high, initial=0.0)) * 1.05 or 1.0
        curve = column.kind != "label"
        with in_style():
            if ax is None:
                import matplotlib.pyplot as plt  # noqa: PLC0415

                figure: Any = plt.figure(figsize=self.size, layout="constrained")
                ax = figure.subplots(len(names), squeeze=False)
            elif np.size(ax) != len(names):
                raise ValueError(f"ax must have {len(names)} axes, one a group: got {np.size(ax)}.")
            self.ax_ = np.ravel(ax)
            self.figure_ = whole_figure(self.ax_[0])
            for k, (axes, name) in enumerate(zip(self.ax_, names, strict=True)):
                stable = bool(self.effects.stable[k])
                title = shown(name, 60) if stable else f"{shown(name, 60)}: not stable"
                axes.set_title(title, loc="left", fontsize=9, color=INK, parse_math=False)
                (self._curve if curve else self._points)(axes, k, top)
        return self

    def _points(self, ax: Axes, k: int, top: float) -> None:
        column = self.column
        places = np.arange(len(column.values))
        ax.hlines(places, column.low[:, k], column.high[:, k], color=BLUE, lw=1.5)
        ax.plot(column.shares[:, k], places, "o", color=BLUE, ms=4)
        ax.set(xlim=(0.0, top), ylim=(len(places) - 0.5, -0.5))
        name_rows(ax, places, [f"{column.name} = {shown(str(one), 20)}" for one in column.values])

    def _curve(self, ax: Axes, k: int, top: float) -> None:
        column = self.column
        places = np.arange(len(column.values))
        ax.fill_between(places, column.low[:, k], column.high[:, k], color=BLUE, alpha=0.25, lw=0)
        ax.plot(places, column.shares[:, k], color=BLUE, lw=1.5)
        ax.set(xlim=(0, len(places) - 1), ylim=(0.0, top))
        ticks = np.unique(np.linspace(0, len(places) - 1, MOST_TICKS).round().astype(int))
        values = [column.values[i] for i in ticks]
        texts = [str(one) if column.kind == "date" else f"{one:.4g}" for one in values]
        ax.set_xticks(ticks, texts, fontsize=8)

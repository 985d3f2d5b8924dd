"""The number of groups that the advice chose, and the score that decided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.display.style import FAINT, INK, Display

if TYPE_CHECKING:
    from spheremix.advice import Advice

PANELS = {
    "score": "Score, which decides: the largest one",
    "agreement": "Agreement of halves (ARI)",
    "coming_back": "Documents in groups that come back",
}


class AdviceDisplay(Display):
    """The evidence for the number of groups: a panel for the score that decided, then the others.

    Parameters
    ----------
    advice : Advice
        As ``advice_`` of a study, or ``run.advice``.
    chosen : int, default=None
        The number of groups that was taken: a ring, and a dotted line.

    Attributes
    ----------
    ax_ : ndarray of Axes
        One a panel.
    figure_ : Figure
        Where it was drawn.
    """

    def __init__(self, advice: Advice, chosen: int | None = None) -> None:
        table = advice.table()
        self.n_components = np.asarray(table["n_components"])
        found = {name: np.asarray(table[name], dtype=float) for name in PANELS}
        self.values = {name: one for name, one in found.items() if np.isfinite(one).any()}
        self.levels = [str(level) for level in table["level"]]
        self.chosen = chosen

    def _size(self) -> tuple[float, float]:
        return 3.4 * max(len(self.values), 1) + 0.6, 3.0

    def _draw(self, ax: Any) -> None:
        n = max(len(self.values), 1)
        axes = self.ax_ = self._axes(ax, n, n, sharex=True)
        at = np.flatnonzero(self.n_components == self.chosen)
        for one, (name, values) in zip(axes, self.values.items(), strict=False):
            one.plot(self.n_components, values, color=INK, lw=1.6, marker="o", ms=3.5)
            one.set_title(PANELS[name], fontsize=9)
            one.set_xlabel("number of groups K")
            if at.size:
                one.axvline(self.chosen, color=FAINT, lw=1.2, ls=":", zorder=0)
                ring = {"ms": 10, "mfc": "none", "mec": INK, "mew": 1.5, "zorder": 6}
                one.plot(self.chosen, values[at[0]], marker="o", **ring)
            if name == "score":
                star = {"ms": 12, "color": INK, "mec": "white", "zorder": 5}
                best = int(np.nanargmax(values))
                one.plot(self.n_components[best], values[best], marker="*", **star)
            for K, level, value in zip(self.n_components, self.levels, values, strict=True):
                if level and np.isfinite(value):
                    one.annotate(
                        f"{level}: {K}",
                        (K, value),
                        xytext=(4, 7),
                        textcoords="offset points",
                        fontsize=7.5,
                    )
            one.margins(y=0.18)

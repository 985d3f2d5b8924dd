"""The path of beta as curves, and the steps that criteria select."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np

from spheremix.display.style import (
    CRITERIA,
    INK,
    NAMES,
    Display,
    avoid_overlaps,
)
from spheremix.reading.reading import require_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

Against = Literal["beta", "step"]
SHOWN = ("aic", "bic", "ebic")
BELOW = 200.0  # times below the largest beta, nothing happens


class PathDisplay(Display):
    """Sparsity, log-likelihood and criteria along a path, and the steps that criteria select.

    Log-likelihoods and criteria are per row; of a criterion, what it is above its smallest value.

    Parameters
    ----------
    betas, sparsity, log_likelihoods : array-like of shape (n_steps,)
        One value a step.
    criteria : dict of array-like of shape (n_steps,)
        By name; smaller is better.
    selected : dict of int
        The step that each of the criteria selects.
    n_nonzero : array-like of shape (n_steps,), default=None
        Words of a group on average.
    n_samples : float, default=1.0
        Rows, or their total weight.
    features : str, default="words"
        What features are called.

    Attributes
    ----------
    ax_ : ndarray of Axes
        One a panel: sparsity, log-likelihood, criteria; against the steps, beta before them.
    figure_ : Figure
        Where it was drawn.
    stars_ : dict of list of Line2D
        The selected step of each criterion, one in each panel that shows it.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(random_state=0)
    >>> path = sm.VMFPath(4, random_state=0).fit(X)
    >>> display = sm.PathDisplay.from_estimator(path)
    >>> sorted(display.selected)
    ['aic', 'bic', 'ebic']
    """

    def __init__(
        self,
        betas: ArrayLike,
        sparsity: ArrayLike,
        log_likelihoods: ArrayLike,
        criteria: Mapping[str, ArrayLike],
        selected: Mapping[str, int],
        *,
        n_nonzero: ArrayLike | None = None,
        n_samples: float = 1.0,
        features: str = "words",
    ) -> None:
        self.betas = np.asarray(betas, dtype=float)
        self.sparsity = np.asarray(sparsity, dtype=float)
        self.log_likelihoods = np.asarray(log_likelihoods, dtype=float)
        self.criteria = {name: np.asarray(values) for name, values in criteria.items()}
        self.selected = dict(selected)
        self.n_nonzero = None if n_nonzero is None else np.asarray(n_nonzero, dtype=float)
        self.n_samples = n_samples
        self.features = features

    @classmethod
    def of(cls, path: Any, criteria: Iterable[str] = SHOWN, features: str = "words") -> Self:
        """Compute what :meth:`from_estimator` draws; ``features`` is what features are called."""
        path = getattr(path, "best_path_", path)
        require_model(path, "betas_")
        names = list(dict.fromkeys([*criteria, path.criterion.lower()]))
        return cls(
            path.betas_,
            path.sparsity_,
            path.log_likelihoods_,
            {name: path.criteria_[name] for name in names},
            {name: path.select(name) for name in names},
            n_nonzero=path.n_nonzero_ / path.kappas_.shape[1],
            n_samples=float(path.sizes_[0].sum()),
            features=features,
        )

    @classmethod
    def from_estimator(
        cls,
        path: Any,
        criteria: Iterable[str] = SHOWN,
        *,
        ax: Any = None,
        against: Against = "beta",
    ) -> Self:
        """Draw a path.

        Parameters
        ----------
        path : VMFPath or VMFMixtureIC
            Fitted.
        criteria : iterable of str, default=("aic", "bic", "ebic")
            Those to show; the one that the path was selected by is always there.
        ax, against
            As in :meth:`plot`.

        Returns
        -------
        PathDisplay
            Drawn.
        """
        return cls.of(path, criteria).plot(ax, against=against)

    def _size(self) -> tuple[float, float]:
        return 9.0, 6.4

    def plot(self, ax: Any = None, *, against: Against = "beta") -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or array of them, default=None
            Where: one, which is cut up, or one a panel; a new figure by default.
        against : {"beta", "step"}, default="beta"
            The horizontal axis: beta on a logarithmic scale, the dense mixture at its left end; or
            the number of the step, with one more panel for beta.

        Returns
        -------
        PathDisplay
            Itself.
        """
        if against not in get_args(Against):
            raise ValueError(f"against must be 'beta' or 'step', got {against!r}.")
        return self._plot(ax, against=against)

    def _draw(self, ax: Any, against: Against = "beta") -> None:
        curves = {
            "sparsity": self.sparsity,
            "log-likelihood\nper row": self.log_likelihoods / self.n_samples,
        }
        if against == "step":
            curves = {"beta": self.betas, **curves}
        n_columns = 2 if against == "step" else 1
        axes = self.ax_ = self._axes(ax, len(curves) + 1, n_columns, sharex=True)
        self.stars_: dict[str, list[Any]] = {name: [] for name in self.criteria}
        x: Any = self._beta_axis(axes) if against == "beta" else np.arange(len(self.betas))
        for one, (label, values) in zip(axes, curves.items(), strict=False):
            self._curve(one, x, values, color=INK)
            one.set_ylabel(label)
            for name in self.criteria:
                self._star(one, x, values, name)
        self._criteria(axes[-1], x)
        for one in axes[-n_columns:]:
            if against == "step":
                one.locator_params(axis="x", integer=True)
            one.set_xlabel(r"$\beta$" if against == "beta" else "step of the path")
        for one in axes:
            one.spines[["top", "right"]].set_visible(False)
        self._name_stars(axes[0], x)

    def _beta_axis(self, axes: NDArray[Any]) -> Array:
        """Return the places of the steps on a logarithmic axis, beta = 0 at its left end."""
        chosen = [self.betas[i] for i in self.selected.values() if self.betas[i] > 0.0]
        lowest = min([self.betas[-1] / BELOW, *chosen])
        seen = (self.betas > 0.0) & (self.betas >= lowest)
        first = self.betas[seen][0] if seen.any() else 1.0
        last = max(self.betas[-1], first)
        left = first / (last / first) ** 0.06 / 1.2
        ticks = [m * 10.0**e for e in range(-12, 13) for m in (1, 2, 5)]
        ticks = [tick for tick in ticks if left * 1.15 < tick <= last]
        if len(ticks) > 9:
            ticks = [tick for tick in ticks if f"{tick:e}".startswith("1")]
        for one in axes:
            one.set(xscale="log", xlim=(left / (last / left) ** 0.03, last * (last / left) ** 0.03))
            one.set_xticks([left, *ticks], ["0", *(f"{tick:,g}" for tick in ticks)])
            one.minorticks_off()
        places = np.where(seen, self.betas, np.nan)
        places[0] = left if self.betas[0] == 0.0 else places[0]
        return places

    def _curve(self, ax: Any, x: Array, values: Array, **style: Any) -> None:
        """Draw a curve; the dense mixture stands apart on an axis of betas."""
        placed = np.flatnonzero(np.isfinite(x))
        if ax.get_xscale() == "log" and self.betas[0] == 0.0:
            ax.plot(x[0], values[0], "o", ms=5, color=style["color"])
            first, placed = placed[:2], placed[1:]
            ax.plot(x[first], values[first], color=style["color"], lw=0.8, ls=":")
        marker = "o" if len(placed) <= 60 else None
        ax.plot(x[placed], values[placed], lw=1.6, marker=marker, ms=2.5, **style)

    def _criteria(self, ax: Any, x: Array) -> None:
        """Draw what criteria are above their smallest values, per row."""
        tops = []
        for name, values in self.criteria.items():
            above = (values - np.nanmin(values)) / self.n_samples
            self._curve(ax, x, above, **CRITERIA[name])
            self._star(ax, x, above, name)
            tops.append(max(above[0], np.median(above)))
            i = self.selected[name]
            label = f"{NAMES[name]}: sparsity {self.sparsity[i]:.2f}"
            if self.n_nonzero is not None:
                many = f"{self.n_nonzero[i]:,.0f} {self.features} a group"
                label = f"{NAMES[name]}: {many}, sparsity {self.sparsity[i]:.2f}"
            ax.plot([], [], lw=1.6, label=label, **CRITERIA[name])
        # The far end of the path is high above, and would flatten everything else.
        top = 2.1 * max(tops)
        if top > 0.0:
            ax.set_ylim(-0.08 * top, top)
        ax.set_ylabel("criterion above its\nsmallest, per row")
        ax.legend(frameon=False, loc="best", fontsize=8)

    def _star(self, ax: Any, x: Array, values: Array, name: str) -> None:
        i, colour = self.selected[name], CRITERIA[name]["color"]
        ax.axvline(x[i], color=colour, lw=0.9, ls=":", zorder=0)
        star: dict[str, Any] = {
            "ms": 12,
            "color": colour,
            "mec": "white",
            "zorder": 5,
            "clip_on": False,
        }
        self.stars_[name] += ax.plot(x[i], values[i], "*", **star)

    def _name_stars(self, ax: Any, x: Array) -> None:
        """Write above the first panel which criterion selects where."""
        self.figure_.draw_without_rendering()
        order = sorted(self.selected, key=lambda name: self.selected[name])
        texts = [
            ax.annotate(
                NAMES[name],
                (x[self.selected[name]], 1.0),
                (0.0, 3.0),
                xycoords=ax.get_xaxis_transform(),
                textcoords="offset points",
                color=CRITERIA[name]["color"],
                fontsize=8,
                ha="center",
                va="bottom",
            )
            for name in order
        ]
        boxes = [text.get_window_extent() for text in texts]
        frame = ax.get_window_extent()
        middles = np.array([(box.x0 + box.x1) / 2 for box in boxes])
        moved = avoid_overlaps(
            middles, [box.width + 4.0 for box in boxes], frame.x0 - 40, frame.x1 + 40
        )
        for text, shift in zip(texts, moved - middles, strict=True):
            text.xyann = (shift * 72.0 / self.figure_.dpi, 3.0)

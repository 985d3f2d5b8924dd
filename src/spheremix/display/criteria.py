"""Criteria against the number of groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from spheremix.display.style import CRITERIA, INK, NAMES, Display
from spheremix.reading.reading import require_model

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]

SHOWN = ("aic", "bic", "ebic", "ric", "ricc")


class CriteriaDisplay(Display):
    """Criteria against the number of groups: what repetitions give, and what is chosen.

    A panel a criterion: what it is above its smallest value (a star), per row. The chosen number
    has a ring and a dotted line, and stands in the title. Several repetitions are points, their
    mean dashed, with a band of two standard deviations that does not go below the lowest point; the
    best of them is the line, or their mean where there is no best.

    Parameters
    ----------
    n_components : array-like of shape (n_candidates,)
        The numbers of groups.
    best : dict of array-like of shape (n_candidates,), default=None
        Values of the best mixture of each number, by criterion.
    repetitions : dict of array-like of shape (n_candidates, n_repetitions), default=None
        Values of all, by criterion; NaN where there is none.
    chosen : int, default=None
        The number of groups that was chosen.
    agreement : array-like of shape (n_candidates,), default=None
        How far restarts agree, in one more panel.
    n_samples : float, default=1.0
        Rows, or their total weight.

    Attributes
    ----------
    means, deviations : dict of ndarray of shape (n_candidates,)
        Of the repetitions, by criterion.
    ax_ : ndarray of Axes
        One a criterion, and one for the agreement.
    figure_ : Figure
        Where it was drawn.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(random_state=0)
    >>> study = sm.VMFMixtureIC(n_components=range(2, 7), random_state=0).fit(X)
    >>> display = sm.CriteriaDisplay.from_estimator(study)
    >>> display.chosen
    4
    """

    def __init__(
        self,
        n_components: ArrayLike,
        best: Mapping[str, ArrayLike] | None = None,
        repetitions: Mapping[str, ArrayLike] | None = None,
        *,
        chosen: int | None = None,
        agreement: ArrayLike | None = None,
        n_samples: float = 1.0,
    ) -> None:
        if best is None and repetitions is None:
            raise ValueError("Give best, or repetitions, or both.")
        self.n_components = np.asarray(n_components)
        self.repetitions = {k: np.asarray(v, float) for k, v in (repetitions or {}).items()}
        moments = {name: _moments(values) for name, values in self.repetitions.items()}
        self.means = {name: mean for name, (mean, _) in moments.items()}
        self.deviations = {name: deviation for name, (_, deviation) in moments.items()}
        self.best = self.means if best is None else {k: np.asarray(v) for k, v in best.items()}
        self.chosen = chosen
        self.agreement = None if agreement is None else np.asarray(agreement)
        self.n_samples = n_samples

    @classmethod
    def of(cls, study: Any, criteria: Iterable[str] = SHOWN) -> Self:
        """Compute what :meth:`from_estimator` draws."""
        require_model(study, "table_")
        names, runs = list(criteria), study.table_
        each = [runs["n_components"] == K for K in study.candidates_]
        most = max(int(mine.sum()) for mine in each)
        repetitions = {name: np.full((len(each), most), np.nan) for name in names}
        for i, mine in enumerate(each):
            for name in names:
                repetitions[name][i, : mine.sum()] = runs[name][mine]
        return cls(
            study.candidates_,
            {name: study.dense_criteria_[name] for name in names},
            repetitions if most > 1 else None,
            chosen=study.best_n_components_,
            agreement=study.agreement_ if most > 1 else None,
            n_samples=study.total_weight_,
        )

    @classmethod
    def from_estimator(cls, study: Any, criteria: Iterable[str] = SHOWN, *, ax: Any = None) -> Self:
        """Draw the criteria of a study.

        Parameters
        ----------
        study : VMFMixtureIC
            Fitted.
        criteria : iterable of str, default=("aic", "bic", "ebic", "ric", "ricc")
            Those to show.
        ax
            As in :meth:`plot`.

        Returns
        -------
        CriteriaDisplay
            Drawn.
        """
        return cls.of(study, criteria).plot(ax)

    @property
    def n_panels(self) -> int:
        """One a criterion, and one for the agreement."""
        return len(self.best) + (self.agreement is not None)

    @property
    def n_columns(self) -> int:
        """Panels side by side: three or two, where that leaves no place empty, or all of them."""
        return next((n for n in (3, 2) if self.n_panels % n == 0), self.n_panels)

    def _size(self) -> tuple[float, float]:
        return max(9.6, 2.4 * self.n_columns), 0.4 + 2.5 * (self.n_panels // self.n_columns)

    def _draw(self, ax: Any) -> None:
        axes = self.ax_ = self._axes(ax, self.n_panels, self.n_columns, sharex=True)
        for one, name in zip(axes, self.best, strict=False):
            self._panel(one, name)
        if self.agreement is not None:
            axes[-1].plot(self.n_components, self.agreement, color=INK, lw=1.8, marker="o", ms=4)
            axes[-1].set_title("Agreement of restarts (ARI)", fontsize=9)
            axes[-1].set_ylim(min(0.0, float(np.nanmin(self.agreement))), 1.05)
        for i, one in enumerate(axes):
            if self.chosen is not None:
                one.axvline(self.chosen, color=INK, lw=1.2, ls=":", zorder=0)
            if len(self.n_components) <= 14:
                one.set_xticks(self.n_components)
            one.spines[["top", "right"]].set_visible(False)
            place = one.get_subplotspec()
            if place is None or place.is_first_col():
                one.set_ylabel("above its smallest,\nper row")
            if place is None or i + place.get_gridspec().ncols >= len(axes):
                one.set_xlabel("number of groups K")
                one.tick_params(labelbottom=True)

    def _panel(self, ax: Any, name: str) -> None:
        """Draw one criterion."""
        style, Ks, best = CRITERIA[name], self.n_components, self.best[name]
        smallest = np.nanmin(best)
        place = int(np.nanargmin(best))

        def above(values: Array) -> Array:
            return (values - smallest) / self.n_samples

        if name in self.repetitions:
            each, mean, reach = self.repetitions[name], self.means[name], 2 * self.deviations[name]
            # Nothing was found below the smallest of them.
            low = mean - reach if best is mean else np.fmax(mean - reach, np.fmin.reduce(each, 1))
            band = {"color": style["color"], "alpha": 0.18, "lw": 0}
            ax.fill_between(Ks, above(low), above(mean + reach), **band)
            if best is not mean:
                ax.plot(Ks, above(each), ".", ms=3, color=style["color"], alpha=0.6)
                ax.plot(Ks, above(mean), color=style["color"], lw=1.0, ls="--")
        ax.plot(Ks, above(best), color=style["color"], lw=1.8, marker="o", ms=4)
        star = {"ms": 13, "color": style["color"], "mec": "white", "zorder": 5}
        ax.plot(Ks[place], 0.0, marker="*", **star)
        chosen = np.flatnonzero(Ks == self.chosen)
        if chosen.size:
            ring = {"ms": 10, "mfc": "none", "mec": INK, "mew": 1.5, "zorder": 6}
            ax.plot(self.chosen, above(best)[chosen[0]], marker="o", **ring)
        ax.set_title(f"{NAMES[name]}: {self._verdict(Ks[place])}", fontsize=9)

    def _verdict(self, smallest: int) -> str:
        """Say which number was chosen, and where a criterion is smallest if that is another."""
        if self.chosen is None:
            return f"smallest at K = {smallest}"
        other = "" if smallest == self.chosen else f", smallest at {smallest}"
        return f"K = {self.chosen} chosen{other}"


def _moments(values: Array) -> tuple[Array, Array]:
    """Return mean and standard deviation of each row, of the values that are there."""
    there = np.isfinite(values)
    n = there.sum(axis=1)
    mean = np.where(there, values, 0.0).sum(axis=1) / np.where(n > 0, n, np.nan)
    squares = np.where(there, (values - mean[:, None]) ** 2, 0.0).sum(axis=1)
    return mean, np.sqrt(squares / np.where(n > 1, n - 1, np.nan))

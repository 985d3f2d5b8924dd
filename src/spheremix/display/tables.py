"""Groups against labels and time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np

from spheremix.display.style import CLUSTERS, INK, Display, name_rows, shown
from spheremix.reading import contingency, group_order, timeline

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from spheremix.reading import Contingency, Timeline

Share = Literal["group", "label"]
BLUE = CLUSTERS[0]


class LabelsDisplay(Display):
    """Labels of the documents of each group: their numbers, on the colour of their share.

    Parameters
    ----------
    table : Contingency
        As :func:`spheremix.reading.contingency` returns it.
    names : sequence of str, default=None
        Of the groups.
    title : str, default=None
        What the labels are, written above them.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    image_ : AxesImage
        The shares.
    text_ : ndarray of Text
        The numbers, one a cell.

    Examples
    --------
    >>> import spheremix as sm
    >>> display = sm.LabelsDisplay.from_groups([0, 0, 1], ["sea", "sky", "sky"])
    >>> display.text_[0, 0].get_text()
    '1'
    """

    def __init__(
        self, table: Contingency, names: Sequence[str] | None = None, title: str | None = None
    ) -> None:
        self.table = table
        self.names = _named(names, len(table.counts))
        self.title = title

    @classmethod
    def from_groups(
        cls,
        groups: ArrayLike,
        labels: Iterable[Any],
        *,
        names: Sequence[str] | None = None,
        ax: Axes | None = None,
        share: Share = "group",
        n_labels: int = 20,
    ) -> Self:
        """Count and draw.

        Parameters
        ----------
        groups : array-like of shape (n,)
            Group of each document; those without one (-1) are left out.
        labels : iterable of length n
            A value a document, or a list of them.
        names : sequence of str, default=None
            Of the groups.
        ax, share, n_labels
            As in :meth:`plot`.

        Returns
        -------
        LabelsDisplay
            Drawn.
        """
        n_groups = None if names is None else len(names)
        table = contingency(groups, labels, n_groups=n_groups)
        return cls(table, names).plot(ax, share=share, n_labels=n_labels)

    def _size(self) -> tuple[float, float]:
        n_labels = min(21, len(self.table.labels))
        return 3.4 + 0.44 * max(3, n_labels), 1.6 + 0.26 * len(self.names)

    def plot(self, ax: Axes | None = None, *, share: Share = "group", n_labels: int = 20) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where; a new figure by default.
        share : {"group", "label"}, default="group"
            Whether colours are shares of the group's documents, or of the label's.
        n_labels : int, default=20
            How many of the most frequent labels; a last column counts the others together.

        Returns
        -------
        LabelsDisplay
            Itself.
        """
        if share not in get_args(Share):
            raise ValueError(f"share must be 'group' or 'label', got {share!r}.")
        return self._plot(ax, share=share, n_labels=n_labels)

    def _draw(self, ax: Any, share: Share = "group", n_labels: int = 20) -> None:
        table = self.table
        if not table.labels:
            raise ValueError("There is no label to draw: no document of a group has one.")
        rows = group_order(table.group_sizes)
        counts, columns = table.counts[rows], [shown(str(one), 20) for one in table.labels]
        of_labels = table.label_sizes
        if len(columns) > n_labels:
            rest = counts[:, n_labels:].sum(axis=1, keepdims=True)
            counts = np.hstack([counts[:, :n_labels], rest])
            of_labels = np.append(of_labels[:n_labels], of_labels[n_labels:].sum())
            columns = [*columns[:n_labels], f"{len(table.labels) - n_labels:,} others"]
        whole = table.group_sizes[rows][:, None] if share == "group" else of_labels
        # Documents may have several labels: the others together may be more than all.
        shares = np.minimum(1.0, counts / np.maximum(whole, 1))
        ax = self.ax_ = self._axes(ax)[0]
        self.image_ = ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
        sizes = table.group_sizes[rows].tolist()
        names = [f"{shown(self.names[k], 30)}  {n:,}" for k, n in zip(rows, sizes, strict=True)]
        name_rows(ax, np.arange(len(rows)), names)
        ax.set_xticks(range(len(columns)), columns, rotation=45, ha="right", fontsize=8)
        for label in ax.get_xticklabels():
            label.set(parse_math=False, rotation_mode="anchor")
        ax.tick_params(length=0)
        if self.title is not None:
            heading = shown(self.title, 60)
            ax.set_title(heading, loc="left", fontsize=9, color=INK, parse_math=False)
        self.text_ = self._numbers(ax, counts, shares)
        bar = self.figure_.colorbar(self.image_, ax=ax, shrink=0.8, aspect=25)
        bar.set_label(f"share of the {share}'s documents", fontsize=8)
        bar.outline.set_visible(False)
        for spine in ax.spines.values():
            spine.set_visible(False)

    def _numbers(self, ax: Axes, counts: NDArray[Any], shares: NDArray[Any]) -> NDArray[Any]:
        """Write the number of documents into each cell that has any."""
        text = np.empty(counts.shape, dtype=object)
        for (i, j), count in np.ndenumerate(counts):
            colour = "white" if shares[i, j] > 0.55 else INK
            words = f"{count:,}" if count else ""
            text[i, j] = ax.text(j, i, words, ha="center", va="center", fontsize=7, color=colour)
        return text


class TimelineDisplay(Display):
    """Documents of each group over time, one line of hills a group, on one scale.

    Parameters
    ----------
    table : Timeline
        As :func:`spheremix.reading.timeline` returns it.
    names : sequence of str, default=None
        Of the groups.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    hills_ : list of PolyCollection
        One a group, the largest first.

    Examples
    --------
    >>> import spheremix as sm
    >>> display = sm.TimelineDisplay.from_groups([0, 0, 1], ["2016-10", "2016-12", "2016-12"])
    >>> display.table.periods
    ('2016-10', '2016-11', '2016-12')
    """

    def __init__(self, table: Timeline, names: Sequence[str] | None = None) -> None:
        self.table = table
        self.names = _named(names, len(table.counts))

    @classmethod
    def of(
        cls,
        groups: ArrayLike,
        dates: Iterable[Any],
        names: Sequence[str] | None = None,
        shares: NDArray[np.float64] | None = None,
    ) -> Self:
        """Count what :meth:`from_groups` draws; documents in several groups by their shares."""
        n_groups = None if names is None else len(names)
        found = timeline(groups, dates, period="auto", n_groups=n_groups, shares=shares)
        return cls(found, names)

    @classmethod
    def from_groups(
        cls,
        groups: ArrayLike,
        dates: Iterable[Any],
        *,
        names: Sequence[str] | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Count and draw.

        Parameters
        ----------
        groups : array-like of shape (n,)
            Group of each document; those without one (-1) are left out.
        dates : iterable of length n
            As in :func:`spheremix.reading.timeline`. They are counted by month, or by year where
            there are more than 60 months.
        names : sequence of str, default=None
            Of the groups.
        ax
            As in :meth:`plot`.

        Returns
        -------
        TimelineDisplay
            Drawn.
        """
        return cls.of(groups, dates, names).plot(ax)

    def _size(self) -> tuple[float, float]:
        K = len(self.names)
        return 9.0, 0.8 + K * (0.45 if K <= 12 else 0.3)

    def _draw(self, ax: Any) -> None:
        counts, periods = self.table.counts, self.table.periods
        if not periods:
            raise ValueError("There is no date to draw: no document of a group has one.")
        rows = group_order(counts.sum(axis=1))
        highest = max(1, int(counts.max()))
        edges = np.arange(len(periods) + 1) - 0.5
        ax = self.ax_ = self._axes(ax)[0]
        self.hills_ = []
        for place, k in enumerate(rows):
            top = place + 0.92 * (1.0 - np.append(counts[k], counts[k, -1]) / highest)
            base = np.full(len(edges), place + 0.92)
            hill: dict[str, Any] = {"step": "post", "facecolor": BLUE, "alpha": 0.85, "lw": 0}
            self.hills_.append(ax.fill_between(edges, base, top, **hill))
            ax.hlines(place + 0.92, edges[0], edges[-1], color=INK, lw=0.5)
        totals = counts.sum(axis=1).tolist()
        names = [f"{shown(self.names[k], 30)}  {totals[k]:,}" for k in rows]
        name_rows(ax, np.arange(len(rows)) + 0.6, names)
        ax.set(xlim=(edges[0], edges[-1]), ylim=(len(rows), 0))
        self._name_periods(ax)
        ax.spines[["top", "right", "left", "bottom"]].set_visible(False)
        unit = "year" if len(periods[0]) == 4 else "month"
        undated = f"; {self.table.n_undated:,} without date" if self.table.n_undated else ""
        title = f"Documents a {unit}, the highest hill {highest:,}{undated}"
        ax.set_title(title, loc="left", fontsize=9, color=INK)

    def _name_periods(self, ax: Axes) -> None:
        """Write some of the periods: years where there are several, else months."""
        periods = self.table.periods
        starts = [i for i, period in enumerate(periods) if period[4:] in {"", "-01"}]
        if len(starts) < 2:
            starts = list(range(len(periods)))
        starts = starts[:: -(-len(starts) // 12)]
        january = len(starts) > 1 and all(periods[i][4:] in {"", "-01"} for i in starts)
        ax.set_xticks(starts, [periods[i][:4] if january else periods[i] for i in starts])
        ax.tick_params(axis="x", labelsize=8)


def _named(names: Sequence[str] | None, K: int) -> Sequence[str]:
    """Return the names of groups, or their numbers."""
    return [f"group {k}" for k in range(K)] if names is None else names

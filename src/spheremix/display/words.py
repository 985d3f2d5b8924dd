"""The words of each group: characteristic ones, and those that only it has."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from spheremix.display.style import (
    INK,
    Display,
    group_names,
    hue,
    name_rows,
    readable,
    shown,
    words_of,
)
from spheremix.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from spheremix.reading import Group, Word

COLUMNS = 4


class WordsDisplay(Display):
    """The words of each group with their weights: characteristic ones, then those only it has.

    A panel a group, the largest first; its most characteristic words first, and below them other
    words that no other group has. After a word that several groups have, their number. Hues are
    those of the maps, and all panels have one scale.

    Parameters
    ----------
    groups : sequence of Group
        As :meth:`spheremix.reading.Reading.groups` returns them.
    features : str, default="words"
        What features are called.

    Attributes
    ----------
    ax_ : ndarray of Axes
        One a group.
    figure_ : Figure
        Where it was drawn.
    bars_ : list of BarContainer
        One a group: characteristic words, then words that are only here.

    Examples
    --------
    >>> import numpy as np
    >>> import spheremix as sm
    >>> X = np.array([[3, 1, 1, 0], [4, 2, 1, 0], [5, 1, 2, 0], [0, 0, 1, 3], [0, 0, 1, 4]])
    >>> path = sm.VMFPath(2, random_state=0).fit(X)
    >>> display = sm.WordsDisplay.from_estimator(path, ["heart", "blood", "the", "wing"], step=0)
    >>> [label.get_text() for label in display.ax_[1].get_yticklabels()]
    ['wing', 'the (2)']
    """

    def __init__(self, groups: Sequence[Group], features: str = "words") -> None:
        self.groups = groups
        self.features = features

    @classmethod
    def of(cls, reading: Reading, *, n_words: int = 10, n_only_here: int = 5) -> Self:
        """Compute what :meth:`from_estimator` draws of a model that is read."""
        names = group_names(reading)
        groups = [
            replace(
                one,
                name=names[one.group],
                words=one.words[:n_words],
                only_here_words=tuple(
                    word for word in one.only_here_words if word not in one.words[:n_words]
                )[:n_only_here],
            )
            for one in reading.groups(n_listed=n_words + n_only_here)
        ]
        return cls(groups, "features" if words_of(reading) is None else "words")

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        feature_names: Iterable[str] | None = None,
        *,
        step: int | None = None,
        n_words: int = 10,
        n_only_here: int = 5,
        ax: Any = None,
    ) -> Self:
        """Draw the words of a fitted model.

        Parameters
        ----------
        model : VMFMixture, VMFPath, VMFMixtureIC, VMFCoclustering or SphericalKMeans
            Fitted. Of a path, the selected step is drawn.
        feature_names : iterable of str, default=None
            The vocabulary.
        step : int, default=None
            Another step of the path.
        n_words : int, default=10
            Characteristic words of each group, at most.
        n_only_here : int, default=5
            Other words of each group that no other group has, at most.
        ax
            As in :meth:`plot`.

        Returns
        -------
        WordsDisplay
            Drawn.
        """
        reading = Reading(model, feature_names, step=step)
        return cls.of(reading, n_words=n_words, n_only_here=n_only_here).plot(ax)

    def _size(self) -> tuple[float, float]:
        lines = max(len(one.words) + len(one.only_here_words) for one in self.groups)
        columns = min(COLUMNS, len(self.groups))
        return 2.6 * columns, 0.3 + (0.5 + 0.145 * lines) * -(-len(self.groups) // columns)

    def _draw(self, ax: Any) -> None:
        K = len(self.groups)
        axes = self.ax_ = self._axes(ax, K, min(COLUMNS, K))
        self.bars_ = [self._panel(one, group) for one, group in zip(axes, self.groups, strict=True)]
        # One scale for all panels: bars of different groups can be compared.
        limits = [one.get_xlim() for one in axes]
        lowest = max(one.get_ylim()[0] for one in axes)
        for one in axes:
            one.set_ylim(bottom=lowest)
            one.set_xlim(min(left for left, _ in limits), max(right for _, right in limits))
            one.locator_params(axis="x", nbins=3)

    def _panel(self, ax: Any, group: Group) -> Any:
        """Draw the words of one group."""
        words: list[Word] = [*group.words, *group.only_here_words]
        K, n_first = len(self.groups), len(group.words)
        counts = [1 + len(word.shared_with) for word in words]
        # A little room between the two lists.
        places: NDArray[Any] = np.arange(len(words)) + 0.6 * (np.arange(len(words)) >= n_first)
        colours = [hue(n, K) for n in counts]
        bars = ax.barh(places, [word.weight for word in words], height=0.8, color=colours)
        labels = [
            shown(word.word, 18) + (f" ({n})" if n > 1 else "")
            for word, n in zip(words, counts, strict=True)
        ]
        name_rows(ax, places, labels, 7)
        for label, colour in zip(ax.get_yticklabels(), colours, strict=True):
            label.set_color(readable(colour))
        ax.set_ylim(max(len(words), 1) + 0.3, -0.7)
        ax.tick_params(axis="x", labelsize=6, colors=INK)
        ax.axvline(0.0, color=INK, lw=0.5)
        ax.spines[["top", "right", "left"]].set_visible(False)
        name = shown(group.name, 30)
        size = f"{group.weight:.1%}" if group.size is None else f"{group.size:,}"
        many = f"{group.n_words:,} {self.features}, {group.n_only_here_words:,} only here"
        ax.set_title(f"{name}\nsize {size}, {many}", fontsize=7, loc="right", parse_math=False)
        return bars

"""The paper's pixel pictures: prototypes, and data in the order of the prototypes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from spheremix.data.containers import is_views
from spheremix.data.open import as_directions
from spheremix.display import pixels
from spheremix.display.pixels import PixelDisplay
from spheremix.display.style import group_names, words_of
from spheremix.estimators.views import WORDS
from spheremix.reading import Layout, Reading, characteristic_scores

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]


class PrototypesDisplay(PixelDisplay):
    """Prototypes as pixels: a row a group, a column a feature in the paper's order.

    Features that more prototypes use come first, then those of the same prototypes together, then
    the more intense ones; each number of prototypes that share a feature has a hue. The darker a
    pixel, the larger the absolute coordinate. The heights of rows go with the sizes of groups, as
    far as their names find room. Words are written where there is room, the most characteristic of
    each block. Where several columns share a pixel, the largest is shown.

    Parameters
    ----------
    prototypes : array-like of shape (K, d)
        With exact zeros.
    layout : Layout
        As :func:`spheremix.reading.layout` returns it.
    sizes : array-like of shape (K,)
        Documents of each group, or weights.
    names : sequence of str, default=None
        Of the groups.
    words : sequence of str, default=None
        Of the features, written where they are given.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    image_ : AxesImage
        The picture.
    words_ : list of Text
        Words written, from left to right.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(sparsity=0.5, random_state=0)
    >>> path = sm.VMFPath(4, random_state=0).fit(X)
    >>> display = sm.PrototypesDisplay.from_estimator(path)
    >>> display.layout.n_sharing.max() <= 4
    np.True_
    """

    def __init__(
        self,
        prototypes: ArrayLike,
        layout: Layout,
        sizes: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        words: Sequence[str] | None = None,
    ) -> None:
        self.prototypes = np.asarray(prototypes, dtype=float)
        scores = characteristic_scores(self.prototypes, sizes)
        super().__init__(layout, scores.max(axis=0), sizes, names, words)

    @classmethod
    def of(cls, reading: Reading) -> Self:
        """Compute what :meth:`from_estimator` draws of a model that is read."""
        sizes = reading.weights if reading.sizes is None else reading.sizes
        return cls(
            reading.prototypes,
            reading.layout,
            sizes,
            names=group_names(reading),
            words=words_of(reading),
        )

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        feature_names: Iterable[str] | None = None,
        *,
        step: int | None = None,
        ax: Axes | None = None,
        gamma: float | None = None,
    ) -> Self:
        """Draw the prototypes of a fitted model.

        Parameters
        ----------
        model : VMFMixture, VMFPath, VMFMixtureIC, VMFCoclustering or SphericalKMeans
            Fitted. Of a path, the selected step is drawn.
        feature_names : iterable of str, default=None
            The vocabulary.
        step : int, default=None
            Another step of the path.
        ax, gamma
            As in :meth:`plot`.

        Returns
        -------
        PrototypesDisplay
            Drawn.
        """
        return cls.of(Reading(model, feature_names, step=step)).plot(ax, gamma=gamma)

    def _band(self, place: int, n_rows: int, n_columns: int) -> tuple[Array, Ids]:
        row = np.abs(self.prototypes[self.layout.groups[place], self.layout.features])
        values, counts = pixels.squeeze(row[None], self.layout.n_sharing, n_columns)
        return np.repeat(values, n_rows, axis=0), np.repeat(counts, n_rows, axis=0)


class DataDisplay(PixelDisplay):
    """Data as pixels, in the order of the prototypes: a row a document, groups one by one.

    As :class:`PrototypesDisplay`; documents of a group are as they come, and where several share
    a row of pixels, the largest value is shown. What prototypes leave to nobody is grey.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or Directions
        Rows are normalised.
    labels : array-like of shape (n,)
        Group of each row.
    layout : Layout
        As :func:`spheremix.reading.layout` returns it.
    intensities : array-like of shape (d,)
        Of the features: the words of the largest ones are written.
    names : sequence of str, default=None
        Of the groups.
    words : sequence of str, default=None
        Of the features, written where they are given.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    image_ : AxesImage
        The picture.
    words_ : list of Text
        Words written, from left to right.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(sparsity=0.5, random_state=0)
    >>> path = sm.VMFPath(4, random_state=0).fit(X)
    >>> display = sm.DataDisplay.from_estimator(path, X)
    >>> int(display.sizes.sum())
    500
    """

    levels = 12  # data are noisy: more would be seen in the size of files only
    gamma = 0.3
    lowest = 3.6

    def __init__(
        self,
        X: Any,
        labels: ArrayLike,
        layout: Layout,
        intensities: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        words: Sequence[str] | None = None,
    ) -> None:
        self.directions = as_directions(X)
        self.labels = np.asarray(labels, dtype=np.intp)
        inside = self.labels[self.labels >= 0]  # noise is in no band
        sizes = np.bincount(inside, minlength=len(layout.groups))
        super().__init__(layout, np.asarray(intensities), sizes, names, words)

    @classmethod
    def of(cls, reading: Reading, X: Any) -> Self:
        """Compute what :meth:`from_estimator` draws of a model that is read.

        Of several views the words are drawn, of rows that have some.
        """
        labels = reading.model.predict(X)
        if is_views(X):
            there = np.flatnonzero(abs(X[WORDS]).sum(axis=1))
            X, labels = X[WORDS][there], labels[there]
        return cls(
            X,
            labels,
            reading.layout,
            reading.vocabulary.scores.max(axis=0),
            names=group_names(reading),
            words=words_of(reading),
        )

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        feature_names: Iterable[str] | None = None,
        *,
        step: int | None = None,
        ax: Axes | None = None,
        gamma: float | None = None,
    ) -> Self:
        """Draw data in the order of a fitted model.

        Parameters
        ----------
        model : VMFMixture, VMFPath, VMFMixtureIC, VMFCoclustering or SphericalKMeans
            Fitted. Of a path, the selected step orders.
        X : array-like or sparse matrix of shape (n, d), or Directions
            Rows are normalised.
        feature_names : iterable of str, default=None
            The vocabulary.
        step : int, default=None
            Another step of the path.
        ax, gamma
            As in :meth:`plot`.

        Returns
        -------
        DataDisplay
            Drawn.
        """
        return cls.of(Reading(model, feature_names, step=step), X).plot(ax, gamma=gamma)

    def _band(self, place: int, n_rows: int, n_columns: int) -> tuple[Array, Ids]:
        features, counts = self.layout.features, self.layout.n_sharing
        ids = np.flatnonzero(self.labels == self.layout.groups[place])
        if not ids.size:
            return pixels.squeeze(np.zeros((n_rows, len(features))), counts, n_columns)
        drawn = []
        for first, after in zip(*pixels.shares_of(len(ids), n_rows), strict=True):
            largest = np.abs(self.directions.take(ids[first:after])).max(axis=0)
            drawn.append(pixels.squeeze(largest[None, features], counts, n_columns))
        values, sharing = zip(*drawn, strict=True)
        return np.concatenate(values), np.concatenate(sharing)

"""Pixel pictures as arrays: heights of rows, columns that share a pixel, hues, words to write."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spheremix.display.style import hues, rgb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from spheremix.reading import Layout

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

FAINTEST = 247  # of 255, the colour of a value that is nearly zero


def heights(sizes: ArrayLike, least: float) -> Array:
    """Return the share of the picture's height of each row: by size, but none below the least."""
    shares = np.asarray(sizes, dtype=float)
    shares = np.maximum(shares / shares.sum(), 1e-9)  # empty clusters have a row too
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

    Gives the first item of each pixel, and the one after its last.
    """
    pixels = np.arange(n_pixels + 1) * n // n_pixels
    return pixels[:-1], np.maximum(pixels[1:], pixels[:-1] + 1)


def squeeze(values: Array, n_clusters: Ids, n_pixels: int) -> tuple[Array, Ids]:
    """Return each pixel the largest of the columns that fall into it, and the n_j of that column.

    So nothing that is there vanishes, however many columns share a pixel. No more pixels are made
    than there are columns.

    Parameters
    ----------
    values : ndarray of shape (n_rows, d)
        Absolute values, columns in the order of the picture.
    n_clusters : ndarray of shape (d,)
        n_j of these columns.
    n_pixels : int
        Columns of the picture.

    Returns
    -------
    values, n_clusters : ndarray of shape (n_rows, min(d, n_pixels))
        Of each pixel.
    """
    d = values.shape[1]
    first, after = shares_of(d, min(d, max(1, n_pixels)))
    within = np.arange((after - first).max())
    # Short pixels repeat their last column, which changes no maximum.
    columns = np.minimum(first[:, None] + within, after[:, None] - 1)
    strongest = values[:, columns].argmax(axis=2)
    chosen = columns[np.arange(len(first)), strongest]
    return np.take_along_axis(values, chosen, axis=1), n_clusters[chosen]


def coloured(
    values: Array, n_clusters: Ids, K: int, gamma: float, levels: int
) -> NDArray[np.uint8]:
    """Return an image: white for zero, the hue of n_j for the largest value, by a power between.

    The fewer levels between them, the smaller the file.
    """
    top = values.max()
    strengths = (values / top) ** gamma if top > 0.0 else np.zeros_like(values)
    strengths = np.rint(levels * strengths) / levels
    colours = np.array([rgb(colour) for colour in hues(K)])[n_clusters]
    image = np.rint(255.0 * (1.0 - strengths[..., None] * (1.0 - colours)))
    # What is not zero is not white, faint as it may be.
    faint = (values > 0.0) & (image.min(axis=-1) > FAINTEST)
    image[faint] = FAINTEST
    return image.astype(np.uint8)


def segments(layout: Layout) -> list[slice]:
    """Return the columns that words are written for: of each n_j, those of one cluster apart."""
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

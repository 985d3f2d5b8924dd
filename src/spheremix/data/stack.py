"""Several scorers stacked into one, and their sums split again into resultants."""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spheremix.resultants import Resultants

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from spheremix.scorer import Scorer

    Array = NDArray[np.float64]


class Stack(NamedTuple):
    """The components of several scorers, K of them in all."""

    matrix: Array  # (K, d)
    biases: Array  # (K,)
    parts: list[slice]  # the components of each scorer
    pulls: Array  # (K, 2): for assignment by variation


def stack(scorers: Sequence[Scorer]) -> Stack:
    """Put scorers one under the other; a single one is not copied."""
    parts = parts_of(scorers)
    if len(scorers) == 1:
        return Stack(scorers[0].matrix, scorers[0].biases, parts, scorers[0].pulls)
    return Stack(
        np.concatenate([scorer.matrix for scorer in scorers]),
        np.concatenate([scorer.biases for scorer in scorers]),
        parts,
        np.concatenate([scorer.pulls for scorer in scorers]),
    )


def parts_of(scorers: Sequence[Scorer]) -> list[slice]:
    """Return the places of the components of each scorer in a stack of them."""
    ends = accumulate((scorer.n_components for scorer in scorers), initial=0)
    return [slice(a, b) for a, b in pairwise(ends)]


def split_resultants(
    parts: Sequence[slice], sums: tuple[Array, Array, Array], weight: float | Array
) -> list[Resultants]:
    """Split stacked sums into the resultants of each scorer.

    Parameters
    ----------
    parts : sequence of slices
        Those of the stack.
    sums : (ndarray of shape (K,), ndarray of shape (K, d), ndarray of shape (n_scorers, 2))
        Masses, vectors, and log-likelihood and entropy a scorer.
    weight : float or ndarray of shape (n_scorers,)
        The summed weights of the rows, one for all scorers or one each.
    """
    mass, vectors, totals = sums
    each = [float(weight)] * len(parts) if np.ndim(weight) == 0 else np.asarray(weight).tolist()
    return [
        Resultants(mass[part], vectors[part], likelihood, entropy, own)
        for part, (likelihood, entropy), own in zip(parts, totals.tolist(), each, strict=True)
    ]

"""Scores of the rows of a fit, each by the mixture that the other rows give."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import softmax

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from spheremix.data.base import Directions
    from spheremix.estimators.mixture import VMFMixture

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

ENTRIES = 2**22  # of the rows that are dense at a time: 32 MB
LEAST = 1e-9  # share of the weight that is left of a component of one row, without this row


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What some columns of rows say, each row left out of the prototypes.

    Attributes
    ----------
    products : ndarray of shape (n, K)
        kappa_k <mu_k, x> over these columns.
    lengths : ndarray of shape (n,)
        Squared lengths of the rows over these columns.
    prototypes : ndarray of shape (n, K)
        kappa_k squared times the squared lengths of the prototypes over these columns.
    n_columns : int
        How many there are.
    """

    products: Array
    lengths: Array
    prototypes: Array
    n_columns: int

    def __add__(self, other: Part) -> Part:
        return Part(
            self.products + other.products,
            self.lengths + other.lengths,
            self.prototypes + other.prototypes,
            self.n_columns + other.n_columns,
        )

    @property
    def concentrations(self) -> Array:
        """Those of the directions of the rows over these columns, given their lengths."""
        found: Array = np.sqrt(np.maximum(self.prototypes * self.lengths[:, None], 0.0))
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some rows, and what leaving each of them out does to the prototypes.

    Attributes
    ----------
    left : LeftOut
        What they are left out of.
    rows : ndarray of shape (n, d)
        The rows.
    pulls : ndarray of shape (n, K)
        w_i t_ik, by which each row pulls each prototype.
    lengths : ndarray of shape (n, K)
        Lengths of q_k without the row.
    inside : ndarray of shape (n,)
        Probability that the row belongs to a component, and is no noise.
    """

    left: LeftOut
    rows: Array
    pulls: Array
    lengths: Array
    inside: Array

    @property
    def log_weights(self) -> Array:
        """Logarithms of the shares of the components, each row left out: (n, K)."""
        masses = np.maximum(self.left.mass - self.pulls, LEAST * self.left.total)
        found: Array = np.log(masses / masses.sum(axis=1, keepdims=True))
        return found

    @property
    def scores(self) -> Array:
        """Logarithms of weight and density of each component, each row left out: (n, K)."""
        whole = self.part(np.arange(self.rows.shape[1]))
        found: Array = self.log_weights + self.left.log_normalizers + whole.products
        return found

    def part(self, columns: Ids) -> Part:
        """Return what some columns say."""
        left, rows = self.left, self.rows[:, columns]
        kappas = left.mixture.kappas_
        dots, squares = left.dots(rows, columns)
        products = kappas * (left.lengths * dots - self.pulls * squares) / self.lengths
        inside = left.lengths**2 * left.squared[:, columns].sum(axis=1)
        prototypes = inside - 2.0 * self.pulls * left.lengths * dots + self.pulls**2 * squares
        return Part(
            products,
            np.einsum("ij,ij->i", rows, rows),
            (kappas / self.lengths) ** 2 * prototypes,
            len(columns),
        )


class LeftOut:
    """The rows of a fit, each left out of the prototypes in turn.

    A prototype is the direction of a vector q_k on its support: the resultant there, soft
    thresholded if there is a penalty. The row x_i of weight w_i and posterior t_ik is part of it.
    Without it the vector is q_k - w_i t_ik x_i on the support, and the mass is n_k - w_i t_ik. The
    concentrations, the threshold and the support are held; for a mixture without penalty the
    prototypes are exact. With a hard E-step t_ik is 1 for the most probable component.

    Parameters
    ----------
    mixture : VMFMixture
        Fitted.
    rows : Directions
        Its rows.
    weights : ndarray of shape (n,), or None
        Their weights.
    """

    def __init__(self, mixture: VMFMixture, rows: Directions, weights: Array | None) -> None:
        self.mixture, self.rows, self.weights = mixture, rows, weights
        model, prototypes = mixture.model_, mixture.prototypes_
        parameters = model.parameters(prototypes, mixture.kappas_, mixture.weights_)
        self.hard = mixture.e_step == "hard"
        scorer = replace(mixture.scorer_, assignment="hard" if self.hard else "soft")
        [swept] = rows.sweep([scorer], weights)
        resultants = model.clusters(swept)
        self.mass, self.total = resultants.mass, float(resultants.mass.sum())
        self.log_normalizers = parameters.log_normalizers
        # |q_k|, since the prototype is q_k / |q_k|, and q_k the resultant less the threshold.
        pulled = np.einsum("kj,kj->k", prototypes, resultants.vectors)
        shrunk = model.l1.beta * model.l1.norms(prototypes) / mixture.kappas_
        self.lengths: Array = np.maximum(pulled - shrunk, LEAST * self.total)
        self.squared: Array = prototypes**2
        self._support: Array = (prototypes != 0.0).astype(np.float64)

    def dots(self, rows: Array, columns: Ids) -> tuple[Array, Array]:
        """Return products with the prototypes, and squared lengths on their supports: (n, K)."""
        squares = (rows**2) @ self._support[:, columns].T
        return rows @ self.mixture.prototypes_[:, columns].T, squares

    def blocks(self, ids: Ids) -> Iterator[tuple[Ids, Block]]:
        """Read some rows, a few at a time."""
        scorer = self.mixture.scorer_
        size = max(1, ENTRIES // max(self.rows.n_features, scorer.n_components))
        for begin in range(0, len(ids), size):
            part = ids[begin : begin + size]
            rows = self.rows.take(part)
            scores = rows @ scorer.matrix.T + scorer.biases
            pulls = assign(scores, hard=self.hard)[:, : scorer.n_clusters]
            inside = pulls.sum(axis=1)
            if self.weights is not None:
                pulls = pulls * self.weights[part, None]
            dots, squares = self.dots(rows, np.arange(rows.shape[1]))
            lengths = self.lengths**2 - 2.0 * pulls * self.lengths * dots + pulls**2 * squares
            lengths = np.sqrt(np.maximum(lengths, (LEAST * self.total) ** 2))
            yield part, Block(self, rows, pulls, lengths, inside)


def assign(scores: Array, *, hard: bool) -> Array:
    """Return the parts of rows that belong to each component: posteriors, or one and zeros."""
    if hard:
        return np.asarray(np.eye(scores.shape[1])[scores.argmax(axis=1)])
    return np.asarray(softmax(scores, axis=1))

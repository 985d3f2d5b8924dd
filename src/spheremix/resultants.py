"""What one reading of the rows returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spheremix.vectors import added_up

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Resultants:
    """The additive statistics of one sweep with one scorer.

    With t_ik the assignment of row i to component k (soft, hard, drawn or by variation) and w_i
    its weight:

    Attributes
    ----------
    mass : ndarray of shape (K,)
        Sum over i of w_i t_ik.
    vectors : ndarray of shape (K, d)
        Sum over i of w_i t_ik x_i, the resultant vectors r_k.
    log_likelihood : float
        Sum over i of w_i times the log of the summed exponentials of the scores; for hard
        assignment, of the largest score; by variation, of the score of the component chosen.
    entropy : float
        Sum over i of w_i times minus the logs of the posteriors, averaged by the assignment: the
        entropy of the posteriors when soft, zero when hard or by variation. For every assignment
        ``log_likelihood - entropy`` is the log-likelihood of the completed data.
    weight : float
        Sum of the w_i.
    """

    mass: NDArray[np.float64]
    vectors: NDArray[np.float64]
    log_likelihood: float
    entropy: float
    weight: float

    @classmethod
    def zero(cls, n_components: int, n_features: int) -> Resultants:
        """Resultants of no rows."""
        return cls(np.zeros(n_components), np.zeros((n_components, n_features)), 0.0, 0.0, 0.0)

    def __add__(self, other: Resultants) -> Resultants:
        return Resultants(
            self.mass + other.mass,
            self.vectors + other.vectors,
            self.log_likelihood + other.log_likelihood,
            self.entropy + other.entropy,
            self.weight + other.weight,
        )


def merged_resultants(resultants: Resultants, labels: NDArray[np.intp]) -> Resultants:
    """Add up the resultants of the clusters that belong together."""
    n_clusters = int(labels.max()) + 1
    mass = np.zeros(n_clusters)
    np.add.at(mass, labels, resultants.mass)
    vectors = added_up(resultants.vectors, labels, n_clusters)
    return Resultants(
        mass, vectors, resultants.log_likelihood, resultants.entropy, resultants.weight
    )

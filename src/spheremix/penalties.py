"""What sparse prototypes cost: the l1 penalty on the sphere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class L1:
    """beta times the sum over k and j of weights_j |mu_kj|; ``beta=0`` is no penalty.

    Attributes
    ----------
    beta : float
        On the scale of the total log-likelihood.
    weights : ndarray of shape (d,) or None
        Finite, non-negative multipliers of beta, one a feature.
    """

    beta: float = 0.0
    weights: NDArray[np.float64] | None = None

    @property
    def thresholds(self) -> float | NDArray[np.float64]:
        """What kappa_k |r_kj| must exceed for coordinate j to be in play."""
        return self.beta if self.weights is None else self.beta * self.weights

    def norms(self, prototypes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weighted l1 norm of each prototype; beta times their sum is the penalty."""
        lengths = abs(prototypes)  # of sparse ones too, which a search has
        return lengths.sum(axis=1) if self.weights is None else lengths @ self.weights

    def excess(
        self, kappas: NDArray[np.float64], vectors: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Soft-threshold: how far each kappa_k |r_kj| is above its threshold, or zero."""
        return np.maximum(kappas[:, None] * np.abs(vectors) - self.thresholds, 0.0)

    def directions(
        self, kappas: NDArray[np.float64], vectors: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Maximise kappa_k <mu_k, r_k> minus the penalty over unit vectors mu_k.

        The normalised soft threshold where something exceeds its threshold; elsewhere the
        maximum is on the boundary, at the one-hot vector of the largest kappa_k |r_kj| minus its
        threshold.
        """
        excess = self.excess(kappas, vectors)
        # Dividing by the largest first keeps the squares away from underflow.
        largest = excess.max(axis=1)
        lost = largest <= 0.0
        if lost.any():
            lengths = np.abs(vectors[lost])
            margin = kappas[lost, None] * lengths - self.thresholds
            # Beside a huge threshold kappa |r| is lost to rounding: of equal margins, the longest.
            ties = margin == margin.max(axis=1, keepdims=True)
            excess[lost, np.where(ties, lengths, -1.0).argmax(axis=1)] = 1.0
            largest[lost] = 1.0
        excess /= largest[:, None]
        excess /= np.sqrt(np.einsum("kj,kj->k", excess, excess))[:, None]
        return np.where(excess > 0.0, np.copysign(excess, vectors), 0.0)

    def events(
        self,
        kappas: NDArray[np.float64],
        vectors: NDArray[np.float64],
        prototypes: NDArray[np.float64],
        noise: float = 0.0,
    ) -> NDArray[np.float64]:
        """Return the betas at which coordinates would leave, kappas and vectors held.

        kappa_k |r_kj| / weights_j of the penalised coordinates in the support of prototypes that
        have at least two. Those whose kappa_k |r_kj| is no more than ``noise`` times the largest
        are numerically nothing, and left out.
        """
        support = prototypes != 0.0
        support &= (support.sum(axis=1) >= 2)[:, None]
        if self.weights is not None:
            support &= self.weights > 0.0
        strengths: NDArray[np.float64] = (kappas[:, None] * np.abs(vectors))[support]
        loud = strengths > noise * strengths.max(initial=0.0)
        strengths = strengths[loud]
        if self.weights is None:
            return strengths
        weights = np.broadcast_to(self.weights, support.shape)[support][loud]
        with np.errstate(over="ignore"):
            betas: NDArray[np.float64] = strengths / weights
        return betas[betas < np.inf]

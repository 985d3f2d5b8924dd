"""Noise: a uniform component for rows that belong to no cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.scorer import Scorer

    Array = NDArray[np.float64]

LEAST = 1e-6  # share of the noise at least: where no row is noise now, a later one can still be
FIRST = 0.01  # share of the noise in the first parameters of EM, or its largest share where less
WHOLE = 1e-9  # weights that sum to one up to this leave nothing for the noise


@dataclass(frozen=True, slots=True)
class Noise:
    """A component of kappa = 0, the last one of scorers and resultants; its share is estimated.

    Attributes
    ----------
    level : float
        The log of its density relative to the surface measure: log c_d(0) for the uniform
        distribution, and less where rows are not to be called noise so easily.
    most : float
        The largest share, in (0, 1).
    """

    level: float
    most: float = 1.0 - LEAST

    def weights(self, mass: Array, noise_mass: float) -> Array:
        """Maximise sum of n_k log alpha_k + n_0 log alpha_0 over shares with bounds on alpha_0.

        Whatever alpha_0 is, the others share 1 - alpha_0 in proportion to their masses. What is
        left, n_0 log alpha_0 + (n - n_0) log(1 - alpha_0), rises up to n_0 / n and falls beyond
        it, so the maximum is n_0 / n moved into its bounds. Gives the alpha_k; alpha_0 is the rest.
        """
        clusters = float(mass.sum())
        share = noise_mass / (noise_mass + clusters)
        share = min(max(share, min(LEAST, self.most)), self.most)
        return mass * ((1.0 - share) / clusters)

    def beside(self, weights: Array) -> Array:
        """Make room for the noise beside clusters whose weights sum to one; else leave them."""
        total = float(weights.sum())
        return weights if total < 1.0 - WHOLE else weights * ((1.0 - min(FIRST, self.most)) / total)

    def add_to(self, scorer: Scorer, weights: Array) -> Scorer:
        """Return the scores of the clusters and, last, of the noise."""
        bias = np.log(noise_share(weights)) + (self.level - scorer.offset)
        return replace(
            scorer,
            matrix=np.vstack([scorer.matrix, np.zeros(scorer.matrix.shape[1])]),
            biases=np.append(scorer.biases, bias),
            has_noise=True,
        )


def noise_share(weights: Array) -> float:
    """Return what the clusters leave: the share of the noise."""
    return float(1.0 - weights.sum())

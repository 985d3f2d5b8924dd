"""The conjugate prior of a concentration: rows that nobody has seen, known by their resultant."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class KappaPrior(NamedTuple):
    """``mass`` rows whose resultant has the length ``length`` along any prototype.

    The log of its density is mass log c_d(kappa) + length kappa plus a constant, so the M-step adds
    both to the sums of the rows: A_d(kappa) = (<mu, r> + length) / (n + mass). No rows, no prior.
    """

    mass: float = 0.0
    length: float = 0.0

    def log_density(
        self, kappas: NDArray[np.float64], log_normalizers: NDArray[np.float64]
    ) -> float:
        """Return the log of the prior of some concentrations, from their values of log c_d."""
        return float(self.mass * log_normalizers.sum() + self.length * kappas.sum())


FLAT = KappaPrior()  # no prior

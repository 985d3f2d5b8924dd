"""An affine score per component, and how rows are assigned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Assignment = Literal["soft", "hard", "drawn"]


class Mixture(Protocol):
    """Parameters of a mixture of von Mises-Fisher distributions."""

    @property
    def prototypes(self) -> NDArray[np.float64]:
        """Unit vectors mu_k."""
        ...

    @property
    def kappas(self) -> NDArray[np.float64]:
        """Concentrations."""
        ...

    @property
    def weights(self) -> NDArray[np.float64]:
        """Mixture weights alpha_k."""
        ...

    @property
    def log_normalizers(self) -> NDArray[np.float64]:
        """Log c_d(kappa_k)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Scorer:
    """``score_k(x) = <x, matrix_k> + biases_k + offset``, and an assignment.

    Attributes
    ----------
    matrix : ndarray of shape (K, d)
        C-contiguous float64.
    biases : ndarray of shape (K,)
        Centred, so that scores stay small: their common part is in ``offset``.
    offset : float
        Seen by log-likelihoods only; in thousands of dimensions it is much larger than the
        differences between scores that decide an assignment.
    assignment : {"soft", "hard", "drawn"}
        Soft: the softmax of the scores. Hard: all to the first largest score. Drawn: all to one
        component drawn from the softmax.
    key : (int, int)
        For drawn assignments, the seed and the number of the sweep: the draw of a row depends on
        them and on the row's number alone.
    """

    matrix: NDArray[np.float64]
    biases: NDArray[np.float64]
    offset: float = 0.0
    assignment: Assignment = "soft"
    key: tuple[int, int] = (0, 0)

    @classmethod
    def centred(
        cls,
        matrix: NDArray[np.float64],
        biases: NDArray[np.float64],
        assignment: Assignment = "soft",
        key: tuple[int, int] = (0, 0),
    ) -> Scorer:
        """Move the largest bias into the offset."""
        offset = float(biases.max())
        return cls(matrix, biases - offset, offset, assignment, key)

    @classmethod
    def of_mixture(
        cls,
        parameters: Mixture,
        assignment: Assignment = "soft",
        key: tuple[int, int] = (0, 0),
    ) -> Scorer:
        """Give the scores log alpha_k + log c_d(kappa_k) + kappa_k <mu_k, x>."""
        return cls.centred(
            parameters.kappas[:, None] * parameters.prototypes,
            np.log(parameters.weights) + parameters.log_normalizers,
            assignment,
            key,
        )

    @property
    def n_components(self) -> int:
        """K."""
        return len(self.biases)

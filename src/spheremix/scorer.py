"""An affine score for each component, and how rows are assigned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Assignment = Literal["soft", "hard", "drawn"]


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

    @property
    def n_components(self) -> int:
        """K."""
        return len(self.biases)

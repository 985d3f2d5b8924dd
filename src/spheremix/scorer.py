"""An affine score for each component, and how rows are assigned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from spheremix.vectors import lengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

Assignment = Literal["soft", "hard", "drawn", "variation"]


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
    assignment : {"soft", "hard", "drawn", "variation"}
        Soft: the softmax of the scores. Hard: all to the first largest score. Drawn: all to one
        component drawn from the softmax. Variation: all to the component to which the row adds
        most, where the row counts for the direction of that component too (first variation; see
        ``pulls``).
    key : (int, int)
        For drawn assignments, the seed and the number of the sweep: the draw of a row depends on
        them and on the row's number alone.
    rates : ndarray of shape (K,) or (K, 2), or None
        For assignment by variation: one over the length of the resultant vector whose direction
        ``matrix_k`` has; or the two numbers of ``pulls`` themselves.
    has_noise : bool
        Whether the last component is noise: engines treat it as any other, and its label is -1 for
        people (``clusters_of``).
    """

    matrix: NDArray[np.float64]
    biases: NDArray[np.float64]
    offset: float = 0.0
    assignment: Assignment = "soft"
    key: tuple[int, int] = (0, 0)
    rates: NDArray[np.float64] | None = None
    has_noise: bool = False

    def __post_init__(self) -> None:
        if self.assignment == "variation" and self.rates is None:
            raise ValueError("Assignment by variation needs the rates of the components.")

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
    def pulls(self) -> NDArray[np.float64]:
        """Return the two numbers of each component, (K, 2), that assignment by variation needs.

        Let a component have the resultant r and the score kappa <x, r / |r|> + b. A row x of
        weight w that joins it raises kappa |r| by kappa (|r + w x| - |r|); one that leaves it
        lowers kappa |r| by kappa (|r| - |r - w x|). Per unit of weight, with p = <x, matrix_k> and
        the two numbers a = kappa / |r| and q = 1 / (kappa |r|), both are

            (2 p + s w a) / (1 + sqrt(1 + 2 s w q p + w^2 a q)),    s = +1 or -1,

        and p itself for a small w. Assignment by variation takes s = -1 for the component of the
        first largest score, as if the row were in it, and s = +1 for the others. It adds the biases
        and gives the row to the first largest of these. Without rates the numbers are zero.
        """
        if self.rates is None:
            return np.zeros((len(self.biases), 2))
        if self.rates.ndim == 2:
            return self.rates
        sizes = lengths(self.matrix)
        inverse = np.divide(1.0, sizes, out=np.zeros(len(sizes)), where=sizes > 0.0)
        pulls: NDArray[np.float64] = self.rates[:, None] * np.stack([sizes, inverse], axis=1)
        return pulls

    @property
    def n_components(self) -> int:
        """K, and one more where there is noise."""
        return len(self.biases)

    @property
    def n_clusters(self) -> int:
        """K."""
        return len(self.biases) - self.has_noise

    def clusters(self) -> Scorer:
        """Return the scores of the clusters, without those of the noise."""
        if not self.has_noise:
            return self
        return replace(self, matrix=self.matrix[:-1], biases=self.biases[:-1], has_noise=False)

    def clusters_of(self, labels: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the clusters of rows from the labels that an engine gave: -1 for noise."""
        return np.where(labels == self.n_clusters, -1, labels) if self.has_noise else labels

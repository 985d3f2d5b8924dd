"""What the engine of memory keeps between the sweeps of one fit, so as not to read all again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spheremix.data import near
from spheremix.data.frozen import FrozenRows
from spheremix.data.moved import MovedComponents
from spheremix.data.near import NearComponents
from spheremix.vectors import is_sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from spheremix.data.base import Stored
    from spheremix.resultants import Resultants
    from spheremix.scorer import Scorer


class FitMemory:
    """The sweeps of one fit: bounds of components where there are many, of whole rows elsewhere.

    Parameters
    ----------
    rows : Stored
        The engine that reads the rows.
    """

    def __init__(self, rows: Stored) -> None:
        self._rows = rows
        self._frozen = FrozenRows(rows)
        self._near = NearComponents(rows)
        self._moved = MovedComponents(rows)
        self._kept: dict[int, NearComponents | MovedComponents] = {}  # runs with many components

    def sweep(
        self,
        scorers: Sequence[Scorer],
        weights: NDArray[np.float64] | None,
        runs: Sequence[int],
    ) -> list[Resultants]:
        """Return the resultants of each scorer; see ``FrozenRows.sweep``."""
        each = [self._keeper(scorer) for scorer in scorers]
        self._kept = {run: keeper for run, keeper in zip(runs, each, strict=True) if keeper}
        if not self._kept:
            return self._frozen.sweep(scorers, weights, runs)
        for keeper in (self._near, self._moved):
            keeper.keep({run for run, other in self._kept.items() if other is keeper})
        found: list[Resultants] = []
        for s, (scorer, run) in enumerate(zip(scorers, runs, strict=True)):
            own = weights if weights is None or weights.ndim == 1 else weights[s]
            if run in self._kept:
                found.append(self._kept[run].sweep(scorer, own, run, len(scorers)))
            else:
                found += self._frozen.sweep([scorer], own, [run])
        return found

    def sweep_all(
        self,
        scorers: Sequence[Scorer],
        weights: NDArray[np.float64] | None,
        runs: Sequence[int],
    ) -> list[Resultants]:
        """Read all rows, and score all components."""
        if any(self._keeper(scorer) for scorer in scorers):
            return self._rows.sweep(scorers, weights)
        return self._frozen.sweep_all(scorers, weights, runs)

    def begin(self, scorer: Scorer, weights: NDArray[np.float64] | None, run: int) -> None:
        """Let a run begin with what a sweep over all rows says, and nothing that came before."""
        keeper = self._keeper(scorer)
        if keeper is None:
            self._frozen.begin(scorer, weights, run)
        else:
            keeper.forget(run)

    def left_out(self, run: int) -> int:
        """Return the number of rows that the last sweep of a run did not score in full."""
        return self._kept.get(run, self._frozen).left_out(run)

    def _keeper(self, scorer: Scorer) -> NearComponents | MovedComponents | None:
        """Return what keeps bounds of components, where there are many."""
        if is_sparse(scorer.matrix):
            return self._moved
        hard = scorer.assignment == "hard" and not self._rows.is_sparse
        work = self._rows.n_entries * scorer.n_components
        many = scorer.n_components >= near.LEAST_COMPONENTS and work >= near.LEAST_WORK
        return self._near if hard and many else None

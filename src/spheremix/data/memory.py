"""What the engine of memory keeps between the sweeps of one fit, so as not to read all again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spheremix.data import near
from spheremix.data.near import NearComponents
from spheremix.data.settled import SettledRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from spheremix.data.compiled import CompiledDirections
    from spheremix.resultants import Resultants
    from spheremix.scorer import Scorer


class FitMemory:
    """The sweeps of one fit: bounds of components where there are many, of whole rows elsewhere.

    Parameters
    ----------
    rows : CompiledDirections
        The engine that reads the rows.
    """

    def __init__(self, rows: CompiledDirections) -> None:
        self._rows = rows
        self._settled = SettledRows(rows)
        self._near = NearComponents(rows)
        self._near_runs: set[int] = set()

    def sweep(
        self,
        scorers: Sequence[Scorer],
        weights: NDArray[np.float64] | None,
        runs: Sequence[int],
    ) -> list[Resultants]:
        """Give the resultants of each scorer; see ``SettledRows.sweep``."""
        self._near_runs = {run for s, run in zip(scorers, runs, strict=True) if self._is_many(s)}
        if not self._near_runs:
            return self._settled.sweep(scorers, weights, runs)
        self._near.keep(self._near_runs)
        found: list[Resultants] = []
        for s, (scorer, run) in enumerate(zip(scorers, runs, strict=True)):
            own = weights if weights is None or weights.ndim == 1 else weights[s]
            if run in self._near_runs:
                found.append(self._near.sweep(scorer, own, run, len(scorers)))
            else:
                found += self._settled.sweep([scorer], own, [run])
        return found

    def sweep_all(
        self,
        scorers: Sequence[Scorer],
        weights: NDArray[np.float64] | None,
        runs: Sequence[int],
    ) -> list[Resultants]:
        """Read all rows, and score all components."""
        if any(self._is_many(scorer) for scorer in scorers):
            return self._rows.sweep(scorers, weights)
        return self._settled.sweep_all(scorers, weights, runs)

    def begin(self, scorer: Scorer, weights: NDArray[np.float64] | None, run: int) -> None:
        """Let a run begin with what a sweep over all rows says, and nothing that came before."""
        if self._is_many(scorer):
            self._near.forget(run)
        else:
            self._settled.begin(scorer, weights, run)

    def left_out(self, run: int) -> int:
        """Give the number of rows that the last sweep of a run did not score in full."""
        return self._rows.n_rows if run in self._near_runs else self._settled.left_out(run)

    def _is_many(self, scorer: Scorer) -> bool:
        hard = scorer.assignment == "hard" and not self._rows.is_sparse
        work = self._rows.n_entries * scorer.n_components
        return hard and scorer.n_components >= near.LEAST_COMPONENTS and work >= near.LEAST_WORK

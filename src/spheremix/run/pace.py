"""How much of a stage is behind, and how long the rest of it may take.

The command imports this at once, so that it waits for no heavy library.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from spheremix.path import PathState

# Odds of the time that is behind, from the odds of two places on the path: chosen on the paths that
# are recorded in the tests. The first steps of a path take two iterations each, those at which few
# words a group are left take a hundred.
FACTOR, BY_BETA, BY_WORDS = 0.76, 0.9, 0.34

AT_ONCE = 0.1  # seconds: what is done by then was done before the stage began
GRAIN = 0.002  # shares that are nearer to each other are not told apart


class Pace:
    """Guesses how long a stage still takes, at the pace of the later half of what is done.

    Parameters
    ----------
    start : float
        When the stage began, in seconds.
    """

    def __init__(self, start: float) -> None:
        self._marks = [(start, 0.0)]
        self.done = 0.0

    def reach(self, share: float, now: float) -> None:
        """Note which share is done; it never falls."""
        self.done = max(self.done, min(share, 1.0))
        start = self._marks[0][0]
        if len(self._marks) == 1 and now - start < AT_ONCE:
            self._marks = [(start, self.done)]
        elif self.done >= self._marks[-1][1] + GRAIN:
            self._marks.append((now, self.done))

    def left(self, now: float) -> float | None:
        """Return the seconds that the stage may still take; None where nothing is known."""
        half = 0.5 * (self._marks[0][1] + self.done)
        since, share = self._marks[max(bisect_right(self._marks, half, key=itemgetter(1)) - 1, 0)]
        gained = self.done - share
        return None if gained <= 0.0 else (now - since) / gained * (1.0 - self.done)


def time_behind(by_beta: float, by_words: float) -> float:
    """Guess the share of the time of a path from two places on it; all from 0 to 1."""
    odds = FACTOR * math.pow(_odds(by_beta), BY_BETA) * math.pow(_odds(by_words), BY_WORDS)
    return odds / (1.0 + odds)


def _odds(share: float) -> float:
    """Return the odds of a share, which is not quite 0 or 1."""
    inside = min(max(share, 1e-3), 1.0 - 1e-3)
    return inside / (1.0 - inside)


def places_on_path(state: PathState) -> tuple[float, float] | None:
    """Tell how far a path has come, by beta and by the number of words; None at its beginning.

    Beta grows by a factor, up to the last event of each prototype. The words, non-zero coordinates
    of all prototypes, fall by a factor to one a prototype.
    """
    steps, fit = state.steps, state.fit
    if len(steps) < 3:
        return None
    vectors = state.model.clusters(fit.resultants).vectors
    events = fit.parameters.kappas[:, None] * abs(vectors)
    events.partition(-2, axis=1)
    ends = events[:, -2].tolist()  # a prototype keeps its last coordinate
    first, now = steps[1].beta, steps[-1].beta
    way = sum(math.log(max(end, now) / first) for end in ends) / len(ends)
    many, few, least = steps[0].n_nonzero, steps[-1].n_nonzero, len(ends)
    if way <= 0.0 or many <= least:
        return None
    return math.log(now / first) / way, math.log(many / few) / math.log(many / least)


def path_behind(state: PathState, max_steps: int) -> float:
    """Guess which share of the time of a path is behind, if it has so many steps at most."""
    places, n_steps = places_on_path(state), len(state.steps)
    share = min(n_steps / max_steps, 1.0)
    if places is None:
        return share
    return max(time_behind(*places), share**2)  # later steps take longer

"""Section 5.3 once more: spherical k-means with the search in the place of random starts.

The R package that the paper used searches by a genetic algorithm unless it is told otherwise. Ours
merges clusters, moves rows and combines runs. A case is one K and one number of runs of the search,
over all repetitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import spheremix as sm
from experiments.data import ari, cstr
from experiments.runner import is_sketch, main, repetitions

if TYPE_CHECKING:
    from experiments.runner import Case, Tables

NAME = "search"
VERSION = 1
SEEDS = "repetition i searches with random_state i"
FULL = 50  # repetitions
RUNS = (1, 2, 5)  # of the search; five are its default


def cases(scale: float) -> list[Case]:
    """Return one case a K and number of runs."""
    sketch = is_sketch(scale, FULL)
    n = repetitions(scale, FULL)
    return [
        {"K": K, "runs": runs, "repetitions": n}
        for K in ([3, 4, 5] if sketch else range(2, 9))
        for runs in RUNS
    ]


def solve(case: Case) -> Tables:
    """Search once a repetition."""
    X, labels = cstr()
    rows = []
    for i in range(case["repetitions"]):
        model = sm.SphericalKMeans(
            case["K"], init="merge", n_init=case["runs"], random_state=i, n_threads=1
        ).fit(X)
        place = {"repetition": i, "K": case["K"], "runs": case["runs"]}
        rows.append(place | {"ari": ari(labels, model.labels_), "quality": model.coherence_})
    return {"models": rows}


if __name__ == "__main__":
    main("experiments.search")

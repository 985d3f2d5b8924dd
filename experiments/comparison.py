"""Section 5.2: the mixture, spherical k-means and dbmovMFs on the same data from the same starts.

A case is one data set. The balanced ones are those of section 4.3; the unbalanced ones have
components of 1/2, 1/4, 1/8 and 1/8 of the rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import spheremix as sm
from experiments.data import WEIGHTS, ari, configurations, n_converged, simulated
from experiments.runner import is_sketch, main, repetitions

if TYPE_CHECKING:
    from experiments.runner import Case, Tables

NAME = "comparison"
VERSION = 1
SEEDS = (
    "data set i of configuration c, in the order of the table, is drawn with seed 1000 c + i, "
    "balanced (as in section 4.3) or not, and the ten starts at each K with the same seed: the "
    "same rows for every method"
)
FULL = 100  # data sets a configuration
STARTS = 10
METHODS = {
    "mixture": (sm.VMFMixture, {"kappa": "free"}),
    "skmeans": (sm.SphericalKMeans, {}),
    "dbmovmfs": (sm.VMFCoclustering, {"kappa": "free"}),
}


def cases(scale: float) -> list[Case]:
    """Return one case a data set."""
    sketch = is_sketch(scale, FULL)
    size = {"n_init": 3 if sketch else STARTS, "K": [2, 4, 6] if sketch else list(range(2, 9))}
    chosen = list(enumerate(configurations()))
    return [
        {"weights": weights} | configuration | {"data": i, "seed": 1000 * c + i} | size
        for weights in WEIGHTS
        for c, configuration in (chosen[:: len(chosen) - 1] if sketch else chosen)
        for i in range(repetitions(scale, FULL))
    ]


def solve(case: Case) -> Tables:
    """Run every method at every K on one data set."""
    X, labels, _ = simulated(case)
    rows = []
    for K in case["K"]:
        row = {name: case[name] for name in ("weights", "n", "overlap", "sparsity", "data")}
        row["K"] = K
        for method, (estimator, settings) in METHODS.items():
            model = estimator(
                K,
                init="random",
                n_init=case["n_init"],
                random_state=case["seed"],
                n_threads=1,
                **settings,
            )
            try:
                model.fit(X)
            except RuntimeError:  # no run converged
                row[f"ari_{method}"], row[f"converged_{method}"] = np.nan, 0.0
                continue
            row[f"ari_{method}"] = ari(labels, model.labels_)
            row[f"converged_{method}"] = n_converged(model) / case["n_init"]
        rows.append(row)
    return {"models": rows}


if __name__ == "__main__":
    main("experiments.comparison")

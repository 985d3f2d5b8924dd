"""Section 4.3: what the path costs, what the criteria choose, and which zeros are found.

A case is one data set of 100 dimensions from 4 components: for K from 1 to 8 the best of ten random
starts, and the path from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import spheremix as sm
from experiments.data import TRUE_K, aligned, ari, configurations, n_converged, simulated
from experiments.runner import is_sketch, main, repetitions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from experiments.runner import Case, Tables

NAME = "simulation"
VERSION = 1
SEEDS = (
    "data set i of configuration c, in the order of the table, is drawn with seed 1000 c + i, "
    "which also seeds its ten starts at each K"
)
FULL = 100  # data sets a configuration
STARTS = 10
CRITERIA = ("aic", "bic", "ebic", "ric", "ricc")


def cases(scale: float) -> list[Case]:
    """Return one case a data set."""
    sketch = is_sketch(scale, FULL)
    size = {
        "n_init": 3 if sketch else STARTS,
        "increase": 1e-2 if sketch else 1e-3,
        "K": [3, 4, 5] if sketch else list(range(1, 9)),
    }
    chosen = list(enumerate(configurations()))
    return [
        configuration | {"data": i, "seed": 1000 * c + i} | size
        for c, configuration in (chosen[:: len(chosen) - 1] if sketch else chosen)
        for i in range(repetitions(scale, FULL))
    ]


def solve(case: Case) -> Tables:
    """Fit every K on one data set, dense and along the path."""
    X, labels, truth = simulated(case)
    place = {name: case[name] for name in ("n", "overlap", "sparsity", "data")}
    models: list[dict[str, Any]] = []
    zeros: list[dict[str, Any]] = []
    dense, sparse = {}, {}
    for K in case["K"]:
        mixture = sm.VMFMixture(
            K,
            kappa="free",
            init="random",
            n_init=case["n_init"],
            random_state=case["seed"],
            n_threads=1,
        ).fit(X)
        path = sm.VMFPath(
            K,
            kappa="free",
            init=mixture,
            min_relative_increase=case["increase"],
            n_threads=1,
        ).fit(X)
        row = place | {
            "K": K,
            "dense_iterations": sum(run.n_iter for run in mixture.runs_),
            "dense_converged": n_converged(mixture),
            "steps": len(path.betas_),
            "path_iterations": path.n_iters_[1:].sum(),
            "end": path.status_,
            "ari_dense": ari(labels, mixture.labels_),
        }
        dense[K] = mixture.criteria_
        sparse[K] = {name: path.criteria_[name].min() for name in CRITERIA}
        for name in ("aic", "bic"):
            i = path.select(name)
            chosen = path.model(i)
            row[f"ari_{name}"] = ari(labels, chosen.predict(X))
            row[f"sparsity_{name}"] = path.sparsity_[i]
            if K == TRUE_K:
                scores = recovery(chosen.prototypes_, truth.prototypes)
                zeros.append(place | {"criterion": name} | scores)
        models.append(row)
    selected = [
        place
        | {
            "criterion": name,
            "dense": min(dense, key=lambda K: dense[K][name]),
            "sparse": min(sparse, key=lambda K: sparse[K][name]),
        }
        for name in CRITERIA
    ]
    return {"models": models, "selected": selected, "zeros": zeros}


def recovery(prototypes: NDArray[np.float64], truth: NDArray[np.float64]) -> dict[str, float]:
    """Return precision and recall of the planted zeros, components matched by their cosines."""
    found, planted = prototypes[aligned(prototypes, truth)] == 0, truth == 0
    both = int(np.sum(found & planted))
    return {
        "precision": both / found.sum() if found.any() else np.nan,
        "recall": both / planted.sum(),
    }


if __name__ == "__main__":
    main("experiments.simulation")

"""The data of the studies, and what is measured on fitted models."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

import spheremix as sm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"

# Section 4.1: base kappa of each overlap, with 4 components in 100 dimensions.
BASE_KAPPAS = {0.025: 17.34, 0.05: 15.09}
OVERLAPS, SPARSITIES, SIZES = (0.025, 0.05), (0.05, 0.1, 0.15), (200, 1000)
WEIGHTS = {"balanced": None, "unbalanced": (1 / 2, 1 / 4, 1 / 8, 1 / 8)}
TRUE_K = 4


def configurations() -> list[dict[str, Any]]:
    """Return the twelve configurations of section 4.3."""
    return [
        {"n": n, "overlap": overlap, "sparsity": sparsity}
        for n in SIZES
        for overlap in OVERLAPS
        for sparsity in SPARSITIES
    ]


def simulated(case: dict[str, Any]) -> tuple[Any, NDArray[np.intp], Any]:
    """Return a simulated data set, opened, with its classes and its truth."""
    X, labels, truth = sm.datasets.make_vmf_mixture(
        case["n"],
        100,
        TRUE_K,
        kappa=BASE_KAPPAS[case["overlap"]],
        sparsity=case["sparsity"],
        weights=WEIGHTS[case.get("weights", "balanced")],
        random_state=case["seed"],
    )
    return sm.as_directions(X, n_threads=1), labels, truth


@lru_cache(maxsize=1)
def cstr() -> tuple[Any, NDArray[np.intp]]:
    """Return the CSTR abstracts, opened, and their classes."""
    if "SPHEREMIX_DATA" not in os.environ and BESIDE.exists():
        os.environ["SPHEREMIX_DATA"] = str(BESIDE)
    X, labels = sm.datasets.fetch_cstr()
    return sm.as_directions(X, n_threads=1), labels


def ari(labels: NDArray[np.intp], found: NDArray[np.intp]) -> float:
    """Return the adjusted Rand index of two partitions."""
    return float(adjusted_rand_score(labels, found))


def aligned(prototypes: Array, truth: Array) -> NDArray[np.intp]:
    """Return the order of the prototypes in which their cosines to the true ones are largest."""
    _, order = linear_sum_assignment(-truth @ prototypes.T)
    return order


def n_converged(model: Any) -> int:
    """Count the restarts that converged."""
    return sum(run.status == "converged" for run in model.runs_)

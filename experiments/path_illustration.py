"""Section 4.2: one path step by step, and four ways of solving for its betas.

500 rows in 10 dimensions from 4 components, 5 % overlap, no zeros planted. The paper shows one data
set; here the first one is shown and the strategies are compared on twenty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import spheremix as sm
from experiments.data import aligned, n_converged
from experiments.runner import is_sketch, main, repetitions

if TYPE_CHECKING:
    from experiments.runner import Case, Tables

NAME = "path"
VERSION = 1
SEEDS = "data set i is drawn with seed i, and its ten starts with random_state i"
FULL = 20
STARTS = 10
KAPPA = 5.37  # base concentration of 5 % overlap, as printed
SAME = 1e-3  # estimates are equal when no coordinate of a prototype differs by more
GRID = 50


def cases(scale: float) -> list[Case]:
    """Return one case a data set and M-step."""
    sketch = is_sketch(scale, FULL)
    return [
        {"data": i, "m_step": m_step, "n_init": 3 if sketch else STARTS}
        for m_step in ("exact", "paper")
        for i in range(1 if sketch else repetitions(scale, FULL))
    ]


def solve(case: Case) -> Tables:
    """Follow the path of one data set, then solve for its betas in the other three ways."""
    X, _, _ = sm.datasets.make_vmf_mixture(500, 10, 4, kappa=KAPPA, random_state=case["data"])
    X = sm.as_directions(X, n_threads=1)
    settings = {
        "n_components": 4,
        "kappa": "free",
        "m_step": case["m_step"],
        "init": "random",
        "n_init": case["n_init"],
        "random_state": case["data"],
        "n_threads": 1,
    }
    path = sm.VMFPath(**settings).fit(X)
    betas = path.betas_[1:]
    dense = sm.VMFPath(**settings, strategy="dense", betas=betas).fit(X)
    steps, random = [], []
    for i, beta in enumerate(path.betas_):
        there = path.model(i).prototypes_
        found = _from_random_starts(X, beta, settings, there)
        random.append(found)
        from_dense = np.nan
        if i < len(dense.betas_):
            from_dense = np.abs(dense.model(i).prototypes_ - there).max()
        steps.append(
            case
            | {
                "step": i,
                "beta": beta,
                "sparsity": path.sparsity_[i],
                "log_likelihood": path.log_likelihoods_[i],
                "bic": path.criteria_["bic"][i],
                "n_iter": path.n_iters_[i],
                "dense_difference": from_dense,
                "random_difference": found["difference"],
                "random_gain": found["objective"] - path.objectives_[i],
                "random_converged": found["converged"],
            }
        )
    summary = case | {
        "steps": len(path.betas_),
        "end": path.status_,
        "dense_steps": len(dense.betas_),
        "path_iterations": path.n_iters_[1:].sum(),
        "dense_iterations": dense.n_iters_[1:].sum(),
        "random_iterations": sum(found["iterations"] for found in random[1:]),
    }
    tables = {"steps": steps, "summary": [summary]}
    if case["data"] == 0 and case["m_step"] == "exact":
        tables["grid"] = _grid(X, path.betas_[-1], settings)
    return tables


def _from_random_starts(
    X: Any, beta: float, settings: dict[str, Any], there: Any
) -> dict[str, Any]:
    """Run EM at one beta from random starts; compare the best of them with the path's."""
    model = sm.VMFMixture(beta=beta, **settings)
    try:
        model.fit(X)
    except RuntimeError:  # every start failed
        nothing = {"difference": np.nan, "objective": np.nan}
        return nothing | {"converged": 0, "iterations": 0}
    found = model.prototypes_[aligned(model.prototypes_, there)]
    return {
        "difference": np.abs(found - there).max(),
        "objective": model.objective_,
        "converged": n_converged(model),
        "iterations": sum(run.n_iter for run in model.runs_),
    }


def _grid(X: Any, last: float, settings: dict[str, Any]) -> list[dict[str, Any]]:
    """Solve on a regular grid of betas, each time from the dense solution."""
    betas = np.linspace(0.0, last, GRID)[1:]
    grid = sm.VMFPath(**settings, strategy="dense", betas=betas).fit(X)
    return [
        {
            "beta": beta,
            "sparsity": grid.sparsity_[i],
            "log_likelihood": grid.log_likelihoods_[i],
            "bic": grid.criteria_["bic"][i],
            "n_iter": grid.n_iters_[i],
        }
        for i, beta in enumerate(grid.betas_)
    ]


if __name__ == "__main__":
    main("experiments.path_illustration")

"""Dense mixtures of every size compared: a table of their restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.select import CRITERIA, count_parameters, criteria

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix import em
    from spheremix.estimators.problem import Problem, Restart
    from spheremix.models.vmf import VMFModel, VMFParameters
    from spheremix.resultants import Resultants

    Fits = list[em.Fit[VMFParameters] | None]


def candidate_table(
    problem: Problem[VMFModel],
    each: dict[int, Fits],
    runs: dict[int, list[Restart]],
    zero_tol: float,
) -> dict[str, NDArray[Any]]:
    """Give the columns of a table with a row for each restart of each number of components."""
    rows = []
    for K, fits in each.items():
        swept = _softly(problem, fits)
        for restart, (fit, soft, run) in enumerate(zip(fits, swept, runs[K], strict=True)):
            row = {
                "n_components": K,
                "restart": restart,
                "seed": run.seed,
                "status": run.status,
                "n_iter": run.n_iter,
                "objective": run.objective,
                "log_likelihood": np.nan,
                "n_nonzero": 0,
                **dict.fromkeys(CRITERIA, np.nan),
            }
            if fit is not None and soft is not None:
                clean = problem.model.zero_small(fit.parameters, zero_tol)
                row["log_likelihood"] = soft.log_likelihood
                row["n_nonzero"] = int(np.count_nonzero(clean.prototypes))
                row |= criteria(
                    soft.log_likelihood,
                    count_parameters(clean.prototypes, problem.model.kappa_mode),
                    soft.weight,
                    problem.directions.n_features,
                    soft.entropy,
                )
            rows.append(row)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _softly(problem: Problem[VMFModel], fits: Fits) -> list[Resultants | None]:
    """Give the soft resultants of the fits that did not fail; a hard one is swept again."""
    swept = [fit.resultants if fit is not None and fit.ok else None for fit in fits]
    if problem.settings.e_step == "hard":
        good = [i for i, one in enumerate(swept) if one is not None]
        scorers = [
            problem.model.scorer(fit.parameters) for i in good if (fit := fits[i]) is not None
        ]
        again = problem.directions.sweep(scorers, problem.weights) if scorers else []
        for i, soft in zip(good, again, strict=True):
            swept[i] = soft
    return swept

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
    """Return the columns of a table with a row for each restart of each number of components."""
    rows = []
    for K, fits in each.items():
        cleaned = _cleaned(problem, fits, zero_tol)
        swept = _softly(problem, fits, cleaned)
        each_run = zip(cleaned, swept, runs[K], strict=True)
        for restart, (clean, soft, run) in enumerate(each_run):
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
            if clean is not None and soft is not None:
                row["log_likelihood"] = soft.log_likelihood
                row["n_nonzero"] = int(np.count_nonzero(clean.prototypes))
                row |= criteria(
                    soft.log_likelihood,
                    count_parameters(clean.prototypes, problem.model.kappa_mode)
                    + problem.model.n_noise,
                    soft.weight,
                    problem.directions.n_features,
                    soft.entropy,
                )
            rows.append(row)
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _cleaned(problem: Problem[VMFModel], fits: Fits, zero_tol: float) -> list[VMFParameters | None]:
    """Return the parameters of the fits that did not fail, small coordinates set to zero."""
    return [
        problem.model.zero_small(fit.parameters, zero_tol) if fit is not None and fit.ok else None
        for fit in fits
    ]


def _softly(
    problem: Problem[VMFModel], fits: Fits, cleaned: list[VMFParameters | None]
) -> list[Resultants | None]:
    """Return soft resultants of the cleaned parameters; those that differ are swept together."""
    swept = [None if fit is None or not fit.ok else fit.resultants for fit in fits]
    hard = problem.settings.e_step == "hard"
    again = {
        i: clean
        for i, (fit, clean) in enumerate(zip(fits, cleaned, strict=True))
        if fit is not None and clean is not None and (hard or clean is not fit.parameters)
    }
    if again:
        scorers = [problem.model.scorer(clean) for clean in again.values()]
        found = problem.directions.sweep(scorers, problem.weights)
        for i, soft in zip(again, found, strict=True):
            swept[i] = soft
    return swept

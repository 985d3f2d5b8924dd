"""From checked options and data to a model, and from starts to the best fit."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from spheremix import em
from spheremix.bessel import concentration, log_normalizer
from spheremix.distribution import MEAN_LENGTH_MAX
from spheremix.errors import Explained, NotedWarning, ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.convergence import ConvergenceWarning
from spheremix.estimators.standing import is_capped, standing
from spheremix.estimators.starts import Start, first_alike
from spheremix.models.vmf import Noise, VMFModel, VMFParameters
from spheremix.penalties import L1

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from spheremix.data.base import Directions
    from spheremix.estimators.options import MixtureOptions

    Array = NDArray[np.float64]

    class AnyRun(Protocol):
        """A run of any model."""

        @property
        def status(self) -> str:
            """How it ended."""
            ...


M = TypeVar("M")
OUTDONE = "outdone"  # the status of a run that was searched for only: another one was better


class NoFitError(Explained, RuntimeError):
    """Every run of EM failed, so there is no model."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem(Generic[M]):
    """All that a fit works on, checked."""

    model: M
    settings: em.Settings
    directions: Directions
    weights: Array | None
    n_components: int
    columns: dict[str, Any]  # n_features_in_, and feature_names_in_ where they have names


@dataclass(frozen=True, slots=True)
class Restart:
    """How one run went.

    Attributes
    ----------
    seed : int or None
        Of what was drawn; None for crossings and for a given start.
    status : str
        How EM ended; "no_start" where every try of the start failed; "outdone" where, on large
        data, the search found a better start and EM did not go on from this one.
    n_iter : int
        Iterations of EM.
    objective : float
        At the end.
    stationarity_gap : float
        At the end.
    kappa_capped : bool
        Whether a concentration is at its cap.
    start : str
        How the run started: "merge", "cross" (of two runs before it), "noise" (one cluster more
        was searched for, and the loosest given up to the noise), "random", "k-means++",
        "spherical-k-means", "tree" (a cut of a tree) or "given".
    start_objective : float
        Where it started: for "merge", "cross" and "tree" the classification likelihood as
        merged, before rows were moved; else, and on large data, the objective of the first
        parameters.
    """

    seed: int | None
    status: str
    n_iter: int
    objective: float
    stationarity_gap: float
    kappa_capped: bool
    start: str = "random"
    start_objective: float = float("nan")


def build_problem(options: MixtureOptions, X: Any, sample_weight: Any) -> Problem[VMFModel]:
    """Open and check the data, and make the model for its dimension."""
    directions, columns = check.open_data(X, options.engine, options.n_threads)
    model = build_model(options, directions.n_features, directions.n_threads)
    weights = check.check_weights(sample_weight, directions.n_rows)
    check.require_rows(options.n_components, directions, weights)
    check.warn_of_shares(weights)
    return Problem(model, options.settings, directions, weights, options.n_components, columns)


def build_model(options: MixtureOptions, n_features: int, n_threads: int) -> VMFModel:
    """Make the model for the dimension of the data; checks what depends on it."""
    if options.zero_tol >= n_features**-0.5:
        raise ParameterError(
            "{zero_tol} must be below 1 / sqrt({d}), or nothing could be left of a prototype; "
            "got {got}",
            d=n_features,
            got=repr(options.zero_tol),
        )
    if isinstance(options.kappa_max, str):
        check.require_choice("kappa_max", options.kappa_max, ("auto",))
        kappa_max = float(concentration(n_features, MEAN_LENGTH_MAX))
    else:
        kappa_max = check.require_number("kappa_max", options.kappa_max, above=0.0)
    weights = options.feature_weights
    if weights is not None:
        weights = check.require_vector("feature_weights", weights, n_features, "feature")
    return VMFModel(
        n_features,
        options.kappa,
        L1(options.beta, weights),
        kappa_max,
        options.m_step,
        options.kappa_solver,
        n_threads,
        options.kappa_prior,
        build_noise(options, n_features),
    )


def build_noise(options: MixtureOptions, n_features: int) -> Noise | None:
    """Return the noise that the options ask for, at the level of the uniform distribution."""
    if options.noise is None:
        return None
    level = float(log_normalizer(n_features, 0.0))
    most = options.max_noise
    return Noise(level, most) if isinstance(most, float) else Noise(level)


def run_all(
    problem: Problem[VMFModel],
    starts: list[Start],
    callback: Callable[[em.Progress], None] | None = None,
) -> list[em.Fit[VMFParameters] | None]:
    """Run EM from all starts, once where two are one partition; None where there is no start."""
    first = first_alike(starts)
    distinct = [start.parameters if first[i] == i else None for i, start in enumerate(starts)]

    def run(_: list[int], batch: list[VMFParameters]) -> list[em.Fit[VMFParameters]]:
        return em.fit(
            problem.model,
            problem.directions,
            batch,
            problem.settings,
            weights=problem.weights,
            callback=callback,
        )

    fits = em.in_batches(distinct, lambda start: start.prototypes.size, run)
    return [fits[i] for i in first]


def best_of(
    options: MixtureOptions,
    problem: Problem[VMFModel],
    fits: list[em.Fit[VMFParameters] | None],
    runs: list[Restart],
) -> em.Fit[VMFParameters]:
    """Return the best fit, what is numerically zero in it set to zero."""
    model, K = problem.model, problem.n_components
    reached = [fit for fit in fits if fit is not None and fit.ok]
    if not reached:
        raise _no_mixture(K, runs)
    best = max(reached, key=lambda fit: standing(model, fit))
    return em.evaluate(
        model,
        problem.directions,
        best,
        model.zero_small(best.parameters, options.zero_tol),
        problem.settings,
        weights=problem.weights,
    )


def _no_mixture(K: int, runs: list[Restart]) -> NoFitError:
    """Say why there is no mixture of K components."""
    what = f"a mixture of {K} component{'s' * (K > 1)}"
    if K == 1:
        return failure(runs, what, why="; the rows may cancel out: then their sum has no direction")
    if all(run.status == "no_start" for run in runs):
        few = "; there may be fewer different rows than components"
        return failure(runs, what, ("lower {n_components}",), why=few)
    remedies = ("lower {n_components}", "lower {beta}", "raise {n_init}", "give a start as {init}")
    return failure(runs, what, remedies)


def warn_of_cap(
    n_components: int, kappa_max: float, stacklevel: int = 3, *, has_prior: bool = True
) -> None:
    """Warn that kappa hit its cap, so it is not the maximum."""
    warnings.warn(
        ConvergenceWarning(
            "A kappa of the mixture of K = {K} is at its cap of {cap}, and not at the maximum",
            remedies=(
                "drop identical rows",
                "raise {kappa_max} if rows are really that close to each other",
                "give {kappa} a number",
                *(["give {kappa_prior} as (1, 0.9)"] if has_prior else []),
            ),
            K=n_components,
            cap=f"{kappa_max:.4g}",
        ),
        stacklevel=stacklevel,
    )


def summaries(
    model: Any, starts: Sequence[Start], fits: Sequence[em.Fit[Any] | None]
) -> list[Restart]:
    """Tell how each run went."""
    runs = []
    for start, fit in zip(starts, fits, strict=True):
        if fit is None:
            nothing = (OUTDONE if start.is_outdone else "no_start", 0, np.nan, np.nan, False)
            runs.append(Restart(start.seed, *nothing, start.kind))
            continue
        capped = is_capped(model, fit.parameters)
        first = start.first_value if start.masses else fit.trace[0]
        reached = (fit.status, fit.n_iter, fit.objective, fit.gap, capped)
        runs.append(Restart(start.seed, *reached, start.kind, first))
    return runs


def print_runs(runs: list[Restart], prefix: str = "") -> None:
    """Print a line for each restart."""
    for i, run in enumerate(runs):
        line = (
            f"{prefix}run {i + 1}/{len(runs)} ({run.start}): {run.status} after {run.n_iter} "
            f"iterations, "
            f"objective {run.objective:.6f}, gap {run.stationarity_gap:.1e}"
        )
        print(line + (", kappa at its cap" if run.kappa_capped else ""))  # noqa: T201


def warn_of_lost(
    runs: Sequence[AnyRun], n_components: int, what: str = "a mixture", stacklevel: int = 3
) -> None:
    """Tell of restarts that ended without a fit, where others have one.

    Not for co-clustering, where it is the rule that some blocks lose all their columns.
    """
    lost = [run.status for run in runs if run.status not in {*em.ENDED, OUTDONE}]
    if lost:
        warnings.warn(
            NotedWarning(
                "{lost} of {n} restarts of {what} of {K} components failed ({counts}), and the "
                "result is the best of the others",
                remedies=("lower {n_components}", "raise {n_init}"),
                lost=len(lost),
                n=len(runs),
                what=what,
                K=n_components,
                counts=_counts(lost),
            ),
            stacklevel=stacklevel,
        )


def _counts(statuses: Sequence[str]) -> str:
    """Return the statuses of runs, each with how often it occurs."""
    return ", ".join(f"{statuses.count(name)} {name}" for name in sorted(set(statuses)))


def failure(
    runs: Sequence[AnyRun], what: str, remedies: tuple[str, ...] = (), why: str = ""
) -> NoFitError:
    """Say that no restart succeeded, how they ended, and what to do."""
    counts = _counts([run.status for run in runs])
    return NoFitError(
        "No restart of {n} gave {what} ({counts}){why}",
        remedies=remedies,
        n=len(runs),
        what=what,
        counts=counts,
        why=why,
    )

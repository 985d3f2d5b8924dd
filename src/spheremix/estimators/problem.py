"""From an estimator's parameters to a model, settings and starts: shared by mixture and path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from spheremix import em, seeding
from spheremix.bessel import concentration
from spheremix.estimators import validation as check
from spheremix.models.base import DegenerateError
from spheremix.models.vmf import VMFModel, VMFParameters
from spheremix.penalties import L1

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from spheremix.data.base import Directions

    Array = NDArray[np.float64]

    class AnyRun(Protocol):
        """A run of any model."""

        @property
        def status(self) -> str:
            """How it ended."""
            ...


STARTS = ("random", "k-means++", "spherical-k-means")
BATCH_ENTRIES = 2**23  # prototypes of the restarts that share a sweep: K d summed, 64 MB
MEAN_LENGTH_MAX = 1.0 - 1e-6  # what kappa_max="auto" stands for


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """All that a fit works on, checked."""

    model: VMFModel
    settings: em.Settings
    directions: Directions
    weights: Array | None
    n_components: int
    columns: dict[str, Any]  # n_features_in_, and feature_names_in_ where they have names


@dataclass(frozen=True, slots=True)
class Run:
    """How one restart went."""

    seed: int | None
    status: str
    n_iter: int
    objective: float
    stationarity_gap: float
    kappa_capped: bool


def pose(estimator: Any, X: Any, sample_weight: Any) -> Problem:
    """Check every parameter and the data."""
    settings = _settings(estimator)
    n_components = check.require_integer("n_components", estimator.n_components, 1)
    check.require_integer("n_init", estimator.n_init, 1)
    check.require_number("zero_tol", estimator.zero_tol)
    directions, columns = check.open_data(estimator, X)
    model = pose_model(estimator, directions)
    weights = check.check_weights(sample_weight, directions)
    check.require_rows(n_components, directions, weights)
    return Problem(model, settings, directions, weights, n_components, columns)


def pose_model(estimator: Any, directions: Directions) -> VMFModel:
    """Check the parameters of the model, in the dimension of the data."""
    n_components = check.require_integer("n_components", estimator.n_components, 1)
    zero_tol = check.require_number("zero_tol", estimator.zero_tol)
    if zero_tol >= directions.n_features**-0.5:
        raise ValueError(
            f"zero_tol must be below 1 / sqrt({directions.n_features}), or nothing could be left "
            f"of a prototype; got {zero_tol!r}."
        )
    return _model(estimator, n_components, directions)


def restarts(
    estimator: Any, problem: Problem, start: VMFParameters | None
) -> tuple[em.Fit[VMFParameters], list[Run]]:
    """Run EM from the given start or from every drawn one; give the best fit and all the runs."""
    if start is None:
        starts, seeds = draw(estimator, problem)
    else:
        starts, seeds = [start], [None]
    fits = run_all(problem, starts, seeds, estimator.callback)
    runs = summaries(problem.model, seeds, fits)
    if estimator.verbose:
        print_runs(runs)
    return best_of(estimator, problem, fits, runs), runs


def run_all(
    problem: Problem,
    starts: list[VMFParameters | None],
    seeds: list[int | None],
    callback: Any = None,
) -> list[em.Fit[VMFParameters] | None]:
    """Run EM from all starts, as many at a time as memory allows; None where there is no start."""
    drawn = [i for i, start in enumerate(starts) if start is not None]
    sizes = [start.prototypes.size for start in starts if start is not None]
    ends = np.cumsum(sizes) // BATCH_ENTRIES
    fits: list[em.Fit[VMFParameters] | None] = [None] * len(starts)
    for batch in np.unique(ends):
        members = [i for i, end in zip(drawn, ends, strict=True) if end == batch]
        reached = em.fit(
            problem.model,
            problem.directions,
            [start for i in members if (start := starts[i]) is not None],
            problem.settings,
            weights=problem.weights,
            seeds=[seeds[i] or 0 for i in members],
            callback=callback,
        )
        for i, fit in zip(members, reached, strict=True):
            fits[i] = fit
    return fits


def best_of(
    estimator: Any, problem: Problem, fits: list[em.Fit[VMFParameters] | None], runs: list[Run]
) -> em.Fit[VMFParameters]:
    """Give the fit of the best objective, what is numerically zero in it set to zero."""
    reached = [fit for fit in fits if fit is not None and fit.ok]
    if not reached:
        what = f"a mixture of {problem.n_components} components"
        remedy = "Lower n_components or beta, raise n_init, or give a start with init=."
        raise RuntimeError(failure(runs, what, remedy))
    best = max(reached, key=lambda fit: fit.objective)
    return em.evaluate(
        problem.model,
        problem.directions,
        best,
        problem.model.without_dust(best.parameters, estimator.zero_tol),
        problem.settings,
        weights=problem.weights,
    )


def _settings(estimator: Any) -> em.Settings:
    check.require_choice("e_step", estimator.e_step, ("soft", "hard", "stochastic"))
    check.require_choice("m_step", estimator.m_step, ("exact", "paper"))
    check.require_choice("kappa_solver", estimator.kappa_solver, ("exact", "banerjee"))
    exact = estimator.m_step == "exact" and estimator.kappa_solver == "exact"
    return em.Settings(
        tol=check.require_number("tol", estimator.tol),
        max_iter=check.require_integer("max_iter", estimator.max_iter, 1),
        e_step=estimator.e_step,
        # Other M-steps settle where they settle: their gap is reported, and not waited for.
        certified=exact,
    )


def _model(estimator: Any, n_components: int, directions: Directions) -> VMFModel:
    n_features = directions.n_features
    kappa: Any = estimator.kappa
    if isinstance(kappa, str):
        check.require_choice("kappa", kappa, ("shared", "free"))
    elif np.ndim(kappa) == 0:
        kappa = kappa.item() if isinstance(kappa, np.ndarray) else kappa
        kappa = check.require_number("kappa", kappa, above=0.0)
    else:
        kappa = check.require_vector("kappa", kappa, n_components, "component")
        if not kappa.all():
            raise ValueError("kappa must be above 0: a component of kappa 0 has no prototype.")
    if isinstance(estimator.kappa_max, str):
        check.require_choice("kappa_max", estimator.kappa_max, ("auto",))
        kappa_max = concentration(n_features, MEAN_LENGTH_MAX)
    else:
        kappa_max = check.require_number("kappa_max", estimator.kappa_max, above=0.0)
    weights = estimator.feature_weights
    if weights is not None:
        weights = check.require_vector("feature_weights", weights, n_features, "feature")
    beta = check.require_number("beta", getattr(estimator, "beta", 0.0))
    return VMFModel(
        n_features,
        kappa,
        L1(beta, weights),
        kappa_max,
        estimator.m_step,
        estimator.kappa_solver,
        getattr(directions, "n_threads", 1),
    )


def draw(estimator: Any, problem: Problem) -> tuple[list[VMFParameters | None], list[int | None]]:
    """Draw the starts, or take the given one."""
    init, model, K = estimator.init, problem.model, problem.n_components
    directions, weights = problem.directions, problem.weights
    if isinstance(init, str):
        check.require_choice("init", init, STARTS)
        seeds = check.draw_seeds(estimator.random_state, estimator.n_init)
        return seeding.draw_starts(model, directions, K, seeds, init, weights), list(seeds)  # type: ignore[arg-type]
    init = getattr(init, "best_estimator_", init)  # a path or a study stands for its choice
    if hasattr(init, "prototypes_"):
        shape = init.prototypes_.shape
        if shape != (K, model.n_features):
            raise ValueError(
                f"init is a model of {shape[0]} components in {shape[1]} dimensions; {K} in "
                f"{model.n_features} are asked for."
            )
        if hasattr(init, "kappas_"):
            return [model.parameters(init.prototypes_, init.kappas_, init.weights_)], [None]
        init = init.prototypes_  # spherical k-means
    if hasattr(init, "get_params"):
        raise ValueError(
            "init is a model that is not fitted. clone and GridSearchCV forget fits: wrap the "
            "fitted model in sklearn.frozen.FrozenEstimator."
        )
    array = np.asarray(init)
    if array.ndim == 1:
        return [_start_from_labels(array, problem)], [None]
    if array.shape != (K, model.n_features):
        raise ValueError(
            f"init must be {', '.join(map(repr, STARTS))}, a fitted model, labels of shape "
            f"({directions.n_rows},) or prototypes of shape ({K}, {model.n_features}); got an "
            f"array of shape {array.shape}."
        )
    lengths = np.linalg.norm(array.astype(np.float64), axis=1)
    bad = np.flatnonzero(~((lengths > 0.0) & (lengths < np.inf)))
    if bad.size:
        raise ValueError(f"init: prototype {bad[0]} is zero or not finite.")
    start = seeding.from_prototypes(model, directions, [array / lengths[:, None]], weights)[0]
    if start is None:
        raise ValueError("init: no row is nearest to one of the prototypes; spread them out.")
    return [start], [None]


def _start_from_labels(labels: NDArray[Any], problem: Problem) -> VMFParameters:
    K = problem.n_components
    if labels.shape != (problem.directions.n_rows,) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"init given as labels must be integers, one a row ({problem.directions.n_rows}); "
            f"got shape {labels.shape} of {labels.dtype}."
        )
    if labels.min() < 0 or labels.max() >= K:
        raise ValueError(f"init given as labels must be in 0..{K - 1}.")
    try:
        return seeding.from_labels(
            problem.model, problem.directions, labels.astype(np.intp), K, problem.weights
        )
    except DegenerateError as error:
        raise ValueError(
            f"init: class {error.component} of the labels is {error.status}."
        ) from None


def summaries(
    model: VMFModel, seeds: list[int | None], fits: list[em.Fit[VMFParameters] | None]
) -> list[Run]:
    """Tell how each restart went."""
    runs = []
    for seed, fit in zip(seeds, fits, strict=True):
        if fit is None:
            runs.append(Run(seed, "no_start", 0, np.nan, np.nan, kappa_capped=False))
            continue
        capped = model.kappa_mode != "given" and bool(
            np.any(fit.parameters.kappas >= model.kappa_max)
        )
        runs.append(Run(seed, fit.status, fit.n_iter, fit.objective, fit.gap, capped))
    return runs


def print_runs(runs: list[Run], prefix: str = "") -> None:
    """Print a line a restart."""
    for i, run in enumerate(runs):
        line = (
            f"{prefix}restart {i + 1}/{len(runs)}: {run.status} after {run.n_iter} iterations, "
            f"objective {run.objective:.6f}, gap {run.stationarity_gap:.1e}"
        )
        print(line + (", kappa at its cap" if run.kappa_capped else ""))  # noqa: T201


def failure(runs: Sequence[AnyRun], what: str, remedy: str) -> str:
    """Say that no restart succeeded, how they ended, and what to do."""
    statuses = [run.status for run in runs]
    counts = ", ".join(f"{statuses.count(name)} {name}" for name in sorted(set(statuses)))
    return f"No restart of {len(runs)} gave {what} ({counts}). {remedy}"

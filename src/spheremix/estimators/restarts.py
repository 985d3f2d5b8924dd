"""EM from all starts of a fit: how each run went, which is the best, and how far they agree.

Starts that are drawn independently of each other are drawn as many at a time as share a sweep. Of
runs that have ended, and are not the best, the labels of the rows are kept and not the prototypes;
those of the best are sparse meanwhile, where most of them are zero.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from sklearn.metrics import adjusted_rand_score

from spheremix import em
from spheremix.errors import NotedWarning
from spheremix.estimators import validation as check
from spheremix.estimators.noise import add_noise_start
from spheremix.estimators.options import count_runs
from spheremix.estimators.problem import ConvergenceWarning, NoFitError, is_capped, is_runaway
from spheremix.estimators.starts import STARTS, Start, count_sweeps, draw, first_alike, from_seeds
from spheremix.resultants import Resultants
from spheremix.vectors import as_dense, as_sparse, is_sparse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from spheremix.em import Fit
    from spheremix.estimators.options import MixtureOptions
    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel, VMFParameters

    Array = NDArray[np.float64]

    class AnyRun(Protocol):
        """A run of any model."""

        @property
        def status(self) -> str:
            """How it ended."""
            ...

    Ended = em.Fit[VMFParameters]

OUTDONE = "outdone"  # the status of a run that was searched for only: another one was better
REMEDIES = ("lower {n_components}", "lower {beta}", "raise {n_init}", "give a start as {init}")
MOSTLY_ZERO = 1 / 3  # share of the coordinates: a sparse one takes 12 bytes, and a dense one 8


@dataclass(frozen=True, slots=True)
class Restart:
    """How one run went.

    Attributes
    ----------
    seed : int or None
        Of what was drawn; None for crossings and for a given start.
    status : str
        How EM ended; "no_start" where every try of the start failed; "outdone" where, on large
        data or with several views, the search found a better start and EM did not go on from
        this one.
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
        "spherical-k-means", "tree" (a cut of a tree), "seeds" (those of the fit) or "given".
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
    remedies: tuple[str, ...] = REMEDIES,
) -> em.Fit[VMFParameters]:
    """Return the best fit, what is numerically zero in it set to zero.

    Without any, the first of the remedies is for rows of which there are too few.
    """
    model, K = problem.model, problem.n_components
    reached = [fit for fit in fits if fit is not None and fit.ok]
    if not reached:
        raise _no_mixture(K, runs, remedies)
    best = max(reached, key=lambda fit: rank(model, fit))
    return em.evaluate(
        model,
        problem.directions,
        best,
        model.zero_small(best.parameters, options.zero_tol),
        problem.settings,
        weights=problem.weights,
    )


def _no_mixture(K: int, runs: list[Restart], remedies: tuple[str, ...]) -> NoFitError:
    """Say why there is no mixture of K components."""
    what = f"a mixture of {K} component{'s' * (K > 1)}"
    if K == 1:
        return failure(runs, what, why="; the rows may cancel out: then their sum has no direction")
    if all(run.status == "no_start" for run in runs):
        few = "; there may be fewer different rows than components"
        return failure(runs, what, remedies[:1], why=few)
    return failure(runs, what, remedies)


def warn_of_limit(n: int, where: str, *, what: str = "EM", stacklevel: int = 3) -> None:
    """Warn of a fit that stopped before it converged; ``where`` ends the sentence."""
    warnings.warn(
        ConvergenceWarning(
            "{what} stopped at its limit of {n} iterations{where}",
            remedies=("raise {max_iter}", "raise {tol}"),
            what=what,
            n=n,
            where=where,
        ),
        stacklevel=stacklevel,
    )


def warn_of_cap(
    n_components: int, kappa_max: float | Array, stacklevel: int = 3, *, has_prior: bool = True
) -> None:
    """Warn that kappa hit its cap, so it is not the maximum; several views have a cap each."""
    has_prior = has_prior and np.ndim(kappa_max) == 0
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
            cap=" or ".join(f"{one:.4g}" for one in np.atleast_1d(kappa_max)),
        ),
        stacklevel=stacklevel,
    )


def summaries(
    model: Any, starts: Sequence[Start], fits: Sequence[em.Fit[Any] | None]
) -> list[Restart]:
    """Return how each run went."""
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
    """Warn of restarts that ended without a fit, where others have one.

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


def rank(model: Any, fit: em.Fit[Any]) -> tuple[bool, float]:
    """Return what runs are compared by: larger is better; a runaway loses to all others."""
    return not is_runaway(model, fit.parameters), fit.objective


def agreement(
    problem: Problem[Any],
    starts: Sequence[Start],
    fits: Sequence[Fit[Any] | None],
    labels: Mapping[int, NDArray[Any]] | None = None,
) -> float:
    """Return the mean adjusted Rand index of the other runs with the best one; NaN with one run.

    A run that combines two others ("cross") depends on them, and one that gives a cluster up to the
    noise ("noise") starts in another way. They can be the best run, but are not counted among the
    others. On large data, where one start goes on, it is the agreement of what the search has found
    in the rows that it read. ``labels`` has those of runs that are known, by the place of the run.
    """
    reached = [fit for fit in fits if fit is not None and fit.ok]
    if not reached:
        return float("nan")
    best = max(reached, key=lambda fit: rank(problem.model, fit))
    place = next(i for i, fit in enumerate(fits) if fit is best)
    others = {
        i: fit
        for i, (start, fit) in enumerate(zip(starts, fits, strict=True))
        if fit is not None and fit.ok and start.kind not in {"cross", "noise"} and i != place
    }
    if not others:
        return starts[place].agreement  # with those that it has outdone, or NaN
    known, own = labels or {}, partition(problem, best)
    scores: dict[int, float] = {id(best): 1.0}  # runs that met are one fit
    for i, fit in others.items():
        if id(fit) not in scores:
            found = known[i] if i in known else partition(problem, fit)
            scores[id(fit)] = float(adjusted_rand_score(own, found))
    return float(np.mean([scores[id(fit)] for fit in others.values()]))


def partition(problem: Problem[Any], fit: Fit[Any]) -> NDArray[Any]:
    """Return the clusters of the rows."""
    scorer = problem.model.scorer(fit.parameters, "hard")
    found: NDArray[Any] = scorer.clusters_of(problem.directions.map_rows(scorer, "labels"))
    return found


@dataclass(slots=True, eq=False)
class Outcome:
    """What the runs of a fit have come to.

    Attributes
    ----------
    problem : Problem
        What they were run on.
    runs : list of Restart
        How each run went.
    starts, fits : list
        Of each run, in order; ``fits`` has None where there was no start.
    labels : dict
        Of the runs that have no prototypes any more, by the place of the run.
    best : Fit
        The best one, what is numerically zero in it set to zero; known at the end.
    """

    problem: Problem[VMFModel]
    runs: list[Restart] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)
    fits: list[Ended | None] = field(default_factory=list)
    labels: dict[int, NDArray[Any]] = field(default_factory=dict)
    best: Ended = field(init=False)

    def agreement(self, problem: Problem[VMFModel]) -> float:
        """Return the mean adjusted Rand index of the other runs with the best one."""
        return agreement(problem, self.starts, self.fits, self.labels)

    def add(self, starts: list[Start], fits: list[Ended | None]) -> None:
        """Add the runs from some starts."""
        self.runs += summaries(self.problem.model, starts, fits)
        self.starts += starts
        self.fits += fits

    def lighten(self) -> None:
        """Forget the starts, and of all fits but the best prototypes and resultants."""
        model = self.problem.model
        if model.noise is not None:  # its level, and with it labels, may still change
            return
        self.starts = [replace(start, parameters=None) for start in self.starts]
        there = {i: rank(model, fit) for i, fit in enumerate(self.fits) if fit and fit.ok}
        best = max(there, key=lambda i: there[i], default=None)
        for i in sorted(range(len(self.fits)), key=lambda i: i != best):  # the best one first
            fit = self.fits[i]
            if fit is None or fit.parameters.prototypes.shape[0] == 0:
                continue
            if i == best:
                self.fits[i] = _in_form(fit, _packed)
                continue
            self.fits[i] = light = _light(fit)
            parameters, is_ok = fit.parameters, fit.ok
            del fit  # its resultants are not needed for labels
            if is_ok:
                parameters = replace(parameters, prototypes=as_dense(parameters.prototypes))
                known = replace(light, parameters=parameters)
                self.labels[i] = partition(self.problem, known)

    def unpack(self) -> None:
        """Make the vectors of the best fit dense again."""
        self.fits = [None if fit is None else _in_form(fit, as_dense) for fit in self.fits]


def _packed(vectors: Array) -> Array:
    """Return vectors in sparse form, where that takes less than half of the memory."""
    if is_sparse(vectors) or np.count_nonzero(vectors) >= MOSTLY_ZERO * vectors.size:
        return vectors
    return as_sparse(vectors)


def _in_form(fit: Ended, form: Callable[[Array], Array]) -> Ended:
    """Return a fit with its vectors in another form; the same one where they are in that form."""
    prototypes, vectors = form(fit.parameters.prototypes), form(fit.resultants.vectors)
    if prototypes is fit.parameters.prototypes and vectors is fit.resultants.vectors:
        return fit
    parameters = replace(fit.parameters, prototypes=prototypes)
    return replace(fit, parameters=parameters, resultants=replace(fit.resultants, vectors=vectors))


def _light(fit: Ended) -> Ended:
    """Leave out all that has a number for each component and column."""
    d = fit.parameters.prototypes.shape[1]
    parameters = replace(fit.parameters, prototypes=np.empty((0, d)))
    return replace(fit, parameters=parameters, resultants=Resultants.zero(0, d))


def _in_groups(
    problem: Problem[VMFModel], init: str, n_init: Any, random_state: Any
) -> Iterator[list[Start]]:
    """Draw starts that do not depend on each other, as many at a time as share a sweep.

    They are the same as if they were drawn all at once: each depends on its own seed.
    """
    check.require_choice("init", init, STARTS)
    seeds = check.draw_seeds(random_state, count_runs(n_init, init))
    size = problem.n_components * problem.directions.n_features
    together = max(1, em.BATCH_ENTRIES // size)
    for first in range(0, len(seeds), together):
        yield from_seeds(problem, init, seeds[first : first + together])


def restarts(
    options: MixtureOptions, problem: Problem[VMFModel], start: VMFParameters | None
) -> Outcome:
    """Run EM from the given start or from drawn ones."""
    callback = count_sweeps(options.callback)
    outcome, n_runs = Outcome(problem), 1
    groups: Iterable[list[Start]] = [[Start(start)]]
    if start is None:
        init, n_init, seed = options.init, options.n_init, options.random_state
        n_runs = count_runs(n_init, init)
        known = problem.model.seeds is not None
        if isinstance(init, str) and init != "merge" and not known:
            groups = _in_groups(problem, init, n_init, seed)
        else:
            groups = [draw(problem, init, n_init, seed, callback)]
    for starts in groups:
        if start is None and problem.model.seeds is None:
            add_noise_start(starts, problem, options)
        outcome.add(starts, run_all(problem, starts, callback))
        if len(starts) < n_runs:
            outcome.lighten()
        del starts  # each is K d numbers
    outcome.unpack()
    if options.verbose:
        print_runs(outcome.runs)
    outcome.best = best_of(options, problem, outcome.fits, outcome.runs)
    return outcome

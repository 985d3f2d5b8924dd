"""Expectation-maximisation: a loop over sweeps, several runs sharing each reading."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np

from spheremix.models.base import DegenerateError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from spheremix.data.base import Directions, Memory
    from spheremix.models.base import Model
    from spheremix.resultants import Resultants

    Array = NDArray[np.float64]

P = TypeVar("P")
R = TypeVar("R")


@runtime_checkable
class Remembering(Protocol):
    """Directions that need not read all rows in each sweep of a fit."""

    def remember(self) -> Memory:
        """Return what sweeps the rows of one fit."""
        ...


BATCH_ENTRIES = 2**23  # prototypes of the restarts that share a sweep: K d summed, 64 MB
ROUNDING = 1e-15  # of the objective: changes below it are noise, whatever the tolerance
ENDED = frozenset({"converged", "max_iter"})  # statuses of runs that did not fail
LOOKAHEAD = 10.0  # tolerances that may still be to come, at the rate at which changes shrink


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """How long EM runs, and on what it stops.

    Attributes
    ----------
    tol : float
        In nats per unit of weight. A run has converged when neither the change of its objective
        nor its stationarity gap is above it, or above rounding where that is more, and when the
        changes to come, at the rate at which the last two shrank, add up to less than ten times as
        much: a plateau on which changes hardly shrink, or grow, is no end. Below zero nothing but
        ``max_iter`` or a failure ends a run.
    max_iter : int
        M-steps at most.
    e_step : {"soft", "hard"}
        How rows are assigned.
    certified : bool
        False for the paper's Algorithm 2 and for Banerjee's kappa, which stop on the change of the
        unpenalised log-likelihood alone: they stop where exact EM would still gain.
    """

    tol: float = 1e-7
    max_iter: int = 1000
    e_step: Literal["soft", "hard"] = "soft"
    certified: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Fit(Generic[P]):
    """Parameters, the resultants of those very parameters, and how they were reached.

    Attributes
    ----------
    parameters : P
        The last parameters.
    resultants : Resultants
        Of one sweep with them.
    objective : float
        Penalised log-likelihood (of the completed data for a hard E-step).
    gap : float
        What one more exact EM step gains at least, per unit of weight: zero at a stationary
        point, NaN where the M-step has no answer.
    status : str
        ``converged``, ``max_iter``, or why the M-step had no answer: ``collapsed`` (a component
        without mass), ``vanished`` (without direction), ``zero_prototype`` (the paper's M-step
        thresholded everything).
    n_iter : int
        M-steps made.
    trace : list of float
        The objective of the start and after each M-step.
    """

    parameters: P
    resultants: Resultants
    objective: float
    gap: float
    status: str
    n_iter: int
    trace: list[float]

    @property
    def ok(self) -> bool:
        """Whether EM ended by itself or was stopped early, rather than failed."""
        return self.status in ENDED


@dataclass(frozen=True, slots=True)
class Progress:
    """What a callback learns after each sweep."""

    n_sweeps: int
    n_running: int
    n_runs: int
    objective: float  # the best of those still running


@dataclass(slots=True, eq=False)
class _Run(Generic[P]):
    """One start that EM works on."""

    index: int
    parameters: P
    n_iter: int = 0
    last: float = -np.inf  # what convergence is judged on, at the previous parameters
    change: float = np.inf  # of the same, at the step before
    trace: list[float] = field(default_factory=list)
    fit: Fit[P] | None = None


def fit(
    model: Model[P],
    directions: Directions,
    starts: Sequence[P],
    settings: Settings,
    *,
    weights: Array | None = None,
    resultants: Sequence[Resultants] | None = None,
    memory: Memory | None = None,
    tidy: Callable[[P], P] | None = None,
    callback: Callable[[Progress], None] | None = None,
) -> list[Fit[P]]:
    """Run EM from each start, all runs sharing each sweep; one Fit a start, in order.

    ``weights`` is (n,) or (len(starts), n). ``resultants``, where those of the starts are known,
    save the first sweep. ``memory``, where fits follow one another, takes what is known of the
    rows from each to the next. ``tidy`` changes the parameters that a run has reached before all
    rows are read once more, where they are; ``evaluate`` is for where they are not.
    """
    n_sweeps = 0

    def tell(active: Sequence[_Run[P]]) -> None:
        nonlocal n_sweeps
        n_sweeps += 1
        if callback is not None:
            best = max(run.trace[-1] for run in active)
            callback(Progress(n_sweeps, len(active), len(starts), best))

    runs = [_Run(index, start) for index, start in enumerate(starts)]
    if memory is not None:
        _begin(model, runs, memory, settings, weights)
    elif isinstance(directions, Remembering):
        memory = directions.remember()
    for run, known in zip(runs, resultants or (), strict=False):
        _advance(model, run, known, settings)
    while active := [run for run in runs if run.fit is None]:
        scorers = [model.scorer(run.parameters, settings.e_step) for run in active]
        own = _rows(weights, active)
        if memory is None:
            swept = directions.sweep(scorers, own)
        else:
            swept = memory.sweep(scorers, own, [run.index for run in active])
        del scorers  # each of these is K d numbers, as are resultants
        swept.reverse()
        for run in active:
            _advance(model, run, swept.pop(), settings)
        if memory is not None:
            _read_all_rows(model, active, memory, settings, weights, tidy)
        tell(active)
    return [run.fit for run in runs if run.fit is not None]


def _begin(
    model: Model[P],
    runs: list[_Run[P]],
    memory: Memory,
    settings: Settings,
    weights: Array | None,
) -> None:
    """Let every run begin with what is known of the rows under its start."""
    for run in runs:
        own = weights if weights is None or weights.ndim == 1 else weights[run.index]
        memory.begin(model.scorer(run.parameters, settings.e_step), own, run.index)


def _read_all_rows(
    model: Model[P],
    active: list[_Run[P]],
    memory: Memory,
    settings: Settings,
    weights: Array | None,
    tidy: Callable[[P], P] | None,
) -> None:
    """Sweep all rows once more for runs that have ended by a sweep that left rows out."""
    ended = [run for run in active if run.fit is not None and memory.left_out(run.index)]
    if not ended:
        return
    for run in ended:
        if tidy is not None and run.fit is not None and run.fit.ok:
            run.parameters = tidy(run.parameters)
    scorers = [model.scorer(run.parameters, settings.e_step) for run in ended]
    swept = memory.sweep_all(scorers, _rows(weights, ended), [run.index for run in ended])
    for run, resultants in zip(ended, swept, strict=True):
        if run.fit is not None:
            run.fit = _judged(model, run.fit, run.parameters, resultants)
            run.trace[-1] = run.fit.objective


def in_batches(
    starts: Sequence[P | None],
    entries: Callable[[P], int],
    run: Callable[[list[int], list[P]], Sequence[R]],
) -> list[R | None]:
    """Run starts together, as many at a time as memory allows; None where there is no start.

    ``run`` has the numbers of the starts and the starts; ``entries`` tells how large one is.
    """
    drawn = [(i, start) for i, start in enumerate(starts) if start is not None]
    ends = np.cumsum([entries(start) for _, start in drawn]) // BATCH_ENTRIES
    results: list[R | None] = [None] * len(starts)
    for batch in np.unique(ends):
        members = [pair for pair, end in zip(drawn, ends, strict=True) if end == batch]
        reached = run([i for i, _ in members], [start for _, start in members])
        for (i, _), result in zip(members, reached, strict=True):
            results[i] = result
    return results


def evaluate(
    model: Model[P],
    directions: Directions,
    reached: Fit[P],
    parameters: P,
    settings: Settings,
    *,
    weights: Array | None = None,
    memory: Memory | None = None,
) -> Fit[P]:
    """Return Fit of other parameters than those a run reached, by one sweep where they differ."""
    if parameters is reached.parameters:
        return reached
    scorers = [model.scorer(parameters, settings.e_step)]
    if memory is None:
        (resultants,) = directions.sweep(scorers, weights)
    else:
        (resultants,) = memory.sweep_all(scorers, weights, [0])
    return _judged(model, reached, parameters, resultants)


def _judged(model: Model[P], reached: Fit[P], parameters: P, resultants: Resultants) -> Fit[P]:
    """Return a fit with other parameters or resultants than those that it was reached with."""
    status, gap = reached.status, np.nan
    try:
        gap = max(model.m_step(resultants, parameters).gain / resultants.weight, 0.0)
    except DegenerateError as error:
        status = error.status
    return replace(
        reached,
        parameters=parameters,
        resultants=resultants,
        objective=resultants.log_likelihood - model.penalty(parameters),
        gap=gap,
        status=status,
    )


def _advance(model: Model[P], run: _Run[P], resultants: Resultants, settings: Settings) -> None:
    """Judge the present parameters by their resultants; move on, or end with a fit."""
    objective = resultants.log_likelihood - model.penalty(run.parameters)
    run.trace.append(objective)
    judged = objective if settings.certified else resultants.log_likelihood
    gap, status, after = np.nan, "", None
    try:
        step = model.m_step(resultants, run.parameters)
    except DegenerateError as error:
        status = error.status
    else:
        after, gap = step.parameters, max(step.gain / resultants.weight, 0.0)
        change, weight, noise = judged - run.last, resultants.weight, ROUNDING * abs(judged)
        tol = max(settings.tol, noise / weight) if settings.tol >= 0.0 else settings.tol
        converged = abs(change) <= tol * weight
        if converged and settings.certified:
            ahead = 0.0 if change <= noise else _still_to_come(change, run.change)
            converged = gap <= tol and ahead <= LOOKAHEAD * tol * weight
        run.change = change
        if converged:
            status = "converged"
        elif run.n_iter >= settings.max_iter:
            status = "max_iter"
    if status or after is None:
        run.fit = Fit(run.parameters, resultants, objective, gap, status, run.n_iter, run.trace)
        return
    run.parameters, run.last = after, judged
    run.n_iter += 1


def _still_to_come(change: float, before: float) -> float:
    """Add up the changes to come if each is to the last as the last is to the one before."""
    return change * change / (before - change) if change < before else np.inf


def _rows(weights: Array | None, active: list[_Run[P]]) -> Array | None:
    """Return the weight vectors of the active runs."""
    if weights is None or weights.ndim == 1:
        return weights
    return weights[[run.index for run in active]]

"""EM from all starts of a fit, in the memory that a few of them take.

Starts that are drawn independently of each other are drawn as many at a time as share a sweep. Of
runs that have ended, and are not the best, the labels of the rows are kept and not the prototypes;
those of the best are sparse meanwhile, where most of them are zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix import em
from spheremix.estimators import validation as check
from spheremix.estimators.agreement import agreement, partition
from spheremix.estimators.noise import add_noise_start
from spheremix.estimators.problem import best_of, print_runs, run_all, summaries
from spheremix.estimators.standing import standing
from spheremix.estimators.starts import STARTS, Start, count_runs, count_sweeps, draw, from_seeds
from spheremix.resultants import Resultants
from spheremix.vectors import as_dense, as_sparse, is_sparse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from spheremix.estimators.options import MixtureOptions
    from spheremix.estimators.problem import Problem, Restart
    from spheremix.models.vmf import VMFModel, VMFParameters

    Array = NDArray[np.float64]
    Ended = em.Fit[VMFParameters]

MOSTLY_ZERO = 1 / 3  # share of the coordinates: a sparse one takes 12 bytes, and a dense one 8


@dataclass(slots=True, eq=False)
class Outcome:
    """What the runs of a fit have come to.

    Attributes
    ----------
    best : Fit
        The best one, what is numerically zero in it set to zero.
    runs : list of Restart
        How each run went.
    starts, fits : list
        Of each run, in order; ``fits`` has None where there was no start.
    labels : dict
        Of the runs that have no prototypes any more, by the place of the run.
    """

    best: Ended
    runs: list[Restart]
    starts: list[Start]
    fits: list[Ended | None]
    labels: dict[int, NDArray[Any]]

    def agreement(self, problem: Problem[VMFModel]) -> float:
        """Return the mean adjusted Rand index of the other runs with the best one."""
        return agreement(problem, self.starts, self.fits, self.labels)


@dataclass(slots=True, eq=False)
class _Ended:
    """The runs that have ended."""

    problem: Problem[VMFModel]
    runs: list[Restart] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)
    fits: list[Ended | None] = field(default_factory=list)
    labels: dict[int, NDArray[Any]] = field(default_factory=dict)

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
        there = {i: standing(model, fit) for i, fit in enumerate(self.fits) if fit and fit.ok}
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
    ended, n_runs = _Ended(problem), 1
    groups: Iterable[list[Start]] = [[Start(start)]]
    if start is None:
        init, n_init, seed = options.init, options.n_init, options.random_state
        n_runs = count_runs(n_init, init)
        if isinstance(init, str) and init != "merge":
            groups = _in_groups(problem, init, n_init, seed)
        else:
            groups = [draw(problem, init, n_init, seed, callback)]
    for starts in groups:
        if start is None:
            add_noise_start(starts, problem, options)
        ended.add(starts, run_all(problem, starts, callback))
        if len(starts) < n_runs:
            ended.lighten()
        del starts  # each is K d numbers
    ended.unpack()
    if options.verbose:
        print_runs(ended.runs)
    best = best_of(options, problem, ended.fits, ended.runs)
    return Outcome(best, ended.runs, ended.starts, ended.fits, ended.labels)

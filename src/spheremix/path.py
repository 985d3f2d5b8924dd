"""The path of local optima from the dense solution to one coordinate a prototype."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from spheremix import em
from spheremix.models.base import DegenerateError
from spheremix.models.vmf import SupportModel, VMFParameters, count_distinct

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from spheremix.data.base import Directions, Memory
    from spheremix.models.vmf import VMFModel, VMFParameters
    from spheremix.resultants import Resultants

    Array = NDArray[np.float64]
    VMFFit = em.Fit[VMFParameters]


@dataclass(frozen=True, slots=True, eq=False)
class PathPoint:
    """One solution on the path, its prototypes stored sparse."""

    beta: float
    values: Array  # of the non-zero coordinates
    places: NDArray[np.int64]  # theirs, counted through the prototypes one after another
    n_features: int
    kappas: Array
    weights: Array
    sizes: Array  # expected numbers of rows: the mass of each component
    log_likelihood: float
    entropy: float
    weight: float
    objective: float
    status: str
    n_iter: int
    gap: float
    n_distinct: int
    n_converged: int = 1  # runs that converged at this beta
    dense: tuple[slice, ...] = ()  # the columns of views that are not penalised

    @classmethod
    def of(
        cls,
        beta: float,
        fit: VMFFit,
        soft: Resultants,
        n_converged: int = 1,
        dense: tuple[slice, ...] = (),
    ) -> PathPoint:
        """Summarise a fit and the resultants of a soft sweep with its parameters."""
        parameters = fit.parameters
        flat = parameters.prototypes.ravel()
        places = flat.nonzero()[0]
        return cls(
            beta,
            flat[places],
            places,
            parameters.prototypes.shape[1],
            parameters.kappas,
            parameters.weights,
            fit.resultants.mass[: len(parameters.kappas)],
            soft.log_likelihood,
            soft.entropy,
            soft.weight,
            fit.objective,
            fit.status,
            fit.n_iter,
            fit.gap,
            count_distinct(parameters.prototypes),
            n_converged,
            dense,
        )

    @property
    def prototypes(self) -> sparse.csr_array:
        """The prototypes, of shape (K, d)."""
        ends = np.concatenate([[0], np.cumsum(self.support_sizes)])
        parts = (self.values, self.places % self.n_features, ends)
        return sparse.csr_array(parts, shape=(len(self.kappas), self.n_features))

    @property
    def support_sizes(self) -> NDArray[np.int64]:
        """Non-zero coordinates of each prototype."""
        edges = np.arange(len(self.kappas) + 1) * self.n_features
        return np.diff(np.searchsorted(self.places, edges))

    def sizes_in(self, columns: slice) -> NDArray[np.int64]:
        """Return the non-zero coordinates of each prototype in some columns."""
        starts = np.arange(len(self.kappas)) * self.n_features
        edges = [starts + columns.start, starts + columns.stop]
        first, last = np.searchsorted(self.places, edges)
        sizes: NDArray[np.int64] = last - first
        return sizes

    @property
    def ok(self) -> bool:
        """Whether EM ended by itself or was stopped early, rather than failed."""
        return self.status in em.ENDED

    @property
    def n_nonzero(self) -> int:
        """Non-zero coordinates of all the prototypes, without views that are not penalised."""
        return len(self.values) - sum(int(self.sizes_in(own).sum()) for own in self.dense)

    @property
    def sparsity(self) -> float:
        """Share of the coordinates that are zero, without views that are not penalised."""
        n_columns: int = self.n_features - sum(own.stop - own.start for own in self.dense)
        return 1.0 - self.n_nonzero / (len(self.kappas) * n_columns)

    def parameters(self, model: VMFModel) -> VMFParameters:
        """Return the parameters, dense again."""
        return model.parameters(self.prototypes.toarray(), self.kappas, self.weights)


def exit_betas(steps: list[PathPoint]) -> Array:
    """Return, for each coordinate, the smallest beta from which it is zero for good.

    0 where it is zero from the start, infinity where it is non-zero at the last step.
    """
    leaves = np.zeros(len(steps[0].kappas) * steps[0].n_features)
    ends = [step.beta for step in steps[1:]] + [np.inf]
    for step, end in zip(steps, ends, strict=True):
        leaves[step.places] = end
    return leaves.reshape(-1, steps[0].n_features)


@dataclass(frozen=True, slots=True, eq=False)
class PathSolver:
    """What a path needs beside its place: the problem, and how far to go in a step.

    Attributes
    ----------
    model : VMFModel
        Its penalty's feature weights are kept; its beta is replaced at each step.
    min_relative_increase : float
        Of beta, between two steps.
    beta_min_ratio : float
        Events below this share of the largest one are noise.
    zero_tol : float
        Coordinates below it are zero.
    memory : Memory or None
        What is known of the rows, from each step to the next.
    """

    model: VMFModel
    directions: Directions
    weights: Array | None
    settings: em.Settings
    min_relative_increase: float = 1e-3
    beta_min_ratio: float = 1e-5
    zero_tol: float = 1e-8
    memory: Memory | None = None

    def at(self, beta: float) -> VMFModel:
        """Return the model at another beta."""
        return replace(self.model, l1=replace(self.model.l1, beta=beta))

    def next_beta(self, beta: float, fit: VMFFit) -> float | None:
        """Predict the smallest beta at which a coordinate leaves; None where none can.

        With the concentrations and resultants held, coordinate j of component k leaves at
        kappa_k |r_kj| / w_j. A prototype keeps its last coordinate.
        """
        events = self.model.events(fit.resultants, fit.parameters, self.beta_min_ratio)
        if not events.size:
            return None
        ahead = events[events > beta]
        least = max(beta * (1.0 + self.min_relative_increase), float(np.nextafter(beta, np.inf)))
        # Where every event is behind (EM has just moved the resultants), the least step is taken.
        return max(float(ahead.min()), least) if ahead.size else least

    def solve(
        self, beta: float, start: VMFParameters, resultants: Resultants | None = None
    ) -> VMFFit:
        """Run EM at beta; resultants of the start, where they are known, save the first sweep.

        What is numerically zero is set to zero, and swept again where that changed something.
        """
        model = self.at(beta)

        def tidy(parameters: VMFParameters) -> VMFParameters:
            return model.zero_small(parameters, self.zero_tol)

        (fit,) = em.fit(
            model,
            self.directions,
            [start],
            self.settings,
            weights=self.weights,
            resultants=None if resultants is None else [resultants],
            memory=self.memory,
            tidy=tidy,
        )
        if not fit.ok:
            return fit
        return em.evaluate(
            model,
            self.directions,
            fit,
            tidy(fit.parameters),
            self.settings,
            weights=self.weights,
            memory=self.memory,
        )

    def refit(
        self, support: NDArray[np.bool_], start: VMFParameters, resultants: Resultants
    ) -> VMFFit:
        """Maximise the likelihood, without penalty, over prototypes that are zero off a support.

        The start, which may have other zeros, and its resultants give the first M-step. A refit
        that fails has the status of the failure.
        """
        plain = self.at(0.0)
        model = SupportModel(plain, support)
        try:
            first = model.m_step(resultants, start).parameters
        except DegenerateError as error:
            value = resultants.log_likelihood
            return em.Fit(start, resultants, value, np.nan, error.status, 0, [value])
        (fit,) = em.fit(model, self.directions, [first], self.settings, weights=self.weights)
        if not fit.ok:
            return fit
        parameters = plain.zero_small(fit.parameters, self.zero_tol)
        return em.evaluate(
            model, self.directions, fit, parameters, self.settings, weights=self.weights
        )

    def summarise(self, beta: float, fit: VMFFit, n_converged: int = 1) -> PathPoint:
        """Return the step of a fit; a hard one is swept once more, for its likelihood."""
        soft = fit.resultants
        if self.settings.e_step == "hard":
            scorer = self.model.scorer(fit.parameters)
            (soft,) = self.directions.sweep([scorer], self.weights)
        return PathPoint.of(beta, fit, soft, n_converged, self.model.dense_columns)

    def follow(self, beta: float, fit: VMFFit) -> Iterator[tuple[float, VMFFit]]:
        """Go on from a fit, event by event, to the end; a failed fit is the last one given."""
        while fit.ok and (following := self.next_beta(beta, fit)) is not None:
            beta, fit = following, self.solve(following, fit.parameters, fit.resultants)
            yield beta, fit

    def visit(
        self, betas: Array, fit: VMFFit, *, from_dense: bool = False
    ) -> Iterator[tuple[float, VMFFit]]:
        """Go through given betas, each from the previous solution or each from the first one."""
        start = fit
        for beta in betas:
            fit = self.solve(float(beta), start.parameters, start.resultants)
            yield float(beta), fit
            if not fit.ok:
                return
            start = start if from_dense else fit


@dataclass(slots=True, eq=False)
class PathState:
    """The steps taken so far, what is needed to go on from the last one, and why it ended."""

    model: VMFModel
    steps: list[PathPoint]
    dense: VMFFit
    fit: VMFFit
    n_inserted: int = 0  # by refinement: they do not count as steps of the path
    status: str = ""
    refits: list[PathPoint] = field(default_factory=list)  # of a relaxed path: one a step
    refit: VMFFit | None = None  # the last of them, where the next one starts
    noise_level: float | None = None  # of predictions, where it is not that of the fits

    @classmethod
    def begin(
        cls, solver: PathSolver, dense: VMFFit, n_converged: int = 1, *, relaxed: bool = False
    ) -> PathState:
        """Stand at beta = 0, where there is no penalty: the dense fit is its own refit."""
        first = solver.summarise(0.0, dense, n_converged)
        state = cls(solver.model, [first], dense, dense)
        if relaxed:
            state.refits, state.refit = [first], dense
        return state

    @property
    def relaxed(self) -> bool:
        """Whether every step is refitted on its support."""
        return self.refit is not None

    def copy(self, model: VMFModel) -> PathState:
        """Return a state that can go on by itself, with the model as it is now."""
        return replace(self, model=model, steps=list(self.steps), refits=list(self.refits))

    def add(
        self,
        solver: PathSolver,
        beta: float,
        fit: VMFFit,
        n_converged: int = 1,
        *,
        anew: bool = False,
    ) -> PathPoint:
        """Take one step; ``anew`` where its components are not those of the step before."""
        step = solver.summarise(beta, fit, n_converged)
        if self.refit is not None:
            start = fit if anew or not self.refit.ok else self.refit
            self.refit = self._relax(solver, len(self.steps), step, fit, start) or self.refit
        self.steps.append(step)
        self.fit = fit
        return step

    def _relax(
        self, solver: PathSolver, i: int, step: PathPoint, fit: VMFFit, start: VMFFit
    ) -> VMFFit | None:
        """Refit a step that is about to become step i; None where the refit before it serves.

        It serves where the support is the same. A step whose refit fails keeps its own mixture,
        with the status of the failure.
        """
        before = self.refits[i - 1]
        if before.ok and np.array_equal(step.places, self.steps[i - 1].places):
            self.refits.insert(i, replace(before, beta=step.beta, n_iter=0))
            return None
        support = fit.parameters.prototypes != 0.0
        found = solver.refit(support, start.parameters, start.resultants)
        if not found.ok:
            likelihood = fit.resultants.log_likelihood
            found = replace(found, parameters=fit.parameters, resultants=fit.resultants)
            found = replace(found, objective=likelihood, gap=np.nan)
        point = solver.summarise(step.beta, found)
        if len(point.places) == len(step.places):
            point = replace(point, places=step.places)  # stored once for both
        self.refits.insert(i, point)
        return found

    def is_over(self, max_steps: int | None, max_sparsity: float) -> bool:
        """Return whether a limit is reached, and remember which."""
        if max_steps is not None and len(self.steps) - self.n_inserted >= max_steps:
            self.status = "max_steps"
        elif self.steps[-1].sparsity >= max_sparsity:
            self.status = "max_sparsity"
        else:
            return False
        return True

    def take(
        self,
        solver: PathSolver,
        route: Iterator[tuple[float, VMFFit]],
        end: str,
        max_steps: int | None = None,
        max_sparsity: float = 1.0,
    ) -> Iterator[PathPoint]:
        """Take the steps of a route one by one, up to the limits; ``end`` names its own end."""
        while not self.is_over(max_steps, max_sparsity):
            beta, fit = next(route, (None, self.fit))
            if beta is None or not fit.ok:
                self.status = end if beta is None else fit.status
                return
            yield self.add(solver, beta, fit)

    def refine(self, solver: PathSolver, jump: float) -> Iterator[PathPoint]:
        """Insert steps, each from the one before, where the sparsity jumps by more than asked."""
        i = 1
        noise = solver.beta_min_ratio * self.steps[-1].beta
        while i < len(self.steps):
            before, after = self.steps[i - 1], self.steps[i]
            middle = np.sqrt(before.beta * after.beta) if before.beta > 0 else after.beta / 2
            room = middle > max(before.beta * (1.0 + solver.min_relative_increase), noise)
            if abs(after.sparsity - before.sparsity) <= jump or not room:
                i += 1
                continue
            fit = solver.solve(float(middle), before.parameters(solver.model))
            if not fit.ok:
                i += 1
                continue
            step = solver.summarise(float(middle), fit)
            if self.relaxed:
                self._relax(solver, i, step, fit, fit)
            self.steps.insert(i, step)
            self.n_inserted += 1
            yield self.steps[i]

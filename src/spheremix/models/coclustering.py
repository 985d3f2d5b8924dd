"""The diagonal block mixture (dbmovMFs): a prototype is constant on its own block of columns.

The K blocks partition the d columns: mu_kj = sign_k / sqrt(size of block k) for the columns of
block k, and 0 elsewhere. At given resultants the expected log-likelihood of the completed data is

    sum_k  n_k (log alpha_k + log c_d(kappa_k)) + kappa_k <mu_k, r_k>,

to be maximised over the partition, the signs, the concentrations and the weights. Given the
partition, signs and weights have closed forms and concentrations a scalar equation. Given all but
the partition, and the sizes of its blocks, column j belongs to the block of the largest
kappa_k sign_k r_kj / sqrt(size_k). Moving columns changes the sizes, though, and couples the
columns: the sum can fall when all move at once, and EM that lets it fall often ends up alternating
between two partitions. So fewer columns move here when all together would lose; see
:meth:`CoclusteringModel.m_step`.

A sign is that of the sum of r_kj over the block: always positive for non-negative data, which the
model is meant for. Within a block every column has the same sign, so that columns of both signs
work against each other there; a column goes where the product is largest even if it is negative.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

import numpy as np

from spheremix.bessel import concentration, log_normalizer
from spheremix.models.base import DegenerateError, MStep, require_mass
from spheremix.models.maximise import per_component
from spheremix.models.vmf import mixture_scorer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.models.base import Model
    from spheremix.models.maximise import Kappa
    from spheremix.resultants import Resultants
    from spheremix.scorer import Assignment, Scorer

    Array = NDArray[np.float64]
    Columns = NDArray[np.intp]

P = TypeVar("P")

ROUNDING = 1e-14  # relative: a smaller rise of the objective is rounding


@dataclass(frozen=True, slots=True, eq=False)
class CoclusteringParameters:
    """The block of each column, and each component's sign, concentration, weight and log c_d."""

    columns: Columns
    signs: Array
    kappas: Array
    weights: Array
    log_normalizers: Array

    @property
    def sizes(self) -> Columns:
        """Number of columns of each block."""
        return np.bincount(self.columns, minlength=len(self.kappas))

    @property
    def prototypes(self) -> Array:
        """Unit vectors, constant on a block and zero elsewhere."""
        prototypes = np.zeros((len(self.kappas), len(self.columns)))
        heights = self.signs / np.sqrt(self.sizes)
        prototypes[self.columns, np.arange(len(self.columns))] = heights[self.columns]
        return prototypes


@dataclass(frozen=True, slots=True, eq=False)
class CoclusteringModel:
    """How the parameters of a diagonal block mixture are estimated.

    Attributes
    ----------
    n_features : int
        d.
    kappa : "shared", "free", float or ndarray of shape (K,)
        One concentration for all, one each, a given one for all, or given ones.
    equal_weights : bool
        Weights 1 / K instead of estimated ones.
    conscience : bool
        Frequency-sensitive competition: with kappa the pooled concentration, component k competes
        with kappa n / (K n_k), whose harmonic mean is kappa, so that large clusters are
        handicapped. All have the normaliser of kappa: with its own one, a component of large
        kappa_k would lose every row whose cosine is below A_d(kappa_k), and small clusters would be
        the handicapped ones. The steps go half of the way, on the log scale, since whole ones
        overshoot. What is compared is then no density; ``density`` gives the mixture behind it.
    kappa_max : float
        Cap of estimated concentrations.
    """

    n_features: int
    kappa: Kappa
    equal_weights: bool = False
    conscience: bool = False
    kappa_max: float = 1e6

    @property
    def kappa_mode(self) -> Literal["shared", "free", "given"]:
        """How many concentrations are estimated: one, K or none."""
        if not isinstance(self.kappa, str):
            return "given"
        return "shared" if self.conscience else self.kappa

    def parameters(
        self, columns: Columns, signs: Array, kappas: Array, weights: Array
    ) -> CoclusteringParameters:
        """Complete parameters with what follows from them."""
        own = np.full(len(kappas), _harmonic_mean(kappas)) if self.conscience else kappas
        logs = log_normalizer(self.n_features, own)
        return CoclusteringParameters(columns, signs, kappas, weights, logs)

    def density(self, parameters: CoclusteringParameters) -> CoclusteringParameters:
        """Return mixture of densities: the same, or that of the pooled kappa for a conscience."""
        if not self.conscience:
            return parameters
        kappas = np.full(len(parameters.kappas), _harmonic_mean(parameters.kappas))
        return self.parameters(parameters.columns, parameters.signs, kappas, parameters.weights)

    def scorer(
        self,
        parameters: CoclusteringParameters,
        assignment: Assignment = "soft",
        key: tuple[int, int] = (0, 0),
    ) -> Scorer:
        """Return the scores of the mixture."""
        return mixture_scorer(parameters, assignment, key)

    def penalty(self, parameters: CoclusteringParameters) -> float:  # noqa: ARG002
        """Return zero: nothing is penalised."""
        return 0.0

    def start(self, resultants: Resultants, prototypes: Array) -> CoclusteringParameters:  # noqa: ARG002
        """Return first parameters from an assignment of rows: the prototypes have served for it.

        A column goes to the component whose mean row has most of it. The rule of the M-step would
        ask for the largest sum, and give nearly all columns to the largest clusters of a start
        that knows nothing yet.
        """
        require_mass(resultants)
        columns = (resultants.vectors / resultants.mass[:, None]).argmax(axis=0)
        return self._estimate(columns, resultants, np.ones(len(resultants.mass)))

    def m_step(
        self, resultants: Resultants, parameters: CoclusteringParameters
    ) -> MStep[CoclusteringParameters]:
        """Move columns, then estimate the rest; never worse than moving none.

        Each column is called to the block where kappa_k sign_k r_kj / sqrt(size_k) is largest, at
        the old signs, concentrations and sizes; it stays where nothing is larger. If moving all
        those called raises the expected completed log-likelihood, with signs, weights and
        concentrations estimated again, they move. Otherwise the half that wins most tries, then
        a quarter, and so on to a single column; then none moves. A block that all its columns are
        called to leave is ``collapsed``.

        The gain is that of this step, never negative beyond rounding (but under a conscience,
        which maximises nothing), and zero where no such move helps: a certificate of a fixed point
        of this step, not of a maximum over all partitions.
        """
        require_mass(resultants)
        handicaps = self._handicaps(resultants, parameters)
        old = value(resultants, parameters)
        stayed: CoclusteringParameters | DegenerateError
        try:
            stayed = self._estimate(parameters.columns, resultants, handicaps)
            highest = value(resultants, stayed)
        except DegenerateError as error:
            stayed, highest = error, -np.inf  # a move may still help
        called, targets = self._called(resultants, parameters)
        n_moving = len(called)
        while n_moving:
            columns = parameters.columns.copy()
            columns[called[:n_moving]] = targets[:n_moving]
            try:
                moved = self._estimate(columns, resultants, handicaps)
            except DegenerateError as error:
                if error.status == "collapsed" and n_moving == len(called):
                    raise
            else:
                reached = value(resultants, moved)
                if reached - highest > ROUNDING * abs(reached):
                    return MStep(moved, reached - old)
            n_moving //= 2
        if isinstance(stayed, DegenerateError):
            raise stayed
        if not self.conscience and highest - old <= ROUNDING * abs(old):
            # A last bit of kappa, rounded to single precision with all coordinates of a block
            # alike, would move the scores of all rows together, and back again at the next step.
            stayed = parameters
        return MStep(stayed, highest - old)

    def _called(
        self, resultants: Resultants, parameters: CoclusteringParameters
    ) -> tuple[Columns, Columns]:
        """Return the columns that are called elsewhere, those that win most first, and where to."""
        heights = parameters.signs / np.sqrt(parameters.sizes)
        pulls = resultants.vectors * (parameters.kappas * heights)[:, None]
        wins = pulls.max(axis=0) - pulls[parameters.columns, np.arange(self.n_features)]
        called = np.flatnonzero(wins > 0.0)
        called = called[np.argsort(-wins[called], kind="stable")]
        return called, pulls[:, called].argmax(axis=0)

    def _handicaps(self, resultants: Resultants, parameters: CoclusteringParameters) -> Array:
        """Return factors of the concentrations, of harmonic mean one: ones without conscience."""
        if not self.conscience:
            return np.ones(len(resultants.mass))
        old = parameters.kappas / _harmonic_mean(parameters.kappas)
        wanted = resultants.weight / (len(old) * resultants.mass)
        halfway = np.sqrt(old * wanted)
        return halfway / _harmonic_mean(halfway)

    def _estimate(
        self, columns: Columns, resultants: Resultants, handicaps: Array
    ) -> CoclusteringParameters:
        """Return the best signs, weights and concentrations for a partition of the columns."""
        mass = resultants.mass
        n_components = len(mass)
        sizes = np.bincount(columns, minlength=n_components)
        if not sizes.all():
            raise DegenerateError("collapsed", int(sizes.argmin()))
        if self.equal_weights:
            weights = np.full(n_components, 1.0 / n_components)
        else:
            weights = mass / mass.sum()
        dots = _block_dots(columns, resultants.vectors)
        signs = np.where(dots < 0.0, -1.0, 1.0)
        if not isinstance(self.kappa, str):
            kappas = handicaps * per_component(self.kappa, n_components)
            return self.parameters(columns, signs, kappas, weights)
        dots = np.abs(dots)
        if self.kappa_mode == "shared":
            dots, mass = dots.sum(keepdims=True), mass.sum(keepdims=True)
        if not dots.all():
            raise DegenerateError("vanished", int(dots.argmin()))
        # Identical rows give a mean length above one by rounding.
        solved = concentration(self.n_features, np.minimum(dots / mass, 1.0))
        kappas = handicaps * np.minimum(solved, self.kappa_max)
        return self.parameters(columns, signs, kappas, weights)


def value(resultants: Resultants, parameters: CoclusteringParameters) -> float:
    """Return the expected log-likelihood of the completed data of parameters at resultants."""
    dots = parameters.signs * _block_dots(parameters.columns, resultants.vectors)
    biases = np.log(parameters.weights) + parameters.log_normalizers
    return float(resultants.mass @ biases + parameters.kappas @ dots)


def _block_dots(columns: Columns, vectors: Array) -> Array:
    """Return <mu_k, r_k> for positive prototypes."""
    n_components, n_features = vectors.shape
    own = vectors[columns, np.arange(n_features)]
    sums = np.bincount(columns, weights=own, minlength=n_components)
    return np.asarray(sums / np.sqrt(np.bincount(columns, minlength=n_components)))


def _harmonic_mean(values: Array) -> float:
    return float(len(values) / (1.0 / values).sum())


@dataclass(frozen=True, slots=True, eq=False)
class StochasticState(Generic[P]):
    """Where a stochastic run is, and the best parameters it has met before.

    Attributes
    ----------
    at : P
        The present parameters.
    key : (int, int)
        Of their drawn assignment: the seed of the run, the number of the sweep.
    best : P
        The parameters of the largest log-likelihood so far, the present ones not counted.
    height : float
        Their log-likelihood.
    """

    at: P
    key: tuple[int, int]
    best: P
    height: float = -np.inf

    @classmethod
    def from_start(cls, start: P, seed: int) -> StochasticState[P]:
        """Begin at a start."""
        return cls(start, (seed, 0), start)

    def best_with(self, objective: float) -> P:
        """Return the best parameters met, the present ones, of this objective, included."""
        return self.at if objective > self.height else self.best


@dataclass(frozen=True, slots=True, eq=False)
class DrawnModel(Generic[P]):
    """Another model with assignments drawn from the posteriors (SEM), for the EM loop.

    Its parameters are walks, so that every sweep has a key of its own.
    """

    model: Model[P]

    def scorer(
        self,
        parameters: StochasticState[P],
        assignment: Assignment = "drawn",  # noqa: ARG002
        key: tuple[int, int] = (0, 0),  # noqa: ARG002
    ) -> Scorer:
        """Return the scores of the present parameters, for a drawn assignment whatever is asked."""
        return self.model.scorer(parameters.at, "drawn", parameters.key)

    def penalty(self, parameters: StochasticState[P]) -> float:
        """Return the penalty of the present parameters."""
        return self.model.penalty(parameters.at)

    def start(self, resultants: Resultants, prototypes: Array) -> StochasticState[P]:
        """Begin at the model's own start, with seed 0."""
        return StochasticState.from_start(self.model.start(resultants, prototypes), 0)

    def m_step(
        self, resultants: Resultants, parameters: StochasticState[P]
    ) -> MStep[StochasticState[P]]:
        """Make the model's M-step, and remember the best parameters met."""
        step = self.model.m_step(resultants, parameters.at)
        objective = resultants.log_likelihood - self.penalty(parameters)
        seed, sweep = parameters.key
        best = parameters.best_with(objective)
        height = max(objective, parameters.height)
        return MStep(StochasticState(step.parameters, (seed, sweep + 1), best, height), step.gain)

"""The von Mises-Fisher mixture, penalised or not, with noise or without it.

Resultants in, parameters out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from scipy.optimize import linear_sum_assignment

from spheremix.bessel import concentration, concentration_banerjee, log_normalizer
from spheremix.models.base import DegenerateError, MStep, cluster_directions, require_mass
from spheremix.models.maximise import maximise, per_component
from spheremix.models.profile import FLAT
from spheremix.penalties import L1
from spheremix.resultants import Resultants
from spheremix.scorer import Scorer
from spheremix.vectors import dots, lengths, scaled

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from spheremix.models.maximise import Kappa
    from spheremix.models.profile import KappaPrior
    from spheremix.scorer import Assignment

    Array = NDArray[np.float64]

ALTERNATIONS = 1000  # of mu and kappa, at most, in the paper's M-step
KAPPA_TOL = 1e-12  # relative change of kappa that ends them
JUDGED_ENTRIES = 2**18  # of prototypes whose first-order conditions are checked at a time: 2 MiB
# Shares of the noise: at least (where no row is noise now, a later one can still be), and in the
# first parameters of EM, or its largest share where that is less.
LEAST_NOISE, FIRST_NOISE = 1e-6, 0.01
WHOLE = 1e-9  # weights that sum to one up to this leave nothing for the noise
SAME = 2e-10  # squared distance, of prototypes of length one, up to which they coincide
NEAR = 1e-4  # prototypes that coincide are no further apart, those of several views neither


@dataclass(frozen=True, slots=True)
class Noise:
    """A component of kappa = 0, the last one of scorers and resultants; its share is estimated.

    Attributes
    ----------
    level : float
        The log of its density relative to the surface measure: log c_d(0) for the uniform
        distribution, and less where rows are not to be called noise so easily.
    most : float
        The largest share, in (0, 1).
    """

    level: float
    most: float = 1.0 - LEAST_NOISE

    def weights(self, mass: Array, noise_mass: float) -> Array:
        """Maximise sum of n_k log alpha_k + n_0 log alpha_0 over shares with bounds on alpha_0.

        Whatever alpha_0 is, the others share 1 - alpha_0 in proportion to their masses. What is
        left, n_0 log alpha_0 + (n - n_0) log(1 - alpha_0), rises up to n_0 / n and falls beyond
        it, so the maximum is n_0 / n moved into its bounds. Returns the alpha_k, which leave
        alpha_0.
        """
        clusters = float(mass.sum())
        share = noise_mass / (noise_mass + clusters)
        share = min(max(share, min(LEAST_NOISE, self.most)), self.most)
        return mass * ((1.0 - share) / clusters)

    def beside(self, weights: Array) -> Array:
        """Make room for the noise beside clusters whose weights sum to one; else leave them."""
        total = float(weights.sum())
        return (
            weights
            if total < 1.0 - WHOLE
            else weights * ((1.0 - min(FIRST_NOISE, self.most)) / total)
        )

    def add_to(self, scorer: Scorer, weights: Array) -> Scorer:
        """Return the scores of the clusters and, last, of the noise."""
        bias = np.log(noise_share(weights)) + (self.level - scorer.offset)
        return replace(
            scorer,
            matrix=np.vstack([scorer.matrix, np.zeros(scorer.matrix.shape[1])]),
            biases=np.append(scorer.biases, bias),
            has_noise=True,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Seeds:
    """Rows that nobody has seen, known to belong to components: a conjugate prior of these.

    Attributes
    ----------
    mass : ndarray of shape (K,)
        How many each component has: w_k, zero for a free one.
    vectors : ndarray of shape (K, d)
        Their sums: w_k times a mean length times a unit direction.
    """

    mass: NDArray[np.float64]
    vectors: NDArray[np.float64]

    def add_to(self, resultants: Resultants) -> Resultants:
        """Return resultants with these rows; those of the noise, if any, come last and stay."""
        mass, vectors = resultants.mass.copy(), resultants.vectors.copy()
        mass[: len(self.mass)] += self.mass
        vectors[: len(self.mass)] += self.vectors
        return replace(resultants, mass=mass, vectors=vectors)

    def resultants(self) -> Resultants:
        """Return the sums of these rows alone."""
        return Resultants(self.mass, self.vectors, 0.0, 0.0, float(self.mass.sum()))

    def on(self, support: NDArray[np.bool_]) -> Seeds:
        """Return what they are where prototypes may be non-zero: the rest is not seen."""
        vectors = self.vectors.copy()
        vectors[:, : support.shape[1]][~support] = 0.0
        return replace(self, vectors=vectors)

    def log_density(self, parameters: VMFParameters) -> float:
        """Return the log-likelihood of these rows, completed: what they add to the objective."""
        pulls = parameters.kappas * dots(parameters.prototypes, self.vectors)
        own = np.log(parameters.weights) + parameters.log_normalizers
        return float(self.mass @ own + pulls.sum())

    def is_like(self, other: Seeds | None) -> bool:
        """Return whether others are the same."""
        return (
            other is not None
            and np.array_equal(self.mass, other.mass)
            and np.array_equal(self.vectors, other.vectors)
        )


def noise_share(weights: Array) -> float:
    """Return what the clusters leave: the share of the noise."""
    return float(1.0 - weights.sum())


class Mixture(Protocol):
    """Parameters of a mixture of von Mises-Fisher distributions."""

    @property
    def prototypes(self) -> NDArray[np.float64]:
        """Unit vectors mu_k."""
        ...

    @property
    def kappas(self) -> NDArray[np.float64]:
        """Concentrations."""
        ...

    @property
    def weights(self) -> NDArray[np.float64]:
        """Mixture weights alpha_k."""
        ...

    @property
    def log_normalizers(self) -> NDArray[np.float64]:
        """Log c_d(kappa_k)."""
        ...


def mixture_scorer(
    parameters: Mixture, assignment: Assignment = "soft", key: tuple[int, int] = (0, 0)
) -> Scorer:
    """Return the scores log alpha_k + log c_d(kappa_k) + kappa_k <mu_k, x>."""
    return Scorer.centred(
        scaled(parameters.prototypes, parameters.kappas),
        np.log(parameters.weights) + parameters.log_normalizers,
        assignment,
        key,
    )


@dataclass(frozen=True, slots=True, eq=False)
class VMFParameters:
    """K unit prototypes, their concentrations and their weights.

    The weights sum to one, or to what the noise leaves. ``log_normalizers`` (log c_d of the kappas)
    and ``norm`` (the weighted l1 norm of all the prototypes) follow from them;
    ``VMFModel.parameters`` fills them in.
    """

    prototypes: NDArray[np.float64]
    kappas: NDArray[np.float64]
    weights: NDArray[np.float64]
    log_normalizers: NDArray[np.float64]
    norm: float


@dataclass(frozen=True, slots=True, eq=False)
class VMFModel:
    """How parameters are estimated.

    Attributes
    ----------
    n_features : int
        d.
    kappa : "shared", "free", float or ndarray of shape (K,)
        One concentration for all, one each, a given one for all, or given ones.
    l1 : L1
        The penalty on the prototypes.
    kappa_max : float
        Cap of the concentrations.
    algorithm : {"exact", "paper"}
        M-step: the maximum over mu and kappa together, or the alternation of Algorithm 2.
    kappa_solver : {"exact", "banerjee"}
        The inverse of A_d, or Banerjee's approximation of it.
    prior : KappaPrior
        Of each estimated concentration.
    noise : Noise or None
        One more component, the last one of scorers and resultants; its share is what the weights
        leave of one.
    seeds : Seeds or None
        What is known of some components before the rows are read.
    """

    n_features: int
    kappa: Kappa
    l1: L1 = field(default_factory=L1)
    kappa_max: float = 1e6
    algorithm: Literal["exact", "paper"] = "exact"
    kappa_solver: Literal["exact", "banerjee"] = "exact"
    n_threads: int = 1
    prior: KappaPrior = FLAT
    noise: Noise | None = None
    seeds: Seeds | None = None

    def parameters(
        self,
        prototypes: NDArray[np.float64],
        kappas: NDArray[np.float64],
        weights: NDArray[np.float64],
    ) -> VMFParameters:
        """Complete parameters with what follows from them."""
        return VMFParameters(
            prototypes,
            kappas,
            weights,
            log_normalizer(self.n_features, kappas),
            float(self.l1.norms(prototypes).sum()),
        )

    def estimates_as(self, other: VMFModel) -> bool:
        """Return whether another model would go on from this one's parameters: all but the beta."""
        return (
            np.array_equal(self.kappa, other.kappa)
            and (self.kappa_max, self.algorithm) == (other.kappa_max, other.algorithm)
            and (self.kappa_solver, self.prior) == (other.kappa_solver, other.prior)
            and self.noise == other.noise
            and (other.seeds is None if self.seeds is None else self.seeds.is_like(other.seeds))
            and np.array_equal(self.l1.weights, other.l1.weights)  # type: ignore[arg-type]
        )

    def zero_small(self, parameters: VMFParameters, zero_tol: float) -> VMFParameters:
        """Set coordinates below zero_tol to exactly zero; without any, return the same object."""
        lengths = np.abs(parameters.prototypes)
        dust = (lengths < zero_tol) & (lengths > 0.0)
        del lengths  # as large as the prototypes
        if not dust.any():
            return parameters
        prototypes = np.where(dust, 0.0, parameters.prototypes)
        prototypes /= np.linalg.norm(prototypes, axis=1, keepdims=True)
        return self.parameters(prototypes, parameters.kappas, parameters.weights)

    def scorer(
        self,
        parameters: VMFParameters,
        assignment: Assignment = "soft",
        key: tuple[int, int] = (0, 0),
    ) -> Scorer:
        """Return the scores of the mixture."""
        scorer = mixture_scorer(parameters, assignment, key)
        return scorer if self.noise is None else self.noise.add_to(scorer, parameters.weights)

    @property
    def n_noise(self) -> int:
        """How many components are noise: one or none."""
        return int(self.noise is not None)

    def beside_noise(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return known weights as this model has them: what noise they leave is kept or taken."""
        if self.noise is not None:
            return self.noise.beside(weights)
        total = float(weights.sum())
        return weights if abs(total - 1.0) <= WHOLE else weights / total

    def clusters(self, resultants: Resultants) -> Resultants:
        """Return the resultants of the clusters, without those of the noise."""
        if self.noise is None:
            return resultants
        return replace(resultants, mass=resultants.mass[:-1], vectors=resultants.vectors[:-1])

    def with_seeds(self, resultants: Resultants) -> Resultants:
        """Return the resultants with the rows of the seeds, which are completed already."""
        return resultants if self.seeds is None else self.seeds.add_to(resultants)

    @property
    def kappa_mode(self) -> Literal["shared", "free", "given"]:
        """How many concentrations are estimated: one, K or none."""
        return self.kappa if isinstance(self.kappa, str) else "given"

    def penalty(self, parameters: VMFParameters) -> float:
        """Return the l1 penalty of the prototypes, minus the log priors: concentrations, seeds."""
        known = 0.0 if self.seeds is None else self.seeds.log_density(parameters)
        log_prior = self._log_prior(parameters.kappas, parameters.log_normalizers)
        return self.l1.beta * parameters.norm - log_prior - known

    def _log_prior(
        self, kappas: NDArray[np.float64], log_normalizers: NDArray[np.float64]
    ) -> float:
        """Return the log prior of the estimated concentrations: K of them, one or none."""
        if self.prior == FLAT:
            return 0.0
        n = {"free": len(kappas), "shared": 1, "given": 0}[self.kappa_mode]
        return self.prior.log_density(kappas[:n], log_normalizers[:n])

    def start(self, resultants: Resultants, prototypes: NDArray[np.float64]) -> VMFParameters:
        """Return the first parameters of Algorithm 4, from an assignment of rows to prototypes."""
        require_mass(resultants)
        kappas = self.concentrations(dots(prototypes, resultants.vectors), resultants.mass)
        mass = resultants.mass
        return self.parameters(prototypes, kappas, self.beside_noise(mass / mass.sum()))

    def for_search(self) -> list[VMFModel]:
        """Return the models that a search for clusters works with, one after another.

        Without penalty, since the loss of a merge has a closed form only there, and with the exact
        estimates. Merging asks for a concentration that all clusters share: of its own, a cluster
        of one row would be worth more than any other, and given ones are tied to components. Where
        concentrations are free, rows are then moved once more with free ones. Noise is left out: it
        is for EM to say which rows fit none of the clusters found. So are seeds, which are tied to
        components.
        """
        own = replace(
            self, l1=L1(), algorithm="exact", kappa_solver="exact", noise=None, seeds=None
        )
        if self.kappa_mode == "free":
            return [replace(own, kappa="shared"), own]
        return [replace(own, kappa="shared") if np.ndim(self.kappa) else own]

    def from_partition(self, resultants: Resultants) -> VMFParameters:
        """Return the best parameters for the clusters with these resultants, without a penalty.

        Given concentrations, one a component, go to the clusters that they fit best.
        """
        if np.ndim(self.kappa):
            kappas = np.asarray(self.kappa)
            fits = np.outer(log_normalizer(self.n_features, kappas), resultants.mass)
            fits += np.outer(kappas, lengths(resultants.vectors))
            best = linear_sum_assignment(fits, maximize=True)[1]
            vectors = resultants.vectors[best]
            resultants = replace(resultants, mass=resultants.mass[best], vectors=vectors)
        return self.start(resultants, cluster_directions(resultants))

    def cluster_value(
        self, resultants: Resultants
    ) -> Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]:
        """Return a cluster's part of the classification likelihood, plus mass times log weight.

        With mass n and length l: n log n + n log c_d(kappa) + kappa l. A shared kappa is that of
        these resultants; a free one is the cluster's own.
        """
        if self.kappa_mode == "free":
            return self._free_value
        kappa = self.concentrations(lengths(resultants.vectors), resultants.mass)[0]
        normalizer = log_normalizer(self.n_features, kappa)
        return lambda mass, lengths: mass * (np.log(mass) + normalizer) + kappa * lengths

    def _free_value(
        self, mass: NDArray[np.float64], lengths: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return value of clusters with concentrations of their own: 0 where rows cancel out."""
        seen, lengths = mass + self.prior.mass, lengths + self.prior.length
        solved = concentration(self.n_features, np.minimum(lengths / seen, 1.0))
        kappas = np.minimum(solved, self.kappa_max)
        normalizers = log_normalizer(self.n_features, kappas)
        total: NDArray[np.float64] = mass * np.log(mass) + seen * normalizers + kappas * lengths
        return total

    def events(
        self, resultants: Resultants, parameters: VMFParameters, noise: float
    ) -> NDArray[np.float64]:
        """Return the betas at which coordinates would leave; see ``L1.events``."""
        vectors = self.clusters(self.with_seeds(resultants)).vectors
        return self.l1.events(parameters.kappas, vectors, parameters.prototypes, noise)

    @property
    def columns(self) -> tuple[slice, ...]:
        """The columns of each view: all, of one."""
        return (slice(0, self.n_features),)

    @property
    def kappa_modes(self) -> tuple[Literal["shared", "free", "given"], ...]:
        """How the concentrations of each view are estimated: of one."""
        return (self.kappa_mode,)

    @property
    def dense_columns(self) -> tuple[slice, ...]:
        """The columns of views that are not penalised."""
        return ()

    def is_capped(self, parameters: VMFParameters) -> bool:
        """Return whether an estimated concentration is at its cap."""
        return self.kappa_mode != "given" and bool((parameters.kappas >= self.kappa_max).any())

    def m_step(self, resultants: Resultants, parameters: VMFParameters) -> MStep[VMFParameters]:
        """Maximise the expected completed objective at these resultants."""
        resultants = self.with_seeds(resultants)
        clusters = self.clusters(resultants)
        require_mass(clusters)
        mass = clusters.mass
        best = maximise(
            clusters.vectors,
            mass,
            self.l1,
            self.kappa,
            self.kappa_max,
            parameters.prototypes,
            parameters.kappas,
            self.n_threads,
            self.prior,
        )
        if best.dots.min() <= 0.0:
            raise DegenerateError("vanished", int(best.dots.argmin()))
        noise_gain = 0.0
        if self.noise is None:
            weights = mass / mass.sum()
        else:
            noise_mass = float(resultants.mass[-1])
            weights = self.noise.weights(mass, noise_mass)
            shares = noise_share(weights), noise_share(parameters.weights)
            noise_gain = noise_mass * float(np.log(shares[0] / shares[1]))
        norm = float(best.norms.sum())
        shift = np.log(weights / parameters.weights)
        shift += best.log_normalizers - parameters.log_normalizers
        gain = float(
            mass @ shift
            + (best.kappas @ best.dots - parameters.kappas @ best.old_dots)
            - self.l1.beta * (norm - best.old_norms.sum())
            + self._log_prior(best.kappas, best.log_normalizers)
            - self._log_prior(parameters.kappas, parameters.log_normalizers)
            + noise_gain
        )
        if self.algorithm == "exact" and self.kappa_solver == "exact":
            new = VMFParameters(best.prototypes, best.kappas, weights, best.log_normalizers, norm)
            return MStep(new, gain)
        first = parameters.kappas if self.algorithm == "paper" else best.kappas
        return MStep(self.parameters(*self._alternate(clusters, first), weights), gain)

    def kkt_residual(self, resultants: Resultants, parameters: VMFParameters) -> float:
        """Return the largest violation of the first-order conditions of the prototypes.

        Relative to kappa_k n_k. It goes as the square root of the stationarity gap, and cannot
        tell one-hot prototypes apart: where no kappa_k |r_kj| exceeds its threshold, each of them
        satisfies the conditions.
        """
        resultants = self.clusters(self.with_seeds(resultants))
        together = max(1, JUDGED_ENTRIES // self.n_features)
        worst = []
        for first in range(0, len(parameters.kappas), together):
            own = slice(first, first + together)
            kappas, prototypes = parameters.kappas[own, None], parameters.prototypes[own]
            vectors, mass = resultants.vectors[own], resultants.mass[own, None]
            pull = kappas * vectors - self.l1.thresholds * np.sign(prototypes)
            radial = np.einsum("kj,kj->k", pull, prototypes)[:, None]
            beyond = np.maximum(kappas * np.abs(vectors) - self.l1.thresholds, 0.0)
            violation = np.where(prototypes != 0.0, np.abs(pull - radial * prototypes), beyond)
            worst.append((violation / (kappas * mass)).max())
        return float(np.max(worst))

    def _alternate(
        self, resultants: Resultants, kappas: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Update mu, then kappa, until both converge (Algorithm 2; mu is a function of kappa)."""
        still, before = 8 * np.finfo(float).eps * resultants.mass, np.full(len(kappas), np.nan)
        for _ in range(ALTERNATIONS):
            if self.algorithm == "paper":
                lost = np.flatnonzero(self.l1.excess(kappas, resultants.vectors).max(axis=1) <= 0.0)
                if lost.size:
                    raise DegenerateError("zero_prototype", int(lost[0]))
            prototypes = self.l1.directions(kappas, resultants.vectors)
            dots = np.einsum("kj,kj->k", prototypes, resultants.vectors)
            previous, kappas = kappas, self.concentrations(dots, resultants.mass)
            # The last digits of a large kappa are noise: its equation has come to rest before it.
            rest = np.abs(dots - before) <= still
            if np.all(rest | (np.abs(kappas - previous) <= KAPPA_TOL * kappas)):
                break
            before = dots
        return prototypes, kappas

    def concentrations(
        self, dots: NDArray[np.float64], mass: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Solve A_d(kappa_k) = <mu_k, r_k> / n_k, or the pooled equation, up to the cap.

        A prior adds to both sums.
        """
        if not isinstance(self.kappa, str):
            return per_component(self.kappa, len(mass))
        solve = concentration if self.kappa_solver == "exact" else concentration_banerjee
        n_components = len(mass)
        if self.kappa == "shared":
            dots, mass = dots.sum(keepdims=True), mass.sum(keepdims=True)
        if np.any(dots <= 0.0):
            raise DegenerateError("vanished", int(dots.argmin()))
        # Identical rows give a mean length above one by rounding.
        lengths = (dots + self.prior.length) / (mass + self.prior.mass)
        solved = solve(self.n_features, np.minimum(lengths, 1.0))
        return np.broadcast_to(np.minimum(solved, self.kappa_max), n_components).copy()


def count_distinct(prototypes: NDArray[np.float64]) -> int:
    """Count the prototypes, those that coincide once.

    Projections on a line are no further apart than prototypes are: only those that are near on
    each of a few lines are compared.
    """
    blocks = [np.arange(len(prototypes))]
    for step in (1, 2, 3):
        places = prototypes[:, ::step].sum(axis=1) / np.sqrt(prototypes.shape[1])
        parts = (part for ids in blocks for part in _near(ids, places[ids]))
        blocks = [part for part in parts if len(part) > 1]
    return len(prototypes) - sum(_count_repeated(prototypes[ids]) for ids in blocks)


def _near(ids: NDArray[np.intp], places: NDArray[np.float64]) -> list[NDArray[np.intp]]:
    """Cut points on a line where there are gaps."""
    order = np.argsort(places, kind="stable")
    return np.split(ids[order], np.flatnonzero(np.diff(places[order]) > NEAR) + 1)


def _count_repeated(prototypes: NDArray[np.float64]) -> int:
    """Count the prototypes that coincide with one before them."""
    used = prototypes[:, prototypes.any(axis=0)]  # few columns, where prototypes are sparse
    products = used @ used.T
    squares = np.diagonal(products)
    # Those of several views, side by side, have a length above one.
    same = squares[:, None] + squares - 2.0 * products < SAME * np.maximum(1.0, squares)
    return int(np.triu(same, k=1).any(axis=0).sum())


@dataclass(frozen=True, slots=True, eq=False)
class SupportModel:
    """The unpenalised mixture whose prototypes are zero outside a given support.

    Attributes
    ----------
    model : VMFModel
        Without penalty.
    support : ndarray of bool of shape (K, d)
        Where prototypes may be non-zero.
    """

    model: VMFModel
    support: NDArray[np.bool_]

    def scorer(
        self,
        parameters: VMFParameters,
        assignment: Assignment = "soft",
        key: tuple[int, int] = (0, 0),
    ) -> Scorer:
        """Return the scores of the mixture."""
        return self.model.scorer(parameters, assignment, key)

    def penalty(self, parameters: VMFParameters) -> float:
        """Return zero: what is on the support is free."""
        return self.model.penalty(parameters)

    def start(self, resultants: Resultants, prototypes: NDArray[np.float64]) -> VMFParameters:
        """Return first parameters on the support."""
        return self.model.start(self._restricted(resultants), prototypes * self.support)

    def m_step(self, resultants: Resultants, parameters: VMFParameters) -> MStep[VMFParameters]:
        """Maximise over prototypes on the support: what the vectors have outside is not seen."""
        model, seeds = self.model, self.model.seeds
        if seeds is not None:
            model = replace(model, seeds=seeds.on(self.support))
        return model.m_step(self._restricted(resultants), parameters)

    def _restricted(self, resultants: Resultants) -> Resultants:
        vectors = resultants.vectors.copy()
        K, d = self.support.shape  # noise, the last one, has no support; nor has what is absent
        vectors[:K, :d][~self.support] = 0.0
        return replace(resultants, vectors=vectors)

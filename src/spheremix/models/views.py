"""The mixture on a product of spheres: a prototype and a concentration for each view of a row.

The log density of a row x = (x_1, ..., x_V) in component k is the sum over its views v of
w_v (log c_d(kappa_kv) + kappa_kv <mu_kv, x_v>), with a weight w_v of each view (1, unless a
composite likelihood is wanted). A view in which the row has nothing is left out of the sum. This is
one affine score of the row as ``spheremix.views`` lays it out, and the expected completed objective
is a sum over the views: the M-step is one of ``VMFModel`` for each of them, with the same masses.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.optimize import linear_sum_assignment

from spheremix.bessel import concentration, log_normalizer
from spheremix.models.base import DegenerateError, MStep, require_mass
from spheremix.models.maximise import maximise, per_component
from spheremix.models.vmf import VMFParameters
from spheremix.penalties import L1
from spheremix.scorer import Scorer

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from spheremix.models.vmf import Noise, Seeds, VMFModel
    from spheremix.resultants import Resultants
    from spheremix.scorer import Assignment
    from spheremix.views import Views

    Array = NDArray[np.float64]

TINY = 1e-300  # a concentration at which no row has a say in a penalised prototype
HEARD = 0.1  # the weight in a search, times its own, of a view with zeros beside one without


@dataclass(frozen=True, slots=True, eq=False)
class ViewsModel:
    """How the parameters of several views are estimated.

    Parameters have prototypes of shape (K, d), the views side by side and each of length one, and
    concentrations and log normalisers of shape (K, V).

    Attributes
    ----------
    views : Views
        Their names and columns.
    models : tuple of VMFModel
        How the concentrations of each view are estimated, and their caps; without penalty.
    view_weights : tuple of float
        What the part of each view in the score and in the objective is multiplied by. A view of
        weight zero is estimated for the components that the others make.
    sparse_views : tuple of bool
        Whose prototypes can have zeros.
    l1 : L1
        The penalty; its weights, one a column of all views, are zero in the other views.
    seeds : Seeds or None
        What is known of some components before the rows are read, laid out as the rows are.
    """

    views: Views
    models: tuple[VMFModel, ...]
    view_weights: tuple[float, ...]
    sparse_views: tuple[bool, ...]
    l1: L1
    n_threads: int = 1
    noise: Noise | None = None
    seeds: Seeds | None = None

    # What estimators ask of any mixture

    @property
    def n_features(self) -> int:
        """Columns of all views."""
        return self.views.n_features

    @property
    def kappa_max(self) -> Array:
        """The cap of the concentrations of each view."""
        return np.array([model.kappa_max for model in self.models])

    @property
    def kappa_mode(self) -> Literal["shared", "free", "given"]:
        """How concentrations are estimated, in the view where most of them are."""
        modes = self.kappa_modes
        return "free" if "free" in modes else "shared" if "shared" in modes else "given"

    @property
    def n_noise(self) -> int:
        """How many components are noise: none, several views have no noise."""
        return 0

    def beside_noise(self, weights: Array) -> Array:
        """Return known weights as this model has them."""
        shares: Array = weights / weights.sum()
        return shares

    def clusters(self, resultants: Resultants) -> Resultants:
        """Return the resultants of the clusters: all, since there is no noise."""
        return resultants

    @property
    def columns(self) -> tuple[slice, ...]:
        """The columns of each view."""
        return self.views.columns

    @property
    def kappa_modes(self) -> tuple[Literal["shared", "free", "given"], ...]:
        """How the concentrations of each view are estimated."""
        return tuple(model.kappa_mode for model in self.models)

    @property
    def dense_columns(self) -> tuple[slice, ...]:
        """The columns of views that are not penalised."""
        pairs = zip(self.columns, self.sparse_views, strict=True)
        return tuple(own for own, sparse in pairs if not sparse)

    def is_capped(self, parameters: VMFParameters) -> bool:
        """Return whether an estimated concentration is at its cap."""
        return any(
            model.kappa_mode != "given" and bool((kappas >= model.kappa_max).any())
            for model, kappas in zip(self.models, parameters.kappas.T, strict=True)
        )

    def estimates_as(self, other: ViewsModel) -> bool:
        """Return whether another model would go on from this one's parameters: all but the beta."""
        return (
            self.views == other.views
            and self.view_weights == other.view_weights
            and self.sparse_views == other.sparse_views
            and (other.seeds is None if self.seeds is None else self.seeds.is_like(other.seeds))
            and np.array_equal(self.l1.weights, other.l1.weights)  # type: ignore[arg-type]
            and all(
                one.estimates_as(two) for one, two in zip(self.models, other.models, strict=True)
            )
        )

    # Parameters and scores

    def parameters(self, prototypes: Array, kappas: Array, weights: Array) -> VMFParameters:
        """Complete parameters with what follows from them."""
        logs = [log_normalizer(d, own) for d, own in zip(self.views.sizes, kappas.T, strict=True)]
        return VMFParameters(
            prototypes, kappas, weights, np.column_stack(logs), self._norm(prototypes)
        )

    def _norm(self, prototypes: Array) -> float:
        """Return the weighted l1 norm of the prototypes of the penalised views."""
        return float(
            sum(
                self.penalty_of(v).norms(prototypes[:, columns]).sum()
                for v, columns in enumerate(self.columns)
                if self._is_penalised(v)
            )
        )

    def _is_penalised(self, v: int) -> bool:
        return self.sparse_views[v] and self.view_weights[v] > 0.0

    def penalty_of(self, v: int) -> L1:
        """Return the penalty of one view."""
        if not self._is_penalised(v):
            return L1()
        weights = self.l1.weights
        own = None if weights is None else weights[self.columns[v]]
        return replace(self.l1, weights=own)

    def zero_small(self, parameters: VMFParameters, zero_tol: float) -> VMFParameters:
        """Set coordinates below zero_tol to exactly zero, in the views that can have zeros."""
        prototypes = parameters.prototypes
        changed = False
        for sparse, columns in zip(self.sparse_views, self.columns, strict=True):
            sizes = np.abs(prototypes[:, columns])
            dust = (sizes < zero_tol) & (sizes > 0.0)
            if not (sparse and dust.any()):
                continue
            own = np.where(dust, 0.0, prototypes[:, columns])
            prototypes = prototypes if changed else prototypes.copy()
            prototypes[:, columns] = own / np.linalg.norm(own, axis=1, keepdims=True)
            changed = True
        if not changed:
            return parameters
        return self.parameters(prototypes, parameters.kappas, parameters.weights)

    def scorer(
        self,
        parameters: VMFParameters,
        assignment: Assignment = "soft",
        key: tuple[int, int] = (0, 0),
    ) -> Scorer:
        """Return the scores log alpha_k + sum over views of w (log c_d(kappa) + kappa <mu, x>)."""
        weights = np.array(self.view_weights)
        matrix = np.zeros((len(parameters.weights), self.views.width))
        for v, columns in enumerate(self.columns):
            factors = weights[v] * parameters.kappas[:, v, None]
            matrix[:, columns] = factors * parameters.prototypes[:, columns]
        normalizers = weights * parameters.log_normalizers
        matrix[:, self.views.absences] = -normalizers  # what a row has nothing in does not count
        biases = np.log(parameters.weights) + normalizers.sum(axis=1)
        return Scorer.centred(matrix, biases, assignment, key)

    def nearest(self, rows: Array) -> Scorer:
        """Return the scores that send rows to the nearest of some: weighted sums of cosines."""
        matrix = np.zeros_like(rows)
        for weight, columns in zip(self.view_weights, self.columns, strict=True):
            matrix[:, columns] = weight * rows[:, columns]
        return Scorer(matrix, np.zeros(len(rows)), 0.0, "hard")

    def by_variation(self, scorer: Scorer, resultants: Resultants) -> Scorer:
        """Return the same scores for an assignment by first variation, to second order.

        A row x of weight s that joins a component (or leaves it, with -s) changes |r_v| by
        s cos + s^2 (1 - cos^2) / (2 |r_v|) in each view. The squared cosine is taken at its mean in
        the component, so that what is added to the score does not depend on the row.
        """
        pull = np.zeros(len(resultants.mass))
        for v, columns in enumerate(self.columns):
            _, mass, sizes = self._sums(v, resultants)
            kappas = np.linalg.norm(scorer.matrix[:, columns], axis=1)
            mean = np.divide(sizes, mass, out=np.zeros(len(mass)), where=mass > 0.0)
            spread = kappas * np.maximum(1.0 - mean**2, 0.0)
            pull += np.divide(spread, sizes, out=np.zeros(len(mass)), where=sizes > 0.0)
        rates = np.column_stack([pull, np.zeros(len(pull))])
        return replace(scorer, assignment="variation", rates=rates)

    def penalty(self, parameters: VMFParameters) -> float:
        """Return the l1 penalty of the prototypes, minus the log prior of the seeds."""
        known = 0.0
        if self.seeds is not None:
            sums = self.seeds.resultants()
            known = float(sums.mass @ np.log(parameters.weights))
            for v, columns in enumerate(self.columns):
                vectors, mass, _ = self._sums(v, sums)
                pulls = np.einsum("kj,kj->k", parameters.prototypes[:, columns], vectors)
                own = mass @ parameters.log_normalizers[:, v] + parameters.kappas[:, v] @ pulls
                known += self.view_weights[v] * float(own)
        return self.l1.beta * parameters.norm - known

    def with_seeds(self, resultants: Resultants) -> Resultants:
        """Return the resultants with the rows of the seeds, which are completed already."""
        return resultants if self.seeds is None else self.seeds.add_to(resultants)

    # Estimates

    def _sums(self, v: int, resultants: Resultants) -> tuple[Array, Array, Array]:
        """Return the vectors of a view, the masses that have a part in it, and the lengths."""
        vectors = np.ascontiguousarray(resultants.vectors[:, self.columns[v]])
        absent = resultants.vectors[:, self.views.n_features + v]
        mass = np.maximum(resultants.mass - absent, 0.0)
        return vectors, mass, np.linalg.norm(vectors, axis=1)

    def _factor(self, v: int) -> float:
        """Return what the sums of a view are multiplied by: 1 where it is only described."""
        return self.view_weights[v] or 1.0

    def start(self, resultants: Resultants, prototypes: Array) -> VMFParameters:
        """Return the first parameters of Algorithm 4, from an assignment of rows to prototypes.

        A prototype that has nothing in a view has the direction of its rows there.
        """
        require_mass(resultants)
        unit, kappas = [], []
        for v, columns in enumerate(self.columns):
            vectors, mass, _ = self._sums(v, resultants)
            given = prototypes[:, columns]
            has_part = np.any(given, axis=1, keepdims=True)
            own = self._directions(v, np.where(has_part, given, vectors), vectors)
            unit.append(own)
            kappas.append(self._kappas(v, np.einsum("kj,kj->k", own, vectors), mass))
        weights = resultants.mass / resultants.mass.sum()
        return self.parameters(np.hstack(unit), np.column_stack(kappas), weights)

    def _directions(self, v: int, vectors: Array, rows: Array) -> Array:
        """Return vectors at length one; where one is zero, what all rows of the view point to."""
        sizes = np.linalg.norm(vectors, axis=1)
        unit: Array = vectors / np.where(sizes > 0.0, sizes, 1.0)[:, None]
        if not sizes.all():
            unit[sizes == 0.0] = self._neutral(v, rows)
        return unit

    def _neutral(self, v: int, vectors: Array) -> Array:
        """Return the prototype of a component that has no part in a view.

        The direction of all rows of the view; with a penalty, the cheapest prototype.
        """
        pooled = vectors.sum(axis=0, keepdims=True)
        if not pooled.any():
            raise DegenerateError("vanished", 0)
        unit: Array = self.penalty_of(v).directions(np.array([TINY]), pooled)[0]
        return unit

    def _kappas(self, v: int, dots: Array, mass: Array) -> Array:
        """Return the concentrations of a view; of a component without a part in it, the shared."""
        model, factor = self.models[v], self._factor(v)
        there = mass > 0.0
        if there.all() or model.kappa_mode != "free":
            return model.concentrations(factor * dots, factor * mass)
        kappas = replace(model, kappa="shared").concentrations(factor * dots, factor * mass)
        kappas[there] = model.concentrations(factor * dots[there], factor * mass[there])
        return kappas

    def m_step(self, resultants: Resultants, parameters: VMFParameters) -> MStep[VMFParameters]:
        """Maximise the expected completed objective at these resultants, view by view."""
        resultants = self.with_seeds(resultants)
        require_mass(resultants)
        mass = resultants.mass
        weights = mass / mass.sum()
        gain = float(mass @ np.log(weights / parameters.weights))
        prototypes, kappas, logs = [], [], []
        for v in range(len(self.models)):
            best, gained = self._view_step(v, resultants, parameters)
            prototypes.append(best[0])
            kappas.append(best[1])
            logs.append(best[2])
            gain += gained
        both = np.hstack(prototypes)
        return MStep(
            VMFParameters(
                both, np.column_stack(kappas), weights, np.column_stack(logs), self._norm(both)
            ),
            gain,
        )

    def _view_step(
        self, v: int, resultants: Resultants, parameters: VMFParameters
    ) -> tuple[tuple[Array, Array, Array], float]:
        """Return the best prototypes, concentrations and log normalisers of a view, and the gain.

        What a component without a part in the view gains is its penalty.
        """
        model, l1, factor = self.models[v], self.penalty_of(v), self._factor(v)
        vectors, mass, sizes = self._sums(v, resultants)
        old = parameters.prototypes[:, self.columns[v]]
        there = (mass > 0.0) & (sizes > 0.0)
        if not there.any():
            raise DegenerateError("vanished", 0)
        given = (
            model.kappa if isinstance(model.kappa, str) else per_component(model.kappa, len(mass))
        )
        best = maximise(
            np.ascontiguousarray(factor * vectors[there]),
            factor * mass[there],
            l1,
            given if isinstance(given, str) else given[there],
            model.kappa_max,
            np.ascontiguousarray(old[there]),
            np.ascontiguousarray(parameters.kappas[there, v]),
            self.n_threads,
        )
        if best.dots.min() <= 0.0:
            raise DegenerateError("vanished", int(np.flatnonzero(there)[best.dots.argmin()]))
        shift = best.log_normalizers - parameters.log_normalizers[there, v]
        moved = best.kappas @ best.dots - parameters.kappas[there, v] @ best.old_dots
        gain = float(factor * mass[there] @ shift + moved)
        norms = best.norms.sum() - best.old_norms.sum()
        prototypes, kappas, logs = best.prototypes, best.kappas, best.log_normalizers
        if not there.all():
            prototypes = np.empty_like(vectors)
            prototypes[there], prototypes[~there] = best.prototypes, self._neutral(v, vectors)
            kappas = self._kappas(v, np.einsum("kj,kj->k", prototypes, vectors), mass)
            kappas[there] = best.kappas
            if model.kappa_mode == "shared":
                kappas[:] = best.kappas[0]
            logs = log_normalizer(self.views.sizes[v], kappas)
            norms += (l1.norms(prototypes[~there]) - l1.norms(old[~there])).sum()
        gain -= l1.beta * float(norms)
        return (prototypes, kappas, logs), gain if self.view_weights[v] > 0.0 else 0.0

    def kkt_residual(self, resultants: Resultants, parameters: VMFParameters) -> float:
        """Return the largest violation of the first-order conditions of the prototypes."""
        resultants, worst = self.with_seeds(resultants), []
        for v, columns in enumerate(self.columns):
            factor, (vectors, mass, _) = self._factor(v), self._sums(v, resultants)
            there = mass > 0.0
            own = replace(
                parameters,
                prototypes=parameters.prototypes[there, columns],
                kappas=parameters.kappas[there, v],
            )
            sums = replace(resultants, mass=factor * mass[there], vectors=factor * vectors[there])
            worst.append(replace(self.models[v], l1=self.penalty_of(v)).kkt_residual(sums, own))
        return max(worst)

    def events(self, resultants: Resultants, parameters: VMFParameters, noise: float) -> Array:
        """Return the betas at which coordinates would leave; see ``L1.events``."""
        resultants = self.with_seeds(resultants)
        return np.concatenate(
            [
                self.penalty_of(v).events(
                    self._factor(v) * parameters.kappas[:, v],
                    resultants.vectors[:, columns],
                    parameters.prototypes[:, columns],
                    noise,
                )
                for v, columns in enumerate(self.columns)
                if self._is_penalised(v)
            ]
            or [np.empty(0)]
        )

    # Partitions

    def for_search(self) -> list[ViewsModel]:
        """Return the models that a search for clusters works with; see ``VMFModel.for_search``."""
        each = [model.for_search() for model in self.models]
        steps = max(len(models) for models in each)
        return [
            replace(
                self,
                models=tuple(models[min(i, len(models) - 1)] for models in each),
                l1=L1(),
                seeds=None,
            )
            for i in range(steps)
        ]

    def for_starts(self) -> list[ViewsModel]:
        """Return the models of a search for starts: views with zeros count ``HEARD`` as much.

        A row has few words, and one that it shares with others moves it far: rows begin together
        for what they mean, and the likelihood of all views moves them from there.
        """
        pairs = list(zip(self.view_weights, self.sparse_views, strict=True))
        if not any(weight > 0.0 and not sparse for weight, sparse in pairs):
            return self.for_search()
        weights = tuple(HEARD * weight if sparse else weight for weight, sparse in pairs)
        return [replace(model, view_weights=weights) for model in self.for_search()]

    def from_partition(self, resultants: Resultants) -> VMFParameters:
        """Return the best parameters for the clusters with these resultants, without a penalty.

        Given concentrations, one a component, go to the clusters that they fit best.
        """
        if any(np.ndim(model.kappa) for model in self.models):
            fits = np.zeros((len(resultants.mass),) * 2)
            for v, model in enumerate(self.models):
                if np.ndim(model.kappa):
                    _, mass, sizes = self._sums(v, resultants)
                    kappas = np.asarray(model.kappa)
                    value = np.outer(log_normalizer(self.views.sizes[v], kappas), mass)
                    fits += self.view_weights[v] * (value + np.outer(kappas, sizes))
            best = linear_sum_assignment(fits, maximize=True)[1]
            resultants = replace(
                resultants, mass=resultants.mass[best], vectors=resultants.vectors[best]
            )
        return self.start(resultants, np.zeros((len(resultants.mass), self.n_features)))

    def cluster_value(self, resultants: Resultants) -> ViewsValue:
        """Return a cluster's part of the classification likelihood, plus mass times log weight."""
        return self.value_of(resultants.mass, self.lengths(resultants.vectors))

    @property
    def _measured(self) -> tuple[slice, ...]:
        """The parts of resultant vectors whose lengths say what a cluster is worth."""
        last = range(self.n_features, self.views.width)
        return (*self.columns, *(slice(j, j + 1) for j in last))

    def lengths(self, vectors: Array) -> Array:
        """Return the lengths of the views of resultant vectors, and what is absent, (2 V, M)."""
        return np.array([np.linalg.norm(vectors[:, own], axis=1) for own in self._measured])

    def value_of(self, mass: Array, lengths: Array) -> ViewsValue:
        """Return the same from masses and lengths, (2 V, M): of each view, and what is absent."""
        V = len(self.models)
        parts = []
        for v, model in enumerate(self.models):
            own = np.maximum(mass - lengths[V + v], 0.0)
            if model.kappa_mode == "free":
                parts.append(_free(model))
                continue
            kappa = float(model.concentrations(lengths[v], own)[0])
            parts.append(_held(kappa, float(log_normalizer(model.n_features, kappa))))
        return ViewsValue(self._measured, self.view_weights, tuple(parts))


@dataclass(frozen=True, slots=True, eq=False)
class ViewsValue:
    """The value of clusters, by their masses and the lengths of the parts of their resultants.

    Attributes
    ----------
    columns : tuple of slice
        The parts: the columns of each view, then the column of each view that counts what is
        absent in it.
    """

    columns: tuple[slice, ...]
    weights: tuple[float, ...]
    parts: tuple[Callable[[Array, Array], Array], ...]

    def __call__(self, mass: Array, lengths: Array) -> Array:
        """Return the values of clusters with masses (M,) and lengths (2 V, M)."""
        total: Array = mass * np.log(mass)
        V = len(self.parts)
        for weight, part, own, absent in zip(
            self.weights, self.parts, lengths[:V], lengths[V:], strict=True
        ):
            total = total + weight * part(np.maximum(mass - absent, 0.0), own)
        return total


def _held(kappa: float, normalizer: float) -> Callable[[Array, Array], Array]:
    """Return the log density of the rows of clusters at a concentration that is held."""
    return lambda mass, lengths: mass * normalizer + kappa * lengths


def _free(model: VMFModel) -> Callable[[Array, Array], Array]:
    """Return the log density of the rows of clusters that have concentrations of their own."""

    def density(mass: Array, lengths: Array) -> Array:
        means = np.divide(lengths, mass, out=np.zeros(len(mass)), where=mass > 0.0)
        solved = concentration(model.n_features, np.minimum(means, 1.0))
        kappas = np.minimum(solved, model.kappa_max)
        found: Array = mass * log_normalizer(model.n_features, kappas) + kappas * lengths
        return found

    return density

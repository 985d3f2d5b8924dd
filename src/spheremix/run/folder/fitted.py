"""Fitted estimators as dataclasses that the archive stores, and back: the same bits.

What comes out of a file is checked before an estimator is made of it: lengths and sums that must be
one, labels within their range, steps that follow each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from spheremix.data.base import Engine
from spheremix.data.threads import resolve_threads
from spheremix.em import Fit
from spheremix.estimators.cuts import Trees
from spheremix.estimators.fitted import FitSummary, FittedMixture, columns_of
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.path import VMFPath, set_path_attributes
from spheremix.estimators.problem import build_model
from spheremix.estimators.restarts import Restart  # noqa: TC001 (types are read when decoding)
from spheremix.estimators.tree import VMFTree
from spheremix.hierarchy import Hierarchy
from spheremix.models.vmf import VMFParameters
from spheremix.path import PathPoint, PathState
from spheremix.resultants import Resultants
from spheremix.run.folder.archive import CODECS, Codec
from spheremix.run.folder.files import RunError
from spheremix.select import CRITERIA

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from spheremix.models.vmf import VMFModel

Array = NDArray[np.float64]
Ids = NDArray[np.int64]

# What belongs to the machine or to the session, and not to the solution.
UNSTORED = {"callback", "n_threads", "verbose", "warm_start"}
CHOSEN_BY = ("criterion", "max_noise")  # parameters of a path that only choose on it
UNIT = 1e-6  # how far from one lengths and sums may be


def stored_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters that the solution depends on; a fitted start is told by its size."""
    found: dict[str, Any] = {}
    for name, value in estimator.get_params(deep=False).items():
        if name in UNSTORED:
            continue
        if name == "random_state" and not isinstance(value, int | np.integer):
            found[name] = None
        elif hasattr(value, "prototypes_"):
            found[name] = {"dense": len(value.prototypes_)}
        else:
            found[name] = value
    return found


def _estimator(kind: type, params: dict[str, Any], dense: Mapping[int, Any] | None = None) -> Any:
    """Make an estimator again; a start from a dense mixture is one from that of the run."""
    known = kind().get_params()
    for name in params:
        if name not in known or name in UNSTORED:
            raise RunError(f"damaged: {name[:60]!r} is no parameter of {kind.__name__}.")
    if params.get("engine", "auto") not in get_args(Engine):
        raise RunError("damaged: there is no such engine.")
    values = {
        name: (dense or {}).get(value.get("dense", -1), "random")
        if isinstance(value, dict)
        else value
        for name, value in params.items()
    }
    return kind(**values)


# Mixtures


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MixtureState:
    """A fitted mixture."""

    archive_version: ClassVar[int] = 1

    params: dict[str, Any]
    prototypes: Array
    kappas: Array
    weights: Array
    labels: Ids | None
    kappa_max: float
    noise_level: float | None
    log_likelihood: float
    objective: float
    stationarity_gap: float
    kkt_residual: float
    status: str
    n_iter: int
    criteria: dict[str, float]
    runs: list[Restart]
    agreement: float


def dump_mixture(mixture: VMFMixture) -> MixtureState:
    """Return the state of a fitted mixture."""
    labels = getattr(mixture, "labels_", None)
    names = ("kappa_max", "log_likelihood", "objective", "stationarity_gap", "kkt_residual")
    return MixtureState(
        params=stored_parameters(mixture),
        prototypes=mixture.prototypes_,
        kappas=mixture.kappas_,
        weights=mixture.weights_,
        labels=None if labels is None else labels.astype(np.int64),
        noise_level=_level_of(mixture.model_),
        status=mixture.status_,
        n_iter=int(mixture.n_iter_),
        criteria={name: float(value) for name, value in mixture.criteria_.items()},
        runs=list(mixture.runs_),
        agreement=float(mixture.agreement_),
        **{name: float(getattr(mixture, f"{name}_")) for name in names},
    )


def load_mixture(state: MixtureState) -> VMFMixture:
    """Make a fitted mixture again."""
    mixture: VMFMixture = _estimator(VMFMixture, state.params)
    noise = state.noise_level is not None
    _check_parameters(state, noise=noise)
    K, d = state.prototypes.shape
    if state.labels is not None:
        check_labels(state.labels, K, noise=noise)
    FittedMixture(
        _model_of(MixtureOptions.of(mixture), state, d),
        state.prototypes,
        state.kappas,
        state.weights,
        {"n_features_in_": d},
        FitSummary(
            status=state.status,
            n_iter=state.n_iter,
            objective=state.objective,
            stationarity_gap=state.stationarity_gap,
            kkt_residual=state.kkt_residual,
            log_likelihood=state.log_likelihood,
            # A run that was saved before a criterion existed does not have its value.
            criteria={name: state.criteria.get(name, np.nan) for name in CRITERIA},
            runs=state.runs,
            agreement=state.agreement,
        ),
        None if state.labels is None else state.labels.astype(np.intp),
    ).set_on(mixture)
    return mixture


def _level_of(model: VMFModel) -> float | None:
    """Return the level of the noise of a model."""
    return None if model.noise is None else float(model.noise.level)


def _model_of(options: Any, state: MixtureState | PathStored, n_features: int) -> VMFModel:
    """Return the model that an estimator's parameters stand for, with what was in force."""
    model = build_model(options, n_features, resolve_threads(None))
    if (model.noise is None) != (state.noise_level is None):
        raise RunError("damaged: noise without a level, or a level without.")
    if model.noise is not None and state.noise_level is not None:
        model = replace(model, noise=replace(model.noise, level=state.noise_level))
    return replace(model, kappa_max=state.kappa_max)


# Paths


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class FitState:
    """Parameters together with their resultants: where a path can go on with the same bits."""

    prototypes: Array
    kappas: Array
    weights: Array
    log_normalizers: Array
    norm: float
    mass: Array
    vectors: Array
    log_likelihood: float
    entropy: float
    weight: float
    objective: float
    gap: float
    status: str
    n_iter: int


FLOATS = ("beta", "log_likelihood", "entropy", "weight", "objective", "gap")
COUNTS = ("n_iter", "n_distinct", "n_converged")
TABLES = ("kappas", "weights", "sizes")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StepsState:
    """The points of a path, column by column.

    An exploration keeps the values of steps that no criterion chooses in single precision; the
    others are ``exact``, with their values in ``exact_values``. Places are stored as differences.
    """

    n_features: int
    statuses: list[str]
    floats: Array  # (FLOATS, S)
    counts: Ids  # (COUNTS and status, S)
    tables: Array  # (TABLES, S, K)
    ends: Ids
    values: Any
    places: Ids | None  # None where the points lie on those of others
    exact: list[int] = field(default_factory=list)
    exact_values: Array | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PathStored:
    """A followed path, without what was chosen on it."""

    archive_version: ClassVar[int] = 1

    params: dict[str, Any]
    steps: StepsState
    dense: FitState
    last: FitState
    refits: StepsState | None
    last_refit: FitState | None
    n_inserted: int
    status: str
    kappa_max: float
    noise_level: float | None
    runs: list[Restart] = field(default_factory=list)
    agreement: float = float("nan")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PathChoice:
    """What was chosen on a path: by which parameters, and the labels of the chosen mixture."""

    archive_version: ClassVar[int] = 1

    params: dict[str, Any]
    labels: Ids
    noise_level: float | None


def dump_path(path: VMFPath, *, small: bool = False) -> PathStored:
    """Return the state of a followed path, without what was chosen on it.

    With ``small``, steps that no criterion chooses are kept in single precision.
    """
    exact = sorted({path.select(name) for name in CRITERIA}) if small else None
    stored = dump_state(path.state_, stored_parameters(path), path.status_, exact)
    params = {name: v for name, v in stored.params.items() if name not in CHOSEN_BY}
    return replace(stored, params=params, runs=list(path.runs_), agreement=float(path.agreement_))


def dump_choice(path: VMFPath) -> PathChoice:
    """Return what was chosen on a path."""
    return PathChoice(
        params={name: getattr(path, name) for name in CHOSEN_BY},
        labels=path.best_estimator_.labels_.astype(np.int64),
        noise_level=path.state_.noise_level,
    )


def dump_state(
    state: PathState, params: dict[str, Any], status: str = "", exact: list[int] | None = None
) -> PathStored:
    """Return all that is needed to go on from where a path is."""
    return PathStored(
        params=params,
        steps=_dump_steps(state.steps, None, exact),
        dense=_dump_fit(state.dense),
        last=_dump_fit(state.fit),
        refits=_dump_steps(state.refits, state.steps, exact) if state.relaxed else None,
        last_refit=None if state.refit is None else _dump_fit(state.refit),
        n_inserted=state.n_inserted,
        status=status,
        kappa_max=float(state.model.kappa_max),
        noise_level=_level_of(state.model),
    )


def load_state(stored: PathStored, model: VMFModel) -> PathState:
    """Make the state of a path again, to go on from it."""
    noise = stored.noise_level is not None
    steps = _load_steps(stored.steps, noise=noise)
    refits = [] if stored.refits is None else _load_steps(stored.refits, steps, noise=noise)
    state = PathState(
        model,
        steps,
        _load_fit(stored.dense, noise=noise),
        _load_fit(stored.last, noise=noise),
        stored.n_inserted,
        stored.status,
        refits,
        None if stored.last_refit is None else _load_fit(stored.last_refit, noise=noise),
    )
    shape = (len(steps[0].kappas), steps[0].n_features)
    fits = (state.dense, state.fit, state.refit or state.fit)
    if {fit.parameters.prototypes.shape for fit in fits} != {shape}:
        raise RunError("damaged: steps and fits differ in shape.")
    return state


def load_path(
    stored: PathStored,
    dense: Mapping[int, VMFMixture],
    choice: PathChoice | None,
    label: Callable[[VMFMixture, VMFMixture], Any] | None = None,
) -> VMFPath:
    """Make a fitted path again, ready to predict and, with ``warm_start``, to go on.

    What was chosen on it is given; or else ``label`` returns the labels of the chosen mixture.
    """
    params = stored.params if choice is None else {**stored.params, **choice.params}
    path: VMFPath = _estimator(VMFPath, params, dense)
    if len({path.relaxed, stored.refits is not None, stored.last_refit is not None}) > 1:
        raise RunError("damaged: refits belong to a relaxed path.")
    d = stored.steps.n_features
    state = load_state(stored, _model_of(MixtureOptions.of(path).along_path(), stored, d))
    if label is None:
        if choice is None:
            raise RunError("damaged: nothing was chosen on the path.")
        noise = stored.noise_level is not None
        check_labels(choice.labels, len(state.steps[0].kappas), noise=noise)
        known = (choice.noise_level, choice.labels.astype(np.intp))
        label = lambda *_: known  # noqa: E731
    columns = {"n_features_in_": d}
    set_path_attributes(path, state, stored.runs, stored.agreement, columns, label)
    return path


def _dump_steps(
    steps: Sequence[PathPoint], on: Sequence[PathPoint] | None, exact: list[int] | None
) -> StepsState:
    """Return the points of a path as columns; refits lie on the places of their steps."""
    statuses = sorted({step.status for step in steps})
    counts = [[getattr(one, name) for one in steps] for name in COUNTS]
    values = [_values_on(step, other) for step, other in zip(steps, on or steps, strict=True)]
    places: Any = None
    if on is None:
        narrow = np.int32 if len(steps[0].kappas) * steps[0].n_features < 2**31 else np.int64
        places = np.concatenate([np.diff(step.places, prepend=0) for step in steps]).astype(narrow)
    return StepsState(
        n_features=steps[0].n_features,
        statuses=statuses,
        floats=np.array([[getattr(one, name) for one in steps] for name in FLOATS]),
        counts=np.array([*counts, [statuses.index(step.status) for step in steps]]),
        tables=np.array([[getattr(one, name) for one in steps] for name in TABLES]),
        ends=np.cumsum([0, *map(len, values)]),
        values=np.concatenate(values).astype(np.float64 if exact is None else np.float32),
        places=places,
        exact=exact or [],
        exact_values=None if exact is None else np.concatenate([values[i] for i in exact]),
    )


def _values_on(step: PathPoint, other: PathPoint) -> Array:
    """Return the values of a point on the places of another one, which has all of its places."""
    if len(step.places) == len(other.places):
        return step.values
    values = np.zeros(len(other.places))
    values[np.searchsorted(other.places, step.places)] = step.values
    return values


def _load_steps(
    state: StepsState, on: Sequence[PathPoint] | None = None, *, noise: bool
) -> list[PathPoint]:
    """Make the points of a path again; the places of refits are those of their steps."""
    ends, (S, K) = state.ends, state.tables.shape[1:]
    shapes = (state.floats.shape, state.counts.shape, state.tables.shape, ends.shape)
    wanted = ((len(FLOATS), S), (len(COUNTS) + 1, S), (len(TABLES), S, K), (S + 1,))
    if not S or not K or shapes != wanted or state.n_features < 1:
        raise RunError("damaged: a path needs its arrays.")
    if ends[0] != 0 or np.any(np.diff(ends) < K) or ends[-1] != len(state.values):
        raise RunError("damaged: steps do not follow each other.")
    places = _places_of(state, on)
    values = _all_values(state)
    kappas, weights, sizes = state.tables
    _check_positive(kappas)
    _check_weights(weights, noise=noise)
    _check_finite(sizes, state.floats[:-1], values)  # the gap of a failed refit is NaN
    beta, codes = state.floats[0], state.counts[-1]
    if codes.min() < 0 or codes.max() >= len(state.statuses):
        raise RunError("damaged: a step has no status.")
    if np.any(np.diff(beta) <= 0.0) or beta[0] < 0.0:
        raise RunError("damaged: beta does not rise.")
    steps = []
    for i in range(S):
        found, at = values[ends[i] : ends[i + 1]], places[i]
        if on is not None and not found.all():
            found, at = found[found != 0.0], at[found != 0.0]
        known: dict[str, Any] = {
            **{name: float(state.floats[j, i]) for j, name in enumerate(FLOATS)},
            **{name: int(state.counts[j, i]) for j, name in enumerate(COUNTS)},
            **{name: state.tables[j, i] for j, name in enumerate(TABLES)},
            "status": str(state.statuses[codes[i]]),
        }
        step = PathPoint(values=found, places=at, n_features=state.n_features, **known)
        within = at.size and at[0] >= 0 and at[-1] < K * state.n_features
        if np.any(np.diff(at) <= 0) or not within or step.support_sizes.min() < 1:
            raise RunError(f"damaged: coordinates of step {i} out of order.")
        steps.append(step)
    return steps


def _places_of(state: StepsState, on: Sequence[PathPoint] | None) -> list[Any]:
    """Return the places of each point: its own, or those of the step that it was refitted on."""
    ends = state.ends
    if on is None:
        if state.places is None or len(state.places) != len(state.values):
            raise RunError("damaged: steps without their coordinates.")
        pieces = (state.places[start:end] for start, end in pairwise(ends))
        return [np.cumsum(one, dtype=np.int64) for one in pieces]
    places = [step.places for step in on]
    if not np.array_equal(np.diff(ends), [len(at) for at in places]):
        raise RunError("damaged: refits do not lie on the places of their steps.")
    return places


def _all_values(state: StepsState) -> Array:
    """Return the values of all points, those of exact ones in all their digits."""
    values = np.asarray(state.values, dtype=np.float64)
    exact, ends, start = state.exact_values, state.ends, 0
    for i in state.exact if exact is not None else ():
        if not 0 <= i < len(ends) - 1:
            raise RunError("damaged: there is no such step.")
        part = slice(ends[i], ends[i + 1])
        values[part] = exact[start : start + part.stop - part.start]  # type: ignore[index]
        start += part.stop - part.start
    return values


def _dump_fit(fit: Fit[VMFParameters]) -> FitState:
    parameters, resultants = fit.parameters, fit.resultants
    return FitState(
        prototypes=parameters.prototypes,
        kappas=parameters.kappas,
        weights=parameters.weights,
        log_normalizers=parameters.log_normalizers,
        norm=float(parameters.norm),
        mass=resultants.mass,
        vectors=resultants.vectors,
        log_likelihood=float(resultants.log_likelihood),
        entropy=float(resultants.entropy),
        weight=float(resultants.weight),
        objective=float(fit.objective),
        gap=float(fit.gap),
        status=fit.status,
        n_iter=int(fit.n_iter),
    )


def _load_fit(state: FitState, *, noise: bool) -> Fit[VMFParameters]:
    """Make a fit again; of its trace, the end."""
    _check_parameters(state, noise=noise)
    (K, d), n = state.prototypes.shape, len(state.kappas) + noise
    shapes = (state.log_normalizers.shape, state.mass.shape, state.vectors.shape)
    if shapes != ((K,), (n,), (n, d)):
        raise RunError("damaged: sums of another shape than the prototypes.")
    _check_finite(state.log_normalizers, state.mass, state.vectors)
    parameters = VMFParameters(
        state.prototypes, state.kappas, state.weights, state.log_normalizers, state.norm
    )
    sums = (state.mass, state.vectors, state.log_likelihood, state.entropy, state.weight)
    last = (state.objective, state.gap, state.status, state.n_iter)
    return Fit(parameters, Resultants(*sums), *last, trace=[state.objective])


# Trees


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class HierarchyState:
    """A tree: the resultants of its leaves, and who was merged with whom."""

    mass: Array
    vectors: Array
    origins: Ids
    pairs: Ids
    values: Array
    weight: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TreeState:
    """A fitted VMFTree; its cuts are the mixtures of the run."""

    archive_version: ClassVar[int] = 1

    params: dict[str, Any]
    tree: HierarchyState
    second: HierarchyState | None


def dump_tree(tree: VMFTree) -> TreeState:
    """Return the state of a fitted tree without its cuts."""
    second = tree.trees_.second
    return TreeState(
        params=stored_parameters(tree),
        tree=_dump_hierarchy(tree.hierarchy_),
        second=None if second is None else _dump_hierarchy(second),
    )


def load_tree(state: TreeState, cuts: Mapping[int, VMFMixture], n_groups: int) -> VMFTree:
    """Make a fitted tree again, whose cuts are known."""
    tree: VMFTree = _estimator(VMFTree, state.params)
    first, chosen = _load_hierarchy(state.tree), cuts[n_groups]
    second = None if state.second is None else _load_hierarchy(state.second)
    if first.leaves.vectors.shape[1] != chosen.n_features_in_ or max(cuts) > first.n_leaves:
        raise RunError("damaged: the tree is not that of the mixtures.")
    trees = Trees(first, second, cuts.get(first.n_leaves))
    return tree.restore(trees, dict(cuts), n_groups, columns_of(chosen))


def _dump_hierarchy(tree: Hierarchy) -> HierarchyState:
    return HierarchyState(
        mass=tree.leaves.mass,
        vectors=tree.leaves.vectors,
        origins=tree.origins.astype(np.int64),
        pairs=tree.pairs.astype(np.int64),
        values=tree.values,
        weight=float(tree.leaves.weight),
    )


def _load_hierarchy(state: HierarchyState) -> Hierarchy:
    M = len(state.origins)
    check_merges(state.pairs, state.values, M)
    if sorted(state.origins.tolist()) != list(range(M)) or state.vectors.shape[:1] != (M,):
        raise RunError("damaged: not the leaves of a tree.")
    if state.vectors.ndim != 2 or state.mass.shape != (M,):
        raise RunError("damaged: not the leaves of a tree.")
    _check_positive(state.mass)
    _check_finite(state.vectors)
    leaves = Resultants(state.mass, state.vectors, 0.0, 0.0, state.weight)
    origins, pairs = state.origins.astype(np.intp), state.pairs.astype(np.intp)
    return Hierarchy(leaves, origins, pairs.reshape(-1, 2), state.values)


def check_merges(pairs: Any, values: Any, n_leaves: int) -> None:
    """Refuse merges that make no tree: every node but the last is merged once, into a later one."""
    listed = np.asarray(pairs).reshape(-1, 2) if np.size(pairs) % 2 == 0 else np.empty((0, 2))
    whole = np.array_equal(np.sort(listed, axis=None), np.arange(2 * n_leaves - 2))
    early = np.all(listed.max(axis=1, initial=-1) < n_leaves + np.arange(len(listed)))
    if not (n_leaves and whole and early and np.shape(values) == (n_leaves,)):
        raise RunError("damaged: merges that make no tree.")


# Checks


def _check_parameters(state: Any, *, noise: bool) -> None:
    """Refuse parameters that no mixture has."""
    prototypes = state.prototypes
    if prototypes.ndim != 2 or 0 in prototypes.shape:
        raise RunError("damaged: prototypes of another shape.")
    if not np.abs(np.linalg.norm(prototypes, axis=1) - 1.0).max() <= UNIT:
        raise RunError("damaged: prototypes are not of length one.")
    if {state.kappas.shape, state.weights.shape} != {prototypes.shape[:1]}:
        raise RunError("damaged: parameters of another number of groups.")
    _check_positive(state.kappas)
    _check_weights(state.weights, noise=noise)


def _check_finite(*arrays: Array) -> None:
    if not all(np.isfinite(one).all() for one in arrays):
        raise RunError("damaged: values that are not finite.")


def _check_positive(values: Array) -> None:
    if values.size and not (values.min() > 0.0 and np.isfinite(values).all()):
        raise RunError("damaged: values must be above zero.")


def _check_weights(weights: Array, *, noise: bool) -> None:
    """Refuse rows that do not sum to one, or to less where there is noise."""
    _check_positive(weights)
    beyond = weights.sum(axis=-1) - 1.0
    if (beyond.max() if noise else np.abs(beyond).max()) > UNIT:
        raise RunError("damaged: weights do not sum to one.")


def check_labels(labels: Any, n_components: int, *, noise: bool = False) -> None:
    """Refuse numbers of components out of their range; -1 is for noise."""
    least = -1 if noise else 0
    if labels.ndim != 1 or (
        labels.size and not least <= labels.min() <= labels.max() < n_components
    ):
        raise RunError(f"damaged: labels out of {least}..{n_components - 1}.")


CODECS[VMFMixture] = Codec(MixtureState, dump_mixture, load_mixture)

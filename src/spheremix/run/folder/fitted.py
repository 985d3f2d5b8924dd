"""Fitted estimators as dataclasses that the archive stores, and back: the same bits.

Fits, resultants and trees are stored as they are; what an estimator adds to them are its
parameters. What comes out of a file is checked before an estimator is made of it: lengths and sums
that must be one, labels within their range, steps that follow each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, cast, get_args

import numpy as np
from numpy.typing import NDArray

from spheremix.data.base import Engine
from spheremix.data.engines import resolve_threads
from spheremix.em import Fit  # noqa: TC001 (types are read when decoding)
from spheremix.estimators.cuts import Trees
from spheremix.estimators.fitted import FitSummary, FittedMixture, columns_of
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.path import VMFPath, set_path_attributes
from spheremix.estimators.problem import build_model
from spheremix.estimators.restarts import Restart
from spheremix.estimators.tree import VMFTree
from spheremix.estimators.views import build_views_model
from spheremix.hierarchy import Hierarchy  # noqa: TC001
from spheremix.models.vmf import VMFParameters  # noqa: TC001
from spheremix.path import PathPoint, PathState
from spheremix.resultants import Resultants
from spheremix.run.folder.archive import CODECS, NAMES, Codec
from spheremix.run.folder.files import require
from spheremix.select import CRITERIA
from spheremix.views import Views

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from spheremix.models.vmf import VMFModel

NAMES |= {"Resultants": Resultants, "Restart": Restart}
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
        require(
            name in known and name not in UNSTORED,
            f"{name[:60]!r} is no parameter of {kind.__name__}",
        )
    require(params.get("engine", "auto") in get_args(Engine), "there is no such engine")
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

    archive_version: ClassVar[int] = 2

    params: dict[str, Any]
    prototypes: Array
    kappas: Array
    weights: Array
    labels: Ids | None
    kappa_max: float  # of several views the largest; each is found again
    noise_level: float | None
    summary: FitSummary
    views: dict[str, int] | None = None  # columns of each, where there are several


def dump_mixture(mixture: VMFMixture) -> MixtureState:
    """Return the state of a fitted mixture."""
    labels = getattr(mixture, "labels_", None)
    summary = {one.name: getattr(mixture, f"{one.name}_") for one in fields(FitSummary)}
    return MixtureState(
        params=stored_parameters(mixture),
        prototypes=mixture.prototypes_,
        kappas=mixture.kappas_,
        weights=mixture.weights_,
        labels=None if labels is None else labels.astype(np.int64),
        kappa_max=float(np.max(mixture.kappa_max_)),
        noise_level=_level_of(mixture.model_),
        summary=FitSummary(**summary),
        views=_views_of(mixture.model_),
    )


def _views_of(model: Any) -> dict[str, int] | None:
    """Return the columns of each view of a model; None where there is one view."""
    views = getattr(model, "views", None)
    return None if views is None else dict(zip(views.names, views.sizes, strict=True))


def _columns(d: int, views: dict[str, int] | None) -> dict[str, Any]:
    """Return what an estimator remembers of its columns."""
    return {"n_features_in_": d} | ({} if views is None else {"views_in_": dict(views)})


def load_mixture(state: MixtureState) -> VMFMixture:
    """Make a fitted mixture again."""
    mixture: VMFMixture = _estimator(VMFMixture, state.params)
    noise, labels = state.noise_level is not None, state.labels
    _check_parameters(state, noise=noise, views=state.views)
    K, d = state.prototypes.shape
    if labels is not None:
        check_labels(labels, K, noise=noise)
    # A run that was saved before a criterion existed does not have its value.
    criteria = {name: state.summary.criteria.get(name, np.nan) for name in CRITERIA}
    FittedMixture(
        _model_of(MixtureOptions.of(mixture), state, d),
        state.prototypes,
        state.kappas,
        state.weights,
        _columns(d, state.views),
        replace(state.summary, criteria=criteria),
        None if labels is None else labels.astype(np.intp),
    ).set_on(mixture)
    return mixture


def _level_of(model: VMFModel) -> float | None:
    """Return the level of the noise of a model."""
    return None if model.noise is None else float(model.noise.level)


def _model_of(options: Any, state: MixtureState | PathStored, n_features: int) -> VMFModel:
    """Return the model that an estimator's parameters stand for, with what was in force."""
    if state.views is not None:
        sizes = tuple(state.views.values())
        require(sum(sizes) == n_features and min(sizes) > 0, "views of another number of columns")
        views = Views(tuple(state.views), sizes)
        found: Any = build_views_model(options, views, resolve_threads(None), build_model)
        return cast("VMFModel", found)
    model = build_model(options, n_features, resolve_threads(None))
    known = (model.noise is None) == (state.noise_level is None)
    require(known, "noise without a level, or a level without")
    if model.noise is not None and state.noise_level is not None:
        model = replace(model, noise=replace(model.noise, level=state.noise_level))
    return replace(model, kappa_max=state.kappa_max)


# Paths


FLOATS = ("beta", "log_likelihood", "entropy", "weight", "objective", "gap")
COUNTS = ("n_iter", "n_distinct", "n_converged")
TABLES = ("kappas", "weights", "sizes")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StepsState:
    """The points of a path, column by column.

    An exploration keeps the values of steps that no criterion chooses to four digits, as changes
    from step to step; the others are ``exact``, with their values in ``exact_values``. Places are
    stored as differences.
    """

    archive_version: ClassVar[int] = 2

    n_features: int
    statuses: list[str]
    floats: Array  # (FLOATS, S)
    counts: Ids  # (COUNTS and status, S)
    tables: Array  # (TABLES, S, K), with concentrations for each view
    ends: Ids
    values: Any
    places: Ids | None  # None where the points lie on those of others
    exact: list[int] = field(default_factory=list)
    exact_values: Array | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PathStored:
    """A followed path, without what was chosen on it: where it can go on with the same bits."""

    archive_version: ClassVar[int] = 2

    params: dict[str, Any]
    steps: StepsState
    dense: Fit[VMFParameters]
    fit: Fit[VMFParameters]
    refits: StepsState | None
    refit: Fit[VMFParameters] | None
    n_inserted: int
    status: str
    kappa_max: float
    noise_level: float | None
    runs: list[Restart] = field(default_factory=list)
    agreement: float = float("nan")
    views: dict[str, int] | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PathChoice:
    """What was chosen on a path: by which parameters, and the labels of the chosen mixture."""

    archive_version: ClassVar[int] = 1

    params: dict[str, Any]
    labels: Ids
    noise_level: float | None


def dump_path(path: VMFPath, *, small: bool = False) -> PathStored:
    """Return the state of a followed path, without what was chosen on it.

    With ``small``, steps that no criterion chooses are kept to four digits.
    """
    exact = sorted({path.select(name) for name in CRITERIA}) if small else None
    params = {name: v for name, v in stored_parameters(path).items() if name not in CHOSEN_BY}
    stored = dump_state(path.state_, params, path.status_, exact)
    return replace(stored, runs=list(path.runs_), agreement=float(path.agreement_))


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
        dense=_without_trace(state.dense),
        fit=_without_trace(state.fit),
        refits=_dump_steps(state.refits, state.steps, exact) if state.relaxed else None,
        refit=None if state.refit is None else _without_trace(state.refit),
        n_inserted=state.n_inserted,
        status=status,
        kappa_max=float(np.max(state.model.kappa_max)),
        noise_level=_level_of(state.model),
        views=_views_of(state.model),
    )


def load_state(stored: PathStored, model: VMFModel) -> PathState:
    """Make the state of a path again, to go on from it."""
    noise, views = stored.noise_level is not None, stored.views
    dense = () if views is None else model.dense_columns
    steps = _load_steps(stored.steps, noise=noise, dense=dense)
    shape = (len(steps[0].kappas), steps[0].n_features)
    for fit in (stored.dense, stored.fit, stored.refit or stored.fit):
        _check_fit(fit, shape, noise=noise, views=views)
    return PathState(
        model,
        steps,
        stored.dense,
        stored.fit,
        stored.n_inserted,
        stored.status,
        []
        if stored.refits is None
        else _load_steps(stored.refits, steps, noise=noise, dense=dense),
        stored.refit,
    )


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
    relaxed = {path.relaxed, stored.refits is not None, stored.refit is not None}
    require(len(relaxed) == 1, "refits belong to a relaxed path")
    d = stored.steps.n_features
    state = load_state(stored, _model_of(MixtureOptions.of(path).along_path(), stored, d))
    if choice is not None:
        noise = stored.noise_level is not None
        check_labels(choice.labels, len(state.steps[0].kappas), noise=noise)
        known = (choice.noise_level, choice.labels.astype(np.intp))
        label = lambda *_: known  # noqa: E731
    require(label is not None, "nothing was chosen on the path")
    columns = _columns(d, stored.views)
    set_path_attributes(path, state, stored.runs, stored.agreement, columns, label)  # type: ignore[arg-type]
    return path


def _dump_steps(
    steps: Sequence[PathPoint], on: Sequence[PathPoint] | None, exact: list[int] | None
) -> StepsState:
    """Return the points of a path as columns; refits lie on the places of their steps."""
    statuses = sorted({step.status for step in steps})
    counts = [[getattr(one, name) for one in steps] for name in COUNTS]
    values = [_values_on(step, other) for step, other in zip(steps, on or steps, strict=True)]
    followed = [step.places for step in on or steps]
    places: Any = None
    if on is None:
        narrow = np.int32 if len(steps[0].kappas) * steps[0].n_features < 2**31 else np.int64
        places = np.concatenate([np.diff(step.places, prepend=0) for step in steps]).astype(narrow)
    return StepsState(
        n_features=steps[0].n_features,
        statuses=statuses,
        floats=np.array([[getattr(one, name) for one in steps] for name in FLOATS]),
        counts=np.array([*counts, [statuses.index(step.status) for step in steps]]),
        tables=np.concatenate(
            [_as_tables([getattr(one, name) for one in steps]) for name in TABLES]
        ),
        ends=np.cumsum([0, *map(len, values)]),
        values=np.concatenate(values) if exact is None else as_changes(values, followed),
        places=places,
        exact=exact or [],
        exact_values=None if exact is None else np.concatenate([values[i] for i in exact]),
    )


def _as_tables(values: list[Array]) -> Array:
    """Return values of each step and component as a table, or one for each view."""
    found = np.array(values)
    return found[None] if found.ndim == 2 else np.moveaxis(found, 2, 0)


def _values_on(step: PathPoint, other: PathPoint) -> Array:
    """Return the values of a point on the places of another one, which has all of its places."""
    if len(step.places) == len(other.places):
        return step.values
    values = np.zeros(len(other.places))
    values[np.searchsorted(other.places, step.places)] = step.values
    return values


def _load_steps(
    state: StepsState,
    on: Sequence[PathPoint] | None = None,
    *,
    noise: bool,
    dense: tuple[slice, ...] = (),
) -> list[PathPoint]:
    """Make the points of a path again; the places of refits are those of their steps."""
    ends, (S, K) = state.ends, state.tables.shape[1:]
    n_views = len(state.tables) - len(TABLES) + 1  # each has concentrations
    shapes = (state.floats.shape, state.counts.shape, ends.shape)
    wanted = ((len(FLOATS), S), (len(COUNTS) + 1, S), (S + 1,))
    require(
        n_views >= 1 and S and K and shapes == wanted and state.n_features >= 1,
        "a path needs its arrays",
    )
    whole = ends[0] == 0 and np.all(np.diff(ends) >= K) and ends[-1] == state.values.shape[-1]
    require(whole, "steps do not follow each other")
    places = _places_of(state, on)
    values = _all_values(state, places)
    *kappas, weights, sizes = state.tables
    _check_positive(np.array(kappas))
    of_steps = {
        "kappas": kappas[0] if n_views == 1 else np.stack(kappas, axis=2),
        "weights": weights,
        "sizes": sizes,
    }
    _check_weights(weights, noise=noise)
    _check_finite(sizes, state.floats[:-1], values)  # the gap of a failed refit is NaN
    beta, codes = state.floats[0], state.counts[-1]
    require(codes.min() >= 0 and codes.max() < len(state.statuses), "a step has no status")
    require(np.all(np.diff(beta) > 0.0) and beta[0] >= 0.0, "beta does not rise")
    steps = []
    for i in range(S):
        found, at = values[ends[i] : ends[i + 1]], places[i]
        if on is not None and not found.all():
            found, at = found[found != 0.0], at[found != 0.0]
        known: dict[str, Any] = {
            **{name: float(state.floats[j, i]) for j, name in enumerate(FLOATS)},
            **{name: int(state.counts[j, i]) for j, name in enumerate(COUNTS)},
            **{name: of_steps[name][i] for name in TABLES},
            "dense": dense,
            "status": str(state.statuses[codes[i]]),
        }
        step = PathPoint(values=found, places=at, n_features=state.n_features, **known)
        within = at.size and at[0] >= 0 and at[-1] < K * state.n_features
        ordered = np.all(np.diff(at) > 0) and within and step.support_sizes.min() >= 1
        require(ordered, f"coordinates of step {i} out of order")
        steps.append(step)
    return steps


def _places_of(state: StepsState, on: Sequence[PathPoint] | None) -> list[Any]:
    """Return the places of each point: its own, or those of the step that it was refitted on."""
    ends = state.ends
    if on is None:
        whole = state.places is not None and len(state.places) == ends[-1]
        require(whole, "steps without their coordinates")
        pieces = (state.places[start:end] for start, end in pairwise(ends))  # type: ignore[index]
        return [np.cumsum(one, dtype=np.int64) for one in pieces]
    places = [step.places for step in on]
    same = np.array_equal(np.diff(ends), [len(at) for at in places])
    require(same, "refits do not lie on the places of their steps")
    return places


def _all_values(state: StepsState, places: list[Any]) -> Array:
    """Return the values of all points, those of exact ones in all their digits."""
    if state.exact_values is None:
        return np.asarray(state.values, dtype=np.float64)
    values = from_changes(state.values, places)
    exact, ends, start = state.exact_values, state.ends, 0
    for i in state.exact:
        require(0 <= i < len(ends) - 1, "there is no such step")
        part = slice(ends[i], ends[i + 1])
        values[part] = exact[start : start + part.stop - part.start]
        start += part.stop - part.start
    return values


BITS = 11  # of the 23 binary digits of a single number that are left out
BYTES = 3  # of a change


def as_changes(values: list[Array], places: list[Any]) -> NDArray[np.uint8]:
    """Return the values of points to four digits, as changes from point to point.

    A number of single precision without its last digits is an integer that grows as it does, in
    equal steps of its logarithm, about. Those of coordinates that stay hardly change from point to
    point; the bytes of the changes, first all the low ones, then all the next ones, pack well.
    """
    changes, before = [], _none_before()
    for found, at in zip(values, places, strict=True):
        bits = found.astype(np.float32).view(np.int32).astype(np.int64)
        codes = (bits + (1 << (BITS - 1))) >> BITS
        changes.append(codes - _codes_at(before, at))
        before = at, codes
    change = np.concatenate(changes)
    unsigned = ((change << 1) ^ (change >> 63)).astype("<u4")  # 0, -1, 1, -2, ...
    return np.ascontiguousarray(unsigned.view(np.uint8).reshape(-1, 4).T[:BYTES])


def from_changes(stored: Any, places: list[Any]) -> Array:
    """Return the values of points from their changes."""
    require(stored.dtype == np.uint8 and stored.shape[0] == BYTES, "values without their changes")
    unsigned = sum(part.astype(np.int64) << (8 * i) for i, part in enumerate(stored))
    change = (unsigned >> 1) ^ -(unsigned & 1)
    found, before, start = [], _none_before(), 0
    for at in places:
        codes = change[start : start + len(at)] + _codes_at(before, at)
        found.append((codes << BITS).astype(np.int32).view(np.float32).astype(np.float64))
        before, start = (at, codes), start + len(at)
    return np.concatenate(found)


def _none_before() -> tuple[Ids, Ids]:
    return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)


def _codes_at(before: tuple[Ids, Ids], at: Ids) -> Ids:
    """Return the codes that the point before has at some places, and 0 where it has none."""
    places, codes = before
    if not len(places):
        return np.zeros(len(at), dtype=np.int64)
    nearest = np.minimum(np.searchsorted(places, at), len(places) - 1)
    return np.where(places[nearest] == at, codes[nearest], 0)


def _without_trace(fit: Fit[VMFParameters]) -> Fit[VMFParameters]:
    """Return a fit with the end of its trace alone: nothing that goes on from it needs more."""
    return replace(fit, trace=[fit.objective])


# Trees


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TreeState:
    """A fitted VMFTree; its cuts are the mixtures of the run."""

    archive_version: ClassVar[int] = 2

    params: dict[str, Any]
    tree: Hierarchy
    second: Hierarchy | None


def dump_tree(tree: VMFTree) -> TreeState:
    """Return the state of a fitted tree without its cuts."""
    params = stored_parameters(tree)
    return TreeState(params=params, tree=tree.hierarchy_, second=tree.trees_.second)


def load_tree(state: TreeState, cuts: Mapping[int, VMFMixture], n_groups: int) -> VMFTree:
    """Make a fitted tree again, whose cuts are known."""
    tree: VMFTree = _estimator(VMFTree, state.params)
    first, second, chosen = state.tree, state.second, cuts[n_groups]
    for one in (first, second or first):
        M, leaves = len(one.origins), one.leaves
        check_merges(one.pairs, one.values, M)
        shaped = leaves.vectors.shape == (M, chosen.n_features_in_) and leaves.mass.shape == (M,)
        require(shaped and max(cuts) <= M, "the tree is not that of the mixtures")
        require(sorted(one.origins.tolist()) == list(range(M)), "not the leaves of a tree")
        _check_positive(leaves.mass)
        _check_finite(leaves.vectors)
    trees = Trees(first, second, cuts.get(first.n_leaves))
    return tree.restore(trees, dict(cuts), n_groups, columns_of(chosen))


def check_merges(pairs: Any, values: Any, n_leaves: int) -> None:
    """Refuse merges that make no tree: every node but the last is merged once, into a later one."""
    nodes = np.sort(pairs, axis=None)
    sound = n_leaves and np.array_equal(nodes, np.arange(2 * n_leaves - 2))
    require(sound and np.shape(values) == (n_leaves,), "merges that make no tree")
    last = np.reshape(pairs, (-1, 2)).max(axis=1, initial=-1)
    require(np.all(last < n_leaves + np.arange(len(last))), "merges that make no tree")


# Checks


def _check_parameters(state: Any, *, noise: bool, views: dict[str, int] | None = None) -> None:
    """Refuse parameters that no mixture has."""
    prototypes = state.prototypes
    require(prototypes.ndim == 2 and 0 not in prototypes.shape, "prototypes of another shape")
    K, d = prototypes.shape
    ends = [0, d] if views is None else [0, *np.cumsum(list(views.values())).tolist()]
    require(ends[-1] == d, "views of another number of columns")
    for start, end in pairwise(ends):
        lengths = np.linalg.norm(prototypes[:, start:end], axis=1)
        require(np.abs(lengths - 1.0).max() <= UNIT, "prototypes are not of length one")
    each = (K,) if views is None else (K, len(views))
    same = state.kappas.shape == each and state.weights.shape == (K,)
    require(same, "parameters of another number of groups")
    _check_positive(state.kappas)
    _check_weights(state.weights, noise=noise)


def _check_fit(
    fit: Fit[VMFParameters],
    shape: tuple[int, int],
    *,
    noise: bool,
    views: dict[str, int] | None = None,
) -> None:
    """Refuse a fit that is not one of so many components and columns."""
    found, sums, (K, d) = fit.parameters, fit.resultants, shape
    _check_parameters(found, noise=noise, views=views)
    require(found.prototypes.shape == shape, "steps and fits differ in shape")
    shapes = (found.log_normalizers.shape, sums.mass.shape, sums.vectors.shape)
    absences = 0 if views is None else len(views)
    same = shapes == (found.kappas.shape, (K + noise,), (K + noise, d + absences))
    require(same, "sums of another shape than the prototypes")
    _check_finite(found.log_normalizers, sums.mass, sums.vectors)


def _check_finite(*arrays: Array) -> None:
    require(all(np.isfinite(one).all() for one in arrays), "values that are not finite")


def _check_positive(values: Array) -> None:
    sound = not values.size or (values.min() > 0.0 and np.isfinite(values).all())
    require(sound, "values must be above zero")


def _check_weights(weights: Array, *, noise: bool) -> None:
    """Refuse rows that do not sum to one, or to less where there is noise."""
    _check_positive(weights)
    beyond = weights.sum(axis=-1) - 1.0
    most = beyond.max() if noise else np.abs(beyond).max()
    require(most <= UNIT, "weights do not sum to one")


def check_labels(labels: Any, n_components: int, *, noise: bool = False) -> None:
    """Refuse numbers of components out of their range; -1 is for noise."""
    least = -1 if noise else 0
    ends = (labels.min(initial=least), labels.max(initial=least))
    sound = labels.ndim == 1 and least <= ends[0] <= ends[1] < n_components
    require(sound, f"labels out of {least}..{n_components - 1}")


CODECS[VMFMixture] = Codec(MixtureState, dump_mixture, load_mixture)

"""Fitted paths as arrays and a description, and back: the same bits."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from spheremix.estimators.fitted import set_path_attributes
from spheremix.estimators.path import VMFPath
from spheremix.path import PathPoint, PathState
from spheremix.run.codecs import (
    check_labels,
    check_positive,
    check_weights,
    level_of,
    model_of,
    pack_fit,
    pack_params,
    unpack_fit,
    unpack_params,
)
from spheremix.run.schema import PathRecord, StepsRecord
from spheremix.run.store import RunError, blocks
from spheremix.run.typed import FileName

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from spheremix.estimators.mixture import VMFMixture
    from spheremix.run.store import Reader
    from spheremix.run.writer import Writer

FLOATS = ("beta", "log_likelihood", "entropy", "weight", "objective", "gap")
COUNTS = ("n_iter", "n_distinct", "n_converged")
TABLES = ("kappas", "weights", "sizes")
CHOSEN_BY = ("criterion", "max_noise")  # parameters of a path that only choose on it


def pack_steps(
    steps: Sequence[PathPoint],
    writer: Writer,
    prefix: str,
    on: Sequence[PathPoint] | None = None,
) -> StepsRecord:
    """Write the points of a path; give their description.

    Refits lie on the places of their steps, which are stored with the steps.
    """
    K, d = len(steps[0].kappas), steps[0].n_features
    narrow = np.int32 if K * d < 2**31 else np.int64
    ends = np.cumsum([0, *(step.n_nonzero for step in on or steps)])
    statuses = sorted({step.status for step in steps})
    total = (int(ends[-1]),)
    arrays: dict[str, Any] = {
        **{name: [getattr(one, name) for one in steps] for name in (*FLOATS, *COUNTS, *TABLES)},
        "status": [statuses.index(step.status) for step in steps],
        "ends": ends,
    }
    names = {name: writer.array(f"{prefix}/{name}.npy", array) for name, array in arrays.items()}
    values = (_values_on(step, one) for step, one in zip(steps, on or steps, strict=True))
    names["values"] = writer.stream(f"{prefix}/values.npy", values, np.float64, total)
    if on is None:
        places = (step.places for step in steps)
        names["places"] = writer.stream(f"{prefix}/places.npy", places, narrow, total)
    return StepsRecord(
        files={name: FileName(file) for name, file in names.items()},
        statuses=statuses,
        n_steps=len(steps),
        n_components=K,
        n_features=d,
    )


def _values_on(step: PathPoint, other: PathPoint) -> NDArray[np.float64]:
    """Return the values of a point on the places of another one, which has all of its places."""
    if len(step.places) == len(other.places):
        return step.values
    values = np.zeros(len(other.places))
    values[np.searchsorted(other.places, step.places)] = step.values
    return values


def unpack_steps(
    record: StepsRecord,
    reader: Reader,
    on: Sequence[PathPoint] | None = None,
    *,
    noise: bool = False,
) -> list[PathPoint]:
    """Read the points of a path; their prototypes stay on the disk until they are asked for.

    The places of refits are those of their steps, but for values that are zero.
    """
    S, K, d = record.n_steps, record.n_components, record.n_features
    where = reader.folder
    wanted = {*FLOATS, *COUNTS, *TABLES, "status", "ends", "values"}
    missing = (wanted | {"places"} if on is None else wanted) - set(record.files)
    if not S or not K or missing:
        raise RunError(f"{where}: damaged: a path needs its arrays {', '.join(sorted(missing))}.")
    names = record.files
    ends = reader.array(names["ends"], (S + 1,), "i")
    if ends[0] != 0 or np.any(np.diff(ends) < K):
        raise RunError(f"{where}: damaged: steps do not follow each other.")
    values = reader.array(names["values"], (int(ends[-1]),), mapped=True)
    if on is None:
        places = _read_places(record, reader, ends)
    else:
        places = [step.places for step in on]
        same = (K, d) == (len(on[0].kappas), on[0].n_features)
        if not same or not np.array_equal(np.diff(ends), [len(at) for at in places]):
            raise RunError(f"{where}: damaged: refits do not lie on the places of their steps.")
    columns: dict[str, NDArray[Any]] = {
        # The gap of a refit that failed is NaN.
        **{name: reader.array(names[name], (S,), finite=name != "gap") for name in FLOATS},
        **{name: reader.array(names[name], (S,), "i") for name in (*COUNTS, "status")},
        "kappas": check_positive(reader, names["kappas"], (S, K)),
        "weights": check_weights(reader, names["weights"], (S, K), noise=noise),
        "sizes": reader.array(names["sizes"], (S, K)),
    }
    statuses, codes = record.statuses, columns["status"]
    if codes.min() < 0 or codes.max() >= len(statuses):
        raise RunError(f"{where}: damaged: a step has no status.")
    if np.any(np.diff(columns["beta"]) <= 0.0) or columns["beta"][0] < 0.0:
        raise RunError(f"{where}: damaged: beta does not rise.")
    steps = []
    for i in range(S):
        known: dict[str, Any] = {
            **{name: float(columns[name][i]) for name in FLOATS},
            **{name: int(columns[name][i]) for name in COUNTS},
            **{name: columns[name][i] for name in TABLES},
            "status": str(statuses[codes[i]]),
        }
        found, at = values[int(ends[i]) : int(ends[i + 1])], places[i]
        if on is not None and not found.all():
            found, at = found[found != 0.0], at[found != 0.0]
        step = PathPoint(values=found, places=at, n_features=d, **known)
        if np.any(np.diff(step.places) <= 0) or step.support_sizes.min() < 1:
            raise RunError(f"{where}: damaged: coordinates of step {i} out of order.")
        steps.append(step)
    return steps


def _read_places(
    record: StepsRecord, reader: Reader, ends: NDArray[np.integer]
) -> list[NDArray[np.int64]]:
    """Return the places of each step; they stay on the disk."""
    places = reader.array(record.files["places"], (int(ends[-1]),), "i", mapped=True)
    size = record.n_components * record.n_features
    if any(part.min() < 0 or part.max() >= size for part in blocks(places)):
        raise RunError(f"{reader.folder}: damaged: coordinates beyond the prototypes.")
    return [places[start:end] for start, end in pairwise(ends)]


def pack_path(path: VMFPath, writer: Writer, prefix: str) -> PathRecord:
    """Write a fitted path and what was chosen on it; give its description."""
    return add_choice(path, pack_followed(path, writer, prefix), writer, prefix)


def add_choice(path: VMFPath, record: PathRecord, writer: Writer, prefix: str) -> PathRecord:
    """Write the labels of the mixture that was chosen; give the description with the choice."""
    labels = path.best_estimator_.labels_.astype(np.int64)
    return replace(
        record,
        params={**record.params, **{name: getattr(path, name) for name in CHOSEN_BY}},
        labels=FileName(writer.array(f"{prefix}/labels.npy", labels)),
        chosen_noise_level=path.state_.noise_level,
    )


def pack_followed(path: VMFPath, writer: Writer, prefix: str) -> PathRecord:
    """Write a fitted path without what was chosen on it; give its description."""
    state, params = path.state_, pack_params(path, writer, prefix)
    return PathRecord(
        params={name: value for name, value in params.items() if name not in CHOSEN_BY},
        steps=pack_steps(state.steps, writer, prefix),
        dense=pack_fit(state.dense, writer, f"{prefix}/dense"),
        last=pack_fit(state.fit, writer, f"{prefix}/last"),
        refits=pack_steps(state.refits, writer, f"{prefix}/refits", state.steps)
        if state.relaxed
        else None,
        last_refit=None
        if state.refit is None
        else pack_fit(state.refit, writer, f"{prefix}/last_refit"),
        n_inserted=state.n_inserted,
        status=path.status_,
        kappa_max=float(path.kappa_max_),
        noise_level=level_of(state.model),
        runs=path.runs_,
        agreement=float(path.agreement_),
    )


def unpack_path(
    record: PathRecord,
    reader: Reader,
    dense: Mapping[int, VMFMixture],
    label: Callable[[VMFMixture, VMFMixture], tuple[float | None, NDArray[np.intp]]] | None = None,
) -> VMFPath:
    """Read a fitted path, ready to predict and, with ``warm_start``, to go on.

    ``label`` gives the labels of the chosen mixture; by default they are read.
    """
    path: VMFPath = unpack_params(VMFPath, record.params, reader, dense)
    noise = record.noise_level is not None
    steps = unpack_steps(record.steps, reader, noise=noise)
    shape = (len(steps[0].kappas), steps[0].n_features)
    if len({path.relaxed, record.refits is not None, record.last_refit is not None}) > 1:
        raise RunError(f"{reader.folder}: damaged: refits belong to a relaxed path.")
    state = PathState(
        model_of(path, record, shape[1], reader),
        steps,
        unpack_fit(record.dense, reader),
        unpack_fit(record.last, reader),
        record.n_inserted,
        record.status,
        [] if record.refits is None else unpack_steps(record.refits, reader, steps, noise=noise),
        None if record.last_refit is None else unpack_fit(record.last_refit, reader),
    )
    fits = (state.dense, state.fit, state.refit or state.fit)
    if {fit.parameters.prototypes.shape for fit in fits} != {shape}:
        raise RunError(f"{reader.folder}: damaged: steps and fits differ in shape.")
    columns = {"n_features_in_": shape[1]}
    if label is None:
        labels = check_labels(reader, str(record.labels), shape[0], noise=noise)
        label = lambda *_: (record.chosen_noise_level, labels)  # noqa: E731
    set_path_attributes(path, state, record.runs, record.agreement, columns, label)
    return path

"""The stages of an exploration, each of which can be taken up where a killed run left it.

What a stage leaves depends on its input alone: not on where a run was interrupted, nor on how
often. Mixtures of one size are fitted together and apart from others, since runs that share sweeps
agree with single ones to 1e-10 only; a path goes on from parameters and resultants that were stored
as they were.
"""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from spheremix.data.open import as_directions
from spheremix.errors import Explained, Message
from spheremix.estimators.fitted import set_fitted
from spheremix.estimators.path import label_chosen
from spheremix.estimators.problem import NoFitError
from spheremix.estimators.strategies import PathProgress
from spheremix.path import PathState
from spheremix.run.codecs import pack_fit, pack_mixture, unpack_fit, unpack_mixture
from spheremix.run.files import MIXTURES, PATH
from spheremix.run.keys import dense_mixture, sparse_path
from spheremix.run.pace import path_behind
from spheremix.run.path_codecs import (
    CHOSEN_BY,
    pack_followed,
    pack_steps,
    unpack_path,
    unpack_steps,
)
from spheremix.run.schema import DenseRecord, FitRecord, PathRecord, StepsRecord
from spheremix.run.starting import complete_labels
from spheremix.run.store import RunError
from spheremix.wording import count as counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from spheremix.em import Fit
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.path import VMFPath
    from spheremix.models.vmf import VMFModel, VMFParameters
    from spheremix.path_points import PathPoint
    from spheremix.run.folder import RunFolder
    from spheremix.run.keys import Keys
    from spheremix.run.listener import Listener
    from spheremix.run.options import ExploreOptions
    from spheremix.run.prepare import Material
    from spheremix.run.store import Reader


# Dense mixtures


def fit_dense(
    folder: RunFolder,
    material: Material,
    candidates: list[int],
    options: ExploreOptions,
    keys: Keys,
    listener: Listener,
) -> tuple[dict[int, VMFMixture], list[Message]]:
    """Fit a mixture without penalty for each number of clusters; give them and the failures."""
    directions = as_directions(material.X, n_threads=options.threads)
    missing = [K for K in candidates if folder.key(f"dense-{K}") != keys.dense(K)]
    total, done = float(sum(missing) or 1), 0.0
    found: dict[int, VMFMixture] = {}
    notes = []
    if missing:
        starts = counted(options.starts, "run")
        listener.begin(f"Fitting {name_candidates(missing)}, {starts} each")
    for K in candidates:
        share = (done / total, K / total)
        key = keys.dense(K)
        estimator = partial(_dense, folder, material, K, options, keys)
        make = partial(_fit_one, folder, key, K, directions, estimator, listener, share)
        mixture, said = folder.stage(f"dense-{K}", key, DenseRecord, make, _read_one)
        notes += said
        if mixture is not None:
            found[K] = mixture
        if K in missing:
            done += K
            listener.update(done / total, f"K = {K}")
    if not found:
        for K in candidates:
            folder.forget(f"dense-{K}")
        raise NoFitError(notes[-1])
    return found, notes


def _dense(
    folder: RunFolder, material: Material, K: int, options: ExploreOptions, keys: Keys
) -> VMFMixture:
    """Return the mixture that is to be fitted, with the groups that it starts from, if any."""
    found = dense_mixture(K, options)
    if keys.start is None:
        return found
    if folder.start is None:
        raise RunError(
            f"{folder.folder}: damaged: the groups are missing. Make the update again in another "
            "folder."
        )
    found.set_params(init=complete_labels(folder.start[material.kept], material.X))
    return found


def _fit_one(
    folder: RunFolder,
    key: str,
    K: int,
    directions: Any,
    estimator: Callable[[], VMFMixture],
    listener: Listener,
    share: tuple[float, float],
) -> None:
    def follow(state: Any) -> None:
        # Half of the runs have converged when half of the work is done, or more.
        part = 1.0 - state.n_running / state.n_runs
        passes = counted(state.n_sweeps, "pass", "passes")
        listener.update(share[0] + share[1] * part, f"K = {K}, {passes} over the documents")

    mixture = estimator().set_params(callback=follow)
    writer = folder.writer()
    notes: list[Warning | Exception | str] = []
    packed = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            mixture.fit(directions)
            packed = pack_mixture(mixture, writer, f"{MIXTURES}/{K}")
        except NoFitError as error:
            notes.append(error)
    notes += [one.message for one in caught]
    said = [about_candidate(K, note) for note in notes]
    folder.commit(f"dense-{K}", key, writer, DenseRecord(mixture=packed, notes=said))


def about_candidate(K: int, note: Warning | Exception | str) -> Message:
    """Say of which number of clusters a note speaks, where it does not say so itself."""
    if isinstance(note, Explained):
        if "K" in note.message.values:
            return note.message
        return replace(note.message, text=f"With {K} clusters: {note.message.text}")
    return Message("With {K} clusters: {note}", {"K": str(K), "note": str(note)})


def _read_one(record: DenseRecord, reader: Reader) -> tuple[VMFMixture | None, list[Message]]:
    mixture = None if record.mixture is None else unpack_mixture(record.mixture, reader)
    return mixture, record.notes


def name_candidates(candidates: list[int]) -> str:
    """Say which numbers of clusters are tried: a range by its ends, others one by one."""
    if len(candidates) == 1:
        return counted(candidates[0], "cluster")
    if candidates[-1] - candidates[0] == len(candidates) - 1:
        return f"{candidates[0]} to {candidates[-1]} clusters"
    return f"{', '.join(map(str, candidates[:-1]))} and {candidates[-1]} clusters"


# The path


def follow_path(
    folder: RunFolder,
    X: Any,
    dense: dict[int, VMFMixture],
    K: int,
    options: ExploreOptions,
    keys: Keys,
    listener: Listener,
) -> VMFPath:
    """Follow the path from a dense mixture, leaving checkpoints on the way, and choose on it."""
    directions, key = as_directions(X, n_threads=options.threads), keys.path(K)

    def make() -> None:
        checkpoints = Checkpoints(folder, key)
        last, seen = -math.inf, 0.0  # so that the first step leaves a checkpoint

        def follow(reached: Any) -> None:
            nonlocal last, seen
            if not isinstance(reached, PathProgress):
                return
            now = time.monotonic()
            if now - last > options.checkpoint:
                checkpoints.store(reached.state)
                last = time.monotonic()
            if now - seen > 0.2:
                seen = now
                said = f"step {reached.n_steps:,}, {reached.sparsity:.0%} zeros"
                listener.update(path_behind(reached.state, options.max_steps), said)

        path = sparse_path(K, options, dense[K]).set_params(callback=follow)
        state = checkpoints.read(dense[K].model_, relaxed=options.relaxed)
        if state is None:
            listener.begin("Following the path to sparse clusters")
        else:
            listener.begin(f"Following the path, from step {len(state.steps):,}")
            listener.update(path_behind(state, options.max_steps))
            set_fitted(path, {"state_": state})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # statuses of steps are in the tables
            path.fit(directions)
        if path.status_ == "interrupted":
            raise KeyboardInterrupt
        writer = folder.writer()
        record = pack_followed(path, writer, PATH)
        # How the dense mixture was found; the path itself was given it.
        runs, agreement = dense[K].runs_, dense[K].agreement_
        folder.commit("path", key, writer, replace(record, runs=runs, agreement=agreement))

    def read(record: PathRecord, reader: Reader) -> VMFPath:
        asked = sparse_path(K, options, None)
        by = {name: getattr(asked, name) for name in CHOSEN_BY}
        chosen = replace(record, params={**record.params, **by})
        return unpack_path(
            chosen,
            reader,
            dense,
            lambda one, first: label_chosen(one, first, directions, None),
        )

    return folder.stage("path", key, PathRecord, make, read)


class Checkpoints:
    """Steps of a path, stored some at a time, with what is needed to go on from the last one."""

    def __init__(self, folder: RunFolder, key: str) -> None:
        self.folder, self.key = folder, key
        self.n_marks = self.n_steps = 0

    def store(self, state: PathState) -> None:
        """Store the steps since the last mark, after the dense one in a mark of its own."""
        if not self.n_marks:
            self._store(state, slice(0, 1), state.dense, state.dense if state.relaxed else None)
        self._store(state, slice(self.n_steps, None), state.fit, state.refit)

    def _store(
        self,
        state: PathState,
        part: slice,
        fit: Fit[VMFParameters],
        refit: Fit[VMFParameters] | None,
    ) -> None:
        n, steps = self.n_marks, state.steps[part]

        def commit(stage: str, pack: Callable[..., Any], what: Any, *more: Any) -> None:
            writer = self.folder.writer(durable=False, top=True)
            packed = pack(what, writer, self.folder.checkpoint(stage), *more)
            self.folder.commit(stage, self.key, writer, packed)

        commit(f"fit-{n}", pack_fit, fit)
        if refit is not None:
            commit(f"refit-{n}", pack_fit, refit)
            commit(f"refits-{n}", pack_steps, state.refits[part], steps)
        commit(f"steps-{n}", pack_steps, steps)  # last: it declares the mark done
        if n:  # what the mark before needed to go on; its fit stays where it is the dense one
            self.folder.drop([f"refit-{n - 1}", *([f"fit-{n - 1}"] if n > 1 else [])])
        self.n_marks, self.n_steps = n + 1, self.n_steps + len(steps)

    def read(self, model: VMFModel, *, relaxed: bool) -> PathState | None:
        """Go back to the last mark; None where there is none that can be used."""
        try:
            noise = model.noise is not None
            steps, refits, n = self._steps(relaxed=relaxed, noise=noise)
            first = self.folder.done("fit-0", self.key, FitRecord)
            last = self.folder.done(f"fit-{n - 1}", self.key, FitRecord)
            refit = self.folder.done(f"refit-{n - 1}", self.key, FitRecord)
            if n and first is not None and last is not None and relaxed == (refit is not None):
                state = PathState(model, steps, unpack_fit(*first), unpack_fit(*last))
                if refit is not None:
                    state.refits, state.refit = refits, unpack_fit(*refit)
                self.n_marks, self.n_steps = n, len(steps)
                return state
        except RunError:  # the power went before the disk was done
            pass
        self._clear()
        return None

    def _clear(self) -> None:
        """Forget all checkpoints: new ones would stand among them."""
        for kind in ("steps", "refits", "refit", "fit"):
            self.folder.drop(self.folder.checkpoints(kind))

    def _steps(self, *, relaxed: bool, noise: bool) -> tuple[list[PathPoint], list[PathPoint], int]:
        """Return the steps, their refits if there are any, and the number of marks."""
        steps: list[PathPoint] = []
        refits: list[PathPoint] = []
        n = 0
        while (left := self.folder.done(f"steps-{n}", self.key, StepsRecord)) is not None:
            part = unpack_steps(*left, noise=noise)
            if relaxed:
                again = self.folder.done(f"refits-{n}", self.key, StepsRecord)
                if again is None:
                    raise RunError("A mark has no refits.")
                refits += unpack_steps(*again, part, noise=noise)
            steps += part
            n += 1
        return steps, refits, n

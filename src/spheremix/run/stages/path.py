"""The path to sparse prototypes: followed with checkpoints, and what is chosen on it."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from spheremix.data.open import as_directions
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.path import VMFPath, label_chosen
from spheremix.estimators.problem import build_problem
from spheremix.estimators.seeds import with_seeds
from spheremix.estimators.strategies import PathProgress
from spheremix.run.folder.files import RunError
from spheremix.run.folder.fitted import (
    CHOSEN_BY,
    PathChoice,
    PathStored,
    dump_choice,
    dump_path,
    dump_state,
    load_path,
    load_state,
    stored_parameters,
)
from spheremix.run.folder.store import key_of
from spheremix.run.stages.dense import kappa_of, noise_of, seeds_of

if TYPE_CHECKING:
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.path import PathState
    from spheremix.run.options import ExploreOptions
    from spheremix.run.seeds import Seeded
    from spheremix.run.stages import Context

# A step ends where an iteration gains so little; nothing that a person sees changes after it.
CLOSE_ENOUGH = 1e-4  # nats a row

# Odds of the time that is behind, from the odds of two places on the path: chosen on the paths that
# are recorded in the tests. The first steps of a path take two iterations each, those at which few
# words a group are left take a hundred.
FACTOR, BY_BETA, BY_WORDS = 0.76, 0.9, 0.34


def sparse_path(
    K: int, options: ExploreOptions, init: Any, seeded: Seeded | None = None
) -> VMFPath:
    """Return the estimator of the path that begins with a dense mixture."""
    return VMFPath(
        n_components=K,
        criterion=str(options.criterion),  # completed by now, as the increase is
        min_relative_increase=cast("float", options.min_relative_increase),
        max_steps=options.max_steps,
        tol=CLOSE_ENOUGH,
        relaxed=options.relaxed,
        kappa=kappa_of(options),
        **noise_of(options),
        init=init,
        **seeds_of(options, seeded),
        random_state=options.seed,
        n_threads=options.threads,
        warm_start=True,
    )


def path_key(K: int, options: ExploreOptions, dense_key: str, seeded: Seeded | None = None) -> str:
    """Return the key of the path from a mixture; a criterion only chooses on it.

    So does the share of the documents that may belong nowhere, which is for predictions.
    """
    parameters = stored_parameters(sparse_path(K, options, dense_key, seeded))
    return key_of({name: v for name, v in parameters.items() if name not in CHOSEN_BY})


def follow_path(x: Context, X: Any, dense: VMFMixture, dense_key: str) -> VMFPath:
    """Follow the path from a dense mixture, leaving checkpoints, and choose on it."""
    K, options = len(dense.weights_), x.options
    directions = as_directions(X, n_threads=options.threads)
    key = path_key(K, options, dense_key, x.seeded)
    stored = x.store.stage("path", key, PathStored, lambda: _follow(x, directions, dense, key))
    x.store.drop("checkpoint", key)
    asked = sparse_path(K, options, None)
    by = {name: getattr(asked, name) for name in CHOSEN_BY}
    made: list[VMFPath] = []

    def make() -> PathChoice:
        label = partial(label_chosen, rows=directions, weights=None)
        known = replace(stored, params={**stored.params, **by})
        made.append(load_path(known, {K: dense}, None, label))
        return dump_choice(made[0])

    choice = x.store.stage("choice", key_of(key, *by.values()), PathChoice, make)
    return made[0] if made else load_path(stored, {K: dense}, choice)


def _follow(x: Context, directions: Any, dense: VMFMixture, key: str) -> PathStored:
    """Follow the path, from a checkpoint where there is one."""
    K, options, store = len(dense.weights_), x.options, x.store
    last, seen = time.monotonic(), 0.0

    def follow(reached: Any) -> None:
        nonlocal last, seen
        if not isinstance(reached, PathProgress):
            return
        now = time.monotonic()
        if now - last > options.checkpoint and store.folder is not None:
            store.put("checkpoint", key, PathStored, dump_state(reached.state, {}))
            last = time.monotonic()
        if now - seen > 0.2:
            seen = now
            said = f"step {reached.n_steps:,}, {reached.sparsity:.0%} zeros"
            x.listener.update(path_behind(reached.state, options.max_steps), said)

    path = sparse_path(K, options, dense, x.seeded).set_params(callback=follow)
    labels = None if x.seeded is None else x.seeded.labels
    state = None
    if (left := store.stored("checkpoint", key, PathStored)) is not None:
        try:
            problem = build_problem(MixtureOptions.of(path).along_path(), directions, None)
            seeds = with_seeds(MixtureOptions.of(path), problem, labels).model.seeds
            state = load_state(left, replace(dense.model_, seeds=seeds))
        except RunError:  # damaged: the path begins again
            state = None
    if state is None:
        x.listener.begin("Following the path to sparse groups")
    else:
        x.listener.begin(f"Following the path, from step {len(state.steps):,}")
        x.listener.update(path_behind(state, options.max_steps))
        path.state_ = state  # from where a fit with warm_start goes on
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # statuses of steps are in the tables
        path.fit(directions, labels=labels)
    if path.status_ == "interrupted":
        raise KeyboardInterrupt
    # How the dense mixture was found; the path itself was given it.
    return replace(
        dump_path(path, small=True), runs=list(dense.runs_), agreement=float(dense.agreement_)
    )


# How much of the path is behind


def time_behind(by_beta: float, by_words: float) -> float:
    """Guess the share of the time of a path from two places on it; all from 0 to 1."""
    odds = FACTOR * math.pow(_odds(by_beta), BY_BETA) * math.pow(_odds(by_words), BY_WORDS)
    return odds / (1.0 + odds)


def _odds(share: float) -> float:
    """Return the odds of a share, which is not quite 0 or 1."""
    inside = min(max(share, 1e-3), 1.0 - 1e-3)
    return inside / (1.0 - inside)


def places_on_path(state: PathState) -> tuple[float, float] | None:
    """Tell how far a path has come, by beta and by the number of words; None at its beginning.

    Beta grows by a factor, up to the last event of each prototype. The words, non-zero coordinates
    of all prototypes, fall by a factor to one a prototype.
    """
    steps, fit = state.steps, state.fit
    if len(steps) < 3:
        return None
    model: Any = state.model
    vectors = model.clusters(fit.resultants).vectors
    kappas = fit.parameters.kappas.reshape(len(vectors), -1)
    can_leave = getattr(model, "sparse_views", (True,))
    parts = zip(model.columns, kappas.T, can_leave, strict=True)
    events = np.hstack([k[:, None] * abs(vectors[:, own]) for own, k, can in parts if can])
    events.partition(-2, axis=1)
    ends = events[:, -2].tolist()  # a prototype keeps its last coordinate
    first, now = steps[1].beta, steps[-1].beta
    way = sum(math.log(max(end, now) / first) for end in ends) / len(ends)
    many, few, least = steps[0].n_nonzero, steps[-1].n_nonzero, len(ends)
    if way <= 0.0 or many <= least:
        return None
    return math.log(now / first) / way, math.log(many / few) / math.log(many / least)


def path_behind(state: PathState, max_steps: int) -> float:
    """Guess which share of the time of a path is behind, if it has so many steps at most."""
    places, n_steps = places_on_path(state), len(state.steps)
    share = min(n_steps / max_steps, 1.0)
    if places is None:
        return share
    return max(time_behind(*places), share**2)  # later steps take longer

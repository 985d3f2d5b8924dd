"""The dense mixtures: one for each number of groups, and the advice on that number.

What a stage leaves depends on its input alone: not on where a run was interrupted, nor on how
often. Mixtures of one size are fitted together and apart from others, since runs that share sweeps
agree with single ones to 1e-10 only.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from spheremix.advice import Advice, Evidence, Recommendation
from spheremix.data.open import as_directions
from spheremix.errors import Explained, Message
from spheremix.estimators.advice import Adviser
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.problem import NoFitError, build_problem
from spheremix.reading import agreement
from spheremix.run.folder.archive import NAMES
from spheremix.run.folder.fitted import stored_parameters
from spheremix.run.folder.store import key_of
from spheremix.run.options import ADVICE, DENSE, FREE
from spheremix.wording import count as counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from spheremix.estimators.options import Kappa
    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel
    from spheremix.reading import Agreement
    from spheremix.run.options import ExploreOptions
    from spheremix.run.seeds import Seeded
    from spheremix.run.stages import Context
    from spheremix.run.stages.rows import Rows

NAMES |= {"Evidence": Evidence, "Recommendation": Recommendation}


@dataclass(frozen=True, slots=True, eq=False)
class DenseFit:
    """The mixture without penalty of one number of groups, or why there is none."""

    archive_version: ClassVar[int] = 2

    mixture: VMFMixture | None
    notes: list[Message] = field(default_factory=list)


def kappa_of(options: ExploreOptions) -> Kappa:
    """Return the concentration of an exploration, which its options have checked."""
    return cast("Kappa", options.kappa)


def noise_of(options: ExploreOptions, *, final: bool = True) -> dict[str, Any]:
    """Return what an exploration says of documents that belong nowhere.

    A share limits those of the mixture that is shown, the final one: where a path follows a
    mixture, it finds its noise as if there were no limit. A free share is free in all fits.
    """
    if options.noise is None:
        return {}
    if options.max_noise == FREE:
        return {"noise": options.noise, "max_noise": None}
    most = options.max_noise if final else None
    return {"noise": options.noise, "max_noise": most or "auto"}


def seeds_of(options: ExploreOptions, seeded: Seeded | None) -> dict[str, Any]:
    """Return what an exploration says of groups that are asked for, by words or by ids."""
    if seeded is None:
        return {}
    weight = {} if options.seed_weight is None else {"seed_weight": options.seed_weight}
    return {"seeds": seeded.columns, **weight}


def dense_mixture(K: int, options: ExploreOptions, seeded: Seeded | None = None) -> VMFMixture:
    """Return the estimator of a mixture without penalty; its first groups may be asked for."""
    return VMFMixture(
        K,
        kappa=kappa_of(options),
        **noise_of(options, final=options.criterion == DENSE),
        n_init=options.starts,
        **seeds_of(options, seeded),
        random_state=options.seed,
        n_threads=options.threads,
    )


def problem_of(rows: Rows, options: ExploreOptions) -> Problem[VMFModel]:
    """Return the rows and the model of an exploration."""
    directions = as_directions(rows.views, n_threads=options.threads)
    mixture = VMFMixture(1, kappa=kappa_of(options), n_threads=options.threads)
    return build_problem(MixtureOptions.of(mixture), directions, None)


def dense_key(x: Context, K: int) -> str:
    """Return the key of the mixture of one number of groups."""
    start = () if x.start is None else (x.start_key,)
    labels = () if x.seeded is None else x.seeded.key()
    parameters = stored_parameters(dense_mixture(K, x.options, x.seeded))
    return key_of(x.rows_key, parameters, *start, *labels)


def advise_run(x: Context, rows: Rows) -> Advice | None:
    """Return the advice on the number of groups; None where it is given or has a criterion."""
    options, asked = x.options, _asked(x, rows)
    if x.start is not None or options.k_criterion != ADVICE or len(asked) < 2:
        return None
    documents, whole = x.drawn_whole(rows.kept)

    def make() -> Advice:
        x.listener.begin("Grouping halves of the documents, to see which groups come back")
        numbers = None if options.k is None else asked
        problem = problem_of(rows, options)
        return Adviser(problem, options.seed, numbers, x.listener.update, documents).advise()

    key = key_of(x.rows_key, "advice", options.k, options.kappa, options.seed, *whole)
    return x.store.stage("advice", key, Advice, make)


def _asked(x: Context, rows: Rows) -> list[int]:
    return x.options.candidates(len(rows.kept), rows.n_distinct)


def choose_candidates(x: Context, rows: Rows, advice: Advice | None) -> list[int]:
    """Return the numbers of groups to fit: all that are asked for, or those that are advised."""
    if advice is None or x.options.k is not None:
        return _asked(x, rows)
    return sorted({advice.best_candidate, advice.broad})


def choose_number(x: Context, dense: dict[int, VMFMixture], advice: Advice | None) -> int:
    """Return the number of groups, of those that could be fitted."""
    if advice is not None:
        return min(dense, key=lambda K: abs(K - advice.best_candidate))
    if x.options.k_criterion == ADVICE:
        return min(dense)
    values = [model.criteria_[x.options.k_criterion] for model in dense.values()]
    return list(dense)[int(np.argmin(values))]


def fit_dense(
    x: Context, rows: Rows, candidates: list[int]
) -> tuple[dict[int, VMFMixture], list[Message]]:
    """Fit a mixture without penalty for each number of groups; return them and the failures."""
    directions = as_directions(rows.views, n_threads=x.options.threads)
    keys = {K: dense_key(x, K) for K in candidates}
    missing = [K for K in candidates if not x.store.has(f"dense-{K}", keys[K])]
    total, done = float(sum(missing) or 1), 0.0
    found: dict[int, VMFMixture] = {}
    notes: list[Message] = []
    if missing:
        starts = f"{counted(x.options.starts, 'run')} each"
        how = starts if x.start is None else "from those of before"
        x.listener.begin(f"Fitting {name_candidates(missing)}, {how}")
    for K in candidates:
        share = (done / total, K / total)

        def make(K: int = K, share: tuple[float, float] = share) -> DenseFit:
            mixture = dense_mixture(K, x.options, x.seeded)
            if x.start is not None:
                mixture.set_params(init=complete_labels(x.start[rows.kept], rows))
            return _fit_one(x, mixture, directions, share)

        fit = x.store.stage(f"dense-{K}", keys[K], DenseFit, make)
        notes += fit.notes
        if fit.mixture is not None:
            found[K] = fit.mixture
        if K in missing:
            done += K
            x.listener.update(done / total, f"K = {K}")
    if not found:
        for K in candidates:
            x.store.drop(f"dense-{K}", keys[K])
        raise NoFitError(notes[-1])
    return found, notes


def _fit_one(
    x: Context, mixture: VMFMixture, directions: Any, share: tuple[float, float]
) -> DenseFit:
    K = mixture.n_components

    def follow(state: Any) -> None:
        # Half of the runs have converged when half of the work is done, or more.
        part = 1.0 - state.n_running / state.n_runs
        passes = counted(state.n_sweeps, "pass", "passes")
        x.listener.update(share[0] + share[1] * part, f"K = {K}, {passes} over the documents")

    notes: list[Warning | Exception | str] = []
    fitted: VMFMixture | None = mixture.set_params(callback=follow)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            mixture.fit(directions, labels=None if x.seeded is None else x.seeded.labels)
            mixture.model_ = replace(mixture.model_, seeds=None)  # a stored one is without, too
        except NoFitError as error:
            notes.append(error)
            fitted = None
    mixture.set_params(callback=None)
    notes += [one.message for one in caught]
    return DenseFit(fitted, [about_candidate(K, note) for note in notes])


def complete_labels(labels: NDArray[np.intp], rows: Rows) -> NDArray[np.intp]:
    """Return the groups of all rows: those without one get the group of the nearest mean direction.

    Rows that share no word with any group start in the largest group.
    """
    unknown = np.flatnonzero(labels < 0)
    if not len(unknown):
        return labels
    products = np.zeros((len(unknown), int(labels.max()) + 1))
    for X in rows.views.values() if rows.meaning is not None else (rows.X,):
        sums = np.zeros((products.shape[1], X.shape[1]))
        for k in range(len(sums)):
            sums[k] = np.asarray(X[np.flatnonzero(labels == k)].sum(axis=0)).ravel()
        sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-300)
        products += np.asarray(X[unknown] @ sums.T)
    found = labels.copy()
    largest = np.bincount(labels[labels >= 0]).argmax()
    found[unknown] = np.where(products.any(axis=1), products.argmax(axis=1), largest)
    return found


def about_candidate(K: int, note: Warning | Exception | str) -> Message:
    """Say of which number of groups a note speaks, where it does not say so itself."""
    if isinstance(note, Explained):
        if "K" in note.message.values:
            return note.message
        return replace(note.message, text=f"With {K} groups: {note.message.text}")
    return Message("With {K} groups: {note}", {"K": str(K), "note": str(note)})


def name_candidates(candidates: list[int]) -> str:
    """Say which numbers of groups are tried: a range by its ends, others one by one."""
    if len(candidates) == 1:
        return counted(candidates[0], "group")
    if candidates[-1] - candidates[0] == len(candidates) - 1:
        return f"{candidates[0]} to {candidates[-1]} groups"
    return f"{', '.join(map(str, candidates[:-1]))} and {candidates[-1]} groups"


def agreements(
    columns: Mapping[str, list[tuple[str, ...]]], groups: NDArray[np.intp]
) -> dict[str, Agreement]:
    """Compare groups of documents with each column of labels in which they have one at most."""
    each = {}
    for name, labels in columns.items():
        if any(len(several) > 1 for several in labels):
            continue
        found = agreement(groups, labels)
        if np.isfinite(found.ari):
            each[name] = found
    return each

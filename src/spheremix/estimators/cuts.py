"""What VMFTree computes on rows: its leaves, its cuts, its nested levels, a cluster split up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from spheremix import em, hierarchy, nesting
from spheremix.errors import ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.fitted import FittedMixture
from spheremix.estimators.noise import limit_noise
from spheremix.estimators.options import count_runs
from spheremix.estimators.problem import is_capped
from spheremix.estimators.restarts import (
    best_of,
    print_runs,
    restarts,
    run_all,
    summaries,
    warn_of_cap,
    warn_of_limit,
    warn_of_lost,
)
from spheremix.estimators.starts import Start, count_sweeps, is_large, sample_rows
from spheremix.models.base import DegenerateError
from spheremix.search import Partition, Search, only

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.options import MixtureOptions
    from spheremix.estimators.problem import Problem
    from spheremix.hierarchy import Hierarchy
    from spheremix.models.vmf import VMFModel, VMFParameters
    from spheremix.nesting import Nested, NestedModel
    from spheremix.resultants import Resultants

    Array = NDArray[np.float64]
    Make = Callable[[int], VMFMixture]  # a mixture of so many components, not fitted yet
    Ids = NDArray[np.intp]

FEWER_LEAVES = ("lower {n_leaves}",)  # what helps where there is no mixture
FEWER_CLUSTERS = ("lower {n_clusters}", "lower {n_leaves}")


@dataclass(frozen=True, slots=True, eq=False)
class Trees:
    """A tree, and what its cuts are made of.

    Attributes
    ----------
    tree : Hierarchy
        Of the best leaves.
    second : Hierarchy or None
        Of the second best partition that the search has found. Greedy merging may go wrong on its
        way down; where both trees are cut and combined, it rarely does.
    leaves : VMFMixture or None
        The mixture of the leaves. None where some component is no row's most probable one: then
        the tree has a leaf less. None, too, where a leaf loses its rows in EM, as a few rows of
        their own concentration do: then the leaves are those of the search.
    """

    tree: Hierarchy
    second: Hierarchy | None
    leaves: VMFMixture | None


def build_trees(options: MixtureOptions, problem: Problem[VMFModel], make: Make) -> Trees:
    """Search for the leaves, in a sample of large data, fit the best by EM, and build the tree."""
    callback = count_sweeps(options.callback)
    seeds = check.draw_seeds(options.random_state, count_runs(options.n_init, options.init))
    searched = sample_rows(problem, seeds[-1]) if is_large(problem) else problem
    search, *others = _searches(searched, callback, len(seeds))
    found = search.run([problem.n_components], seeds)[0]
    for other in others:
        found = other.improved(found)
    ranked = sorted(
        [one for one in found if one is not None], key=lambda one: one.value, reverse=True
    )
    starts = [_start(problem.model, one) for one in ranked[:1]] or [Start(None, "merge")]
    fits = run_all(problem, starts, callback)
    runs = summaries(problem.model, starts, fits)
    if options.verbose:
        print_runs(runs, "leaves, ")
    second = None
    if len(ranked) > 1:
        second = hierarchy.build(problem.model, ranked[1].resultants)
    if ranked and not (fits[0] and fits[0].ok) and problem.n_components > 1:
        return Trees(hierarchy.build(problem.model, ranked[0].resultants), second, None)
    best = best_of(options, problem, fits, runs, FEWER_LEAVES)
    leveled, finest = limit_noise(options, problem, best)
    scorer = leveled.model.scorer(finest.parameters, "hard")
    (swept,) = problem.directions.sweep([scorer], problem.weights)
    inside = leveled.model.clusters(swept)  # noise is in no leaf
    tree = hierarchy.build(problem.model, only(inside, inside.mass > 0.0))
    if tree.n_leaves < problem.n_components:
        return Trees(tree, second, None)
    ordered = _reordered(leveled.model, finest, tree.origins)
    leaves = make(tree.n_leaves)
    FittedMixture.of_fit(leveled, ordered, runs, float("nan")).set_on(leaves)
    _warn(problem, {tree.n_leaves: ordered}, options.max_iter)
    return Trees(tree, second, leaves)


def _searches(
    problem: Problem[VMFModel], callback: Callable[[em.Progress], None] | None, n_runs: int
) -> list[Search[VMFParameters]]:
    """Return the searches of the models that work one after another."""

    def tell(n_sweeps: int) -> None:
        if callback is not None:
            callback(em.Progress(n_sweeps, n_runs, n_runs, np.nan))

    return [
        Search(model, problem.directions, problem.weights, callback=tell)
        for model in problem.model.for_search()
    ]


def _start(model: VMFModel, partition: Partition) -> Start:
    """Return the start of EM from a partition of a search."""
    return Start(
        model.from_partition(partition.resultants),
        partition.start,
        partition.seed,
        partition.first_value,
        partition.value,
        tuple(np.sort(partition.resultants.mass)),
    )


def _reordered(
    model: VMFModel, fit: em.Fit[VMFParameters], order: NDArray[np.intp]
) -> em.Fit[VMFParameters]:
    """Return the same fit with its components in another order; noise stays the last one."""
    old, sums = fit.parameters, fit.resultants
    parameters = model.parameters(old.prototypes[order], old.kappas[order], old.weights[order])
    every = np.append(order, np.arange(len(order), len(sums.mass)))
    resultants = replace(sums, mass=sums.mass[every], vectors=sums.vectors[every])
    return replace(fit, parameters=parameters, resultants=resultants)


def cut_all(
    options: MixtureOptions,
    problem: Problem[VMFModel],
    trees: Trees,
    numbers: Sequence[int],
    make: Make,
) -> dict[int, VMFMixture]:
    """Fit the mixtures of several cuts, which share sweeps.

    Both trees are cut, rows are moved by first variation, and the two partitions are crossed as in
    the search. EM runs from the best of the three.
    """
    callback = count_sweeps(options.callback)
    partitions = _partitions(problem, trees, numbers, callback)
    starts = [
        Start(None, "tree") if one is None else replace(_start(problem.model, one), kind="tree")
        for one in partitions
    ]
    fits = run_all(problem, starts, callback)
    cuts, reached = {}, {}
    for K, start, fit in zip(numbers, starts, fits, strict=True):
        sized = replace(problem, n_components=K)
        runs = summaries(problem.model, [start], [fit])
        if options.verbose:
            print_runs(runs, f"K = {K}, ")
        best = best_of(options, sized, [fit], runs, FEWER_CLUSTERS)
        sized, reached[K] = limit_noise(options, sized, best)
        cuts[K] = make(K)
        FittedMixture.of_fit(sized, reached[K], runs, float("nan")).set_on(cuts[K])
    _warn(problem, reached, options.max_iter)
    return cuts


def _partitions(
    problem: Problem[VMFModel],
    trees: Trees,
    numbers: Sequence[int],
    callback: Callable[[em.Progress], None] | None,
) -> list[Partition | None]:
    """Return the partition that each cut starts EM from, clusters in the order of the tree."""
    search, *others = _searches(problem, callback, len(numbers))

    def raw(tree: Hierarchy | None, K: int) -> Partition | None:
        if tree is None or tree.n_leaves < K:
            return None
        return Partition(tree.cut(K), np.nan, "tree", np.nan)

    both_trees = (trees.tree, trees.second)
    moved = search.improved([raw(tree, K) for tree in both_trees for K in numbers])
    families = list(zip(moved[: len(numbers)], moved[len(numbers) :], strict=True))
    both = [i for i, pair in enumerate(families) if all(pair) and numbers[i] > 1]
    children = dict(zip(both, search.crossed([(*families[i], ()) for i in both]), strict=True))
    best: list[Partition | None] = []
    for i, pair in enumerate(families):
        known = [one for one in (*pair, children.get(i)) if one is not None]
        best.append(max(known, key=lambda one: one.value) if known else None)
    for other in others:
        best = other.improved(best)
    return [
        None if one is None else replace(one, resultants=_like(trees.tree.cut(K), one.resultants))
        for K, one in zip(numbers, best, strict=True)
    ]


def _like(wanted: Resultants, found: Resultants) -> Resultants:
    """Return clusters in the order of those that they are most similar to."""
    cosines = np.einsum("kj,lj->kl", wanted.vectors, found.vectors)
    cosines /= np.outer(
        np.linalg.norm(wanted.vectors, axis=1), np.linalg.norm(found.vectors, axis=1)
    ).clip(np.finfo(float).tiny)
    order = linear_sum_assignment(cosines, maximize=True)[1]
    return replace(found, mass=found.mass[order], vectors=found.vectors[order])


def _warn(
    problem: Problem[VMFModel], reached: dict[int, em.Fit[VMFParameters]], max_iter: int
) -> None:
    """Warn of mixtures with a concentration at its cap, and of those EM did not finish."""
    for K, fit in reached.items():
        if is_capped(problem.model, fit.parameters):
            warn_of_cap(K, problem.model.kappa_max, stacklevel=5, has_prior=False)
    unfinished = [str(K) for K, fit in reached.items() if fit.status == "max_iter"]
    if unfinished:
        warn_of_limit(max_iter, f" at K = {', '.join(unfinished)}", stacklevel=5)


def nest_all(
    options: MixtureOptions, problem: Problem[VMFModel], cuts: Sequence[VMFMixture], make: Make
) -> NestedLevels:
    """Tie cuts of increasing sizes together."""
    free = [problem.model.parameters(one.prototypes_, one.kappas_, one.weights_) for one in cuts]
    try:
        nested = nesting.nest(
            problem.model, problem.directions, free, problem.settings, problem.weights
        )
    except DegenerateError:
        nested = None
    if nested is None or not nested.fit.ok:
        sizes = ", ".join(str(len(one.weights_)) for one in cuts)
        raise ParameterError(
            "The levels of {sizes} clusters cannot be nested: a cluster is left without rows",
            remedies=("leave out one of the {levels}", "choose {levels} that are further apart"),
            sizes=sizes,
        )
    return nested_levels(
        problem, nested, [make(len(one.weights_)) for one in cuts], options.zero_tol
    )


def split_cluster(
    options: MixtureOptions,
    problem: Problem[VMFModel],
    inside: NDArray[np.bool_],
    mixture: VMFMixture,
) -> VMFMixture:
    """Fit a mixture to some of the rows; the others have the label -1."""
    weights = np.where(inside, problem.row_weights, 0.0)
    K = options.n_components
    check.require_rows(K, problem.directions, weights)
    part = replace(problem, weights=weights, n_components=K)
    outcome = restarts(options, part, None)
    agreed = outcome.agreement(part)
    part, best = limit_noise(options, part, outcome.best)
    scorer = part.model.scorer(best.parameters)
    found = scorer.clusters_of(part.directions.map_rows(scorer, "labels"))
    labels = np.where(inside, found, -1)
    FittedMixture.of_fit(part, best, outcome.runs, agreed, labels).set_on(mixture)
    warn_of_lost(outcome.runs, K, stacklevel=4)
    _warn(part, {K: best}, options.max_iter)
    return mixture


@dataclass(frozen=True, slots=True, eq=False)
class NestedLevels:
    """Levels of clusters, coarse to fine: every cluster lies in one cluster of the level above.

    Attributes
    ----------
    mixtures : tuple of VMFMixture
        One a level. Their ``labels_`` are nested. ``status_`` and ``stationarity_gap_`` are those
        of the fit of all levels together; ``log_likelihood_`` and ``criteria_`` are the level's
        own. ``predict`` of one of them does not know of the other levels.
    parents : tuple of ndarray of shape (K,)
        For each level but the first, the cluster of the level above that each cluster lies in.
    model : NestedModel
        What ties the levels together.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(300, 5, 6, overlap=0.02, random_state=0)
    >>> levels = sm.VMFTree(n_leaves=8, random_state=0).fit(X).cut(levels=[3, 6])
    >>> coarse, fine = levels.labels
    >>> bool((levels.parents[0][fine] == coarse).all())
    True
    >>> levels[6].n_components
    6
    """

    mixtures: tuple[VMFMixture, ...]
    parents: tuple[Ids, ...]
    model: NestedModel

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of clusters, increasing."""
        return tuple(len(one.weights_) for one in self.mixtures)

    @property
    def labels(self) -> tuple[Ids, ...]:
        """Clusters of the rows of the fit, one array a level."""
        return tuple(one.labels_ for one in self.mixtures)

    def __getitem__(self, number: int) -> VMFMixture:
        """Return the level of so many clusters."""
        if number not in self.numbers:
            raise KeyError(f"The levels have {self.numbers} clusters, and none has {number}.")
        return self.mixtures[self.numbers.index(number)]

    def predict(self, X: Any) -> tuple[Ids, ...]:
        """Return the clusters of rows on all levels, nested.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows are normalised.

        Returns
        -------
        tuple of ndarray of shape (n,)
            One a level, coarse to fine.
        """
        fine = check.open_again(self.mixtures[-1], X).map_rows(self._scorer(), "labels")
        return tuple(up[fine] for up in self.model.above)

    def _scorer(self) -> Any:
        each = tuple(
            one.model_.parameters(one.prototypes_, one.kappas_, one.weights_)
            for one in self.mixtures
        )
        return self.model.scorer(each)


def nested_levels(
    problem: Problem[VMFModel],
    nested: Nested,
    mixtures: Sequence[VMFMixture],
    zero_tol: float,
) -> NestedLevels:
    """Set what mixtures, one a level and not fitted yet, know of a nested fit."""
    model, joint = problem.model, nested.fit
    each = tuple(model.zero_small(one, zero_tol) for one in joint.parameters)
    swept = problem.directions.sweep([model.scorer(one) for one in each], problem.weights)
    fine = problem.directions.map_rows(nested.model.scorer(each), "labels")
    for one, parameters, resultants, above in zip(
        mixtures, each, swept, nested.model.above, strict=True
    ):
        reached = resultants.log_likelihood
        fit = em.Fit(
            parameters, resultants, reached, joint.gap, joint.status, joint.n_iter, [reached]
        )
        runs = summaries(model, [Start(parameters)], [fit])
        FittedMixture.of_fit(problem, fit, runs, float("nan"), above[fine]).set_on(one)
    return NestedLevels(tuple(mixtures), nested.model.parents, nested.model)

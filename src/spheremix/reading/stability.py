"""How stable a result is: what stays with its group in other samples of the rows.

Two samples of n rows differ as a sample of n / 3 rows differs from the n rows that it is drawn
from: a mean over m of n rows has the variance (1/m - 1/n) s^2 around the mean over all of them, and
that is 2 s^2 / n, as between two samples of n rows, for m = n / 3. So a replicate is a third of the
rows, with the search for groups that a fit has. Samples with replacement differ half as much, and
what changes with other rows stays there more often than it should.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from spheremix import em
from spheremix.estimators import validation as check
from spheremix.estimators.of_fit import mixture_of, open_rows_of
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.path import VMFPath
from spheremix.estimators.problem import NoFitError, build_problem, is_runaway
from spheremix.estimators.selection import VMFMixtureIC
from spheremix.estimators.starts import Divisible, draw, is_large
from spheremix.metrics import count_common, jaccard
from spheremix.models.views import ViewsModel
from spheremix.reading.shares import as_codes
from spheremix.reading.words import characteristic_scores, group_masses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import Directions
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel
    from spheremix.scorer import Scorer

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]
    Refit = Callable[[Array, int], "Again | None"]

N_REPLICATES = 12
PARTS = 3  # of the rows, each a sample
RUNS = 3  # of the search in each sample, before they are crossed; a fit has five
LISTED = 20  # words of a cluster whose prototype has no zeros: the most characteristic ones
CLOSE_ENOUGH = 1e-4  # nats a row: a replicate need not be fitted to the last digit
MANY = 50_000  # rows: above it, those of a sample are copied
STABLE, DISSOLVED = 0.75, 0.5  # stability from which on, and below which


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Stability:
    """How often documents, groups and words stay; all values are between 0 and 1.

    ``print`` sums it up in three lines.

    Attributes
    ----------
    documents : ndarray of shape (n,)
        Share of the samples in which the document's group is there again with this document in
        it; for a document that is noise, in which it is noise again.
    groups : ndarray of shape (K,)
        Mean over the samples of the Jaccard similarity of the group with the most similar
        cluster: the documents in both, as a share of those in either. Above .75 a group is there in
        other documents too; below .5 it is dissolved more often than not.
    words : CSR array of shape (K, d)
        For each word of a group, the share of the samples in which the group is there again with
        this word. Words of a group are the non-zero coordinates of its prototype, or the 20 most
        characteristic ones if the mixture has no penalty; nothing is stored for other words.
    n_replicates : int
        The samples that the shares are taken of.
    n_lost : int
        Those of them that lost a group, so that there is no mixture of as many: in these, nothing
        counts as having stayed.
    """

    documents: Array
    groups: Array
    words: sparse.csr_array
    n_replicates: int
    n_lost: int = 0

    def __repr__(self) -> str:
        stays, groups = self.documents, self.groups
        lost = f", {self.n_lost} of them without some group" if self.n_lost else ""
        return (
            f"Stability in {self.n_replicates} samples of a third of the rows{lost}.\n"
            f"Groups: {np.sum(groups >= STABLE)} of {len(groups)} are stable ({STABLE} or more), "
            f"{np.sum(groups < DISSOLVED)} are dissolved (below {DISSOLVED}).\n"
            f"Documents: {stays.mean():.2f} on average; {np.mean(stays >= STABLE):.0%} clearly, "
            f"{np.mean((stays >= DISSOLVED) & (stays < STABLE)):.0%} probably, "
            f"{np.mean(stays < DISSOLVED):.0%} borderline."
        )


def stability(
    model: Any,
    X: Any,
    n_replicates: int = N_REPLICATES,
    *,
    sample_weight: ArrayLike | None = None,
    documents: ArrayLike | None = None,
    random_state: Any = 0,
    callback: Callable[[int], None] | None = None,
) -> Stability:
    """Measure how often documents, words and groups stay in other samples of the rows.

    It answers for each document: how often would it be with its group in a fresh sample of as many
    rows? The rows are cut into thirds at random, several times, and groups are searched for in
    each third, by the search of a fit with starts of its own. A third of the rows differs
    from all of them as much as a fresh sample would. Every row gets its cluster in each of them.

    In a sample a group is *there again* if a cluster has more than half of its documents, and
    more than half of the documents of that cluster are its own. At most one cluster can satisfy
    this, so no matching has to be forced. If a sample has merged a group with a larger one, or
    has cut it to pieces, the group is not there, and none of its documents and words has stayed.
    If it is there, the documents have stayed that lie in this cluster, and the words that this
    cluster has too. The stability of groups is finer: the mean of the largest Jaccard similarity
    with any cluster, as in Hennig (2007, Cluster-wise assessment of cluster stability,
    Computational Statistics and Data Analysis 52), but in thirds of the rows instead of
    bootstraps, and of all documents instead of those that were drawn.

    A sample that loses a group counts as one in which nothing stayed; ``n_lost`` says how many.
    With fewer than about 50 rows a group, thirds are small, and stability is rather too low.

    Parameters
    ----------
    model : estimator
        Fitted: VMFMixture, VMFPath, VMFMixtureIC, VMFTree, SphericalKMeans or VMFCoclustering; of a
        path the step that is selected.
    X : array-like or sparse matrix of shape (n, d), or Directions
        The rows it was fitted to.
    n_replicates : int, default=12
        Samples. A share of 12 has a standard error of .14 at most.
    sample_weight : array-like of shape (n,), default=None
        The weights it was fitted with.
    documents : array-like of shape (n,), default=None
        The document that each row is of, where rows are passages: a third has whole documents.
        None: each is its own.
    random_state : int, RandomState, Generator or None, default=0
        Seeds the cuts and the starts.
    callback : callable or None, default=None
        Called with the number of sweeps after each sweep of the search.

    Returns
    -------
    Stability
        Of the documents, of the groups, and of the words of each group.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(overlap=0.01, random_state=0)
    >>> mixture = sm.VMFMixture(4, random_state=0).fit(X)
    >>> found = sm.stability(mixture, X)
    >>> bool(found.groups.min() > 0.9)
    True
    >>> print(found)  # doctest: +ELLIPSIS
    Stability in 12 samples of a third of the rows.
    Groups: 4 of 4 are stable (0.75 or more), 0 are dissolved (below 0.5).
    Documents: ...
    """
    check.require_integer("n_replicates", n_replicates, 1)
    chosen, rows, weights = open_rows_of(model, X, sample_weight)
    words_of, refit = _refitting(model, chosen, rows, weights, callback)
    own_seed, cut_seed = check.draw_seeds(random_state, 2)
    seeds = check.draw_seeds(own_seed, n_replicates)
    units = None if documents is None else as_codes("documents", documents, rows.n_rows)[1]
    samples = thirds(np.random.default_rng(cut_seed), weights, rows.n_rows, units)
    K, n = len(chosen.weights_), n_replicates
    own = _with_noise(rows.map_rows(chosen.scorer_, "labels"), K)
    listed = _words(words_of, Again.of(words_of))
    documents, groups, words = np.zeros(rows.n_rows), np.zeros(K), np.zeros(listed.shape)
    n_lost = 0
    for seed, sample in zip(seeds, samples, strict=False):
        found = refit(sample, seed)
        if found is None:
            n_lost += 1
            continue
        labels = _with_noise(rows.map_rows(found.scorer, "labels"), K)
        common = count_common(own, labels, (K + 1, K + 1), weights)
        again = _there_again(common, K)
        documents += labels == np.append(again, K)[own]  # noise is there again as noise
        groups += jaccard(common)[:K, :K].max(axis=1)
        there = again >= 0
        words[there] += _words(words_of, found)[again[there]]
    if n_lost == n:
        raise NoFitError(
            "Every sample of a third of the rows lost a component: the groups do not survive other "
            "rows",
            remedies=("take fewer components",),
        )
    shares = sparse.csr_array(np.where(listed, 1.0, 0.0))
    shares.data = words[listed] / n
    return Stability(documents / n, groups / n, shares, n, n_lost)


def thirds(
    rng: np.random.Generator, weights: Array | None, n_rows: int, documents: Ids | None = None
) -> Iterator[Array]:
    """Cut the rows that count into thirds at random, again and again: weights of each third.

    They are three times as large as they were, so that a penalty has the weight that it was chosen
    for. Rows of one document are in the same third.
    """
    base = np.ones(n_rows) if weights is None else weights
    units = np.arange(n_rows) if documents is None else documents
    counted = np.unique(units[base > 0.0])
    place = np.full(n_rows, -1)
    while True:
        place[counted] = rng.permutation(np.arange(len(counted)) % PARTS)
        for part in range(PARTS):
            yield np.where(place[units] == part, PARTS * base, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Again:
    """What was fitted to a sample."""

    scorer: Scorer
    prototypes: Array
    kappas: Array
    weights: Array

    @classmethod
    def of(cls, mixture: VMFMixture, scorer: Scorer | None = None) -> Again:
        """Return the parameters of a mixture; another scorer, where rows are assigned by it."""
        scorer = mixture.scorer_ if scorer is None else scorer
        return cls(scorer, mixture.prototypes_, mixture.kappas_, mixture.weights_)


def _refitting(
    model: Any,
    chosen: VMFMixture,
    rows: Directions,
    weights: Array | None,
    callback: Callable[[int], None] | None,
) -> tuple[VMFMixture, Refit]:
    """Return the mixture that words come from, and what fits one like it to a sample.

    A sample selects words by the penalty, and not by a refit on zeros that are given: of a path
    the mixture with penalty is fitted again. The level of the noise is that of the fit.
    """
    tell = None if callback is None else lambda progress: callback(progress.n_sweeps)
    path: Any = getattr(model, "best_path_", None) if isinstance(model, VMFMixtureIC) else model
    if isinstance(path, VMFPath):
        penalised = path.model(path.selected_, refit=False)
        in_force = replace(penalised.model_, noise=path.state_.model.noise)
        return penalised, _mixtures(penalised, in_force, rows, weights, tell)
    if chosen is getattr(model, "best_estimator_", model):
        l1 = replace(chosen.model_.l1, beta=float(chosen.beta))  # a refit remembers its penalty
        in_force = replace(chosen.model_, l1=l1)
        return chosen, _mixtures(chosen, in_force, rows, weights, tell)

    def refit(sample: Array, seed: int) -> Again | None:
        again = clone(model).set_params(random_state=seed, callback=tell, warm_start=False)
        if not isinstance(model.init, str):
            again.set_params(init="k-means++")
        try:
            again.fit(rows, sample_weight=sample)
        except NoFitError:
            return None
        return Again.of(mixture_of(again), again.scorer_)

    return chosen, refit


def _mixtures(
    mixture: VMFMixture,
    model: VMFModel,
    rows: Directions,
    weights: Array | None,
    tell: Callable[[Any], None] | None,
) -> Refit:
    """Return what fits such a mixture to a sample: EM from the best partition of a whole search."""
    problem: Problem[VMFModel] = build_problem(MixtureOptions.of(mixture), rows, weights)
    settings = replace(problem.settings, tol=max(problem.settings.tol, CLOSE_ENOUGH))
    model = replace(model, n_threads=rows.n_threads)
    # A limit of the noise may have lowered its level for predictions.
    predicting = replace(model, noise=mixture.model_.noise)
    problem = replace(problem, model=model, settings=settings)

    def refit(sample: Array, seed: int) -> Again | None:
        if np.count_nonzero(sample) < problem.n_components:
            return None
        part = replace(problem, weights=sample)
        n_runs = "auto" if is_large(part) else RUNS
        if rows.n_rows > MANY and isinstance(rows, Divisible):  # the others are not read in vain
            ids = np.flatnonzero(sample)
            part = replace(part, directions=rows.part(ids), weights=sample[ids])
        starts = [one for one in draw(part, "merge", n_runs, seed, tell) if one.parameters]
        if not starts:
            return None
        best = max(starts, key=lambda one: (not is_runaway(model, one.parameters), one.value))
        (fit,) = em.fit(model, part.directions, [best.parameters], settings, weights=part.weights)
        if not fit.ok:
            return None
        found = model.zero_small(fit.parameters, mixture.zero_tol)
        return Again(predicting.scorer(found), found.prototypes, found.kappas, found.weights)

    return refit


def _with_noise(labels: Ids, n_clusters: int) -> Ids:
    """Return noise the number after the last cluster, so that it is compared as the others are."""
    return np.where(labels < 0, n_clusters, labels)


def _there_again(common: Array, n_clusters: int) -> Ids:
    """Return the cluster as which each group is there again, -1 where it is not.

    ``common`` counts the rows of each group in each cluster; the last cluster is noise.
    """
    most = (common > 0.5 * common.sum(axis=1, keepdims=True)) & (common > 0.5 * common.sum(axis=0))
    most = most[:n_clusters, :n_clusters]
    return np.where(most.any(axis=1), most.argmax(axis=1), -1)


def _words(mixture: VMFMixture, found: Again) -> NDArray[np.bool_]:
    """Return which words belong to which cluster: (K, d); a view without zeros has no words."""
    model: Any = mixture.model_
    if not isinstance(model, ViewsModel):
        return _words_of(mixture.beta, found.prototypes, found.kappas, found.weights)
    words = np.zeros(found.prototypes.shape, dtype=bool)
    for v, (columns, sparse_view) in enumerate(zip(model.columns, model.sparse_views, strict=True)):
        if sparse_view:
            own = found.prototypes[:, columns]
            words[:, columns] = _words_of(mixture.beta, own, found.kappas[:, v], found.weights)
    return words


def _words_of(beta: float, prototypes: Array, kappas: Array, weights: Array) -> NDArray[np.bool_]:
    """Return the same for one view."""
    support: NDArray[np.bool_] = prototypes != 0.0
    if beta > 0.0:
        return support
    masses = group_masses(weights, kappas, prototypes.shape[1])
    scores = characteristic_scores(prototypes, masses)
    n = min(LISTED, prototypes.shape[1])
    best = np.argsort(-scores, axis=1, kind="stable")[:, :n]
    listed = np.zeros(prototypes.shape, dtype=bool)
    np.put_along_axis(listed, best, values=True, axis=1)
    return listed & support

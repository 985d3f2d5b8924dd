"""How stable a result is: what stays when rows are drawn again and the search starts elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from spheremix.errors import ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.path import VMFPath
from spheremix.estimators.problem import NoFitError, build_problem
from spheremix.estimators.replicates import replicate_fits
from spheremix.estimators.selection import VMFMixtureIC
from spheremix.models.views import ViewsModel
from spheremix.reading.alignment import count_common, jaccard
from spheremix.reading.words import characteristic_scores, group_masses

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from spheremix.models.vmf import VMFModel

    Array = NDArray[np.float64]
    Ids = NDArray[np.intp]

N_REPLICATES = 20
LISTED = 20  # words of a cluster whose prototype has no zeros: the most characteristic ones
CLOSE_ENOUGH = 1e-4  # nats a row: a replicate need not be fitted to the last digit


@dataclass(frozen=True, slots=True, eq=False)
class Stability:
    """How often documents, groups and words stay; all values are between 0 and 1.

    Attributes
    ----------
    documents : ndarray of shape (n,)
        Share of the replicates in which the document's group is there again with this document in
        it; for a document that is noise, in which it is noise again.
    groups : ndarray of shape (K,)
        Mean over the replicates of the Jaccard similarity of the group with the most similar
        cluster: the documents in both, as a share of those in either. Above .75 a group is there in
        other documents too; below .5 it is dissolved more often than not.
    words : CSR array of shape (K, d)
        For each word of a group, the share of the replicates in which the group is there again with
        this word. Words of a group are the non-zero coordinates of its prototype, or the 20 most
        characteristic ones if the mixture has no penalty; nothing is stored for other words.
    n_replicates : int
        The replicates that the shares are taken of.
    n_lost : int
        Those of them that lost a group, so that there is no mixture of as many: in these, nothing
        counts as having stayed.
    """

    documents: Array
    groups: Array
    words: sparse.csr_array
    n_replicates: int
    n_lost: int = 0


def stability(
    model: Any,
    X: Any,
    n_replicates: int = N_REPLICATES,
    *,
    sample_weight: ArrayLike | None = None,
    random_state: Any = 0,
    callback: Callable[[int], None] | None = None,
) -> Stability:
    """Measure how often documents, words and groups stay when the rows are drawn again.

    A replicate is a bootstrap of the rows (new weights, no copies), a new search for clusters in
    it from a start of its own, and EM with the model, the penalty and the noise of the fit. All
    replicates share each reading of the rows, and every row gets its cluster in each of them.

    In a replicate a group is *there again* if a cluster has more than half of its documents, and
    more than half of the documents of that cluster are its own. At most one cluster can satisfy
    this, so no matching has to be forced. If a replicate has merged a group with a larger one, or
    has cut it to pieces, the group is not there, and none of its documents and words has stayed.
    If it is there, the documents have stayed that lie in this cluster, and the words that this
    cluster has too. The stability of groups is finer: the mean of the largest Jaccard similarity
    with any cluster. It is the bootstrap of Hennig (2007, Cluster-wise assessment of cluster
    stability, Computational Statistics and Data Analysis 52), as in ``clusterboot`` of the R
    package fpc, except that all documents are compared and not only those that were drawn.

    A replicate is one run of the search, while a fit takes the best of several. Stability is
    therefore rather too low than too high where the search is difficult, as with many groups. A
    replicate that loses a group counts as one in which nothing stayed; ``n_lost`` says how many.

    Parameters
    ----------
    model : VMFMixture, VMFPath or VMFMixtureIC
        Fitted; of a path the step that is selected.
    X : array-like or sparse matrix of shape (n, d), or Directions
        The rows it was fitted to.
    n_replicates : int, default=20
        A share of 20 replicates has a standard error of .11 at most.
    sample_weight : array-like of shape (n,), default=None
        The weights it was fitted with.
    random_state : int, RandomState, Generator or None, default=0
        Seeds the draws and the starts.
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
    """
    chosen, mixture, in_force = _published(model)
    check.require_integer("n_replicates", n_replicates, 1)
    rows = check.open_again(chosen, X)
    problem = build_problem(MixtureOptions.of(mixture), rows, sample_weight)
    settings = replace(problem.settings, tol=max(problem.settings.tol, CLOSE_ENOUGH))
    in_force = replace(in_force, n_threads=rows.n_threads)
    # A limit of the noise may have lowered its level for predictions.
    predicting = replace(in_force, noise=mixture.model_.noise)
    problem = replace(problem, model=in_force, settings=settings)
    seed = check.draw_seeds(random_state, 1)[0]
    fits = replicate_fits(problem, n_replicates, seed, callback)
    if not fits:
        raise NoFitError(
            "Every replicate lost a component: the groups do not survive other rows",
            remedies=("take fewer components",),
        )
    K = len(mixture.weights_)
    own = _with_noise(rows.map_rows(chosen.scorer_, "labels"), K)
    listed = _words(mixture, mixture.prototypes_, mixture.kappas_, mixture.weights_)
    documents, groups, words = np.zeros(rows.n_rows), np.zeros(K), np.zeros(listed.shape)
    for fit in fits:
        found = in_force.zero_small(fit.parameters, mixture.zero_tol)
        labels = _with_noise(rows.map_rows(predicting.scorer(found), "labels"), K)
        common = count_common(own, labels, (K + 1, K + 1), problem.weights)
        again = _there_again(common, K)
        documents += labels == np.append(again, K)[own]  # noise is there again as noise
        groups += jaccard(common)[:K, :K].max(axis=1)
        there = again >= 0
        words[there] += _words(mixture, found.prototypes, found.kappas, found.weights)[again[there]]
    shares = sparse.csr_array(np.where(listed, 1.0, 0.0))
    n = n_replicates
    shares.data = words[listed] / n
    return Stability(documents / n, groups / n, shares, n, n - len(fits))


def _published(model: Any) -> tuple[VMFMixture, VMFMixture, VMFModel]:
    """Return mixture that was chosen, the one from which its words come, and how that was fitted.

    A bootstrap selects words by the penalty, and not by a refit on zeros that are given. The level
    of the noise is that of the fit.
    """
    if not isinstance(model, VMFMixture | VMFPath | VMFMixtureIC):
        raise ParameterError(
            "{model} must be a fitted VMFMixture, VMFPath or VMFMixtureIC, got a {got}",
            got=type(model).__name__,
        )
    if isinstance(model, VMFMixture):
        check_is_fitted(model, "prototypes_")
        l1 = replace(model.model_.l1, beta=float(model.beta))  # a refit remembers its penalty
        return model, model, replace(model.model_, l1=l1)
    check_is_fitted(model, "best_estimator_")
    path: Any = getattr(model, "best_path_", None) if isinstance(model, VMFMixtureIC) else model
    best = model.best_estimator_
    if path is None:
        return best, best, best.model_
    penalised = path.model(path.selected_, refit=False)
    return best, penalised, replace(penalised.model_, noise=path.state_.model.noise)


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


def _words(
    mixture: VMFMixture, prototypes: Array, kappas: Array, weights: Array
) -> NDArray[np.bool_]:
    """Return which words belong to which cluster: (K, d); a view without zeros has no words."""
    model: Any = mixture.model_
    if not isinstance(model, ViewsModel):
        return _words_of(mixture.beta, prototypes, kappas, weights)
    found = np.zeros(prototypes.shape, dtype=bool)
    for v, (columns, sparse_view) in enumerate(zip(model.columns, model.sparse_views, strict=True)):
        if sparse_view:
            own = prototypes[:, columns]
            found[:, columns] = _words_of(mixture.beta, own, kappas[:, v], weights)
    return found


def _words_of(beta: float, prototypes: Array, kappas: Array, weights: Array) -> NDArray[np.bool_]:
    """Return the same for one view."""
    support: NDArray[np.bool_] = prototypes != 0.0
    if beta > 0.0:
        return support
    masses = group_masses(weights, kappas, prototypes.shape[1])
    scores = characteristic_scores(prototypes, masses)
    n = min(LISTED, prototypes.shape[1])
    best = np.argsort(-scores, axis=1, kind="stable")[:, :n]
    found = np.zeros(prototypes.shape, dtype=bool)
    np.put_along_axis(found, best, values=True, axis=1)
    return found & support

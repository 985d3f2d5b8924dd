"""VMFTree: every number of clusters from one fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spheremix import hierarchy
from spheremix.errors import ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.choosing import ADVICE, advise_on_tree
from spheremix.estimators.cuts import plant
from spheremix.estimators.fitted import set_fitted
from spheremix.estimators.gathering import lengths_of
from spheremix.estimators.problem import build_problem
from spheremix.estimators.tree_cuts import TreeCuts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from spheremix.advice import Advice
    from spheremix.estimators.choices import Auto, Engine, KappaName, Noise
    from spheremix.estimators.cuts import Planted
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel

    Array = NDArray[np.float64]

SAME = 1e-6  # relative difference of the log-likelihoods of the same rows in two engines


class VMFTree(TreeCuts):
    """Mixtures of von Mises-Fisher distributions for every number of clusters, from one fit.

    A search finds ``n_components`` fine clusters. They are merged pair after pair, each time the
    two whose union loses the least classification likelihood, down to one. Nothing but their
    resultants is needed for that. :meth:`cut` gives the mixture of any number of clusters: the
    tree's clusters, combined with those of a second tree and refined by EM.

    The tree keeps a reference to the rows that it was fitted to, since cuts read them; it is not
    pickled. A tree that was loaded has the cuts it was saved with, and gives others after
    :meth:`attach`.

    Parameters
    ----------
    n_components : int, default=40
        Number of leaves, the finest clusters.
    n_clusters : int, "advice" or None, default=None
        Number of clusters of ``labels_`` and ``predict``. "advice" takes the number that
        ``advice_`` recommends first. None takes the number from which the next merge costs most
        times the one before: a first guess, which costs nothing.
    kappa : {"shared", "free"} or number, default="shared"
        One concentration for all components, one each, or a given value.
    kappa_max : float or "auto", default="auto"
        As in :class:`VMFMixture`.
    noise, max_noise
        As in :class:`VMFMixture`. Noise is in no leaf, and every cut decides anew which rows are
        noise; nested levels are not to be had with it.
    n_init : int or "auto", default="auto"
        Runs of the search for the leaves. "auto" is 2, which are then combined.
    max_iter, tol, zero_tol, random_state, n_threads, engine
        As in :class:`VMFMixture`.
    verbose : int, default=0
        1 prints a line for each mixture that is fitted.
    callback : callable or None, default=None
        Called after each sweep with a :class:`spheremix.em.Progress`.

    Attributes
    ----------
    linkage_ : ndarray of shape (M - 1, 4)
        The tree of M leaves as SciPy has it, for ``scipy.cluster.hierarchy``: two nodes, the
        height in nats, and the number of leaves for each merge. Heights are the losses, raised to
        the largest loss of a merge before where they would fall (inversions).
    losses_ : ndarray of shape (M - 1,)
        What each merge takes from the classification likelihood, in nats; it may be negative where
        two clusters nearly coincide.
    sizes_ : ndarray of shape (2M - 1,)
        Rows of each node, or their weight.
    n_leaves_ : int
        M: ``n_components``, less those that are no row's most probable component.
    n_clusters_ : int
        Number of clusters of ``labels_``.
    best_estimator_ : VMFMixture
        The cut into ``n_clusters_`` clusters.
    labels_ : ndarray of shape (n,)
        Its clusters.
    cuts_ : dict of int to VMFMixture
        The cuts made so far.
    levels_ : dict of tuple of int to NestedLevels
        The nested levels made so far.
    hierarchy_ : Hierarchy
        The tree itself, with the resultants of its leaves.
    planted_ : Planted
        What cuts are made of: this tree, and that of the second best leaves.
    advice_ : Advice
        One to three recommended numbers of clusters, with the reasons and the doubts, as in
        :class:`VMFMixtureIC`. The evidence for each number is that of its cut, and what merging
        two of its clusters loses counts as much as the gain in likelihood. The advice is made when
        it is asked for, from the rows, and kept.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, labels, _ = sm.datasets.make_vmf_mixture(300, 5, 4, overlap=0.02, random_state=0)
    >>> tree = sm.VMFTree(n_components=10, random_state=0).fit(X)
    >>> tree.n_clusters_
    4
    >>> tree.cut(6).status_
    'converged'
    >>> tree.cut(levels=[2, 4]).numbers
    (2, 4)
    """

    _lengths: Array | None
    _advice: Advice | None

    def __init__(
        self,
        n_components: int = 40,
        *,
        n_clusters: int | Literal["advice"] | None = None,
        kappa: KappaName | float = "shared",
        kappa_max: float | Auto = "auto",
        noise: Noise | None = None,
        max_noise: float | Auto | None = "auto",
        n_init: int | Auto = "auto",
        max_iter: int = 1000,
        tol: float = 1e-7,
        zero_tol: float = 1e-8,
        random_state: Any = None,
        n_threads: int | None = None,
        engine: Engine = "auto",
        verbose: int = 0,
        callback: Callable[[Any], None] | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_clusters = n_clusters
        self.kappa = kappa
        self.kappa_max = kappa_max
        self.noise = noise
        self.max_noise = max_noise
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.zero_tol = zero_tol
        self.random_state = random_state
        self.n_threads = n_threads
        self.engine = engine
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Find the leaves, build the tree, and cut it into ``n_clusters`` clusters.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or Directions
            Rows are normalised; X is not changed.
        y : ignored
            For scikit-learn's conventions.
        sample_weight : array-like of shape (n,), default=None
            Non-negative; a weight of 2 counts as the row twice.

        Returns
        -------
        VMFTree
            Itself.
        """
        options = self._options()
        if isinstance(self.n_clusters, str):
            check.require_choice("n_clusters", self.n_clusters, (ADVICE,))
        problem, lengths = build_problem(options, X, sample_weight), lengths_of(X)
        planted = plant(options, problem, self._make)
        tree = planted.tree
        cuts = {} if planted.leaves is None else {tree.n_leaves: planted.leaves}
        advice = None
        if self.n_clusters == ADVICE and tree.n_leaves > 1:
            advice = self._advise(problem, planted, cuts, lengths)
            chosen = advice.best_candidate
        else:
            chosen = self._chosen(tree)
        self._add_cuts(problem, planted, cuts, [chosen])
        self.restore(planted, cuts, chosen, problem.columns)
        self._problem, self._lengths, self._advice = problem, lengths, advice
        return self

    def restore(
        self,
        planted: Planted,
        cuts: dict[int, VMFMixture],
        n_clusters: int,
        columns: dict[str, Any],
    ) -> Self:
        """Set the fitted attributes; the tree has no rows then, as one that was loaded.

        Parameters
        ----------
        planted : Planted
            The tree, and what its cuts are made of.
        cuts : dict of int to VMFMixture
            The cuts that are known.
        n_clusters : int
            That of ``labels_``, one of them.
        columns : dict
            ``n_features_in_``, and ``feature_names_in_`` where the columns have names.

        Returns
        -------
        VMFTree
            Itself.
        """
        tree = planted.tree
        set_fitted(
            self,
            {
                **columns,
                "hierarchy_": tree,
                "planted_": planted,
                "linkage_": tree.linkage,
                "losses_": tree.losses,
                "sizes_": tree.every_node()[0],
                "n_leaves_": tree.n_leaves,
                "n_clusters_": n_clusters,
                "best_estimator_": cuts[n_clusters],
                "cuts_": cuts,
                "levels_": {},
            },
        )
        self._problem = self._lengths = self._advice = None
        return self

    @property
    def advice_(self) -> Advice:
        """How many clusters there are, how sure that is, and what speaks against it."""
        check_is_fitted(self, "hierarchy_")
        if self._advice is None:
            if self.n_leaves_ < 2:
                raise ParameterError(
                    "A tree of one leaf has no other number of clusters to advise on",
                    remedies=("raise {n_components}",),
                )
            problem = self._rows()
            self._advice = self._advise(problem, self.planted_, self.cuts_, self._lengths)
        return self._advice

    def attach(self, X: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Return the rows back to a tree that was loaded, so that it can be cut again.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or Directions
            The rows that it was fitted to.
        sample_weight : array-like of shape (n,), default=None
            Their weights.

        Returns
        -------
        VMFTree
            Itself.
        """
        check_is_fitted(self, "hierarchy_")
        problem = build_problem(self._options(), X, sample_weight)
        known = self.best_estimator_
        same = problem.directions.n_features == self.n_features_in_ and len(known.labels_) == (
            problem.directions.n_rows
        )
        if same:
            (again,) = problem.directions.sweep([known.scorer_], problem.weights)
            same = bool(np.isclose(again.log_likelihood, known.log_likelihood_, rtol=SAME))
        if not same:
            raise ParameterError(
                "These are not the rows and the weights that the tree was fitted to",
                remedies=("fit a new tree to them",),
            )
        self._problem, self._lengths = problem, lengths_of(X)
        return self

    # Its own affairs

    def __getstate__(self) -> dict[str, Any]:
        """Leave the rows out of a pickle."""
        state: dict[str, Any] = super().__getstate__()
        rows = {"_problem", "_lengths"}
        return {name: value for name, value in state.items() if name not in rows}

    def _advise(
        self,
        problem: Problem[VMFModel],
        planted: Planted,
        cuts: dict[int, VMFMixture],
        lengths: Array | None,
    ) -> Advice:
        """Weigh the evidence for each number of clusters."""

        def cut(numbers: list[int]) -> dict[int, VMFMixture]:
            self._add_cuts(problem, planted, cuts, numbers)
            return {K: cuts[K] for K in numbers}

        return advise_on_tree(problem, planted.tree, cut, lengths, self.random_state)

    def _chosen(self, tree: hierarchy.Hierarchy) -> int:
        """Return the number of clusters of ``labels_``."""
        if self.n_clusters is None or isinstance(self.n_clusters, str):
            return hierarchy.largest_jump(tree.losses)
        return self._number(self.n_clusters, "n_clusters", tree.n_leaves)

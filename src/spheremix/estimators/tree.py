"""VMFTree: every number of clusters from one fit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spheremix import hierarchy
from spheremix.errors import ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.advice import ADVICE, Adviser, numbers_up_to
from spheremix.estimators.cuts import build_trees, cut_all, nest_all, split_cluster
from spheremix.estimators.fitted import add_fitted, set_fitted
from spheremix.estimators.mixture import SelectedMixture, VMFMixture
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.parameter_docs import documented
from spheremix.estimators.path import VMFPath
from spheremix.estimators.problem import build_problem
from spheremix.wording import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from spheremix.advice import Advice
    from spheremix.data.base import Engine
    from spheremix.estimators.cuts import NestedLevels, Trees
    from spheremix.estimators.options import Auto, KappaName, Noise
    from spheremix.estimators.problem import Problem
    from spheremix.hierarchy import Hierarchy
    from spheremix.models.vmf import VMFModel

    Array = NDArray[np.float64]

SAME = 1e-6  # relative difference of the log-likelihoods of the same rows in two engines
RUNS = 2  # of the search for the finest clusters, where n_init is "auto"


@documented
class VMFTree(SelectedMixture):
    """Mixtures of von Mises-Fisher distributions for every number of clusters, from one fit.

    A search finds ``n_leaves`` fine clusters. They are merged pair after pair, each time the
    two whose union loses the least classification likelihood, down to one. Nothing but their
    resultants is needed for that. :meth:`cut` gives the mixture of any number of clusters: the
    tree's clusters, combined with those of a second tree and refined by EM.

    The tree keeps a reference to the rows that it was fitted to, since cuts read them; it is not
    pickled. A tree that was loaded has the cuts it was saved with, and makes others after
    :meth:`attach`. Noise is in no leaf, and every cut decides anew which rows are noise; nested
    levels are not to be had with it.

    Parameters
    ----------
    n_leaves : int, default=40
        Number of leaves, the finest clusters; where there are fewer rows, one for each row.
    n_clusters : int, "advice" or None, default=None
        Number of clusters of ``labels_`` and ``predict``. "advice" takes the number that
        ``advice_`` recommends first. None takes the number from which the next merge costs most
        times the one before: a first guess, which costs nothing and often finds too few;
        ``doubts_`` say what speaks against it.
    {scalar_kappa}
    {kappa_max, kappa_prior, noise, max_noise}
    n_init : int or "auto", default="auto"
        Runs of the search for the leaves. "auto" is 2, which are then combined.
    {max_iter, tol, zero_tol, view_weights, sparse_views, random_state}
    {n_threads, engine}
    verbose : int, default=0
        1 prints a line for each mixture that is fitted.
    {callback}

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
        M: ``n_leaves``, less those that are no row's most probable component.
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
    trees_ : Trees
        What cuts are made of: this tree, and that of the second best leaves.
    advice_ : Advice
        The recommended number of clusters, a broader and a finer one, with the reasons and the
        doubts, as in :class:`VMFMixtureIC`. It is made when it is asked for, from the rows, and
        kept. It need not recommend ``n_clusters_``.
    doubts_ : tuple of str
        What speaks against ``n_clusters_``, in plain words: another number that ``advice_``
        recommends, and its doubts. Made of ``advice_``.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, labels, _ = sm.datasets.make_vmf_mixture(300, 5, 4, overlap=0.02, random_state=0)
    >>> tree = sm.VMFTree(n_leaves=10, random_state=0).fit(X)
    >>> tree.n_clusters_
    4
    >>> tree.cut(6).status_
    'converged'
    >>> tree.cut(levels=[2, 4]).numbers
    (2, 4)
    """

    linkage_: Array
    losses_: Array
    sizes_: Array
    n_leaves_: int
    n_clusters_: int
    cuts_: dict[int, VMFMixture]
    levels_: dict[tuple[int, ...], NestedLevels]
    hierarchy_: Hierarchy
    trees_: Trees
    _problem: Problem[VMFModel] | None
    _advice: Advice | None

    def __init__(
        self,
        n_leaves: int = 40,
        *,
        n_clusters: int | Literal["advice"] | None = None,
        kappa: KappaName | float = "shared",
        kappa_max: float | Auto = "auto",
        kappa_prior: ArrayLike | None = None,
        noise: Noise | None = None,
        max_noise: float | Auto | None = "auto",
        n_init: int | Auto = "auto",
        max_iter: int = 1000,
        tol: float = 1e-7,
        zero_tol: float = 1e-8,
        view_weights: Mapping[str, float] | None = None,
        sparse_views: Sequence[str] | None = None,
        random_state: Any = None,
        n_threads: int | None = None,
        engine: Engine = "auto",
        verbose: int = 0,
        callback: Callable[[Any], None] | None = None,
    ) -> None:
        self.n_leaves = n_leaves
        self.n_clusters = n_clusters
        self.kappa = kappa
        self.kappa_max = kappa_max
        self.kappa_prior = kappa_prior
        self.noise = noise
        self.max_noise = max_noise
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.zero_tol = zero_tol
        self.view_weights = view_weights
        self.sparse_views = sparse_views
        self.random_state = random_state
        self.n_threads = n_threads
        self.engine = engine
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: ARG002
        """Find the leaves, build the tree, and cut it into ``n_clusters`` clusters.

        Parameters
        ----------
        {X, y, sample_weight}

        Returns
        -------
        VMFTree
            Itself.
        """
        options = self._options()
        if isinstance(self.n_clusters, str):
            check.require_choice("n_clusters", self.n_clusters, (ADVICE,))
        problem = build_problem(options, X, sample_weight)
        n_rows = int(np.count_nonzero(problem.row_weights))
        n_leaves = min(check.require_integer("n_leaves", self.n_leaves, 1), n_rows)
        problem = replace(problem, n_components=n_leaves)
        trees = build_trees(options, problem, self._make)
        tree = trees.tree
        cuts = {} if trees.leaves is None else {tree.n_leaves: trees.leaves}
        advice = None
        if self.n_clusters == ADVICE and tree.n_leaves > 1:
            advice = self._advise(problem, tree.n_leaves)
            chosen = advice.best_candidate
        else:
            chosen = self._chosen(tree)
        self._add_cuts(problem, trees, cuts, [chosen])
        self.restore(trees, cuts, chosen, problem.columns)
        self._problem, self._advice = problem, advice
        return self

    def restore(
        self,
        trees: Trees,
        cuts: dict[int, VMFMixture],
        n_clusters: int,
        columns: dict[str, Any],
    ) -> Self:
        """Set the fitted attributes; the tree has no rows then, as one that was loaded.

        Parameters
        ----------
        trees : Trees
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
        tree = trees.tree
        set_fitted(
            self,
            {
                **columns,
                "hierarchy_": tree,
                "trees_": trees,
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
        self._problem = self._advice = None
        return self

    @property
    def advice_(self) -> Advice:
        """How many clusters there are, how sure that is, and what speaks against it."""
        check_is_fitted(self, "hierarchy_")
        if self._advice is None:
            if self.n_leaves_ < 2:
                raise ParameterError(
                    "A tree of one leaf has no other number of clusters to advise on",
                    remedies=("raise {n_leaves}",),
                )
            self._advice = self._advise(self._rows(), self.n_leaves_)
        return self._advice

    @property
    def doubts_(self) -> tuple[str, ...]:
        """What speaks against the number of clusters that the tree is cut into."""
        advice, K = self.advice_, self.n_clusters_
        if advice.n_clusters == K:
            return advice.doubts
        other = f"The tree is cut into {count(K, 'group')}, and the evidence speaks for another "
        return (f"{other}number. {advice.recommended[0].sentence}", *advice.doubts)

    def attach(self, X: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Take the rows again in a tree that was loaded, so that it can be cut again.

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
        same = problem.n_features == self.n_features_in_ and len(known.labels_) == (
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
        self._problem = problem
        return self

    # What is fitted from the tree

    @overload
    def cut(self, n_clusters: int) -> VMFMixture: ...

    @overload
    def cut(self, *, levels: Iterable[int]) -> NestedLevels: ...

    def cut(
        self, n_clusters: int | None = None, *, levels: Iterable[int] | None = None
    ) -> VMFMixture | NestedLevels:
        """Return the mixture of a number of clusters, or nested mixtures of several.

        A cut is computed once and kept in ``cuts_`` or ``levels_``. Single cuts are fitted freely,
        so the clusters of two of them are not nested. Nested levels are fitted together.

        Parameters
        ----------
        n_clusters : int
            Number of clusters, at most ``n_leaves_``.
        levels : iterable of int
            Two or more numbers of clusters, in place of ``n_clusters``.

        Returns
        -------
        VMFMixture or NestedLevels
            Fitted to the rows of the tree. Cluster numbers follow the tree from left to right.
        """
        if (n_clusters is None) == (levels is None):
            raise ParameterError("Give one of {n_clusters} and {levels}")
        if levels is None:
            return self.cuts([n_clusters])[0]  # type: ignore[list-item]
        if self.noise is not None:
            raise ParameterError(
                "A tree with noise has no nested {levels}: a row can be noise in one level and in "
                "a cluster in another",
                remedies=("fit the tree with {noise=None}", "give {n_clusters}, one at a time"),
            )
        numbers = tuple(sorted({self._number(K, "levels") for K in levels}))
        if len(numbers) < 2:
            raise ParameterError(
                "{levels} must list at least two different numbers of clusters",
                remedies=("give {n_clusters} for a single one",),
            )
        if numbers not in self.levels_:
            cuts = self.cuts(numbers)
            self.levels_[numbers] = nest_all(self._options(), self._rows(), cuts, self._make)
        return self.levels_[numbers]

    def cuts(self, numbers: Iterable[int]) -> list[VMFMixture]:
        """Return the cuts for several numbers of clusters, which share their sweeps.

        Parameters
        ----------
        numbers : iterable of int
            Numbers of clusters, at most ``n_leaves_``.

        Returns
        -------
        list of VMFMixture
            As :meth:`cut` gives them, one for each number.
        """
        check_is_fitted(self, "hierarchy_")
        wanted = [self._number(K, "n_clusters") for K in numbers]
        if set(wanted) - set(self.cuts_):
            self._add_cuts(self._rows(), self.trees_, self.cuts_, wanted)
        return [self.cuts_[K] for K in wanted]

    def split(self, k: int, n_components: int, *, n_clusters: int | None = None) -> VMFMixture:
        """Fit a mixture inside one cluster.

        Parameters
        ----------
        k : int
            The cluster.
        n_components : int
            Number of components inside it.
        n_clusters : int or None, default=None
            The cut that the cluster is of; that of ``labels_`` by default.

        Returns
        -------
        VMFMixture
            Fitted to the rows of the cluster, by a search of its own. In ``labels_`` the rows of
            other clusters have -1, and so has noise.
        """
        check_is_fitted(self, "hierarchy_")
        whole = self.best_estimator_ if n_clusters is None else self.cut(n_clusters)
        K = len(whole.weights_)
        if check.require_integer("k", k, 0) >= K:
            raise ParameterError("{k} must be in 0..{last}, got {got}", last=K - 1, got=k)
        mixture = self._make(check.require_integer("n_components", n_components, 1))
        return split_cluster(MixtureOptions.of(mixture), self._rows(), whole.labels_ == k, mixture)

    def path(self, n_clusters: int | None = None, **parameters: Any) -> VMFPath:
        """Follow the path from dense to sparse prototypes that begins at a cut.

        Parameters
        ----------
        n_clusters : int or None, default=None
            The cut; that of ``labels_`` by default.
        **parameters : object
            Of :class:`VMFPath`, where they differ from the tree's.

        Returns
        -------
        VMFPath
            Fitted to the rows of the tree.
        """
        check_is_fitted(self, "hierarchy_")
        dense = self.best_estimator_ if n_clusters is None else self.cut(n_clusters)
        shared = {**self._shared(VMFPath), "n_components": len(dense.weights_), "n_init": "auto"}
        problem = self._rows()
        path = VMFPath(**{**shared, "init": dense, **parameters})
        path.fit(problem.directions, sample_weight=problem.weights)
        add_fitted(path, problem.columns)
        add_fitted(path.best_estimator_, problem.columns)
        return path

    # Internal

    def __getstate__(self) -> dict[str, Any]:
        """Leave the rows out of a pickle."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_problem"}

    def _advise(self, problem: Problem[VMFModel], n_leaves: int) -> Advice:
        """Weigh the evidence for each number of clusters up to that of the leaves."""
        seed = check.draw_seeds(self.random_state, 1)[0]
        return Adviser(problem, seed, numbers_up_to(n_leaves)).advise()

    def _chosen(self, tree: Hierarchy) -> int:
        """Return the number of clusters of ``labels_``."""
        if self.n_clusters is None or isinstance(self.n_clusters, str):
            return hierarchy.largest_jump(tree.losses)
        return self._number(self.n_clusters, "n_clusters", tree.n_leaves)

    def _add_cuts(
        self,
        problem: Problem[VMFModel],
        trees: Trees,
        cuts: dict[int, VMFMixture],
        numbers: Iterable[int],
    ) -> None:
        """Fit the cuts that are not there yet."""
        missing = sorted(set(numbers) - set(cuts))
        if missing:
            cuts.update(cut_all(self._options(), problem, trees, missing, self._make))

    def _rows(self) -> Problem[VMFModel]:
        problem: Problem[VMFModel] | None = getattr(self, "_problem", None)
        if problem is None:
            raise ParameterError(
                "The tree was loaded without its rows, and what it needs them for was not saved",
                remedies=("give the rows back with attach(X)",),
            )
        return problem

    def _options(self) -> MixtureOptions:
        """Check the parameters; those that a tree does not have are the defaults of a mixture."""
        if not isinstance(self.kappa, str) and np.ndim(self.kappa):
            raise ParameterError("{kappa} must be 'shared', 'free' or a number: an array fixes K")
        n_init = RUNS if self.n_init == "auto" else self.n_init
        shared = {**self._shared(VMFMixture), "n_components": 1, "n_init": n_init}
        return MixtureOptions.of(VMFMixture(**shared))

    def _make(self, n_components: int) -> VMFMixture:
        """Make the mixture of a cut, not fitted yet."""
        return VMFMixture(**{**self._shared(VMFMixture), "n_components": n_components})

    def _number(self, K: Any, name: str, most: int | None = None) -> int:
        """Check a number of clusters."""
        number: int = check.require_integer(name, K, 1)
        most = self.n_leaves_ if most is None else most
        if number > most:
            raise ParameterError(
                f"{{{name}}}: a tree of {{most}} leaves cannot be cut into {{got}} clusters",
                remedies=("fit a tree with more {n_leaves}",),
                most=most,
                got=number,
            )
        return number

"""What is fitted from a tree: cuts, nested levels, clusters that are split, and paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spheremix.errors import ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.attributes import TreeAttributes
from spheremix.estimators.cuts import cut_all, nest_all, split_cluster
from spheremix.estimators.fitted import set_columns
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.options import MixtureOptions
from spheremix.estimators.path import VMFPath
from spheremix.estimators.selected import SelectedMixture

if TYPE_CHECKING:
    from collections.abc import Iterable

    from spheremix.estimators.choices import Auto, KappaName
    from spheremix.estimators.cuts import Planted
    from spheremix.estimators.levels import NestedLevels
    from spheremix.estimators.problem import Problem
    from spheremix.models.vmf import VMFModel

RUNS = 2  # of the search for the finest clusters, where n_init is "auto"


class TreeCuts(TreeAttributes, SelectedMixture):
    """The mixtures that VMFTree fits to its rows once the tree is there."""

    kappa: KappaName | float
    n_init: int | Auto
    _problem: Problem[VMFModel] | None

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
            self._add_cuts(self._rows(), self.planted_, self.cuts_, wanted)
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
        set_columns(path, problem.columns)
        set_columns(path.best_estimator_, problem.columns)
        return path

    def _add_cuts(
        self,
        problem: Problem[VMFModel],
        planted: Planted,
        cuts: dict[int, VMFMixture],
        numbers: Iterable[int],
    ) -> None:
        """Fit the cuts that are not there yet."""
        missing = sorted(set(numbers) - set(cuts))
        if missing:
            cuts.update(cut_all(self._options(), problem, planted, missing, self._make))

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
        return MixtureOptions.of(VMFMixture(**{**self._shared(VMFMixture), "n_init": n_init}))

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
                remedies=("fit a tree with more {n_components}",),
                most=most,
                got=number,
            )
        return number

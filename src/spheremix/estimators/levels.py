"""Nested levels of clusters: what a tree gives for several numbers of clusters at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spheremix import em
from spheremix.estimators import validation as check
from spheremix.estimators.fitted import FittedMixture
from spheremix.estimators.problem import summaries
from spheremix.estimators.starts import Start

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.problem import Problem
    from spheremix.models.nested import NestedModel
    from spheremix.models.vmf import VMFModel
    from spheremix.nesting import Nested

    Ids = NDArray[np.intp]


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
    >>> levels = sm.VMFTree(n_components=8, random_state=0).fit(X).cut(levels=[3, 6])
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

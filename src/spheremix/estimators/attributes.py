"""The fitted attributes of estimators as type checkers know them, and customary names for some.

The documentation of each estimator says what they are; :mod:`spheremix.estimators.fitted` sets
them.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Self

from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from spheremix.advice import Advice
    from spheremix.estimators.cuts import Planted
    from spheremix.estimators.levels import NestedLevels
    from spheremix.estimators.lloyd import KMeansRestart
    from spheremix.estimators.mixture import VMFMixture
    from spheremix.estimators.path import VMFPath
    from spheremix.estimators.problem import Restart
    from spheremix.hierarchy import Hierarchy
    from spheremix.models.coclustering import CoclusteringModel
    from spheremix.models.vmf import VMFModel
    from spheremix.path import PathState

    Array = NDArray[np.float64]
    Labels = NDArray[np.intp]

# What other packages call parameters that have another name here.
ELSEWHERE = {
    "k": "n_components",
    "n_clusters": "n_components",
    "n_jobs": "n_threads",
    "seed": "random_state",
}


class Customary:
    """What people who know other packages type first."""

    n_features_in_: int

    def __new__(cls, *_: Any, **parameters: Any) -> Self:
        """Say the name of a parameter that other packages call otherwise."""
        for name in parameters.keys() & ELSEWHERE.keys():
            known, here = inspect.signature(cls.__init__).parameters, ELSEWHERE[name]
            if name not in known and here in known:
                raise TypeError(f"{cls.__name__} has no parameter {name}: it is {here} here.")
        return super().__new__(cls)

    if TYPE_CHECKING:  # of scikit-learn, whose functions have no types

        def fit_predict(self, X: Any, y: Any = None, **parameters: Any) -> Labels:
            """Fit, and give the labels of the rows."""
            ...

    def _judged(self) -> Any:
        """Return the mixture that is chosen where several were fitted, or the estimator itself."""
        check_is_fitted(self)
        return getattr(self, "best_estimator_", self)

    @property
    def cluster_centers_(self) -> Array:
        """The prototypes, by the name that scikit-learn's KMeans gives to its centres."""
        prototypes: Array = self._judged().prototypes_
        return prototypes

    @property
    def converged_(self) -> bool:
        """Whether the fit has converged: ``status_`` says what else has happened."""
        return bool(self._judged().status_ == "converged")


class FitAttributes(Customary):
    """Of a mixture that was fitted to rows."""

    prototypes_: Array
    kappas_: Array
    weights_: Array
    labels_: Labels
    status_: str
    log_likelihood_: float
    objective_: float
    criteria_: dict[str, float]
    stationarity_gap_: float
    n_iter_: int
    runs_: list[Restart]


class MixtureAttributes(FitAttributes):
    """Of VMFMixture."""

    model_: VMFModel
    kappa_max_: float
    kkt_residual_: float
    n_distinct_prototypes_: int
    n_samples_seen_: int
    agreement_: float


class CoclusteringAttributes(FitAttributes):
    """Of VMFCoclustering."""

    model_: CoclusteringModel
    column_labels_: Labels
    n_parameters_: int


class KMeansAttributes(Customary):
    """Of SphericalKMeans."""

    prototypes_: Array
    labels_: Labels
    status_: str
    coherence_: float
    inertia_: float
    stationarity_gap_: float
    n_iter_: int
    n_samples_seen_: int
    agreement_: float
    runs_: list[KMeansRestart]


class PathAttributes(Customary):
    """Of VMFPath; arrays have a value for each step."""

    state_: PathState
    status_: str
    runs_: list[Restart]
    agreement_: float
    kappa_max_: float
    betas_: Array
    log_likelihoods_: Array
    entropies_: Array
    objectives_: Array
    n_nonzero_: Labels
    sparsity_: Array
    n_iters_: Labels
    stationarity_gaps_: Array
    n_distinct_prototypes_: Labels
    n_converged_: Labels
    statuses_: list[str]
    kappas_: Array
    weights_: Array
    sizes_: Array
    exit_betas_: Array
    criteria_: dict[str, Array]
    selected_: int


class SelectionAttributes(Customary):
    """Of VMFMixtureIC; arrays have a value for each number of components."""

    candidates_: Labels
    dense_criteria_: dict[str, Array]
    best_n_components_: int
    advice_: Advice
    dense_models_: dict[int, VMFMixture]
    paths_: dict[int, VMFPath]
    best_path_: VMFPath
    table_: dict[str, NDArray[Any]]
    agreement_: Array
    total_weight_: float


class TreeAttributes(Customary):
    """Of VMFTree."""

    linkage_: Array
    losses_: Array
    sizes_: Array
    n_leaves_: int
    n_clusters_: int
    cuts_: dict[int, VMFMixture]
    levels_: dict[tuple[int, ...], NestedLevels]
    hierarchy_: Hierarchy
    planted_: Planted

"""The mixture of any fitted estimator, and the rows that it was fitted to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spheremix.errors import ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.coclustering import HARD, VMFCoclustering
from spheremix.estimators.mixture import SelectedMixture, VMFMixture
from spheremix.estimators.skmeans import SphericalKMeans

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import Directions

    Array = NDArray[np.float64]

SAME = 1e-6  # difference of the likelihoods of the same rows in two engines: relative, and per row
SAME_PLACES = 0.5  # of the rows: labels of nested levels are not all the most probable ones


def mixture_of(model: Any) -> VMFMixture:
    """Return the mixture that a fitted estimator predicts by.

    That of a path, a study or a tree is the one that was chosen. Spherical k-means is the mixture
    of equal weights and one concentration, with hard assignments. A co-clustering is the mixture
    of its prototypes.
    """
    kinds = VMFMixture | SelectedMixture | SphericalKMeans | VMFCoclustering
    if not isinstance(model, kinds):
        raise ParameterError(
            "{model} must be a fitted estimator of spheremix, as VMFMixture, got a {got}",
            got=type(model).__name__,
        )
    check_is_fitted(model)
    if isinstance(model, VMFMixture):
        return model
    if isinstance(model, SelectedMixture):
        return model.best_estimator_
    if isinstance(model, SphericalKMeans):
        mixture, hard = model.as_mixture(), True
    else:
        given = (model.prototypes_, model.kappas_, model.weights_)
        mixture, hard = VMFMixture.from_parameters(*given), model.algorithm in HARD
    mixture.set_params(
        e_step="hard" if hard else "soft", n_threads=model.n_threads, engine=model.engine
    )
    return mixture


def open_rows_of(
    model: Any, X: Any, sample_weight: ArrayLike | None = None
) -> tuple[VMFMixture, Directions, Array | None]:
    """Open the rows that an estimator was fitted to, with their weights; refuse any others.

    Their number is compared, then the likelihood (of spherical k-means the coherence) of one sweep,
    and whether they are in the order of ``labels_``. A mixture of given parameters, or after
    ``partial_fit``, knows nothing of rows, and takes all.
    """
    mixture = mixture_of(model)
    rows = check.open_again(mixture, X)
    weights = check.check_weights(sample_weight, rows.n_rows)
    if not _are_of_fit(model, mixture, rows, weights):
        raise ParameterError(
            "{X} and {sample_weight} are not the rows and the weights that the model was fitted to",
            remedies=("give those, in the same order", "fit the model to these"),
        )
    return mixture, rows, weights


def _are_of_fit(model: Any, mixture: VMFMixture, rows: Directions, weights: Array | None) -> bool:
    """Return whether these are the rows and the weights of the fit, as far as can be told."""
    known = mixture if isinstance(model, SelectedMixture) else model
    value = getattr(known, "coherence_", getattr(known, "log_likelihood_", None))
    if value is None:
        return True
    labels = getattr(known, "labels_", None)
    if labels is not None and len(labels) != rows.n_rows:
        return False
    scorer = known.scorer_
    if mixture.model_.noise is None:  # its level may be another one for predictions
        judged = replace(scorer, assignment="hard")
        if not isinstance(known, SphericalKMeans):
            judged = known._density()  # noqa: SLF001
        (swept,) = rows.sweep([judged], weights)
        if not np.isclose(swept.log_likelihood, value, rtol=SAME, atol=SAME * swept.weight):
            return False
    if labels is None:
        return True
    again = scorer.clusters_of(rows.map_rows(scorer, "labels"))
    return bool(np.mean(again == labels) >= SAME_PLACES)

"""Spherical k-means in a report: its clusters, read as a mixture that was fitted to the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from spheremix.data.open import as_directions
from spheremix.estimators.fitted import FitSummary, FittedMixture, columns_of
from spheremix.estimators.mixture import VMFMixture
from spheremix.select import count_parameters, criteria

if TYPE_CHECKING:
    from spheremix.estimators.restarts import Restart
    from spheremix.estimators.skmeans import SphericalKMeans
    from spheremix.scorer import Scorer

NOTE = (
    "These are the groups of spherical k-means, which has no probabilities. Log-odds, "
    "likelihood and criteria are those of a mixture with the same groups: equal weights and one "
    "concentration."
)


class PartitionMixture(VMFMixture):
    """The mixture behind spherical k-means; its ``weights_`` are the shares of the rows.

    Rows are scored with equal weights, so each of them belongs to the nearest prototype. The shares
    order the clusters and rank their words, as :class:`spheremix.reading.Reading` does.
    """

    @property
    def scorer_(self) -> Scorer:
        """What engines read rows with: equal weights, one concentration and the prototypes."""
        check_is_fitted(self, "prototypes_")
        equal = np.full(len(self.kappas_), 1.0 / len(self.kappas_))
        return self.model_.scorer(self.model_.parameters(self.prototypes_, self.kappas_, equal))


def read_partition(means: SphericalKMeans, X: Any) -> PartitionMixture:
    """Describe the clusters of spherical k-means by the rows, as a fit describes a mixture.

    The equal weights were not fitted, so the criteria do not count them as parameters.
    """
    if X is None:
        raise ValueError("The report of a SphericalKMeans needs the rows of its fit: give X.")
    known = means.as_mixture()
    rows = as_directions(X, engine=means.engine, n_threads=means.n_threads)
    labels = means.predict(rows)
    (sums,) = rows.sweep([known.scorer_])
    K, d = known.prototypes_.shape
    summary = FitSummary(
        status=means.status_,
        n_iter=means.n_iter_,
        objective=means.coherence_,
        stationarity_gap=means.stationarity_gap_,
        kkt_residual=np.nan,
        log_likelihood=sums.log_likelihood,
        criteria=criteria(
            sums.log_likelihood,
            count_parameters(known.prototypes_, "shared") - (K - 1),
            sums.weight,
            d,
            sums.entropy,
        ),
        runs=cast("list[Restart]", means.runs_),  # they have what a report reads: the status
        agreement=means.agreement_,
    )
    mixture = PartitionMixture(K, engine=means.engine, n_threads=means.n_threads)
    FittedMixture(
        known.model_,
        known.prototypes_,
        known.kappas_,
        np.bincount(labels, minlength=K) / len(labels),
        columns_of(means),
        summary,
        labels,
    ).set_on(mixture)
    return mixture

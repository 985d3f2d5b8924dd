"""What every fitted mixture does with rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    DensityMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from spheremix.estimators import validation as check
from spheremix.estimators.top import top_posteriors

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from scipy import sparse

    from spheremix.data.base import Want
    from spheremix.scorer import Scorer

    Array = NDArray[np.float64]


class MixturePredictions(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, DensityMixin, BaseEstimator
):
    """Predictions from the scores of a fitted mixture.

    A subclass says what rows are assigned by (``scorer_``) and, where it differs, the mixture of
    densities (``_density``).
    """

    @property
    def scorer_(self) -> Scorer:
        """What engines read rows with."""
        raise NotImplementedError

    def _density(self) -> Scorer:
        return self.scorer_

    def _map(self, X: Any, want: Want) -> NDArray[Any]:
        check_is_fitted(self)
        scorer = self._density() if want == "log_density" else self.scorer_
        found = check.open_again(self, X).map_rows(scorer, want)
        if want == "posteriors":
            return found[:, : scorer.n_clusters]
        return scorer.clusters_of(found) if want == "labels" else found

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the most probable component of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows are normalised.

        Returns
        -------
        ndarray of shape (n,)
            Integers in 0..K-1, and -1 where noise is more probable than any of them.
        """
        return self._map(X, "labels")

    def predict_proba(self, X: Any) -> Array:
        """Return the posterior probabilities of the components.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows are normalised.

        Returns
        -------
        ndarray of shape (n, K)
            Rows sum to one, or to what the noise leaves.
        """
        return self._map(X, "posteriors")

    def predict_top(self, X: Any, k: int = 10) -> sparse.csr_array:
        """Return the posterior probabilities of the k most probable components of each row.

        The memory does not grow with the number of components: for many of them, where
        ``predict_proba`` gives a table of n times K numbers.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows are normalised.
        k : int, default=10
            How many a row has, or K if that is less.

        Returns
        -------
        CSR array of shape (n, K)
            Each row has k entries, by number of the component. They sum to less than one by what
            the other components, and the noise, have.
        """
        check_is_fitted(self)
        check.require_integer("k", k, 1)
        return top_posteriors(check.open_again(self, X), self.scorer_, k)

    def predict_noise(self, X: Any) -> Array:
        """Return the posterior probabilities of belonging to no component.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows are normalised.

        Returns
        -------
        ndarray of shape (n,)
            With the columns of ``predict_proba`` they sum to one. Zero for a mixture without noise.
        """
        check_is_fitted(self)
        posteriors = check.open_again(self, X).map_rows(self.scorer_, "posteriors")
        if not self.scorer_.has_noise:
            return np.zeros(len(posteriors))
        return np.ascontiguousarray(posteriors[:, -1])

    def transform(self, X: Any) -> Array:
        """Return the posterior probabilities, as features for a next step of a pipeline.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows are normalised.

        Returns
        -------
        ndarray of shape (n, K)
            As ``predict_proba``.
        """
        return self.predict_proba(X)

    def score_samples(self, X: Any) -> Array:
        """Return the log-density of each row under the mixture.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows are normalised.

        Returns
        -------
        ndarray of shape (n,)
            Relative to the surface measure of the sphere.
        """
        return self._map(X, "log_density")

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:  # noqa: ARG002
        """Return the mean log-density of the rows.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows are normalised.
        y : ignored
            For scikit-learn's conventions.
        sample_weight : array-like of shape (n,), default=None
            For a weighted mean.

        Returns
        -------
        float
            Larger is better.
        """
        return check.weighted_mean(self.score_samples(X), sample_weight)

    @property
    def _n_features_out(self) -> int:
        return self.scorer_.n_clusters

    def __sklearn_tags__(self) -> Any:
        """Say that sparse input is accepted."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags

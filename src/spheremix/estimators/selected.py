"""What estimators that choose a mixture do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator, ClusterMixin, DensityMixin
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from spheremix.estimators.mixture import VMFMixture

    Array = NDArray[np.float64]


class SelectedMixture(ClusterMixin, DensityMixin, BaseEstimator):
    """Predictions by ``best_estimator_``, the mixture that was chosen."""

    best_estimator_: VMFMixture

    @property
    def labels_(self) -> NDArray[np.intp]:
        """Most probable component of each row, in the chosen mixture."""
        return self.best_estimator_.labels_

    @property
    def n_iter_(self) -> int:
        """EM iterations that led to the chosen mixture from where it was started."""
        return self.best_estimator_.n_iter_

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Give the most probable component of each row in the chosen mixture.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows are normalised.

        Returns
        -------
        ndarray of shape (n,)
            Integers in 0..K-1.
        """
        check_is_fitted(self)
        return self.best_estimator_.predict(X)

    def predict_proba(self, X: Any) -> Array:
        """Give the posterior probabilities of the components of the chosen mixture.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows are normalised.

        Returns
        -------
        ndarray of shape (n, K)
            Rows sum to one.
        """
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(X)

    def score_samples(self, X: Any) -> Array:
        """Give the log-density of each row under the chosen mixture.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows are normalised.

        Returns
        -------
        ndarray of shape (n,)
            Relative to the surface measure of the sphere.
        """
        check_is_fitted(self)
        return self.best_estimator_.score_samples(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Give the mean log-density of the rows under the chosen mixture.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows are normalised.
        y : ignored
            For scikit-learn's conventions.

        Returns
        -------
        float
            Larger is better.
        """
        check_is_fitted(self)
        return self.best_estimator_.score(X, y)

    def __sklearn_tags__(self) -> Any:
        """Say that sparse input is welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

"""What every fitted estimator does with rows, and names that users of other packages expect."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    DensityMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from spheremix.errors import ParameterError
from spheremix.estimators import validation as check
from spheremix.estimators.parameter_docs import documented

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import Directions, Want
    from spheremix.scorer import Scorer

    Array = NDArray[np.float64]
    Labels = NDArray[np.intp]

# What other packages call parameters that have another name here.
ELSEWHERE = {
    "k": "n_components",
    "n_clusters": "n_components",
    "n_jobs": "n_threads",
    "seed": "random_state",
}
ENTRIES = 2**24  # scores that are held at a time: 128 MB
FEWEST = 16  # components that are scored at a time, however many rows there are


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
            """Fit, and return the labels of the rows."""
            ...

    def __sklearn_tags__(self) -> Any:
        """Say that sparse input is accepted."""
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags

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


@documented
class MixturePredictions(
    Customary,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    DensityMixin,
    BaseEstimator,
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
        {new_X}

        Returns
        -------
        ndarray of shape (n,)
            Integers in 0..K-1, and -1 where noise is more probable than any of them.
        """
        return self._map(X, "labels")

    def predict_proba(self, X: Any, *, calibrated: bool = False) -> Array:
        """Return the posterior probabilities of the components.

        Parameters
        ----------
        {new_X}
        calibrated : bool, default=False
            Whether they are calibrated, after :func:`spheremix.calibrate`. They are for rows that
            were not in the fit: the result of that function has those of the fit.

        Returns
        -------
        ndarray of shape (n, K)
            Rows sum to one, or to what the noise leaves. Calibrated ones are those if the row is
            no noise, and with labels sum to the share that is kept.
        """
        if not check.require_flag("calibrated", calibrated):
            return self._map(X, "posteriors")
        judged = self._judged()
        tempering = getattr(judged, "calibration_", None)
        if tempering is None:
            raise ParameterError(
                "{calibrated=True} needs a calibration of this fit",
                remedies=("call spheremix.calibrate with the model and its rows before",),
            )
        scores = check.open_again(self, X).map_rows(self.scorer_.clusters(), "scores")
        found: Array = tempering.posteriors(scores, np.log(judged.weights_))
        return found

    def predict_top(self, X: Any, k: int = 10) -> sparse.csr_array:
        """Return the posterior probabilities of the k most probable components of each row.

        The memory does not grow with the number of components: for many of them, where
        ``predict_proba`` gives a table of n times K numbers.

        Parameters
        ----------
        {new_X}
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
        {new_X}

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
        {new_X}

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
        {new_X}

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
        {new_X, y, mean_weight}

        Returns
        -------
        float
            Larger is better.
        """
        return check.weighted_mean(self.score_samples(X), sample_weight)

    @property
    def _n_features_out(self) -> int:
        return self.scorer_.n_clusters


def top_posteriors(directions: Directions, scorer: Scorer, k: int) -> sparse.csr_array:
    """Return the k largest posteriors of each row, of shape (n, K); noise counts, but is no column.

    Some components are scored at a time, which every engine can do: the rows are read once for each
    such block. The best components so far are kept, and the sum over all of them.
    """
    n, K = directions.n_rows, scorer.n_clusters
    k = min(k, K)
    width = min(K, max(FEWEST, ENTRIES // n))
    total = np.full(n, -np.inf)
    if scorer.has_noise:
        total[:] = scorer.biases[-1] + scorer.offset
    best, ids = np.empty((n, 0)), np.empty((n, 0), dtype=np.intp)
    for begin in range(0, K, width):
        part = slice(begin, min(begin + width, K))
        one = replace(
            scorer, matrix=scorer.matrix[part], biases=scorer.biases[part], has_noise=False
        )
        scores = directions.map_rows(one, "scores")
        total = np.logaddexp(total, np.logaddexp.reduce(scores, axis=1))
        numbers = np.broadcast_to(np.arange(part.start, part.stop), scores.shape)
        best, ids = _best(np.hstack([best, scores]), np.hstack([ids, numbers]), k)
    order = np.argsort(ids, axis=1)
    posteriors = np.exp(np.take_along_axis(best, order, axis=1) - total[:, None])
    columns = np.take_along_axis(ids, order, axis=1)
    ends = np.arange(0, n * k + 1, k)
    return sparse.csr_array((posteriors.ravel(), columns.ravel(), ends), shape=(n, K))


def _best(
    scores: NDArray[np.float64], ids: NDArray[np.intp], k: int
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Keep the k largest scores of each row."""
    if scores.shape[1] <= k:
        return scores, ids
    kept = np.argpartition(scores, -k, axis=1)[:, -k:]
    return np.take_along_axis(scores, kept, axis=1), np.take_along_axis(ids, kept, axis=1)

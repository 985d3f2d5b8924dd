"""Mixtures and their words inside BERTopic: a clustering model and a representation model.

BERTopic makes topics in steps, and each step can be replaced. :class:`MixtureClusters` takes the
place of HDBSCAN, :class:`CharacteristicWords` the place of the words by class-based TF-IDF. The
dimension need not be reduced: ``BaseDimensionalityReduction`` of BERTopic leaves embeddings as they
are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from bertopic.representation import BaseRepresentation
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.utils.validation import check_is_fitted

from spheremix.errors import ParameterError
from spheremix.estimators.calibration import calibrate
from spheremix.estimators.mixture import VMFMixture
from spheremix.estimators.path import VMFPath
from spheremix.estimators.selection import VMFMixtureIC
from spheremix.parameters import require_integer
from spheremix.reading.contrast import contrast_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Words = list[tuple[str, float]]

__all__ = ["CharacteristicWords", "MixtureClusters", "topic_probabilities"]


class MixtureClusters(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """A mixture as the clustering model of BERTopic, with calibrated probabilities.

    Parameters
    ----------
    mixture : VMFMixture, VMFPath or VMFMixtureIC
        What is fitted, to a copy of it. A VMFMixtureIC chooses the number of topics.
        ``VMFMixture(..., noise="uniform")`` has a topic -1, as HDBSCAN has.
    all_topics : bool, default=False
        Whether ``probabilities_`` has a column for each cluster, which ``visualize_distribution``
        of BERTopic needs. Otherwise it has the probability of the cluster of each row.

    Attributes
    ----------
    mixture_ : VMFMixture
        The mixture that was fitted, or selected.
    labels_ : ndarray of shape (n,)
        The cluster of each row, -1 for noise.
    probabilities_ : ndarray of shape (n,) or (n, K)
        Calibrated posteriors (:func:`spheremix.calibrate`): those of a mixture itself are nearly
        all 0 or 1. A row of noise has 0 where only its own cluster is asked for.
    calibration_ : Calibration
        The temperature, and the posteriors of other rows.
    """

    def __init__(
        self, mixture: VMFMixture | VMFPath | VMFMixtureIC, *, all_topics: bool = False
    ) -> None:
        self.mixture = mixture
        self.all_topics = all_topics

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the mixture to the rows that BERTopic gives; ``y`` is not used."""
        del y
        if not isinstance(self.mixture, VMFMixture | VMFPath | VMFMixtureIC):
            raise ParameterError(
                "{mixture} must be a VMFMixture, VMFPath or VMFMixtureIC, as in "
                "MixtureClusters(VMFMixture(20)), got {got}",
                got=type(self.mixture).__name__,
            )
        fitted = clone(self.mixture).fit(X)
        self.calibration_ = calibrate(fitted, X)
        self.mixture_ = self.calibration_.mixture
        self.labels_ = fitted.labels_
        self.n_features_in_ = fitted.n_features_in_
        every = self.calibration_.posteriors
        self.probabilities_ = every if self.all_topics else _own(every, self.labels_)
        return self

    def predict(self, X: Any) -> NDArray[np.intp]:
        """Return the cluster of new rows."""
        check_is_fitted(self)
        labels: NDArray[np.intp] = self.mixture_.predict(X)
        return labels

    def predict_proba(self, X: Any) -> Array:
        """Return the calibrated posteriors of new rows, a column for each cluster."""
        check_is_fitted(self)
        return self.calibration_.predict_proba(X)


class CharacteristicWords(BaseRepresentation):  # type: ignore[misc]
    """The characteristic words of spheremix as a representation model of BERTopic.

    Words are counted by the ``vectorizer_model`` of BERTopic and ranked by
    :func:`spheremix.reading.contrast_words`: a word is listed where the documents of a topic use it
    more than all others, beyond chance.

    Parameters
    ----------
    n_words : int, default=10
        Words of a topic, at most.
    """

    def __init__(self, n_words: int = 10) -> None:
        self.n_words = n_words

    def extract_topics(
        self,
        topic_model: Any,
        documents: Any,
        c_tf_idf: Any,
        topics: Mapping[int, Words],
    ) -> dict[int, Words]:
        """Return the words of each topic with their scores, in the way that BERTopic asks for them.

        Topic -1, and a topic without any word of its own, keep those of class-based TF-IDF.
        """
        del c_tf_idf
        n = require_integer("n_words", self.n_words, least=1)
        counter = topic_model.vectorizer_model
        # The same letters that BERTopic counts: it takes other characters out of English texts.
        texts = topic_model._preprocess_text(documents["Document"].to_numpy())  # noqa: SLF001
        labels = documents["Topic"].to_numpy().astype(np.intp)
        words = list(counter.get_feature_names_out())
        n_topics = int(labels.max(initial=0)) + 1
        found = contrast_words(counter.transform(texts), labels, words, n, n_groups=n_topics)
        chosen = dict[int, list[tuple[str, float]]]()
        for topic, before in topics.items():
            own = found[topic] if topic >= 0 else []
            chosen[topic] = [(word.word, word.score) for word in own] or list(before[:n])
        return chosen


def topic_probabilities(topic_model: Any, embeddings: Any) -> Array:
    """Return the calibrated probabilities of every topic for new documents.

    ``transform`` of BERTopic has probabilities for HDBSCAN alone, and BERTopic numbers the topics
    anew, the largest first; here a column is a topic of BERTopic.

    Parameters
    ----------
    topic_model : BERTopic
        Fitted, with a :class:`MixtureClusters` as its ``hdbscan_model``.
    embeddings : array-like of shape (n, d)
        Of the new documents, by the model that embedded those of the fit.

    Returns
    -------
    ndarray of shape (n, n_topics)
        Topics that were merged have the sum of their probabilities.
    """
    clusters = topic_model.hdbscan_model
    if not isinstance(clusters, MixtureClusters):
        raise ParameterError(
            "{topic_model} must be a fitted BERTopic with hdbscan_model=MixtureClusters(...), but "
            "its hdbscan_model is of the type {got}",
            got=type(clusters).__name__,
        )
    found = clusters.predict_proba(topic_model.umap_model.transform(embeddings))
    mapped = topic_model.topic_mapper_.get_mappings(original_topics=True)
    probabilities = np.zeros((len(found), max(mapped.values()) + 1))
    for cluster, topic in mapped.items():
        if cluster >= 0 and topic >= 0:
            probabilities[:, topic] += found[:, cluster]
    return probabilities


def _own(posteriors: Array, labels: NDArray[np.intp]) -> Array:
    """Return the posterior of the cluster of each row; zero for rows without one."""
    own: Array = posteriors[np.arange(len(labels)), labels]
    return np.where(labels >= 0, own, 0.0)

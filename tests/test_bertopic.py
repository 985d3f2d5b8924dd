"""The models for BERTopic, inside BERTopic, where it is installed."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import spheremix as sm
from spheremix.reading import contrast_words

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what other packages say while they are imported
    bertopic = pytest.importorskip("bertopic")
    from bertopic.dimensionality import BaseDimensionalityReduction

    from spheremix.bertopic import CharacteristicWords, MixtureClusters, topic_probabilities

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

SUBJECTS = (["heart", "blood", "artery"], ["wing", "flow", "air"], ["court", "judge", "law"])
SIZES = (20, 60, 40)
ODD = 8


def corpus():
    """Return texts of three subjects, their subjects, and directions around three axes."""
    rng = np.random.default_rng(0)
    subjects = rng.permutation(np.repeat(np.arange(3), SIZES))
    texts = [" ".join(["study", *rng.choice(SUBJECTS[k], size=4)]) for k in subjects]
    noise = rng.normal(scale=0.1, size=(len(texts), 16))
    return texts, subjects, np.eye(3, 16)[subjects] + noise


def topic_model(clusters, **parameters):
    return bertopic.BERTopic(
        embedding_model=None,
        umap_model=BaseDimensionalityReduction(),
        hdbscan_model=clusters,
        representation_model=CharacteristicWords(n_words=3),
        **parameters,
    )


def mixture(**parameters):
    return sm.VMFMixture(3, random_state=0, n_threads=1, **parameters)


@pytest.fixture(scope="module")
def fitted():
    texts, subjects, X = corpus()
    model = topic_model(MixtureClusters(mixture(), all_topics=True), calculate_probabilities=True)
    topics, probabilities = model.fit_transform(texts, X)
    return model, np.array(topics), probabilities, texts, subjects, X


def test_topics_are_the_clusters_numbered_by_size(fitted):
    _, topics, _, _, subjects, _ = fitted
    by_size = np.array([2, 0, 1])  # of 20, 60 and 40 documents
    np.testing.assert_array_equal(topics, by_size[subjects])


def test_words_are_the_characteristic_ones(fitted):
    model, topics, _, texts, _, _ = fitted
    counter = CountVectorizer()
    counts = counter.fit_transform(texts)
    expected = contrast_words(counts, topics, list(counter.get_feature_names_out()), 3)
    for topic, words in enumerate(expected):
        assert model.get_topic(topic) == [(word.word, word.score) for word in words]
    assert {word for word, _ in model.get_topic(0)} == set(SUBJECTS[1])


def test_probabilities_are_calibrated_posteriors_in_the_order_of_topics(fitted):
    model, topics, probabilities, _, _, X = fitted
    mix = mixture().fit(X)
    order = np.argsort(-np.bincount(mix.labels_))
    np.testing.assert_allclose(probabilities, sm.calibrate(mix, X).posteriors[:, order])
    np.testing.assert_array_equal(probabilities.argmax(axis=1), topics)
    new = X[:9] + 0.1
    predicted, _ = model.transform(["no words"] * 9, new)
    found = topic_probabilities(model, new)
    np.testing.assert_array_equal(found.argmax(axis=1), predicted)
    np.testing.assert_allclose(found, sm.calibrate(mix, X).predict_proba(new)[:, order])


def test_merged_topics_have_the_sum_of_their_probabilities(fitted):
    *_, texts, _, X = fitted
    model = topic_model(MixtureClusters(mixture()))
    model.fit_transform(texts, X)
    before = topic_probabilities(model, X[:9])
    model.merge_topics(texts, [0, 2])
    after = topic_probabilities(model, X[:9])
    np.testing.assert_allclose(after[:, 0], before[:, 0] + before[:, 2])
    np.testing.assert_allclose(after[:, 1], before[:, 1])


def test_noise_is_topic_minus_one():
    texts, _, X = corpus()
    model = topic_model(MixtureClusters(mixture(noise="uniform", max_noise=0.1)))
    topics, probabilities = model.fit_transform(
        [*texts, *["odd words here"] * ODD], np.vstack([X, -X[:ODD]])
    )
    assert topics[-ODD:] == [-1] * ODD
    assert probabilities.shape == (len(topics),)
    assert not probabilities[-ODD:].any()
    assert probabilities[:-ODD].min() > 0.3
    assert {word for word, _ in model.get_topic(-1)} == {"odd", "words", "here"}


def test_words_over_time_use_the_documents_of_each_time(fitted):
    model, _, _, texts, _, _ = fitted
    years = np.where(np.arange(len(texts)) % 2, 2001, 2000).tolist()
    found = model.topics_over_time(texts, years)
    assert len(found) == 6
    for words in found.Words[found.Topic == 2]:
        assert set(words.split(", ")) <= set(SUBJECTS[0])


def test_what_is_refused():
    _, _, X = corpus()
    with pytest.raises(ValueError, match="mixture must be a VMFMixture, VMFPath or VMFMixtureIC"):
        MixtureClusters(sm.SphericalKMeans(3)).fit(X)
    model = topic_model(sm.SphericalKMeans(3))
    with pytest.raises(ValueError, match="hdbscan_model is of the type SphericalKMeans"):
        topic_probabilities(model, X)


def test_the_number_of_topics_can_be_chosen():
    _, _, X = corpus()
    clusters = MixtureClusters(sm.VMFMixtureIC([2, 3], paths="none", random_state=0)).fit(X)
    assert clusters.labels_.max() + 1 == clusters.predict_proba(X).shape[1] == 3
    np.testing.assert_array_equal(clusters.predict(X), clusters.labels_)

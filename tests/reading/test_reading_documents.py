"""Documents against the posteriors of the models; explanations against the formula."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfTransformer

import spheremix as sm
from spheremix.bessel import log_normalizer
from spheremix.reading import Reading, agreement, contrast_words, documents, read_documents
from spheremix.reading.documents import Documents, certainties

N_WORDS = 40
NAMES = [f"word{j}" for j in range(N_WORDS)]


@pytest.fixture(scope="module")
def counts():
    """Three topics that overlap, so that posteriors are neither 0 nor 1."""
    rng = np.random.default_rng(3)
    means = rng.gamma(0.5, size=(3, N_WORDS)) + 0.1
    rows = rng.poisson(2 * means[np.arange(90) % 3])
    return sparse.csr_array(rows.astype(float))


@pytest.fixture(scope="module")
def path(counts):
    return sm.VMFPath(3, random_state=0, min_relative_increase=0.02).fit(counts)


@pytest.fixture(scope="module")
def reading(path):
    return Reading(path, NAMES)


def unit(X):
    X = X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


MIXTURES = {
    "shared": sm.VMFMixture(3, beta=5.0, random_state=0),
    "free": sm.VMFMixture(3, beta=5.0, kappa="free", random_state=0),
    "hard": sm.VMFMixture(3, e_step="hard", random_state=0),
    "block": sm.VMFCoclustering(3, random_state=0),
    "conscience": sm.VMFCoclustering(3, conscience=True, random_state=0),
}


@pytest.mark.parametrize("name", MIXTURES)
def test_documents_agree_with_the_model(name, counts):
    model = MIXTURES[name].fit(counts)
    found = Reading(model).documents(counts)
    posteriors = model.predict_proba(counts)
    ranked = np.argsort(-posteriors, axis=1)
    best, second = np.take_along_axis(posteriors, ranked[:, :2], axis=1).T
    assert_array_equal(found.labels, model.predict(counts))
    assert_array_equal(found.second_groups, ranked[:, 1])
    assert_allclose(found.posteriors, best, rtol=1e-12)
    assert_allclose(found.margins, best - second, atol=1e-14)
    assert_allclose(found.log_odds, np.log(best / second), rtol=1e-9, atol=1e-12)
    cosines = np.einsum("ij,ij->i", unit(counts), model.prototypes_[found.labels])
    assert_allclose(found.cosines, cosines, atol=1e-12)
    assert_array_equal(found.sizes(3), np.bincount(model.labels_, minlength=3))


def test_blocks_and_containers_change_nothing(reading, counts, monkeypatch):
    whole = reading.documents(counts)
    opened = read_documents(sm.as_directions(counts), reading.scorer)
    monkeypatch.setattr(documents, "BLOCK_SCORES", 50)
    blocks = reading.documents(counts)
    frame = reading.documents(pd.DataFrame(counts.toarray(), columns=NAMES))
    for field in ("labels", "second_groups", "posteriors", "margins", "log_odds", "cosines"):
        assert_array_equal(getattr(blocks, field), getattr(whole, field))
        assert_array_equal(getattr(opened, field), getattr(whole, field))
        assert_allclose(getattr(frame, field), getattr(whole, field), rtol=1e-9)


def test_documents_as_a_data_frame(reading, counts):
    found = reading.documents(counts)
    frame = pd.DataFrame(found.table())
    assert list(frame) == ["group", "posterior", "margin", "second_group", "log_odds", "cosine"]
    assert_array_equal(frame["group"], reading.model.predict(counts))
    assert_array_equal(frame["posterior"], found.posteriors)
    assert_array_equal(frame["margin"], found.margins)
    assert_array_equal(frame["second_group"], found.second_groups)
    assert_array_equal(frame["log_odds"], found.log_odds)
    assert_array_equal(frame["cosine"], found.cosines)


def test_one_group(counts):
    reading = Reading(sm.VMFMixture(1, n_init=1).fit(counts))
    found = reading.documents(counts)
    assert set(found.second_groups) == {-1}
    assert set(found.margins) == set(found.posteriors) == {1.0}
    assert np.isinf(found.log_odds).all()
    with pytest.raises(ValueError, match="one group only"):
        reading.why(counts[0])


def test_ambiguous_and_typical_documents(reading, counts):
    found = reading.documents(counts)
    assert_array_equal(found.ambiguous(None), np.argsort(found.log_odds, kind="stable"))
    assert_array_equal(found.ambiguous(4), found.ambiguous(None)[:4])
    for k in range(3):
        members = np.flatnonzero(found.labels == k)
        assert set(found.ambiguous(None, group=k)) == set(members)
        pulls = unit(counts)[members] @ (reading.model.kappas_[k] * reading.prototypes[k])
        assert_array_equal(found.typical(k, None), members[np.argsort(-pulls)])
        assert_array_equal(found.typical(k, 2), found.typical(k, None)[:2])
    for pair in ((0, 1), (2, 0)):
        both = [{a, b} == set(pair) for a, b in zip(found.labels, found.second_groups, strict=True)]
        assert set(found.ambiguous(None, between=pair)) == set(np.flatnonzero(both))


# --------------------------------------------------------------------------------------------- why


@pytest.mark.parametrize("name", MIXTURES)
def test_terms_add_up_to_the_log_odds(name, counts):
    model = MIXTURES[name].fit(counts)
    reading = Reading(model, NAMES)
    posteriors, found = model.predict_proba(counts), reading.documents(counts)
    for i in range(counts.shape[0]):
        why = reading.why(counts[[i]])
        assert (why.label, why.rival) == (found.labels[i], found.second_groups[i])
        odds = np.log(posteriors[i, why.label] / posteriors[i, why.rival])
        summed = why.bias + math.fsum(term.difference for term in why.terms)
        assert abs(why.log_odds - odds) < 1e-10
        assert abs(why.log_odds - summed) < 1e-10
        assert abs(why.log_odds - found.log_odds[i]) < 1e-10
        assert_allclose(why.posteriors, posteriors[i], atol=1e-12)


def test_terms_are_the_formula(counts):
    model = MIXTURES["free"].fit(counts)
    reading, x = Reading(model, NAMES), unit(counts)[5]
    why = reading.why(counts[5], group=2, against=0)
    assert (why.label, why.rival) == (2, 0)
    there = np.flatnonzero((x != 0) & ((model.prototypes_[2] != 0) | (model.prototypes_[0] != 0)))
    assert sorted(term.feature for term in why.terms) == there.tolist()
    for term in why.terms:
        j = term.feature
        assert term.word == NAMES[j]
        assert_allclose(term.value, x[j], rtol=1e-14)
        assert_allclose(term.term, model.kappas_[2] * model.prototypes_[2, j] * x[j])
        assert_allclose(term.rival_term, model.kappas_[0] * model.prototypes_[0, j] * x[j])
    sizes = [abs(term.difference) for term in why.terms]
    assert sizes == sorted(sizes, reverse=True)
    biases = np.log(model.weights_) + log_normalizer(N_WORDS, model.kappas_)
    assert_allclose(why.bias, biases[2] - biases[0], atol=1e-12)


def test_terms_are_exact_where_normalisers_are_large():
    """At d = 20,000 the logs of the densities are beyond 50,000, their differences some units."""
    rng = np.random.default_rng(0)
    dense = rng.random((60, 20_000)) * (rng.random((60, 20_000)) < 0.01)
    dense[:30, :50] = 1.0
    rows = sparse.csr_array(dense)
    model = sm.VMFMixture(2, kappa="free", n_init=2, random_state=0).fit(rows)
    reading = Reading(model)
    found = reading.documents(rows)
    assert abs(reading.scorer.offset) > 1e4
    for i in (0, 31, 59):
        assert abs(reading.why(rows[[i]]).log_odds - found.log_odds[i]) < 1e-10


def test_forms_of_one_document(reading, counts):
    dense = counts.toarray()[7]
    frame = pd.DataFrame(counts.toarray(), columns=NAMES)
    forms = [
        dense,
        dense[None],
        (5 * dense).tolist(),
        counts[7],
        counts[[7]],
        sparse.csr_matrix(counts)[7],
        frame.iloc[7],
        frame.iloc[[7]],
    ]
    for form in forms:
        assert_allclose(reading.why(form).log_odds, reading.why(dense).log_odds, rtol=1e-12)
    with pytest.raises(ValueError, match="a single row: got 2 rows"):
        reading.why(counts[:2])
    with pytest.raises(ValueError, match="39 features, the mixture 40"):
        reading.why(dense[1:])
    with pytest.raises(ValueError, match="no group 3: they are 0 to 2"):
        reading.why(dense, against=3)
    with pytest.raises(ValueError, match="cannot be compared with itself"):
        reading.why(dense, group=1, against=1)
    with pytest.raises(ValueError, match="zeros only"):
        reading.why(np.zeros(N_WORDS))
    for text in ("goal", ["goal"], np.array(["goal", "kick"])):
        with pytest.raises(ValueError, match=r"row of numbers, as the vectoriser makes .*goal"):
            reading.why(text)


# ----------------------------------------------------------------------------------------- reading


def test_what_can_be_read(path, counts):
    selected = Reading(path, NAMES)
    assert selected.step == path.selected_
    assert selected.model is path.best_estimator_
    assert_array_equal(selected.sizes, np.bincount(path.labels_, minlength=3))
    last = Reading(path, NAMES, step=-1)
    assert last.step == len(path.betas_) - 1
    assert last.sizes is None
    assert_array_equal(last.prototypes, path.model(-1).prototypes_)
    assert_array_equal(last.vocabulary.exit_betas, path.exit_betas_)
    mixture = Reading(path.model(3))
    assert mixture.step is None
    assert mixture.vocabulary.exit_betas is None
    study = sm.VMFMixtureIC([2, 3], k_criterion="bic", n_init=2, max_steps=30, random_state=0).fit(
        counts
    )
    of_study = Reading(study)
    assert of_study.model is study.best_estimator_
    assert of_study.path is study.best_path_
    assert Reading(study, step=2).model.beta == study.best_path_.betas_[2]


def test_words_of_a_contrast_name_groups_as_they_are_found(path, counts):
    found = contrast_words(counts, path.labels_, NAMES, 5)
    reading = Reading(path.best_estimator_, contrast=found)
    assert reading.contrast == [tuple(one.word for one in words) for words in found]
    for one in reading.groups(n_words=2):
        assert one.name == " · ".join(word.word for word in found[one.group][:2])
        assert one.contrast_words == tuple(word.word for word in found[one.group])
    assert Reading(path, contrast=reading.contrast).contrast == reading.contrast


def test_names_of_features(path, counts):
    assert Reading(path).feature_names[:2] == ["x0", "x1"]
    frame = pd.DataFrame(counts.toarray(), columns=NAMES)
    named = sm.VMFMixture(2, n_init=1, random_state=0).fit(frame)
    assert Reading(named).feature_names == NAMES
    with pytest.raises(ValueError, match="feature_names has 2 names, the model 40 features"):
        Reading(path, ["a", "b"])


def test_bad_readings(path):
    with pytest.raises(ValueError, match="no step 100000"):
        Reading(path, step=100_000)
    with pytest.raises(ValueError, match="step needs a path"):
        Reading(path.best_estimator_, step=0)
    with pytest.raises(NotFittedError):
        Reading(sm.VMFMixture())


def test_groups_in_short(reading, path):
    groups = reading.groups(n_words=2, n_listed=4)
    assert [c.group for c in groups] == reading.layout.groups.tolist()
    assert [c.weight for c in groups] == sorted(reading.weights, reverse=True)
    for c in groups:
        support = path.best_estimator_.prototypes_ != 0
        alone = support[c.group] & (support.sum(axis=0) == 1)
        assert (c.n_words, c.n_only_here_words) == (support[c.group].sum(), alone.sum())
        assert c.size == (path.labels_ == c.group).sum()
        assert c.kappa == path.best_estimator_.kappas_[c.group]
        assert c.name == reading.group_name(c.group, 2)
        assert list(c.words) == reading.vocabulary.words(c.group, 4)
        assert list(c.only_here_words) == reading.vocabulary.only_here_words(c.group, 4)
        assert list(c.shared_words) == reading.vocabulary.shared_words(c.group, 4)


def test_spherical_k_means_has_words_but_no_posteriors(counts):
    model = sm.SphericalKMeans(3, n_init=2, random_state=0).fit(counts)
    reading = Reading(model, NAMES)
    assert_allclose(reading.weights, np.bincount(model.labels_) / 90)
    assert reading.groups()[0].kappa is None
    with pytest.raises(ValueError, match="SphericalKMeans has no posteriors"):
        reading.documents(counts)


def test_classic3_reads_as_its_three_collections(data_folder):
    """Medicine, library science and aeronautics, by their words and by words of one alone."""
    rows = TfidfTransformer().fit_transform(sparse.load_npz(data_folder / "classic3" / "X.npz"))
    labels = np.load(data_folder / "classic3" / "labels.npy")
    vocabulary = (data_folder / "classic3" / "vocabulary.txt").read_text("utf-8").splitlines()
    path = sm.VMFPath(3, n_init=2, min_relative_increase=0.1, random_state=0).fit(rows)
    reading = Reading(path, vocabulary, X=rows)
    assert agreement(path.labels_, labels).ari > 0.95
    groups = reading.groups(n_listed=20)
    first = [{word.word for word in group.words} for group in groups]
    alone = [{word.word for word in group.only_here_words} for group in groups]
    for topic in (
        {"library", "libraries", "retrieval"},
        {"boundary", "layer", "supersonic"},
        {"patients", "cells", "cancer"},
    ):
        assert [topic <= words for words in first] == [bool(topic & words) for words in alone]
        assert sum(topic <= words for words in first) == 1


PAIR = ["apples", "boats"]


@pytest.mark.parametrize(
    ("label", "other", "odds", "stays", "said"),
    [
        (0, 1, 50.0, 1.0, "clearly here"),
        (0, 1, 50.0, 0.75, "clearly here"),
        (0, 1, 50.0, 0.7, "probably here"),
        (0, 1, 50.0, 0.5, "probably here"),
        (0, 1, 50.0, 0.45, "borderline with boats"),
        (1, 0, math.log(1.1), 1.0, "clearly here"),
        (0, -1, math.inf, 1.0, "clearly here"),
        (0, -1, math.inf, 0.2, "borderline"),
        (-1, 0, 50.0, 1.0, "belongs nowhere"),
    ],
)
def test_stability_decides_what_is_said_of_certainty(label, other, odds, stays, said):
    some = np.array([1.0])
    documents = Documents(np.array([label]), np.array([other]), some, some, np.array([odds]), some)
    assert certainties(documents, np.array([stays]), PAIR) == [said]

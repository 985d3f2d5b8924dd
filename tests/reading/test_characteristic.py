"""Characteristic words, words of one group only, and names, against their definitions."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.special import ive

import spheremix as sm
from spheremix.reading import (
    Reading,
    Vocabulary,
    characteristic_scores,
    group_masses,
    naming_words,
    word_shares,
)
from spheremix.reading.names import BETWEEN, alike, name_parts, write_name, write_names
from spheremix.text.writing import Writing

COORDINATES = st.sampled_from([0.0, 0.0, 0.25, 0.5, 1.0, -0.5, 2.0])


@st.composite
def prototypes_of(draw, most_groups=6, most_words=12):
    shape = draw(st.tuples(st.integers(1, most_groups), st.integers(1, most_words)))
    found = draw(arrays(float, shape, elements=COORDINATES))
    found[:, 0] += ~found.any(axis=1)  # every prototype has a word
    return found


def named_as(prototypes, words, writing=None):
    return Vocabulary(prototypes, words, writing=writing)


def named(prototypes, masses=None, shares=None):
    names = [f"w{j}" for j in range(prototypes.shape[1])]
    return Vocabulary(prototypes, names, masses=masses, document_shares=shares)


def name_of(words, k):
    return write_name([[one.word] for one in naming_words(words)[k]], words.writing)


@given(prototypes_of(), st.integers(0, 2**16))
def test_scores_one_by_one(prototypes, seed):
    """The formula, a word at a time, with signs and masses."""
    masses = np.random.default_rng(seed).random(len(prototypes)) + 0.01
    scores = characteristic_scores(prototypes, masses)
    for k, j in np.ndindex(prototypes.shape):
        total = sum(m * abs(row[j]) for m, row in zip(masses, prototypes, strict=True))
        weight = abs(prototypes[k, j])
        expected = weight**1.5 * masses[k] * weight / total if weight else 0.0
        assert scores[k, j] == pytest.approx(expected, rel=1e-12)
    assert_allclose(characteristic_scores(prototypes, 7.0 * masses), scores, rtol=1e-12)
    assert_allclose(characteristic_scores(-prototypes, masses), scores)
    ranked = [
        [word.feature for word in named(prototypes, masses).words(k)] for k in range(len(scores))
    ]
    for k, features in enumerate(ranked):
        assert (np.diff(scores[k, features]) <= 0).all()
        assert sorted(features) == np.flatnonzero(prototypes[k]).tolist()


def test_masses_are_expected_sums():
    """A_d(kappa) by SciPy's Bessel functions, and the sum of rows drawn from the mixture."""
    weights, kappas, d = np.array([0.25, 0.75]), np.array([40.0, 5.0]), 10
    lengths = ive(d / 2, kappas) / ive(d / 2 - 1, kappas)
    masses = group_masses(weights, kappas, d)
    assert_allclose(masses, weights * lengths, rtol=1e-12)
    assert_allclose(group_masses(weights, None, d), weights)
    means = np.eye(2, d)
    parts = [sm.VonMisesFisher(mu, kappa) for mu, kappa in zip(means, kappas, strict=True)]
    draws = [
        part.rvs(int(40_000 * w), random_state=0) for part, w in zip(parts, weights, strict=True)
    ]
    sums = [np.linalg.norm(rows.sum(axis=0)) / 40_000 for rows in draws]
    assert_allclose(masses, sums, atol=0.005)


def test_the_reading_of_a_mixture_takes_its_weights_and_kappas():
    X, _, _ = sm.datasets.make_vmf_mixture(200, 6, 3, kappa=30.0, random_state=1)
    free = sm.VMFMixture(3, kappa="free", random_state=0).fit(np.abs(X))
    expected = characteristic_scores(
        free.prototypes_, free.weights_ * sm.bessel.mean_length(6, free.kappas_)
    )
    assert_allclose(Reading(free).vocabulary.scores, expected, rtol=1e-12)
    means = sm.SphericalKMeans(3, random_state=0).fit(np.abs(X))
    shares = np.bincount(means.labels_, minlength=3) / 200
    expected = characteristic_scores(means.prototypes_, shares)
    assert_allclose(Reading(means).vocabulary.scores, expected, rtol=1e-12)


# ---------------------------------------------------------------------------- shares of documents


@pytest.mark.parametrize("kind", ["dense", "csr", "coo", "lists", "directions", "blocks"])
def test_shares_of_documents(kind, tmp_path):
    draw = np.random.default_rng(0)
    X = draw.integers(0, 3, size=(30, 7)) * 1.0
    X[:, 0] = 1.0  # no row is empty
    labels = draw.integers(-1, 3, size=30)
    np.save(tmp_path / "rows.npy", X)
    given_as = {
        "dense": X,
        "csr": sparse.csr_array(X),
        "coo": sparse.coo_array(X),
        "lists": X.tolist(),
        "directions": sm.as_directions(X),
        "blocks": sm.as_directions(tmp_path / "rows.npy"),
    }[kind]
    found = word_shares(given_as, labels, n_groups=4)
    for k in range(3):
        assert_allclose(found[k], (X[labels == k] > 0).mean(axis=0))
    assert (found[3] == 0).all()
    with pytest.raises(ValueError, match="29 labels for 30 rows"):
        word_shares(given_as, labels[1:])


def test_entries_that_are_zero_are_no_words():
    X = sparse.csr_array((np.array([0.0, 1.0, 2.0]), ([0, 0, 1], [0, 1, 1])), shape=(2, 2))
    assert word_shares(X, [0, 0]).tolist() == [[0.0, 1.0]]


def test_words_of_few_documents_are_not_listed_as_only_here():
    prototypes = np.array([[0.6, 0.5, 0.4, 0.0], [0.6, 0.0, 0.0, 0.8]])
    shares = np.array([[1.0, 0.04, 0.05, 0.0], [1.0, 0.0, 0.0, 0.5]])
    words = named(prototypes, shares=shares)
    assert [one.word for one in words.only_here_words(0)] == ["w2"]
    assert [one.word for one in words.only_here_words(0, least_share=0.0)] == ["w1", "w2"]
    assert words.only_here_words(0)[0].document_share == 0.05
    # Without rows there is no bound.
    assert [one.word for one in named(prototypes).only_here_words(0)] == ["w1", "w2"]


def test_words_that_documents_of_others_have_nearly_as_often_are_not_listed_as_only_here():
    prototypes = np.array([[0.6, 0.5, 0.4, 0.0], [0.6, 0.0, 0.0, 0.8]])
    shares = np.array([[1.0, 0.4, 0.4, 0.0], [1.0, 0.21, 0.2, 0.5]])
    words = named(prototypes, shares=shares)
    assert [one.word for one in words.only_here_words(0)] == ["w2"]
    assert [one.word for one in named(prototypes[:1], shares=shares[:1]).only_here_words(0)] == [
        "w0",
        "w1",
        "w2",
    ]  # one group alone has no others


def test_a_reading_takes_the_shares_of_the_step_that_is_read():
    X = np.array([[3, 1, 1, 0], [4, 2, 1, 0], [5, 1, 2, 0], [0, 0, 1, 3], [0, 1, 1, 4]])
    path = sm.VMFPath(2, random_state=0).fit(X)
    for step in (0, len(path.betas_) - 1):
        reading = Reading(path, ["heart", "blood", "the", "wing"], step=step, X=X)
        labels = path.model(step).predict(X)
        assert_allclose(reading.vocabulary.document_shares, word_shares(X, labels))
    assert Reading(path).vocabulary.document_shares is None


# ------------------------------------------------------------------------------------------ names


@given(prototypes_of(8, 10), st.integers(1, 4), st.integers(0, 2**16))
def test_no_two_names_share_two_words(prototypes, n, seed):
    masses = np.random.default_rng(seed).integers(1, 4, size=len(prototypes)) * 1.0
    words = named(prototypes, masses)
    names = [[one.feature for one in name] for name in naming_words(words, n)]
    for one, other in combinations(names, 2):
        assert len(set(one) & set(other)) <= 1
    for k, name in enumerate(names):
        scores = words.scores[k]
        assert 1 <= len(name) == len(set(name)) <= n
        assert scores[name[0]] == scores.max()  # the first word of a name is never given up
        # A shorter name has no other choice: every word left is in a name it has a word of already.
        if len(name) < n:
            for j in set(np.flatnonzero(prototypes[k])) - set(name):
                assert any(
                    j in other and set(name) & set(other) for i, other in enumerate(names) if i != k
                )


def test_names_of_large_vocabularies_are_full():
    draw = np.random.default_rng(5)
    for _ in range(20):
        prototypes = draw.random((12, 60)) ** 4
        names = naming_words(named(prototypes))
        assert all(len(name) == 3 for name in names)


def test_the_smaller_group_gives_way():
    prototypes = np.array([[0.7, 0.6, 0.3, 0.2, 0.0], [0.7, 0.6, 0.3, 0.0, 0.2]])
    words = named(prototypes, [1.0, 3.0])
    assert name_of(words, 1) == "w0 · w1 · w2"
    assert name_of(words, 0) == "w0 · w3"  # w1 or w2 would be the second word of both names
    assert [one.word for one in naming_words(words, 1)[0]] == ["w0"]


def test_a_name_is_of_words_that_documents_have_here_and_not_elsewhere():
    prototypes = np.array([[0.6, 0.55, 0.5, 0.3], [0.0, 0.0, 0.5, 0.8]])
    words = ["rare", "usual", "frequent", "weak"]
    shares = np.array([[0.1, 0.6, 0.9, 1.0], [0.0, 0.0, 0.8, 0.2]])
    masses = np.array([1.0, 1e-9])  # the scores of the first group are powers of coordinates
    bare = Vocabulary(prototypes, words, masses=masses)
    assert name_of(bare, 0) == "rare · usual · frequent"
    found = naming_words(replace(bare, document_shares=shares))[0]
    # The other group is all others: the root of the score times twice what is beyond, as
    # .465 ** .5 * .1, .408 ** .5 * .6, .354 ** .5 * .1, .164 ** .5 * .8.
    assert [one.word for one in found] == ["usual", "weak", "rare"]
    alone = Vocabulary(prototypes[:1], words, document_shares=shares[:1])
    assert name_of(alone, 0) == "frequent · weak · usual"


def test_the_order_of_a_name_depends_on_its_group_alone():
    """The others divided in another way have other shares, and the same documents together."""
    words = ["film", "star", "award", "sea", "sky"]
    prototypes = np.array([[0.7, 0.6, 0.4, 0, 0], [0.1, 0.2, 0.1, 0.9, 0], [0.3, 0, 0.1, 0, 0.9]])
    apart = np.array([[0.6, 0.5, 0.4, 0, 0], [0, 0.4, 0.1, 0.9, 0], [0.5, 0, 0.1, 0, 0.9]])
    merged = np.array([apart[0], apart[1:].mean(axis=0)])
    for masses, shares in (([2.0, 1.0, 1.0], apart), ([2.0, 2.0], merged)):
        found = prototypes[: len(masses)]
        vocabulary = Vocabulary(found, words, masses=masses, document_shares=shares)
        assert name_of(vocabulary, 0) == "award · film · star"


def test_a_name_is_of_nouns_and_written_as_in_the_texts():
    prototypes = np.array([[0.7, 0.6, 0.5, 0.4, 0.3], [0.0, 0.0, 0.0, 0.0, 1.0]])
    words = ["went", "oscar", "star", "best", "film"]
    writing = Writing(
        written={"oscar": "Oscar"},
        merit={"went": 0.0, "best": 0.2, "film": 0.9},
        phrases={"oscar": {"star": "Oscar star"}},
    )
    assert name_of(named_as(prototypes, words), 0) == "went · oscar · star"
    found = named_as(prototypes, words, writing)
    assert [one.word for one in naming_words(found)[0]] == ["oscar", "star", "film", "best"]
    names = write_names(name_parts(found, 3), words, writing)
    assert names == ["Oscar star · Film · Best", "Film"]


@pytest.mark.parametrize("seed", range(60))
def test_first_words_of_names_by_their_definition(seed):
    """Document by document: the share here, among all others, and in each other group."""
    rng = np.random.default_rng(seed)
    prototypes, groups = rng.random((4, 30)), rng.choice(4, 200, p=[0.5, 0.3, 0.15, 0.05])
    has = rng.random((200, 30)) < rng.random((4, 30))[groups]
    masses = np.bincount(groups, minlength=4).astype(float)
    shares = np.array([has[groups == k].mean(axis=0) for k in range(4)])
    words = named(prototypes, masses, shares)
    for k, [found] in enumerate(naming_words(words, 1)):
        merits = {}
        for one in words.words(k):
            j, here = one.feature, has[groups == k, one.feature].mean()
            nearest = max(has[groups == other, j].mean() for other in range(4) if other != k)
            more = 1.5 if here >= 1 / 3 and here > 5 * nearest else 1.0
            merits[j] = (
                more
                * words.scores[k, j] ** 0.5
                * (max(here - has[groups != k, j].mean(), 0.0) + max(here - nearest, 0.0))
            )
        assert found.feature == max(merits, key=merits.get)


def test_words_far_down_the_list_are_in_no_name_whatever_their_share():
    prototypes = np.linspace(1.0, 0.5, 80)[None, :]
    shares = np.full((1, 80), 0.01)
    shares[0, 75] = 1.0
    found = naming_words(named(prototypes, [1.0]), 3)[0]
    full = Vocabulary(prototypes, [f"w{j}" for j in range(80)], document_shares=shares)
    assert [one.feature for one in naming_words(full, 3)[0]] == [one.feature for one in found]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("type", "dtype", True),
        ("masked", "ma", True),
        ("stats", "statistic", True),
        ("economy", "economic", True),
        ("astoria financial", "astoria federal", True),
        ("interest rate", "rate", True),
        ("interest rate", "rates", False),
        ("campaign", "ai", False),
        ("star", "stand", False),
        ("x1", "x10", False),
        ("a", "apple", False),
        ("film", "oscar", False),
    ],
)
def test_words_that_say_the_same(one, other, same):
    assert alike(one, other) is alike(other, one) is same


def test_a_name_has_no_two_words_that_say_the_same():
    prototypes = np.array([[0.6, 0.5, 0.4, 0.3]])
    words = Vocabulary(prototypes, ["statistic", "stats", "sample", "press release"])
    assert name_of(words, 0) == "statistic · sample · press release"


def test_groups_of_the_same_single_word_have_the_same_name():
    words = named(np.array([[1.0], [1.0]]))
    assert [name_of(words, k) for k in (0, 1)] == ["w0", "w0"]


@pytest.fixture(scope="module")
def mixture():
    X, _, _ = sm.datasets.make_vmf_mixture(90, 5, 3, kappa=20.0, random_state=0)
    return sm.VMFMixture(3, n_init=1, random_state=0).fit(X)


def test_contrast_words_name_groups_without_sharing_two(mixture):
    contrast = [["a", "b", "c", "d"], ["a", "b", "c", "e"], []]
    reading = Reading(mixture, contrast=contrast)
    names = [reading.group_name(k).split(BETWEEN) for k in range(3)]
    assert len(set(names[0]) & set(names[1])) == 1
    assert names[2][0].startswith("x")  # no words of its texts: named by its coordinates

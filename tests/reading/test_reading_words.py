"""Orders, blocks and words against the definitions, spelled out."""

from __future__ import annotations

from functools import cmp_to_key

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from spheremix.reading import (
    Vocabulary,
    group_order,
    layout,
)

# Eighths add up exactly, whatever the order of the sum.
EIGHTHS = st.sampled_from([0.0, 0.0, 0.0, 0.125, -0.125, 0.25, 0.5, -1.0])


def tables(most_rows=9, most_columns=14):
    shapes = st.tuples(st.integers(1, most_rows), st.integers(1, most_columns))
    return hnp.arrays(float, shapes, elements=EIGHTHS)


def in_the_papers_order(prototypes):
    """Sort columns by the two conditions of section 3.5, compared pair by pair."""
    columns = prototypes.T.tolist()

    def compare(i, j):
        first, second = columns[i], columns[j]
        n_first, n_second = (sum(v != 0 for v in column) for column in (first, second))
        if n_first != n_second:
            return -1 if n_first > n_second else 1
        for a, b in zip(first, second, strict=True):
            if (a != 0) != (b != 0):
                return -1 if a != 0 else 1
        a, b = sum(map(abs, first)), sum(map(abs, second))
        return (a < b) - (a > b)

    return sorted(range(len(columns)), key=cmp_to_key(compare))


@given(tables())
def test_feature_order_is_the_papers(prototypes):
    assert layout(prototypes).features.tolist() == in_the_papers_order(prototypes)


@given(tables(), st.data())
def test_patterns_are_compared_from_the_largest_weight(prototypes, data):
    weights = np.array(data.draw(st.permutations(range(len(prototypes))))) / 7.0
    rows = np.argsort(-weights)
    assert_array_equal(group_order(weights), rows)
    found = layout(prototypes, weights)
    assert_array_equal(found.groups, rows)
    assert_array_equal(found.features, layout(prototypes[rows]).features)


@pytest.mark.parametrize("n_rows", [8, 63, 64, 65, 130])
def test_more_groups_than_bits(n_rows):
    rng = np.random.default_rng(n_rows)
    prototypes = rng.integers(1, 8, size=(n_rows, 40)) / 8.0
    prototypes[:, 20:] = prototypes[:, :20]
    prototypes[rng.integers(n_rows, size=40), np.arange(40)] = 0.0
    prototypes[:, 7] = 0.0
    assert layout(prototypes).features.tolist() == in_the_papers_order(prototypes)


@given(tables())
def test_blocks_are_the_patterns(prototypes):
    weights = np.arange(len(prototypes)) % 3
    found = layout(prototypes, weights)
    assert [b.start for b in found.blocks] == [0, *(b.stop for b in found.blocks[:-1])]
    assert found.blocks[-1].stop == prototypes.shape[1]
    support = prototypes != 0
    for block in found.blocks:
        assert block.n_groups == len(block.groups)
        for column in support[:, found.features[block.start : block.stop]].T:
            assert set(block.groups) == set(np.flatnonzero(column))
    assert len({frozenset(b.groups) for b in found.blocks}) == len(found.blocks)
    assert list(found.by_sharing) == sorted(found.by_sharing, reverse=True)
    for count, columns in found.by_sharing.items():
        assert (found.n_sharing[columns] == count).all()
    assert sum(s.stop - s.start for s in found.by_sharing.values()) == prototypes.shape[1]


# ------------------------------------------------------------------------------------------- words

NAMES = ["the", "cell", "wing", "book", "blood", "flow", "noise", "lift"]
PROTOTYPES = np.array(
    [
        [0.5, 0.6, 0.0, 0.0, 0.4, 0.3, 0.0, 0.0],
        [0.4, 0.0, 0.7, 0.0, 0.0, 0.5, 0.0, 0.2],
        [0.3, 0.2, 0.0, 0.9, 0.0, 0.0, 0.0, 0.0],
    ]
)
EXITS = np.array(
    [
        [9.0, 7.0, 0.0, 0.0, np.inf, 5.0, 0.0, 0.0],
        [9.0, 0.0, 6.0, 0.0, 0.0, 8.0, 0.0, 6.0],
        [5.0, 9.0, 0.0, np.inf, 0.0, 0.0, 0.0, 0.0],
    ]
)


@pytest.fixture(scope="module")
def words():
    return Vocabulary(PROTOTYPES, NAMES, EXITS)


def listed(found):
    return [word.word for word in found]


def test_features_of_exactly_these_groups(words):
    assert words.named(words.features_of([])) == ["noise"]
    assert words.named(words.features_of([0])) == ["blood"]
    assert words.named(words.features_of([1])) == ["wing", "lift"]
    assert words.named(words.features_of([1, 0])) == ["flow"]
    assert words.named(words.features_of([0, 2])) == ["cell"]
    assert words.named(words.features_of([1, 2])) == []
    assert words.named(words.features_of(range(3))) == words.common_words() == ["the"]


@given(tables(5, 20))
def test_every_feature_belongs_to_one_set_of_groups(prototypes):
    found = Vocabulary(prototypes, [str(j) for j in range(prototypes.shape[1])])
    subsets = {tuple(np.flatnonzero(column)) for column in (prototypes != 0).T}
    together = np.concatenate([found.features_of(subset) for subset in subsets])
    assert sorted(together) == list(range(prototypes.shape[1]))


def test_words_of_a_group(words):
    # Squared weights times shares: cell .36 * 6/8, the .25 * 5/12, blood .16, flow .09 * 3/8.
    assert listed(words.words(0)) == ["cell", "blood", "the", "flow"]
    assert listed(words.words(0, by="weight")) == ["cell", "the", "blood", "flow"]
    assert listed(words.words(0, 2, by="exit")) == ["blood", "the"]
    together = words.only_here_words(1, by="exit")
    assert listed(together) == ["wing", "lift"]  # they leave together: the heavier first
    assert listed(words.shared_words(1)) == ["flow"]  # "the" is of all three
    assert listed(words.shared_words(0)) == ["cell", "flow"]
    assert listed(words.shared_words(0, 1, by="exit")) == ["cell"]
    [blood] = words.only_here_words(0)
    assert (blood.feature, blood.group, blood.weight) == (4, 0, 0.4)
    assert (blood.score, blood.document_share) == (pytest.approx(0.4**1.5), None)
    assert (blood.exit_beta, blood.shared_with) == (np.inf, ())
    assert words.shared_words(2)[0].shared_with == (0,)
    assert words.words(2)[1].shared_with == (0, 1)  # the
    assert words.roles(0).tolist() == [
        "common", "shared", "other", "other", "own", "shared", "none", "other",
    ]  # fmt: skip


def test_words_without_a_path():
    words = Vocabulary(PROTOTYPES, NAMES)
    assert listed(words.words(0, by="weight")) == listed(words.words(0, by="exit"))
    assert words.words(0)[0].exit_beta is None
    assert np.isnan(words.table()["exit_beta"]).all()


def test_negative_coordinates_count_by_their_size():
    words = Vocabulary(np.array([[-0.8, 0.6, 0.0], [0.0, 0.0, 1.0]]), ["a", "b", "c"])
    assert listed(words.words(0)) == ["a", "b"]
    assert words.words(0)[0].weight == -0.8


@given(tables(5, 20))
def test_every_word_of_a_group_is_own_shared_or_common(prototypes):
    words = Vocabulary(prototypes, [f"w{j}" for j in range(prototypes.shape[1])])
    for k in range(len(prototypes)):
        roles = words.roles(k)
        for role, found in (("own", words.only_here_words(k)), ("shared", words.shared_words(k))):
            assert {word.feature for word in found} == set(np.flatnonzero(roles == role))
        others = {*listed(words.only_here_words(k)), *listed(words.shared_words(k))}
        rest = set(words.common_words()) if len(prototypes) > 1 else set()
        assert {*listed(words.words(k))} == others | rest
        assert not others & rest


@given(tables(5, 20), st.integers(0, 2**16))
def test_the_table_has_every_word(prototypes, seed):
    draw = np.random.default_rng(seed)
    exits = draw.integers(1, 4, size=prototypes.shape) * 1.0
    names = [f"w{j}" for j in range(prototypes.shape[1])]
    masses, shares = draw.random(len(prototypes)) + 0.1, draw.random(prototypes.shape)
    words = Vocabulary(prototypes, names, exits, masses, shares)
    table = words.table()
    expected = [word for k in range(len(prototypes)) for word in words.words(k)]
    assert table["word"].tolist() == listed(expected)
    assert table["group"].tolist() == [word.group for word in expected]
    assert table["weight"].tolist() == [word.weight for word in expected]
    assert table["exit_beta"].tolist() == [word.exit_beta for word in expected]
    assert table["score"].tolist() == [word.score for word in expected]
    assert table["document_share"].tolist() == [word.document_share for word in expected]
    assert table["n_groups"].tolist() == [1 + len(word.shared_with) for word in expected]
    for k in range(len(prototypes)):
        ranks = table["rank"][table["group"] == k]
        assert ranks.tolist() == list(range(1, len(ranks) + 1))


def test_layouts_of_nothing():
    assert layout(np.zeros((2, 0))).blocks == ()
    with pytest.raises(ValueError, match="one value a prototype"):
        layout(PROTOTYPES, [0.5, 0.5])


def test_bad_questions(words):
    for k in (-1, 3):
        with pytest.raises(ValueError, match=f"no group {k}: they are 0 to 2"):
            words.words(k)
    with pytest.raises(
        ValueError, match="by must be one of characteristic, weight, exit, got 'size'"
    ):
        words.words(0, by="size")
    with pytest.raises(ValueError, match="7 names for 8 features"):
        Vocabulary(PROTOTYPES, NAMES[1:])
    with pytest.raises(ValueError, match="exit_betas must have the shape"):
        Vocabulary(PROTOTYPES, NAMES, EXITS[1:])
    with pytest.raises(ValueError, match="document_shares must have the shape"):
        Vocabulary(PROTOTYPES, NAMES, document_shares=EXITS[1:])
    for masses in ([1.0, 1.0], [1.0, -1.0, 1.0], [0.0, 0.0, 0.0], [1.0, np.nan, 1.0]):
        with pytest.raises(ValueError, match="masses must be 3 numbers"):
            Vocabulary(PROTOTYPES, NAMES, masses=masses).words(0)

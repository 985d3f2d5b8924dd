"""Measures of groups and of their words, against plain loops over documents."""

from __future__ import annotations

from itertools import combinations
from math import log

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import spheremix as sm

WORDS = ["sea", "ship", "wheat", "corn", "the", "rare"]


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(3)
    drawn = rng.poisson([0.8, 0.5, 0.4, 0.4, 5.0, 0.02], size=(200, 6))
    drawn[:, 4] += 1  # a word of every document
    return drawn


def test_npmi_by_loops(counts):
    groups = [["sea", "ship", "wheat"], ["corn", "the"], ["rare", "sea"]]
    texts = [{WORDS[j] for j in np.flatnonzero(row)} for row in counts]

    def of(a, b):
        both = sum(a in text and b in text for text in texts) / len(texts)
        if both == 0:
            return -1.0
        alone = [sum(word in text for text in texts) / len(texts) for word in (a, b)]
        return 1.0 if both == 1 else log(both / (alone[0] * alone[1])) / -log(both)

    expected = [np.mean([of(*pair) for pair in combinations(group, 2)]) for group in groups]
    for form in (counts, sparse.csr_array(counts), sparse.coo_matrix(counts), counts.tolist()):
        assert_allclose(sm.metrics.npmi(groups, form, WORDS), expected, rtol=1e-12)
    columns = [[WORDS.index(word) for word in group] for group in groups]
    assert_allclose(sm.metrics.npmi(columns, counts), expected, rtol=1e-12)


def test_npmi_at_its_limits():
    counts = [[1, 1, 0, 1], [1, 1, 0, 1], [0, 0, 1, 1]]
    same, never, everywhere = sm.metrics.npmi([[0, 1], [0, 2], [3, 3]], counts)
    assert_allclose([same, never, everywhere], [1.0, -1.0, 1.0], rtol=1e-12)
    assert np.isnan(sm.metrics.npmi([[0]], counts)).all()


def test_diversity():
    assert sm.metrics.diversity([["a", "b"], ["b", "c"]]) == 0.75
    with pytest.raises(ValueError, match="at least one word"):
        sm.metrics.diversity([[], []])


def test_coverage_by_loops(counts):
    groups = [["sea", "ship"], ["wheat", "the", "rare"], ["corn"]]
    labels = np.random.default_rng(4).integers(-1, 2, size=len(counts))
    expected = []
    for g, group in enumerate(groups):
        texts = [row for row, label in zip(counts, labels, strict=True) if label == g]
        shares = [np.mean([row[WORDS.index(word)] > 0 for row in texts]) for word in group if texts]
        expected.append(np.mean(shares) if shares else np.nan)
    assert_allclose(sm.metrics.coverage(groups, counts, labels, WORDS), expected, rtol=1e-12)
    assert np.isnan(expected[2])


def test_refusals(counts):
    with pytest.raises(ValueError, match="'boat' is not in the vocabulary"):
        sm.metrics.npmi([["sea", "boat"]], counts, WORDS)
    with pytest.raises(ValueError, match="9 is not in the vocabulary"):
        sm.metrics.npmi([[0, 9]], counts)
    with pytest.raises(ValueError, match="vocabulary has 2 words, and counts 6 columns"):
        sm.metrics.npmi([["sea"]], counts, WORDS[:2])
    with pytest.raises(ValueError, match=r"one value a document \(200\)"):
        sm.metrics.coverage([["sea"]], counts, [0, 1], WORDS)

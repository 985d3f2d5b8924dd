"""The rankings and counts of benchmarks/word_partitions.py, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse


@pytest.fixture(scope="module", name="modules")
def scripts(benchmark_scripts):
    return benchmark_scripts("words", "word_partitions")


def test_rankings_of_a_partition(modules):
    words, partitions = modules
    counts = np.random.default_rng(0).integers(0, 3, size=(30, 6))
    texts = words.Texts(sparse.csr_array(counts), list("abcdef"))
    labels = np.arange(30) % 2
    found = partitions.rankings(texts, labels, 2)
    sums = np.array([texts.rows.toarray()[labels == k].sum(axis=0) for k in range(2)])
    mu = sums / np.sqrt((sums**2).sum(axis=1, keepdims=True))
    assert_allclose(found["mean direction"], mu)
    assert_allclose(found["characteristic"], mu**1.5 * sums / sums.sum(axis=0))


def test_rare_and_common_words_are_left_out(modules):
    words, partitions = modules
    n = 400  # a word must be in 5 documents, and in half of them at most
    documents = [4, 5, 200, 201, 400]
    counts = np.array([[i < most for most in documents] for i in range(n)]).astype(int)
    texts = words.Texts(sparse.csr_array(counts), list("abcde"))
    assert partitions.within_bounds(texts).words == ["b", "c"]


def test_a_text_that_is_often_repeated(modules):
    words, partitions = modules
    counts = np.ones((40, 12), dtype=int)
    counts[7:, :6] = 0  # seven documents have six words together
    counts[8:20, 0] = 1  # and twelve others one of them
    measures = words.Measures(sparse.csr_array(counts))
    components = np.array([[1.0] * 10 + [0.0] * 2])
    ((npmi, together, most),) = partitions.fixed_texts(measures, components)
    assert (together, most) == (7, 19)
    assert npmi == measures.npmi(list(range(10)))

"""GSDMM: a Gibbs sampler of a Dirichlet multinomial mixture, as a peer on short texts.

Each text belongs to one group; groups have a symmetric Dirichlet prior over words, and over their
shares. Both are integrated out, and each text in turn leaves its group and draws one given the
others:

    p(k) proportional to (m_k + alpha) prod_w prod_{j < N_w} (n_kw + beta + j)
                         / prod_{i < N} (n_k + V beta + i),

with m_k the texts of a group, n_kw its occurrences of a word and n_k of all words, and N those of
the text. Yin and Wang, A Dirichlet multinomial mixture model-based approach for short text
clustering, KDD 2014. ``benchmarks/views.py`` uses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALPHA, BETA = 0.1, 0.1  # of the paper
ITERATIONS = 30


def group(counts: Any, K: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return the group of each text after the last iteration.

    Parameters
    ----------
    counts : sparse matrix of shape (n, V)
        Whole numbers: how often each text has each word.
    K : int
        Groups at most: some may have lost all their texts in the end.
    rng : Generator
        Draws the groups.
    """
    texts = [_tokens(counts, i) for i in range(counts.shape[0])]
    labels = rng.integers(K, size=len(texts))
    sizes = np.zeros(K)
    words = np.zeros((counts.shape[1], K))
    for k, (tokens, _) in zip(labels, texts, strict=True):
        sizes[k] += 1.0
        np.add.at(words[:, k], tokens, 1.0)
    totals = words.sum(axis=0)
    prior = counts.shape[1] * BETA
    for _ in range(ITERATIONS):
        for i, (tokens, before) in enumerate(texts):
            _move(sizes, words, totals, labels[i], tokens, -1.0)
            steps = np.arange(len(tokens))[:, None]
            logs = np.log(sizes + ALPHA) - np.log(totals + prior + steps).sum(axis=0)
            logs += np.log(words[tokens] + (BETA + before)[:, None]).sum(axis=0)
            ends = np.cumsum(np.exp(logs - logs.max()))
            labels[i] = np.searchsorted(ends, rng.random() * ends[-1])
            _move(sizes, words, totals, labels[i], tokens, 1.0)
    return labels


def _tokens(counts: Any, i: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the words of a text one by one, and how often each one came before."""
    part = slice(counts.indptr[i], counts.indptr[i + 1])
    often = counts.data[part].astype(np.intp)
    before = np.concatenate([np.arange(n) for n in often]) if len(often) else np.empty(0)
    return np.repeat(counts.indices[part], often), before.astype(np.float64)


def _move(sizes: Any, words: Any, totals: Any, k: int, tokens: Any, sign: float) -> None:
    """Add a text to a group, or take it out."""
    sizes[k] += sign
    np.add.at(words[:, k], tokens, sign)
    totals[k] += sign * len(tokens)

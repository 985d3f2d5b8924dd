"""
An engine of your own: sums of word vectors
===========================================

A short text is often represented by the sum of the vectors of its words. With n texts, the sums
are a dense table of n rows. But a text has only a few words: the counts, a sparse table, and
the vectors of the words say the same in much less memory, and a sweep over them takes less
time.

This example writes an engine that is not in the package: its rows are products of two tables
that are never multiplied. Every estimator can use it.
"""

import time
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

import spheremix as sm
from spheremix.data.base import check_features, row_numbers
from spheremix.data.engines import engine_class, resolve_threads
from spheremix.scorer import Scorer
from spheremix.testing import check_engine

# %%
# The engine
# ----------
#
# Row i is C_i E, divided by its length. The score of a component with the vector M_k is the
# product of C_i E and M_k, which is the product of C_i and E M_k. So an engine for the rows of C
# does all the work, with other vectors; what it returns are sums of rows of C, and these times E
# are the sums of rows.
#
# Assignment by variation, which the search for starts uses, needs the lengths of the vectors M_k.
# They change when these are multiplied by E, so the numbers that depend on them are calculated
# before (``pulls``).


class Products:
    """Unit rows ``scale_i * (C_i E)``: an engine for C, behind a multiplication by E."""

    def __init__(self, C, E, *, first_row=0, n_threads=None, block=4096):
        self.n_rows, self.n_features = C.shape[0], E.shape[1]
        self.n_threads = resolve_threads(n_threads)
        self._C, self._E = C, np.asarray(E, dtype=np.float64)
        lengths = [
            np.linalg.norm(C[start : start + block] @ self._E, axis=1)
            for start in range(0, self.n_rows, block)
        ]
        self._scale = 1.0 / np.concatenate(lengths)
        make = engine_class("auto")
        self._rows = make(C, self._scale, first_row=first_row, n_threads=self.n_threads)

    def _scorer(self, scorer):
        check_features([scorer], self.n_features)
        matrix = np.ascontiguousarray(scorer.matrix @ self._E.T)
        return replace(scorer, matrix=matrix, rates=scorer.pulls)

    def sweep(self, scorers, weights=None):
        """Read the rows once; return the resultants of each scorer."""
        found = self._rows.sweep([self._scorer(one) for one in scorers], weights)
        return [replace(one, vectors=one.vectors @ self._E) for one in found]

    def map_rows(self, scorer, want):
        """Return labels, posteriors, scores or log-densities of all rows."""
        return self._rows.map_rows(self._scorer(scorer), want)

    def take(self, ids):
        """Return a few rows, dense."""
        ids = row_numbers(ids, self.n_rows)
        return (self._C[ids] @ self._E) * self._scale[ids, None]


# %%
# ``check_engine`` compares an engine with the specification, in many ways and on many kinds of
# tables. For that, the rows of a given table are written as a product: its columns in reverse
# order, times a matrix that turns them round.


def make(X, *, first_row=0, n_threads=1):
    C = X[:, ::-1] if isinstance(X, np.ndarray) else sparse.csr_array(X)[:, ::-1]
    return Products(C, np.eye(X.shape[1])[::-1], first_row=first_row, n_threads=n_threads)


check_engine(make)

# %%
# Short texts
# -----------
#
# Texts of twelve words on twenty topics. The vectors of the words of a topic are near each other.

rng = np.random.default_rng(0)
n, n_words, d, K = 30_000, 2_000, 256, 20
topic_of_word = rng.integers(0, K, size=n_words)
E = rng.normal(size=(K, d))[topic_of_word] + 3.0 * rng.normal(size=(n_words, d))
topics = rng.integers(0, K, size=n)
by_topic = [np.flatnonzero(topic_of_word == k) for k in range(K)]
words = rng.integers(0, n_words, size=(n, 12))
for k in range(K):
    own = np.flatnonzero(topics == k)
    words[own, :5] = rng.choice(by_topic[k], size=(len(own), 5))
texts = np.repeat(np.arange(n), 12)
C = sparse.csr_array((np.ones(12 * n), (texts, words.ravel())), shape=(n, n_words))

# %%
# The same fit, twice
# -------------------
#
# A fit to the products finds what a fit to the table finds, and needs a sixth of the memory. The
# table was made here for this comparison only.

opened = {"products": Products(C, E), "table": sm.as_directions(C @ E)}
size = {
    "products": C.data.nbytes + C.indices.nbytes + C.indptr.nbytes + E.nbytes,
    "table": n * d * 8,
}
fits = {}
for name, rows in opened.items():
    fits[name] = sm.VMFMixture(K, n_init=2, random_state=0).fit(rows)
    ari = adjusted_rand_score(topics, fits[name].labels_)
    print(f"{name:8}  {size[name] / 1e6:4.0f} MB  ARI {ari:.3f}")
same = adjusted_rand_score(fits["products"].labels_, fits["table"].labels_)
print(f"ARI of the two: {same:.3f}")

# %%
# How long a sweep takes, on this computer. The more components, the more the products save.

components = [10, 20, 50, 100, 200]
seconds = {name: [] for name in opened}
for n_components in components:
    scorer = Scorer.centred(rng.normal(size=(n_components, d)), np.zeros(n_components))
    for name, rows in opened.items():
        times = []
        for _ in range(5):
            began = time.perf_counter()
            rows.sweep([scorer])
            times.append(time.perf_counter() - began)
        seconds[name].append(min(times))

figure, ax = plt.subplots(figsize=(5.0, 3.4), layout="constrained")
for name, own in seconds.items():
    ax.plot(components, own, "o-", label=name)
ax.set(xlabel="components", ylabel="seconds of a sweep", ylim=(0, None))
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)

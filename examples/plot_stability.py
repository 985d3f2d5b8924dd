"""
How stable are the words of a cluster?
======================================

A sparse prototype is a list of words, and a list looks more certain than it is. This example draws
the documents again with replacement, fits again, and counts how often each word is selected.
"""

import matplotlib.pyplot as plt
import numpy as np

import spheremix as sm
from spheremix.display.style import OWN, PAIRS

corpus = sm.datasets.load_docstrings()
found = sm.text.vectorize(
    corpus, lemmatizer=None, weighting="sublinear-tfidf", min_df=10, max_df=0.5
)
path = sm.VMFPath(8, min_relative_increase=0.05, max_sparsity=0.95, random_state=0).fit(found.X)
frequencies = sm.stability_selection(path, found.X, n_bootstrap=30, random_state=0)

# %%
# Each bootstrap starts from the clusters that were found. It therefore measures how stable the
# *words* are, not how stable the clusters are.

reading = sm.reading.Reading(path, found.words)
support = reading.prototypes != 0.0
stable = support & (frequencies >= 0.9)
loose = support & (frequencies < 0.5)
print(f"{support.sum()} words in the prototypes: {stable.sum()} are in 90 % of the bootstraps,")
print(f"{loose.sum()} in less than half of them")

# %%
# Heavy words are stable
# ----------------------
#
# Each point is a word of a prototype, with its weight and with the share of the bootstraps that
# select it. Heavy words are always selected. For light words it depends on the sample.

figure, (ax, counts) = plt.subplots(
    1, 2, figsize=(9.6, 4.2), layout="constrained", width_ratios=(3, 2)
)
shared = support & (support.sum(axis=0) > 1)
for kind, colour, name in ((shared, PAIRS, "shared"), (support & ~shared, OWN, "only here")):
    ax.scatter(
        np.abs(reading.prototypes[kind]),
        frequencies[kind],
        s=6,
        lw=0,
        alpha=0.5,
        color=colour,
        label=f"{name} words",
    )
ax.set(
    xscale="log", xlabel="weight in the prototype", ylabel="share of the bootstraps that have it"
)
ax.legend(frameon=False, markerscale=3)
edges = np.linspace(0.0, 1.0, 11)
counts.hist(
    [frequencies[support & ~shared], frequencies[shared]], edges, stacked=True, color=[OWN, PAIRS]
)
counts.set(xlabel="share of the bootstraps", ylabel="words of the prototypes")
for one in (ax, counts):
    one.spines[["top", "right"]].set_visible(False)

# %%
# The most stable words that only one cluster has
# -----------------------------------------------

for cluster in reading.clusters(n_listed=200):
    ranked = sorted(cluster.only_here_words, key=lambda w: -frequencies[cluster.cluster, w.feature])
    listed = [f"{w.word} {frequencies[cluster.cluster, w.feature]:.0%}" for w in ranked[:4]]
    print(f"{cluster.name:34}", ", ".join(listed))

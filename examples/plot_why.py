"""
Why is this document here?
==========================

A document between two clusters tells most about both of them. The score of a cluster is a sum over
words, so the answer is exact: which words speak for which cluster, and by how much.
"""

import matplotlib.pyplot as plt
import numpy as np

import spheremix as sm

corpus = sm.datasets.load_docstrings()
found = sm.text.vectorize(
    corpus, lemmatizer=None, weighting="sublinear-tfidf", min_df=10, max_df=0.5
)
path = sm.VMFPath(10, n_init=10, min_relative_increase=0.05, max_sparsity=0.95, random_state=0).fit(
    found.X
)

# %%
# Margins
# -------
#
# The log-odds of a document say how much more probable its cluster is than the next one: 0 means
# equally probable, 3 means twenty to one. Most documents have much larger values, because in
# thousands of dimensions a few words decide. That is what the model says; it does not tell how sure
# you can be. Use the order of the documents: posteriors are nearly all 1, while the log-odds still
# distinguish documents.

reading = sm.reading.Reading(path, found.words)
documents = reading.documents(found.X)
names = [reading.group_name(k) for k in range(reading.n_groups)]
order = reading.layout.groups

figure, ax = plt.subplots(figsize=(9.0, 4.2), layout="constrained")
ax.boxplot(
    [documents.log_odds[documents.labels == k] for k in order[::-1]],
    orientation="horizontal",
    whis=(5, 95),
    showfliers=False,
    medianprops={"color": "#b5232f"},
)
ax.set_yticks(range(1, len(order) + 1), [names[k] for k in order[::-1]], parse_math=False)
ax.set_xlabel("log-odds against the next cluster (boxes: half of the documents; whiskers: 90 %)")
ax.spines[["top", "right"]].set_visible(False)
print("log-odds: smallest {:.1f}, median {:.0f}".format(*np.quantile(documents.log_odds, (0, 0.5))))

# %%
# One document between two clusters
# ---------------------------------
#
# The figure shows the words of the document with the smallest log-odds. Bars to the right speak for
# its cluster, bars to the left for the other cluster. The bias is the part that does not depend on
# words: the sizes and concentrations of the clusters. All bars together are the log-odds; nothing
# is left out.

tightest = documents.ambiguous(1)[0]
why = reading.why(found.X[[tightest]])
print(found.ids[tightest], "is in", repr(names[why.label]), "rather than", repr(names[why.rival]))
print(f"log-odds {why.log_odds:.3f}, posterior {why.posteriors[why.label]:.3f}")

first = why.terms[:16]
rest = sum(term.difference for term in why.terms[16:])
labels = [*(term.word for term in first), f"{len(why.terms) - 16} other words", "bias"]
values = np.array([*(term.difference for term in first), rest, why.bias])

bars, ax = plt.subplots(figsize=(9.0, 5.0), layout="constrained")
colours = np.where(values > 0, "#0072B2", "#D55E00")
colours[-2:] = "#9aa3ad"
ax.barh(np.arange(len(values)), values, color=colours)
ax.set_yticks(np.arange(len(values)), labels, parse_math=False)
ax.invert_yaxis()
ax.axvline(0.0, color="#333333", lw=0.8)
ax.set_xlabel("what the word adds to the log-odds")
ax.set_title(
    f"{names[why.rival]}  <    {found.ids[tightest]}    >  {names[why.label]}",
    fontsize=11,
    parse_math=False,
)
ax.spines[["top", "right"]].set_visible(False)

"""
The path: words leave, one after the other
==========================================

The penalty beta is the price of a word. At zero every word stays. The larger beta is, the fewer
words a cluster keeps, and the last words tell what the cluster is about. The path follows the
solutions from beta = 0 to one word in each cluster.
"""

import matplotlib.pyplot as plt
import numpy as np

import spheremix as sm
from spheremix.display.style import cluster_style

corpus = sm.datasets.load_docstrings()
found = sm.text.vectorize(
    corpus, lemmatizer=None, weighting="sublinear-tfidf", min_df=10, max_df=0.5
)
path = sm.VMFPath(8, min_relative_increase=0.1, random_state=0).fit(found.X)
print(f"{len(path.betas_)} steps, {path.status_}")

# %%
# Sparsity, likelihood, criteria
# ------------------------------
#
# The likelihood hardly changes as long as words leave that no cluster needs. Each criterion
# balances the likelihood and the number of words in its own way. The stars are the choices of the
# criteria.

curves = sm.PathDisplay.from_estimator(path)

# %%
# Which word leaves when
# ----------------------
#
# The left-hand picture shows how many words each cluster has left. ``exit_betas_`` has the smallest
# beta at which each word is dropped for good. The right-hand picture shows the ten words of the
# largest cluster that stay longest. A prototype has length one, so the coordinates of the words
# that stay become larger when other words leave.

reading = sm.reading.Reading(path, found.words)
largest = reading.layout.groups[0]
shown = np.flatnonzero(path.betas_ > path.betas_[-1] / 200)
prototypes = np.array([path.model(i).prototypes_ for i in shown])
betas, n_words = path.betas_[shown], np.count_nonzero(prototypes, axis=2)

figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.6), sharex=True, layout="constrained")
for k in reading.layout.groups:
    colour = cluster_style(k)["color"]
    left.plot(
        betas,
        n_words[:, k],
        lw=1.6,
        color=colour,
        ls="--" if k > 6 else "-",
        label=reading.group_name(k),
    )
left.set(yscale="log", ylabel="words left")
left.set_title("Words of each cluster", fontsize=11)
for i, word in enumerate(reading.vocabulary.words(largest, 10, by="exit")):
    stays = prototypes[:, largest, word.feature] != 0.0
    right.plot(
        betas[stays],
        prototypes[stays, largest, word.feature],
        ms=3,
        lw=1.2,
        label=word.word,
        **cluster_style(i),
    )
right.set(yscale="log", ylabel="coordinate of the prototype")
right.set_title(f"The last words of: {reading.group_name(largest)}", fontsize=11)
for ax in (left, right):
    ax.axvline(path.betas_[path.selected_], color="#333333", lw=0.9, ls=":")
    ax.set(xscale="log", xlabel=r"$\beta$ (dotted: the choice of the BIC)")
    ax.legend(frameon=False, fontsize=7, ncols=1 if ax is left else 2)
    ax.spines[["top", "right"]].set_visible(False)

# %%
# The path consists of local optima. Where a cluster changes its meaning, the curves jump, and what
# is to the right of a jump does not describe the clusters to its left.

"""
One concentration for all, or one each
======================================

The concentration kappa says how near the documents of a cluster are to its prototype. With
``kappa="shared"``, the default, all clusters have the same concentration, and a document belongs to
the nearest prototype (apart from the sizes of the clusters). With ``kappa="free"`` each cluster has
its own: a tight cluster takes only documents that are very near, and a broad cluster collects
documents that are near to no prototype.
"""

import matplotlib.pyplot as plt
import numpy as np

import spheremix as sm

# %%
# On the sphere
# -------------
#
# The points are a broad group and a tight group beside it. The circles contain half and nine tenths
# of each component.

rng = np.random.default_rng(3)
broad, tight = np.array([0.45, 0.45, 0.77]), np.array([0.86, 0.25, 0.44])
X = np.concatenate(
    [
        sm.VonMisesFisher(broad / np.linalg.norm(broad), 8.0).rvs(500, random_state=rng),
        sm.VonMisesFisher(tight / np.linalg.norm(tight), 300.0).rvs(120, random_state=rng),
    ]
)
groups = np.repeat([0, 1], (500, 120))

figure, axes = plt.subplots(1, 2, figsize=(9.4, 5.2))
figure.subplots_adjust(left=0.01, right=0.99, bottom=0.01, top=0.88, wspace=0.02)
mixtures = {}
for ax, kappa in zip(axes, ("shared", "free"), strict=True):
    mixtures[kappa] = mixture = sm.VMFMixture(2, kappa=kappa, init=groups).fit(X)
    right = np.mean(mixture.labels_ == groups)
    sm.SphereDisplay.from_estimator(mixture, X, ax=ax)
    kappas = " and ".join(f"{value:.0f}" for value in np.unique(mixture.kappas_.round()))
    ax.set_title(f'kappa="{kappa}": {kappas}\n{right:.0%} of the points in their group')

# %%
# In a corpus
# -----------
#
# The same two models are fitted to documents. Concentrations grow with the dimension, so the figure
# compares the cosines of documents with their prototype instead. With free concentrations some
# clusters are small sets of near-copies, for example pages made from one template, and one cluster
# is broad and large: it contains the documents that resemble nothing else. The numbers beside the
# names are numbers of documents.

corpus = sm.datasets.load_docstrings()
found = sm.text.vectorize(
    corpus, lemmatizer=None, weighting="sublinear-tfidf", min_df=10, max_df=0.5
)
models = {
    kappa: sm.VMFMixture(10, kappa=kappa, n_init=10, random_state=0).fit(found.X)
    for kappa in ("shared", "free")
}

chart, axes = plt.subplots(1, 2, figsize=(9.6, 4.4), layout="constrained", sharex=True)
for ax, (kappa, model) in zip(axes, models.items(), strict=True):
    reading = sm.reading.Reading(model, found.words)
    documents = reading.documents(found.X)
    order = np.argsort([documents.cosines[documents.labels == k].mean() for k in range(10)])
    spread = [documents.cosines[documents.labels == k] for k in order]
    ax.boxplot(spread, orientation="horizontal", whis=(5, 95), showfliers=False)
    names = [f"{reading.group_name(k, 2)}  {reading.sizes[k]:,}" for k in order]
    ax.set_yticks(range(1, 11), names, fontsize=8, parse_math=False)
    low, high = model.kappas_.min(), model.kappas_.max()
    ax.set_title(f'kappa="{kappa}": {low:,.0f}' + (f" to {high:,.0f}" if high > low else ""))
    ax.set_xlabel("cosine of documents with their prototype")
    ax.spines[["top", "right"]].set_visible(False)

# %%
# Shared concentrations are the safer choice when the number of clusters must be found. Use free
# concentrations when you look for tight groups, such as near-copies.

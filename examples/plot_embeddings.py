"""
Embeddings, read by their words
===============================

The coordinates of an embedding have no names, so a sparse prototype of embeddings cannot be read.
This example fits the clusters without a penalty and finds words for them afterwards: the words that
the documents of a cluster use more often than the other documents, beyond chance. The embeddings
come from latent semantic analysis; any other embeddings are used in the same way.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer

import spheremix as sm
from spheremix.display.style import cluster_style

corpus = sm.datasets.load_docstrings()
vectorizer = sm.text.TextVectorizer(lemmatizer=None, min_df=10, max_df=0.5)
counts = vectorizer.fit_count(corpus.texts)
words = vectorizer.get_feature_names_out()
weighted = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
embeddings = TruncatedSVD(50, random_state=0).fit_transform(weighted)

# %%
# A dense mixture in fifty dimensions, and the words that set its clusters apart.

mixture = sm.VMFMixture(8, n_init=10, random_state=0).fit(embeddings)
contrast = sm.reading.contrast_words(counts, mixture.labels_, words, n=8)
reading = sm.reading.Reading(mixture, contrast=[[word.word for word in one] for one in contrast])
for group in reading.groups():
    print(f"{group.size:4}  {', '.join(group.contrast_words)}")

# %%
# Words that set the clusters apart
# ---------------------------------
#
# The bars are standardised log-odds ratios. A value above 2 is hardly due to chance. A word that
# all clusters use equally has a value near 0, and a rare word has a small value even if only one
# cluster uses it.

figure, axes = plt.subplots(2, 4, figsize=(10.0, 4.8), layout="constrained")
for ax, k in zip(axes.flat, reading.layout.groups, strict=True):
    telling = contrast[k]
    ax.barh(range(8), [word.z for word in telling], color=cluster_style(k)["color"])
    ax.set_yticks(range(8), [word.word for word in telling], fontsize=7, parse_math=False)
    ax.invert_yaxis()
    ax.set_title(f"{reading.sizes[k]} documents", fontsize=8)
    ax.tick_params(axis="x", labelsize=7)
    ax.spines[["top", "right"]].set_visible(False)

# %%
# How far apart the clusters are
# ------------------------------
#
# The table shows the cosines between prototypes. Embeddings often lie in a narrow cone, and then
# all prototypes are near each other. Here the values off the diagonal show how much of their
# direction all documents share.

order = reading.layout.groups
cosines = mixture.prototypes_[order] @ mixture.prototypes_[order].T
chart, ax = plt.subplots(figsize=(8.0, 5.0), layout="constrained")
image = ax.imshow(cosines, cmap="Blues", vmin=0.0, vmax=1.0)
names = [reading.group_name(k) for k in order]
ax.set_yticks(range(len(order)), names, fontsize=8, parse_math=False)
ax.set_xticks([])
for (i, j), value in np.ndenumerate(cosines):
    colour = "white" if value > 0.55 else "#333333"
    ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color=colour)
chart.colorbar(image, ax=ax, shrink=0.8, label="cosine between prototypes")

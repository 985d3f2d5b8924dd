"""
The prototype map of a corpus
=============================

One picture shows a whole corpus: which clusters there are, how large they are, which words only one
cluster has, which words clusters share, and which words are in no cluster. The corpus is the
documentation of numpy, scipy and scikit-learn.
"""

import spheremix as sm

# %%
# From documents to directions: words that are in ten documents at least and in half of them at
# most, weighted by tf-idf.

corpus = sm.datasets.load_docstrings()
found = sm.text.vectorize(
    corpus, lemmatizer=None, weighting="sublinear-tfidf", min_df=10, max_df=0.5
)
print(f"{found.X.shape[0]} documents, {found.X.shape[1]} words")

# %%
# Ten clusters, and the path from dense prototypes to sparse ones. Steps of five per cent are fine
# enough for a picture. The BIC chooses among them.

path = sm.VMFPath(10, n_init=10, min_relative_increase=0.05, max_sparsity=0.95, random_state=0).fit(
    found.X
)
print(f"beta {path.betas_[path.selected_]:.0f}, sparsity {path.sparsity_[path.selected_]:.2f}")

# %%
# The map
# -------
#
# Each row is a cluster, as high as the cluster is large. Each column is a word; the darker it is,
# the more it weighs. From left to right: words of all clusters, of most clusters, of three
# clusters, of two clusters (orange), the words of one cluster only (red, one block in each row),
# and words that are in no prototype (grey). Below the map are the heaviest words of each part.

display = sm.PrototypesDisplay.from_estimator(path, found.words)

# %%
# The words of each cluster
# -------------------------
#
# The same prototypes as lists, the heaviest words first. Own words are above, in red. Shared words
# are below, each with the number of clusters that have it.

words = sm.WordsDisplay.from_estimator(path, found.words)

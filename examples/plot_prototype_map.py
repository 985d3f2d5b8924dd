"""
The prototype map of a corpus
=============================

One picture of a whole corpus: which groups there are, how large they are, which words are their
own, which they share, and which are nobody's. The corpus is the documentation of numpy, scipy and
scikit-learn.
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
# A row is a cluster, as high as it is large; a column is a word. From the left: the words of all
# clusters, of most, of three, of pairs (orange), the own words of each cluster (red, one block a
# row), and nobody's words (grey). The darker, the heavier. Below, the heaviest words of each
# part.

display = sm.PrototypesDisplay.from_estimator(path, found.words)

# %%
# The words of each cluster
# -------------------------
#
# The same prototypes as lists, the heaviest words first: own words above, in red; below them the
# shared words, with the number of clusters that have them.

words = sm.WordsDisplay.from_estimator(path, found.words)

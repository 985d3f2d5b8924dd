"""
Coarser and finer groups
========================

A tree shows the groups of a corpus at every number of groups. Here the documents are those of
numpy, scipy and scikit-learn, and the tree has 30 leaves.
"""

import spheremix as sm

corpus = sm.datasets.load_docstrings()
found = sm.text.vectorize(
    corpus, lemmatizer=None, weighting="sublinear-tfidf", min_df=10, max_df=0.5
)
tree = sm.VMFTree(30, random_state=0).fit(found.X)

# %%
# The tree
# --------
#
# A leaf has its number of documents and the words that distinguish it from the rest. A branch has
# the words that distinguish it from its sibling. The further to the left two branches meet, the
# more likelihood is lost when they become one group. Colours are the groups of a cut.

sm.TreeDisplay.from_estimator(tree, found.words, n_clusters=6)

# %%
# Two levels
# ----------
#
# Two numbers of groups, asked for together, give levels that are nested: each of the fine groups
# lies in one of the coarse groups, with all its documents.

levels = tree.cut(levels=[4, 10])
coarse = sm.reading.Reading(levels[4], found.words)
fine = sm.reading.Reading(levels[10], found.words)
for flow in sm.reading.flows(*levels.labels):
    names = coarse.group_name(flow.before), fine.group_name(flow.after)
    print(f"{flow.n_documents:5}  {names[0]:30} {names[1]}")

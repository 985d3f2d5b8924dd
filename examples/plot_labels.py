"""
Clusters beside labels and dates
================================

Labels and dates are never used to make clusters. They are compared with the clusters afterwards.
The labels in this example are the sub-packages from which the docstrings come. Docstrings have no
dates, so the second figure uses a simulated year of news.
"""

import numpy as np

import spheremix as sm

# %%
# Labels
# ------
#
# Each row is a cluster and each column is a label. The numbers count documents, and the colour
# shows their share of the cluster. A row with one dark cell is a cluster that agrees with a label.
# A row with several dark cells is a subject that several labels have in common.

corpus = sm.datasets.load_docstrings()
found = sm.text.vectorize(
    corpus, lemmatizer=None, weighting="sublinear-tfidf", min_df=10, max_df=0.5
)
mixture = sm.VMFMixture(10, n_init=10, random_state=0).fit(found.X)
reading = sm.reading.Reading(mixture, found.words)
names = [reading.group_name(k) for k in range(10)]
labels = [corpus.labels["package"][row] for row in found.rows]
table = sm.LabelsDisplay.from_groups(mixture.labels_, labels, names=names, n_labels=18)

agreement = sm.reading.agreement(mixture.labels_, [label for [label] in labels])
print(f"adjusted Rand index with the sub-packages: {agreement.ari:.2f}")

# %%
# Dates
# -----
#
# There are three subjects in a year of news: one that is always there, one of the summer, and one
# about an election in November. The fit does not see the dates, but the clusters show the seasons.

rng = np.random.default_rng(0)
words = [
    "prices",
    "shares",
    "bank",
    "sun",
    "beach",
    "festival",
    "vote",
    "party",
    "poll",
    "the",
    "of",
]
shares = np.full((3, 11), 0.02)
for k in range(3):
    shares[k, 3 * k : 3 * k + 3] = 0.2
shares[:, 9:] = 0.11
shares /= shares.sum(axis=1, keepdims=True)
days = [rng.uniform(0, 365, 300), rng.normal(205, 25, 250), rng.normal(310, 18, 200)]
subject = np.repeat([0, 1, 2], [len(one) for one in days])
counts = np.array([rng.multinomial(20, shares[k]) for k in subject])
offsets = np.clip(np.concatenate(days), 0, 364).astype("timedelta64[D]")
dates = (np.datetime64("2023-01-01") + offsets).astype(str)

news = sm.VMFMixture(3, n_init=10, random_state=0).fit(counts)
called = sm.reading.Reading(news, words)
hills = sm.TimelineDisplay.from_groups(
    news.labels_, dates, names=[called.group_name(k) for k in range(3)]
)

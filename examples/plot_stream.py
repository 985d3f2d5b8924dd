"""
Batch by batch: a fit that never holds all rows
===============================================

``partial_fit`` takes one step on a batch of rows and forgets the rows. It keeps running sums, one
vector for each cluster. Use it for streams, and for data that are too large to keep.
"""

import matplotlib.pyplot as plt
import numpy as np

import spheremix as sm
from spheremix.display.style import cluster_style

# %%
# The data are twelve thousand rows around five prototypes in fifty dimensions, and two thousand
# more rows to judge the result.

X, labels, truth = sm.datasets.make_vmf_mixture(
    14_000, 50, 5, overlap=0.05, sparsity=0.5, random_state=0
)
rows, held_out = X[:12_000], X[12_000:]

# %%
# The first batch is fitted as a whole, with several runs. Every other batch is one step. After each
# batch the mixture can predict, so it is judged on the rows that were kept apart.

stream = sm.VMFMixture(5, n_init=10, random_state=0)
seen, scores, angles = [], [], []
for batch in np.array_split(rows, 60):
    stream.partial_fit(batch)
    seen.append(stream.n_samples_seen_)
    scores.append(stream.score(held_out))
    cosines = stream.prototypes_ @ truth.prototypes.T
    angles.append(np.degrees(np.arccos(cosines.max(axis=1))))

whole = sm.VMFMixture(5, n_init=10, random_state=0).fit(rows)
ideal = whole.score(held_out)
print(
    f"held-out log-likelihood: first batch {scores[0]:.2f}, stream {scores[-1]:.2f}, "
    f"all rows at once {ideal:.2f}"
)
agreement = sm.reading.agreement(stream.predict(held_out), whole.predict(held_out))
print(f"agreement of the two partitions: adjusted Rand index {agreement.ari:.3f}")

# %%
# On the left is the likelihood of rows that were never fitted; the dashed line is a fit to all rows
# at once. On the right is the angle between each prototype and the true one.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.0), layout="constrained")
left.plot(seen, scores, color="#0072B2", marker="o", ms=3)
left.axhline(ideal, color="#333333", lw=1.0, ls="--")
left.set(xlabel="rows seen", ylabel="log-likelihood of held-out rows, mean")
for k, curve in enumerate(np.transpose(angles)):
    right.plot(seen, curve, ms=3, lw=1.2, **cluster_style(k))
right.set(xlabel="rows seen", ylabel="degrees from the true prototype", ylim=(0, None))
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)

# %%
# The penalty is on the scale of all rows seen, so use it at the end: stream with ``beta=0``, then
# follow the path on as many rows as fit into memory, starting from the stream (``init=stream``).

sample = rows[:3000]
path = sm.VMFPath(5, init=stream).fit(sample)
found = np.mean(path.best_estimator_.prototypes_ == 0.0)
print(f"planted zeros {np.mean(truth.prototypes == 0.0):.2f}, found {found:.2f}")

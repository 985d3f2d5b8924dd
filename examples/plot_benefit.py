"""
What it is for: a broad group and a tight one
=============================================

There are two groups of directions. One is broad and large, the other is tight and small, and they
have most features in common. An example is a hundred near-copies of a press release among all the
other news of a day. k-means and spherical k-means do not find the two groups. A mixture of von
Mises-Fisher distributions finds them, and its sparse prototypes show what distinguishes them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import spheremix as sm

# %%
# The data
# --------
#
# There are sixty features. Twelve are in both groups and are the heaviest ones, twenty are in the
# broad group only, eight are in the tight group only, and twenty are in neither. The angle between
# the two means is 33 degrees, while most rows of the broad group are more than 70 degrees away from
# their own mean: this is what a small concentration looks like in sixty dimensions.

kinds = {"both": 12, "broad": 20, "tight": 8, "noise": 20}
names = np.array([f"{kind}{i + 1}" for kind, n in kinds.items() for i in range(n)])
means = np.zeros((2, 60))
means[:, :12] = 2.5
means[0, 12:32] = 0.9
means[1, 32:40] = 1.2
means /= np.linalg.norm(means, axis=1, keepdims=True)

sizes = (1500, 100)
rng = np.random.default_rng(0)
X = np.concatenate(
    [
        sm.VonMisesFisher(mean, kappa).rvs(n, random_state=rng)
        for mean, kappa, n in zip(means, (15.0, 100.0), sizes, strict=True)
    ]
)
groups = np.repeat([0, 1], sizes)

# %%
# Three partitions
# ----------------
#
# k-means and spherical k-means have one radius for all clusters. Two halves of the broad group cost
# less than the two real groups, so they cut the broad group, and the tight group disappears in one
# of the halves. The mixture with one concentration for each component (``kappa="free"``) can give
# the tight group a concentration of its own.

mixture = sm.VMFMixture(2, kappa="free", n_init=10, random_state=0).fit(X)
partitions = {
    "k-means": KMeans(2, n_init=10, random_state=0).fit(X).labels_,
    "spherical k-means": sm.SphericalKMeans(2, random_state=0).fit(X).labels_,
    "VMFMixture, free kappa": mixture.labels_,
}
scores = {name: adjusted_rand_score(groups, labels) for name, labels in partitions.items()}
for name, score in scores.items():
    print(f"{name:24} adjusted Rand index {score:5.2f}")
print("concentrations", np.round(mixture.kappas_, 1), "weights", np.round(mixture.weights_, 3))

# %%
# All three partitions are drawn in the same plane. Points to the right are nearer to the mean of
# the tight group. The vertical axis is the direction in which spherical k-means cuts.

halves = partitions["spherical k-means"]
cut = X[halves == 1].mean(axis=0) - X[halves == 0].mean(axis=0)
cut -= (cut @ means[1]) * means[1]
plane = X @ np.column_stack([means[1], cut / np.linalg.norm(cut)])

figure, axes = plt.subplots(
    1, 3, figsize=(10.0, 3.6), sharex=True, sharey=True, layout="constrained"
)
for ax, (name, labels) in zip(axes, partitions.items(), strict=True):
    smaller = np.bincount(labels).argmin()
    for k, colour, marker in ((1 - smaller, "#0072B2", "o"), (smaller, "#D55E00", "s")):
        ax.scatter(*plane[labels == k].T, s=7, lw=0, alpha=0.6, color=colour, marker=marker)
    ax.set_title(f"{name}\nadjusted Rand index {scores[name]:.2f}", fontsize=10)
    ax.set_xlabel("cosine with the tight mean")
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("along the cut of\nspherical k-means")

# %%
# What tells the groups apart
# ---------------------------
#
# The path starts at this mixture and sets more and more coordinates to zero. The BIC chooses a
# step. The result shows how the data were made: twelve features of both groups, twenty of the broad
# group, eight of the tight group, and twenty that are in no prototype.

path = sm.VMFPath(2, kappa="free", init=mixture).fit(X)
display = sm.PrototypesDisplay.from_estimator(path, names)

# %%
# A table of the same result: how many features of each kind are in each prototype.

support = path.best_estimator_.prototypes_ != 0.0
for k in np.argsort(-path.best_estimator_.weights_):
    counts = {kind: int(support[k, np.char.startswith(names, kind)].sum()) for kind in kinds}
    print(f"kappa {path.best_estimator_.kappas_[k]:6.1f}", counts)

# %%
# If all groups are equally tight, spherical k-means is as good and faster, and ``kappa="shared"``
# is the safer mixture: see :ref:`sphx_glr_gallery_plot_concentrations.py`.

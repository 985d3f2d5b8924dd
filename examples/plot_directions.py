"""
Directions: the proportions of words count, the length does not
===============================================================

If one document is twice as long as another, it can still be about the same subject. spheremix
therefore compares directions: the proportions of words, not their number. With only two words a
document is an arrow in the plane, and its direction is a point on a circle, so everything can be
drawn.
"""

import matplotlib.pyplot as plt
import numpy as np

import spheremix as sm
from spheremix.display.style import cluster_style

# %%
# Documents about flying contain *wing* more often than *heart*. Documents about medicine contain
# *heart* more often. Some documents are short and some are long.

rng = np.random.default_rng(5)
lengths = rng.lognormal(4.2, 0.45, 120)
share = np.concatenate([rng.beta(14, 60, 60), rng.beta(30, 12, 60)])
counts = rng.poisson(lengths[:, None] * np.column_stack([1.0 - share, share])) + 1.0
mixture = sm.VMFMixture(2, kappa="free", n_init=10, random_state=0).fit(counts)

# %%
# On the left are the counts. Long documents are far from the origin, and the two groups are two
# bundles of arrows. On the right are their directions on the circle. A cluster is a hump there. Its
# prototype (the arrow) says where the hump is, and its concentration kappa says how narrow it is.

units = counts / np.linalg.norm(counts, axis=1, keepdims=True)
figure, (left, right) = plt.subplots(1, 2, figsize=(9.6, 5.0), layout="tight")
for k, (mu, kappa, weight) in enumerate(
    zip(mixture.prototypes_, mixture.kappas_, mixture.weights_, strict=True)
):
    style, mine = cluster_style(k), mixture.labels_ == k
    left.scatter(*counts[mine].T, s=16, lw=0, alpha=0.7, **style)
    for row in counts[mine][::6]:
        left.plot([0, row[0]], [0, row[1]], lw=0.5, color=style["color"], alpha=0.6)
    right.scatter(*units[mine].T, s=16, lw=0, alpha=0.7, zorder=3, **style)
    right.annotate("", mu, (0, 0), arrowprops={"arrowstyle": "-|>", "lw": 2, "color": "black"})
    right.text(*(1.3 * mu), f"kappa\n{kappa:.0f}", color=style["color"], ha="center", va="center")
    angles = np.linspace(0.0, np.pi / 2, 200)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    hump = weight * np.exp(sm.VonMisesFisher(mu, kappa).logpdf(circle))
    outside = (1.04 + 0.09 * hump)[:, None] * circle
    right.fill(
        *np.concatenate([1.04 * circle, outside[::-1]]).T, lw=0, alpha=0.45, color=style["color"]
    )
right.plot(*circle.T, color="#9aa3ad", lw=0.8)
left.set(
    xlim=(0, 150),
    ylim=(0, 150),
    aspect="equal",
    xlabel='occurrences of "wing"',
    ylabel='of "heart"',
)
left.set_title("Documents: some are long, some short", fontsize=11)
right.set(xlim=(0, 1.4), ylim=(0, 1.4), aspect="equal", xlabel='"wing"', ylabel='"heart"')
right.set_title("Directions: what they are about", fontsize=11)
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)

# %%
# A corpus has thousands of words instead of two. The circle becomes a sphere in thousands of
# dimensions, which nobody can draw. The arrows stay arrows, with one coordinate for each word.

print("prototypes", mixture.prototypes_.round(2).tolist(), "kappas", mixture.kappas_.round(1))

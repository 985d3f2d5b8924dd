"""
On the sphere: what a penalty does to a prototype
=================================================

There are four groups of directions in three dimensions: one near an axis, two near a coordinate
plane, and one far from both. The penalty sets coordinates that matter little to exactly zero. This
moves the first prototype to the axis and the next two to their planes, and the last one stays
inside.
"""

import matplotlib.pyplot as plt
import numpy as np

import spheremix as sm
from spheremix.display.sphere import camera
from spheremix.display.style import INK, cluster_style

# %%
# The data: ninety directions around each of four means.

means = np.array([[0.98, -0.12, -0.14], [0.09, 0.83, 0.55], [0.66, 0.05, 0.74], [0.62, 0.62, 0.48]])
means /= np.linalg.norm(means, axis=1, keepdims=True)
rng = np.random.default_rng(0)
X = np.concatenate(
    [
        sm.VonMisesFisher(mean, kappa).rvs(90, random_state=rng)
        for mean, kappa in zip(means, (60.0, 55.0, 80.0, 140.0), strict=True)
    ]
)
groups = np.repeat(np.arange(4), 90)

# %%
# Two mixtures are fitted, one without and one with a penalty. Each component has its own
# concentration. Both fits start from the groups, so that the colours agree.

dense = sm.VMFMixture(4, beta=0.0, kappa="free", init=groups).fit(X)
sparse = sm.VMFMixture(4, beta=400.0, kappa="free", init=groups).fit(X)
for mixture in (dense, sparse):
    print(f"beta = {mixture.beta:g}")
    for mu, kappa in zip(mixture.prototypes_, mixture.kappas_, strict=True):
        print("  ", " ".join(f"{value:6.3f}" for value in mu), f"  kappa {kappa:6.1f}")

# %%
# The figure shows both on the sphere, with their coordinates below. The ring contains half of a
# component. The open circle is the prototype without penalty.


def write_coordinates(ax, mixture):
    """Write the prototypes, the exact zeros of which stand out."""
    ax.set(xlim=(-0.5, 4.6), ylim=(4.6, -0.75))
    ax.axis("off")
    for column, title in enumerate(("$x_1$", "$x_2$", "$x_3$", r"$\kappa$")):
        ax.text(column + 1.0, -0.2, title, ha="center", va="center", color=INK)
    for k, (mu, kappa) in enumerate(zip(mixture.prototypes_, mixture.kappas_, strict=True)):
        ax.plot(0.25, k + 0.75, ms=8, **cluster_style(k))
        for j, value in enumerate(mu):
            place = {"x": j + 1.0, "y": k + 0.75, "ha": "center", "va": "center"}
            if value == 0.0:
                box = {"boxstyle": "round,pad=0.25", "fc": "#F0E442", "lw": 0}
                ax.text(s="0", weight="bold", color="black", bbox=box, **place)
            else:
                ax.text(s=f"{value:.2f}", color="#666666", **place)
        ax.text(4.0, k + 0.75, f"{kappa:.0f}", ha="center", va="center", color="#666666")


figure = plt.figure(figsize=(9.4, 6.5))
around = {"left": 0.02, "right": 0.98, "top": 0.93, "bottom": 0.07}
grid = figure.add_gridspec(2, 2, height_ratios=(3.6, 1.0), hspace=0.04, wspace=0.06, **around)
for column, mixture in enumerate((dense, sparse)):
    ax = figure.add_subplot(grid[0, column])
    sm.SphereDisplay.from_estimator(mixture, X, ax=ax, masses=(0.5,))
    zeros = np.count_nonzero(mixture.prototypes_ == 0.0)
    ax.set_title(rf"$\beta$ = {mixture.beta:g}: {zeros} of 12 coordinates are zero", size=13, pad=9)
    if mixture is sparse:
        x, y = camera()[:2] @ dense.prototypes_.T
        ax.plot(x, y, "o", ms=5, mew=1.3, mfc="white", mec="black", zorder=8)
    write_coordinates(figure.add_subplot(grid[1, column]), mixture)
figure.text(
    0.5,
    0.03,
    "Ring: the cap that holds half of a component. Open circle: the prototype without penalty.",
    ha="center",
    va="center",
    color=INK,
)

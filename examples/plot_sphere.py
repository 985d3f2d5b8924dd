"""A mixture on the sphere of three dimensions, without and with a penalty.

    python examples/plot_sphere.py [OUTPUT]

Four groups of directions: one near an axis, two near a coordinate plane, one near nothing. The
penalty sets the coordinates that matter little to exactly zero, which puts the first prototype on
the axis, the next two on their planes, and leaves the last one inside.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch

import spheremix as sm

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

OUTPUT = Path(__file__).parents[1] / "docs" / "figures" / "sphere.png"
BETA = 400.0
# Okabe and Ito's colours, which colour-blind readers tell apart; shapes for everybody else.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")
SHAPES = ("o", "s", "^", "D")
INK, GRID = "#333333", "#9aa3ad"
ELEVATION, AZIMUTH = np.radians(52.0), np.radians(33.0)  # of the eye


def directions(n_samples: int = 360, seed: int = 0) -> tuple[Array, NDArray[np.intp]]:
    """Draw directions around four means; give them with the group of each."""
    means = np.array(
        [[0.98, -0.12, -0.14], [0.09, 0.83, 0.55], [0.66, 0.05, 0.74], [0.62, 0.62, 0.48]]
    )
    kappas = (60.0, 55.0, 80.0, 140.0)
    rng = np.random.default_rng(seed)
    size = n_samples // len(means)
    rows = [
        sm.VonMisesFisher(mean / np.linalg.norm(mean), kappa).rvs(size, random_state=rng)
        for mean, kappa in zip(means, kappas, strict=True)
    ]
    return np.concatenate(rows), np.repeat(np.arange(4), size)


def fit(X: Array, groups: NDArray[np.intp], beta: float) -> sm.VMFMixture:
    """Fit one concentration a component; start from the groups, so that colours agree."""
    return sm.VMFMixture(n_components=4, beta=beta, kappa="free", init=groups).fit(X)


def camera() -> Array:
    """Give the axes of the picture: to the right, up, and towards the eye."""
    eye = np.array(
        [
            np.cos(ELEVATION) * np.cos(AZIMUTH),
            np.cos(ELEVATION) * np.sin(AZIMUTH),
            np.sin(ELEVATION),
        ]
    )
    right = np.array([-np.sin(AZIMUTH), np.cos(AZIMUTH), 0.0])
    return np.array([right, np.cross(eye, right), eye])


def half_mass_angle(kappa: float) -> float:
    """Give the angle around a prototype that holds half of the mass, in three dimensions."""
    return float(np.arccos(1.0 + np.log(0.5 + 0.5 * np.exp(-2.0 * kappa)) / kappa))


def circle_around(pole: Array, angle: float, n: int = 361) -> Array:
    """Give the points at an angle from a pole, on the sphere."""
    first = np.cross(pole, np.eye(3)[np.abs(pole).argmin()])
    first /= np.linalg.norm(first)
    second = np.cross(pole, first)
    turn = np.linspace(0.0, 2.0 * np.pi, n)[:, None]
    ring = np.cos(turn) * first + np.sin(turn) * second
    return np.cos(angle) * pole + np.sin(angle) * ring


def draw_line(ax: Axes, points: Array, **style: Any) -> None:
    """Draw a curve of the sphere, what is behind it fainter."""
    x, y, depth = camera() @ points.T
    for hidden in (False, True):
        seen = (depth < 0) if hidden else (depth >= 0)
        fainter = {"alpha": 0.25 * style.get("alpha", 1.0)} if hidden else {}
        ax.plot(np.where(seen, x, np.nan), np.where(seen, y, np.nan), **style | fainter)


def draw_globe(ax: Axes) -> None:
    """Draw the sphere, lit from the upper left, its parallels and its coordinate planes."""
    side = np.linspace(-1.0, 1.0, 61)
    x, y = np.meshgrid(side, side)
    light = 0.995 - 0.085 * np.hypot(x + 0.35, y - 0.4)
    picture = ax.imshow(
        light, extent=(-1, 1, -1, 1), origin="lower", cmap="gray", vmin=0.0, vmax=1.0, zorder=0
    )
    disc = Circle((0.0, 0.0), 1.0, facecolor="none", edgecolor=GRID, linewidth=1.0, zorder=1)
    ax.add_patch(disc)
    picture.set_clip_path(disc)
    axes = np.eye(3)
    for degrees in (30.0, 60.0, 120.0, 150.0):
        draw_line(ax, circle_around(axes[2], np.radians(degrees)), color=GRID, lw=0.4, alpha=0.6)
    for degrees in range(30, 180, 30):
        if degrees != 90:
            pole = np.array([-np.sin(np.radians(degrees)), np.cos(np.radians(degrees)), 0.0])
            draw_line(ax, circle_around(pole, np.pi / 2), color=GRID, lw=0.4, alpha=0.6)
    for j, axis in enumerate(axes):
        draw_line(ax, circle_around(axis, np.pi / 2), color=INK, lw=1.0, zorder=2)
        tip = camera()[:2] @ axis
        outwards = tip / np.linalg.norm(tip)
        ax.plot(*zip(tip, 1.08 * outwards, strict=True), color=INK, lw=1.0, zorder=2)
        ax.plot(*tip, marker="o", ms=3.5, color=INK, zorder=6)
        ax.text(*(1.17 * outwards), f"$x_{j + 1}$", ha="center", va="center", color=INK)


def draw_mixture(ax: Axes, X: Array, mixture: sm.VMFMixture, before: Array | None = None) -> None:
    """Draw rows, caps and prototypes; the prototypes of another fit as they were before."""
    for k, (colour, shape) in enumerate(zip(COLOURS, SHAPES, strict=True)):
        x, y, depth = camera() @ X[mixture.labels_ == k].T
        for seen, alpha in ((depth >= 0, 0.55), (depth < 0, 0.12)):
            ax.scatter(x[seen], y[seen], s=9, c=colour, marker=shape, alpha=alpha, lw=0, zorder=3)
        mu, kappa = mixture.prototypes_[k], mixture.kappas_[k]
        cap = circle_around(mu, half_mass_angle(kappa))
        draw_line(ax, cap, color="white", lw=3.2, alpha=0.9, zorder=4)
        draw_line(ax, cap, color=colour, lw=1.8, zorder=4)
        tip = camera()[:2] @ mu
        if before is not None:
            was = camera()[:2] @ before[k]
            ax.plot(*was, marker="o", ms=5, mew=1.3, mfc="white", mec="black", zorder=8)
        for width, ink in ((4.2, "white"), (2.0, "black")):
            ax.add_patch(
                FancyArrowPatch(
                    (0.0, 0.0),
                    tip,
                    arrowstyle="-|>",
                    mutation_scale=13,
                    shrinkA=0,
                    shrinkB=0,
                    lw=width,
                    color=ink,
                    zorder=7,
                    gid=f"prototype-{k}" if ink == "black" else None,
                )
            )


def draw_coordinates(ax: Axes, mixture: sm.VMFMixture) -> None:
    """Write the prototypes, the exact zeros of which stand out."""
    ax.set(xlim=(-0.5, 4.6), ylim=(4.6, -0.75))
    ax.axis("off")
    for column, title in enumerate(("$x_1$", "$x_2$", "$x_3$", r"$\kappa$")):
        ax.text(column + 1.0, -0.2, title, ha="center", va="center", color=INK)
    for k, (mu, kappa) in enumerate(zip(mixture.prototypes_, mixture.kappas_, strict=True)):
        ax.plot(0.25, k + 0.75, marker=SHAPES[k], ms=8, color=COLOURS[k])
        for j, value in enumerate(mu):
            zero = value == 0.0
            ax.text(
                j + 1.0,
                k + 0.75,
                "0" if zero else f"{value:.2f}",
                ha="center",
                va="center",
                weight="bold" if zero else "normal",
                color="black" if zero else "#666666",
                bbox={"boxstyle": "round,pad=0.25", "fc": "#F0E442", "lw": 0} if zero else None,
            )
        ax.text(4.0, k + 0.75, f"{kappa:.0f}", ha="center", va="center", color="#666666")


def draw(X: Array, dense: sm.VMFMixture, sparse: sm.VMFMixture) -> Figure:
    """Draw both fits side by side."""
    figure = Figure(figsize=(9.4, 6.5))
    grid = figure.add_gridspec(
        2,
        2,
        height_ratios=(3.6, 1.0),
        hspace=0.04,
        wspace=0.06,
        left=0.02,
        right=0.98,
        top=0.93,
        bottom=0.07,
    )
    for column, (mixture, before) in enumerate(((dense, None), (sparse, dense.prototypes_))):
        ax = figure.add_subplot(grid[0, column])
        ax.set(xlim=(-1.25, 1.25), ylim=(-1.22, 1.22), aspect="equal")
        ax.axis("off")
        zeros = int((mixture.prototypes_ == 0.0).sum())
        ax.set_title(
            rf"$\beta$ = {mixture.beta:g}: {zeros} of 12 coordinates are zero", fontsize=13, pad=9
        )
        draw_globe(ax)
        draw_mixture(ax, X, mixture, before)
        draw_coordinates(figure.add_subplot(grid[1, column]), mixture)
    note = (
        "Ring: the cap that holds half of a component. Open circle: the prototype without penalty."
    )
    figure.text(0.5, 0.03, note, ha="center", va="center", color=INK, fontsize=10)
    return figure


def report(*mixtures: sm.VMFMixture) -> None:
    """Print the prototypes."""
    for mixture in mixtures:
        print(f"beta = {mixture.beta:g}")
        for mu, kappa in zip(mixture.prototypes_, mixture.kappas_, strict=True):
            print("  ", " ".join(f"{value:6.3f}" for value in mu), f"  kappa {kappa:6.1f}")


def main(output: str | Path | None = None) -> tuple[Figure, sm.VMFMixture, sm.VMFMixture]:
    """Fit, print the prototypes, draw; give the figure and the two mixtures."""
    X, groups = directions()
    dense, sparse = fit(X, groups, 0.0), fit(X, groups, BETA)
    report(dense, sparse)
    figure = draw(X, dense, sparse)
    figure.savefig(OUTPUT if output is None else output, dpi=120)
    return figure, dense, sparse


if __name__ == "__main__":
    main(*sys.argv[1:2])

"""A mixture in three dimensions, on the sphere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from spheremix.data.open import as_directions
from spheremix.display.style import FAINT, INK, Display, cluster_style
from spheremix.reading.reading import require_model

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    Array = NDArray[np.float64]


class SphereDisplay(Display):
    """Directions in three dimensions by group, with prototypes and contours of concentration.

    A colour and a shape a group, fainter behind the sphere; an arrow from the centre to each
    prototype; around it, the circles that hold given shares of the component's mass.

    Parameters
    ----------
    X : array-like of shape (n, 3)
        Rows are normalised.
    labels : array-like of shape (n,)
        Group of each row.
    prototypes : array-like of shape (K, 3)
        Unit rows.
    kappas : array-like of shape (K,)
        Concentrations.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    arrows_ : list of FancyArrowPatch
        One a prototype.

    Examples
    --------
    >>> import spheremix as sm
    >>> X, _, _ = sm.datasets.make_vmf_mixture(300, 3, 3, kappa=20.0, random_state=0)
    >>> mixture = sm.VMFMixture(3, random_state=0).fit(X)
    >>> display = sm.SphereDisplay.from_estimator(mixture, X)
    >>> len(display.arrows_)
    3
    """

    def __init__(self, X: Any, labels: ArrayLike, prototypes: ArrayLike, kappas: ArrayLike) -> None:
        directions = as_directions(X)
        if directions.n_features != 3:
            raise ValueError(
                f"The sphere has 3 dimensions, X has {directions.n_features}: draw a map of the "
                "prototypes instead, PrototypesDisplay."
            )
        self.points = directions.take(np.arange(directions.n_rows))
        self.labels = np.asarray(labels)
        self.prototypes = np.asarray(prototypes, dtype=float)
        self.kappas = np.asarray(kappas, dtype=float)

    @classmethod
    def of(cls, model: Any, X: Any) -> Self:
        """Compute what :meth:`from_estimator` draws."""
        require_model(model)
        mixture = getattr(model, "best_estimator_", model)
        if not hasattr(mixture, "kappas_"):
            raise ValueError(f"{type(mixture).__name__} has no concentrations: draw a mixture.")
        return cls(X, mixture.predict(X), mixture.prototypes_, mixture.kappas_)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        *,
        ax: Axes | None = None,
        masses: Iterable[float] = (0.5, 0.9),
    ) -> Self:
        """Draw a fitted mixture.

        Parameters
        ----------
        model : VMFMixture, VMFPath or VMFMixtureIC
            Fitted, in three dimensions.
        X : array-like of shape (n, 3)
            Rows are normalised.
        ax, masses
            As in :meth:`plot`.

        Returns
        -------
        SphereDisplay
            Drawn.
        """
        return cls.of(model, X).plot(ax, masses=masses)

    def _size(self) -> tuple[float, float]:
        return 5.6, 5.6

    def plot(self, ax: Axes | None = None, *, masses: Iterable[float] = (0.5, 0.9)) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where; a new figure by default.
        masses : iterable of float, default=(0.5, 0.9)
            Shares of a component's mass that its circles hold.

        Returns
        -------
        SphereDisplay
            Itself.
        """
        return self._plot(ax, masses=masses)

    def _draw(self, ax: Any, masses: Iterable[float] = ()) -> None:
        ax = self.ax_ = self._axes(ax)[0]
        ax.set(xlim=(-1.25, 1.25), ylim=(-1.22, 1.22), aspect="equal")
        ax.axis("off")
        _draw_globe(ax)
        eye = camera()
        self.arrows_ = []
        for k, (mu, kappa) in enumerate(zip(self.prototypes, self.kappas, strict=True)):
            style = cluster_style(k)
            x, y, depth = eye @ self.points[self.labels == k].T
            for seen, alpha in ((depth >= 0, 0.55), (depth < 0, 0.12)):
                ax.scatter(x[seen], y[seen], s=9, lw=0, alpha=alpha, zorder=3, **style)
            for i, mass in enumerate(masses):
                circle = circle_around(mu, cap_angle(kappa, mass))
                width = 1.8 if i == 0 else 0.9
                _draw_line(ax, circle, color="white", lw=width + 1.4, alpha=0.9, zorder=4)
                _draw_line(ax, circle, color=style["color"], lw=width, zorder=4)
            self.arrows_.append(_draw_arrow(ax, eye[:2] @ mu, f"prototype-{k}"))


def camera(elevation: float = 52.0, azimuth: float = 33.0) -> Array:
    """Return the axes of the picture, to the right, up and towards the eye, from its degrees."""
    up, around = np.radians([elevation, azimuth])
    eye = np.array([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)])
    right = np.array([-np.sin(around), np.cos(around), 0.0])
    return np.array([right, np.cross(eye, right), eye])


def cap_angle(kappa: float, mass: float) -> float:
    """Return the angle around a prototype within which this share of its mass is.

    In three dimensions the cosine t with the prototype has a density in proportion to
    exp(kappa t), so that the share beyond t is (exp(kappa) - exp(kappa t)) / (2 sinh kappa).
    """
    if kappa < 1e-8:  # uniform
        return float(np.arccos(1.0 - 2.0 * mass))
    return float(np.arccos(1.0 + np.log1p(mass * np.expm1(-2.0 * kappa)) / kappa))


def circle_around(pole: Array, angle: float, n: int = 361) -> Array:
    """Return the points at an angle from a pole, on the sphere."""
    first = np.cross(pole, np.eye(3)[np.abs(pole).argmin()])
    first /= np.linalg.norm(first)
    second = np.cross(pole, first)
    turn = np.linspace(0.0, 2.0 * np.pi, n)[:, None]
    ring = np.cos(turn) * first + np.sin(turn) * second
    return np.asarray(np.cos(angle) * pole + np.sin(angle) * ring)


def _draw_line(ax: Axes, points: Array, **style: Any) -> None:
    """Draw a curve of the sphere, what is behind it fainter."""
    x, y, depth = camera() @ points.T
    for hidden in (False, True):
        seen = (depth < 0) if hidden else (depth >= 0)
        fainter = {"alpha": 0.25 * style.get("alpha", 1.0)} if hidden else {}
        ax.plot(np.where(seen, x, np.nan), np.where(seen, y, np.nan), **style | fainter)


def _draw_globe(ax: Axes) -> None:
    """Draw the sphere, lit from the upper left, its parallels and its coordinate planes."""
    from matplotlib.patches import Circle  # noqa: PLC0415

    side = np.linspace(-1.0, 1.0, 61)
    x, y = np.meshgrid(side, side)
    light = 0.995 - 0.085 * np.hypot(x + 0.35, y - 0.4)
    look: dict[str, Any] = {"cmap": "gray", "vmin": 0.0, "vmax": 1.0, "zorder": 0}
    picture = ax.imshow(light, extent=(-1, 1, -1, 1), origin="lower", **look)
    disc = Circle((0.0, 0.0), 1.0, facecolor="none", edgecolor=FAINT, linewidth=1.0, zorder=1)
    ax.add_patch(disc)
    picture.set_clip_path(disc)
    ax.set(xlim=(-1.25, 1.25), ylim=(-1.22, 1.22))
    axes = np.eye(3)
    grid: dict[str, Any] = {"color": FAINT, "lw": 0.4, "alpha": 0.6}
    for degrees in (30.0, 60.0, 120.0, 150.0):
        _draw_line(ax, circle_around(axes[2], np.radians(degrees)), **grid)
        pole = np.array([-np.sin(np.radians(degrees)), np.cos(np.radians(degrees)), 0.0])
        _draw_line(ax, circle_around(pole, np.pi / 2), **grid)
    for j, axis in enumerate(axes):
        _draw_line(ax, circle_around(axis, np.pi / 2), color=INK, lw=1.0, zorder=2)
        tip = camera()[:2] @ axis
        outwards = tip / np.linalg.norm(tip)
        ax.plot(*zip(tip, 1.08 * outwards, strict=True), color=INK, lw=1.0, zorder=2)
        ax.plot(*tip, marker="o", ms=3.5, color=INK, zorder=6)
        x, y = 1.17 * outwards
        ax.text(x, y, f"$x_{j + 1}$", ha="center", va="center", color=INK)


def _draw_arrow(ax: Axes, tip: Array, name: str) -> Any:
    """Draw a black arrow from the centre, on white so that it stands out; SVG files name it."""
    from matplotlib.patches import FancyArrowPatch  # noqa: PLC0415

    shape: dict[str, Any] = {
        "arrowstyle": "-|>",
        "mutation_scale": 13,
        "shrinkA": 0,
        "shrinkB": 0,
        "zorder": 7,
    }
    for width, ink in ((4.2, "white"), (2.0, "black")):
        arrow = FancyArrowPatch((0.0, 0.0), (tip[0], tip[1]), lw=width, color=ink, **shape)
        ax.add_patch(arrow)
    arrow.set_gid(name)
    return arrow

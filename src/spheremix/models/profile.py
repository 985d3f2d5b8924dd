"""The exact M-step is a problem in one variable.

For a fixed kappa the best prototype of a component is known (``penalties.L1.directions``) and its
value, the profile

    g(kappa) = max over unit mu of kappa <mu, r> - penalty(mu),

is convex with slope <mu(kappa), r>. What is left is to maximise over kappa

    h(kappa) = sum of the g_k(kappa) + n log c_d(kappa) + l kappa,

over one component for a free kappa, over all of them for a shared one; n is their mass plus that of
the prior of kappa, and l the length of the prior (both 0 without one). h is a difference of
convex functions and can have several maxima, so intervals are bisected and discarded by bounds:
with A = A_d increasing and concave, and with S_k the sum of r_kj^2 over the coordinates in play
(slope_k and S_k do not decrease), on [a, b]

    slope(a) - n A(b) <= h' <= slope(b) - n A(a),
    h'' <= sum of (S_k(b) - slope_k(a)^2) / g_k(a) - n A'(b).

An interval on which h' keeps its sign is dropped; one on which h is concave has its only
stationary point found by Newton steps; others are cut in two. This is the specification, and
what serves where the compiled kernels do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spheremix.bessel import concentration, log_normalizer, mean_length

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from spheremix.penalties import L1


class KappaPrior(NamedTuple):
    """``mass`` rows whose resultant has the length ``length`` along any prototype.

    The log of its density is mass log c_d(kappa) + length kappa plus a constant, so the M-step adds
    both to the sums of the rows: A_d(kappa) = (<mu, r> + length) / (n + mass). No rows, no prior.
    """

    mass: float = 0.0
    length: float = 0.0

    def log_density(
        self, kappas: NDArray[np.float64], log_normalizers: NDArray[np.float64]
    ) -> float:
        """Return the log of the prior of some concentrations, from their values of log c_d."""
        return float(self.mass * log_normalizers.sum() + self.length * kappas.sum())


FLAT = KappaPrior()  # no prior


WIDTH = 1e-13  # relative width below which an interval is a point


@dataclass(frozen=True, slots=True)
class _Point:
    """h and what its bounds need, at one kappa."""

    kappa: float
    profiles: NDArray[np.float64]  # g_k
    slopes: NDArray[np.float64]  # g_k'
    squares: NDArray[np.float64]  # S_k; the squared slope where one coordinate is left
    added: float  # l
    value: float
    pull: float  # n A_d
    pull_slope: float  # n A_d'

    @property
    def slope(self) -> float:
        return self.rise - self.pull

    @property
    def rise(self) -> float:
        return float(self.slopes.sum()) + self.added

    @property
    def curvature(self) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            bend = np.where(
                self.squares > self.slopes**2,
                (self.squares - self.slopes**2) / np.maximum(self.profiles, 0.0),
                0.0,
            )
        return float(bend.sum()) - self.pull_slope


class Profile:
    """h as a function of kappa, for components that share it."""

    def __init__(
        self,
        vectors: NDArray[np.float64],
        mass: float,
        penalty: L1,
        prior: KappaPrior = FLAT,
    ) -> None:
        self.lengths = np.abs(vectors)
        self.mass, self.added = mass + prior.mass, prior.length
        self.n_features = vectors.shape[1]
        self.thresholds = np.broadcast_to(penalty.thresholds, vectors.shape[1:])

    def at(self, kappa: float) -> _Point:
        """Evaluate at one kappa."""
        margin = kappa * self.lengths - self.thresholds
        excess = np.maximum(margin, 0.0)
        profiles = np.sqrt(np.einsum("kj,kj->k", excess, excess))
        in_play = excess > 0.0
        slopes = np.einsum("kj,kj->k", excess, self.lengths) / np.where(profiles > 0, profiles, 1)
        squares = np.einsum("kj,kj,kj->k", in_play, self.lengths, self.lengths)
        for k in np.flatnonzero(profiles == 0.0):
            best = margin[k].max()
            profiles[k], slopes[k] = best, self.lengths[k, margin[k] == best].max()
            squares[k] = slopes[k] ** 2
        ratio = mean_length(self.n_features, kappa)
        ratio_slope = 1.0 - ratio**2 - (self.n_features - 1) * ratio / kappa
        value = float(profiles.sum()) + self.added * kappa
        value += self.mass * log_normalizer(self.n_features, kappa)
        pulls = self.mass * ratio, self.mass * ratio_slope
        return _Point(kappa, profiles, slopes, squares, self.added, value, *pulls)

    def bounds(self, kappa_max: float) -> tuple[float, float]:
        """Return an interval that holds every stationary point and respects the cap."""
        cheapest = self.thresholds == self.thresholds.min()
        least = float(self.lengths[:, cheapest].max(axis=1).sum()) + self.added
        most = float(np.sqrt(np.einsum("kj,kj->k", self.lengths, self.lengths)).sum()) + self.added
        return tuple(
            min(concentration(self.n_features, min(total / self.mass, 1.0)) * slack, kappa_max)
            for total, slack in ((least, 1 - 1e-9), (most, 1 + 1e-9))
        )  # type: ignore[return-value]

    def maximise(self, kappa_max: float, guess: float) -> float:
        """Return the kappa of the largest h."""
        low, high = self.bounds(kappa_max)
        first, last = self.at(max(low, 1e-300)), self.at(max(high, 1e-300))
        best = max(first, last, key=lambda point: point.value)
        intervals = [(first, last)]
        cut = guess
        while intervals:
            a, b = intervals.pop()
            middle = cut if a.kappa < cut < b.kappa else 0.5 * (a.kappa + b.kappa)
            cut = np.nan
            if self._monotone(a, b) or self._bound(a, b) <= best.value:
                continue
            if b.kappa - a.kappa <= WIDTH * b.kappa or not a.kappa < middle < b.kappa:
                continue
            if self._concave(a, b):
                best = max(best, self._root(a, b), key=lambda point: point.value)
                continue
            point = self.at(middle)
            best = max(best, point, key=lambda point: point.value)
            intervals += [(a, point), (point, b)]
        return self._polish(best, low, high)

    @staticmethod
    def _monotone(a: _Point, b: _Point) -> bool:
        return a.rise >= b.pull or b.rise <= a.pull

    def _bound(self, a: _Point, b: _Point) -> float:
        """Bound h on [a, b] by the chord of the convex part and the tangents of the concave one."""
        width = b.kappa - a.kappa
        start = float(a.profiles.sum()) + self.added * a.kappa
        end = float(b.profiles.sum()) + self.added * b.kappa
        drop = (b.value - end) - (a.value - start)
        # The tangents of n log c_d at a and b meet where a.pull t = -drop - b.pull (width - t).
        bend = b.pull - a.pull
        t = np.clip((drop + b.pull * width) / bend, 0.0, width) if bend > 0 else 0.5 * width
        peak = a.value + (end - start) * t / width - a.pull * t
        return max(a.value, b.value, float(peak))

    @staticmethod
    def _concave(a: _Point, b: _Point) -> bool:
        bend = b.squares - a.slopes**2
        bend[bend <= 1e-12 * b.squares] = 0.0
        if np.any((bend > 0) & (a.profiles <= 0)):
            return False
        safe = np.where(a.profiles > 0, a.profiles, 1.0)
        return float((bend / safe).sum()) < 0.99 * b.pull_slope - 1e-14 * b.pull

    def _polish(self, point: _Point, low: float, high: float) -> float:
        """Sharpen a maximum whose value is right to rounding, and its kappa to half the digits."""
        for _ in range(3):
            curvature = point.curvature
            if curvature >= 0.0 or abs(point.slope) <= 1e-15 * point.pull:
                break
            step = -point.slope / curvature
            kappa = min(max(point.kappa + step, low), high)
            if abs(step) > 1e-4 * point.kappa or kappa == point.kappa:
                break
            point = self.at(kappa)
        return point.kappa

    def _root(self, a: _Point, b: _Point) -> _Point:
        """Find the only stationary point of a concave h on [a, b], if it is inside."""
        if a.slope <= 0.0 or b.slope >= 0.0:
            return a if a.slope <= 0.0 else b
        low, high, point = a.kappa, b.kappa, a
        for _ in range(100):
            kappa = point.kappa - point.slope / point.curvature
            if not low < kappa < high:
                kappa = 0.5 * (low + high)
            step = abs(kappa - point.kappa)
            point = self.at(kappa)
            if point.slope > 0.0:
                low = kappa
            else:
                high = kappa
            if step <= 1e-14 * kappa or abs(point.slope) <= 1e-15 * point.pull:
                break
        return point

"""The von Mises-Fisher distribution: density, draws, estimation, in any dimension."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import numpy as np
from scipy import sparse

from spheremix.bessel import (
    concentration,
    concentration_banerjee,
    log_normalizer,
    mean_length,
    mean_length_gap,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

RandomSource: TypeAlias = "int | np.random.Generator | np.random.RandomState | None"

# How far from 1 the norm of a row may be: well above float32 rounding, well below an oversight.
UNIT_TOLERANCE = 1e-6
MEAN_LENGTH_MAX = 1.0 - 1e-6  # whose concentration is the cap of kappa that "auto" stands for
# The mean of rows that cancel out is rounding noise, and so would be its direction.
_CANCELLED = 1e-12
# Rows are turned in blocks of about this many numbers, so that temporaries stay in cache.
_BLOCK = 1 << 18


def as_generator(random_state: RandomSource) -> np.random.Generator | np.random.RandomState:
    """Turn a seed into a generator; a given generator is used, and advanced, as it is.

    Parameters
    ----------
    random_state : int, numpy Generator, RandomState or None
        None takes fresh entropy from the system.

    Returns
    -------
    Generator or RandomState
    """
    if isinstance(random_state, np.random.RandomState):
        return random_state
    return np.random.default_rng(random_state)


def cosine_proposal(
    d: int, kappa: ArrayLike, odds: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Propose cosines to the mean direction, by Ulrich's and Wood's envelope.

    The odds are a ratio of two independent Gamma((d - 1)/2) variables, so that odds / (1 + odds)
    is the symmetric Beta of the literature. Everything is written in 1 - cosine, which keeps its
    digits when kappa is large; the logarithm of the acceptance probability then is the one term
    m (log(1 + q) - q), never positive, and no difference of large numbers.

    Parameters
    ----------
    d : int
        Dimension.
    kappa : float or ndarray
        Concentrations, broadcast against ``odds``.
    odds : ndarray
        Ratios of Gamma variables.

    Returns
    -------
    gap : ndarray
        1 - cosine.
    log_accept : ndarray
        Logarithm of the probability to accept this proposal.
    """
    m = d - 1
    kappa = np.asarray(kappa, dtype=np.float64)
    b = m / (2 * kappa + np.hypot(2 * kappa, m))
    gap = 2 * b * odds / (1 + b * odds)
    q = kappa / m * (gap - 2 * b / (1 + b))
    return gap, m * (np.log1p(q) - q)


def gamma_odds(
    rng: np.random.Generator | np.random.RandomState, d: int, size: int | tuple[int, ...]
) -> NDArray[np.float64]:
    """Draw the ratios of Gamma variables that `cosine_proposal` needs."""
    shape = (d - 1) / 2
    return rng.standard_gamma(shape, size) / rng.standard_gamma(shape, size)


@dataclass(frozen=True, slots=True, eq=False)
class VonMisesFisher:
    """The von Mises-Fisher distribution on the unit sphere of R^d.

    Its density with respect to the surface measure is c_d(kappa) exp(kappa <mu, x>).

    Parameters
    ----------
    mu : array-like of shape (d,)
        Mean direction, d >= 2: any finite vector but zero, normalised here.
    kappa : float
        Concentration, finite and >= 0. 0 is the uniform distribution.

    Examples
    --------
    >>> from spheremix.distribution import VonMisesFisher
    >>> vmf = VonMisesFisher([0.0, 0.0, 2.0], kappa=10.0)
    >>> vmf.mu
    array([0., 0., 1.])
    >>> round(vmf.logpdf([0.0, 0.0, 1.0]), 6)
    0.464708
    >>> vmf.rvs(5, random_state=0).shape
    (5, 3)
    """

    mu: NDArray[np.float64]
    kappa: float

    def __post_init__(self) -> None:
        mu = np.array(self.mu, dtype=np.float64)
        if mu.ndim != 1 or len(mu) < 2:
            raise ValueError(f"mu must be a vector of at least 2 numbers, got shape {mu.shape}.")
        largest = np.abs(mu).max()
        if not np.isfinite(largest):
            raise ValueError("mu has a NaN or infinite coordinate.")
        if largest == 0:
            raise ValueError("mu is the zero vector, which has no direction.")
        kappa = float(self.kappa)
        if not (np.isfinite(kappa) and kappa >= 0):
            raise ValueError(f"kappa must be finite and >= 0, got {kappa}.")
        # Scaled first: the square of a coordinate may overflow, or underflow to zero.
        mu /= largest
        mu /= np.linalg.norm(mu)
        mu.setflags(write=False)
        object.__setattr__(self, "mu", mu)
        object.__setattr__(self, "kappa", kappa)

    @classmethod
    def fit(
        cls,
        X: Any,
        *,
        sample_weight: ArrayLike | None = None,
        kappa_solver: Literal["exact", "banerjee"] = "exact",
        kappa_max: float | Literal["auto"] = "auto",
    ) -> VonMisesFisher:
        """Estimate the distribution by maximum likelihood.

        Parameters
        ----------
        X : array-like or SciPy sparse array of shape (n, d)
            Rows of norm 1 (to 1e-6).
        sample_weight : array-like of shape (n,), default=None
            Weights of the rows, finite and >= 0; None is 1 each.
        kappa_solver : {"exact", "banerjee"}, default="exact"
            Maximum likelihood, or the closed-form approximation of Banerjee et al. (2005).
        kappa_max : float or "auto", default="auto"
            Identical rows have an infinite estimate: kappa stops here, with a warning. "auto" is
            the kappa of mean length 1 - 1e-6 in this dimension.

        Returns
        -------
        VonMisesFisher
        """
        X = _unit_rows(X)
        if X.ndim != 2 or X.shape[0] == 0 or X.shape[1] < 2:
            raise ValueError(
                f"X must be a table of at least 1 row and 2 columns, got shape {X.shape}."
            )
        n, d = X.shape
        if kappa_solver not in {"exact", "banerjee"}:
            raise ValueError(f'kappa_solver must be "exact" or "banerjee", got {kappa_solver!r}.')
        if kappa_max == "auto":
            kappa_max = float(concentration(d, MEAN_LENGTH_MAX))
        elif not (np.isfinite(kappa_max) and kappa_max > 0):
            raise ValueError(f'kappa_max must be "auto" or finite and > 0, got {kappa_max}.')
        weight = _weights(sample_weight, n)
        mean = np.asarray(X.T @ weight, dtype=np.float64)
        rho = float(np.linalg.norm(mean))
        if rho < _CANCELLED:
            raise ValueError("The rows of X cancel out: their mean is zero and has no direction.")
        # Rounding takes the mean length of identical rows to 1 or above, where neither solver is
        # defined; this comparison covers it.
        if rho >= mean_length(d, kappa_max):
            warnings.warn(
                f"kappa is at its cap, kappa_max={kappa_max:.4g}, and not at the maximum: raise "
                "kappa_max for rows as close to each other.",
                stacklevel=2,
            )
            return cls(mean, kappa_max)
        solver = concentration if kappa_solver == "exact" else concentration_banerjee
        return cls(mean, min(float(solver(d, rho)), kappa_max))

    def logpdf(self, X: Any) -> Any:
        """Log-density with respect to the surface measure.

        Parameters
        ----------
        X : array-like or SciPy sparse array of shape (n, d), or one vector of shape (d,)
            Points of norm 1 (to 1e-6).

        Returns
        -------
        ndarray of shape (n,), or float for one vector
        """
        X = _unit_rows(X)
        if X.shape[-1] != len(self.mu):
            raise ValueError(f"X has {X.shape[-1]} columns, mu has {len(self.mu)}.")
        values = log_normalizer(len(self.mu), self.kappa) + self.kappa * (X @ self.mu)
        return float(values) if X.ndim == 1 else values

    def pdf(self, X: Any) -> Any:
        """Density with respect to the surface measure: the exponential of `logpdf`.

        In high dimension the density leaves the range of floating point (0 or inf); the
        log-density never does.

        Parameters
        ----------
        X : array-like or SciPy sparse array of shape (n, d), or one vector of shape (d,)
            Points of norm 1 (to 1e-6).

        Returns
        -------
        ndarray of shape (n,), or float for one vector
        """
        log_density = self.logpdf(X)
        with np.errstate(over="ignore"):
            density = np.exp(log_density)
        return float(density) if np.ndim(density) == 0 else density

    def entropy(self) -> float:
        """Differential entropy with respect to the surface measure, in nats."""
        d = len(self.mu)
        # kappa is taken out of both terms: they are of its size, their sum is not.
        scaled = float(log_normalizer(d, self.kappa)) + self.kappa
        return self.kappa * float(mean_length_gap(d, self.kappa)) - scaled

    def mean_resultant_length(self) -> float:
        """Length of the mean vector, A_d(kappa): the mean of x is this times ``mu``."""
        return float(mean_length(len(self.mu), self.kappa))

    def rvs(self, size: int = 1, random_state: RandomSource = None) -> NDArray[np.float64]:
        """Draw points, in time and memory of the order of the result.

        Parameters
        ----------
        size : int, default=1
            Number of points.
        random_state : int, numpy Generator, RandomState or None, default=None
            A seed gives the same points each time; a generator is used as it is.

        Returns
        -------
        ndarray of shape (size, d)

        Notes
        -----
        The cosine to ``mu`` is drawn by rejection (Ulrich 1984, Wood 1994), the rest uniformly
        on the sphere orthogonal to the first axis; one Householder reflection, applied row by
        row without its matrix, then takes that axis to ``mu``.
        """
        if size < 0:
            raise ValueError(f"size must be >= 0, got {size}.")
        rng = as_generator(random_state)
        d = len(self.mu)
        gap = self._draw_gaps(rng, size)
        # The sign that adds up without cancellation: (1 + |mu_1|) is at least 1.
        sign = 1.0 if self.mu[0] >= 0 else -1.0
        axis = self.mu.copy()
        axis[0] += sign
        X = np.empty((size, d))
        step = max(1, _BLOCK // d)
        for start in range(0, size, step):
            block = X[start : start + step]
            t = gap[start : start + step]
            tangent = rng.standard_normal((len(block), d - 1))
            norms = np.sqrt(np.einsum("ij,ij->i", tangent, tangent))
            np.multiply(tangent, (np.sqrt(t * (2 - t)) / norms)[:, None], out=block[:, 1:])
            block[:, 0] = -sign * (1 - t)
            block -= (block @ axis / (1 + abs(self.mu[0])))[:, None] * axis
        return X

    def _draw_gaps(
        self, rng: np.random.Generator | np.random.RandomState, size: int
    ) -> NDArray[np.float64]:
        """Draw 1 - <x, mu>."""
        gaps = np.empty(size)
        todo = np.arange(size)
        while todo.size:
            gap, log_accept = cosine_proposal(
                len(self.mu), self.kappa, gamma_odds(rng, len(self.mu), todo.size)
            )
            accepted = -rng.standard_exponential(todo.size) <= log_accept
            gaps[todo[accepted]] = gap[accepted]
            todo = todo[~accepted]
        return gaps


def _unit_rows(X: Any) -> Any:
    """Check that the rows are on the sphere; dense rows come back in float64."""
    if sparse.issparse(X):
        X = cast("Any", X).tocsr().astype(np.float64)
        squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    else:
        X = np.asarray(X, dtype=np.float64)
        if X.ndim not in {1, 2}:
            raise ValueError(f"X must be a table of rows or one vector, got shape {X.shape}.")
        squares = np.einsum("...j,...j->...", X, X)
    norms = np.atleast_1d(np.sqrt(squares))
    wrong = np.flatnonzero(~(np.abs(norms - 1) <= UNIT_TOLERANCE))
    if wrong.size:
        raise ValueError(
            f"{wrong.size} of {norms.size} rows of X have not norm 1, first row {wrong[0]} with "
            f"norm {norms[wrong[0]]:.6g}: divide each row by its norm "
            "(sklearn.preprocessing.normalize)."
        )
    return X


def _weights(sample_weight: ArrayLike | None, n: int) -> NDArray[np.float64]:
    """Weights of the rows, summing to 1."""
    if sample_weight is None:
        return np.full(n, 1 / n)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},), got {weight.shape}.")
    if not (np.isfinite(weight).all() and (weight >= 0).all() and weight.sum() > 0):
        raise ValueError("sample_weight must be finite and >= 0, with a positive sum.")
    return cast("NDArray[np.float64]", weight / weight.sum())

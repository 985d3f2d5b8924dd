"""How points in the plane push each other apart, on a grid: all pairs at the price of a few FFTs.

The force is the one of t-SNE: two points at a distance r push each other with r / (1 + r^2)^2. The
points are spread over the nodes of a grid by cubic interpolation, the forces at the nodes are
convolutions, and the forces on the points are interpolated back, after Linderman et al. (Nature
Methods 16, 2019). The force between points closer than a step of the grid is off by up to a fifth,
and the sum of the forces on a point by a few per cent; a grid with steps of a fifth takes
four times as long and keeps hardly more neighbours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import fft

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

STEP = 0.5  # between nodes, at most; the force changes over a distance of 1
LEAST = 32  # steps from end to end, at least: points that begin close together need smaller ones
MOST = 1000  # steps from end to end: a grid of more nodes takes seconds
GROWTH = 1.25  # of a grid that has become too small
STENCIL = 4  # nodes a dimension that a point is spread over


class Repulsion:
    """The forces among points, for positions that change little from call to call.

    Parameters
    ----------
    masses : ndarray of shape (n,)
        How many points stand at each position.
    """

    def __init__(self, masses: Array) -> None:
        self._masses = masses
        self._nodes = 0
        self._step = 0.0
        self._size = 0
        self._kernels: list[NDArray[np.complex128]] = []
        self._closeness = np.zeros((0, 0))

    def __call__(self, positions: Array) -> tuple[Array, float]:
        """Return the force on each point, and the sum of 1 / (1 + r^2) over all ordered pairs.

        Parameters
        ----------
        positions : ndarray of shape (n, 2)
            Where the points are.

        Returns
        -------
        forces : ndarray of shape (n, 2)
            Sum over the other points of (y_i - y_j) / (1 + |y_i - y_j|^2)^2.
        total : float
            Pairs of points at the same position count 1; a point with itself does not count.
        """
        low = positions.min(axis=0)
        self._prepare(float((positions.max(axis=0) - low).max()))
        places, weights = self._spread(positions - low)
        n_nodes = self._nodes
        shares = (weights * self._masses[:, None]).ravel()
        density = np.bincount(places.ravel(), shares, minlength=n_nodes**2)
        shape = (self._size, self._size)
        spectrum = fft.rfft2(density.reshape(n_nodes, n_nodes), shape)
        forces = np.empty_like(positions)
        for axis in range(2):
            field = fft.irfft2(spectrum * self._kernels[axis], shape)[:n_nodes, :n_nodes]
            forces[:, axis] = np.einsum("ij,ij->i", field.ravel()[places], weights)
        powers = spectrum.real**2 + spectrum.imag**2
        total = float(np.vdot(powers, self._closeness)) - float(self._masses.sum())
        return forces, total

    def _prepare(self, extent: float) -> None:
        """Choose the grid, and transform the forces between its nodes, unless they are there."""
        step = STEP
        while step * LEAST > max(extent, 1e-9):
            step /= 2.0
        while step * MOST < extent:
            step *= 2.0
        needed = int(np.ceil(extent / step)) + STENCIL
        if step == self._step and needed <= self._nodes <= 2 * needed:
            return
        self._step = step
        self._nodes = int(needed * GROWTH)
        self._size = fft.next_fast_len(2 * self._nodes, real=True)
        places = np.arange(self._size)
        offsets = np.where(places <= self._size // 2, places, places - self._size) * step
        rows, columns = offsets[:, None], offsets[None, :]
        closeness = 1.0 / (1.0 + rows**2 + columns**2)
        squared = closeness**2
        self._kernels = [fft.rfft2(kernel) for kernel in (rows * squared, columns * squared)]
        # A real transform has half of the frequencies: most of them stand for two.
        twice = np.full(self._size // 2 + 1, 2.0)
        twice[0] = 1.0
        if self._size % 2 == 0:
            twice[-1] = 1.0
        self._closeness = fft.rfft2(closeness).real * twice / self._size**2

    def _spread(self, positions: Array) -> tuple[NDArray[np.intp], Array]:
        """Return the sixteen nodes around each point, and the weights of a cubic interpolation."""
        scaled = positions / self._step + 1.0
        nodes = scaled.astype(np.intp)
        t = scaled - nodes
        near = np.stack(
            [
                -t * (t - 1.0) * (t - 2.0) / 6.0,
                (t + 1.0) * (t - 1.0) * (t - 2.0) / 2.0,
                -(t + 1.0) * t * (t - 2.0) / 2.0,
                (t + 1.0) * t * (t - 1.0) / 6.0,
            ],
            axis=-1,
        )
        around = np.arange(STENCIL)
        shifts = (around[:, None] * self._nodes + around).ravel()
        first = (nodes[:, 0] - 1) * self._nodes + nodes[:, 1] - 1
        weights = near[:, 0, :, None] * near[:, 1, None, :]
        return first[:, None] + shifts, weights.reshape(len(positions), -1)

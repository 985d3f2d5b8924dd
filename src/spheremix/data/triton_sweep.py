"""One sweep over dense float32 rows by Triton kernels: assign a chunk of rows, sum it.

The tensor cores multiply 16-bit numbers, so factors are scaled by powers of two and rounded to
float16, which has the ten bits of mantissa of TF32 and is twice as fast. For the highest precision
each factor is the sum of two of them, 22 bits in all, and a product three products. Tensor cores
truncate when they add: such sums stay short, and longer ones are added as ordinary float32, then
float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import torch
import triton
import triton.language as tl

from spheremix.data import triton_narrow, triton_wide
from spheremix.data.base import negligible
from spheremix.data.stack import stack
from spheremix.data.torch_open import DTYPES, IMPOSSIBLE, to_numpy
from spheremix.data.triton_ends import collect, prepare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from spheremix.data.torch_rows import DenseRows
    from spheremix.scorer import Scorer

    Array: TypeAlias = NDArray[np.float64]
    Tensor: TypeAlias = torch.Tensor

MIN_FEATURES = 64
MIN_SHARED = 200 * 2**10  # bytes of shared memory of a program: Hopper, and what came after it


class Slots(NamedTuple):
    """Places of the components of several scorers, each padded to one width."""

    groups: int
    width: int
    filled: NDArray[np.intp]

    @classmethod
    def of(cls, scorers: Sequence[Scorer]) -> Slots:
        """Find the place of each component among ``groups * width``, both powers of two."""
        counts = [scorer.n_components for scorer in scorers]
        width = max(16, triton.next_power_of_2(max(counts)))
        filled = np.concatenate([g * width + np.arange(K) for g, K in enumerate(counts)])
        return cls(triton.next_power_of_2(len(scorers)), width, filled)

    @classmethod
    def in_tiles(cls, scorer: Scorer) -> Slots:
        """Find the place of each component of one scorer in whole tiles of many components."""
        K = scorer.n_components
        return cls(1, triton.cdiv(K, triton_wide.TILE) * triton_wide.TILE, np.arange(K))

    @property
    def padded(self) -> int:
        """Count the slots, filled or not."""
        return self.groups * self.width

    def biases(self, scorers: Sequence[Scorer]) -> Array:
        """Return the biases of the scorers in their slots."""
        biases = np.full(self.padded, IMPOSSIBLE)
        biases[self.filled] = stack(scorers).biases.clip(IMPOSSIBLE)
        return biases


def fits(rows: DenseRows, scorers: Sequence[Scorer], dtype: torch.dtype) -> bool:
    """Say whether the kernels can sweep these rows with these scorers, all soft or all hard."""
    device = torch.cuda.get_device_properties(rows.X.device)
    most = triton_wide.MAX_SLOTS if len(scorers) == 1 else triton_narrow.MAX_SLOTS
    return (
        dtype == torch.float32
        and rows.X.stride(1) == 1
        and rows.X.shape[1] >= MIN_FEATURES
        and Slots.of(scorers).padded <= most
        and device.shared_memory_per_block_optin >= MIN_SHARED
    )


def sweep(
    rows: DenseRows,
    scorers: Sequence[Scorer],
    weights: Tensor | None,
    dtype: torch.dtype,
    precision: str,
) -> tuple[Array, Array, Array]:
    """Return masses, vectors, and likelihood and entropy a scorer, without offsets, in float64."""
    slots, S, d = Slots.of(scorers), len(scorers), rows.X.shape[1]
    launch = triton_narrow.launch
    if slots.padded > triton_narrow.MAX_SLOTS:
        slots, launch = Slots.in_tiles(scorers[0]), triton_wide.launch
    unit, scale = _relative(weights)
    scale = np.broadcast_to(scale, S)
    each = scale.repeat([scorer.n_components for scorer in scorers])
    given, prototypes = prepare(scorers, slots, each, rows.X, precision)
    sums = launch(
        rows, prototypes, unit, negligible(DTYPES[dtype]), slots.groups, S,
        SPLIT=precision == "highest", HARD=scorers[0].assignment == "hard",
        NUMBER=tl.bfloat16 if precision == "bf16" else tl.float16,
    )  # fmt: skip
    mass, vectors, totals = collect(sums, given, (len(each), d), S)
    return mass, vectors, totals * scale[:, None]


def _relative(weights: Tensor | None) -> tuple[Tensor | None, Array]:
    """Return weights of at most one, a row a scorer, and the power of two that undoes it."""
    if weights is None:
        return None, np.ones(1)
    weights = torch.atleast_2d(weights)
    scale = torch.ldexp(torch.ones_like(weights[:, 0]), torch.frexp(weights.amax(1))[1])
    return weights / scale[:, None], to_numpy(scale)

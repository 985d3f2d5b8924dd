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

from spheremix.data import triton_nearest, triton_tiles
from spheremix.data.base import negligible, stack
from spheremix.data.torch_rows import DTYPES, IMPOSSIBLE, to_numpy
from spheremix.data.triton_tiles import ROW_SCALE, SHARE_SCALE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from spheremix.data.torch_rows import DenseRows
    from spheremix.scorer import Scorer

    Array: TypeAlias = NDArray[np.float64]
    Tensor: TypeAlias = torch.Tensor

ASSIGNMENTS = ("soft", "hard", "variation")
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
        return cls(1, triton.cdiv(K, triton_tiles.TILE) * triton_tiles.TILE, np.arange(K))

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
    """Say whether the kernels can sweep these rows with these scorers of one assignment."""
    device = torch.cuda.get_device_properties(rows.X.device)
    most = triton_tiles.MANY_SLOTS if len(scorers) == 1 else triton_tiles.FEW_SLOTS
    return (
        dtype == torch.float32
        and (scorers[0].assignment != "variation" or len(scorers) == 1)
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
    launch = triton_tiles.launch_few
    assignment = scorers[0].assignment
    unit, scale = _relative(weights)
    pulls = None
    if slots.padded > triton_tiles.FEW_SLOTS or assignment == "variation":
        slots = Slots.in_tiles(scorers[0])
        soft = assignment == "soft"
        launch = triton_tiles.launch_many if soft else triton_nearest.launch_nearest
    if assignment == "variation":
        pulls = torch.zeros(2, slots.padded, dtype=torch.float32, device=rows.X.device)
        # The weights of rows are relative to the scale.
        pulls[:, slots.filled] = torch.tensor(
            scorers[0].pulls.T * scale, dtype=torch.float32, device=rows.X.device
        )
    scale = np.broadcast_to(scale, S)
    each = scale.repeat([scorer.n_components for scorer in scorers])
    given, prototypes = prepare(scorers, slots, each, rows.X, precision)
    sums = launch(
        rows, prototypes, unit, negligible(DTYPES[dtype]), slots.groups, S,
        SPLIT=precision == "highest", HARD=assignment == "hard", pulls=pulls,
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


PROGRAMS = 256  # that add up the sums of tiles of rows
COLUMNS = 128  # of a prototype or of a vector, read at a time


def prepare(
    scorers: Sequence[Scorer], slots: Slots, scale: Array, X: Tensor, precision: str
) -> tuple[Tensor, tuple[Tensor, Tensor, Tensor, Tensor]]:
    """Bring scorers to the device; split prototypes into 16-bit numbers.

    Parameters
    ----------
    scorers : sequence of Scorer
    slots : Slots
    scale : ndarray of shape (K,)
        What the sums of each component are multiplied with in the end.
    X : torch.Tensor
        The rows, for their device and dimension.
    precision : {"highest", "tf32", "bf16"}

    Returns
    -------
    given : torch.Tensor
        All that was copied, float64: for ``collect``.
    prototypes : tuple of torch.Tensor
        In slots: two 16-bit matrices whose sum is the scaled prototypes (the same one twice if not
        "highest"), what undoes the scaling of a score, and the biases.
    """
    matrix = stack(scorers).matrix
    K, d = matrix.shape
    owners = np.full(slots.padded, -1.0)
    owners[slots.filled] = np.arange(K)
    parts = matrix.ravel(), slots.biases(scorers), owners, slots.filled, scale
    # Pinned memory: the copy needs no second one, and the program need not wait for it.
    pinned = torch.empty(sum(map(len, parts)), dtype=torch.float64, pin_memory=True)
    np.concatenate(parts, out=pinned.numpy())
    given = pinned.to(X.device, non_blocking=True)
    D, split = triton.cdiv(d, COLUMNS) * COLUMNS, precision == "highest"
    number = torch.bfloat16 if precision == "bf16" else torch.float16
    high = torch.empty(slots.padded, D, dtype=number, device=X.device)
    low = torch.empty_like(high) if split else high
    affine = torch.empty(2, slots.padded, dtype=torch.float32, device=X.device)
    with torch.cuda.device(X.device):
        _prepare[(slots.padded,)](given, high, low, affine, K, d, D=D, BD=COLUMNS, SPLIT=split)
    return given, (high, low, affine[0], affine[1])


def collect(
    sums: tuple[Tensor, Tensor, Tensor], given: Tensor, shape: tuple[int, int], n_scorers: int
) -> tuple[Array, Array, Array]:
    """Add up masses, vectors, and likelihoods and entropies; bring them to main memory.

    Parameters
    ----------
    sums : tuple of torch.Tensor
        Masses by tile and slot, vectors by part and slot, totals by tile and scorer.
    given : torch.Tensor
        From ``prepare``.
    shape : (int, int)
        The number of components and the dimension.
    n_scorers : int
    """
    (K, d), S, vectors = shape, n_scorers, sums[1]
    parts, padded, D = vectors.shape
    with torch.cuda.device(vectors.device):
        mass, totals = _fewer(sums[0]), _fewer(sums[2])
        found = torch.empty(K + K * d + 2 * S, dtype=torch.float64, device=vectors.device)
        _collect[(K, triton.cdiv(d, COLUMNS))](
            mass, vectors, given, found, len(mass), parts, K, d, padded, D=D, BP=16, BD=COLUMNS
        )
        found[K + K * d :] = totals.sum(0)[:S].flatten()
    flat = to_numpy(found)
    return flat[:K], flat[K : K + K * d].reshape(K, d), flat[K + K * d :].reshape(S, 2)


def _fewer(partials: Tensor) -> Tensor:
    """Add up the sums of very many tiles, in a fixed order, until a few are left, in float64."""
    n = len(partials)
    if n <= PROGRAMS:
        return partials
    width = partials[0].numel()
    sums = torch.empty(PROGRAMS, *partials.shape[1:], dtype=torch.float64, device=partials.device)
    _add_tiles[(PROGRAMS,)](
        partials, sums, n, triton.cdiv(n, PROGRAMS), W=width, BT=max(1, 4096 // width)
    )
    return sums


# --------------------------------------------------------------------------------------- kernels


@triton.jit(do_not_specialize=["K", "d"])
def _prepare(  # type: ignore[no-untyped-def]  # noqa: ANN202
    given, high, low, affine, K, d,  # noqa: ANN001
    D: tl.constexpr, BD: tl.constexpr, SPLIT: tl.constexpr,
):  # fmt: skip
    """Scale one prototype so that its largest entry is between 512 and 1024; split it."""
    slot = tl.program_id(0)
    padded = tl.num_programs(0)
    after = given + K * d
    owner = tl.load(after + padded + slot).to(tl.int64)
    row = given + owner * d
    columns = tl.arange(0, BD)
    largest = tl.zeros((BD,), tl.float64)
    for j in range(0, D, BD):
        used = (j + columns < d) & (owner >= 0)
        largest = tl.maximum(largest, tl.abs(tl.load(row + j + columns, mask=used, other=0.0)))
    # The least power of two above the largest entry, from the bits of a float64.
    exponent = (tl.max(largest, 0).to(tl.int64, bitcast=True) >> 52) - 1022
    exponent = tl.maximum(exponent, -1000)
    up = ((1033 - exponent) << 52).to(tl.float64, bitcast=True)  # 2 ** (10 - exponent)
    down = ((1013 + exponent) << 52).to(tl.float64, bitcast=True)
    for j in range(0, D, BD):
        used = (j + columns < d) & (owner >= 0)
        entries = tl.load(row + j + columns, mask=used, other=0.0) * up
        first = entries.to(tl.float32).to(high.dtype.element_ty)
        at = slot * D + j + columns
        tl.store(high + at, first)
        if SPLIT:
            rest = (entries - first.to(tl.float64)).to(tl.float32)
            tl.store(low + at, rest.to(high.dtype.element_ty))
    tl.store(affine + slot, (down / ROW_SCALE).to(tl.float32))
    tl.store(affine + padded + slot, tl.load(after + slot).to(tl.float32))


@triton.jit(do_not_specialize=["n_tiles", "per_program"])
def _add_tiles(  # type: ignore[no-untyped-def]  # noqa: ANN202
    partials, sums, n_tiles, per_program, W: tl.constexpr, BT: tl.constexpr  # noqa: ANN001
):  # fmt: skip
    """Add up the sums of some tiles that follow each other."""
    program = tl.program_id(0)
    column = tl.arange(0, W)
    total = tl.zeros((W,), tl.float64)
    end = min(n_tiles, (program + 1) * per_program)
    for start in range(program * per_program, end, BT):
        tile = start + tl.arange(0, BT)[:, None]
        at = partials + tile.to(tl.int64) * W + column[None, :]
        total += tl.sum(tl.load(at, mask=tile < end, other=0.0).to(tl.float64), 0)
    tl.store(sums + program * W + column, total)


@triton.jit(do_not_specialize=["n_masses", "n_parts", "K", "d", "padded"])
def _collect(  # type: ignore[no-untyped-def]  # noqa: ANN202
    mass, vectors, given, found, n_masses, n_parts, K, d, padded,  # noqa: ANN001
    D: tl.constexpr, BP: tl.constexpr, BD: tl.constexpr,
):  # fmt: skip
    """Add up some columns of the vector of one component; its mass with the first of them."""
    component = tl.program_id(0).to(tl.int64)
    filled = given + K * d + 2 * padded
    slot = tl.load(filled + component).to(tl.int64)
    undo = tl.load(filled + K + component) / SHARE_SCALE
    columns = tl.program_id(1) * BD + tl.arange(0, BD)
    total = tl.zeros((BD,), tl.float64)
    for start in range(0, n_parts, BP):
        part = start + tl.arange(0, BP)[:, None]
        at = vectors + (part.to(tl.int64) * padded + slot) * D + columns[None, :]
        total += tl.sum(tl.load(at, mask=part < n_parts, other=0.0).to(tl.float64), 0)
    out = found + K + component * d + columns
    tl.store(out, total * (undo / ROW_SCALE), mask=columns < d)
    if tl.program_id(1) == 0:
        own = tl.zeros((BD,), tl.float64)
        for start in range(0, n_masses, BD):
            tile = start + tl.arange(0, BD)
            masses = mass + tile.to(tl.int64) * padded + slot
            own += tl.load(masses, mask=tile < n_masses, other=0.0).to(tl.float64)
        tl.store(found + component, tl.sum(own, 0) * undo)

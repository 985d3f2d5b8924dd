"""Sums over the entries of sparse rows by Triton kernels, a program a row or a run of a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch
import triton
import triton.language as tl

from spheremix.data.base import negligible, stack
from spheremix.data.torch_rows import DTYPES, to_device, to_numpy
from spheremix.data.triton_dense import Slots
from spheremix.data.triton_tiles import shares_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from spheremix.data.torch_rows import SparseRows
    from spheremix.scorer import Scorer

    Array: TypeAlias = NDArray[np.float64]
    Tensor: TypeAlias = torch.Tensor

MAX_COMPONENTS = 1024
ENTRIES = 16  # read at a time by one program


ASSIGNMENTS = ("soft", "hard")


def fits(rows: SparseRows, scorers: Sequence[Scorer], dtype: torch.dtype) -> bool:  # noqa: ARG001
    """Say whether a program can hold the scores of a row; all scorers are soft or all hard."""
    return Slots.of(scorers).padded <= MAX_COMPONENTS


def sweep(
    rows: SparseRows,
    scorers: Sequence[Scorer],
    weights: Tensor | None,
    dtype: torch.dtype,
    precision: str,  # noqa: ARG001
) -> tuple[Array, Array, Array]:
    """Return masses, vectors, and likelihood and entropy a scorer, without offsets, in float64.

    Products are calculated in ``dtype``, that of the rows or float64.
    """
    X, slots = rows.X, Slots.of(scorers)
    S, KP, d = len(scorers), slots.padded, X.shape[1]
    least = negligible(DTYPES[dtype])
    on_device: Any = {"dtype": dtype, "device": X.device}
    filled = torch.as_tensor(slots.filled, device=X.device)
    table = torch.zeros(d, KP, **on_device)
    table[:, filled] = to_device(stack(scorers).matrix, X.device).to(dtype).mT
    biases = to_device(slots.biases(scorers), X.device).to(dtype)
    as_double: Any = {"dtype": torch.float64, "device": X.device}
    mass, totals = torch.zeros(KP, **as_double), torch.zeros(slots.groups, 2, **as_double)
    vectors = torch.zeros(d, KP, **as_double)
    options: Any = {"KP": KP, "num_warps": max(1, KP // 64)}
    with torch.cuda.device(X.device):
        for ids in rows.blocks(KP, dtype):
            n = ids.stop - ids.start
            shares = torch.empty(n, KP, **on_device)
            stats = torch.empty(2, n, slots.groups, **as_double)
            own = None if weights is None else torch.atleast_2d(weights)[:, ids]
            _assign[(n,)](
                *rows.by_rows[ids.start], table, biases, rows.scale[ids], own, shares, stats, n,
                0 if own is None or len(own) == 1 else own.stride(0), S, least,
                BZ=ENTRIES, G=slots.groups, HARD=scorers[0].assignment == "hard", **options,
            )  # fmt: skip
            mass += shares.sum(0, dtype=torch.float64)
            totals += stats.sum(1).mT
            entries, _, values = rows.by_columns[ids.start]
            runs, of_column = rows.runs[ids.start]
            partial = torch.empty(len(runs) - 1, KP, **as_double)
            _sum[(len(partial),)](
                entries, runs, values, rows.scale[ids], shares, partial, BZ=ENTRIES, **options
            )
            _add[(d,)](of_column, partial, vectors, **options)
    found = _in_one_copy(mass[filled], vectors.mT[filled], totals[:S])
    return found[0], found[1], found[2]


def _in_one_copy(*parts: Tensor) -> list[Array]:
    """Bring tensors of one type to main memory in one copy."""
    flat = to_numpy(torch.cat([part.flatten() for part in parts]))
    ends = np.cumsum([part.numel() for part in parts])
    cut = np.split(flat, ends[:-1])
    return [one.reshape(part.shape) for one, part in zip(cut, parts, strict=True)]


# --------------------------------------------------------------------------------------- kernels


@triton.jit
def _assign(  # type: ignore[no-untyped-def]  # noqa: ANN202
    columns, pointers, values, table, biases, scale, weights, shares_out, stats,  # noqa: ANN001
    n_rows, weight_stride, n_scorers, negligible,  # noqa: ANN001
    KP: tl.constexpr, BZ: tl.constexpr, G: tl.constexpr, HARD: tl.constexpr,
):  # fmt: skip
    """Assign one row: its shares by slot, and likelihood and entropy by scorer."""
    row = tl.program_id(0)
    end = tl.load(pointers + row + 1)
    slot = tl.arange(0, KP)
    products = tl.zeros((BZ, KP), table.dtype.element_ty)
    for start in range(tl.load(pointers + row), end, BZ):
        entry = start + tl.arange(0, BZ)
        column = tl.load(columns + entry, mask=entry < end, other=0).to(tl.int64)
        value = tl.load(values + entry, mask=entry < end, other=0.0).to(products.dtype)
        products += value[:, None] * tl.load(table + column[:, None] * KP + slot[None, :])
    to_unit = tl.load(scale + row).to(products.dtype)
    scores = tl.sum(products, 0) * to_unit + tl.load(biases + slot)
    scorer = tl.arange(0, G)
    weight = tl.full((G,), 1.0, tl.float64)
    if weights is not None:
        own = weights + scorer.to(tl.int64) * weight_stride + row
        weight = tl.load(own, mask=scorer < n_scorers, other=0.0)
    scores = tl.reshape(scores, (G, KP // G))
    shares, density, entropy = shares_of(scores, weight.to(scores.dtype), negligible, HARD)
    shares = tl.reshape(shares, (KP,))
    tl.store(shares_out + row * KP + slot, shares)
    tl.store(stats + row * G + scorer, density.to(tl.float64) * weight)
    tl.store(stats + (n_rows + row) * G + scorer, entropy.to(tl.float64) * weight)


@triton.jit
def _sum(  # type: ignore[no-untyped-def]  # noqa: ANN202
    entries, runs, values, scale, shares, partial,  # noqa: ANN001
    KP: tl.constexpr, BZ: tl.constexpr,
):  # fmt: skip
    """Sum shares times entries of unit rows over one run of a column."""
    run = tl.program_id(0)
    end = tl.load(runs + run + 1)
    slot = tl.arange(0, KP)
    # A run is short: each of these sums has a few terms.
    total = tl.zeros((BZ, KP), shares.dtype.element_ty)
    for start in range(tl.load(runs + run), end, BZ):
        entry = start + tl.arange(0, BZ)
        row = tl.load(entries + entry, mask=entry < end, other=0)
        value = tl.load(values + entry, mask=entry < end, other=0.0).to(total.dtype)
        value *= tl.load(scale + row).to(total.dtype)
        total += value[:, None] * tl.load(shares + row[:, None] * KP + slot[None, :])
    at = partial + run.to(tl.int64) * KP + slot
    tl.store(at, tl.sum(total.to(tl.float64), 0))


@triton.jit
def _add(of_column, partial, vectors, KP: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Add the runs of a column to its vector."""
    column = tl.program_id(0).to(tl.int64)
    slot = tl.arange(0, KP)
    total = tl.load(vectors + column * KP + slot)
    for run in range(tl.load(of_column + column), tl.load(of_column + column + 1)):
        total += tl.load(partial + run.to(tl.int64) * KP + slot)  # type: ignore[attr-defined]
    tl.store(vectors + column * KP + slot, total)

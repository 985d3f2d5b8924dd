"""The kernels of hard sweeps of dense float32 rows with many components: label, sort, add.

The best component of a row is kept while tiles of components pass, so no scores and no shares are
written. Then row numbers are sorted by label, and programs add up pieces of rows that follow each
other in this order and have one label. Nothing is added by atomic operations: the same launch gives
the same bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import torch
import triton
import triton.language as tl

from spheremix.data.torch_rows import IMPOSSIBLE
from spheremix.data.triton_tiles import ROW_SCALE, SHARE_SCALE, TILE, kept_rows, split_rows

if TYPE_CHECKING:
    from spheremix.data.torch_rows import DenseRows

    Tensor: TypeAlias = torch.Tensor

SCRATCH = 2**29  # bytes of rows in 16 bits at a time, where they are not kept
ROWS = 128  # of a tile
PIECE = 256  # rows that one program adds up
WHOLE = 256  # columns up to which the rows of a tile are read once for all components
NOTHING = tl.constexpr(2 * IMPOSSIBLE)  # below the bias of any component


def launch_nearest(
    rows: DenseRows,
    prototypes: tuple[Tensor, Tensor, Tensor, Tensor],
    weights: Tensor | None,
    least: float,  # noqa: ARG001
    groups: int,  # noqa: ARG001
    n_scorers: int,  # noqa: ARG001
    **options: Any,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return scaled sums of one hard scorer by slot: masses, vectors, and totals."""
    X, (KP, D), n = rows.X, prototypes[0].shape, len(rows.X)
    on_device: Any = {"device": X.device}
    own = None if weights is None else weights[0]
    labels = torch.empty(n, dtype=torch.int16, **on_device)
    with torch.cuda.device(X.device):
        density = _label(rows, prototypes, own, labels, split=options["SPLIT"])
        labels, order = labels.sort(stable=True)
        # Where the rows of each component begin, and its pieces; at most so many pieces in all.
        begins = torch.searchsorted(labels, torch.arange(KP + 1, dtype=torch.int16, **on_device))
        pieces = torch.zeros(KP + 1, dtype=torch.int64, **on_device)
        torch.cumsum((begins.diff() + PIECE - 1) // PIECE, 0, out=pieces[1:])
        most = n // PIECE + min(KP, n)
        owners = torch.searchsorted(pieces, torch.arange(most, **on_device), right=True) - 1
        sums = torch.empty(most, D, dtype=torch.float32, **on_device)
        masses = torch.empty(most, dtype=torch.float64, **on_device)
        _add_piece[(most, D // 128)](
            X, rows.scale32, own, order, begins, pieces, owners, sums, masses, X.shape[1],
            X.stride(0), KP=KP, D=D, BD=128, P=PIECE, BN=32, num_warps=4,
        )  # fmt: skip
        vectors = torch.empty(1, KP, D, dtype=torch.float64, **on_device)
        mass = torch.empty(1, KP, dtype=torch.float64, **on_device)
        _add_pieces[(KP, D // 128)](sums, masses, pieces, vectors, mass, D=D, BD=128, BP=16)
    return mass, vectors, density


def _label(
    rows: DenseRows,
    prototypes: tuple[Tensor, Tensor, Tensor, Tensor],
    weights: Tensor | None,
    labels: Tensor,
    *,
    split: bool,
) -> Tensor:
    """Write the first best slot of each row; return sums of weights times best scores by tile."""
    (KP, D), number, n = prototypes[0].shape, prototypes[0].dtype, len(labels)
    kept = kept_rows(rows, number, D, split=split)
    chunk = max(ROWS, SCRATCH // (2 * D * (2 if split else 1)) // ROWS * ROWS)
    if kept is None:
        high = torch.empty(
            min(chunk, triton.cdiv(n, ROWS) * ROWS), D, dtype=number, device=labels.device
        )
        low = torch.empty_like(high) if split else high
    else:
        (high, low), chunk = kept, n
    totals = torch.zeros(triton.cdiv(n, ROWS), 1, 2, dtype=torch.float64, device=labels.device)
    for start in range(0, n, chunk):
        own = min(chunk, n - start)
        if kept is None:
            part = rows.X[start : start + own]
            padded = triton.cdiv(own, ROWS) * ROWS
            split_rows(part, rows.scale32[start:], high[:padded], low[:padded], split=split)
        _nearest[(triton.cdiv(own, ROWS),)](
            high, low, *prototypes, None if weights is None else weights[start:], labels[start:],
            totals[start // ROWS :], own, D=D, KP=KP, SPLIT=split, WHOLE=D <= WHOLE and not split,
            BN=ROWS, BS=TILE, **_config(D, split=split),
        )  # fmt: skip
    return totals


def _config(D: int, *, split: bool) -> dict[str, int]:
    """Return columns of a tile and how a program runs: what was fastest on an H200."""
    if split:
        return {"BD": 64, "num_warps": 8, "num_stages": 3}
    if D <= WHOLE:
        return {"BD": D, "num_warps": 8, "num_stages": 3}
    return {"BD": 64, "num_warps": 8, "num_stages": 4}


# --------------------------------------------------------------------------------------- kernels


@triton.jit
def _nearest(  # type: ignore[no-untyped-def]  # noqa: ANN202
    x_high, x_low, m_high, m_low, unscale, biases, weights, labels, totals, n_rows,  # noqa: ANN001
    D: tl.constexpr, KP: tl.constexpr, BN: tl.constexpr, BS: tl.constexpr, BD: tl.constexpr,
    SPLIT: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """Write the first best slot of a tile of rows, and the sum of their weighted best scores."""
    tile = tl.program_id(0)
    each = tl.arange(0, BN)
    rows = tile * BN + each
    inside = rows < n_rows
    columns = tl.arange(0, BD)
    x_at = tile.to(tl.int64) * BN * D + each[:, None] * D + columns[None, :]
    there = inside[:, None]
    if WHOLE:
        x = tl.load(x_high + x_at, mask=there, other=0.0)
    best = tl.full((BN,), NOTHING, tl.float32)
    label = tl.zeros((BN,), tl.int32)
    for begin in range(0, KP, BS):
        slot = begin + tl.arange(0, BS)
        m_at = slot[None, :] * D + columns[:, None]
        if WHOLE:
            scores = tl.dot(x, tl.load(m_high + m_at))
        else:
            scores = tl.zeros((BN, BS), tl.float32)
            for j in range(0, D, BD):
                x = tl.load(x_high + x_at + j, mask=there, other=0.0)
                m = tl.load(m_high + m_at + j)
                if SPLIT:
                    short = tl.dot(tl.load(x_low + x_at + j, mask=there, other=0.0), m)
                    short = tl.dot(x, tl.load(m_low + m_at + j), short)
                    scores += tl.dot(x, m, short)
                else:
                    scores = tl.dot(x, m, scores)
        scores = scores * tl.load(unscale + slot)[None, :] + tl.load(biases + slot)[None, :]
        top, first = tl.max(scores, 1, return_indices=True, return_indices_tie_break_left=True)
        label = tl.where(top > best, begin + first, label)
        best = tl.maximum(top, best)
    tl.store(labels + rows, label.to(tl.int16), mask=inside)
    weight = inside.to(tl.float64)
    if weights is not None:
        weight = tl.load(weights + rows, mask=inside, other=0.0)
    tl.store(totals + 2 * tile, tl.sum(best.to(tl.float64) * weight, 0))


@triton.jit
def _add_piece(  # type: ignore[no-untyped-def]  # noqa: ANN202
    X, scale, weights, order, begins, pieces, owners, sums, masses, n_features, row_stride,  # noqa: ANN001
    KP: tl.constexpr, D: tl.constexpr, BD: tl.constexpr, P: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """Add up some columns of the rows of one piece, and their weights with the first of them."""
    piece = tl.program_id(0)
    owner = tl.load(owners + piece)
    if owner < KP:
        begin = tl.load(begins + owner) + (piece - tl.load(pieces + owner)) * P
        end = tl.minimum(begin + P, tl.load(begins + owner + 1))
        columns = tl.program_id(1) * BD + tl.arange(0, BD)
        total = tl.zeros((BD,), tl.float32)
        mass = tl.zeros((BN,), tl.float64)
        for j in range(0, P, BN):
            place = begin + j + tl.arange(0, BN)
            inside = place < end
            row = tl.load(order + place, mask=inside, other=0)
            weight = inside.to(tl.float64)
            if weights is not None:
                weight = tl.load(weights + row, mask=inside, other=0.0)
            mass += weight
            factor = tl.load(scale + row, mask=inside, other=0.0) * weight.to(tl.float32)
            at = row[:, None] * row_stride + columns[None, :]
            there = inside[:, None] & (columns < n_features)[None, :]
            total += tl.sum(tl.load(X + at, mask=there, other=0.0) * factor[:, None], 0)
        tl.store(sums + piece.to(tl.int64) * D + columns, total)
        if tl.program_id(1) == 0:
            tl.store(masses + piece, tl.sum(mass, 0))


@triton.jit
def _add_pieces(  # type: ignore[no-untyped-def]  # noqa: ANN202
    sums, masses, pieces, vectors, mass,  # noqa: ANN001
    D: tl.constexpr, BD: tl.constexpr, BP: tl.constexpr,
):  # fmt: skip
    """Add up the pieces of one component: some columns, and the mass with the first of them."""
    slot = tl.program_id(0)
    columns = tl.program_id(1) * BD + tl.arange(0, BD)
    total = tl.zeros((BD,), tl.float64)
    own = tl.zeros((BP,), tl.float64)
    end = tl.load(pieces + slot + 1)
    for start in range(tl.load(pieces + slot), end, BP):
        piece = start + tl.arange(0, BP)
        inside = piece < end
        at = sums + piece[:, None] * D + columns[None, :]
        total += tl.sum(tl.load(at, mask=inside[:, None], other=0.0).to(tl.float64), 0)
        own += tl.load(masses + piece, mask=inside, other=0.0)
    tl.store(vectors + slot * D + columns, total * (ROW_SCALE * SHARE_SCALE))
    if tl.program_id(1) == 0:
        tl.store(mass + slot, tl.sum(own, 0) * SHARE_SCALE)

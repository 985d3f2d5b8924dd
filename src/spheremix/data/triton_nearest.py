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
    own, split = None if weights is None else weights[0], options["SPLIT"]
    # Where products have rounded rows, so have sums: half as much is read.
    kept = None if split else kept_rows(rows, prototypes[0].dtype, D, split=False)
    summed = X if kept is None else kept[0]
    labels = torch.empty(n, dtype=torch.int16, **on_device)
    with torch.cuda.device(X.device):
        density = _label(rows, prototypes, options["pulls"], own, labels, split=split)
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
            summed, rows.scale32, own, order, begins, pieces, owners, sums, masses,
            summed.shape[1], summed.stride(0), KP=KP, D=D, BD=128, P=PIECE, BN=32, SPLIT=split,
            READY=kept is not None, NUMBER=options["NUMBER"], num_warps=4,
        )  # fmt: skip
        vectors = torch.empty(1, KP, D, dtype=torch.float64, **on_device)
        mass = torch.empty(1, KP, dtype=torch.float64, **on_device)
        _add_pieces[(KP, D // 128)](sums, masses, pieces, vectors, mass, D=D, BD=128, BP=16)
    return mass, vectors, density


def _label(
    rows: DenseRows,
    prototypes: tuple[Tensor, Tensor, Tensor, Tensor],
    pulls: Tensor | None,
    weights: Tensor | None,
    labels: Tensor,
    *,
    split: bool,
) -> Tensor:
    """Write the slot of each row; return sums of weights times the scores there, by tile."""
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
            high, low, *prototypes, pulls, None if weights is None else weights[start:],
            labels[start:], totals[start // ROWS :], own, D=D, KP=KP, SPLIT=split,
            WHOLE=D <= WHOLE and not split, BN=ROWS, **_config(D, KP, split=split),
        )  # fmt: skip
    return totals


def _config(D: int, KP: int, *, split: bool) -> dict[str, int]:
    """Return components and columns of a tile and how a program runs: the fastest on an H200."""
    if split:
        return {"BS": TILE, "BD": 64, "num_warps": 8, "num_stages": 3}
    if D <= WHOLE:
        return {"BS": TILE, "BD": D, "num_warps": 4, "num_stages": 2}
    if KP % (2 * TILE) == 0:
        return {"BS": 2 * TILE, "BD": 64, "num_warps": 8, "num_stages": 3}
    return {"BS": TILE, "BD": 64, "num_warps": 4, "num_stages": 3}


# --------------------------------------------------------------------------------------- kernels


@triton.jit
def _nearest(  # type: ignore[no-untyped-def]  # noqa: ANN202
    x_high, x_low, m_high, m_low, unscale, biases, pulls, weights, labels, totals, n_rows,  # noqa: ANN001
    D: tl.constexpr, KP: tl.constexpr, BN: tl.constexpr, BS: tl.constexpr, BD: tl.constexpr,
    SPLIT: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """Write the slots of a tile of rows, and the sum of their weighted scores there."""
    tile = tl.program_id(0)
    each = tl.arange(0, BN)
    rows = tile * BN + each
    inside = rows < n_rows
    columns = tl.arange(0, BD)
    x_at = tile.to(tl.int64) * BN * D + each[:, None] * D + columns[None, :]
    there = inside[:, None]
    weight = inside.to(tl.float64)
    if weights is not None:
        weight = tl.load(weights + rows, mask=inside, other=0.0)
    x = x_at
    if WHOLE:
        x = tl.load(x_high + x_at, mask=there, other=0.0)
    best = tl.full((BN,), NOTHING, tl.float32)
    label = tl.zeros((BN,), tl.int32)
    for begin in range(0, KP, BS):
        slot = begin + tl.arange(0, BS)
        scores = _products(
            x, x_high, x_low, x_at, there, m_high, m_low, slot, D, BN, BS, BD, SPLIT, WHOLE
        )
        scores = scores * tl.load(unscale + slot)[None, :] + tl.load(biases + slot)[None, :]
        top, first = tl.max(scores, 1, return_indices=True, return_indices_tie_break_left=True)
        label = tl.where(top > best, begin + first, label)
        best = tl.maximum(top, best)
    if pulls is not None:
        # Once more, as each row would change the prototype that it leaves or joins.
        own = label
        most = tl.full((BN,), NOTHING, tl.float32)
        for begin in range(0, KP, BS):
            slot = begin + tl.arange(0, BS)
            products = _products(
                x, x_high, x_low, x_at, there, m_high, m_low, slot, D, BN, BS, BD, SPLIT, WHOLE
            )
            products = products * tl.load(unscale + slot)[None, :]
            bias = tl.load(biases + slot)[None, :]
            pull = tl.load(pulls + slot)[None, :]
            inverse = tl.load(pulls + KP + slot)[None, :]
            signed = weight.to(tl.float32)[:, None]
            signed = tl.where(slot[None, :] == own[:, None], -signed, signed)
            square = 1 + 2 * signed * inverse * products + signed * signed * (pull * inverse)
            gain = (2 * products + signed * pull) / (1 + tl.sqrt(tl.maximum(square, 0.0))) + bias
            top, first = tl.max(gain, 1, return_indices=True, return_indices_tie_break_left=True)
            here = tl.where(tl.arange(0, BS)[None, :] == first[:, None], products + bias, 0.0)
            best = tl.where(top > most, tl.sum(here, 1), best)
            label = tl.where(top > most, begin + first, label)
            most = tl.maximum(top, most)
    tl.store(labels + rows, label.to(tl.int16), mask=inside)
    tl.store(totals + 2 * tile, tl.sum(best.to(tl.float64) * weight, 0))


@triton.jit
def _products(  # type: ignore[no-untyped-def]  # noqa: ANN202
    x, x_high, x_low, x_at, there, m_high, m_low, slot,  # noqa: ANN001
    D: tl.constexpr, BN: tl.constexpr, BS: tl.constexpr, BD: tl.constexpr,
    SPLIT: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """Return the scaled products of a tile of rows, at hand if WHOLE, with a tile of components."""
    m_at = slot[None, :] * D + tl.arange(0, BD)[:, None]
    if WHOLE:
        return tl.dot(x, tl.load(m_high + m_at))
    scores = tl.zeros((BN, BS), tl.float32)
    for j in range(0, D, BD):
        part = tl.load(x_high + x_at + j, mask=there, other=0.0)
        m = tl.load(m_high + m_at + j)
        if SPLIT:
            short = tl.dot(tl.load(x_low + x_at + j, mask=there, other=0.0), m)
            short = tl.dot(part, tl.load(m_low + m_at + j), short)
            scores += tl.dot(part, m, short)
        else:
            scores = tl.dot(part, m, scores)
    return scores


@triton.jit
def _add_piece(  # type: ignore[no-untyped-def]  # noqa: ANN202
    X, scale, weights, order, begins, pieces, owners, sums, masses, n_features, row_stride,  # noqa: ANN001
    KP: tl.constexpr, D: tl.constexpr, BD: tl.constexpr, P: tl.constexpr, BN: tl.constexpr,
    SPLIT: tl.constexpr, READY: tl.constexpr, NUMBER: tl.constexpr,
):  # fmt: skip
    """Add up some columns of the rows of one piece, and their weights with the first of them."""
    piece = tl.program_id(0)
    owner = tl.load(owners + piece)
    if owner < KP:
        begin = tl.load(begins + owner) + (piece - tl.load(pieces + owner)) * P
        end = tl.minimum(begin + P, tl.load(begins + owner + 1))
        columns = tl.program_id(1) * BD + tl.arange(0, BD)
        total = tl.zeros((BN, BD), tl.float32)
        mass = tl.zeros((BN,), tl.float64)
        for j in range(0, P, BN):
            place = begin + j + tl.arange(0, BN)
            inside = place < end
            row = tl.load(order + place, mask=inside, other=0)
            weight = inside.to(tl.float64)
            if weights is not None:
                weight = tl.load(weights + row, mask=inside, other=0.0)
            mass += weight
            at = row[:, None] * row_stride + columns[None, :]
            there = inside[:, None] & (columns < n_features)[None, :]
            x = tl.load(X + at, mask=there, other=0.0).to(tl.float32)
            if not READY:
                x *= (tl.load(scale + row, mask=inside, other=0.0) * ROW_SCALE)[:, None]
                if not SPLIT:
                    x = x.to(NUMBER).to(tl.float32)
            total += x * weight.to(tl.float32)[:, None]
        tl.store(sums + piece.to(tl.int64) * D + columns, _in_halves(total))
        if tl.program_id(1) == 0:
            tl.store(masses + piece, tl.sum(mass, 0))


@triton.jit
def _in_halves(block):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Add up 32 rows in an order that does not depend on how they lie in registers."""
    for level in tl.static_range(5):
        halves = tl.reshape(block, (2, 16 >> level, block.shape[1]))
        first, second = tl.split(tl.permute(halves, (1, 2, 0)))
        block = first + second
    return tl.reshape(block, (block.shape[1],))


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
    tl.store(vectors + slot * D + columns, total * SHARE_SCALE)
    if tl.program_id(1) == 0:
        tl.store(mass + slot, tl.sum(own, 0) * SHARE_SCALE)

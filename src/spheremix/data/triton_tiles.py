"""The kernels of dense float32 rows, in tiles: for few components, and for many.

With few components a program holds the scores of its rows with all of them, so the rows are read
twice and nothing but the shares is written. Where there is room, the rows are kept in 16 bits from
sweep to sweep, as the tensor cores need them; this changes no bit of a result.

No program can hold the scores of a row with thousands of components, so in soft sweeps a chunk of
rows is split into 16-bit numbers once, its scores are written by tiles of components, turned into
shares row by row, and multiplied with the rows by tiles of components and columns. A program owns
what it writes: the same launch gives the same bits. Hard sweeps are in ``triton_nearest.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import torch
import triton
import triton.language as tl

from spheremix.data.torch_rows import IMPOSSIBLE

if TYPE_CHECKING:
    from spheremix.data.torch_rows import DenseRows

    Tensor: TypeAlias = torch.Tensor

FEW_SLOTS = 256
FEW_SCRATCH = 2**28  # bytes of shares kept at a time
KEPT = 0.25  # of the free memory, at most, for rows in 16 bits
SPLIT_ROWS = 32  # that one program splits
ROWS = 256  # rows in 16 bits, and those of a chunk, are padded to a multiple of this
# Entries of unit rows, and shares, times these are well inside the range of float16.
ROW_SCALE, SHARE_SCALE = tl.constexpr(2.0**8), tl.constexpr(2.0**15)


def launch_few(
    rows: DenseRows,
    prototypes: tuple[Tensor, Tensor, Tensor, Tensor],
    weights: Tensor | None,
    least: float,
    groups: int,
    n_scorers: int,
    **options: Any,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return scaled sums: masses by tile of rows, vectors by part of them, totals by tile."""
    X, (KP, D), number = rows.X, prototypes[0].shape, prototypes[0].dtype
    n_rows, split = len(X), options["SPLIT"]
    options |= {"D": D, "KP": KP}
    del options["pulls"]
    chunk = FEW_SCRATCH // (KP * (4 if split else 2))
    high = torch.empty(min(chunk, n_rows), KP, dtype=number, device=X.device)
    low = torch.empty_like(high) if split else high
    kept = kept_rows(rows, number, D, split=split)
    summed, summed_low = (X, X) if kept is None else kept
    scored = X if split else summed  # splitting the rows again is faster than reading twice as many
    BN, BD, assign_options = _assign_config(split, KP, ready=scored is not X)
    BK, columns, per_sm, sum_options = _sum_config(split, KP, ready=summed is not X)
    n_tiles = triton.cdiv(n_rows, BN)
    mass = torch.empty(n_tiles, KP, dtype=torch.float32, device=X.device)
    totals = torch.empty(n_tiles, groups, 2, dtype=torch.float64, device=X.device)
    sms = torch.cuda.get_device_properties(X.device).multi_processor_count
    parts = max(1, per_sm * sms * columns // D)
    vectors = torch.empty(parts, KP, D, dtype=torch.float32, device=X.device)
    hard = options.pop("HARD")
    with torch.cuda.device(X.device):
        for start in range(0, n_rows, chunk):
            n, tile = min(chunk, n_rows - start), start // BN
            scale = rows.scale32[start:]
            own = None if weights is None else weights[:, start:]
            _assign_few[(triton.cdiv(n, BN),)](
                scored[start:], scale, *prototypes, own, high, low, mass[tile:], totals[tile:],
                n, scored.shape[1], scored.stride(0), n_rows, n_scorers, least, G=groups, BN=BN,
                BD=BD, HARD=hard, SHARED=weights is not None and len(weights) == 1,
                WHOLE=scored.shape[1] == D, READY=scored is not X, **assign_options, **options,
            )  # fmt: skip
            _sum_few[(D // columns, parts)](
                summed[start:], summed_low[start:], scale, high, low, vectors, n, summed.shape[1],
                summed.stride(0), start, triton.cdiv(n, parts * BK) * BK, BK=BK, BD=columns,
                WHOLE=summed.shape[1] == D, READY=summed is not X, **sum_options, **options,
            )  # fmt: skip
    return mass, vectors, totals


def kept_rows(
    rows: DenseRows, number: torch.dtype, D: int, *, split: bool
) -> tuple[Tensor, Tensor] | None:
    """Return scaled unit rows as sums of two 16-bit matrices, or None where they need much memory.

    They are calculated once and kept with the rows; one matrix twice if they are not split.
    """
    if number not in rows.kept:
        n = triton.cdiv(len(rows.X), ROWS) * ROWS
        free, _ = torch.cuda.mem_get_info(rows.X.device)
        rows.kept[number] = None
        if n * D * (4 if split else 2) <= free * KEPT:
            high = torch.empty(n, D, dtype=number, device=rows.X.device)
            low = torch.empty_like(high) if split else high
            split_rows(rows.X, rows.scale32, high, low, split=split)
            rows.kept[number] = high, low
    return rows.kept[number]


def split_rows(X: Tensor, scale: Tensor, high: Tensor, low: Tensor, *, split: bool) -> None:
    """Write scaled unit rows as sums of two 16-bit matrices, or as the first one only."""
    (n, D), number = high.shape, tl.bfloat16 if high.dtype == torch.bfloat16 else tl.float16
    with torch.cuda.device(X.device):
        _split[(n // SPLIT_ROWS, D // 128)](
            X, scale, high, low, *X.shape, X.stride(0), D=D, BN=SPLIT_ROWS, BD=128,
            SPLIT=split, NUMBER=number,
        )  # fmt: skip


def _assign_config(split: bool, KP: int, *, ready: bool) -> tuple[int, int, dict[str, int]]:
    """Return rows and columns of a tile and how a program runs: what was fastest on an H200.

    ``ready`` says that the rows are kept in 16 bits. It must not change the rows of a tile, on
    which the bits of the masses depend.
    """
    if KP > 128:
        return 64, 32, {"num_warps": 8, "num_stages": 4}
    # As many registers as let three programs run at once on a multiprocessor, or four.
    if split:
        return 64, 32, {"num_warps": 4, "num_stages": 3, "maxnreg": 168}
    if ready:
        return 64, 64, {"num_warps": 4, "num_stages": 3, "maxnreg": 128}
    return 64, 32, {"num_warps": 4, "num_stages": 4, "maxnreg": 128}


def _sum_config(split: bool, KP: int, *, ready: bool) -> tuple[int, int, int, dict[str, int]]:
    """Return rows and columns of a tile, parts a multiprocessor, and how a program runs.

    ``ready`` must not change the parts, on which the bits of the vectors depend.
    """
    if split:
        return 64 if KP <= 128 else 32, 128, 1, {"num_warps": 8, "num_stages": 3}
    return 64, 64, 2, {"num_warps": 8, "num_stages": 4 if ready and KP <= 128 else 3}


# --------------------------------------------------------------------------------------- kernels


@triton.jit
def shares_of(scores, factors, negligible, HARD: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Return the assignment of each row times its factor, its log-density and its entropy."""
    top = tl.max(scores, 1)
    if HARD:
        first = tl.argmax(scores, 1, tie_break_left=True)
        slot = tl.arange(0, scores.shape[1])
        shares = tl.where(slot[None, :] == first[:, None], factors[:, None], 0.0)
        return shares.to(scores.dtype), top, tl.zeros_like(top)
    scores -= top[:, None]
    shares = _exp(scores)
    total = tl.sum(shares, 1)
    entropy = tl.log(total) - tl.sum(shares * scores, 1) / total
    shares = tl.where(shares >= (negligible * total)[:, None], shares, 0.0)
    return shares * (factors / total)[:, None], top + tl.log(total), entropy


@triton.jit
def _exp(x):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
    """Return exponentials; in float32 zero below 1e-38, which takes a third of the instructions."""
    if x.dtype == tl.float32:
        return tl.inline_asm_elementwise(
            "ex2.approx.ftz.f32 $0, $1;", "=f,f", [x * 1.4426950408889634], tl.float32, True, 1
        )
    return tl.exp(x)


@triton.jit
def _split(  # type: ignore[no-untyped-def]  # noqa: ANN202
    X, scale, high, low, n_rows, n_features, row_stride,  # noqa: ANN001
    D: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr, SPLIT: tl.constexpr, NUMBER: tl.constexpr,
):  # fmt: skip
    """Write scaled unit rows as sums of two 16-bit numbers, zeros after the last row."""
    rows = tl.program_id(0) * BN + tl.arange(0, BN)
    columns = tl.program_id(1) * BD + tl.arange(0, BD)
    there = (rows < n_rows)[:, None] & (columns < n_features)[None, :]
    x = tl.load(X + rows.to(tl.int64)[:, None] * row_stride + columns[None, :], there, other=0.0)
    x = x * (tl.load(scale + rows, mask=rows < n_rows, other=0.0) * ROW_SCALE)[:, None]
    at = rows.to(tl.int64)[:, None] * D + columns[None, :]
    x_high = x.to(NUMBER)
    tl.store(high + at, x_high)
    if SPLIT:
        tl.store(low + at, (x - x_high.to(tl.float32)).to(NUMBER))


@triton.jit
def _assign_few(  # type: ignore[no-untyped-def]  # noqa: ANN202
    X, scale, high, low, unscale, biases, weights, shares_high, shares_low, mass, totals,  # noqa: ANN001
    n_rows, n_features, row_stride, weight_stride, n_scorers, negligible,  # noqa: ANN001
    D: tl.constexpr, KP: tl.constexpr, G: tl.constexpr, BN: tl.constexpr, BD: tl.constexpr,
    SPLIT: tl.constexpr, HARD: tl.constexpr, SHARED: tl.constexpr, WHOLE: tl.constexpr,
    READY: tl.constexpr, NUMBER: tl.constexpr,
):  # fmt: skip
    """Assign a tile of rows: shares in 16 bits, mass by slot, likelihood and entropy by scorer."""
    tile = tl.program_id(0)
    slot = tl.arange(0, KP)
    columns = tl.arange(0, BD)
    rows = tile * BN + tl.arange(0, BN)
    inside = rows < n_rows
    to_unit = tl.load(scale + rows, mask=inside, other=0.0) * ROW_SCALE
    # Offsets of 32 bits from the first row of the tile.
    begin = X + tile.to(tl.int64) * BN * row_stride
    begin += tl.arange(0, BN)[:, None] * row_stride + columns[None, :]
    prototypes = slot[None, :] * D + columns[:, None]
    scores = tl.zeros((BN, KP), tl.float32)
    for j in range(0, D, BD):
        there = inside[:, None]
        if not WHOLE:
            there = there & (columns + j < n_features)[None, :]
        x = tl.load(begin + j, mask=there, other=0.0)
        if not READY:
            x = x.to(tl.float32) * to_unit[:, None]
        x_high = x.to(NUMBER)
        m_high = tl.load(high + prototypes + j)
        if SPLIT:
            x_low = (x - x_high.to(tl.float32)).to(NUMBER)
            short = tl.dot(x_low, m_high)
            short = tl.dot(x_high, tl.load(low + prototypes + j), short)
            scores += tl.dot(x_high, m_high, short)
        else:
            scores = tl.dot(x_high, m_high, scores)
    scores = scores * tl.load(unscale + slot)[None, :] + tl.load(biases + slot)[None, :]
    each = tl.arange(0, BN * G)
    row = tile * BN + each // G
    weight = (row < n_rows).to(tl.float64)
    if weights is not None:
        scorer = each % G
        own = row if SHARED else scorer.to(tl.int64) * weight_stride + row
        weight = tl.load(weights + own, mask=(row < n_rows) & (scorer < n_scorers), other=0.0)
    factors = weight.to(tl.float32) * SHARE_SCALE
    scores = tl.reshape(scores, (BN * G, KP // G))
    shares, density, entropy = shares_of(scores, factors, negligible, HARD)
    shares = tl.reshape(shares, (BN, KP))
    tl.store(mass + tile * KP + slot, tl.sum(shares, 0))
    out = totals + (tile * G + tl.arange(0, G)) * 2
    tl.store(out, tl.sum(tl.reshape(density.to(tl.float64) * weight, (BN, G)), 0))
    tl.store(out + 1, tl.sum(tl.reshape(entropy.to(tl.float64) * weight, (BN, G)), 0))
    at = rows[:, None] * KP + slot[None, :]
    s_high = shares.to(NUMBER)
    tl.store(shares_high + at, s_high, mask=inside[:, None])
    if SPLIT:
        tl.store(shares_low + at, (shares - s_high.to(tl.float32)).to(NUMBER), inside[:, None])


@triton.jit
def _sum_few(  # type: ignore[no-untyped-def]  # noqa: ANN202
    X, X_low, scale, shares_high, shares_low, vectors, n_rows, n_features, row_stride, before,  # noqa: ANN001
    per_part,  # noqa: ANN001
    D: tl.constexpr, KP: tl.constexpr, BK: tl.constexpr, BD: tl.constexpr,
    SPLIT: tl.constexpr, WHOLE: tl.constexpr, READY: tl.constexpr, NUMBER: tl.constexpr,
):  # fmt: skip
    """Add shares times rows, over one part of the rows, to this part's own sums of some columns."""
    part = tl.program_id(1)
    slot = tl.arange(0, KP)
    each = tl.arange(0, BK)
    columns = tl.program_id(0) * BD + tl.arange(0, BD)
    total = tl.zeros((KP, BD), tl.float32)
    # Offsets of 32 bits from the first row of a tile.
    in_rows = each[:, None] * row_stride + columns[None, :]
    in_shares = each[:, None] * KP + slot[None, :]
    begin = part * per_part
    end = min(begin + per_part, n_rows)
    for start in range(begin, end, BK):
        inside = start + each < end
        there = inside[:, None]
        if not WHOLE:
            there = there & (columns < n_features)[None, :]
        first = tl.cast(start, tl.int64)
        at_rows = first * row_stride + in_rows
        x = tl.load(X + at_rows, mask=there, other=0.0)
        if not READY:
            to_unit = tl.load(scale + first + each, mask=inside, other=0.0) * ROW_SCALE
            x = x.to(tl.float32) * to_unit[:, None]
        x_high = x.to(NUMBER)
        shares = first * KP + in_shares
        s_high = tl.load(shares_high + shares, mask=inside[:, None], other=0.0).T
        if SPLIT:
            if not READY:
                x_low = (x - x_high.to(tl.float32)).to(NUMBER)
            else:
                x_low = tl.load(X_low + at_rows, mask=there, other=0.0)
            short = tl.dot(s_high, x_low)
            s_low = tl.load(shares_low + shares, mask=inside[:, None], other=0.0).T
            short = tl.dot(s_low, x_high, short)
            total += tl.dot(s_high, x_high, short)
        else:
            total = tl.dot(s_high, x_high, total)
    at = vectors + (part * KP + slot[:, None]) * D + columns[None, :]
    tl.store(at, tl.load(at, mask=before > 0, other=0.0) + total)


MANY_SLOTS = 2**14
TILE = 128  # components of a tile
MANY_SCRATCH = 2**29  # bytes of scores, shares and split rows kept at a time
STEPS = 8  # of one program that calculates shares
NOTHING = tl.constexpr(IMPOSSIBLE)


def launch_many(
    rows: DenseRows,
    prototypes: tuple[Tensor, Tensor, Tensor, Tensor],
    weights: Tensor | None,
    least: float,
    groups: int,  # noqa: ARG001
    n_scorers: int,  # noqa: ARG001
    **options: Any,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return scaled sums of a soft scorer by slot: masses, vectors by part of the rows, totals."""
    X, (KP, D), number = rows.X, prototypes[0].shape, prototypes[0].dtype
    n_rows, split = len(X), options["SPLIT"]
    chunk = max(ROWS, MANY_SCRATCH // (8 * KP + 4 * D) // ROWS * ROWS)
    most = min(chunk, triton.cdiv(n_rows, ROWS) * ROWS)
    on_device: Any = {"device": X.device}
    kept = kept_rows(rows, number, D, split=split)
    x_high = torch.empty(0 if kept else most, D, dtype=number, **on_device)
    s_high = torch.empty(most, KP, dtype=number, **on_device)
    x_low, s_low = (torch.empty_like(one) if split else one for one in (x_high, s_high))
    scores = torch.empty(most, KP, dtype=torch.float32, **on_device)
    wide = triton.next_power_of_2(KP)
    height = max(1, 2**13 // wide)  # rows whose shares one program calculates at a time
    step = height * STEPS
    mass_by_tile = torch.empty(triton.cdiv(most, step), KP, dtype=torch.float32, **on_device)
    totals_by_tile = torch.empty(len(mass_by_tile), 2, dtype=torch.float64, **on_device)
    mass = torch.zeros(1, KP, dtype=torch.float64, **on_device)
    totals = torch.zeros(1, 1, 2, dtype=torch.float64, **on_device)
    tiles = KP // SUMS["BS"] * (D // SUMS["BD"])
    sms = torch.cuda.get_device_properties(X.device).multi_processor_count
    parts = max(1, PROGRAMS * sms // tiles)
    vectors = torch.zeros(parts, KP, D, dtype=torch.float32, **on_device)
    high, low, unscale, biases = prototypes
    sizes: Any = {"D": D, "KP": KP, "SPLIT": split}
    with torch.cuda.device(X.device):
        for start in range(0, n_rows, chunk):
            n = min(chunk, n_rows - start)
            padded = triton.cdiv(n, ROWS) * ROWS
            n_tiles = triton.cdiv(padded, step)
            own = None if weights is None else weights[0, start:]
            part, scale = X[start : start + n], rows.scale32[start:]
            if kept is None:
                split_rows(part, scale, x_high[:padded], x_low[:padded], split=split)
            else:
                x_high, x_low = (one[start : start + padded] for one in kept)
            _score_many[(padded // SCORES["BN"] * (KP // SCORES["BS"]),)](
                x_high, x_low, high, low, unscale, biases, scores, **SCORES, **sizes
            )
            _share_many[(n_tiles,)](
                scores, own, s_high, s_low, mass_by_tile, totals_by_tile, n, least, BN=height,
                STEPS=STEPS, WIDE=wide, NUMBER=options["NUMBER"], num_warps=4, **sizes,
            )  # fmt: skip
            _add_many[(D // SUMS["BD"], KP // SUMS["BS"], parts)](
                x_high, x_low, s_high, s_low, vectors, padded,
                triton.cdiv(padded, parts * SUMS["BN"]) * SUMS["BN"], **SUMS, **sizes,
            )  # fmt: skip
            mass += mass_by_tile[:n_tiles].sum(0, dtype=torch.float64)
            totals += totals_by_tile[:n_tiles].sum(0)
    return mass, vectors, totals


# The tiles of scores and of sums, and how a program runs: what was fastest on an H200.
SCORES = {"BN": 128, "BS": 128, "BD": 64, "num_warps": 8, "num_stages": 3}
SUMS = {"BN": 64, "BS": 128, "BD": 128, "num_warps": 8, "num_stages": 3}
PROGRAMS = 2  # of sums, on each multiprocessor


# --------------------------------------------------------------------------------------- kernels


@triton.jit
def _score_many(  # type: ignore[no-untyped-def]  # noqa: ANN202
    x_high, x_low, m_high, m_low, unscale, biases, scores,  # noqa: ANN001
    D: tl.constexpr, KP: tl.constexpr, BN: tl.constexpr, BS: tl.constexpr, BD: tl.constexpr,
    SPLIT: tl.constexpr,
):  # fmt: skip
    """Write the scores of a tile of rows with a tile of components.

    Programs of the same rows follow each other, so that the rows are read from the cache.
    """
    tile = tl.program_id(0)
    rows = tile // (KP // BS) * BN + tl.arange(0, BN)
    slot = tile % (KP // BS) * BS + tl.arange(0, BS)
    columns = tl.arange(0, BD)
    x_at = rows[:, None] * D + columns[None, :]
    m_at = slot[None, :] * D + columns[:, None]
    found = tl.zeros((BN, BS), tl.float32)
    for j in range(0, D, BD):
        x = tl.load(x_high + x_at + j)
        m = tl.load(m_high + m_at + j)
        if SPLIT:
            short = tl.dot(tl.load(x_low + x_at + j), m)
            short = tl.dot(x, tl.load(m_low + m_at + j), short)
            found += tl.dot(x, m, short)
        else:
            found = tl.dot(x, m, found)
    found = found * tl.load(unscale + slot)[None, :] + tl.load(biases + slot)[None, :]
    tl.store(scores + rows[:, None] * KP + slot[None, :], found)


@triton.jit
def _share_many(  # type: ignore[no-untyped-def]  # noqa: ANN202
    scores, weights, s_high, s_low, mass, totals, n_rows, negligible,  # noqa: ANN001
    D: tl.constexpr, KP: tl.constexpr, BN: tl.constexpr, WIDE: tl.constexpr,  # noqa: ARG001
    SPLIT: tl.constexpr, STEPS: tl.constexpr, NUMBER: tl.constexpr,
):  # fmt: skip
    """Write the shares of some rows, and their mass by slot, likelihood and entropy."""
    tile = tl.program_id(0)
    slot = tl.arange(0, WIDE)
    used = (slot < KP)[None, :]
    own = tl.zeros((WIDE,), tl.float32)
    densities = tl.zeros((BN,), tl.float64)
    entropies = tl.zeros((BN,), tl.float64)
    for step in range(STEPS):
        rows = (tile * STEPS + step) * BN + tl.arange(0, BN)
        at = rows[:, None] * KP + slot[None, :]
        weight = (rows < n_rows).to(tl.float64)
        if weights is not None:
            weight = tl.load(weights + rows, mask=rows < n_rows, other=0.0)
        shares, density, entropy = shares_of(
            tl.load(scores + at, mask=used, other=NOTHING), weight.to(tl.float32) * SHARE_SCALE,
            negligible, HARD=False,
        )  # fmt: skip
        own += tl.sum(shares, 0)
        densities += density.to(tl.float64) * weight
        entropies += entropy.to(tl.float64) * weight
        high = shares.to(NUMBER)
        tl.store(s_high + at, high, mask=used)
        if SPLIT:
            tl.store(s_low + at, (shares - high.to(tl.float32)).to(NUMBER), mask=used)
    tl.store(mass + tile * KP + slot, own, mask=slot < KP)
    tl.store(totals + 2 * tile, tl.sum(densities, 0))
    tl.store(totals + 2 * tile + 1, tl.sum(entropies, 0))


@triton.jit
def _add_many(  # type: ignore[no-untyped-def]  # noqa: ANN202
    x_high, x_low, s_high, s_low, vectors, n_rows, per_part,  # noqa: ANN001
    D: tl.constexpr, KP: tl.constexpr, BN: tl.constexpr, BS: tl.constexpr, BD: tl.constexpr,
    SPLIT: tl.constexpr,
):  # fmt: skip
    """Add shares times rows, over one part of the rows, to this part's own tile of sums."""
    columns = tl.program_id(0) * BD + tl.arange(0, BD)
    slot = tl.program_id(1) * BS + tl.arange(0, BS)
    part = tl.program_id(2)
    total = tl.zeros((BS, BD), tl.float32)
    begin = part * per_part
    for start in range(begin, min(begin + per_part, n_rows), BN):
        rows = start + tl.arange(0, BN)
        x_at = rows[:, None] * D + columns[None, :]
        s_at = rows[:, None] * KP + slot[None, :]
        x = tl.load(x_high + x_at)
        s = tl.load(s_high + s_at).T
        if SPLIT:
            short = tl.dot(s, tl.load(x_low + x_at))
            short = tl.dot(tl.load(s_low + s_at).T, x, short)
            total += tl.dot(s, x, short)
        else:
            total = tl.dot(s, x, total)
    at = vectors + (part * KP + slot[:, None]) * D + columns[None, :]
    tl.store(at, tl.load(at) + total)

"""Dense float32 rows and many components: scores in tiles, then shares, then sums in tiles.

No program can hold the scores of a row with thousands of components, so a chunk of rows is split
into 16-bit numbers once, its scores are written by tiles of components, turned into shares row by
row, and multiplied with the rows by tiles of components and columns. A program owns what it writes:
the same launch gives the same bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import torch
import triton
import triton.language as tl

from spheremix.data.torch_open import IMPOSSIBLE
from spheremix.data.triton_narrow import SHARE_SCALE, shares_of, split_rows

if TYPE_CHECKING:
    from spheremix.data.torch_rows import DenseRows

    Tensor: TypeAlias = torch.Tensor

MAX_SLOTS = 2**14
TILE = 128  # components of a tile
SCRATCH = 2**29  # bytes of scores, shares and split rows kept at a time
ROWS = 256  # rows of a chunk are padded to a multiple of this
NOTHING = tl.constexpr(IMPOSSIBLE)


def launch(
    rows: DenseRows,
    prototypes: tuple[Tensor, Tensor, Tensor, Tensor],
    weights: Tensor | None,
    least: float,
    groups: int,  # noqa: ARG001
    n_scorers: int,  # noqa: ARG001
    **options: Any,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return scaled sums of one scorer by slot: masses, vectors by part of the rows, and totals."""
    X, (KP, D), number = rows.X, prototypes[0].shape, prototypes[0].dtype
    n_rows, split, hard = len(X), options["SPLIT"], options["HARD"]
    chunk = max(ROWS, SCRATCH // (8 * KP + 4 * D) // ROWS * ROWS)
    most = min(chunk, triton.cdiv(n_rows, ROWS) * ROWS)
    on_device: Any = {"device": X.device}
    x_high = torch.empty(most, D, dtype=number, **on_device)
    s_high = torch.empty(most, KP, dtype=number, **on_device)
    x_low, s_low = (torch.empty_like(one) if split else one for one in (x_high, s_high))
    scores = torch.empty(most, KP, dtype=torch.float32, **on_device)
    wide = triton.next_power_of_2(KP)
    height = max(1, 2**13 // wide)  # rows whose shares one program calculates
    mass_by_tile = torch.empty(triton.cdiv(most, height), KP, dtype=torch.float32, **on_device)
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
            n_tiles = triton.cdiv(padded, height)
            own = None if weights is None else weights[0, start:]
            part, scale = X[start : start + n], rows.scale32[start:]
            split_rows(part, scale, x_high[:padded], x_low[:padded], split=split)
            _score[(padded // SCORES["BN"] * (KP // SCORES["BS"]),)](
                x_high, x_low, high, low, unscale, biases, scores, **SCORES, **sizes
            )
            _share[(n_tiles,)](
                scores, own, s_high, s_low, mass_by_tile, totals_by_tile, n, least, BN=height,
                WIDE=wide, HARD=hard, NUMBER=options["NUMBER"], num_warps=4, **sizes,
            )  # fmt: skip
            _add[(D // SUMS["BD"], KP // SUMS["BS"], parts)](
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
def _score(  # type: ignore[no-untyped-def]  # noqa: ANN202
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
def _share(  # type: ignore[no-untyped-def]  # noqa: ANN202
    scores, weights, s_high, s_low, mass, totals, n_rows, negligible,  # noqa: ANN001
    D: tl.constexpr, KP: tl.constexpr, BN: tl.constexpr, WIDE: tl.constexpr,  # noqa: ARG001
    SPLIT: tl.constexpr, HARD: tl.constexpr, NUMBER: tl.constexpr,
):  # fmt: skip
    """Write the shares of a few rows, and their mass by slot, likelihood and entropy."""
    tile = tl.program_id(0)
    rows = tile * BN + tl.arange(0, BN)
    slot = tl.arange(0, WIDE)
    at = rows[:, None] * KP + slot[None, :]
    used = (slot < KP)[None, :]
    weight = (rows < n_rows).to(tl.float64)
    if weights is not None:
        weight = tl.load(weights + rows, mask=rows < n_rows, other=0.0)
    shares, density, entropy = shares_of(
        tl.load(scores + at, mask=used, other=NOTHING), weight.to(tl.float32) * SHARE_SCALE,
        negligible, HARD,
    )  # fmt: skip
    tl.store(mass + tile * KP + slot, tl.sum(shares, 0), mask=slot < KP)
    tl.store(totals + 2 * tile, tl.sum(density.to(tl.float64) * weight, 0))
    tl.store(totals + 2 * tile + 1, tl.sum(entropy.to(tl.float64) * weight, 0))
    high = shares.to(NUMBER)
    tl.store(s_high + at, high, mask=used)
    if SPLIT:
        tl.store(s_low + at, (shares - high.to(tl.float32)).to(NUMBER), mask=used)


@triton.jit
def _add(  # type: ignore[no-untyped-def]  # noqa: ANN202
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

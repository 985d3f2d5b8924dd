"""Unit rows as torch tensors, dense or CSR: read in blocks, multiplied, summed by component.

Both classes have the same methods, for the engine in ``torch_gpu.py``. No sum depends on the order
in which a device finishes its work: dense sums are matrix products; sparse sums run along a row of
the matrix, or along a column of a copy that is stored by columns.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import torch

from spheremix.data.torch_open import TILE, csr_blocks, csr_times_dense, dense_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    Tensor: TypeAlias = torch.Tensor

# Rows that are summed in the precision of the data; these sums are added in float64.
SHORT_SUM = {"cpu": 512, "cuda": 4096}
RUN = 512  # entries of a column that one program of a kernel sums


class DenseRows:
    """Rows ``scale[i] * X[i]`` of a strided tensor, which is not copied.

    Parameters
    ----------
    X : torch.Tensor of shape (n, d)
    scale : torch.Tensor of shape (n,)
        float64, on the device of X.
    rounding : torch.dtype or None
        What the factors of products are rounded to, where that is coarser than X.
    """

    def __init__(self, X: Tensor, scale: Tensor, rounding: torch.dtype | None = None) -> None:
        self.X, self.scale = X, scale
        self.kept: dict[torch.dtype, tuple[Tensor, Tensor] | None] = {}  # by the kernels
        self._rounding = rounding

    @cached_property
    def scale32(self) -> Tensor:
        """One over the norm of each row, float32."""
        return self.scale.float()

    def blocks(self, n_components: int, dtype: torch.dtype) -> Iterator[slice]:
        """Return the ids of blocks whose scores make one tile, as their rows do where converted."""
        n_rows, device = self.X.shape[0], self.X.device.type
        short = SHORT_SUM[device]
        width = n_components if dtype == self.X.dtype else max(n_components, self.X.shape[1])
        step = short * max(1, TILE[device] // (short * width))
        for start in range(0, n_rows, step):
            yield slice(start, min(start + step, n_rows))

    def scores(self, ids: slice, matrix: Tensor, biases: Tensor) -> Tensor:
        """Return the inner products of a block of rows with each row of a matrix, plus biases."""
        products = self._round(self.X[ids]).to(matrix.dtype) @ self._round(matrix).mT
        return torch.addcmul(biases, products, self.scale[ids, None].to(products.dtype))

    def sums(self, ids: slice, shares: Tensor) -> Tensor:
        """Return for each column of shares the sum of the rows times their shares, in float64."""
        block = self._round(self.X[ids]).to(shares.dtype)
        shares = self._round(shares * self.scale[ids, None].to(shares.dtype))
        short = SHORT_SUM[block.device.type]
        whole = len(block) // short * short
        total = (shares[whole:].mT @ block[whole:]).double()
        if whole:
            left, right = (part[:whole].unflatten(0, (-1, short)) for part in (shares, block))
            total += torch.bmm(left.mT, right).sum(0, dtype=torch.float64)
        return total

    def take(self, ids: Tensor) -> Tensor:
        """Return a few unit rows in float64."""
        return self.X[ids].double() * self.scale[ids, None]

    def _round(self, factor: Tensor) -> Tensor:
        if self._rounding is None:
            return factor
        return factor.to(self._rounding).to(factor.dtype)


class SparseRows:
    """Rows ``scale[i] * X[i]`` of a CSR tensor, with a second copy of them by columns.

    The copy makes sums by component deterministic, in whichever order a device works. It takes as
    much memory as the values and 32-bit indices.
    """

    def __init__(self, X: Tensor, scale: Tensor) -> None:
        self.X, self.scale = X, scale
        self.by_rows: dict[int, tuple[Tensor, Tensor, Tensor]] = {}
        self.by_columns: dict[int, tuple[Tensor, Tensor, Tensor]] = {}
        self.runs: dict[int, tuple[Tensor, Tensor]] = {}
        for ids, columns, pointers, values in csr_blocks(X):
            self.by_rows[ids.start] = columns, pointers, values
            self.by_columns[ids.start] = _by_columns(X.shape[1], columns, pointers, values)
            self.runs[ids.start] = _runs(self.by_columns[ids.start][1])

    def blocks(self, n_components: int, dtype: torch.dtype) -> Iterator[slice]:  # noqa: ARG002
        """Return the ids of the blocks that the copy by columns was made for."""
        for start, (_, pointers, _) in self.by_rows.items():
            yield slice(start, start + len(pointers) - 1)

    def scores(self, ids: slice, matrix: Tensor, biases: Tensor) -> Tensor:
        """Return the inner products of a block of rows with each row of a matrix, plus biases."""
        columns, pointers, values = self.by_rows[ids.start]
        products = csr_times_dense(
            columns, pointers, values.to(matrix.dtype), matrix.mT.contiguous()
        )
        return torch.addcmul(biases, products, self.scale[ids, None].to(products.dtype))

    def sums(self, ids: slice, shares: Tensor) -> Tensor:
        """Return for each column of shares the sum of the rows times their shares, in float64."""
        rows, pointers, values = self.by_columns[ids.start]
        unit_shares = shares.double() * self.scale[ids, None]
        return csr_times_dense(rows, pointers, values.double(), unit_shares).mT

    def take(self, ids: Tensor) -> Tensor:
        """Return a few unit rows in float64."""
        return dense_rows(self.X, ids).double() * self.scale[ids, None]


def _by_columns(
    n_features: int, columns: Tensor, pointers: Tensor, values: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the rows of the entries of a block by columns, pointers to columns, and the values."""
    order = torch.sort(columns, stable=True)[1]
    rows = torch.arange(len(pointers) - 1, dtype=torch.int32, device=columns.device)
    rows = rows.repeat_interleave(pointers.diff())[order]
    ends = torch.bincount(columns, minlength=n_features).cumsum(0)
    pointers = torch.nn.functional.pad(ends, (1, 0)).to(torch.int32)
    return rows, pointers, values[order]


def _runs(pointers: Tensor) -> tuple[Tensor, Tensor]:
    """Cut columns into runs of entries: where each run begins, and the first run of each column."""
    n_runs = (pointers.diff() + RUN - 1) // RUN
    first = torch.nn.functional.pad(n_runs.cumsum(0), (1, 0))
    owners = torch.arange(len(n_runs), device=pointers.device).repeat_interleave(n_runs)
    numbers = torch.arange(len(owners), device=pointers.device)
    begin = pointers[owners] + (numbers - first[owners]) * RUN
    return torch.cat([begin, pointers[-1:]]).to(torch.int32), first.to(torch.int32)

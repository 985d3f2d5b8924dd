"""Torch tensors, dense or sparse, as unit rows: checks and norms, blocks, products and sums.

What ``rows.py`` does for NumPy and SciPy, on the device where the tensor is.
"""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch
from torch.nn.functional import embedding_bag

from spheremix.data.rows import SAFE_NORMS, check_shape, index_arrays, refuse_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from spheremix.data.rows import Rows

    Tensor: TypeAlias = torch.Tensor

# Used instead of a score of -inf, which would give an entropy of 0 times infinity, a NaN.
IMPOSSIBLE = -1e30
# Entries worked on at a time, by type of device, and rows of a block of CSR.
TILE = {"cpu": 2**18, "cuda": 2**24}
SPARSE_ROWS = {"cpu": 2**15, "cuda": 2**17}
DTYPES: dict[torch.dtype, np.dtype[Any]] = {
    torch.float32: np.dtype(np.float32),
    torch.float64: np.dtype(np.float64),
}
TYPES = {ours: theirs for theirs, ours in DTYPES.items()}
SHORT = (torch.float16, torch.bfloat16)  # dense rows are read in these, and worked on in float32


# --------------------------------------------------------------------------------------- opening


def open_tensor(X: Tensor, *, first_row: int = 0) -> tuple[Tensor, Tensor]:
    """Return a tensor as the engine reads it, and one over the norm of each row, on its device.

    Parameters
    ----------
    X : torch.Tensor of shape (n, d)
        Dense, or sparse in a two-dimensional layout, which becomes CSR. It is read in place where
        it is float32 or float64, or dense in 16 bits, and never changed.
    first_row : int
        Number of the first row, for the messages.

    Returns
    -------
    rows : torch.Tensor
        Strided or CSR, float32 or float64; strided in float16 or bfloat16.
    scale : torch.Tensor of shape (n,)
        float64.
    """
    if X.device.type not in TILE:
        raise ValueError(
            f"X is on device {X.device}; rows are read on cpu and cuda devices. Use X.cpu()."
        )
    if X.is_complex():
        raise ValueError(f"X has dtype {X.dtype}, which holds no real numbers. Give floats.")
    check_shape(X)
    X = X.detach()
    if X.dtype not in DTYPES and not (X.dtype in SHORT and X.layout == torch.strided):
        X = X.to(torch.float32 if X.is_floating_point() else torch.float64)
    if X.layout != torch.strided:
        X = _valid_csr(X)
    squares = _squared_norms(X)
    low, high = SAFE_NORMS[DTYPES[worked_on(X)]]
    odd = torch.nonzero(~((squares >= low**2) & (squares <= high**2)))[:, 0]
    if odd.numel():
        largest = _largest_entries(X, odd)
        refuse_rows(largest.cpu().numpy(), odd.cpu().numpy() + first_row)
        X = _rescaled(X.to(worked_on(X)), odd, largest)
        squares = _squared_norms(X)
    return X, squares.rsqrt()


def worked_on(X: Tensor) -> torch.dtype:
    """Return the type that products of these rows are calculated in, at least."""
    return torch.float32 if X.dtype in SHORT else X.dtype


def as_tensor(X: Rows | Tensor, device: torch.device) -> Tensor:
    """Return NumPy or SciPy rows on a device: shared memory on the CPU, one copy elsewhere."""
    if isinstance(X, torch.Tensor):
        return X
    if isinstance(X, np.ndarray):
        return _shared(X).to(device)
    parts = (*index_arrays(X.indptr, X.indices), X.data)
    crow, columns, values = (_shared(part).to(device) for part in parts)
    return _csr(crow, columns, values, X.shape)


def to_device(array: NDArray[np.float64], device: torch.device) -> Tensor:
    """Copy an array to a device."""
    return _shared(array).to(device, copy=True)


def to_numpy(tensor: Tensor) -> NDArray[Any]:
    """Copy a tensor to main memory: to pinned memory from a CUDA device, which is faster."""
    if tensor.is_cuda:
        found = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
        tensor = found.copy_(tensor)
    array: NDArray[Any] = tensor.numpy()
    return array


def _shared(array: NDArray[Any]) -> Tensor:
    """Return a tensor that shares the memory of an array, which is only read."""
    if any(stride < 0 or stride % array.itemsize for stride in array.strides):
        array = np.ascontiguousarray(array)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*not writable")
        return torch.from_numpy(array)


def _csr(crow: Tensor, columns: Tensor, values: Tensor, shape: Any, *, check: bool = False) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
        return torch.sparse_csr_tensor(crow, columns, values, tuple(shape), check_invariants=check)


def _valid_csr(X: Tensor) -> Tensor:
    """Return a CSR whose columns are in range, sorted and distinct in every row."""
    if X.layout == torch.sparse_coo:
        X = X.coalesce()
    if X.layout != torch.sparse_csr:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
            X = X.to_sparse_csr()
    try:
        return _csr(X.crow_indices(), X.col_indices(), X.values(), X.shape, check=True)
    except RuntimeError as error:
        raise ValueError(
            f"X is no valid CSR tensor of shape {tuple(X.shape)}: {str(error).splitlines()[0]} "
            "Build it again from its entries."
        ) from error


def _squared_norms(X: Tensor) -> Tensor:
    """Return the squared norms in float64, a tile at a time."""
    n_rows, n_features = X.shape
    squares = torch.empty(n_rows, dtype=torch.float64, device=X.device)
    if X.layout == torch.sparse_csr:
        ones = torch.ones(n_features, 1, dtype=torch.float64, device=X.device)
        for ids, columns, crow, values in csr_blocks(X):
            squares[ids] = csr_times_dense(columns, crow, values.double().square(), ones)[:, 0]
        return squares
    step = max(1, TILE[X.device.type] // n_features)
    for start in range(0, n_rows, step):
        squares[start : start + step] = X[start : start + step].double().square().sum(1)
    return squares


def _largest_entries(X: Tensor, ids: Tensor) -> Tensor:
    """Return the largest absolute entry of some rows: NaN where a row has one."""
    largest = torch.zeros(len(ids), dtype=torch.float64, device=X.device)
    for start in range(0, len(ids), 1024):
        part = ids[start : start + 1024]
        rows = dense_rows(X, part) if X.layout == torch.sparse_csr else X[part]
        largest[start : start + 1024] = rows.abs().amax(1).double()
    return largest


def _rescaled(X: Tensor, ids: Tensor, largest: Tensor) -> Tensor:
    """Copy the rows with some of them brought near one, by powers of two and so exactly."""
    shifts = torch.zeros(X.shape[0], dtype=torch.int32, device=X.device)
    shifts[ids] = -torch.frexp(largest)[1].to(torch.int32)
    # In two steps, since the power of two may be out of the range of the data's type.
    steps = (shifts // 2, shifts - shifts // 2)
    if X.layout == torch.sparse_csr:
        values, counts = X.values(), X.crow_indices().diff()
        for step in steps:
            values = torch.ldexp(values, step.repeat_interleave(counts))
        return _csr(X.crow_indices(), X.col_indices(), values, X.shape)
    for step in steps:
        X = torch.ldexp(X, step[:, None])
    return X


# ------------------------------------------------------------------------------------- CSR pieces


def csr_blocks(X: Tensor) -> Iterator[tuple[slice, Tensor, Tensor, Tensor]]:
    """Return blocks of rows of a CSR: their ids, columns, row pointers from zero, and values."""
    crow, columns, values = X.crow_indices(), X.col_indices(), X.values()
    step = SPARSE_ROWS[X.device.type]
    bounds = crow[::step].tolist()
    ends = [*bounds[1:], len(values)] if (len(crow) - 1) % step else bounds[1:]
    for start, begin, end in zip(range(0, X.shape[0], step), bounds, ends, strict=False):
        ids = slice(start, min(start + step, X.shape[0]))
        yield ids, columns[begin:end], crow[start : ids.stop + 1] - begin, values[begin:end]


def csr_times_dense(indices: Tensor, pointers: Tensor, values: Tensor, table: Tensor) -> Tensor:
    """Multiply a CSR matrix, given by its indices, pointers and values, by a dense one."""
    return embedding_bag(
        indices, table, pointers, mode="sum", per_sample_weights=values, include_last_offset=True
    )


def dense_rows(X: Tensor, ids: Tensor) -> Tensor:
    """Return some rows of a CSR, dense."""
    crow = X.crow_indices().long()
    counts = (crow[1:] - crow[:-1])[ids]
    owners = torch.arange(len(ids), device=X.device).repeat_interleave(counts)
    first = crow[ids] - (counts.cumsum(0) - counts)
    entries = first[owners] + torch.arange(len(owners), device=X.device)
    dense = torch.zeros(len(ids), X.shape[1], dtype=X.dtype, device=X.device)
    dense[owners, X.col_indices()[entries].long()] = X.values()[entries]
    return dense


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

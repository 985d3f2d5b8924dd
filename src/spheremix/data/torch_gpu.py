"""The engine of torch: rows on a CUDA device, or on the CPU, dense or CSR."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch

from spheremix.data.base import check_weights, negligible, uniforms
from spheremix.data.rows import open_rows
from spheremix.data.torch_open import DTYPES, as_tensor, open_tensor, to_device, to_numpy
from spheremix.data.torch_rows import DenseRows, SparseRows
from spheremix.resultants import Resultants

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import Want
    from spheremix.data.open import Precision
    from spheremix.data.reference import Rows
    from spheremix.scorer import Scorer

    Sums: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
    Tensor: TypeAlias = torch.Tensor

PRECISIONS = ("highest", "tf32", "bf16")
IMPOSSIBLE = -1e30  # stands for a bias of -inf
# The precision of matrix products is one setting of the whole process: one sweep at a time.
_SETTING = threading.Lock()


def open_torch(X: Any, precision: Precision = "highest") -> TorchDirections:
    """Open a tensor where it is, or what NumPy and SciPy hold on the CUDA device if there is one.

    Parameters
    ----------
    X : torch.Tensor, array-like or sparse matrix of shape (n, d)
    precision : {"highest", "tf32", "bf16"}
    """
    if isinstance(X, torch.Tensor):
        return TorchDirections(*open_tensor(X), precision=precision)
    return TorchDirections(*open_rows(X), precision=precision)


class TorchDirections:
    """Unit rows ``scale_i * X_i``, swept by torch on the device where they are.

    Masses, likelihoods and entropies are summed in float64, and so are vectors across blocks of
    rows; products have the precision of X, or less where that is asked for.

    Parameters
    ----------
    X : torch.Tensor, ndarray or SciPy CSR of shape (n, d)
        float32 or float64. A tensor is read where it is; what NumPy or SciPy holds is moved once
        to the CUDA device where there is one.
    scale : torch.Tensor or ndarray of shape (n,)
        One over the norm of each row, float64.
    first_row : int
        Number of the first row among all rows, where this engine holds a part of them.
    n_threads : int
        Accepted for the signature that all engines share, and ignored: torch has its own threads.
    precision : {"highest", "tf32", "bf16"}
        Of the factors of products of dense float32 rows: 24, 11 or 8 significant bits. On the CPU
        "tf32" is "highest".
    """

    def __init__(
        self,
        X: Rows | Tensor,
        scale: NDArray[np.float64] | Tensor,
        *,
        first_row: int = 0,
        n_threads: int = 1,  # noqa: ARG002
        precision: Precision = "highest",
    ) -> None:
        self.n_rows: int
        self.n_features: int
        self.n_rows, self.n_features = X.shape
        self.first_row = first_row
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        tensor = as_tensor(X, device)
        scale = torch.as_tensor(scale, dtype=torch.float64, device=tensor.device)
        _check_precision(precision, tensor)
        self.precision = precision
        self.device = tensor.device
        self._dtype = tensor.dtype
        self._negligible = negligible(DTYPES[tensor.dtype])
        self._rows: DenseRows | SparseRows
        with torch.inference_mode():
            if tensor.layout == torch.sparse_csr:
                self._rows = SparseRows(tensor, scale)
            else:
                rounding = torch.bfloat16 if precision == "bf16" else None
                self._rows = DenseRows(tensor, scale, rounding)
        self._kernels = _kernels(tensor)

    def sweep(
        self, scorers: Sequence[Scorer], weights: NDArray[np.float64] | None = None
    ) -> list[Resultants]:
        """Read the rows once; give the resultants of each scorer."""
        weights = check_weights(weights, len(scorers), self.n_rows)
        found: list[Resultants] = []
        for kind, batch in self._batches(scorers):
            own = weights if weights is None or weights.ndim == 1 else weights[batch]
            with _settings(self.precision, self.device):
                on_device = None if own is None else to_device(own, self.device)
                sums = self._sums(kind, scorers[batch], on_device)
            each = self.n_rows if own is None else own.sum(axis=-1)
            found += _resultants(scorers[batch], sums, each)
        return found

    def map_rows(self, scorer: Scorer, want: Want) -> NDArray[np.generic]:
        """Give row by row what the scorer says."""
        K = scorer.n_components
        wide, narrow = (self.n_rows, K), (self.n_rows,)
        shapes = {"labels": narrow, "posteriors": wide, "scores": wide, "log_density": narrow}
        if want not in shapes:
            raise ValueError(f"want must be one of {', '.join(shapes)}, got {want!r}.")
        out: NDArray[np.generic] = np.empty(shapes[want], np.intp if want == "labels" else float)
        stack = _Stack.of([scorer], self._dtype, self.device)
        with _settings(self.precision, self.device):
            for ids in self._rows.blocks(K):
                scores = self._rows.scores(ids, stack.matrix, stack.biases)
                if want == "labels":
                    found = self._labels(scorer, ids, scores)
                elif want == "posteriors":
                    found = torch.softmax(scores, 1).double()
                elif want == "scores":
                    found = scores.double() + scorer.offset
                else:
                    found = torch.logsumexp(scores, 1).double() + scorer.offset
                out[ids] = found.cpu().numpy()
        return out

    def take(self, ids: ArrayLike) -> NDArray[np.float64]:
        """Give a few unit rows, dense."""
        ids = np.atleast_1d(ids) if np.size(ids) else np.empty(0, np.intp)
        numbers = torch.as_tensor(np.arange(self.n_rows)[ids], device=self.device)
        with torch.inference_mode():
            rows: NDArray[np.float64] = self._rows.take(numbers).cpu().numpy()
        return rows

    def _batches(self, scorers: Sequence[Scorer]) -> Iterator[tuple[str, slice]]:
        """Give runs of scorers that read the rows together: by a kernel, soft or hard, or not."""
        begin = 0
        for end in range(1, len(scorers) + 1):
            kind = self._kind(scorers[begin:end])
            if end == len(scorers) or self._kind(scorers[begin : end + 1]) != kind:
                yield kind, slice(begin, end)
                begin = end

    def _kind(self, scorers: Sequence[Scorer]) -> str:
        """Say how scorers would be swept together."""
        assignments = {scorer.assignment for scorer in scorers}
        if self._kernels is None or len(assignments) > 1 or "drawn" in assignments:
            return "plain"
        return assignments.pop() if self._kernels.fits(self._rows, scorers) else "plain"

    def _sums(self, kind: str, scorers: Sequence[Scorer], weights: Tensor | None) -> Sums:
        """Give masses, vectors, and likelihood and entropy a scorer, without offsets."""
        if kind != "plain":
            sums: Sums = self._kernels.sweep(
                self._rows, scorers, weights, self._negligible, self.precision
            )
            return sums
        stack = _Stack.of(scorers, self._dtype, self.device)
        K = len(stack.biases)
        as_double: Any = {"dtype": torch.float64, "device": self.device}
        mass, totals = torch.zeros(K, **as_double), torch.zeros(len(scorers), 2, **as_double)
        vectors = torch.zeros(K, self.n_features, **as_double)
        for ids in self._rows.blocks(K):
            scores = self._rows.scores(ids, stack.matrix, stack.biases)
            parts = []
            for s, (scorer, part) in enumerate(zip(scorers, stack.parts, strict=True)):
                shares, density, entropy = self._shares(scorer, ids, scores[:, part])
                each = torch.stack([density, entropy]).double()
                if weights is not None:
                    own = (weights[s] if weights.ndim == 2 else weights)[ids]
                    shares *= own[:, None].to(shares.dtype)
                    each *= own
                totals[s] += each.sum(1)
                parts.append(shares)
            shares = parts[0] if len(parts) == 1 else torch.cat(parts, 1)
            mass += shares.sum(0, dtype=torch.float64)
            vectors += self._rows.sums(ids, shares)
        return to_numpy(mass), to_numpy(vectors), to_numpy(totals)

    def _shares(self, scorer: Scorer, ids: slice, scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Give the assignment of each row of a block, its log-density and its entropy."""
        if scorer.assignment == "soft":
            logs = torch.log_softmax(scores, 1)
            density = scores.amax(1) - logs.amax(1)
            shares = logs.exp()
            entropy = -torch.linalg.vecdot(shares, logs)
            # In place, and in one pass: what is at most the threshold becomes zero.
            return torch.threshold_(shares, self._negligible, 0), density, entropy
        labels = self._labels(scorer, ids, scores)[:, None]
        shares = torch.zeros_like(scores).scatter_(1, labels, 1)
        best = scores.gather(1, labels)[:, 0]
        density = best if scorer.assignment == "hard" else torch.logsumexp(scores, 1)
        return shares, density, density - best

    def _labels(self, scorer: Scorer, ids: slice, scores: Tensor) -> Tensor:
        """Give the first largest score, or the component drawn from the softmax."""
        if scorer.assignment != "drawn":
            return scores.argmax(1)
        K = scorer.n_components
        posteriors = torch.softmax(scores, 1).double()
        numbers = np.arange(ids.start, ids.stop, dtype=np.uint64) + np.uint64(self.first_row)
        drawn = to_device(uniforms(scorer.key, numbers), self.device)
        # Sums from the first component by a product: a running sum is not promised to have the
        # same bits twice on a CUDA device.
        upper = torch.ones(K, K, dtype=torch.float64, device=self.device).triu()
        labels = (posteriors @ upper <= drawn[:, None]).sum(1)
        last_possible = K - 1 - (posteriors.flip(1) > 0).byte().argmax(1)
        return torch.where(labels < K, labels, last_possible)


class _Stack(NamedTuple):
    """The components of several scorers, one under the other, on the device."""

    matrix: Tensor
    biases: Tensor
    parts: list[slice]

    @classmethod
    def of(cls, scorers: Sequence[Scorer], dtype: torch.dtype, device: torch.device) -> _Stack:
        ends = np.cumsum([scorer.n_components for scorer in scorers]).tolist()
        parts = [slice(a, b) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
        matrix = np.concatenate([scorer.matrix for scorer in scorers])
        biases = np.concatenate([scorer.biases for scorer in scorers])
        # Scores that are -inf would make an entropy of 0 times inf.
        biases = np.maximum(biases, IMPOSSIBLE)
        return cls(to_device(matrix, device).to(dtype), to_device(biases, device).to(dtype), parts)


def _kernels(X: Tensor) -> Any:
    """Give the module with the kernels for these rows, or None: the CPU, or no Triton."""
    if not X.is_cuda or find_spec("triton") is None:
        return None
    name = "triton_sparse" if X.layout == torch.sparse_csr else "triton_sweep"
    return import_module(f"spheremix.data.{name}")


def _resultants(
    scorers: Sequence[Scorer], sums: Sums, weights: float | NDArray[np.float64]
) -> Iterator[Resultants]:
    """Cut stacked sums into the resultants of each scorer."""
    mass, vectors, totals = sums
    begin = 0
    each = np.broadcast_to(weights, len(scorers)).astype(float).tolist()
    for scorer, (likelihood, entropy), weight in zip(scorers, totals, each, strict=True):
        own = slice(begin, begin + scorer.n_components)
        begin = own.stop
        total = float(likelihood) + scorer.offset * weight
        yield Resultants(mass[own], vectors[own], total, float(entropy), weight)


@contextmanager
def _settings(precision: Precision, device: torch.device) -> Iterator[None]:
    """Multiply in the precision asked for, whatever the program around has set."""
    with _SETTING, torch.inference_mode(), torch.autocast(device.type, enabled=False):
        before = torch.get_float32_matmul_precision()
        on_device = "highest" if precision == "highest" or device.type == "cpu" else "high"
        torch.set_float32_matmul_precision(on_device)
        try:
            yield
        finally:
            torch.set_float32_matmul_precision(before)


def _check_precision(precision: str, X: Tensor) -> None:
    if precision not in PRECISIONS:
        raise ValueError(f"precision must be one of {', '.join(PRECISIONS)}, got {precision!r}.")
    if precision != "highest" and (X.dtype != torch.float32 or X.layout != torch.strided):
        raise ValueError(
            f"precision={precision!r} is for dense float32 rows, and X is "
            f"{'sparse' if X.layout != torch.strided else X.dtype}: leave it at 'highest', or "
            "convert X."
        )

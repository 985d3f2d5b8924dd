"""The engine of torch: rows on a CUDA device, or on the CPU, dense or CSR."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from spheremix.data.base import (
    Shown,
    arithmetic,
    check_features,
    check_weights,
    negligible,
    output_array,
    parts_of,
    row_numbers,
    split_resultants,
    stack,
    uniforms,
)
from spheremix.data.rows import open_rows
from spheremix.data.torch_rows import (
    DTYPES,
    IMPOSSIBLE,
    TYPES,
    DenseRows,
    SparseRows,
    as_tensor,
    open_tensor,
    to_device,
    to_numpy,
    worked_on,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TypeAlias

    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import Precision, Want
    from spheremix.data.rows import Rows
    from spheremix.resultants import Resultants
    from spheremix.scorer import Scorer

    SumArrays: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
    Tensor: TypeAlias = torch.Tensor

PRECISIONS = ("highest", "tf32", "bf16")
# The precision of matrix products is a setting of the whole process, so sweeps take turns.
_MATMUL_LOCK = threading.Lock()


def open_torch(X: Any, precision: Precision = "highest", n_threads: int = 1) -> TorchDirections:
    """Open a tensor where it is, or what NumPy and SciPy hold on the CUDA device if there is one.

    Parameters
    ----------
    X : torch.Tensor, array-like or sparse matrix of shape (n, d)
    precision : {"highest", "tf32", "bf16"}
    n_threads : int
    """
    rows, scale = open_tensor(X) if isinstance(X, torch.Tensor) else open_rows(X)
    return TorchDirections(rows, scale, precision=precision, n_threads=n_threads)


class TorchDirections(Shown):
    """Unit rows ``scale_i * X_i``, swept by torch on the device where they are.

    Masses, likelihoods and entropies are summed in float64, and so are vectors across blocks of
    rows; on a CUDA device, across a few parts of dense float32 rows, each summed in float32.
    Products are calculated in the type that ``arithmetic`` (``data/base.py``) gives, or with fewer
    bits where ``precision`` asks for it.

    Parameters
    ----------
    X : torch.Tensor, ndarray or SciPy CSR of shape (n, d)
        float32 or float64, a dense tensor also float16 or bfloat16. A tensor is read where it is;
        what NumPy or SciPy holds is moved once to the CUDA device where there is one.
    scale : torch.Tensor or ndarray of shape (n,)
        One over the norm of each row, float64.
    first_row : int
        Number of the first row among all rows, where this engine holds a part of them.
    n_threads : int
        Threads of the M-step. torch itself decides how many threads a sweep uses.
    precision : {"highest", "tf32", "bf16"}
        Of the factors of products of dense float32 rows, or shorter ones: 24, 11 or 8 significant
        bits; "highest" is float64 where prototypes are long. On the CPU "tf32" is calculated in
        float32.
    """

    def __init__(
        self,
        X: Rows | Tensor,
        scale: NDArray[np.float64] | Tensor,
        *,
        first_row: int = 0,
        n_threads: int = 1,
        precision: Precision = "highest",
    ) -> None:
        self.n_rows: int
        self.n_features: int
        self.n_rows, self.n_features = X.shape
        self.first_row = first_row
        self.n_threads = n_threads
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        tensor = as_tensor(X, device)
        scale = torch.as_tensor(scale, dtype=torch.float64, device=tensor.device)
        _check_precision(precision, tensor)
        self.precision = precision
        self.device = tensor.device
        self._dtype = worked_on(tensor)
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
        """Read the rows once; return the resultants of each scorer."""
        check_features(scorers, self.n_features)
        weights = check_weights(weights, len(scorers), self.n_rows)
        dtype = self._arithmetic(scorers)
        found: list[Resultants] = []
        for kind, batch in self._batches(scorers, dtype):
            own = weights if weights is None or weights.ndim == 1 else weights[batch]
            with _settings(self.precision, self.device):
                on_device = None if own is None else to_device(own, self.device)
                mass, vectors, totals = self._sums(kind, scorers[batch], on_device, dtype)
            weight = self.n_rows if own is None else own.sum(axis=-1)
            totals[:, 0] += weight * np.array([scorer.offset for scorer in scorers[batch]])
            found += split_resultants(parts_of(scorers[batch]), (mass, vectors, totals), weight)
        return found

    def map_rows(self, scorer: Scorer, want: Want) -> NDArray[np.generic]:
        """Apply the scorer to each row; see ``Directions``."""
        check_features([scorer], self.n_features)
        out = output_array(want, self.n_rows, scorer.n_components)
        matrix, biases, _ = self._stack([scorer], self._arithmetic([scorer]))
        one = torch.ones((), dtype=matrix.dtype, device=self.device)
        pulls = self._pulls(scorer, matrix.dtype)
        with _settings(self.precision, self.device):
            for ids in self._rows.blocks(scorer.n_components, matrix.dtype):
                scores = self._rows.scores(ids, matrix, biases)
                if want == "labels":
                    found = self._labels(scorer, ids, scores, biases, one, pulls)
                elif want == "posteriors":
                    found = torch.softmax(scores, 1).double()
                elif want == "scores":
                    scores.masked_fill_(scores <= IMPOSSIBLE / 2, -torch.inf)
                    found = scores.double() + scorer.offset
                else:
                    found = torch.logsumexp(scores, 1).double() + scorer.offset
                out[ids] = found.cpu().numpy()
        return out

    def take(self, ids: ArrayLike) -> NDArray[np.float64]:
        """Return a few unit rows, dense."""
        numbers = torch.as_tensor(row_numbers(ids, self.n_rows), device=self.device)
        with torch.inference_mode():
            rows: NDArray[np.float64] = self._rows.take(numbers).cpu().numpy()
        return rows

    def _arithmetic(self, scorers: Sequence[Scorer]) -> torch.dtype:
        """Return the type of the products of scorers swept together; what was asked for is kept."""
        if self.precision != "highest":
            return self._dtype
        return TYPES[arithmetic(DTYPES[self._dtype], scorers)]

    def _batches(
        self, scorers: Sequence[Scorer], dtype: torch.dtype
    ) -> Iterator[tuple[str, slice]]:
        """Return runs of scorers that read the rows together: by a kernel, soft or hard, or not."""
        begin = 0
        for end in range(1, len(scorers) + 1):
            kind = self._kind(scorers[begin:end], dtype)
            if end == len(scorers) or self._kind(scorers[begin : end + 1], dtype) != kind:
                yield kind, slice(begin, end)
                begin = end

    def _kind(self, scorers: Sequence[Scorer], dtype: torch.dtype) -> str:
        """Return how scorers can be swept together: their assignment for a kernel, or "plain"."""
        kind, *others = {scorer.assignment for scorer in scorers}
        if self._kernels is None or others or kind not in self._kernels.ASSIGNMENTS:
            return "plain"
        return kind if self._kernels.fits(self._rows, scorers, dtype) else "plain"

    def _sums(
        self, kind: str, scorers: Sequence[Scorer], weights: Tensor | None, dtype: torch.dtype
    ) -> SumArrays:
        """Return masses, vectors, and likelihood and entropy a scorer, without offsets."""
        if kind != "plain":
            sums: SumArrays = self._kernels.sweep(
                self._rows, scorers, weights, dtype, self.precision
            )
            return sums
        matrix, biases, parts = self._stack(scorers, dtype)
        pulls = [self._pulls(scorer, dtype) for scorer in scorers]
        K = len(biases)
        as_double: Any = {"dtype": torch.float64, "device": self.device}
        mass, totals = torch.zeros(K, **as_double), torch.zeros(len(scorers), 2, **as_double)
        vectors = torch.zeros(K, self.n_features, **as_double)
        for ids in self._rows.blocks(K, dtype):
            scores = self._rows.scores(ids, matrix, biases)
            assigned = []
            for s, (scorer, part) in enumerate(zip(scorers, parts, strict=True)):
                own = torch.ones((), **as_double)
                if weights is not None:
                    own = (weights[s] if weights.ndim == 2 else weights)[ids]
                light = own.to(scores.dtype)[..., None]
                shares, density, entropy = self._shares(
                    scorer, ids, scores[:, part], biases[part], light, pulls[s]
                )
                each = torch.stack([density, entropy]).double()
                if weights is not None:
                    shares *= light
                    each *= own
                totals[s] += each.sum(1)
                assigned.append(shares)
            shares = assigned[0] if len(assigned) == 1 else torch.cat(assigned, 1)
            mass += shares.sum(0, dtype=torch.float64)
            vectors += self._rows.sums(ids, shares)
        return to_numpy(mass), to_numpy(vectors), to_numpy(totals)

    def _stack(
        self, scorers: Sequence[Scorer], dtype: torch.dtype
    ) -> tuple[Tensor, Tensor, list[slice]]:
        """Return the components of several scorers, one under the other, on the device."""
        matrix, biases, parts, _ = stack(scorers)
        on_device = (to_device(part, self.device) for part in (matrix, biases.clip(IMPOSSIBLE)))
        matrix, biases = (part.to(dtype) for part in on_device)
        return matrix, biases, parts

    def _pulls(self, scorer: Scorer, dtype: torch.dtype) -> Tensor | None:
        """Return the numbers of assignment by variation on the device, where it is asked for."""
        if scorer.assignment != "variation":
            return None
        return to_device(scorer.pulls, self.device).to(dtype)

    def _shares(
        self,
        scorer: Scorer,
        ids: slice,
        scores: Tensor,
        biases: Tensor,
        weights: Tensor,
        pulls: Tensor | None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the assignment of each row of a block, its log-density and its entropy."""
        if scorer.assignment == "soft":
            logs = torch.log_softmax(scores, 1)
            density = scores.amax(1).double() - logs.amax(1).double()
            shares = logs.exp()
            entropy = -torch.linalg.vecdot(shares, logs)
            # In place, and in one pass: what is at most the threshold becomes zero.
            least = negligible(DTYPES[scores.dtype])
            return torch.threshold_(shares, least, 0), density, entropy
        labels = self._labels(scorer, ids, scores, biases, weights, pulls)[:, None]
        shares = torch.zeros_like(scores).scatter_(1, labels, 1)
        best = scores.gather(1, labels)[:, 0]
        density = torch.logsumexp(scores, 1) if scorer.assignment == "drawn" else best
        return shares, density, density - best

    def _labels(
        self,
        scorer: Scorer,
        ids: slice,
        scores: Tensor,
        biases: Tensor,
        weights: Tensor,
        pulls: Tensor | None,
    ) -> Tensor:
        """Return the first largest score, the drawn component, or the one chosen by variation."""
        if pulls is not None:
            return varied(scores, biases, pulls, weights).argmax(1)
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


def varied(scores: Tensor, biases: Tensor, pulls: Tensor, weights: Tensor) -> Tensor:
    """Return what each row adds to each component, its own turning of it included.

    ``weights`` are those of the rows, of shape (n, 1) or (): see ``Scorer.pulls``.
    """
    products = scores - biases
    signed = torch.ones_like(scores).scatter_(1, scores.argmax(1)[:, None], -1) * weights
    pull, inverse = pulls.T
    square = 1 + 2 * signed * inverse * products + signed * signed * (pull * inverse)
    return (2 * products + signed * pull) / (1 + square.clamp(min=0).sqrt()) + biases


def _kernels(X: Tensor) -> Any:
    """Return the module with the kernels for these rows, or None: the CPU, or no Triton."""
    if not X.is_cuda or find_spec("triton") is None:
        return None
    name = "triton_sparse" if X.layout == torch.sparse_csr else "triton_dense"
    return import_module(f"spheremix.data.{name}")


@contextmanager
def _settings(precision: Precision, device: torch.device) -> Iterator[None]:
    """Multiply in the given precision, whatever the user's program has set."""
    with _MATMUL_LOCK, torch.inference_mode(), torch.autocast(device.type, enabled=False):
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
    if precision != "highest" and (worked_on(X) != torch.float32 or X.layout != torch.strided):
        raise ValueError(
            f"precision={precision!r} is for dense float32 rows, and X is "
            f"{'sparse' if X.layout != torch.strided else X.dtype}: leave it at 'highest', or "
            "convert X."
        )

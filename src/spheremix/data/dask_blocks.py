"""Rows in the blocks of a ``dask.array``: each block is swept where it is, by the local engine.

Only scorers, weights, resultants and results row by row are sent between machines. The resultants
of the blocks are added in a binary tree over the numbers of the blocks, so the bits depend on the
chunks of X, and not on the number of workers or on which worker held which block.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise, repeat
from typing import TYPE_CHECKING, Any, Protocol

import dask
import dask.array as da
import numpy as np
from dask.delayed import delayed

from spheremix.data.base import Shown, check_weights, row_numbers
from spheremix.data.engines import engine_class, resolve_threads
from spheremix.data.rows import check_shape, open_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from spheremix.data.base import Directions, Engine, Want
    from spheremix.resultants import Resultants
    from spheremix.scorer import Scorer

    Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A chunk of X, opened by the local engine."""

    number: int
    directions: Directions
    nbytes: int

    def __sizeof__(self) -> int:
        """Return the bytes of the block, from which Dask calculates the memory use of a worker."""
        return self.nbytes


@dataclass(frozen=True, slots=True, eq=False)
class TreeSum:
    """Resultants of some blocks, added up as far as they are neighbours in the tree.

    A node (level, i) is the sum over blocks i 2^level to (i + 1) 2^level - 1. In whichever order
    parts are added, the same numbers are added to each other.
    """

    n_blocks: int
    nodes: dict[tuple[int, int], list[Resultants]]

    def __add__(self, other: TreeSum) -> TreeSum:
        nodes = dict(self.nodes)
        for (level, i), found in other.nodes.items():
            node, total = (level, i), found
            while (last := (self.n_blocks - 1) >> node[0]) > 0:
                sibling = (node[0], node[1] ^ 1)
                if sibling in nodes:
                    beside = nodes.pop(sibling)
                    total = [a + b for a, b in zip(beside, total, strict=True)]
                elif sibling[1] <= last:  # it exists, and comes later
                    break
                node = (node[0] + 1, node[1] >> 1)
            nodes[node] = total
        return TreeSum(self.n_blocks, nodes)

    def __sizeof__(self) -> int:
        return sum(one.vectors.nbytes for found in self.nodes.values() for one in found)


class BlockStore(Protocol):
    """The place where blocks are kept, and where tasks work on them."""

    def run(
        self, task: Callable[..., Any], shared: Any, weights: Array | None = None, *, add: bool
    ) -> list[Any]:
        """Call ``task(blocks, shared, pieces of the weights)`` where blocks are; add, or list."""
        ...


class DaskDirections(Shown):
    """Unit rows in the blocks of a Dask array.

    With the client that is active the blocks are opened and kept on its workers. Without one they
    are computed by Dask's own threads and kept in this process.

    Parameters
    ----------
    X : dask.array.Array of shape (n, d)
        Its blocks are arrays or SciPy sparse matrices. Several chunks of columns become one.
    engine : {"auto", "reference", "compiled"}
        The engine of the blocks.
    n_threads : int or None
        Threads of the kernels on each worker, and of the M-step in this process. None for as many
        as the worker has, and as this process may use.
    first_row : int
        Number of the first row, where X is a part of the data.
    """

    def __init__(
        self, X: Any, *, engine: Engine = "auto", n_threads: int | None = None, first_row: int = 0
    ) -> None:
        engine_class(engine)
        client = active_client()
        self.n_threads = resolve_threads(n_threads)
        if client is None:
            n_threads = self.n_threads
        X = one_chunk_of_columns(X)
        self.n_rows, self.n_features = (int(size) for size in X.shape)
        chunks = [i for i, size in enumerate(X.chunks[0]) if size > 0]
        self._starts = np.cumsum([0, *(X.chunks[0][i] for i in chunks)])
        lazy = X.to_delayed()[:, 0]
        opens = [
            partial(
                open_block,
                number=number,
                shape=(int(stop - start), self.n_features),
                first_row=int(start) + first_row,
                engine=engine,
                n_threads=n_threads,
            )
            for number, (start, stop) in enumerate(pairwise(self._starts))
        ]
        self._store: BlockStore
        if client is None:
            blocks = [
                delayed(one, pure=False)(lazy[i]) for i, one in zip(chunks, opens, strict=True)
            ]
            self._store = LocalBlocks(dask.compute(*blocks), self._starts)
        else:
            from spheremix.data.dask_workers import WorkerBlocks  # noqa: PLC0415

            self._store = WorkerBlocks(client, X, [lazy[i] for i in chunks], opens, self._starts)

    def sweep(self, scorers: Sequence[Scorer], weights: Array | None = None) -> list[Resultants]:
        """Read the rows once; return the resultants of each scorer."""
        weights = check_weights(weights, len(scorers), self.n_rows)
        task = partial(sweep_blocks, len(self._starts) - 1)
        [swept] = self._store.run(task, list(scorers), weights, add=True)
        [resultants] = swept.nodes.values()
        found: list[Resultants] = resultants
        return found

    def map_rows(self, scorer: Scorer, want: Want) -> NDArray[Any]:
        """Apply the scorer to each row; the result comes into this process."""
        return np.concatenate(self._by_block(map_blocks, (scorer, want)))

    def take(self, ids: ArrayLike) -> Array:
        """Return a few unit rows, dense; no other rows are sent."""
        ids = row_numbers(ids, self.n_rows)
        blocks = np.searchsorted(self._starts, ids, side="right") - 1
        wanted = {int(b): ids[blocks == b] - self._starts[b] for b in np.unique(blocks)}
        rows = np.empty((len(ids), self.n_features))
        if wanted:
            found = self._by_block(take_blocks, wanted)
            for block, part in zip(sorted(wanted), found, strict=True):
                rows[blocks == block] = part
        return rows

    def _by_block(self, task: Callable[..., dict[int, Any]], shared: Any) -> list[Any]:
        """Return the result of a task for each block, in the order of the blocks."""
        found: dict[int, Any] = {}
        for part in self._store.run(task, shared, add=False):
            found |= part
        return [found[number] for number in sorted(found)]


class LocalBlocks:
    """Blocks in this process, used when no Dask client is active."""

    def __init__(self, blocks: Sequence[Block], starts: NDArray[np.intp]) -> None:
        self._blocks = blocks
        self._starts = starts

    def run(
        self,
        task: Callable[..., Any],
        shared: Any,
        weights: Array | None = None,
        *,
        add: bool,  # noqa: ARG002
    ) -> list[Any]:
        """Call the task on all blocks."""
        pieces = None if weights is None else np.split(weights, self._starts[1:-1], axis=-1)
        return [task(self._blocks, shared, pieces)]


def active_client() -> Any:
    """Return the active Dask client, or None; there is none if distributed was never imported."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        client = distributed.default_client()
    except ValueError:
        return None
    if client.status == "closed":  # inside a ``with`` block that it was closed in
        return None
    if client.asynchronous:
        raise ValueError("The active Dask client is asynchronous: start one with Client(...).")
    return client


def one_chunk_of_columns(X: Any) -> Any:
    """Return the Dask array with whole rows in every block; refuse one of unknown sizes."""
    if not isinstance(X, da.Array):
        raise ValueError(
            f"X is a {type(X).__module__}.{type(X).__name__}, and a dask.array is wanted. Data "
            "frames have to_dask_array(lengths=True)."
        )
    if any(np.isnan(size) for size in X.shape):
        raise ValueError(
            f"X has chunks of unknown sizes (shape {X.shape}). Call X.compute_chunk_sizes() first."
        )
    check_shape(X)
    return X if len(X.chunks[1]) == 1 else X.rechunk({1: -1})


# ------------------------------------------------------------- tasks that run where the blocks are


def open_block(
    X: Any, number: int, shape: tuple[int, int], first_row: int, engine: Engine, n_threads: Any
) -> Block:
    """Open a chunk; its first row has the number ``first_row`` in X."""
    where = f"Block {number} of X (rows {first_row} to {first_row + shape[0] - 1})"
    if X.shape != shape:
        raise ValueError(f"{where} has shape {X.shape}, and its chunk in X says {shape}.")
    try:
        rows, scale = open_rows(X, first_row=first_row)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{where}: {error}") from error
    if n_threads is None:
        n_threads = sys.modules["distributed"].get_worker().state.nthreads
    directions = engine_class(engine)(rows, scale, first_row=first_row, n_threads=n_threads)
    parts: Any = (rows,) if isinstance(rows, np.ndarray) else (rows.data, rows.indices, rows.indptr)
    return Block(number, directions, sum(part.nbytes for part in (*parts, scale)))


def aligned(array: Any) -> Any:
    """Return an array that lies as the kernels need it; in a message it may lie anywhere."""
    if array is None:
        return None
    if not isinstance(array, np.ndarray):  # sparse
        return array.copy()
    return array if array.flags.aligned else array.copy()


def received(scorer: Scorer) -> Scorer:
    """Return a scorer that came in a message as one that was made here."""
    parts = {name: aligned(getattr(scorer, name)) for name in ("matrix", "biases", "rates")}
    return replace(scorer, **parts)


def sweep_blocks(
    n_blocks: int, blocks: Sequence[Block], scorers: list[Scorer], weights: Sequence[Array] | None
) -> TreeSum:
    """Sweep blocks one after another, and add their resultants."""
    total, scorers = TreeSum(n_blocks, {}), list(map(received, scorers))
    for block, own in zip(blocks, weights or repeat(None), strict=False):
        sums = block.directions.sweep(scorers, aligned(own))
        total += TreeSum(n_blocks, {(0, block.number): sums})
    return total


def map_blocks(
    blocks: Sequence[Block], wanted: tuple[Scorer, Want], _weights: None = None
) -> dict[int, NDArray[Any]]:
    """Apply a scorer to each row of some blocks, as ``map_rows`` does."""
    scorer, want = received(wanted[0]), wanted[1]
    return {block.number: block.directions.map_rows(scorer, want) for block in blocks}


def take_blocks(
    blocks: Sequence[Block], wanted: dict[int, NDArray[np.intp]], _weights: None = None
) -> dict[int, Array]:
    """Return the wanted rows of some blocks."""
    return {
        block.number: block.directions.take(wanted[block.number])
        for block in blocks
        if block.number in wanted
    }

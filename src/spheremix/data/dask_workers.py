"""Blocks of rows kept on the workers of a Dask cluster, and the tasks that work on them.

In a sweep every worker runs one task over the blocks that it holds, so no block is moved. When a
worker dies, other workers compute its blocks again from the graph of X and the sweep is repeated;
the result has the same bits.
"""

from __future__ import annotations

import functools
import operator
from typing import TYPE_CHECKING, Any

import distributed
import numpy as np

from spheremix.data.dask_cluster import Cluster, WorkerLostError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Placement = dict[str, list[int]]

MAX_LOSSES = 10  # how often a sweep is repeated because a worker was lost


class WorkerBlocks:
    """The blocks of a Dask array, kept on the workers of a client.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster.
    X : dask.array.Array
        The array that the blocks are parts of.
    chunks : sequence of Delayed
        The chunks of X.
    opens : sequence of callables
        Functions that turn a chunk into a block, one for each chunk.
    starts : ndarray of shape (number of blocks + 1,)
        The first row of each block, and the number of rows.
    """

    def __init__(
        self,
        client: Any,
        X: Any,
        chunks: Sequence[Any],
        opens: Sequence[Callable[[Any], Any]],
        starts: NDArray[np.intp],
    ) -> None:
        self._client = client
        self._cluster = Cluster(client)
        self._loaded = bool(distributed.futures_of(X))
        self._chunks = chunks
        self._opens = opens
        self._starts = starts
        self._worker_of: list[str | None] = [None] * len(chunks)
        self._blocks: list[Any] = [None] * len(chunks)
        self._placement: Placement | None = None
        self._weights: tuple[Array, Placement, dict[str, Any]] | None = None
        try:
            self._with_retries(lambda _: [])
        except BaseException:
            self._cluster.cancel([block for block in self._blocks if block is not None])
            raise

    def run(
        self,
        task: Callable[..., Any],
        shared: Any,
        weights: Array | None = None,
        *,
        add: bool,
    ) -> list[Any]:
        """Call ``task(blocks, shared, pieces of the weights)`` on every worker.

        Returns the list of their results, or a list of one result: their sum, which is calculated
        on the workers by a tree of tasks.
        """

        def ask(placement: Placement) -> list[Any]:
            with self._cluster.cancelling() as futures:
                pieces = self._send_weights(placement, weights)
                copies = self._relay(shared, list(placement), futures)
                results = self._submit(task, placement, copies, pieces)
                futures.extend(results)
                while add and len(results) > 1:
                    results = self._add(results)
                    futures.extend(results)
                return self._cluster.gather(results, list(placement))

        return self._with_retries(ask)

    def _with_retries(self, work: Callable[[Placement], list[Any]]) -> list[Any]:
        """Do some work where the blocks are, and repeat it if a worker is lost meanwhile."""
        for _ in range(MAX_LOSSES):
            try:
                return work(self._place())
            except WorkerLostError:
                self._placement = None
        raise RuntimeError(
            f"Workers of the Dask cluster were lost {MAX_LOSSES} times in one sweep. Look into "
            "their logs for the reason (memory is the usual one), and fit again."
        )

    # ------------------------------------------------------------------------------- blocks

    def _place(self) -> Placement:
        """Return the blocks that each worker holds, after opening those that no worker holds."""
        if self._placement is not None:
            return self._placement
        workers = self._cluster.alive()
        lost = [number for number, home in enumerate(self._worker_of) if home not in workers]
        if lost:
            old = [self._blocks[number] for number in lost]
            self._cluster.cancel([block for block in old if block is not None])
            self._open(lost)
        placement: Placement = {}
        for number, home in enumerate(self._worker_of):
            placement.setdefault(str(home), []).append(number)
        self._cluster.wait(self._blocks, list(placement))
        self._placement = placement
        return placement

    def _open(self, numbers: list[int]) -> None:
        """Open blocks on the workers that hold the data of X already, or on chosen ones.

        Another worker may compute a chunk if the chosen one is lost or busy. A block is always
        opened by its own worker and stays there.
        """
        chunks: dict[int, Any] = {}
        if self._loaded:
            futures = self._client.compute([self._chunks[number] for number in numbers])
            self._cluster.wait(futures, [])
            holders = self._cluster.holders(futures)
            for number, chunk in zip(numbers, futures, strict=True):
                if not holders.get(chunk.key):
                    raise WorkerLostError
                chunks[number], self._worker_of[number] = chunk, min(holders[chunk.key])
        else:
            for number, home in zip(numbers, self._choose_workers(numbers), strict=True):
                self._worker_of[number] = home
        for home in sorted({str(self._worker_of[number]) for number in numbers}):
            own = [number for number in numbers if self._worker_of[number] == home]
            if not self._loaded:
                lazy = [self._chunks[number] for number in own]
                futures = self._client.compute(lazy, workers=[home], allow_other_workers=True)
                chunks |= dict(zip(own, futures, strict=True))
            opened = self._client.map(
                _call,
                [self._opens[number] for number in own],
                [chunks[number] for number in own],
                workers=[home],
                pure=False,
            )
            for number, block in zip(own, opened, strict=True):
                self._blocks[number] = block

    def _choose_workers(self, numbers: list[int]) -> list[str]:
        """Choose a worker for each block: equally many rows a thread, neighbours on one worker."""
        workers = self._cluster.some_alive()
        addresses = sorted(workers)
        threads = np.cumsum([workers[address]["nthreads"] for address in addresses])
        rows = np.diff(self._starts)[numbers]
        middles = (np.cumsum(rows) - rows / 2) / rows.sum()
        return [addresses[i] for i in np.searchsorted(threads[:-1] / threads[-1], middles)]

    # -------------------------------------------------------------------------------- tasks

    def _send_weights(self, placement: Placement, weights: Array | None) -> dict[str, Any]:
        """Send each worker the weights of its rows, if these are not the last ones sent."""
        if weights is None:
            return {}
        if self._weights is not None:
            last, where, pieces = self._weights
            if where is placement and np.array_equal(last, weights):
                return pieces
        by_block = np.split(weights, self._starts[1:-1], axis=-1)
        pieces = {}
        for address, numbers in placement.items():
            own = [by_block[number] for number in numbers]
            pieces[address] = self._cluster.send(own, address)
        self._weights = (weights.copy(), placement, pieces)
        return pieces

    def _relay(self, shared: Any, workers: list[str], futures: list[Any]) -> list[Any]:
        """Send an object to all workers, each of which passes it on to two others.

        So no worker sends it more than twice. Returns the future of each worker's copy. (Dask's own
        broadcast never ends if a worker dies during it.)
        """
        futures.append(self._cluster.send(shared, workers[0]))
        there = futures[:1]
        for i, worker in enumerate(workers[1:], start=1):
            source = there[(i - 1) // 2]
            if 2 * i + 1 < len(workers):  # it passes the object on
                source = self._client.submit(_identity, source, workers=[worker], pure=False)
                futures.append(source)
            there.append(source)
        return there

    def _submit(
        self,
        task: Callable[..., Any],
        placement: Placement,
        copies: list[Any],
        pieces: dict[str, Any],
    ) -> list[Any]:
        """Submit the task to every worker, for the blocks that it holds."""
        return [
            self._client.submit(
                task,
                [self._blocks[number] for number in numbers],
                shared,
                pieces.get(address),
                workers=[address],
                pure=False,
            )
            for (address, numbers), shared in zip(placement.items(), copies, strict=True)
        ]

    def _add(self, results: list[Any]) -> list[Any]:
        """Add up neighbours, one level of the tree."""
        pairs = [results[i : i + 2] for i in range(0, len(results), 2)]
        return [self._client.submit(_sum, pair, pure=False) for pair in pairs]


def _identity(what: Any) -> Any:
    return what


def _call(opens: Callable[[Any], Any], chunk: Any) -> Any:
    return opens(chunk)


def _sum(parts: list[Any]) -> Any:
    return functools.reduce(operator.add, parts)

"""Blocks on the workers of a Dask cluster: who holds which, and what happens when one dies.

Every worker has one task a sweep, tied to it, over the blocks it holds: no block moves. A worker
that dies takes blocks along; the scheduler computes them again from the graph of X, the task is
asked of whoever has them then, and gives the same bits.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import operator
import time
from typing import TYPE_CHECKING, Any

import distributed
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Placement = dict[str, list[int]]

POLL = 1.0  # seconds between two looks at the cluster
PATIENCE = 30.0  # seconds without a worker that could go on
TRIES = 10  # workers lost in one sweep
FAN_IN = 2  # sums added in one task: more would wait for each other at one door

_CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)


class WorkerLostError(Exception):
    """A worker with blocks is gone: find out who has them now, and ask again."""


class Workers:
    """The blocks of a Dask array, kept on the workers of a client.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster.
    X : dask.array.Array
        What the blocks are made of.
    chunks : sequence of Delayed
        The chunks of X.
    opens : sequence of callables
        What makes a block of each chunk.
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
        self._loaded = bool(distributed.futures_of(X))
        self._chunks = chunks
        self._opens = opens
        self._starts = starts
        self._homes: list[str | None] = [None] * len(chunks)
        self._blocks: list[Any] = [None] * len(chunks)
        self._placement: Placement | None = None
        self._weights: tuple[Array, Placement, dict[str, Any]] | None = None
        try:
            self._through_losses(lambda _: [])
        except BaseException:
            self._cancel([block for block in self._blocks if block is not None])
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

        Gives the list of what they say, or of its sum, added up in a tree of tasks.
        """

        def ask(placement: Placement) -> list[Any]:
            futures: list[Any] = []
            try:
                pieces = self._send_weights(placement, weights)
                futures.append(self._send(shared))
                results = self._submit(task, placement, futures, pieces)
                while add and len(results) > 1:
                    results = self._add(results, futures)
                return self._collect(results, list(placement))
            except BaseException:
                self._cancel(futures)
                raise

        return self._through_losses(ask)

    def _through_losses(self, work: Callable[[Placement], list[Any]]) -> list[Any]:
        """Do some work where the blocks are, again where a worker is lost meanwhile."""
        for _ in range(TRIES):
            try:
                return work(self._place())
            except WorkerLostError:
                self._placement = None
        raise RuntimeError(
            f"Workers of the Dask cluster were lost {TRIES} times in one sweep. See in their logs "
            "what ends them (memory is the usual cause), and fit again."
        )

    # ------------------------------------------------------------------------------- blocks

    def _place(self) -> Placement:
        """Give the blocks that each worker holds, having opened those that nobody does."""
        if self._placement is not None:
            return self._placement
        workers = self._alive()
        lost = [number for number, home in enumerate(self._homes) if home not in workers]
        self._cancel([self._blocks[number] for number in lost if self._blocks[number] is not None])
        if lost:
            self._open(lost)
        placement: Placement = {}
        for number, home in enumerate(self._homes):
            placement.setdefault(str(home), []).append(number)
        self._await(self._blocks, list(placement))
        self._placement = placement
        return placement

    def _open(self, numbers: list[int]) -> None:
        """Open blocks where the data of X is already, or else in runs of neighbours.

        A chunk may be made by another worker, if its own is lost or busy; a block is opened by
        its own and is not taken away from it.
        """
        chunks: dict[int, Any] = {}
        if self._loaded:
            futures = self._client.compute([self._chunks[number] for number in numbers])
            self._await(futures, [])
            holders = self._client.who_has(futures)
            for number, chunk in zip(numbers, futures, strict=True):
                if not holders.get(chunk.key):
                    raise WorkerLostError
                chunks[number], self._homes[number] = chunk, min(holders[chunk.key])
        else:
            for number, home in zip(numbers, self._spread(numbers), strict=True):
                self._homes[number] = home
        for home in sorted({str(self._homes[number]) for number in numbers}):
            own = [number for number in numbers if self._homes[number] == home]
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

    def _spread(self, numbers: list[int]) -> list[str]:
        """Give each block a worker: as many rows a thread, and neighbours together."""
        seen = time.monotonic()
        while not (workers := self._alive()):
            self._lose_patience(seen, {})
            time.sleep(POLL / 10)
        addresses = sorted(workers)
        threads = np.cumsum([workers[address]["nthreads"] for address in addresses])
        rows = np.diff(self._starts)[numbers]
        middles = (np.cumsum(rows) - rows / 2) / rows.sum()
        return [addresses[i] for i in np.searchsorted(threads[:-1] / threads[-1], middles)]

    def _await(self, futures: list[Any], needed: list[str]) -> None:
        """Wait until everything is computed, and no longer than there is hope."""
        seen = time.monotonic()
        while not all(future.status == "finished" for future in futures):
            try:
                distributed.wait(futures, timeout=POLL)
            except TimeoutError:
                seen = self._look(needed, seen)
            except _CANCELLED as error:
                self._require_scheduler()
                raise RuntimeError(
                    "Blocks of X are lost and cannot be computed again: the client was restarted, "
                    "or they hang on data that was scattered to a worker that died. Fit again, "
                    "with an X that is made of tasks (reading files, say)."
                ) from error
            for future in futures:
                if future.status == "error":
                    future.result()

    # -------------------------------------------------------------------------------- tasks

    def _send(self, shared: Any) -> Any:
        """Send every worker the same."""
        with self._losing_workers():
            [future] = self._client.scatter([shared], broadcast=True, hash=False, timeout=PATIENCE)
        return future

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
            with self._losing_workers():
                [pieces[address]] = self._client.scatter([own], workers=[address], hash=False)
        self._weights = (weights.copy(), placement, pieces)
        return pieces

    def _submit(
        self,
        task: Callable[..., Any],
        placement: Placement,
        futures: list[Any],
        pieces: dict[str, Any],
    ) -> list[Any]:
        """Ask every worker about its blocks; ``futures`` has the shared argument, and grows."""
        [shared] = futures
        results = [
            self._client.submit(
                task,
                [self._blocks[number] for number in numbers],
                shared,
                pieces.get(address),
                workers=[address],
                pure=False,
            )
            for address, numbers in placement.items()
        ]
        futures += results
        return results

    def _add(self, results: list[Any], futures: list[Any]) -> list[Any]:
        """Add up neighbours, one level of the tree."""
        groups = [results[i : i + FAN_IN] for i in range(0, len(results), FAN_IN)]
        sums = [self._client.submit(_sum, group, pure=False) for group in groups]
        futures += sums
        return sums

    def _collect(self, results: list[Any], workers: list[str]) -> list[Any]:
        """Bring the results here, looking after the workers meanwhile."""

        async def gather() -> list[Any]:
            found: list[Any] = await self._client.gather(results, asynchronous=True)
            return found

        reply = asyncio.run_coroutine_threadsafe(gather(), self._client.loop.asyncio_loop)
        seen = time.monotonic()
        try:
            while True:
                try:
                    return reply.result(timeout=POLL)
                except TimeoutError:
                    if reply.done():  # raised by the task
                        raise
                    seen = self._look(workers, seen)
                except _CANCELLED as error:
                    self._require_scheduler()
                    raise WorkerLostError from error
        finally:
            reply.cancel()

    def _cancel(self, futures: list[Any]) -> None:
        """Take back what was asked for; a scheduler that is gone has forgotten it anyway."""
        with contextlib.suppress(Exception):
            self._client.cancel(futures, force=True)

    # ------------------------------------------------------------------------ the cluster

    @contextlib.contextmanager
    def _losing_workers(self) -> Any:
        """Say that a worker is lost where sending fails."""
        try:
            yield
        except TimeoutError:
            self._lose_patience(-np.inf, self._alive())
        except (OSError, KeyError, *_CANCELLED) as error:
            self._require_scheduler()
            raise WorkerLostError from error

    def _look(self, needed: list[str], seen: float) -> float:
        """Look whether the workers that are needed, or any, can go on; give when they last could.

        A worker that is gone is a WorkerLostError; none left, or paused ones, an error in time.
        """
        self._require_scheduler()
        workers = self._alive()
        if not set(needed) <= set(workers):
            raise WorkerLostError
        running = [a for a in needed or workers if workers[a].get("status") == "running"]
        if running and len(running) >= len(needed):
            return time.monotonic()
        self._lose_patience(seen, workers)
        return seen

    def _alive(self) -> dict[str, Any]:
        self._require_scheduler()
        found: dict[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        return found

    def _require_scheduler(self) -> None:
        if self._client.status != "running":
            raise ConnectionError(
                "The connection to the Dask scheduler is lost. Start a scheduler and a new client, "
                "and fit again."
            )

    def _lose_patience(self, seen: float, workers: dict[str, Any]) -> None:
        if time.monotonic() - seen <= PATIENCE:
            return
        paused = f" ({len(workers)} are paused, out of memory)" if workers else ""
        raise RuntimeError(
            f"The Dask cluster has had no worker to go on with for {PATIENCE:g} s{paused}. Start "
            "workers with more memory, or more of them, and fit again."
        )


def _call(opens: Callable[[Any], Any], chunk: Any) -> Any:
    return opens(chunk)


def _sum(parts: list[Any]) -> Any:
    return functools.reduce(operator.add, parts)

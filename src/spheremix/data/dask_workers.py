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
    opened : sequence of Delayed
        The blocks, to be computed.
    starts : ndarray of shape (number of blocks + 1,)
        The first row of each block, and the number of rows.
    """

    def __init__(
        self, client: Any, X: Any, opened: Sequence[Any], starts: NDArray[np.intp]
    ) -> None:
        self._client = client
        self._starts = starts
        self._placement: Placement | None = None
        self._weights: tuple[Array, Placement, dict[str, Any]] | None = None
        self._blocks = self._open(X, opened)
        try:
            self._place()
        except BaseException:
            self._cancel(self._blocks)
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
        for _ in range(TRIES):
            futures: list[Any] = []
            try:
                placement = self._place()
                pieces = self._send_weights(placement, weights)
                futures = [self._send(shared)]
                results = self._submit(task, placement, futures, pieces)
                while add and len(results) > 1:
                    results = self._add(results, futures)
                return self._collect(results, list(placement))
            except WorkerLostError:
                self._placement = None
                self._cancel(futures)
            except BaseException:
                self._cancel(futures)
                raise
        raise RuntimeError(
            f"Workers of the Dask cluster were lost {TRIES} times in one sweep. See in their logs "
            "what ends them (memory is the usual cause), and fit again."
        )

    # ------------------------------------------------------------------------------- blocks

    def _open(self, X: Any, opened: Sequence[Any]) -> list[Any]:
        """Compute the blocks where the data of X is, or else in runs of neighbours."""
        compute = self._client.compute
        if distributed.futures_of(X):
            found: list[Any] = compute(list(opened))
            return found
        threads = self._threads()
        shares = np.cumsum(list(threads.values())) / sum(threads.values())
        middles = (self._starts[:-1] + self._starts[1:]) / (2 * self._starts[-1])
        owners = np.searchsorted(shares[:-1], middles)
        futures: list[Any] = []
        for owner in np.unique(owners):
            run = [one for one, by in zip(opened, owners, strict=True) if by == owner]
            # Others may take over when this worker dies.
            futures += compute(run, workers=[list(threads)[owner]], allow_other_workers=True)
        return futures

    def _threads(self) -> dict[str, int]:
        """Give the threads of each worker, once there is one."""
        seen = time.monotonic()
        while not (workers := self._alive()):
            self._lose_patience(seen, {})
            time.sleep(POLL / 10)
        return {address: workers[address]["nthreads"] for address in sorted(workers)}

    def _place(self) -> Placement:
        """Give the blocks that each worker holds, once all are somewhere."""
        if self._placement is not None:
            return self._placement
        self._await_blocks()
        holders = self._client.who_has(self._blocks)
        placement: Placement = {}
        for number, block in enumerate(self._blocks):
            if not holders.get(block.key):
                raise WorkerLostError
            placement.setdefault(min(holders[block.key]), []).append(number)
        self._placement = placement
        return placement

    def _await_blocks(self) -> None:
        """Wait until every block is open, and no longer than there is hope."""
        seen = time.monotonic()
        while True:
            try:
                distributed.wait(self._blocks, timeout=POLL)
            except TimeoutError:
                seen = self._look([], seen)
            except _CANCELLED as error:
                self._require_scheduler()
                raise RuntimeError(
                    "Blocks of X are lost and cannot be computed again: the client was restarted, "
                    "or they hang on data that was scattered to a worker that died. Fit again, "
                    "with an X that is made of tasks (reading files, say)."
                ) from error
            failed = [block for block in self._blocks if block.status == "error"]
            if failed:
                failed[0].result()
            if all(block.status == "finished" for block in self._blocks):
                return

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


def _sum(parts: list[Any]) -> Any:
    return functools.reduce(operator.add, parts)

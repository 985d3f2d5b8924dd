"""A Dask cluster that workers may leave: everything is waited for, no longer than there is hope."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import time
from typing import TYPE_CHECKING, Any

import distributed
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

POLL = 1.0  # seconds between two looks at the cluster
PATIENCE = 30.0  # seconds without a worker that could go on

_CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)


class WorkerLostError(Exception):
    """A worker with blocks is gone: have them opened elsewhere, and ask again."""


class Cluster:
    """What a client can do, in bounded time.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster.
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def alive(self) -> dict[str, Any]:
        """Give what the scheduler knows of each worker, by its address."""
        self._require_scheduler()
        found: dict[str, Any] = self.client.scheduler_info(n_workers=-1)["workers"]
        return found

    def some_alive(self) -> dict[str, Any]:
        """Give the same, once there is a worker."""
        seen = time.monotonic()
        while not (workers := self.alive()):
            self._lose_patience(seen, {})
            time.sleep(POLL / 10)
        return workers

    def send(self, what: Any, worker: str) -> Any:
        """Send an object to a worker; give its future."""
        self._require_scheduler()
        try:
            [future] = self.client.scatter([what], workers=[worker], hash=False, timeout=PATIENCE)
        except TimeoutError:
            self._lose_patience(-np.inf, self.alive())
        except (OSError, KeyError, *_CANCELLED) as error:
            self._require_scheduler()
            raise WorkerLostError from error
        return future

    def wait(self, futures: list[Any], needed: list[str]) -> None:
        """Wait until all are computed, while the workers that are needed, or any, are there."""
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

    def gather(self, futures: list[Any], needed: list[str]) -> list[Any]:
        """Bring results here, while the workers that are needed are there."""

        async def gathered() -> list[Any]:
            found: list[Any] = await self.client.gather(futures, asynchronous=True)
            return found

        reply = asyncio.run_coroutine_threadsafe(gathered(), self.client.loop.asyncio_loop)
        seen = time.monotonic()
        while True:  # where it is left, whoever asked cancels the futures and so ends the coroutine
            try:
                return reply.result(timeout=POLL)
            except TimeoutError:
                if reply.done():  # raised by the task
                    raise
                seen = self._look(needed, seen)
            except _CANCELLED as error:
                self._require_scheduler()
                raise WorkerLostError from error

    def cancel(self, futures: list[Any]) -> None:
        """Take back what was asked for; a scheduler that is gone has forgotten it anyway."""
        with contextlib.suppress(Exception):
            self.client.cancel(futures, force=True)

    @contextlib.contextmanager
    def cancelling(self) -> Iterator[list[Any]]:
        """Give a list for futures, which are taken back where an error or Ctrl-C ends the block."""
        futures: list[Any] = []
        try:
            yield futures
        except BaseException:
            self.cancel(futures)
            raise

    def _look(self, needed: list[str], seen: float) -> float:
        """Look whether the workers that are needed, or any, can go on; give when they last could.

        A worker that is gone is a WorkerLostError; none left, or paused ones, an error in time.
        """
        workers = self.alive()
        if not set(needed) <= set(workers):
            raise WorkerLostError
        running = [a for a in needed or workers if workers[a].get("status") == "running"]
        if running and len(running) >= len(needed):
            return time.monotonic()
        self._lose_patience(seen, workers)
        return seen

    def _require_scheduler(self) -> None:
        if self.client.status != "running":
            raise ConnectionError(
                "The connection to the Dask scheduler is lost. Start a scheduler and a new client, "
                "and fit again."
            )

    def _lose_patience(self, seen: float, workers: dict[str, Any]) -> None:
        if time.monotonic() - seen <= PATIENCE:
            return
        n_paused = sum(worker.get("status") == "paused" for worker in workers.values())
        paused = f" ({n_paused} are paused, out of memory)" if n_paused else ""
        raise RuntimeError(
            f"The Dask cluster has had no worker to go on with for {PATIENCE:g} s{paused}. Start "
            "workers with more memory, or more of them, and fit again."
        )

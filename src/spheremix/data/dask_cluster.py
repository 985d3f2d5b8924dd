"""Requests to a Dask cluster, none of which waits for ever.

Workers may be lost or paused, and the scheduler may be gone or may not answer: each of these ends
in an error within a bounded time.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any, TypeVar

import distributed
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

POLL = 1.0  # seconds between two looks at the cluster
PATIENCE = 30.0  # seconds without an answer of the scheduler, or without a worker that could go on

_CANCELLED = (asyncio.CancelledError, concurrent.futures.CancelledError)


class WorkerLostError(Exception):
    """A worker that held blocks is gone: open them elsewhere, and repeat the request."""


class Cluster:
    """The requests of a client, each of which ends in bounded time.

    Parameters
    ----------
    client : distributed.Client
        Of the cluster.
    """

    def __init__(self, client: Any) -> None:
        self.client = client

    def alive(self) -> dict[str, Any]:
        """Return the scheduler's information about each worker, by its address."""
        self._require_scheduler()
        info = self._answer(
            "which workers there are", lambda: self.client.scheduler_info(n_workers=-1)
        )
        found: dict[str, Any] = info["workers"]
        return found

    def holders(self, futures: list[Any]) -> dict[str, list[str]]:
        """Return the addresses of the workers that hold each result, by the key of its future."""
        self._require_scheduler()
        found: dict[str, list[str]] = self._answer(
            "which workers hold the chunks of X", lambda: self.client.who_has(futures)
        )
        return found

    def some_alive(self) -> dict[str, Any]:
        """Wait until there is a worker, and return the same."""
        seen = time.monotonic()
        while not (workers := self.alive()):
            self._lose_patience(seen, {})
            time.sleep(POLL / 10)
        return workers

    def send(self, what: Any, worker: str) -> Any:
        """Send an object to a worker; return its future."""
        self._require_scheduler()
        options = {"workers": [worker], "hash": False, "timeout": PATIENCE}
        try:
            [future] = self._answer(
                f"to send data to worker {worker}", lambda: self.client.scatter([what], **options)
            )
        except TimeoutError:
            self._lose_patience(-np.inf, self.alive())
        except (OSError, KeyError, *_CANCELLED) as error:
            self._require_scheduler()
            raise WorkerLostError from error
        return future

    def wait(self, futures: list[Any], needed: list[str]) -> None:
        """Wait until all futures are computed.

        An error is raised if one of the needed workers is lost, or if no worker can go on.
        """
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
                    "or they depend on data that was scattered to a worker that died. Fit again "
                    "with an X that is made of tasks, for example of reading files."
                ) from error
            for future in futures:
                if future.status == "error":
                    future.result()

    def gather(self, futures: list[Any], needed: list[str]) -> list[Any]:
        """Bring results into this process; an error if one of the needed workers is lost."""

        async def gathered() -> list[Any]:
            found: list[Any] = await self.client.gather(futures, asynchronous=True)
            return found

        reply = asyncio.run_coroutine_threadsafe(gathered(), self.client.loop.asyncio_loop)
        seen = time.monotonic()
        while True:  # after an error the caller cancels the futures, which ends the coroutine
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
        """Cancel what was asked for, as far as the scheduler is there and answers soon."""
        with contextlib.suppress(Exception):
            self._answer(
                "to cancel tasks", lambda: self.client.cancel(futures, force=True), limit=5 * POLL
            )

    @contextlib.contextmanager
    def cancelling(self) -> Iterator[list[Any]]:
        """Return list for futures, which are cancelled if an error or Ctrl-C leaves the context."""
        futures: list[Any] = []
        try:
            yield futures
        except BaseException:
            self.cancel(futures)
            raise

    def _look(self, needed: list[str], seen: float) -> float:
        """Check that the needed workers, or any worker, can go on; return the time when they could.

        A lost worker raises WorkerLostError. If no worker is left, or they are paused, another
        error is raised after ``PATIENCE`` seconds.
        """
        workers = self.alive()
        if not set(needed) <= set(workers):
            raise WorkerLostError
        running = [a for a in needed or workers if workers[a].get("status") == "running"]
        if running and len(running) >= len(needed):
            return time.monotonic()
        self._lose_patience(seen, workers)
        return seen

    def _answer(self, request: str, call: Callable[[], T], *, limit: float | None = None) -> T:
        """Return what a blocking call of the client returns, or an error if scheduler is silent.

        The client itself waits without a limit for a scheduler whose process is stopped, so the
        call is made in a thread, which is left behind in that case.
        """
        limit = PATIENCE + 5 * POLL if limit is None else limit
        reply: concurrent.futures.Future[T] = concurrent.futures.Future()

        def make() -> None:
            try:
                reply.set_result(call())
            except BaseException as error:  # noqa: BLE001 (raised again where it is waited for)
                reply.set_exception(error)

        threading.Thread(target=make, name="spheremix-dask", daemon=True).start()
        if not concurrent.futures.wait([reply], timeout=limit).done:
            raise ConnectionError(
                f"The Dask scheduler has not answered for {limit:g} s; it was asked {request}. "
                "Look whether it is stopped or overloaded, start a new client, and fit again."
            )
        return reply.result()

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

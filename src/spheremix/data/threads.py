"""How many threads a fit may use."""

from __future__ import annotations

import multiprocessing
import os
import threading
from functools import cache
from typing import Any

import numpy as np


def resolve_threads(n_threads: int | None) -> int:
    """Return the number of threads for one fit.

    An explicit number wins. Otherwise it is what OMP_NUM_THREADS says, or else the cores this
    process may use; and no more than the current limit of the OpenMP pools, so that
    ``threadpoolctl.threadpool_limits`` is respected (of the BLAS pools, where no OpenMP is loaded
    and OMP_NUM_THREADS is not set). Inside a worker of another pool, a thread or a process, it is
    1 unless OMP_NUM_THREADS is set.

    Parameters
    ----------
    n_threads : int or None
        At least 1, or None to decide from the surroundings.

    Returns
    -------
    int
        At least 1.
    """
    if n_threads is not None:
        integer = isinstance(n_threads, int | np.integer) and not isinstance(n_threads, bool)
        if not integer or n_threads < 1:
            raise ValueError(f"n_threads must be None or an integer >= 1, got {n_threads!r}.")
        return int(n_threads)
    asked = _omp_num_threads()
    if asked is None and _inside_worker():
        return 1
    return max(1, min([asked or _cores(), *_pool_limits(fall_back_on_blas=asked is None)]))


def _omp_num_threads() -> int | None:
    """Return the first level of OMP_NUM_THREADS, None where it is unset or no number."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) > 0 else None


def _inside_worker() -> bool:
    in_thread = threading.current_thread() is not threading.main_thread()
    return in_thread or multiprocessing.parent_process() is not None


def _cores() -> int:
    """Count the cores this process may use, given its affinity and the quota of its container."""
    from joblib import cpu_count  # type: ignore[import-untyped]  # noqa: PLC0415

    return int(cpu_count())


def _pool_limits(*, fall_back_on_blas: bool) -> list[int]:
    pools = _controller().info()
    openmp = [pool["num_threads"] for pool in pools if pool["user_api"] == "openmp"]
    if openmp or not fall_back_on_blas:
        return openmp
    return [pool["num_threads"] for pool in pools if pool["user_api"] == "blas"]


@cache
def _controller() -> Any:
    """Find the thread pools of this process once: looking for them takes milliseconds."""
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415

    return ThreadpoolController()

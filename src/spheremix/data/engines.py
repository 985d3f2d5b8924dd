"""What a fit works with: the engines by name, and how many threads it may use."""

from __future__ import annotations

import multiprocessing
import os
import threading
from functools import cache
from typing import Any, get_args

import numpy as np

from spheremix import _optional
from spheremix.data.base import Engine
from spheremix.data.compiled import CompiledDirections
from spheremix.data.reference import ReferenceDirections


def engine_class(engine: Engine) -> Any:
    """Return the class of an engine by its name."""
    if engine not in get_args(Engine):
        raise ValueError(f"engine must be one of {', '.join(get_args(Engine))}, got {engine!r}.")
    if engine == "reference":
        return ReferenceDirections
    if engine == "torch":
        return torch_engine().TorchDirections
    if _optional.kernels is None and engine == "auto":
        _optional.say_once()
        return ReferenceDirections
    if _optional.kernels is None:
        raise ImportError(
            f"engine='compiled' needs the extension spheremix._kernels: {_optional.absence}, or "
            "use engine='reference'."
        )
    return CompiledDirections


def torch_engine() -> Any:
    """Return the module of torch's engine, or say what it needs."""
    try:
        from spheremix.data import torch_gpu  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ImportError(
            "engine='torch' needs PyTorch, which is not installed: pip install torch."
        ) from None
    return torch_gpu


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

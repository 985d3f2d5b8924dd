"""Threads: how many there are, and that what fails in one of the kernels reaches the caller."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
import sklearn  # noqa: F401  (loads the OpenMP pool that every fit finds)
import threadpoolctl
from joblib import Parallel, delayed

from spheremix._optional import kernels
from spheremix.data.engines import resolve_threads

ASK = "import sklearn, spheremix.data.engines as t; print(t.resolve_threads(None))"
IN_THREAD = (
    "import threading, spheremix.data.engines as t; "
    "worker = threading.Thread(target=lambda: print(t.resolve_threads(None))); "
    "worker.start(); worker.join()"
)


CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


@pytest.fixture(autouse=True)
def _no_omp_num_threads(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


def answer(script, **variables):
    """Run a script in a fresh process, where the thread pools see the variables."""
    command = [sys.executable, "-c", script]
    environment = {**os.environ, **variables}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603
    return int(done.stdout)


@pytest.mark.parametrize("n_threads", [1, 3, 64, np.int64(5)])
def test_explicit_number_wins(n_threads, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with threadpoolctl.threadpool_limits(1):
        found = resolve_threads(n_threads)
    assert found == n_threads
    assert type(found) is int


@pytest.mark.parametrize("n_threads", [0, -1, 1.5, 2.0, True, "2"])
def test_bad_numbers(n_threads):
    with pytest.raises(ValueError, match="n_threads"):
        resolve_threads(n_threads)


def see_pools(monkeypatch, pools):
    """Pretend that these are the thread pools of the process."""
    found = SimpleNamespace(info=lambda: pools)
    monkeypatch.setattr("spheremix.data.engines._controller", lambda: found)


def test_threadpool_limits_are_respected(monkeypatch):
    with threadpoolctl.threadpool_limits(1):
        assert resolve_threads(None) == 1
        monkeypatch.setenv("OMP_NUM_THREADS", "4")
        assert resolve_threads(None) == 1


def test_in_a_process_of_its_own():
    assert 1 <= answer(ASK) <= CORES
    assert answer(ASK, OMP_NUM_THREADS="3") == 3
    assert answer(IN_THREAD) == 1
    assert answer(IN_THREAD, OMP_NUM_THREADS="3") == 3  # a thread may be told otherwise


@pytest.mark.parametrize(
    ("value", "expected"),
    [("1", 1), ("2,4", 2), (" 5 ", 5), *dict.fromkeys(["", "many", "0", "-2", "1.5"]).items()],
)
def test_forms_of_omp_num_threads(value, expected, monkeypatch):
    """What is no number of threads is ignored, also where there is no pool at all."""
    see_pools(monkeypatch, [])
    by_default = resolve_threads(None)
    assert by_default >= 1
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert resolve_threads(None) == (expected or by_default)


def test_blas_pools_serve_where_there_is_no_openmp(monkeypatch):
    pools = [{"user_api": "blas", "num_threads": 1}]
    see_pools(monkeypatch, pools)
    assert resolve_threads(None) == 1
    pools.insert(0, {"user_api": "openmp", "num_threads": 1000})
    assert resolve_threads(None) >= 1


def test_one_thread_inside_a_thread_or_process():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(resolve_threads, None).result() == 1
        assert pool.submit(resolve_threads, 4).result() == 4
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(resolve_threads, (None,)) == 1


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_one_thread_inside_joblib(backend):
    n_jobs = max(2, CORES)
    found = Parallel(n_jobs=n_jobs, backend=backend)(delayed(resolve_threads)(None) for _ in "ab")
    assert found == [1, 1]


# The M-step allocates in its tasks, one vector of d numbers a component. The address space ends
# after the results have their place, before the first of those vectors.
OUT_OF_MEMORY = """
import resource, sys
import numpy as np
from spheremix._kernels import maximise

K, d = 3, 6_000_000
rng = np.random.default_rng(0)
r, old = rng.random((K, d)), np.ones((K, d))
mass, kappas = np.full(K, 1.0), np.full(K, 20.0)

def step(d, n_threads):
    vectors, others = np.ascontiguousarray(r[:, :d]), np.ascontiguousarray(old[:, :d])
    return maximise(vectors, mass, 1.0, None, "given", kappas, 1e9, 0.0, 0.0, others, n_threads)

n_threads = int(sys.argv[1])
expected = step(100_000, 1)
step(100_000, n_threads)  # the workers are there
with open("/proc/self/statm") as statm:
    size = int(statm.read().split()[0]) * resource.getpagesize()
before = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (size + 8 * K * d + 8 * d // 2, before[1]))
for _ in range(3):
    try:
        step(d, n_threads)
    except MemoryError:
        print("MemoryError")
resource.setrlimit(resource.RLIMIT_AS, before)
found = step(100_000, n_threads)  # the pool is as it was
print(all(np.array_equal(a, b) for a, b in zip(found, expected)))
"""


@pytest.mark.skipif(kernels is None, reason="not built")
@pytest.mark.skipif(sys.platform != "linux", reason="no limit of the address space")
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_memory_that_ends_in_a_task_is_an_error(n_threads):
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", OUT_OF_MEMORY, str(n_threads)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["MemoryError"] * 3 + ["True"]

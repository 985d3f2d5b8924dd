"""The pool of threads of the kernels: what fails in a task reaches the caller."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytest.importorskip("spheremix._kernels")

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

"""The number of threads that a user asks for reaches the M-step, whatever the engine."""

from __future__ import annotations

import inspect

import dask.array as da
import numpy as np
import pytest
from scipy import sparse

import spheremix as sm
from spheremix.models import vmf

THREADS = list(inspect.signature(vmf.maximise).parameters).index("n_threads")
X = np.random.default_rng(0).normal(size=(600, 5)) + np.repeat(2 * np.eye(5)[:3], 200, axis=0)
ENGINES = {
    "memory": (lambda: X, "auto"),
    "sparse": (lambda: sparse.csr_array(X), "auto"),
    "reference": (lambda: X, "reference"),
    "blocks": (lambda: [X[:300], X[300:]], "auto"),
    "dask": (lambda: da.from_array(X, chunks=(200, 5)), "auto"),
    "torch": (lambda: X, "torch"),
}


@pytest.fixture
def used(monkeypatch):
    """The numbers of threads of the M-steps."""
    seen = []
    maximise = vmf.maximise

    def noting(*arguments):
        seen.append(arguments[THREADS])
        return maximise(*arguments)

    monkeypatch.setattr(vmf, "maximise", noting)
    return seen


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n_threads", [1, 2])
def test_threads_reach_the_m_step(engine, n_threads, used):
    if engine == "torch":
        pytest.importorskip("torch")
    make, name = ENGINES[engine]
    options = {"n_init": 1, "random_state": 0, "engine": name, "n_threads": n_threads}
    sm.VMFMixture(3, **options).fit(make())
    assert set(used) == {n_threads}
    used.clear()
    sm.VMFPath(3, max_steps=3, **options).fit(make())
    assert set(used) == {n_threads}


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_that_are_open_say_their_threads(engine):
    if engine == "torch":
        pytest.importorskip("torch")
    make, name = ENGINES[engine]
    assert sm.as_directions(make(), engine=name, n_threads=2).n_threads == 2
    assert sm.as_directions(make(), engine=name).n_threads >= 1

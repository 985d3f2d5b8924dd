"""Reading blocks: in a thread that always ends, no further than needed, the same each time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from blocks_common import Blocks
from numpy.testing import assert_array_equal

import spheremix as sm
from spheremix.data.block_sources import IterableSource
from spheremix.data.blocks import read_ahead
from spheremix.scorer import Scorer
from spheremix.testing import assert_resultants_same_bits


def test_iterable_is_read_no_further_than_needed():
    seen = []

    class Counting(Blocks):
        def __iter__(self):
            for table in super().__iter__():
                seen.append(len(table))
                yield table

    source = IterableSource(Counting(np.arange(1.0, 4001.0).reshape(2000, 2), (500,)), None)
    assert_array_equal(source.take(np.array([3, 600])), [[7.0, 8.0], [1201.0, 1202.0]])
    assert len(seen) == 2


def test_rows_that_change_between_two_readings():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 3))

    class Shuffled(Blocks):
        def __iter__(self):
            self.X = rng.permutation(self.X)
            return super().__iter__()

    class Growing(Blocks):
        def __iter__(self):
            self.X = np.vstack([self.X, self.X[:1]])
            return super().__iter__()

    scorer = Scorer(np.eye(3), np.zeros(3))
    for source in (Shuffled(X), Growing(X)):
        rows = sm.as_directions(source)
        with pytest.raises(RuntimeError, match=r"rows changed.*without shuffling"):
            rows.sweep([scorer])


def test_rows_that_change_before_a_few_are_taken():
    X = np.random.default_rng(0).normal(size=(1200, 3))
    source = Blocks(X.copy())
    rows = sm.as_directions(source)
    expected = rows.take([7, 1100])
    source.X[[5, 1100]] *= [[2.0], [3.0]]
    assert_array_equal(rows.take([7]), expected[:1])
    with pytest.raises(RuntimeError, match=r"rows changed .* near row 1100"):
        rows.take([7, 1100])
    source.X = X[:1000]
    for ids in ([1100], [3, 1199]):
        with pytest.raises(RuntimeError, match=r"rows changed.*without shuffling"):
            rows.take(ids)


class Refilled(Blocks):
    """Tables that are written into the same memory, one after another."""

    def __init__(self, X, sizes, make=np.asarray):
        super().__init__(X, sizes)
        self.make = make

    def __iter__(self):
        buffer = np.empty((max(self.sizes), self.X.shape[1]))
        for table in super().__iter__():
            buffer[: len(table)] = table
            yield self.make(buffer[: len(table)])
            buffer[:] = np.nan


@pytest.mark.parametrize("sizes", [(100,), (1024,), (1024, 10, 700)])
def test_tables_may_be_refilled(sizes):
    """What was read ahead, or kept to be joined, is not what is in the memory of a table later."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    scorer = Scorer(5 * rng.normal(size=(4, 3)), np.zeros(4))
    whole = sm.as_directions(X)
    for make in (np.asarray, torch.from_numpy, pd.DataFrame):
        rows = sm.as_directions(Refilled(X, sizes, make), block_rows=512)
        assert_resultants_same_bits(rows.sweep([scorer])[0], whole.sweep([scorer])[0])
        assert_array_equal(rows.map_rows(scorer, "scores"), whole.map_rows(scorer, "scores"))
        assert_array_equal(rows.take([5999, 0]), whole.take([5999, 0]))


def test_tables_in_a_list_are_not_copied():
    tables = [np.eye(3), np.eye(3)]
    for found, given in zip(IterableSource(tables, None).tables(), tables, strict=True):
        assert found is given


# --------------------------------------------------------------------------------------- the thread


def readers():
    return [thread for thread in threading.enumerate() if "spheremix-reader" in thread.name]


def test_reading_ahead_is_bounded_and_in_order():
    made = []

    def items():
        for i in range(20):
            made.append(i)
            yield i

    reader = read_ahead(items(), ahead=2)
    for i, item in enumerate(reader):
        assert item == i
        assert len(made) <= i + 4
    assert not readers()


def test_an_error_while_reading_reaches_the_caller():
    X = np.random.default_rng(0).normal(size=(3000, 3))

    class Failing(Blocks):
        def __iter__(self):
            for i, table in enumerate(super().__iter__()):
                if self.n_readings == 2 and i == 3:
                    raise OSError("the disk is gone")
                yield table

    source = Failing(X, (512,))
    rows = sm.as_directions(source, block_rows=512)
    with pytest.raises(OSError, match="the disk is gone"):
        rows.sweep([Scorer(np.eye(3), np.zeros(3))])
    assert not readers()
    assert source.n_open == 0
    assert rows.sweep([Scorer(np.eye(3), np.zeros(3))])[0].weight == 3000


def test_an_error_while_sweeping_ends_the_thread_and_closes_the_source():
    source = Blocks(np.random.default_rng(0).normal(size=(5000, 3)), (512,))
    rows = sm.as_directions(source, block_rows=512)
    with pytest.raises(ValueError, match="weights"):
        rows.sweep([Scorer(np.eye(3), np.zeros(3))], np.ones(7))
    assert not readers()
    assert source.n_open == 0


INTERRUPTED = """
import threading
import numpy as np, spheremix as sm
class Slow:
    def __iter__(self):
        import time
        for _ in range(10):
            yield np.random.default_rng(0).normal(size=(600, 20))
            print("read", flush=True)
            time.sleep(0.005)
mix = sm.VMFMixture(5, n_init=1, tol=0.0, max_iter=10**9)
try:
    mix.fit(sm.as_directions(Slow()))
except KeyboardInterrupt:
    left = [t.name for t in threading.enumerate() if "reader" in t.name]
    print("interrupted", left, flush=True)
"""


def test_ctrl_c_ends_the_fit_and_the_thread():
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", INTERRUPTED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        for _ in range(25):  # in the second reading, or later
            process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert "interrupted []" in rest, errors

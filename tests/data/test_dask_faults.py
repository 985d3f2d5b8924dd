"""Dask as separate programs on loopback, some of which die in the middle of a fit."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from distributed.client import wait
from numpy.testing import assert_array_equal

import spheremix as sm
from spheremix.data import dask_cluster
from spheremix.data.dask_workers import WorkerBlocks
from spheremix.data.open import as_directions
from spheremix.scorer import Scorer

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL on this system"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

K, d = 4, 12


def an_array():
    """Return rows that are made on the workers, whose graph can make them again."""
    rows = da.random.default_rng(0).normal(size=(5000, d), chunks=(700, d))
    return rows + 2.0 * (rows > 0)


def fit(X, callback=None):
    start = np.random.default_rng(0).normal(size=(K, d))
    return sm.VMFMixture(K, init=start, max_iter=6, callback=callback).fit(X)


def assert_same_fit(found, expected):
    assert_array_equal(found.labels_, expected.labels_)
    assert_array_equal(found.prototypes_, expected.prototypes_)
    assert found.log_likelihood_ == expected.log_likelihood_


@pytest.fixture(scope="module")
def undisturbed():
    """The fit without any cluster, whose bits all others have."""
    return fit(an_array())


class Programs:
    """A scheduler, and workers of one thread each, as programs of their own."""

    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.scheduler = self.start(
            "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"
        )
        self.workers = []

    def start(self, kind, *options):
        command = [sys.executable, "-m", "dask", kind, *options, "--scheduler-file", self.file]
        with (self.folder / "log.txt").open("a") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)  # noqa: S603

    def connect(self, n_workers):
        """Have this many workers; give a client."""
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        for _ in range(n_workers - len(self.workers)):
            options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
            self.workers.append(self.start("worker", *options))
        while not self.file.exists():
            assert self.scheduler.poll() is None, (self.folder / "log.txt").read_text()
            time.sleep(0.05)
        client = Client(scheduler_file=self.file)
        client.wait_for_workers(n_workers, timeout=60)
        return client

    def kill(self, process):
        process.send_signal(signal.SIGKILL)
        process.wait()

    def stop(self):
        for process in (*self.workers, self.scheduler):
            process.terminate()
        for process in (*self.workers, self.scheduler):
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=10)
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    programs = Programs(tmp_path_factory.mktemp("dask"))
    yield programs
    programs.stop()


def in_sweep(number, act, monkeypatch, after="_submit"):
    """Do something in a sweep, when its tasks have just been sent out, or the scorers have."""
    count = 0
    method = getattr(WorkerBlocks, after)

    def counting(self, *arguments):
        nonlocal count
        count += 1
        found = method(self, *arguments)
        if count == number:
            act()
        return found

    monkeypatch.setattr(WorkerBlocks, after, counting)


def test_programs_fit_as_one_process_does(programs, undisturbed):
    with programs.connect(2) as client:
        assert len(client.scheduler_info()["workers"]) == 2
        assert_same_fit(fit(an_array()), undisturbed)


@pytest.mark.parametrize("after", ["_relay", "_submit", "the sweep"])
def test_a_killed_worker_changes_nothing(after, programs, undisturbed, monkeypatch):
    with programs.connect(2):
        victim = programs.workers[0]
        if after == "the sweep":
            found = fit(an_array(), lambda p: p.n_sweeps == 3 and programs.kill(victim))
        else:
            in_sweep(3, lambda: programs.kill(victim), monkeypatch, after)
            found = fit(an_array())
    assert victim.poll() == -signal.SIGKILL
    assert_same_fit(found, undisturbed)


def test_a_worker_that_its_nanny_restarts_changes_nothing(undisturbed, monkeypatch):
    options = {"dashboard_address": ":0", "silence_logs": "CRITICAL"}
    with LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster, Client(cluster):
        victim = next(iter(cluster.workers.values())).pid
        in_sweep(2, lambda: os.kill(victim, signal.SIGKILL), monkeypatch)
        assert_same_fit(fit(an_array()), undisturbed)


def test_no_worker_left_is_an_error(programs, monkeypatch):
    monkeypatch.setattr(dask_cluster, "PATIENCE", 2.0)

    def kill_all():
        for worker in programs.workers:
            programs.kill(worker)

    with programs.connect(1):
        in_sweep(2, kill_all, monkeypatch)
        with pytest.raises(RuntimeError, match="no worker to go on with for 2 s"):
            fit(an_array())
        with pytest.raises(RuntimeError, match="no worker to go on with"):
            fit(an_array())


def test_a_cluster_that_loses_workers_all_the_time_is_an_error(programs, monkeypatch):
    with programs.connect(1):
        directions = as_directions(an_array())

        def lose(*_):
            raise dask_cluster.WorkerLostError

        monkeypatch.setattr(WorkerBlocks, "_submit", lose)
        with pytest.raises(RuntimeError, match="lost 10 times in one sweep"):
            directions.sweep([Scorer(np.zeros((1, d)), np.zeros(1))])


def test_scattered_rows_cannot_be_made_again(programs, monkeypatch):
    with programs.connect(2) as client:
        victim = programs.workers[0]
        [address] = [address for address, pid in client.run(os.getpid).items() if pid == victim.pid]
        [rows] = client.scatter([np.ones((50, d))], workers=[address], hash=False)
        X = da.from_delayed(rows, (50, d), dtype=float)
        directions = as_directions(X)
        scorer = Scorer(np.zeros((1, d)), np.zeros(1))
        assert directions.sweep([scorer])[0].weight == 50
        in_sweep(1, lambda: programs.kill(victim), monkeypatch)
        with pytest.raises(RuntimeError, match="cannot be computed again"):
            directions.sweep([scorer])


@pytest.mark.parametrize("when", ["opening", "sweeping", "sending"])
def test_a_scheduler_that_does_not_answer_is_an_error(programs, monkeypatch, when):
    """A stopped process keeps its connections open, and the client would wait for ever."""
    monkeypatch.setattr(dask_cluster, "POLL", 0.1)
    monkeypatch.setattr(dask_cluster, "PATIENCE", 1.0)

    def freeze(*_):
        programs.scheduler.send_signal(signal.SIGSTOP)

    client = programs.connect(2)
    try:
        if when == "opening":
            freeze()
        else:
            in_sweep(2, freeze, monkeypatch, "_submit" if when == "sweeping" else "_send_weights")
        with pytest.raises(
            ConnectionError, match=r"not answered for 1\.5 s; it was asked"
        ) as raised:
            fit(an_array())
        assert "start a new client" in str(raised.value)
    finally:
        programs.scheduler.send_signal(signal.SIGCONT)
        client.close(timeout=10)


def test_no_scheduler_left_is_an_error(programs, monkeypatch):
    with programs.connect(1) as client:
        wait(client.submit(int))
        in_sweep(2, lambda: programs.kill(programs.scheduler), monkeypatch)
        with pytest.raises(ConnectionError, match="scheduler is lost"):
            fit(an_array())

"""A cluster that fails or is told to stop: closed clients, paused workers, Ctrl-C."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest
from dask_common import a_mixture, in_chunks
from distributed import Client

from spheremix.data import dask_cluster
from spheremix.data.open import as_directions
from spheremix.testing import (
    assert_resultants_same_bits,
)


def test_what_could_not_be_sent_is_sent_again(client, monkeypatch):
    rows, scorer = a_mixture(n=300)
    directions = as_directions(in_chunks(rows, [100, 180]))
    [expected] = directions.sweep([scorer])
    errors = [OSError("a worker hung up"), KeyError("tcp://127.0.0.1:1")]
    scatter = client.scatter

    def failing(data, **kwargs):
        if errors:
            raise errors.pop()
        return scatter(data, **kwargs)

    monkeypatch.setattr(client, "scatter", failing)
    [found] = directions.sweep([scorer])
    assert not errors
    assert_resultants_same_bits(found, expected)
    errors.append(TimeoutError("No valid workers found"))
    with pytest.raises(RuntimeError, match="no worker to go on with"):
        directions.sweep([scorer])


def test_a_closed_client_is_an_error(cluster):
    rows, scorer = a_mixture(n=300)
    with Client(cluster):
        directions = as_directions(in_chunks(rows, [100, 180]))
        directions.sweep([scorer])
    for ask in (
        lambda: directions.sweep([scorer]),
        lambda: directions.sweep([scorer], np.ones(300)),
        lambda: directions.map_rows(scorer, "labels"),
        lambda: directions.take([0]),
    ):
        with pytest.raises(ConnectionError, match="a new client"):
            ask()


@pytest.mark.usefixtures("client")
def test_paused_workers_are_an_error(monkeypatch):
    rows, _ = a_mixture(n=300)
    store = as_directions(in_chunks(rows, [100, 180]))._store
    alive = store._cluster.alive

    def paused():
        return {address: {**found, "status": "paused"} for address, found in alive().items()}

    def slow(_blocks, _shared, _weights):
        time.sleep(1)

    monkeypatch.setattr(store._cluster, "alive", paused)
    monkeypatch.setattr(dask_cluster, "POLL", 0.1)
    monkeypatch.setattr(dask_cluster, "PATIENCE", 0.3)
    with pytest.raises(RuntimeError, match=r"for 0.3 s \(2 are paused, out of memory\)"):
        store.run(slow, None, add=False)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_ctrl_c_takes_tasks_back(cluster, client):
    rows, scorer = a_mixture(n=300)
    directions = as_directions(in_chunks(rows, [100, 180]))
    known = set(cluster.scheduler.tasks)

    def slow(_blocks, _shared, _weights):
        time.sleep(1)

    def interrupt():
        while not any("slow" in str(key) for key in list(cluster.scheduler.tasks)):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    # Where the tests run in the background, the signal may be ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            directions._store.run(slow, None, add=False)
    finally:
        signal.signal(signal.SIGINT, before)
    while set(cluster.scheduler.tasks) - known:
        time.sleep(0.05)
    [found] = directions.sweep([scorer])  # the blocks are still there
    assert found.weight == 300
    assert client.status == "running"

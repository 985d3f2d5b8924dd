"""Rows in a Dask array, in this process and on workers, which may fail or be told to stop."""

from __future__ import annotations

import functools
import operator
import os
import signal
import threading
import time

import dask.array as da
import numpy as np
import pytest
from dask.delayed import delayed
from dask_common import QUIET, a_mixture, in_chunks
from distributed import Client, wait
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import spheremix as sm
from spheremix.data import dask_cluster
from spheremix.data.dask_blocks import DaskDirections, TreeSum
from spheremix.data.open import as_directions
from spheremix.resultants import Resultants
from spheremix.scorer import Scorer
from spheremix.testing import (
    CONTAINERS,
    ENGINE_CHECKS,
    assert_resultants_close,
    assert_resultants_same_bits,
)


def make_dask(X, *, first_row=0, n_threads=1):
    """Open with seven uneven blocks, or as many as there are rows."""
    cuts = sorted({X.shape[0] * k // 11 for k in (1, 2, 4, 5, 7, 10)} - {0})
    return DaskDirections(in_chunks(X, cuts), first_row=first_row, n_threads=n_threads)


# ------------------------------------------------------------------------------- conformance

# Blocks are opened by the engine that has containers of all kinds in its own tests.
OF_DASK = ["float32", "strided", "csr_int64"]
OF_DASK += [pytest.param(c, marks=pytest.mark.slow) for c in CONTAINERS if c not in OF_DASK]


@pytest.mark.parametrize("check", ENGINE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("container", OF_DASK)
def test_engine_here(container, check):
    check(make_dask, CONTAINERS[container], np.random.default_rng(0))


# What is computed is computed as here; what is left is who gets which rows, weights and numbers.
ON_WORKERS = (
    "concurrent_sweeps",
    "draws",
    "map_rows",
    "no_scorers",
    "take",
    "weight_shapes",
    "wrong_features",
)


@pytest.mark.parametrize("name", ON_WORKERS)
@pytest.mark.parametrize(
    "container", ["csr_int32", pytest.param("float64", marks=pytest.mark.slow)]
)
@pytest.mark.usefixtures("client")
def test_engine_on_workers(container, name):
    [check] = [check for check in ENGINE_CHECKS if check.__name__ == f"check_{name}"]
    check(make_dask, CONTAINERS[container], np.random.default_rng(0))


# ------------------------------------------------------------------------------ the same result


def test_tree_adds_neighbours_whatever_the_order():
    """Any parts, merged in any order, give the bits of pairs, pairs of pairs, and so on."""
    rng = np.random.default_rng(0)
    for n_blocks in (1, 2, 3, 6, 7, 8, 13):
        values = 10.0 ** rng.uniform(-8, 8, size=n_blocks)
        leaves = [Resultants(np.array([v]), np.array([[v]]), v, v, v) for v in values]
        level = list(values)
        while len(level) > 1:
            level = [sum(level[i : i + 2]) for i in range(0, len(level), 2)]
        for _ in range(5):
            order = rng.permutation(n_blocks)
            cut = rng.integers(n_blocks + 1)
            parts = [
                functools.reduce(
                    operator.add,
                    [TreeSum(n_blocks, {(0, int(i)): [leaves[i]]}) for i in half],
                    TreeSum(n_blocks, {}),
                )
                for half in (order[:cut], order[cut:])
            ]
            [[total]] = (parts[0] + parts[1]).nodes.values()
            assert total.log_likelihood == total.vectors[0, 0] == level[0]


@pytest.mark.parametrize("contain", [np.array, sparse.csr_array])
@pytest.mark.usefixtures("client")
def test_workers_equal_the_local_engine(contain):
    rows, scorer = a_mixture()
    X = contain(rows)
    weights = np.random.default_rng(1).exponential(size=len(rows))
    there, local = as_directions(in_chunks(X, [1000, 1700, 4000, 4001])), as_directions(X)
    assert isinstance(there, DaskDirections)
    assert_array_equal(there.map_rows(scorer, "labels"), local.map_rows(scorer, "labels"))
    for own in (None, weights, np.stack([weights, weights[::-1]])):
        for found, expected in zip(
            there.sweep([scorer, scorer], own), local.sweep([scorer, scorer], own), strict=True
        ):
            assert_resultants_close(found, expected, scorer, 1e-10)


def test_bits_depend_on_the_chunks_alone(cluster):
    """Not on the run, nor on who holds what."""
    rows, scorer = a_mixture()
    X = in_chunks(rows, [1000, 1700, 4000, 4001])
    weights = np.random.default_rng(1).exponential(size=len(rows))
    [here] = as_directions(X).sweep([scorer], weights)
    with Client(cluster) as client:
        one_worker = min(client.scheduler_info()["workers"])
        persisted = client.persist(X, workers=[one_worker])
        wait(persisted)
        for again in (X, X, persisted):
            directions = as_directions(again)
            [found] = directions.sweep([scorer], weights)
            # Wherever Dask opened the blocks: it may steal work from where the rows are.
            assert_resultants_same_bits(found, here)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.usefixtures("client")
def test_fits_are_those_of_the_array():
    rows, _ = a_mixture(n=800, d=10)
    weights = np.random.default_rng(0).integers(1, 3, size=800).astype(float)
    start = rows[[0, 1, 2, 3]]
    dense, csr = in_chunks(rows, [200, 600]), da.from_array(rows, chunks=(300, 4))
    csr = csr.map_blocks(sparse.csr_matrix)
    for estimator in (
        sm.VMFMixture(4, init=start, beta=2.0, max_iter=8),
        sm.SphericalKMeans(4, init=start, max_iter=5),
    ):
        expected = estimator.fit(rows, sample_weight=weights)
        labels, prototypes = expected.labels_, expected.prototypes_
        for X in (dense, csr):
            found = estimator.fit(X, sample_weight=weights)
            assert_array_equal(found.labels_, labels)
            assert_allclose(found.prototypes_, prototypes, 0, 1e-9)
            assert found.n_features_in_ == 10
            assert_array_equal(found.predict(X), found.predict(rows))


# ------------------------------------------------------------------------------- where rows are


def test_no_block_travels(client):
    """An idle worker would otherwise take blocks from a busy one."""
    X = da.random.default_rng(0).normal(size=(60_000, 20), chunks=((50_000, 2000, 8000), 20))
    directions = as_directions(X)
    blocks = directions._store._blocks
    before = client.who_has(blocks)
    scorer = Scorer(np.random.default_rng(0).normal(size=(30, 20)), np.zeros(30))
    for _ in range(10):
        directions.sweep([scorer])
    directions.map_rows(scorer, "labels")
    assert client.who_has(blocks) == before
    assert sorted(map(len, directions._store._placement.values())) == [1, 2]
    fetched = client.run(
        lambda dask_worker: [
            key for entry in dask_worker.transfer_incoming_log for key in entry["keys"]
        ]
    )
    assert not {block.key for block in blocks} & {key for keys in fetched.values() for key in keys}
    # Resultants did travel from one worker to the other, so that the log says something.
    assert any("sweep_blocks" in str(key) for keys in fetched.values() for key in keys)


def test_a_worker_uses_its_threads():
    with Client(processes=False, n_workers=1, threads_per_worker=3, **QUIET):
        X = da.ones((60, 4), chunks=(20, 4))

        def threads(blocks, _shared, _weights):
            return [block.directions.n_threads for block in blocks]

        assert as_directions(X)._store.run(threads, None, add=False) == [[3, 3, 3]]
        asked = as_directions(X, n_threads=2)._store.run(threads, None, add=False)
        assert asked == [[2, 2, 2]]


def test_weights_are_sent_once(client, monkeypatch):
    rows, scorer = a_mixture(n=300)
    directions = as_directions(in_chunks(rows, [100, 180]))
    weights = np.ones(300)
    directions.sweep([scorer], weights)
    sent = []
    scatter = client.scatter
    monkeypatch.setattr(
        client, "scatter", lambda data, **kwargs: sent.append(data) or scatter(data, **kwargs)
    )
    directions.sweep([scorer], weights)
    assert len(sent) == 1  # the scorers
    weights[:150] = 0.0  # in place: it is the values that count
    [found] = directions.sweep([scorer], weights)
    assert found.weight == 150
    assert len(sent) == 4


# ---------------------------------------------------------------------------------- bad input


def with_bad_row(value):
    X = np.ones((50, 3))
    X[33] = value
    return da.from_array(X, chunks=(20, 3))


@pytest.mark.parametrize("where", ["here", "workers"])
@pytest.mark.parametrize(
    ("value", "what"), [(np.nan, "row 33 contains NaN"), (0.0, "zeros only.*: 33")]
)
def test_a_bad_row_is_named_with_its_block(where, value, what, request):
    if where == "workers":
        request.getfixturevalue("client")
    with pytest.raises(ValueError, match=rf"Block 1 of X \(rows 20 to 39\): .*{what}"):
        sm.VMFMixture(2).fit(with_bad_row(value))


X_ONES = da.ones((30, 4), chunks=(10, 4))
OBJECTS = np.ones((50, 3), dtype=object)
OBJECTS[33, 1] = {}


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (X_ONES[X_ONES[:, 0] > 0.5], {}, "compute_chunk_sizes"),
        (X_ONES[:, 0], {}, "Expected 2D array"),
        (X_ONES[:, :1], {}, "minimum of 2"),
        (delayed(np.ones)((3, 4)), {}, "to_dask_array"),
        (X_ONES, {"engine": "gpu"}, "engine must be one of"),
        (
            X_ONES.map_blocks(lambda block: block[:-1], meta=np.empty((0, 0))),
            {},
            r"Block \d .* has shape \(9, 4\)",
        ),
        (
            da.from_array(OBJECTS, chunks=(20, 3)),
            {},
            r"Block 1 of X \(rows 20 to 39\): .*no numbers",
        ),
        (X_ONES, {"block_rows": 10}, "block_rows"),
        (X_ONES, {"column": "embedding"}, "column"),
        (X_ONES, {"precision": "bf16"}, "precision='bf16'"),
        (X_ONES, {"precision": "bf16", "engine": "torch"}, "precision='bf16'"),
    ],
)
def test_refusals(X, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        as_directions(X, **options)


def test_asynchronous_clients_are_refused(monkeypatch):
    class Asynchronous:
        asynchronous = True
        status = "running"

    monkeypatch.setattr("distributed.default_client", Asynchronous)
    with pytest.raises(ValueError, match="asynchronous"):
        as_directions(da.ones((30, 4)))


def test_empty_chunks_are_no_blocks():
    directions = as_directions(da.ones((7, 4), chunks=((0, 5, 0, 2), (4,))))
    assert directions.n_rows == 7
    assert_array_equal(directions.take([4, 5]), np.full((2, 4), 0.5))


def test_take_refuses_what_is_no_row():
    directions = as_directions(da.eye(4, chunks=2))
    assert_array_equal(directions.take(np.array([True, False, False, True])), np.eye(4)[[0, 3]])
    assert_array_equal(directions.take(2), np.eye(4)[[2]])
    for ids in ([4], [-5]):
        with pytest.raises(IndexError, match="no row"):
            directions.take(ids)
    for ids in ([0.5], [True, False]):
        with pytest.raises(IndexError, match="mask of 4 entries"):
            directions.take(ids)


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

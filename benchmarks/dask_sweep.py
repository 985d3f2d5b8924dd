"""One sweep on two Dask workers with one thread each, against the local engine with two threads.

Run ``python benchmarks/dask_sweep.py``; ``--save`` also writes results/dask_sweep.txt. Needs the
extra ``dask`` and 3 GB of memory. The least and the median of interleaved rounds, each begun when
the machine has been idle for a second, or after ``--patience`` seconds; the processor time of the
workers, and of the client with the scheduler; then what a sweep costs when there are hardly any
rows, by the size of the scorers: that is the price of the cluster, for a client that talks to the
scheduler alone and for one that talks to the workers too.
"""

from __future__ import annotations

import argparse
import functools
import time
from pathlib import Path
from typing import TYPE_CHECKING

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from scipy import sparse
from timing import machine

import spheremix as sm
from spheremix.scorer import Scorer

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).resolve().parent
N_ROWS, N_FEATURES, K = 2_000_000, 20_000, 20
N_WORDS = 49  # of a document; some 30 different ones
ROUNDS, GROUPS = 12, 3
LINES: list[str] = []


def say(line: str = "") -> None:
    print(line, flush=True)
    LINES.append(line)


def documents(n_rows: int, d: int, seed: int) -> sparse.csr_matrix:
    """Return counts of words, half of them common to all, half of one of K topics."""
    rng = np.random.default_rng(seed)
    half = d // 2
    words = np.minimum(rng.zipf(1.3, size=(n_rows, N_WORDS)) - 1, half - 1)
    topical = rng.random((n_rows, N_WORDS)) < 0.5
    own = half + half // K * rng.integers(K, size=(n_rows, 1))
    words = np.where(topical, own + words % (half // K), words)
    indptr = np.arange(0, n_rows * N_WORDS + 1, N_WORDS)
    counts = sparse.csr_matrix((np.ones(words.size), words.ravel(), indptr), shape=(n_rows, d))
    counts.sum_duplicates()
    return counts


def a_block(n_rows: int, d: int, block_info: dict | None = None) -> sparse.csr_matrix:
    return documents(n_rows, d, seed=block_info[None]["chunk-location"][0])


def documents_in_blocks(n_rows: int, d: int, n_blocks: int) -> da.Array:
    """Return the documents as a Dask array, made where they are needed."""
    return da.map_blocks(
        functools.partial(a_block, n_rows // n_blocks, d),
        dtype=np.float64,
        chunks=((n_rows // n_blocks,) * n_blocks, (d,)),
        meta=sparse.csr_matrix((0, 0)),
    )


def a_scorer() -> Scorer:
    """Return a scorer as in the middle of a fit, from a part of the documents."""
    mixture = sm.VMFMixture(K, init="k-means++", n_init=1, tol=1e-4, random_state=0)
    mixture.fit(documents(40_000, N_FEATURES, seed=0))
    return Scorer.centred(mixture.kappas_[:, None] * mixture.prototypes_, np.log(mixture.weights_))


def wait_until_idle(patience: float) -> bool:
    """Wait for a second in which the cores have next to nothing to do; say whether it came."""
    cores = Path("/proc/stat")
    end = time.monotonic() + patience
    while cores.exists() and time.monotonic() < end:
        before = np.array(cores.read_text().split()[1:8], dtype=int)
        time.sleep(1.0)
        spent = np.array(cores.read_text().split()[1:8], dtype=int) - before
        if spent[3:5].sum() > 0.9 * spent.sum():
            return True
    return False


def rounds(jobs: dict[str, Callable[[], object]], patience: float) -> dict[str, np.ndarray]:
    times: dict[str, list[float]] = {name: [] for name in jobs}
    idle = 0
    for turn in range(ROUNDS + 1):
        idle += wait_until_idle(patience)
        for name, job in jobs.items():
            begin = time.perf_counter()
            job()
            if turn:
                times[name].append(1e3 * (time.perf_counter() - begin))
    if idle <= ROUNDS:
        say(f"({ROUNDS + 1 - idle} of {ROUNDS + 1} rounds on a busy machine)")
    return {name: np.array(found) for name, found in times.items()}


def processor_ms(job: Callable[[], object], client: Client) -> tuple[float, float]:
    """Return the processor time of a job, least of some groups: of this process, and of workers."""
    found = []
    for _ in range(GROUPS):
        before = time.process_time(), sum(client.run(time.process_time).values())
        for _ in range(ROUNDS):
            job()
        here = time.process_time() - before[0]
        there = sum(client.run(time.process_time).values()) - before[1]
        found.append((here, there))
    here, there = min(found, key=sum)
    return 1e3 * here / ROUNDS, 1e3 * there / ROUNDS


def section_overhead(client: Client, patience: float) -> None:
    scorer = a_scorer()
    blocks = documents_in_blocks(N_ROWS, N_FEATURES, 16)
    rows = sparse.vstack([documents(N_ROWS // 16, N_FEATURES, i) for i in range(16)], format="csr")
    local = sm.as_directions(rows, n_threads=2)
    begin = time.perf_counter()
    there = sm.as_directions(blocks)
    opened = time.perf_counter() - begin
    assert there.n_rows == local.n_rows == N_ROWS
    [one], [other] = local.sweep([scorer]), there.sweep([scorer])
    difference = np.abs(one.vectors - other.vectors).max() / np.abs(one.vectors).max()
    say(
        f"{N_ROWS:,} sparse rows, d = {N_FEATURES:,}, {rows.nnz / N_ROWS:.1f} non-zeros a row, "
        f"K = {K}, 16 blocks"
    )
    say(f"made and opened on the workers in {opened:.1f} s; largest difference {difference:.1e}")
    found = rounds(
        {
            "local engine, 2 threads": lambda: local.sweep([scorer]),
            "2 Dask workers, 1 thread each": lambda: there.sweep([scorer]),
        },
        patience,
    )
    say(f"{'ms a sweep':34}{'least':>8}{'median':>8}")
    for name, times in found.items():
        say(f"{name:34}{times.min():8.0f}{np.median(times):8.0f}")
    least, median = (
        of(found["2 Dask workers, 1 thread each"]) / of(found["local engine, 2 threads"])
        for of in (np.min, np.median)
    )
    say(f"{'ratio':34}{least:8.2f}{median:8.2f}")
    say()
    say(f"{'processor ms a sweep':34}{'client':>8}{'workers':>8}{'sum':>8}")
    sums = []
    for name, rows_of in (("local engine, 2 threads", local), ("2 Dask workers", there)):
        here, far = processor_ms(lambda rows_of=rows_of: rows_of.sweep([scorer]), client)
        say(f"{name:34}{here:8.0f}{far:8.0f}{here + far:8.0f}")
        sums.append(here + far)
    say(f"{'ratio':34}{sums[1] / sums[0]:24.2f}")
    say()


def section_traffic(client: str, patience: float) -> None:
    say(f"Hardly any rows (200 of them): ms a sweep by the size of the scorers, {client}")
    say(f"{'K x d':>20}{'MB':>8}{'least':>8}{'median':>8}")
    for k, d in ((2, 1000), (20, 20_000), (100, 20_000), (100, 100_000), (200, 100_000)):
        directions = sm.as_directions(documents_in_blocks(200, d, 4))
        scorer = Scorer(np.random.default_rng(0).normal(size=(k, d)), np.zeros(k))
        times = rounds({"sweep": lambda d=directions, s=scorer: d.sweep([s])}, patience)["sweep"]
        size = 8 * k * d / 1e6
        say(f"{f'{k} x {d:,}':>20}{size:8.1f}{times.min():8.0f}{np.median(times):8.0f}")
    say()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--patience", type=float, default=20.0, help="seconds, before each round")
    arguments = parser.parse_args()
    patience = arguments.patience
    say(f"{machine()}, dask {dask.__version__}")
    say()
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        with Client(cluster) as client:
            section_overhead(client, patience)
        with Client(cluster):
            section_traffic("Client(...)", patience)
        with Client(cluster, direct_to_workers=True):
            section_traffic("Client(..., direct_to_workers=True)", patience)
    if arguments.save:
        (HERE / "results" / "dask_sweep.txt").write_text("\n".join(LINES))


if __name__ == "__main__":
    main()

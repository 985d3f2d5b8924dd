"""Rows on disk against rows in memory: anonymous memory of a fit, time of a sweep.

Run as ``python benchmarks/blocks.py``; it writes ``benchmarks/results/blocks.txt``. The file of
4 GB is made in the folder for temporary files, or in ``--folder``, and deleted.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
from timing import ROOT, interleaved, machine

import spheremix as sm
from spheremix.scorer import Scorer

ROWS, FEATURES, CENTRES = 4_000_000, 256, 50
FIT = "import blocks, sys; blocks.fit(sys.argv[1], int(sys.argv[2]))"


def write_rows(path, n_rows):
    """Write rows around random centres, 100,000 at a time."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((CENTRES, FEATURES), dtype=np.float32)
    shape = (n_rows, FEATURES)
    file = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
    for start in range(0, n_rows, 100_000):
        part = file[start : start + 100_000]
        part[:] = 2 * rng.standard_normal(part.shape, dtype=np.float32)
        part += centres[rng.integers(CENTRES, size=len(part))]
    file.flush()


def anonymous():
    """Return the anonymous resident memory of this process, in bytes: page cache is not in it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def fit(path, n_components):
    """Fit a mixture to the file, in a process of its own; print the peak of anonymous memory."""
    done, peak = threading.Event(), [0]

    def watch():
        while not done.wait(0.01):
            peak[0] = max(peak[0], anonymous())

    watcher = threading.Thread(target=watch)
    before = anonymous()
    watcher.start()
    begin = time.perf_counter()
    mixture = sm.VMFMixture(
        n_components, init="random", n_init=1, max_iter=20, tol=1e-4, random_state=0
    )
    mixture.fit(path)
    seconds = time.perf_counter() - begin
    done.set()
    watcher.join()
    print(
        f"  K = {n_components:3d}: peak {peak[0] / 2**20:5.0f} MiB ({before / 2**20:.0f} before), "
        f"{mixture.n_iter_} iterations and labels in {seconds:.0f} s"
    )


def memory(path, out):
    print("anonymous resident memory of VMFMixture.fit on the file", file=out)
    for n_components in (10, 50):
        command = [sys.executable, "-W", "ignore", "-c", FIT, str(path), str(n_components)]
        run = subprocess.run(  # noqa: S603
            command, cwd=ROOT / "benchmarks", capture_output=True, text=True, check=True
        )
        print(run.stdout, end="", file=out)


def speed(path, out):
    rng = np.random.default_rng(1)
    whole = sm.as_directions(np.array(np.load(path, mmap_mode="r")))
    blocks = sm.as_directions(path)
    print("seconds a soft sweep, page cache warm", file=out)
    for n_components in (2, 10, 50):
        matrix = 100 * whole.take(rng.integers(whole.n_rows, size=n_components))
        scorer = Scorer(matrix, np.zeros(n_components))
        one, other = whole.sweep([scorer])[0], blocks.sweep([scorer])[0]
        same = np.array_equal(one.vectors, other.vectors) and np.array_equal(one.mass, other.mass)
        best = interleaved(
            {"memory": partial(whole.sweep, [scorer]), "blocks": partial(blocks.sweep, [scorer])},
            rounds=3,
        )
        print(
            f"  K = {n_components:2d}: in memory {best['memory']:.2f}, disk {best['blocks']:.2f}, "
            f"{best['memory'] / best['blocks']:.0%} of the throughput, same bits: {same}",
            file=out,
        )


def cold(path, out):
    """Time a sweep after the file has left the page cache."""
    blocks = sm.as_directions(path)
    scorer = Scorer(100 * blocks.take(np.arange(50)), np.zeros(50))
    handle = os.open(path, os.O_RDONLY)
    os.fsync(handle)
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(handle)
    begin = time.perf_counter()
    blocks.sweep([scorer])
    print(f"page cache cold, K =  50: {time.perf_counter() - begin:.2f}", file=out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "rows.npy"
        write_rows(path, options.rows)
        with (ROOT / "benchmarks" / "results" / "blocks.txt").open("w") as out:
            print(machine(), file=out)
            print(f"{options.rows:,} x {FEATURES} float32, {path.stat().st_size:,} bytes", file=out)
            for part in (memory, speed, cold):
                part(path, out)
                out.flush()


if __name__ == "__main__":
    main()

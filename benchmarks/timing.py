"""What the benchmarks share: data, the machine's name, interleaved rounds."""

from __future__ import annotations

import os
import platform
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("SPHEREMIX_DATA", ROOT.parent / "shared" / "data"))
EMBEDDINGS = Path(os.environ.get("SPHEREMIX_EMBEDDINGS", DATA / "embeddings"))


def machine() -> str:
    """Name the CPU and the number of cores."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line for line in info.read_text().splitlines() if "model name" in line]
        name = models[0].split(":")[1].strip() if models else name
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}"


def interleaved(
    jobs: dict[str, Callable[[], object]], rounds: int = 7, inner: int = 1
) -> dict[str, float]:
    """Return the least seconds of each job over rounds in which every job has its turn."""
    best = dict.fromkeys(jobs, np.inf)
    for job in jobs.values():
        job()
    for _ in range(rounds):
        for name, job in jobs.items():
            begin = time.perf_counter()
            for _ in range(inner):
                job()
            best[name] = min(best[name], (time.perf_counter() - begin) / inner)
    return best


def load_cstr() -> tuple[sparse.csr_array, np.ndarray]:
    """Return the CSTR abstracts and their classes."""
    X = sparse.csr_array(sparse.load_npz(DATA / "cstr" / "X.npz").astype(np.float64))
    return X, np.load(DATA / "cstr" / "labels.npy")


def load_newsgroups() -> sparse.csr_array:
    """Return 20 newsgroups as tf-idf."""
    from sklearn.feature_extraction.text import TfidfTransformer  # noqa: PLC0415

    counts = sparse.load_npz(DATA / "ng20_bydate_cai" / "X.npz").astype(np.float64)
    return sparse.csr_array(TfidfTransformer().fit_transform(counts))

"""What the studies share: cases, a cache that survives a kill, two processes, result tables.

A study is a module with

- ``NAME``, ``VERSION`` (raised when its results change), ``SEEDS`` (in words);
- ``cases(scale)``: a list of small dicts, each of them all that its result depends on;
- ``solve(case)``: a dict from the name of a table to a list of rows, which are dicts of scalars.

The result of each case is written to the cache in one move as soon as it is known. What is in the
cache is not computed again, so a killed run goes on where it was; results of other code than the
present one do not count.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import importlib
import json
import math
import multiprocessing
import os
import platform
import sys
import time
import warnings
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
import sklearn
from sklearn.exceptions import ConvergenceWarning

import spheremix as sm

if TYPE_CHECKING:
    from collections.abc import Iterator

    Case = dict[str, Any]
    Row = dict[str, Any]
    Tables = dict[str, list[Row]]

HERE = Path(__file__).parent
CACHE, RESULTS = HERE / "cache", HERE / "results"
WORKERS = 2
DIGITS = 9  # significant ones, in the tables
ENGINE = (
    "[a-z]*.py",
    "_optional.py",
    "_kernels*",
    "data/*.py",
    "datasets/*.py",
    "estimators/*.py",
    "models/*.py",
)
QUIET = 5.0  # seconds between two lines of progress


def repetitions(scale: float, full: int) -> int:
    """Return how many repetitions of a full number a scale stands for; two is the least."""
    return max(2, round(scale * full))


def is_sketch(scale: float, full: int) -> bool:
    """Return whether a scale asks for less than one repetition: then cases are made smaller too."""
    return scale * full < 1.0


def run(
    module: str,
    scale: float,
    *,
    results: Path = RESULTS,
    cache: Path = CACHE,
    workers: int = WORKERS,
) -> None:
    """Solve the cases of a study that the cache does not have, and write its tables."""
    study = importlib.import_module(module)
    cases = study.cases(scale)
    folder = cache / study.NAME
    folder.mkdir(parents=True, exist_ok=True)
    jobs = [(module, case, str(_place(folder, study, case))) for case in cases]
    missing = [job for job in jobs if not Path(job[2]).exists()]
    begin, known = time.monotonic(), len(jobs) - len(missing)
    spoken = -math.inf
    for done, _ in enumerate(_work(missing, workers), 1):
        spent = time.monotonic() - begin
        if spent - spoken >= QUIET or done == len(missing):
            spoken = spent
            left = spent / done * (len(missing) - done)
            print(
                f"{study.NAME}: {known + done}/{len(jobs)} cases, {_duration(left)} left",
                file=sys.stderr,
                flush=True,
            )
    found = [json.loads(Path(place).read_text(encoding="utf-8")) for _, _, place in jobs]
    _write_tables(study.NAME, [entry["tables"] for entry in found], results)
    seconds = sum(entry["seconds"] for entry in found)
    _write_json(results / f"{study.NAME}.json", _record(study, scale, len(cases), seconds, workers))


def _work(jobs: list[tuple[str, Case, str]], workers: int) -> Iterator[None]:
    """Do the jobs here, or in processes of their own, in any order."""
    if workers <= 1 or len(jobs) <= 1:
        yield from map(_job, jobs)
        return
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        yield from pool.imap_unordered(_job, jobs)


def _job(job: tuple[str, Case, str]) -> None:
    module, case, place = job
    begin = time.perf_counter()
    with warnings.catch_warnings():
        # Runs that stop at max_iter, and restarts that fail, are counted in the tables.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message=".* restarts of .* failed")
        tables = importlib.import_module(module).solve(case)
    seconds = time.perf_counter() - begin
    _write_json(Path(place), {"case": case, "seconds": seconds, "tables": tables})


def _place(folder: Path, study: Any, case: Case) -> Path:
    identity = json.dumps([study.VERSION, fingerprint(), case], sort_keys=True)
    return folder / f"{hashlib.sha256(identity.encode()).hexdigest()[:20]}.json"


@lru_cache(maxsize=1)
def fingerprint() -> str:
    """Return hash of the code that fits models: results of other code are not taken for its own."""
    package = Path(sm.__file__).parent
    files = [path for name in ENGINE for path in sorted(package.glob(name))]
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _write_json(path: Path, content: Any) -> None:
    """Write a file in one move: it is there as a whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    draft.write_text(json.dumps(content, indent=1, default=_plain) + "\n", encoding="utf-8")
    draft.replace(path)


def _plain(value: Any) -> Any:
    """Return the Python number of a NumPy one."""
    return value.item()


def _write_tables(name: str, parts: list[Tables], results: Path) -> None:
    """Write each table as a CSV file, in the order of the cases."""
    results.mkdir(parents=True, exist_ok=True)
    for table in dict.fromkeys(table for part in parts for table in part):
        rows = [row for part in parts for row in part.get(table, ())]
        path = results / f"{name}_{table}.csv"
        draft = path.with_suffix(".draft")
        with draft.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(rows[0])
            writer.writerows([_cell(value) for value in row.values()] for row in rows)
        draft.replace(path)


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.{DIGITS}g}"
    return value


def _record(study: Any, scale: float, n_cases: int, seconds: float, workers: int) -> dict[str, Any]:
    """Say what a run was: size, seeds, time, versions."""
    return {
        "study": study.NAME,
        "scale": scale,
        "cases": n_cases,
        "seeds": study.SEEDS,
        "seconds": round(seconds, 1),
        "workers": workers,
        "machine": _machine(),
        "code": fingerprint(),
        "versions": {
            "python": platform.python_version(),
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
            "spheremix": sm.__version__,
        },
    }


def _machine() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{math.ceil(seconds)} s"
    return f"{seconds / 60:.1f} min"


def main(module: str, arguments: list[str] | None = None) -> None:
    """Run a study from the command line."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}")
    parser.add_argument(
        "--scale",
        type=float,
        default=1.0,
        help="share of the paper's repetitions; 0 is the least that has every kind of case",
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the tables")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of the finished cases")
    parser.add_argument("--workers", type=int, default=WORKERS, help="processes")
    chosen = parser.parse_args(arguments)
    if not chosen.scale >= 0:
        parser.error("--scale must be at least 0")
    run(
        module,
        chosen.scale,
        results=chosen.results,
        cache=chosen.cache,
        workers=chosen.workers,
    )

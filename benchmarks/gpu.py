"""One sweep on a CUDA device against plain PyTorch, and a whole path against the CPU engine.

Run ``python benchmarks/gpu.py --check`` for everything, the conformance suite on the device first,
or name sections: dense, shapes, sparse, path. ``--save`` writes results/gpu-<device>.txt. Times of
sweeps are from a scorer to its resultants, both in main memory. Without a CUDA device the same runs
on the CPU, on less data. Data of the path: $SPHEREMIX_DATA, else ../shared/data.
"""

from __future__ import annotations

import argparse
import re
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from timing import ROOT, load_newsgroups, machine

import spheremix as sm
from spheremix import _optional
from spheremix.data import torch_gpu
from spheremix.data.torch_gpu import TorchDirections, open_torch
from spheremix.scorer import Scorer
from spheremix.testing import CONTAINERS, ENGINE_CHECKS

if TYPE_CHECKING:
    from collections.abc import Callable

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
LARGE = DEVICE == "cuda"
LINES: list[str] = []


def say(line: str = "") -> None:
    print(line, flush=True)
    LINES.append(line)


def milliseconds(job: Callable[[], object], rounds: int = 7) -> float:
    """Return the least time of a job, the device's work included."""
    best = np.inf
    for _ in range(rounds + 1):
        begin = time.perf_counter()
        job()
        if LARGE:
            torch.cuda.synchronize()
        best = min(best, 1e3 * (time.perf_counter() - begin))
    return best


# ----------------------------------------------------------------------------------- conformance


def check() -> None:
    """Run the suite on the device: as users get it, then with kernels on the smallest rows too."""
    kernels = torch_gpu._kernels(torch.empty(2, 2, device=DEVICE))  # noqa: SLF001
    runs = {"as installed": {}}
    if kernels is not None:
        runs["kernels forced"] = {kernels: {"MIN_FEATURES": 2}}
        many = {kernels.triton_tiles: {"FEW_SLOTS": 0}}
        exact = {kernels.triton_tiles: {"KEPT": 0.0}}
        runs["kernels forced, rows not kept in 16 bits"] = runs["kernels forced"] | exact
        runs["kernels for many components forced"] = runs["kernels forced"] | many
    for name, forced in runs.items():
        before = {
            module: {key: getattr(module, key) for key in new} for module, new in forced.items()
        }
        force(forced)
        done = failed = 0
        for container, contain in CONTAINERS.items():
            for one in ENGINE_CHECKS:
                done += 1
                try:
                    one(make, contain, np.random.default_rng(0))
                except AssertionError as error:
                    failed += 1
                    text = " ".join(str(error).split())
                    say(f"  FAILED {container} {one.__name__}: {text[:300]}")
        say(f"Conformance suite on {DEVICE}, {name}: {done} checks, {failed} failed")
        force(before)
    say()


def force(settings: dict[Any, dict[str, float]]) -> None:
    for module, new in settings.items():
        for key, value in new.items():
            setattr(module, key, value)


def make(X: Any, *, first_row: int = 0, n_threads: int = 1) -> TorchDirections:
    found = open_torch(X, n_threads=n_threads)
    found.first_row = first_row
    return found


# ----------------------------------------------------------------------------------------- dense


def mixture(n: int, d: int, K: int, kappa: float) -> tuple[torch.Tensor, Scorer]:
    random = torch.Generator(device=DEVICE).manual_seed(0)
    on_device: Any = {"device": DEVICE, "generator": random}
    means = torch.nn.functional.normalize(torch.randn(K, d, **on_device))
    X = torch.empty(n, d, device=DEVICE)
    for part in X.split(2**17):
        torch.randn(part.shape, out=part, **on_device)
        part.mul_(0.06).add_(means[torch.randint(K, (len(part),), **on_device)])
    biases = torch.log(0.1 + torch.rand(K, **on_device)).double()
    return X, Scorer(kappa * means.double().cpu().numpy(), biases.cpu().numpy())


def plain(X: torch.Tensor, scorer: Scorer, chunk: int = 2**17) -> tuple[Any, Any]:
    """Two products and a softmax a chunk; the rows are taken as they are."""
    matrix = torch.tensor(scorer.matrix, dtype=X.dtype, device=DEVICE)
    biases = torch.tensor(scorer.biases, dtype=X.dtype, device=DEVICE)
    vectors = torch.zeros(matrix.shape, dtype=torch.float64, device=DEVICE)
    total = torch.zeros((), dtype=torch.float64, device=DEVICE)
    for rows in X.split(chunk):
        scores = torch.addmm(biases, rows, matrix.mT)
        total += torch.logsumexp(scores, 1).sum(dtype=torch.float64)
        vectors += torch.softmax(scores, 1).mT @ rows
    return vectors.cpu(), total.cpu()


def plain_at(X: torch.Tensor, scorer: Scorer, setting: str) -> float:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(setting)
    try:
        return milliseconds(lambda: plain(X, scorer), 3)
    finally:
        torch.set_float32_matmul_precision(before)


def errors(X: torch.Tensor, scorer: Scorer, precision: str) -> tuple[float, float]:
    """Return the error of the vectors, relative to the largest entry, and of a row's likelihood."""
    part = X[:200_000]
    [found] = open_torch(part, precision).sweep([scorer])
    [exact] = open_torch(part.double()).sweep([scorer])
    vectors = np.abs(found.vectors - exact.vectors).max() / np.abs(exact.vectors).max()
    return vectors, abs(found.log_likelihood - exact.log_likelihood) / len(part)


def without_kept_rows(X: torch.Tensor, scorer: Scorer, precision: str) -> tuple[Any, float]:
    """Sweep as where there is no memory for rows in 16 bits: resultants, and milliseconds."""
    kernels = torch_gpu._kernels(X)  # noqa: SLF001
    before = {} if kernels is None else {kernels.triton_tiles: {"KEPT": kernels.triton_tiles.KEPT}}
    force({module: {"KEPT": 0.0} for module in before})
    rows = open_torch(X, precision)
    own = milliseconds(partial(rows.sweep, [scorer]), 15)
    [found] = rows.sweep([scorer])
    force(before)
    return found, own


def section_dense() -> None:
    n, d, K = (4_000_000, 384, 100) if LARGE else (20_000, 384, 100)
    X, scorer = mixture(n, d, K, 60.0)
    soft = Scorer(scorer.matrix / 8, scorer.biases)
    say(f"Dense: float32 {n:,} x {d}, K = {K}, one soft sweep, milliseconds")
    say(f"  opening (norms of the rows): {milliseconds(lambda: open_torch(X), 3):.1f}")
    say(f"{'precision':12}{'plain':>8}{'sweep':>8}{'ratio':>8}{'not kept':>10}"
        f"{'error of vectors':>18}{'nats a row':>12}{'when soft':>12}"
        f"{'nats a row':>12}")  # fmt: skip
    for precision, setting in {"highest": "highest", "tf32": "high", "bf16": "high"}.items():
        base = plain_at(X, scorer, setting)
        rows = open_torch(X, precision)
        own = milliseconds(partial(rows.sweep, [scorer]), 15)
        [one], [two] = rows.sweep([scorer]), rows.sweep([scorer])
        assert np.array_equal(one.vectors, two.vectors)
        assert one.log_likelihood == two.log_likelihood
        exact, slower = without_kept_rows(X, scorer, precision)
        assert np.array_equal(one.vectors, exact.vectors)
        near, far = errors(X, scorer, precision), errors(X, soft, precision)
        say(
            f"{precision:12}{base:8.2f}{own:8.2f}{base / own:7.1f}x{slower:10.2f}{near[0]:18.1e}"
            f"{near[1]:12.1e}{far[0]:12.1e}{far[1]:12.1e}"
        )
    if LARGE:
        say(f"  one copy of the rows on the device: {milliseconds(X.clone, 3):.2f}")
        del rows
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        rows = open_torch(X)
        begin = time.perf_counter()
        rows.sweep([scorer])
        first = 1e3 * (time.perf_counter() - begin)
        grown = torch.cuda.max_memory_allocated() - before
        kept = torch.cuda.memory_allocated() - before
        say(f"  first sweep, which also splits the rows: {first:.1f}")
        say(f"  memory beyond the {X.nbytes / 2**30:.1f} GiB of rows: {kept / 2**30:.1f} GiB for "
            f"rows in 16 bits, {(grown - kept) / 2**20:.0f} MiB in a sweep")  # fmt: skip
    say()


def section_shapes() -> None:
    say("Dense, other shapes: float32, one soft sweep, milliseconds")
    say(f"{'rows':>10}{'d':>6}{'K':>6}{'scorers':>9}{'plain':>8}{'highest':>9}{'tf32':>8}")
    cases = [(2_000_000, 768, 20, 1), (1_000_000, 1024, 100, 1), (2_000_000, 384, 10, 1),
             (2_000_000, 384, 10, 10), (1_000_000, 300, 50, 1), (1_000_000, 384, 200, 1),
             (1_000_000, 384, 500, 1), (1_000_000, 384, 1024, 1),
             (500_000, 384, 4000, 1)]  # fmt: skip
    for n, d, K, copies in cases:
        X, scorer = mixture(n if LARGE else n // 200, d, K, 60.0)
        base = plain_at(X, scorer, "highest") * copies
        scorers = [scorer] * copies
        both = [open_torch(X, precision) for precision in ("highest", "tf32")]
        own = [milliseconds(partial(rows.sweep, scorers), 5) for rows in both]
        exact, near = (rows.sweep(scorers)[0].vectors for rows in both)
        assert np.abs(near - exact).max() <= 1e-2 * np.abs(exact).max()
        say(f"{len(X):10,}{d:6}{K:6}{copies:9}{base:8.2f}{own[0]:9.2f}{own[1]:8.2f}")
        del X, both
    say()


# ---------------------------------------------------------------------------------------- sparse


def section_sparse() -> None:
    n, d, K, per_row = (1_000_000 if LARGE else 20_000), 50_000, 20, 100
    random = torch.Generator(device=DEVICE).manual_seed(0)
    stratum = d // per_row  # each row has one entry in every stratum of columns
    within = torch.randint(stratum, (n, per_row), device=DEVICE, generator=random)
    indices = (within + torch.arange(per_row, device=DEVICE) * stratum).flatten().int()
    pointers = torch.arange(0, n * per_row + 1, per_row, dtype=torch.int32, device=DEVICE)
    values = torch.rand(n * per_row, device=DEVICE, generator=random)
    X = torch.sparse_csr_tensor(pointers, indices, values, (n, d), check_invariants=False)
    numbers = np.random.default_rng(0)
    scorer = Scorer(200 * numbers.normal(size=(K, d)) / d**0.5, np.zeros(K))
    say(f"Sparse: CSR float32 {n:,} x {d:,}, {per_row} non-zeros a row, K = {K}, milliseconds")
    say(f"  opening (norms, copy by columns): {milliseconds(lambda: open_torch(X), 2):.1f}")
    table = torch.randn(d, K, device=DEVICE)
    tall = torch.rand(n, K, device=DEVICE)
    csc = X.to_sparse_csc()
    turned = torch.sparse_csr_tensor(
        csc.ccol_indices(), csc.row_indices(), csc.values(), (d, n), check_invariants=False
    )
    first, second = milliseconds(lambda: X @ table), milliseconds(lambda: turned @ tall)
    softmax = milliseconds(lambda: (torch.softmax(tall, 1), torch.logsumexp(tall, 1)))
    say(f"  torch.sparse: products {first:.2f} and {second:.2f}, softmax {softmax:.2f}")
    del csc
    rows = open_torch(X)
    own = milliseconds(lambda: rows.sweep([scorer]))
    say(f"  one soft sweep: {own:.2f}, ratio {(first + second + softmax) / own:.1f}x")
    hard = Scorer(scorer.matrix, scorer.biases, assignment="hard")
    say(f"  one hard sweep: {milliseconds(lambda: rows.sweep([hard])):.2f}")
    [one], [two] = rows.sweep([scorer]), rows.sweep([scorer])
    assert np.array_equal(one.vectors, two.vectors)
    say()


# ------------------------------------------------------------------------------------------ path


def section_path() -> None:
    X = load_newsgroups()
    X = X[np.diff(X.indptr) > 0]
    dense = sm.VMFMixture(20, init="random", n_init=1, random_state=0).fit(X)
    say(f"Beta path: 20 newsgroups tf-idf {X.shape}, {X.nnz:,} non-zeros, K = 20, increase 0.05")
    say(f"{'engine':34}{'seconds':>9}{'steps':>7}{'iterations':>12}{'one sweep, ms':>15}")
    cpu = "compiled" if _optional.kernels is not None else "reference"
    engines = {
        f"torch on {DEVICE}, float64": ("torch", X),
        f"torch on {DEVICE}, float32": ("torch", X.astype(np.float32)),
        f"{cpu}, float64": (cpu, X),
    }
    model = sm.VMFPath(20, init=dense, min_relative_increase=0.05)
    for name, (engine, rows) in engines.items():
        directions = sm.as_directions(rows, engine=engine)
        begin = time.perf_counter()
        path = model.fit(directions)
        seconds = time.perf_counter() - begin
        sweep = milliseconds(partial(directions.sweep, [dense.scorer_]), 20)
        say(f"{name:34}{seconds:9.2f}{len(path.betas_):7}{path.n_iters_.sum():12}{sweep:15.2f}")
    say()


SECTIONS = {
    "dense": section_dense,
    "shapes": section_shapes,
    "sparse": section_sparse,
    "path": section_path,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[[], *SECTIONS], default=[])
    parser.add_argument("--check", action="store_true", help="the conformance suite first")
    parser.add_argument("--save", action="store_true", help="write results/gpu-<device>.txt")
    arguments = parser.parse_args()
    device = torch.cuda.get_device_name() if LARGE else "CPU"
    say(f"{device}; {machine()}; torch {torch.__version__}")
    say()
    if arguments.check:
        check()
    for name in arguments.sections or SECTIONS:
        SECTIONS[name]()
    if arguments.save:
        name = re.sub(r"[^a-z0-9]+", "-", device.lower())
        target = ROOT / "benchmarks" / "results" / f"gpu-{name}.txt"
        target.write_text("\n".join(LINES))


if __name__ == "__main__":
    main()

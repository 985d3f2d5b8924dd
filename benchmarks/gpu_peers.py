"""Spherical k-means and mixtures on a CUDA device: flash-kmeans, plain PyTorch, ours.

Run ``python benchmarks/gpu_peers.py`` (``--save`` writes results/gpu_peers-<device>.md; ``--only
hard soft fits`` names sections; ``--grid`` adds 25 shapes to the four, and ``--seconds 330`` leaves
out those that begin later; the file names them). flash-kmeans is imported if
it is installed, or from a wheel in build/peers: ``pip download --no-deps -d build/peers
flash-kmeans``. All start from the same prototypes on the same unit rows, in float32 and in float16.
A time is the least of several, each the time of some more iterations, divided by their number: a
reading of all rows, and new prototypes. Ours takes the sums to main memory and normalises them
there, as fits do. "tf32" has factors of products with the bits of TF32, as flash-kmeans has for
float32 rows.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from timing import ROOT

import spheremix as sm
from spheremix.data.torch_gpu import open_torch
from spheremix.scorer import Scorer

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Iterate: TypeAlias = Callable[[int], np.ndarray]

FOUR = [
    (4_000_000, 384, 100),
    (1_000_000, 384, 500),
    (1_000_000, 384, 1024),
    (8_000_000, 128, 1024),
]
GRID = [(1_000_000, d, K) for d in (64, 128, 384, 768, 1024) for K in (20, 200, 1024, 4096, 16_384)]
ITERATIONS = 10
FIT = (10_000_000, 384, 1000)


def rows_of(n: int, d: int, K: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return unit rows around random means, and the rows where all methods start."""
    random = torch.Generator(device="cuda").manual_seed(0)
    on_device: Any = {"device": "cuda", "generator": random}
    means = torch.nn.functional.normalize(torch.randn(K, d, **on_device))
    X = torch.empty(n, d, device="cuda")
    for part in X.split(2**17):
        torch.randn(part.shape, out=part, **on_device)
        part.mul_(0.06).add_(means[torch.randint(K, (len(part),), **on_device)])
        torch.nn.functional.normalize(part, out=part)
    return X, X[torch.randperm(n, **on_device)[:K]].clone()


def ours(precision: str, dtype: torch.dtype = torch.float32) -> Callable[..., Iterate]:
    def run(X: torch.Tensor, start: torch.Tensor) -> Iterate:
        rows, zeros = open_torch(X.to(dtype), precision), np.zeros(len(start))

        def iterate(count: int) -> np.ndarray:
            means = start.double().cpu().numpy()
            for _ in range(count):
                [found] = rows.sweep([Scorer(means, zeros, assignment="hard")])
                lengths = np.linalg.norm(found.vectors, axis=1, keepdims=True)
                means = np.divide(found.vectors, lengths, out=means, where=lengths > 0)
            return means

        return iterate

    return run


def plain(X: torch.Tensor, start: torch.Tensor) -> Iterate:
    """Multiply, take the largest entries, and add by index, in chunks."""

    def iterate(count: int) -> np.ndarray:
        means = start
        for _ in range(count):
            sums = torch.zeros_like(means)
            for part in X.split(max(1024, 2**28 // len(means))):
                sums.index_add_(0, (part @ means.mT).argmax(1), part)
            means = torch.nn.functional.normalize(sums)
        return means.cpu().numpy()

    return iterate


def flash(dtype: torch.dtype) -> Callable[..., Iterate]:
    def run(X: torch.Tensor, start: torch.Tensor) -> Iterate:
        from flash_kmeans import batch_kmeans_Cosine  # noqa: PLC0415

        X, start = X.to(dtype)[None], start.to(dtype)[None]

        def iterate(count: int) -> np.ndarray:
            found = batch_kmeans_Cosine(
                X, start.shape[1], max_iters=count, tol=-1.0, init_centroids=start
            )
            return found[1][0].double().cpu().numpy()

        return iterate

    return run


METHODS = {
    "flash-kmeans, float32": flash(torch.float32),
    "flash-kmeans, float16": flash(torch.float16),
    "plain PyTorch, TF32": plain,
    "ours, tf32": ours("tf32"),
    "ours, highest": ours("highest"),
    "ours, float16 rows, tf32": ours("tf32", torch.float16),
}
KAPPA = 40.0


def soft_ours(precision: str) -> Callable[..., Iterate]:
    def run(X: torch.Tensor, start: torch.Tensor) -> Iterate:
        rows = open_torch(X, precision)
        scorer = Scorer(KAPPA * start.double().cpu().numpy(), np.zeros(len(start)))

        def iterate(count: int) -> np.ndarray:
            for _ in range(count):
                [found] = rows.sweep([scorer])
            return found.vectors

        return iterate

    return run


def soft_plain(X: torch.Tensor, start: torch.Tensor) -> Iterate:
    """Multiply, take the softmax, and multiply, in chunks."""

    def iterate(count: int) -> np.ndarray:
        for _ in range(count):
            sums = torch.zeros_like(start)
            for part in X.split(max(1024, 2**28 // len(start))):
                sums += torch.softmax(KAPPA * (part @ start.mT), 1).mT @ part
        return sums.cpu().numpy()

    return iterate


SOFT = {
    "plain PyTorch, TF32": soft_plain,
    "ours, tf32": soft_ours("tf32"),
    "ours, highest": soft_ours("highest"),
}


def measure(iterate: Iterate, count: int, rounds: int = 2) -> tuple[float, np.ndarray]:
    """Return milliseconds of an iteration, and the prototypes after some."""

    def seconds(count: int) -> float:
        torch.cuda.synchronize()
        begin = time.perf_counter()
        iterate(count)
        torch.cuda.synchronize()
        return time.perf_counter() - begin

    means = iterate(count)
    least = [min(seconds(some) for _ in range(rounds)) for some in (1, 1 + count)]
    return 1e3 * (least[1] - least[0]) / count, means


def cosine(X: torch.Tensor, means: np.ndarray) -> float:
    """Return the mean cosine of a part of the rows with their nearest prototype."""
    directions = torch.nn.functional.normalize(torch.tensor(means, device="cuda").double())
    return float((X[:50_000].double() @ directions.mT).amax(1).mean())


def table(
    title: str, methods: dict[str, Any], shapes: list[tuple[int, int, int]], seconds: float = np.inf
) -> list[str]:
    """Measure each method on each shape; name the shapes that would begin after some seconds."""
    begin, late = time.perf_counter(), []
    lines = [f"## {title}", "", "| rows x d, K | " + " | ".join(methods) + " |"]
    lines.append("|---|" + "---|" * len(methods))
    print("\n".join(lines), flush=True)
    for n, d, K in shapes:
        if time.perf_counter() - begin > seconds:
            late.append(f"{d} with K = {K:,}")
            continue
        X, start = rows_of(n, d, K)
        cells = []
        for method in methods.values():
            try:
                milliseconds, means = measure(method(X, start), 3 if K > 4000 else ITERATIONS)
                cells.append(f"{milliseconds:.2f} ({cosine(X, means):.4f})")
            except Exception as error:  # noqa: BLE001
                cells.append(f"fails: {type(error).__name__}")
            torch.cuda.empty_cache()
        lines.append(f"| {n:,} x {d}, {K:,} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
        del X, start
    if late:
        lines += ["", f"Stopped after {seconds:.0f} s. Dimensions not reached: {', '.join(late)}."]
    return [*lines, ""]


def fits() -> list[str]:
    """Time whole fits of the estimators, with what they need of memory beside the rows."""
    n, d, K = FIT
    lines = [f"## Whole fits of {n:,} x {d}, K = {K:,}, all defaults", ""]
    lines += ["| | float32 rows | float16 rows |", "|---|---|---|"]
    cells: dict[str, list[str]] = {"SphericalKMeans": [], "VMFMixture": []}
    X = rows_of(n, d, K)[0]
    for _ in range(2):
        for name, found in cells.items():
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
            before, begin = torch.cuda.memory_allocated(), time.perf_counter()
            fitted = getattr(sm, name)(K, random_state=0).fit(X)
            seconds = time.perf_counter() - begin
            above = (torch.cuda.max_memory_allocated() - before) / 2**30
            found.append(f"{seconds:.1f} s, {above:.1f} GiB beside the rows")
            print(name, X.dtype, found[-1], flush=True)
            del fitted
        X = X.half()
    lines += [f"| {name} | " + " | ".join(found) + " |" for name, found in cells.items()]
    return [*lines, ""]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--grid", action="store_true")
    parser.add_argument("--seconds", type=float, default=np.inf)
    parser.add_argument("--only", nargs="+", choices=["hard", "soft", "fits"])
    arguments = parser.parse_args()
    wanted = arguments.only or ["hard", "soft", "fits"]
    sys.path += [str(wheel) for wheel in (ROOT / "build" / "peers").glob("*.whl")]
    torch.set_float32_matmul_precision("high")
    name = torch.cuda.get_device_name()
    file = ROOT / "benchmarks" / "results" / f"gpu_peers-{name.lower().replace(' ', '-')}.md"
    lines = [
        f"# Grouping by direction on one {name}",
        "",
        f"`python benchmarks/{' '.join([Path(sys.argv[0]).name, *sys.argv[1:]])}`,",
        f"torch {torch.__version__}. Milliseconds; in brackets the mean cosine of 50,000 rows with",
        "their nearest prototype in the end.",
        "",
    ]
    parts: dict[str, Callable[[], list[str]]] = {
        "fits": fits,
        "hard": lambda: table(
            "One hard iteration",
            METHODS,
            FOUR + (GRID if arguments.grid else []),
            arguments.seconds,
        ),
        "soft": lambda: table("One soft sweep", SOFT, FOUR),
    }
    for part in wanted:
        lines += parts[part]()
        if arguments.save:
            file.write_text("\n".join(lines).rstrip() + "\n")


if __name__ == "__main__":
    main()

"""Call every entry point of the extension with wrong arguments, under ASan and UBSan.

`make fuzz` runs it: the extension is built with both sanitizers in a folder of its own, and loaded
without the package. A call begins as a good one; then some of its arguments are changed: types,
shapes, strides, alignment, negative and huge integers, NaN, nothing at all, rows that are not
there, pointers that decrease, and arrays that change after they were opened. It has to return, or
to raise an error that a kernel may raise. Each call is made of the seed and its number alone:
`--call N` does one again.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import signal
import subprocess
import sys
import sysconfig
import warnings
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
# The flags of setup.py, with less optimisation.
FLAGS = (
    *("-std=c++17", "-O1", "-g1", "-ffp-contract=off", "-fno-math-errno", "-fvisibility=hidden"),
    *("-pthread", "-Wno-psabi", "-fPIC", "-fno-omit-frame-pointer"),
    *("-fsanitize=address,undefined", "-fno-sanitize-recover=all"),
)
LIBRARIES = ("libasan.so", "libubsan.so", "libstdc++.so")  # before the interpreter's own
LEVELS = ("", "avx2", "baseline")  # the best one, and lesser ones
SECONDS = 120  # of one call: more is a call that hangs
REFUSALS = (ValueError, TypeError, IndexError, MemoryError)

Args = dict[str, Any]


class Made:
    """An argument of a class of the extension, which is made of arguments itself."""

    def __init__(self, kind: str, **args: Any) -> None:
        self.kind, self.args = kind, args


# ------------------------------------------------------------------------------------ good calls


def some(rng: np.random.Generator, *choices: Any) -> Any:
    """Return one of several things."""
    return choices[int(rng.integers(len(choices)))]


def sizes(rng: np.random.Generator) -> tuple[int, int, int]:
    """Return numbers of rows, columns and components, on either side of the sizes of blocks."""
    if rng.random() < 0.02:
        return 1100, 20, 64  # work for several threads
    n = int(some(rng, 0, 1, 2, 3, 5, 63, 64, 65, 127, 129, 300))
    return n, int(some(rng, 1, 2, 3, 7, 8, 9, 16, 17, 40, 65)), int(rng.integers(1, 40))


def threads(rng: np.random.Generator) -> int:
    """Return a number of threads."""
    return int(some(rng, 1, 1, 2, 3))


def dense(rng: np.random.Generator, n: int, d: int) -> Args:
    """Return dense rows in some order, and their scale."""
    X = rng.normal(size=(n, d)).astype(some(rng, np.float32, np.float64))
    views = (X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], X[::-1])
    return {"x": some(rng, *views), "scale": rng.random(n) + 0.1}


def csr(rng: np.random.Generator, n: int, d: int) -> Args:
    """Return the arrays of a CSR matrix, perhaps with room around its entries, and their scale."""
    index = some(rng, np.int32, np.int64)
    rows = [np.flatnonzero(rng.random(d) < rng.random()) for _ in range(n)]
    indices = np.concatenate([np.zeros(0, int), *rows, np.arange(int(rng.integers(3))) % d])
    stops = np.cumsum([0, *map(len, rows)])
    data = rng.normal(size=len(indices)).astype(some(rng, np.float32, np.float64))
    return {
        "indptr": stops.astype(index),
        "indices": indices.astype(index),
        "data": data,
        "scale": rng.random(n) + 0.1,
    }


def scorers(rng: np.random.Generator, n: int, d: int, n_groups: int) -> Made:
    """Return ``n`` stacked components of so many scorers."""
    cuts = np.sort(rng.choice(np.arange(1, n), n_groups - 1, replace=False))
    return Made(
        "ScorerArrays",
        matrix=rng.normal(size=(n, d)) * (rng.random(d) < some(rng, 0.3, 1.0)) * some(rng, 1, 30),
        biases=rng.normal(size=n),
        begin=np.array([0, *cuts, n], dtype=np.int64),
        assignments=rng.integers(0, 4, n_groups).astype(np.int32),
        keys=rng.integers(0, 2**63, (n_groups, 2)).astype(np.uint64),
        offsets=rng.normal(size=n_groups),
        pulls=rng.random((n, 2)),
    )


def listed(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return some rows in rising order."""
    return np.flatnonzero(rng.random(n) < 0.5).astype(np.int64)


def sweep(rng: np.random.Generator, module: Any, *, is_sparse: bool) -> Args:
    """Return the arguments of a sweep."""
    n, d, K = sizes(rng)
    S = int(rng.integers(1, min(K, 3) + 1))
    lanes = () if is_sparse else (module.dense_lanes(K, d),)
    args = csr(rng, n, d) if is_sparse else dense(rng, n, d)
    args |= {
        "first_row": int(some(rng, 0, 1, 128, 1000)),
        "scorers": scorers(rng, K, d, S),
        "weights": some(rng, None, rng.random(n), rng.random((S, n))),
        "negligible": float(some(rng, 0.0, 1e-16, 1e-9)),
        "vectors": np.zeros((*lanes, K, d)),
        "mass": np.zeros((*lanes, K)),
        "totals": np.zeros((*lanes, S, 2)),
        "in_double": bool(rng.integers(2)),
        "n_threads": threads(rng),
    }
    if rng.random() < 0.5:
        args["rows"] = some(rng, None, listed(rng, n))
        args["margins"] = np.zeros((S, n))
        args["owners"] = np.full((S, n), -1, dtype=np.int32)
        args["clear"] = float(some(rng, np.inf, 0.1))
    return args


def add(rng: np.random.Generator, _: Any, *, is_sparse: bool) -> Args:
    """Return the arguments that add listed rows to sums."""
    n, d, K = sizes(rng)
    rows = rng.integers(0, n, some(rng, 1, 10, 600)) if n else np.zeros(0, np.int64)
    return (csr(rng, n, d) if is_sparse else dense(rng, n, d)) | {
        "rows": rows,
        "owners": rng.integers(0, K, len(rows)).astype(np.int32),
        "factors": rng.normal(size=len(rows)),
        "vectors": np.zeros((K, d)),
        "mass": np.zeros(K),
        "n_threads": threads(rng),
    }


def wanted(rng: np.random.Generator, n: int, K: int) -> Args:
    """Return what is wanted of the rows, and room for it."""
    want = int(rng.integers(4))
    out = np.zeros((n, K) if want in {1, 2} else n, np.int64 if want == 0 else np.float64)
    return {"want": want, "out": out, "in_double": bool(rng.integers(2)), "n_threads": threads(rng)}


def map_rows(rng: np.random.Generator, _: Any, *, is_sparse: bool) -> Args:
    """Return the arguments of what a scorer says of rows."""
    n, d, K = sizes(rng)
    args = csr(rng, n, d) if is_sparse else dense(rng, n, d)
    return args | {"first_row": 3, "scorers": scorers(rng, K, d, 1)} | wanted(rng, n, K)


def near(rng: np.random.Generator, module: Any) -> Args:
    """Return the arguments of a sweep over components in groups."""
    n, d, K = sizes(rng)
    size = module.NEAR_MULTIPLE * int(rng.integers(1, 3))
    n_groups = -(-K // size) + int(rng.integers(2))
    far = np.full(size * int(rng.integers(2)), -1, dtype=np.int32)
    chosen = rng.permutation(K)[: int(rng.integers(0, len(far) + 1))]
    far[: len(chosen)] = chosen
    members = np.full(n_groups * size, -1, dtype=np.int32)
    members[:K] = rng.permutation(K)
    place = np.argsort(members[:K]).astype(np.int32)
    members = np.concatenate([members, far])
    arrays = Made(
        "NearArrays",
        matrix=rng.normal(size=(len(members), d)) * (members >= 0)[:, None],
        biases=rng.normal(size=len(members)),
        members=members,
        place=place,
        moved=rng.random(K) < 0.5,
        lost=rng.random(K),
        grown=rng.random(n_groups),
        beyond=rng.random(len(far)),
        eagerness=float(some(rng, 1.0, 4.0)),
        rounding=1e-9,
        rounding_before=1e-9,
        bounds=rng.normal(size=(n_groups, n)).astype(np.float32),
        scores=rng.normal(size=n),
        known=rng.random(n) < 0.5,
        owners=rng.integers(0, K, n).astype(np.int32),
    )
    weights = some(rng, None, rng.random(n) * (rng.random(n) < 0.8))
    ways = {"in_double": bool(rng.integers(2)), "n_threads": threads(rng)}
    return dense(rng, n, d) | {"arrays": arrays, "weights": weights} | ways


def vectors(rng: np.random.Generator, K: int, d: int) -> Made:
    """Return sparse vectors."""
    rows = [np.flatnonzero(rng.random(d) < rng.random()) for _ in range(K)]
    return Made(
        "SparseVectors",
        indptr=np.cumsum([0, *map(len, rows)]).astype(np.int64),
        indices=np.concatenate(rows).astype(np.int32),
        values=rng.normal(size=sum(map(len, rows))),
        n_features=d,
    )


def sweep_columns(rng: np.random.Generator, _: Any) -> Args:
    """Return the arguments of a sweep over sparse components."""
    n, d, K = sizes(rng)
    everybody = rng.random() < 0.5
    return csr(rng, n, d) | {
        "vectors": vectors(rng, K, d),
        "biases": rng.normal(size=K),
        "members": np.arange(0 if everybody else int(rng.integers(K)), K, dtype=np.int32),
        "rows": some(rng, None, listed(rng, n)),
        "owners": rng.integers(0, K, n).astype(np.int32),
        "scores": rng.normal(size=n),
        "seconds": rng.normal(size=n),
        "open": np.zeros(n, dtype=bool),
        "pulls": rng.random((K, 2)) if everybody and rng.random() < 0.5 else None,
        "weights": some(rng, None, rng.random(n)),
        "in_double": bool(rng.integers(2)),
        "n_threads": threads(rng),
    }


def map_columns(rng: np.random.Generator, _: Any) -> Args:
    """Return the arguments of what sparse components say of rows."""
    n, d, K = sizes(rng)
    own = {"first_row": 3, "vectors": vectors(rng, K, d), "biases": np.zeros(K), "offset": 0.5}
    return csr(rng, n, d) | own | wanted(rng, n, K)


def sum_columns(rng: np.random.Generator, _: Any) -> Args:
    """Return the arguments of sums by owner."""
    n, d, K = sizes(rng)
    return csr(rng, n, d) | {
        "owners": rng.integers(0, K, n).astype(np.int32),
        "weights": some(rng, None, rng.random(n) * (rng.random(n) < 0.8)),
        "n_components": K,
        "n_features": d,
        "n_threads": threads(rng),
    }


def two_sparse(rng: np.random.Generator, _: Any) -> Args:
    """Return two times as many sparse vectors."""
    _, d, K = sizes(rng)
    return {"a": vectors(rng, K, d), "b": vectors(rng, K, d)}


def two_matrices(rng: np.random.Generator, _: Any) -> Args:
    """Return two matrices of one shape, some of them large enough for several threads."""
    K, d = (40, 2000) if rng.random() < 0.02 else sizes(rng)[:2]
    return {"a": rng.normal(size=(K, d)), "b": rng.normal(size=(K, d)), "n_threads": threads(rng)}


def maximise(rng: np.random.Generator, _: Any) -> Args:
    """Return the arguments of the M-step."""
    d, K = sizes(rng)[1:]
    return {
        "vectors": rng.normal(size=(K, d)),
        "mass": 5.0 + 10.0 * rng.random(K),
        "beta": float(some(rng, 0.0, 0.5, 20.0)),
        "weights": some(rng, None, rng.random(d) + 0.1),
        "mode": some(rng, "shared", "free", "given"),
        "kappas": 10.0 * rng.random(K),
        "kappa_max": 1e6,
        "prior_mass": float(some(rng, 0.0, 1.0)),
        "prior_length": float(some(rng, 0.0, 0.5)),
        "old_prototypes": rng.normal(size=(K, d)),
        "n_threads": threads(rng),
    }


def bessel(rng: np.random.Generator, _: Any) -> Args:
    """Return two numbers, of which the second is a share or any number."""
    return {"d": float(rng.integers(2, 5000)), "x": float(some(rng, rng.random(), 50.0, 1e7))}


def largest(rng: np.random.Generator, _: Any) -> Args:
    """Return the arguments of the largest numbers of each row."""
    n, d, _K = sizes(rng)
    return {
        "values": rng.normal(size=(n, d + 1)).astype(np.float32),
        "own": rng.integers(-1, d + 1, n),
        "k": int(rng.integers(1, d + 1)),
    }


def density(rng: np.random.Generator, _: Any) -> Args:
    """Return the arguments of masses that are spread over a grid."""
    n, n_nodes = sizes(rng)[0], int(rng.integers(4, 40))
    step = float(some(rng, 0.1, 1.0, 3.0))
    return {
        "places": -2.0 + (n_nodes - 3) * step * rng.random((n, 2)),
        "masses": rng.random(n) + 0.1,
        "low_x": -2.0,
        "low_y": -2.0,
        "step": step,
        "n_nodes": n_nodes,
        "n_threads": threads(rng),
    }


def map_step(rng: np.random.Generator, module: Any) -> Args:
    """Return the arguments of one step of all points of a map."""
    args = density(rng, module)
    n, n_nodes = len(args["masses"]), args.pop("n_nodes")
    near = [np.flatnonzero(rng.random(n) < 0.1) for _ in range(n)]
    indices = np.concatenate([np.zeros(0, int), *near]).astype(np.int32)
    place = {key: args.pop(key) for key in ("places", "masses")}
    how = {name: float(rng.random()) for name in ("pull", "push", "momentum", "rate", "longest")}
    return {
        **place,
        "indptr": np.cumsum([0, *map(len, near)]),
        "indices": indices,
        "strengths": rng.random(len(indices)),
        "field_x": rng.normal(size=(n_nodes, n_nodes)),
        "field_y": rng.normal(size=(n_nodes, n_nodes)),
        **{key: args[key] for key in ("low_x", "low_y", "step")},
        **how,
        "velocity": rng.normal(size=(n, 2)),
        "gains": rng.random((n, 2)),
        "n_threads": args["n_threads"],
    }


GOOD: dict[str, Any] = {
    "ScorerArrays": lambda rng, _: scorers(rng, 5, 3, 2).args,
    "NearArrays": lambda rng, module: near(rng, module)["arrays"].args,
    "SparseVectors": lambda rng, _: vectors(rng, *sizes(rng)[1:]).args,
    "sweep_sparse": lambda rng, module: sweep(rng, module, is_sparse=True),
    "sweep_dense": lambda rng, module: sweep(rng, module, is_sparse=False),
    "add_sparse": lambda rng, module: add(rng, module, is_sparse=True),
    "add_dense": lambda rng, module: add(rng, module, is_sparse=False),
    "map_sparse": lambda rng, module: map_rows(rng, module, is_sparse=True),
    "map_dense": lambda rng, module: map_rows(rng, module, is_sparse=False),
    "near_dense": near,
    "sweep_columns": sweep_columns,
    "map_columns": map_columns,
    "sum_columns": sum_columns,
    "sparse_dots": two_sparse,
    "sparse_differ": two_sparse,
    "distances": two_matrices,
    "dots": two_matrices,
    "maximise": maximise,
    "dense_lanes": lambda rng, _: {"n_components": sizes(rng)[2], "n_features": sizes(rng)[1]},
    "log_normalizer": bessel,
    "mean_length": bessel,
    "mean_length_gap": bessel,
    "concentration": bessel,
    "largest": largest,
    "map_density": density,
    "map_step": map_step,
    "simd_level": lambda _rng, _module: {},
}
RARE = ("simd_level", "dense_lanes", "log_normalizer", "mean_length", "mean_length_gap")

# --------------------------------------------------------------------------------- wrong arguments

# No size that is allowed and asks for gigabytes: numbers of threads to 16, of features to 1,000.
INTEGERS = (
    *(-1, 0, 1, 2, 3, 127, 128, 129, 1000, -127, -128, -129, -(2**31), 2**31, 2**31 + 1),
    *(2**32, 2**40, 2**61, 2**62, 2**63 - 1, -(2**63), 2**63, 2**64, 10**30),
)
NUMBERS = (np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, 1e308, -1e308, 5e-324, 1e30, 1e-300)
TYPES = (
    *("f2", "f4", "f8", "g", "i4", "i8", "u4", "u8", "i2", "?", "c16", "O", "S3"),
    *(">f8", ">f4", ">i4", ">i8"),
)


def spoil(a: np.ndarray, rng: np.random.Generator) -> None:
    """Change numbers of an array in place."""
    if not a.size or not a.flags.writeable:
        return
    if a.dtype.kind == "f":
        whole = a if rng.random() < 0.3 else a.flat
        place = ... if whole is a else int(rng.integers(a.size))
        with np.errstate(over="ignore"):
            whole[place] = some(rng, *NUMBERS)
        return
    if a.dtype.kind not in "iu":
        return
    way = int(rng.integers(4))
    if way == 0:
        rng.shuffle(a.reshape(-1))
    elif way == 1:
        a[...] = a[::-1].copy() if a.ndim else a
    else:
        bounds = np.iinfo(a.dtype)
        value = int(some(rng, *INTEGERS, a.size, a.size + 1, *range(-3, 70)))
        a.flat[int(rng.integers(a.size))] = min(max(value, bounds.min), bounds.max)


def unaligned(a: np.ndarray) -> np.ndarray:
    """Copy an array to an odd address."""
    if a.dtype.kind == "O":
        return a
    memory = np.zeros(a.nbytes + 1, dtype=np.uint8)
    copy = memory[1:].view(a.dtype).reshape(a.shape)
    copy[...] = a
    return copy


def resized(a: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return an array of another shape."""
    axis = int(rng.integers(a.ndim)) if a.ndim else None
    by = int(some(rng, 0, 1, 2, a.shape[axis] + 1 if a.ndim else 1))
    ways = (
        a.reshape(-1),
        a[None],
        a[..., None],
        a.T.copy(),
        a[:0].copy() if a.ndim else a,
        np.zeros((0,) * a.ndim, a.dtype),
        np.resize(a, (by, *a.shape[1:])) if a.size else a,
        np.repeat(a, by, axis=axis),
        np.concatenate([a, a[:1]]) if a.ndim else a,
        a[:-1].copy() if a.ndim else a,
        np.array(3, dtype=a.dtype),
    )
    return some(rng, *ways)


def strided(a: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the same numbers, or some of them, in another layout; or numbers that are fixed."""
    fixed = a.copy()
    fixed.flags.writeable = False
    ways = (
        np.repeat(a, 2, axis=-1)[..., ::2] if a.ndim else a,
        np.asfortranarray(a),
        a[::-1] if a.ndim else a,
        a[::2] if a.ndim else a,
        np.broadcast_to(a.reshape(-1)[:1].reshape((1,) * a.ndim), a.shape) if a.size else a,
        unaligned(a),
        fixed,
    )
    return some(rng, *ways)


def wrong_array(a: np.ndarray, rng: np.random.Generator) -> Any:
    """Return another array, or something else."""
    way = rng.random()
    other: Any = a
    if way < 0.4:
        spoil(a, rng)
    elif way < 0.6:
        other = resized(a, rng)
    elif way < 0.8:
        other = strided(a, rng)
    elif way < 0.97:
        with np.errstate(all="ignore"), contextlib.suppress(ValueError, TypeError):
            other = a.astype(some(rng, *TYPES))
    else:
        other = some(rng, None, a.tolist(), "text", 3)
    return other


def wrong(value: Any, rng: np.random.Generator) -> Any:
    """Return another value for an argument."""
    if isinstance(value, np.ndarray):
        return wrong_array(value, rng)
    if isinstance(value, float) and rng.random() < 0.9:
        return float(some(rng, *NUMBERS))
    if isinstance(value, int) and rng.random() < 0.95:
        return some(rng, *INTEGERS)
    return some(rng, None, "text", 1.5, -1, np.zeros(3), np.zeros((2, 2), np.int32), [1, 2], value)


def leaves(args: Args) -> list[tuple[Args, str]]:
    """Return where all arguments are, those of objects as well."""
    found = [(args, name) for name in args]
    for value in args.values():
        if isinstance(value, Made):
            found += leaves(value.args)
    return found


# ------------------------------------------------------------------------------------------ calls


def make(module: Any, value: Any) -> Any:
    """Return an argument as the extension takes it."""
    if not isinstance(value, Made):
        return value
    return getattr(module, value.kind)(*(make(module, one) for one in value.args.values()))


def arguments(module: Any, rng: np.random.Generator) -> tuple[str, Args, int]:
    """Return an entry point, its arguments, and how many of them were changed."""
    names = [name for name in GOOD if name not in RARE or rng.random() < 0.1]
    name = str(some(rng, *names))
    args = GOOD[name](rng, module)
    n_wrong = int(rng.choice(4, p=(0.1, 0.6, 0.2, 0.1))) if args else 0
    for _ in range(n_wrong):
        places = leaves(args)
        where, key = places[int(rng.integers(len(places)))]
        where[key] = wrong(where[key], rng)
    return name, args, n_wrong


def show(name: str, args: Args) -> None:
    """Print what is about to be called."""
    print(name)
    for where, key in leaves(args):
        value = where[key]
        about = f", {value.dtype} {value.strides}" if isinstance(value, np.ndarray) else ""
        print(f"{key} = {value!r}{about}", flush=True)


def call(module: Any, seed: int, number: int, *, alone: bool = False) -> tuple[str, str]:
    """Do one call, and return the entry point and what came of it."""
    rng = np.random.default_rng([seed, number])
    name, args, n_wrong = arguments(module, rng)
    if alone:
        show(name, args)
    try:
        made = [make(module, value) for value in args.values()]
        if n_wrong and rng.random() < 0.1:  # objects that were opened before
            for where, key in leaves(args):
                inner = where is not args and isinstance(where[key], np.ndarray)
                if inner and rng.random() < 0.3:
                    spoil(where[key], rng)
        getattr(module, name)(*made)
    except (*REFUSALS, RuntimeError) as error:
        unknown = isinstance(error, RuntimeError) and "outside its columns" not in str(error)
        if n_wrong == 0 or unknown:
            raise
        return name, type(error).__name__
    return name, "returned"


def entry_points(module: Any) -> set[str]:
    """Return the names of all that the extension offers."""
    names = (name for name in dir(module) if not name.startswith("__"))
    return {name for name in names if callable(getattr(module, name))}


def inside(library: Path, seed: int, numbers: range, marks: Path) -> None:
    """Do calls in this process, which has the sanitizers; leave the number of each before it."""
    warnings.simplefilter("ignore")  # of types that are changed
    spec: Any = importlib.util.spec_from_file_location("_kernels", library)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if entry_points(module) != set(GOOD):
        wrong_names = sorted(entry_points(module) ^ set(GOOD))
        sys.exit(f"Entry points that are not tried, or not there: {wrong_names}")
    found: Counter[str] = Counter()
    with marks.open("w") as mark:
        for number in numbers:
            mark.seek(0)
            mark.write(f"{number:20}")
            mark.flush()
            signal.alarm(SECONDS)
            name, end = call(module, seed, number, alone=len(numbers) == 1)
            found[f"{name:16} {end}"] += 1
    for line, count in sorted(found.items()):
        print(f"{line:40} {count:8}")
    print(f"{len(numbers)} calls at {module.simd_level()}", flush=True)


def built(folder: Path) -> Path:
    """Build the extension with the sanitizers, unless it is newer than its sources."""
    import pybind11  # noqa: PLC0415

    compiler = os.environ.get("CXX", "g++")
    include = (f"-I{sysconfig.get_paths()['include']}", f"-I{pybind11.get_include()}")
    library = folder / "_kernels.so"
    newest = max(path.stat().st_mtime for path in (ROOT / "csrc").iterdir())
    if library.exists() and library.stat().st_mtime > newest:
        return library
    print("Building the extension with ASan and UBSan: minutes", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    sources = sorted((ROOT / "csrc").glob("*.cpp"))
    objects = [folder / f"{path.stem}.o" for path in sources]

    def compile_one(source: Path, to: Path) -> None:
        subprocess.run([compiler, *FLAGS, *include, "-c", source, "-o", to], check=True)  # noqa: S603

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(compile_one, sources, objects))
    subprocess.run([compiler, *FLAGS, "-shared", *objects, "-o", library], check=True)  # noqa: S603
    return library


def preloaded() -> str:
    """Return the libraries of the sanitizers, which must be loaded before all others."""
    compiler = os.environ.get("CXX", "g++")
    ask = ([compiler, f"-print-file-name={name}"] for name in LIBRARIES)
    return " ".join(subprocess.check_output(one, text=True).strip() for one in ask)  # noqa: S603


def main() -> None:
    """Build, and call at each instruction set in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--calls", type=int, default=30_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--call", type=int, help="do this one again")
    parser.add_argument("--inside", nargs=2, type=int, help=argparse.SUPPRESS)
    args = parser.parse_args()
    marks = args.folder / "call"
    if args.inside:
        inside(args.folder / "_kernels.so", args.seed, range(*args.inside), marks)
        return
    library = built(args.folder)
    surroundings = os.environ | {
        "LD_PRELOAD": preloaded(),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        "OPENBLAS_NUM_THREADS": "1",
    }
    for part, level in enumerate(LEVELS):
        ends = [args.calls * at // len(LEVELS) for at in (part, part + 1)]
        if args.call is not None:
            ends = [args.call, args.call + 1]
        command = [sys.executable, __file__, library.parent, "--seed", args.seed, "--inside", *ends]
        with_level = surroundings | ({"SPHEREMIX_SIMD": level} if level else {})
        done = subprocess.run([str(one) for one in command], env=with_level, check=False)  # noqa: S603
        if done.returncode:
            number = marks.read_text().strip()
            hangs = " It did not end." if done.returncode == -signal.SIGALRM else ""
            sys.exit(
                f"Call {number} of seed {args.seed}, level {level or 'best'}, failed.{hangs}\n"
                f"{sys.executable} {__file__} {args.folder} --seed {args.seed} --call {number}"
            )
    print(f"{args.calls if args.call is None else len(LEVELS)} calls passed")


if __name__ == "__main__":
    main()

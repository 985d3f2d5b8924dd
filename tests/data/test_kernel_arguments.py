"""Arguments that no engine gives: the kernels refuse them and never read outside an array."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from spheremix._optional import kernels

if kernels is None:
    pytest.skip("needs the compiled kernels", allow_module_level=True)

ROOT = Path(__file__).parent.parent.parent
N, D, K = 5, 3, 2


def unaligned(a):
    memory = np.zeros(a.nbytes + 1, dtype=np.uint8)
    copy = memory[1:].view(a.dtype).reshape(a.shape)
    copy[...] = a
    return copy


def scorers(**other):
    arrays = {
        "matrix": np.ones((K, D)),
        "biases": np.zeros(K),
        "begin": np.array([0, K]),
        "assignments": np.zeros(1, np.int32),
        "keys": np.zeros((1, 2), np.uint64),
        "offsets": np.zeros(1),
        "pulls": np.zeros((K, 2)),
    }
    return kernels.ScorerArrays(**(arrays | other))


def vectors(**other):
    arrays = {
        "indptr": np.array([0, 1, 3]),
        "indices": np.array([1, 0, 2], np.int32),
        "values": np.ones(3),
        "n_features": D,
    }
    return kernels.SparseVectors(**(arrays | other))


def near_arrays(members=(0, 1), place=(0, 1), far=(), **other):
    places = np.full(16 + (16 if far else 0), -1, dtype=np.int32)
    places[: len(members)] = members
    places[16 : 16 + len(far)] = far
    arrays = {
        "matrix": np.ones((len(places), D)),
        "biases": np.zeros(len(places)),
        "members": places,
        "place": np.array(place, np.int32),
        "moved": np.ones(K, bool),
        "lost": np.zeros(K),
        "grown": np.zeros(1),
        "beyond": np.ones(len(places) - 16),
        "eagerness": 1.0,
        "rounding": 0.0,
        "rounding_before": 0.0,
        "bounds": np.full((1, N), 1e30, np.float32),
        "scores": np.zeros(N),
        "known": np.zeros(N, bool),
        "owners": np.zeros(N, np.int32),
    }
    return kernels.NearArrays(**(arrays | other))


def good_calls():
    """Return arguments by name of each entry point that takes integers or arrays."""
    dense = {"x": np.ones((N, D)), "scale": np.ones(N)}
    X = sparse.csr_array(np.ones((N, D)))
    csr = {"indptr": X.indptr, "indices": X.indices, "data": X.data, "scale": np.ones(N)}
    lanes = kernels.dense_lanes(K, D)

    def swept(*axis):
        return {
            "first_row": 0,
            "scorers": scorers(),
            "weights": None,
            "negligible": 0.0,
            "vectors": np.zeros((*axis, K, D)),
            "mass": np.zeros((*axis, K)),
            "totals": np.zeros((*axis, 1, 2)),
            "in_double": True,
            "n_threads": 1,
            "rows": None,
            "margins": np.zeros((1, N)),
            "owners": np.zeros((1, N), np.int32),
        }

    listed = {
        "rows": np.array([4, 0, 4]),
        "owners": np.zeros(3, np.int32),
        "factors": np.ones(3),
        "vectors": np.zeros((K, D)),
        "mass": np.zeros(K),
        "n_threads": 1,
    }
    mapped = {"want": 2, "out": np.zeros((N, K)), "in_double": True, "n_threads": 1}
    first = {"first_row": 0, "scorers": scorers()}
    columns = {
        "vectors": vectors(),
        "biases": np.zeros(K),
        "members": np.arange(K, dtype=np.int32),
        "rows": None,
        "owners": np.zeros(N, np.int32),
        "scores": np.zeros(N),
        "seconds": np.zeros(N),
        "open": np.zeros(N, bool),
        "pulls": None,
        "weights": None,
        "in_double": True,
        "n_threads": 1,
    }
    by_column = {"first_row": 0, "vectors": vectors(), "biases": np.zeros(K), "offset": 0.0}
    owned = {"owners": np.zeros(N, np.int32), "weights": None, "n_components": K, "n_features": D}
    ways = {"in_double": True, "n_threads": 1}
    grid = {"low_x": 0.0, "low_y": 0.0, "step": 1.0}
    points = {"places": np.ones((N, 2)), "masses": np.ones(N)}
    neighbours = {"indptr": np.arange(N + 1), "indices": np.arange(N, dtype=np.int32)}
    fields = {"field_x": np.ones((6, 6)), "field_y": np.ones((6, 6))}
    steps = dict.fromkeys(("pull", "push", "momentum", "rate", "longest"), 1.0)
    moving = {"velocity": np.ones((N, 2)), "gains": np.ones((N, 2))}
    return {
        "largest": {"values": np.ones((N, D), np.float32), "own": np.zeros(N, np.int64), "k": 2},
        "map_density": points | grid | {"n_nodes": 6, "n_threads": 1},
        "map_step": points
        | neighbours
        | {"strengths": np.ones(N)}
        | fields
        | grid
        | steps
        | moving
        | {"n_threads": 1},
        "sweep_dense": dense | swept(lanes),
        "sweep_sparse": csr | swept(),
        "add_dense": dense | listed,
        "add_sparse": csr | listed,
        "map_dense": dense | first | mapped,
        "map_sparse": csr | first | mapped,
        "map_columns": csr | by_column | mapped,
        "near_dense": dense | {"arrays": near_arrays(), "weights": None} | ways,
        "sweep_columns": csr | columns,
        "sum_columns": csr | owned | {"n_threads": 1},
        "distances": {"before": np.ones((K, D)), "after": np.ones((K, D)), "n_threads": 1},
        "dots": {"vectors": np.ones((K, D)), "matrix": np.ones((K, D)), "n_threads": 1},
    }


def refuses(name, match, **other):
    """Assert that one good call is refused with some arguments changed."""
    with pytest.raises(ValueError, match=match):
        getattr(kernels, name)(**(good_calls()[name] | other))


def test_good_calls_are_good():
    for name, args in good_calls().items():
        getattr(kernels, name)(**args)


def test_the_fuzz_tries_all_that_there_is():
    spec = importlib.util.spec_from_file_location("fuzz", ROOT / "tools" / "fuzz_kernels.py")
    fuzz = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fuzz)
    assert fuzz.entry_points(kernels) == set(fuzz.GOOD)


ALL = sorted(good_calls())
DENSE, CSR = [n for n in ALL if n.endswith("dense")], ["sweep_sparse", "add_sparse", "map_sparse"]
SWEEPS = ["sweep_dense", "sweep_sparse"]
MAPS = ["map_dense", "map_sparse", "map_columns"]
SUMS = {"vectors": np.zeros((1, K, D)), "mass": np.zeros((1, K)), "totals": np.zeros((1, 1, 2))}
LISTED = np.zeros(40 * kernels.DENSE_BLOCK, np.int64)  # a list may have more rows than X
OUTSIDE = (-1.0, 4.0, 1e300, np.nan)
REFUSED = [
    (SWEEPS + MAPS, "first_row", "first_row", [-1, -(2**62), 2**62 + 1]),
    (
        [name for name in ALL if name != "largest"],
        "n_threads",
        "n_threads must be from 1 to 4096",
        [0, -1, 4097, 2**31 - 1],
    ),
    (["largest"], "k", "k must be from 1", [0, -1, D + 1, 2**62]),
    (["largest"], "k", "fewer numbers", [D]),  # one of them is left out
    (["largest"], "own", "shapes", [np.zeros(N + 1, np.int64)]),
    (["map_density"], "n_nodes", "no grid", [-1, 0, 3, 2**40]),
    (["map_density", "map_step"], "step", "no grid", [0.0, -1.0, np.nan]),
    (["map_density", "map_step"], "places", "shapes", [np.ones((N + 1, 2)), np.ones((N, 3))]),
    (["map_density", "map_step"], "places", "outside", [np.full((N, 2), x) for x in OUTSIDE]),
    (["map_step"], "field_x", "square", [np.ones((6, 5)), np.ones(6)]),
    (
        ["map_step"],
        "indptr",
        "neighbours",
        [np.zeros(N + 1, np.int64), np.arange(N + 1)[::-1].copy()],
    ),
    (
        ["map_step"],
        "indices",
        "neighbours",
        [np.full(N, j, np.int32) for j in (-1, N, 2**31 - 1)],
    ),
    (["map_step"], "gains", "shapes", [np.ones((N - 1, 2))]),
    (MAPS, "want", "wanted", [-1, 4, 2**31 - 1]),
    (["sum_columns"], "n_components", "must be from 1", [2**40]),
    (["sum_columns"], "n_features", "must be from 1", [2**31]),
    # Two threads would write to the same place.
    ([*SWEEPS, "sweep_columns"], "rows", "must increase", [np.array([3, 3])]),
    (
        [*SWEEPS, "map_dense", "map_sparse"],
        "scorers",
        "assignment",
        [scorers(assignments=np.full(1, one, np.int32)) for one in (-1, 4)],
    ),
    # Holes among components that moved far, and places of other components.
    (
        ["near_dense"],
        "arrays",
        "places",
        [
            near_arrays(far=(1, -1, 0)),
            near_arrays(far=(-1, 1)),
            near_arrays((1, 0)),
            near_arrays((0, -1, 1), (0, 2)),
            near_arrays((0,), (0, 0)),
        ],
    ),
    (
        ["near_dense"],
        "arrays",
        "fit|no such component|places",
        [
            near_arrays(owners=np.full(N, 2, np.int32)),
            near_arrays(place=(0, 16)),
            near_arrays(members=(0, 2)),
            near_arrays(biases=np.zeros(15)),
            near_arrays(bounds=np.zeros((1, N + 1), np.float32)),
            near_arrays(lost=np.zeros(3)),
            near_arrays(grown=np.zeros(2)),
        ],
    ),
    (["near_dense", "sum_columns"], "weights", "weights|numbers", [np.ones(2)]),
    (["sweep_columns"], "biases", "fit", [np.zeros(3)]),
    (["sweep_columns"], "scores", "fit", [np.zeros(N - 1)]),
    (
        ["sweep_columns"],
        "members",
        "fit|increase|no such component",
        [np.array(one, np.int32) for one in ((), (1, 0), (0, 2))],
    ),
    (
        ["sweep_columns", "sum_columns"],
        "owners",
        "fit|no such component",
        [np.full(N, 2, np.int32), np.full(N, -1, np.int32), np.zeros(N - 1, np.int32)],
    ),
    (["sweep_columns"], "pulls", "fit|numbers", [np.ones(2), np.ones((2, 2), np.float32)]),
    ([*CSR, "sum_columns"], "indptr", "indptr", [np.zeros(0, np.int32)]),
    (DENSE, "x", "two-dimensional", [np.ones(N), np.ones((N, D, 1)), np.array(1.0)]),
]


@pytest.mark.parametrize(
    ("name", "argument", "match", "values"),
    [(name, *rest) for names, *rest in REFUSED for name in names],
)
def test_arguments(name, argument, match, values):
    for value in values:
        refuses(name, match, **{argument: value})


def test_sizes_that_do_not_fit():
    rows = {"rows": LISTED, "margins": None, "owners": None}
    refuses("sweep_dense", "lanes", **rows, **SUMS)
    for other in ({"members": np.array([1], np.int32)}, {"weights": np.ones(2)}):
        refuses("sweep_columns", "all components|numbers", pulls=np.ones((K, 2)), **other)
    none = scorers(matrix=np.ones((K, 0)))
    refuses("map_dense", "do not fit together", x=np.ones((N, 0)), scorers=none)
    for other in (
        {"indptr": np.array([0, 2, 1])},
        {"indptr": np.array([0, 1, 2])},
        {"indices": np.array([1, 2, 2], np.int32)},
        {"indices": np.array([1, 0, 3], np.int32)},
        {"indices": np.array([1, 0, -1], np.int32)},
        {"values": np.ones(2)},
    ):
        with pytest.raises(ValueError, match="do not fit together"):
            vectors(**other)
    one = vectors(indptr=np.array([0, 3]), indices=np.arange(3, dtype=np.int32))
    for compare in (kernels.sparse_dots, kernels.sparse_differ):
        with pytest.raises(ValueError, match="shapes"):
            compare(vectors(), one)
    for shape in ((-1, 5), (5, -1), (0, 5), (2**62, 2**62), (2**33, 2**33)):
        with pytest.raises(ValueError, match="must be from 1"):
            kernels.dense_lanes(*shape)
    for n_features in (-1, 0, 2**31, 2**32 + 3, 2**61):
        with pytest.raises(ValueError, match="do not fit together"):
            vectors(n_features=n_features)


def test_vectors_that_changed_after_they_were_opened():
    for name in ("sweep_columns", "map_columns"):
        changed = vectors()
        changed.indices[0] = 1_000_000
        refuses(name, "do not fit together", vectors=changed)
    changed = vectors()
    changed.indptr[1] = 1_000_000
    for compare in (kernels.sparse_dots, kernels.sparse_differ):
        with pytest.raises(ValueError, match="do not fit together"):
            compare(changed, vectors())


@pytest.mark.parametrize("name", sorted(good_calls()))
def test_arrays_that_are_not_aligned(name):
    for key, value in good_calls()[name].items():
        if isinstance(value, np.ndarray) and value.dtype != bool:
            refuses(name, "aligned|contiguous", **{key: unaligned(value)})


@pytest.mark.parametrize("name", sorted(good_calls().keys() - {"distances", "dots", "map_step"}))
def test_another_byte_order(name):
    for key in ("x", "data", "indices", "out"):
        value = good_calls()[name].get(key)
        if value is not None:
            swapped = value.astype(value.dtype.newbyteorder())
            refuses(name, "float32|int32|int64", **{key: swapped})


def maximise(K=2, d=3, mode="shared", n_threads=1, kappa_max=1e6):
    parts = (np.ones((K, d)), np.full(K, 5.0), 0.5, None, mode, np.ones(K), kappa_max, 0.0, 0.0)
    return kernels.maximise(*parts, np.ones((K, d)), n_threads)


@pytest.mark.parametrize(
    ("other", "match"),
    [
        ({"K": 0}, "not empty"),
        ({"d": 0}, "not empty"),
        ({"mode": "other"}, "mode"),
        ({"kappa_max": 0.0}, "kappa_max"),
        ({"kappa_max": 1e308}, "kappa_max"),
        ({"kappa_max": np.nan}, "kappa_max"),
        ({"n_threads": 0}, "n_threads"),
        ({"n_threads": 2**31 - 1}, "n_threads"),
    ],
)
def test_the_estimation_of_parameters(other, match):
    assert len(maximise()) == 7
    with pytest.raises(ValueError, match=match):
        maximise(**other)

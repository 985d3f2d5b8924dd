"""Arguments that no engine gives: the kernels refuse them and never read outside an array."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from spheremix._optional import kernels

if kernels is None:
    pytest.skip("needs the compiled kernels", allow_module_level=True)

N, D, K = 5, 3, 2
HUGE = (-1, -(2**62), 2**62 + 1)


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


def near_arrays(members=(0, 1), place=(0, 1), far=()):
    places = np.full(16 + (16 if far else 0), -1, dtype=np.int32)
    places[: len(members)] = members
    places[16 : 16 + len(far)] = far
    return kernels.NearArrays(
        matrix=np.ones((len(places), D)),
        biases=np.zeros(len(places)),
        members=places,
        place=np.array(place, np.int32),
        moved=np.ones(K, bool),
        lost=np.zeros(K),
        grown=np.zeros(1),
        beyond=np.ones(len(places) - 16),
        eagerness=1.0,
        rounding=0.0,
        rounding_before=0.0,
        bounds=np.full((1, N), 1e30, np.float32),
        scores=np.zeros(N),
        known=np.zeros(N, bool),
        owners=np.zeros(N, np.int32),
    )


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
    return {
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


SWEEPS = ("sweep_dense", "sweep_sparse")
MAPS = ("map_dense", "map_sparse", "map_columns")


@pytest.mark.parametrize("name", [*SWEEPS, *MAPS])
@pytest.mark.parametrize("first_row", HUGE)
def test_the_number_of_the_first_row(name, first_row):
    refuses(name, "first_row", first_row=first_row)


@pytest.mark.parametrize("name", sorted(good_calls()))
@pytest.mark.parametrize("n_threads", [0, -1, 4097, 2**31 - 1])
def test_the_number_of_threads(name, n_threads):
    refuses(name, "n_threads must be from 1 to 4096", n_threads=n_threads)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("want", [-1, 4, 2**31 - 1])
def test_what_is_wanted(name, want):
    refuses(name, "wanted", want=want, out=np.zeros(N))


@pytest.mark.parametrize("name", ["sum_columns"])
@pytest.mark.parametrize("other", [{"n_components": 2**40}, {"n_features": 2**31}])
def test_numbers_of_components_and_features(name, other):
    refuses(name, "must be from 1", **other)


@pytest.mark.parametrize("shape", [(-1, 5), (5, -1), (0, 5), (2**62, 2**62), (2**33, 2**33)])
def test_the_size_of_lanes(shape):
    with pytest.raises(ValueError, match="must be from 1"):
        kernels.dense_lanes(*shape)


@pytest.mark.parametrize("n_features", [-1, 0, 2**31, 2**32 + 3, 2**61])
def test_the_features_of_sparse_vectors(n_features):
    with pytest.raises(ValueError, match="do not fit together"):
        vectors(n_features=n_features)


def test_too_few_lanes_for_the_rows_of_a_list():
    """A list may have more rows than X."""
    rows = np.zeros(40 * kernels.DENSE_BLOCK, np.int64)
    sums = {"vectors": np.zeros((1, K, D)), "mass": np.zeros((1, K)), "totals": np.zeros((1, 1, 2))}
    refuses("sweep_dense", "lanes", rows=rows, margins=None, owners=None, **sums)


@pytest.mark.parametrize("name", [*SWEEPS, "sweep_columns"])
def test_rows_that_are_listed_twice(name):
    """Two threads would write to the same place."""
    refuses(name, "must increase", rows=np.array([3, 3]))


@pytest.mark.parametrize("name", [*SWEEPS, "map_dense", "map_sparse"])
@pytest.mark.parametrize("assignment", [-1, 4])
def test_assignments_that_are_not_there(name, assignment):
    refuses(name, "assignment", scorers=scorers(assignments=np.full(1, assignment, np.int32)))


def test_components_without_features():
    none = scorers(matrix=np.ones((K, 0)))
    args = {"x": np.ones((N, 0)), "scorers": none, "out": np.zeros((N, K))}
    refuses("map_dense", "do not fit together", **args)


@pytest.mark.parametrize("far", [(1, -1, 0), (-1, 1)])
def test_holes_among_components_that_moved_far(far):
    refuses("near_dense", "places", arrays=near_arrays(far=far))


def test_places_of_other_components():
    for arrays in (near_arrays((1, 0)), near_arrays((0, -1, 1), (0, 2)), near_arrays((0,), (0, 0))):
        refuses("near_dense", "places", arrays=arrays)


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


@pytest.mark.parametrize("name", sorted(good_calls().keys() - {"distances", "dots"}))
def test_another_byte_order(name):
    for key in ("x", "data", "indices", "out"):
        value = good_calls()[name].get(key)
        if value is not None:
            swapped = value.astype(value.dtype.newbyteorder())
            refuses(name, "float32|int32|int64", **{key: swapped})


@pytest.mark.parametrize("name", ["sweep_sparse", "add_sparse", "map_sparse", "sum_columns"])
def test_pointers_without_an_entry(name):
    refuses(name, "indptr", indptr=np.zeros(0, np.int32))


@pytest.mark.parametrize("name", ["sweep_dense", "map_dense", "add_dense", "near_dense"])
def test_rows_of_other_dimensions(name):
    for x in (np.ones(N), np.ones((N, D, 1)), np.array(1.0)):
        refuses(name, "two-dimensional", x=x)


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

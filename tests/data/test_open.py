"""What users have becomes unit rows, or an error that says what to do."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import spheremix as sm
from spheremix.data import rows as opening
from spheremix.data.engines import engine_class
from spheremix.data.open import as_directions
from spheremix.data.reference import ReferenceDirections
from spheremix.data.rows import open_rows

ROWS = np.array([[3.0, 4.0, 0.0], [0.0, 0.0, -2.0], [1.0, 1.0, 1.0], [0.0, 5.0, 12.0]])
UNIT = ROWS / np.linalg.norm(ROWS, axis=1, keepdims=True)
SPARSE_ARRAYS = [
    sparse.bsr_array,
    sparse.coo_array,
    sparse.csc_array,
    sparse.csr_array,
    sparse.dia_array,
    sparse.dok_array,
    sparse.lil_array,
]
SPARSE_MATRICES = [getattr(sparse, f"{kind([[1]]).format}_matrix") for kind in SPARSE_ARRAYS]


def unit_rows(X):
    directions = as_directions(X, engine="reference")
    return directions.take(range(directions.n_rows))


def huge_and_tiny(dtype):
    exponents = (-37, 37) if dtype == np.float32 else (-305, -200, 200, 307)
    return np.concatenate([(ROWS * 10.0**e).astype(dtype) for e in (0, *exponents)])


# ----------------------------------------------------------------------------- containers


@pytest.mark.parametrize(
    "X",
    [
        ROWS,
        ROWS.tolist(),
        ROWS.astype(int),
        ROWS.astype(np.float16),
        ROWS.astype(np.longdouble),
        ROWS.astype(">f8"),
        ROWS.astype(">f4"),
        ROWS.astype(object),
        np.asfortranarray(ROWS),
        np.repeat(ROWS, 2, axis=0)[::2],
        ROWS[::-1][::-1],
        np.ma.masked_array(ROWS),
        ROWS.view(np.matrix),
        pd.DataFrame(ROWS, columns=list("abc")),
        pd.DataFrame(ROWS).astype(int),
        pd.DataFrame(ROWS).convert_dtypes(),
        pd.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(ROWS)),
        pl.DataFrame(ROWS, schema=["a", "b", "c"], orient="row"),
    ],
    ids=lambda X: f"{type(X).__name__}-{getattr(X, 'dtype', '')}",
)
def test_dense_containers(X):
    assert_allclose(unit_rows(X), UNIT, 0, 1e-7)


@pytest.mark.skipif(
    np.finfo(np.longdouble).maxexp == np.finfo(float).maxexp, reason="no longer type than float64"
)
@pytest.mark.parametrize("contain", [np.asarray, sparse.csr_array, sparse.coo_matrix])
def test_numbers_beyond_float64(contain):
    """They are neither infinities nor zeros of the user."""
    for factor in ("1e4000", "1e-4000"):
        X = ROWS.astype(np.longdouble)
        X[1] *= np.longdouble(factor)
        with pytest.raises(ValueError, match=r"dtype float\d+, and 1 row with.*beyond the range"):
            open_rows(contain(X))
    X = ROWS.astype(np.longdouble)
    X[0, 0] *= np.longdouble("1e-4000")  # nothing beside the rest of its row
    open_rows(contain(X))
    X[0, 0] = np.nan
    with pytest.raises(ValueError, match="row 0 contains NaN"):
        open_rows(contain(X))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, bool])
@pytest.mark.parametrize("contain", SPARSE_ARRAYS + SPARSE_MATRICES)
def test_sparse_containers(contain, dtype):
    X = contain(ROWS.astype(dtype))
    rows = ROWS.astype(dtype).astype(float)
    expected = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert_allclose(unit_rows(X), expected, 0, 1e-7)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_are_read_in_place(dtype, tmp_path):
    np.save(tmp_path / "rows.npy", ROWS.astype(dtype))
    for X in (
        ROWS.astype(dtype),
        np.asfortranarray(ROWS.astype(dtype)),
        ROWS.astype(dtype)[::2, ::-1],
        np.load(tmp_path / "rows.npy", mmap_mode="r"),
    ):
        rows, scale = open_rows(X)
        assert np.shares_memory(rows, X)
        assert rows.dtype == dtype
        assert scale.dtype == np.float64


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_csr_is_read_in_place(index):
    X = sparse.csr_matrix(ROWS)
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    rows, _ = open_rows(X)
    for part in ("data", "indices", "indptr"):
        assert np.shares_memory(getattr(rows, part), getattr(X, part))


def test_unaligned_rows_are_copied():
    buffer = bytearray(1 + ROWS.nbytes)
    X = np.frombuffer(buffer, dtype=float, count=ROWS.size, offset=1).reshape(ROWS.shape)
    X[:] = ROWS
    assert not X.flags.aligned
    rows, _ = open_rows(X)
    assert rows.flags.aligned
    assert_allclose(unit_rows(X), UNIT, 0, 1e-15)


def test_odd_csr_matrices():
    """Duplicates are summed, explicit zeros are entries, and the user's matrix is not changed."""
    data, indices = np.array([1.0, 2.0, 4.0, 1.0]), np.array([1, 0, 1, 0])
    X = sparse.csr_matrix((data, indices, [0, 3, 4]), shape=(2, 3))
    assert_allclose(unit_rows(X), [[2 / 29**0.5, 5 / 29**0.5, 0], [1, 0, 0]])
    assert_array_equal(X.data, [1, 2, 4, 1])
    assert_array_equal(X.indices, [1, 0, 1, 0])
    X = sparse.csr_array(ROWS)
    X.data = np.repeat(X.data, 2)[::2]
    assert open_rows(X)[0].data.flags.c_contiguous
    assert_allclose(unit_rows(X), UNIT, 0, 1e-15)
    X.data[0] = 0
    assert_allclose(unit_rows(X)[0], [0, 1, 0])
    directions = as_directions(X)
    assert as_directions(directions) is directions


# ------------------------------------------------------------------------------- norms


@pytest.mark.parametrize("contain", [np.array, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_huge_and_tiny_rows(dtype, contain):
    X = huge_and_tiny(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = unit_rows(contain(X))
    assert_allclose(
        found, np.tile(UNIT, (len(X) // 4, 1)), 0, 1e-6 if dtype == np.float32 else 1e-15
    )
    rows, scale = open_rows(contain(X))
    low, high = opening.SAFE_NORMS[np.dtype(dtype)]
    assert ((1 / scale >= low) & (1 / scale <= high)).all()
    assert rows.dtype == dtype


def test_rescaling_leaves_the_users_rows_alone():
    assert_allclose(unit_rows(np.full((1, 4), 5e-324)), 0.5)  # subnormal rows have a direction
    for X in (huge_and_tiny(float), sparse.csr_array(huge_and_tiny(float))):
        before = X.copy()
        as_directions(X)
        assert (abs(X - before)).max() == 0


@pytest.mark.parametrize("entries", [1, 7, 100])
def test_norms_do_not_depend_on_blocks(entries, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6)) * (rng.random((50, 6)) < 0.5)
    X[:, 0] = 1
    expected = open_rows(X)[1], open_rows(sparse.csr_array(X))[1]
    monkeypatch.setattr(opening, "BLOCK_ENTRIES", entries)
    assert_array_equal(open_rows(X)[1], expected[0])
    assert_array_equal(open_rows(sparse.csr_array(X))[1], expected[1])


# ------------------------------------------------------------------------------- errors


def broken(value, rows=(1, 3)):
    X = np.tile(ROWS, (3, 1))
    X[list(rows), 1] = value
    return X


@pytest.mark.parametrize("contain", [np.array, sparse.csr_matrix, sparse.coo_array, pd.DataFrame])
@pytest.mark.parametrize(
    ("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "inf")]
)
def test_entries_that_are_not_finite(value, word, contain):
    with pytest.raises(ValueError, match=f"row 1 contains {word}.*2 rows in all.*Drop"):
        as_directions(contain(broken(value)))
    with pytest.raises(ValueError, match=r"row 7 contains .* \(1 row in all\)"):
        as_directions(contain(broken(value, rows=[7])))


def test_nan_is_named_before_infinity_and_zeros():
    X = broken(np.nan)
    X[0] = 0
    X[4, 0] = np.inf
    X[1, 0] = np.inf
    with pytest.raises(ValueError, match=r"row 1 contains NaN \(2 rows"):
        as_directions(X)


@pytest.mark.parametrize("contain", [np.array, sparse.csr_matrix, pl.DataFrame])
def test_rows_of_zeros(contain):
    X = np.tile(ROWS, (3, 1))
    X[[2, 5]] = 0
    with pytest.raises(ValueError, match=r"2 rows with zeros only.*: 2, 5\. Drop them.*getnnz"):
        as_directions(contain(X))
    with pytest.raises(ValueError, match=r"12 rows with zeros only.*: 0, 1, 2, 3, 4, \.\.\.\."):
        as_directions(contain(0 * X))
    X[5] = 1
    with pytest.raises(ValueError, match=r"1 row with zeros only.*: 102\."):
        open_rows(contain(X), first_row=100)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(3), r"Expected 2D array, got 1D array instead.*Reshape your data"),
        (np.float64(1), r"Expected 2D array, got scalar array instead"),
        (np.ones((2, 2, 2)), r"Expected 2D array, got 3D array instead"),
        (sparse.coo_array(np.ones(3)), r"Expected 2D array, got 1D array instead"),
        (pd.Series([1.0, 2.0]), r"Expected 2D array, got 1D array instead"),
        (None, r"Expected 2D array, got scalar array instead"),
        (
            np.ones((0, 3)),
            r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required\.",
        ),
        (
            np.ones((3, 0)),
            r"array with 0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 2 is required\.",
        ),
        (np.ones((3, 1)), r"1 feature\(s\) \(shape=\(3, 1\)\) while a minimum of 2"),
        (sparse.csr_matrix((3, 1)), r"1 feature\(s\)"),
        (sparse.csr_matrix((0, 4)), r"0 sample\(s\)"),
        (np.array([["a", "b"]]), r"strings.*TfidfVectorizer"),
        (["some text", "other text"], r"strings.*TfidfVectorizer"),
        (np.array([["a", 1.0]], dtype=object), r"Column 0 of X holds strings"),
        (ROWS * 1j, r"Complex data not supported.*real part"),
        (sparse.csr_array(ROWS * 1j), r"Complex data not supported"),
        ([[1j, 1.0]], r"Complex data not supported"),
        (np.array([["2026-01-01"] * 2], dtype="datetime64[D]"), r"datetime64.*no real numbers"),
        (np.ma.masked_array(ROWS, ROWS == 3), r"masked"),
        (pd.Series(["a b", "c d"]), "X holds strings. Turn texts"),
        (pd.DataFrame({"text": ["a b", "c d"]}), "X holds strings. Turn texts"),
        (np.array(["a", "b"], dtype=object), "X holds strings. Turn texts"),
        (pd.Series(list(ROWS)).to_numpy(), "one array a row.*np.stack"),
        (
            pd.DataFrame({"a": [1.0, 2.0], "id": ["x", "y"]}),
            "Column 1 of X holds strings, the first one 'x'.*select_dtypes",
        ),
        (np.array([[1.0, {}]], dtype=object), "argument must be .* string.* number"),
        ("word " * 2000, r"word word.{,150}TfidfVectorizer"),
    ],
)
def test_what_is_no_table_of_numbers(X, message):
    for ask in (as_directions, sm.VMFMixture(1).fit):
        with pytest.raises((ValueError, TypeError, FileNotFoundError), match=message):
            ask(X)


def test_a_file_that_may_not_be_read_is_there(tmp_path, monkeypatch):
    def refused(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "exists", refused)
    with pytest.raises(PermissionError):
        as_directions(tmp_path / "rows.npy")


@pytest.mark.parametrize(
    ("indices", "indptr"),
    [([0, 3], [0, 1, 2]), ([0, -1], [0, 1, 2]), ([0, 1], [0, 2, 1]), ([0, 1], [0, 1, 9])],
)
def test_invalid_csr(indices, indptr):
    X = sparse.csr_matrix(np.eye(2, 3))
    X.indices, X.indptr = np.array(indices, dtype=np.int32), np.array(indptr, dtype=np.int32)
    with pytest.raises(ValueError, match=r"no valid CSR matrix of shape \(2, 3\)"):
        as_directions(X)


# ------------------------------------------------------------------------------ engines


def test_without_the_extension(monkeypatch):
    monkeypatch.setattr("spheremix._optional.kernels", None)
    assert engine_class("auto") is ReferenceDirections
    with pytest.raises(ImportError, match=r"compiler.*engine='reference'"):
        engine_class("compiled")

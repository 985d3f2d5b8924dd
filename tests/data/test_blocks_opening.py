"""Opening rows on disk: CSR folders, Parquet, iterables, and what is refused."""

from __future__ import annotations

import os
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from blocks_common import Blocks, write_csr, write_parquet
from numpy.testing import assert_array_equal
from scipy import sparse

import spheremix as sm
from spheremix.data import block_sources
from spheremix.scorer import Scorer
from spheremix.testing import assert_resultants_same_bits


def test_unsorted_and_repeated_indices(tmp_path):
    data, indices = np.array([1.0, 2.0, 4.0, 1.0]), np.array([1, 0, 1, 0])
    X = block_sources.csr_of(data, indices, np.array([0, 3, 4]), 3)
    rows = sm.as_directions(write_csr(tmp_path / "x", X))
    assert_array_equal(rows.take([0, 1]), sm.as_directions(X).take([0, 1]))
    scorer = Scorer(np.eye(3), np.zeros(3))
    for _ in range(2):
        [found], [expected] = rows.sweep([scorer]), sm.as_directions(X).sweep([scorer])
        assert_resultants_same_bits(found, expected)


def test_folder_of_parquet_files_and_a_named_column(tmp_path):
    X = np.random.default_rng(0).normal(size=(900, 4))
    for part in (0, 1, 2):
        write_parquet(tmp_path / f"part-{part}.parquet", X[300 * part : 300 * part + 300])
    rows = sm.as_directions(tmp_path)
    whole = sm.as_directions(X)
    assert_array_equal(rows.take([0, 350, 899]), whole.take([0, 350, 899]))
    table = pa.table({"a": X.tolist(), "b": (2 - X).tolist(), "text": ["x"] * 900})
    pq.write_table(table, tmp_path / "two.pq")
    chosen = sm.as_directions(tmp_path / "two.pq", column="b")
    assert_array_equal(chosen.take([5]), sm.as_directions(2 - X).take([5]))


def test_folder_of_parquet_files_of_either_ending(tmp_path):
    X = np.random.default_rng(0).normal(size=(600, 4))
    folder = tmp_path / "rows"
    folder.mkdir()
    write_parquet(folder / "a.pq", X[:250])
    write_parquet(folder / "b.parquet", X[250:])
    rows = sm.as_directions(folder)
    assert_array_equal(rows.take([0, 250, 599]), sm.as_directions(X).take([0, 250, 599]))


def test_objects_that_are_numbers():
    X = np.random.default_rng(0).normal(size=(700, 4))
    rows, whole = sm.as_directions(X.astype(object), block_rows=512), sm.as_directions(X)
    assert_array_equal(rows.take([0, 699]), whole.take([0, 699]))


def test_empty_blocks_are_passed_over():
    X = np.random.default_rng(0).normal(size=(6, 2))
    rows = sm.as_directions(Blocks(X, (4, 0, 2)))
    assert rows.n_rows == 6
    assert_array_equal(rows.take([5]), sm.as_directions(X).take([5]))


# ----------------------------------------------------------------------------------------- refusals


def test_an_iterator_is_refused():
    with pytest.raises(ValueError, match=r"iterator \(generator\).*once.*__iter__.*partial_fit"):
        sm.as_directions(block for block in [np.eye(3)])
    with pytest.raises(ValueError, match="iterator"):
        sm.VMFMixture(2).fit(iter([np.eye(3)]))


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ([], "no block"),
        ([np.eye(3), np.eye(4)], r"Block 1 has 4 columns of float64 \(dense\), the first block 3"),
        ([np.eye(3), np.eye(3, dtype=np.float32)], "Block 1 has 3 columns of float32"),
        ([np.eye(3), sparse.eye_array(3)], r"Block 1 .*\(sparse\), the first block .*\(dense\)"),
        ([np.eye(3), np.ones((2, 2, 2))], "Expected 2D array"),
    ],
)
def test_blocks_of_several_kinds(tables, message):
    class Restartable:
        def __iter__(self):
            return iter(tables)

    with pytest.raises(ValueError, match=message):
        sm.as_directions(Restartable())


@pytest.mark.parametrize("block_rows", [0, -1, 2.5, True, "many"])
def test_bad_block_rows(block_rows):
    with pytest.raises(ValueError, match="block_rows must be None or an integer >= 1"):
        sm.as_directions(np.eye(3), block_rows=block_rows)


def test_bad_paths(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no such file.*TfidfVectorizer"):
        sm.as_directions("some words")
    with pytest.raises(FileNotFoundError):
        sm.VMFMixture(2).fit("corpus.npy")
    (tmp_path / "x.npz").write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"x\.npz: rows on disk are.*load_npz"):
        sm.as_directions(tmp_path / "x.npz")
    (tmp_path / "x.npy").write_bytes(b"no array")
    with pytest.raises(ValueError, match=r"x\.npy: no array of numbers"):
        sm.as_directions(tmp_path / "x.npy")
    np.save(tmp_path / "flat.npy", np.ones(5))
    with pytest.raises(ValueError, match="Expected 2D array, got 1D"):
        sm.as_directions(tmp_path / "flat.npy")
    np.save(tmp_path / "objects.npy", np.array([[{}]]), allow_pickle=True)
    with pytest.raises(ValueError, match=r"objects\.npy: no array of numbers"):
        sm.as_directions(tmp_path / "objects.npy")


def test_bad_parquet_folders(tmp_path):
    named, plain = tmp_path / "x.parquet", tmp_path / "x"
    for folder in (named, plain):
        (folder / "year=2026").mkdir(parents=True)
        write_parquet(folder / "year=2026" / "a.parquet", np.eye(3))
    with pytest.raises(ValueError, match=r"x\.parquet: no \.parquet file directly in this folder"):
        sm.as_directions(named)
    with pytest.raises(ValueError, match=r"neither \.parquet files nor the arrays of a CSR matrix"):
        sm.as_directions(plain)
    write_parquet(named / "a.parquet", np.eye(3))
    pq.write_table(pa.table({"vector": np.eye(3).tolist()}), named / "b.parquet")
    with pytest.raises(ValueError, match=r"b\.parquet: .embedding. is no column of lists.*vector"):
        sm.as_directions(named)


def test_a_column_is_one_of_parquet(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(3))
    csr = write_csr(tmp_path / "x", np.eye(3))
    for X in (np.eye(3), [np.eye(3)], sparse.eye_array(3), tmp_path / "x.npy", csr):
        with pytest.raises(ValueError, match=r"column='vector' .*Parquet"):
            sm.as_directions(X, column="vector")


def test_bad_csr_folders(tmp_path):
    folder = write_csr(tmp_path / "x", np.eye(4))
    np.save(folder / "shape.npy", (5, 4))
    with pytest.raises(ValueError, match=r"shape\.npy does not say"):
        sm.as_directions(folder)
    np.save(folder / "shape.npy", (4, 3))
    with pytest.raises(ValueError, match="no valid CSR"):
        sm.as_directions(folder)
    np.save(folder / "data.npy", np.ones(2))
    with pytest.raises(ValueError, match="4 entries, data has 2"):
        sm.as_directions(folder)
    (folder / "shape.npy").unlink()
    with pytest.raises(ValueError, match=r"there is no shape\.npy"):
        sm.as_directions(folder)


def test_bad_parquet(tmp_path, monkeypatch):
    def write(**columns):
        pq.write_table(pa.table(columns), tmp_path / "x.parquet")
        return tmp_path / "x.parquet"

    cases = [
        ({"a": [1.0, 2.0]}, {}, "no column of lists among"),
        ({"a": [[1.0, 2.0]], "b": [[1.0, 2.0]]}, {}, "several columns of lists.*column="),
        ({"a": [[1.0, 2.0]]}, {"column": "c"}, "'c' is no column of lists"),
        ({"a": [[1.0, 2.0], [3.0, 4.0], [1.0]]}, {}, "row 2 has 1 numbers, the first row 2"),
        ({"a": [[1.0, 2.0], None]}, {}, "row 1 has no list"),
        ({"a": [[1.0, 2.0], [None, 2.0]]}, {}, "row 1 contains NaN"),
        ({"a": [["x", "y"]]}, {}, "no real numbers|strings|no numbers"),
    ]
    for columns, options, message in cases:
        with pytest.raises(ValueError, match=message):
            sm.as_directions(write(**columns), **options)
    (tmp_path / "x.parquet").write_bytes(b"no Parquet")
    with pytest.raises(ValueError, match="damaged, or no Parquet file"):
        sm.as_directions(tmp_path / "x.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match="pip install pyarrow"):
        sm.as_directions(tmp_path / "x.parquet")


def test_a_pipe_is_not_waited_for(tmp_path):
    for name in ("pipe.npy", "pipe.parquet"):
        os.mkfifo(tmp_path / name)
        with pytest.raises(OSError, match="not a regular file"):
            sm.as_directions(tmp_path / name)

"""CSR matrices whose three arrays are odd: room to spare, other types, many rows of zeros."""

from __future__ import annotations

import numpy as np
import pytest
from blocks_common import Blocks
from numpy.testing import assert_array_equal
from scipy import sparse

import spheremix as sm
from spheremix.data import rows as opening
from spheremix.data.rows import index_arrays, open_rows
from spheremix.scorer import Scorer
from spheremix.testing import assert_resultants_same_bits


def some_rows(n=700, d=9, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    X[:, 0] = 1.0
    return sparse.csr_array(X)


def with_slack(X, extra=5):
    """Return a CSR with room to spare behind its entries, as programs that append leave it."""
    data, indices = np.append(X.data, [1e6] * extra), np.append(X.indices, [3] * extra)
    return opening.csr_of(data, indices.astype(X.indices.dtype), X.indptr, X.shape[1])


def assert_reads_as(X, expected, **options):
    found, wanted = sm.as_directions(X, **options), sm.as_directions(expected)
    scorer = Scorer(5 * np.random.default_rng(1).normal(size=(3, wanted.n_features)), np.zeros(3))
    assert_resultants_same_bits(found.sweep([scorer])[0], wanted.sweep([scorer])[0])
    assert_array_equal(found.map_rows(scorer, "scores"), wanted.map_rows(scorer, "scores"))
    assert_array_equal(found.take([0, 500, -1]), wanted.take([0, 500, -1]))


def test_room_behind_the_entries_is_not_read():
    X = some_rows()
    slack = with_slack(X)
    assert_reads_as(slack, X)
    assert_reads_as(slack, X, block_rows=512)
    assert len(slack.data) == X.nnz + 5  # the user's matrix is as it was
    rows, _ = open_rows(slack)
    assert len(rows.data) == len(rows.indices) == X.nnz
    assert np.shares_memory(rows.data, slack.data)


@pytest.mark.parametrize("factor", [1.0, 1e-200])
def test_room_behind_the_entries_of_blocks(factor):
    """Small blocks are joined, and rows of extreme norms rescaled: entries only."""
    X = some_rows() * factor

    class Slack(Blocks):
        def __iter__(self):
            return map(with_slack, super().__iter__())

    assert_reads_as(Slack(X, (1, 300, 7)), X)


def test_room_behind_entries_that_repeat():
    X = opening.csr_of(np.ones(5), np.array([1, 0, 1, 2, 2]), np.array([0, 3, 4]), 3)
    assert_array_equal(open_rows(X)[0].toarray(), [[1, 2, 0], [0, 0, 1]])


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
def test_room_behind_the_entries_and_torch():
    pytest.importorskip("torch")
    X = some_rows()
    found, expected = (sm.as_directions(one, engine="torch") for one in (with_slack(X), X))
    assert_array_equal(found.take(range(700)), expected.take(range(700)))


@pytest.mark.parametrize("index", ["u4", "i2", "u1", ">i4", ">i8", "<u8"])
def test_any_integers_are_indices_and_pointers(index):
    X = some_rows()
    other = opening.csr_of(X.data, X.indices.astype(index), X.indptr.astype("i8"), 9)
    assert_reads_as(other, X)
    assert_reads_as(other, X, block_rows=512)
    if index != "u1":  # which cannot count the entries
        assert_reads_as(opening.csr_of(X.data, X.indices, X.indptr.astype(index), 9), X)


def test_pointers_are_not_narrowed():
    """Beyond 2^31 entries pointers need 64 bits, also where indices are content with 32."""
    indptr, indices = np.array([0, 2**31 + 5]), np.zeros(3, dtype=np.int32)
    for found, given in zip(index_arrays(indptr, indices), (indptr, indices), strict=True):
        assert found.dtype == np.int64
        assert_array_equal(found, given)
    narrow = index_arrays(np.array([0, 2**31 - 1]), indices)
    assert [part.dtype for part in narrow] == [np.int32, np.int32]


def test_indices_outside_the_columns_are_found_in_any_type():
    X = some_rows()
    for index, outside in (("u4", 2**31), (">i4", 9), ("u8", 2**64 - 1), ("i2", -1)):
        indices = X.indices.astype(index)
        indices[7] = outside
        with pytest.raises(ValueError, match="no valid CSR"):
            sm.as_directions(opening.csr_of(X.data, indices, X.indptr, 9))
    X.indptr = X.indptr[:-1]  # of another number of rows
    with pytest.raises(ValueError, match="no valid CSR"):
        sm.as_directions(X)


def test_rows_without_direction_are_found_together(monkeypatch):
    """Not row after row: two hundred thousand rows of zeros are named as quickly as two."""
    calls = []
    entries = opening._entries
    monkeypatch.setattr(
        opening, "_entries", lambda *arguments: calls.append(1) or entries(*arguments)
    )
    X = sparse.csr_array((5000, 4))
    with pytest.raises(ValueError, match="5000 rows with zeros only"):
        sm.as_directions(X)
    assert len(calls) < 10
    dense = np.zeros((300, 4))
    dense[5], dense[9, 2], dense[11] = 3.0, np.nan, 1e-300
    with pytest.raises(ValueError, match=r"row 9 contains NaN \(1 row in all\)"):
        sm.as_directions(sparse.csr_array(dense))


def test_blocks_that_hold_no_entry():
    empty = np.zeros((0, 2, 0)), np.zeros(0, int), np.zeros(4, int)
    with pytest.raises(ValueError, match=r"BSR matrix of shape \(6, 4\).*\(2, 0\).*Build it again"):
        sm.as_directions(sparse.bsr_array(empty, shape=(6, 4)))

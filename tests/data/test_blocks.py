"""Rows on disk: opened or refused, read in a thread, with the results of memory to the last bit."""

from __future__ import annotations

import os
import sys
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from blocks_common import Blocks, write_csr, write_parquet
from numpy.testing import assert_array_equal
from scipy import sparse

import spheremix as sm
from spheremix._optional import kernels
from spheremix.data import block_sources
from spheremix.data.block_sources import IterableSource, open_source
from spheremix.data.blocks import BlockDirections, on_grid, read_ahead
from spheremix.data.engines import engine_class
from spheremix.data.rows import open_rows
from spheremix.scorer import Scorer
from spheremix.testing import CONTAINERS, ENGINE_CHECKS, assert_resultants_same_bits

ENGINES = ["reference"] + (["compiled"] if kernels is not None else [])


@pytest.fixture
def stores(tmp_path):
    """Ways to put a table where it can be read in blocks."""

    def name(suffix=""):
        return tmp_path / f"{len(list(tmp_path.iterdir()))}{suffix}"

    def npy(X):
        np.save(path := name(".npy"), X)
        return path

    return {
        "array": lambda X: X,
        "npy": npy,
        "mapped": lambda X: np.load(npy(X), mmap_mode="r"),
        "csr": lambda X: write_csr(name(), X),
        "iterable": Blocks,
        "parquet": lambda X: write_parquet(name(".parquet"), X, row_group_size=700),
        "parquet_list": lambda X: write_parquet(name(".parquet"), X, fixed=False),
    }


def open_blocks(X, engine, *, first_row=0, n_threads=1, block_rows=None):
    return BlockDirections(
        open_source(X, block_rows), engine_class(engine), first_row=first_row, n_threads=n_threads
    )


SPARSE = ("csr_int32", "csr_int64", "csr_float32")
STORED = [("array", "strided"), ("npy", "float32"), ("csr", "csr_int64")]
STORED += [("iterable", "csr_float32"), ("iterable", "float64"), ("parquet", "float32")]
# Cut by the same code; test_same_bits_as_in_memory has all of them.
STORED += [
    pytest.param("array", container, marks=pytest.mark.slow)
    for container in CONTAINERS
    if container != "strided"
]


@pytest.mark.parametrize("check", ENGINE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("store", "container"), STORED)
def test_engine(store, container, check, stores):
    """Blocks keep what every engine keeps."""

    def make(X, *, first_row=0, n_threads=1, block_rows=512):
        place = stores[store](X)
        options = {"first_row": first_row, "n_threads": n_threads, "block_rows": block_rows}
        return open_blocks(place, ENGINES[-1], **options)

    check(make, CONTAINERS[container], np.random.default_rng(0))


# ------------------------------------------------------------------------------------ the same bits


def mixed_rows(rng, n, d):
    """Return rows of all lengths, the extreme ones included, half of their entries zero."""
    rows = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.5)
    rows[np.arange(n), np.arange(n) % d] = 1 + rng.random(n)
    rows[[3, 600, n - 1]] *= np.array([1e-30, 1e30, 1e-25])[:, None]
    return rows


def assert_same(blockwise, whole, scorers, rng):
    n = whole.n_rows
    assert (blockwise.n_rows, blockwise.n_features) == (n, whole.n_features)
    one_each = rng.exponential(size=(len(scorers), n)) * (rng.random((len(scorers), n)) < 0.8)
    for weights in (None, one_each[0], one_each):
        found = blockwise.sweep(scorers, weights)
        for one, other in zip(found, whole.sweep(scorers, weights), strict=True):
            assert_resultants_same_bits(one, other)
    for scorer in scorers:
        for want in ("labels", "posteriors", "scores", "log_density"):
            found, expected = blockwise.map_rows(scorer, want), whole.map_rows(scorer, want)
            assert found.dtype == expected.dtype
            assert_array_equal(found, expected)
    ids = [n - 1, 3, 0, 600, 3, -2]
    assert_array_equal(blockwise.take(ids), whole.take(ids))


@pytest.mark.parametrize(
    "block_rows", [700, 10**6, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 1024))]
)
@pytest.mark.parametrize(
    ("store", "container"),
    [
        *(("array", container) for container in CONTAINERS),
        *((store, "float32") for store in ("npy", "mapped", "parquet", "parquet_list")),
        ("npy", "fortran"),
        *(("csr", container) for container in SPARSE),
        *(("iterable", container) for container in ("float32", "fortran", "csr_int64")),
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_same_bits_as_in_memory(engine, store, container, block_rows, stores):
    rng = np.random.default_rng(1)
    X = CONTAINERS[container](mixed_rows(rng, 2100, 19).astype(np.float32).astype(float))
    if X.dtype == np.float64:  # beyond what float32 holds
        scale = np.ones(2100)
        scale[[5, 1500]] = 1e-150, 1e200
        X = X * scale[:, None] if isinstance(X, np.ndarray) else sparse.diags_array(scale) @ X
    whole = engine_class(engine)(*open_rows(X), n_threads=1)
    found = open_blocks(stores[store](X), engine, n_threads=2, block_rows=block_rows)
    scorers = [
        Scorer.centred(20 * rng.normal(size=(K, 19)), rng.normal(size=K) - 50, how, (7, K))
        for K, how in ((3, "soft"), (9, "hard"), (5, "drawn"))
    ]
    assert_same(found, whole, scorers, rng)


def test_norms_of_wide_rows_do_not_depend_on_blocks():
    """NumPy buffers more than 8192 columns, and its sums then depend on the row before."""
    X = np.random.default_rng(0).normal(size=(600, 9001))
    scale = open_rows(X)[1]
    assert_array_equal(open_rows(np.asfortranarray(X))[1], scale)
    for row in (0, 1, 77, 599):
        assert_array_equal(open_rows(X[row : row + 1])[1], scale[row : row + 1])


@pytest.mark.parametrize("least", [512, 1536])
@pytest.mark.parametrize("contain", [np.array, sparse.csr_array])
def test_tables_are_cut_and_joined_on_the_grid(contain, least):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    for sizes in ((1,), (6000,), (512,), (511, 1025), (5000, 1, 999), (1536, 100)):
        cut = list(on_grid(Blocks(contain(X), sizes), least))
        rows = [table.shape[0] for table in cut]
        assert all(n % 512 == 0 and n >= least for n in rows[:-1])
        assert_array_equal(np.vstack([np.asarray(sparse.csr_array(t).todense()) for t in cut]), X)


def test_large_tables_are_not_copied():
    X = np.zeros((5000, 2))
    assert all(np.shares_memory(X, table) for table in on_grid([X], 512))


# --------------------------------------------------------------------------------------- estimators


@pytest.fixture(scope="module")
def simulated():
    X, _, _ = sm.datasets.make_vmf_mixture(1500, 12, 3, overlap=0.05, sparsity=0.3, random_state=0)
    return X.astype(np.float32)


def fitted(estimator):
    """Return what a fit left, as plain values."""
    names = ("prototypes_", "labels_", "kappas_", "betas_", "exit_betas_", "column_labels_")
    return {name: getattr(estimator, name) for name in names if hasattr(estimator, name)}


@pytest.mark.parametrize(
    "store",
    [
        "npy",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("iterable", "parquet", "mapped")),
    ],
)
@pytest.mark.parametrize(
    "estimator",
    [
        sm.VMFMixture(3, n_init=2, random_state=0),
        sm.VMFMixture(3, beta=9.0, e_step="hard", init="k-means++", n_init=2, random_state=0),
        sm.VMFPath(3, n_init=2, max_steps=10, random_state=0),
        sm.VMFMixtureIC((2, 3), n_init=2, max_steps=5, random_state=0),
        sm.SphericalKMeans(3, n_init=2, init="k-means++", random_state=0),
        sm.VMFCoclustering(3, n_init=2, algorithm="saem", n_drawn=5, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__ + getattr(estimator, "e_step", ""),
)
def test_every_estimator_takes_blocks(estimator, store, stores, simulated):
    X = simulated
    if isinstance(estimator, sm.VMFCoclustering):
        X = np.abs(X) + np.kron(np.eye(3, dtype=np.float32), np.ones((500, 4), dtype=np.float32))
    weights = np.random.default_rng(0).integers(0, 3, size=len(X)).astype(float)
    expected = fitted(estimator.fit(X, sample_weight=weights))
    place = stores[store](X)
    rows = sm.as_directions(place, block_rows=512)
    found = fitted(estimator.fit(rows, sample_weight=weights))
    for name, value in expected.items():
        assert_array_equal(found[name], value)
    assert estimator.n_features_in_ == 12
    assert_array_equal(estimator.predict(rows), estimator.predict(X))
    # And what can be opened goes straight into fit.
    estimator.fit(place, sample_weight=weights)
    assert_array_equal(estimator.predict(place), expected["labels_"])


# ---------------------------------------------------------------------------------------- any store


def test_what_is_read_in_blocks(stores, monkeypatch):
    X = np.random.default_rng(0).normal(size=(600, 4))
    mapped = stores["mapped"](X)
    csr = sparse.csr_array(X)
    on_disk = block_sources.csr_of(stores["mapped"](csr.data), csr.indices, csr.indptr, 4)
    for small in (X, mapped, csr, on_disk, X.tolist()):
        assert not isinstance(sm.as_directions(small), BlockDirections)
        assert isinstance(sm.as_directions(small, block_rows=100), BlockDirections)
    for source in (Blocks(X), [X[:300], X[300:]], (csr,), str(stores["npy"](X)), stores["npy"](X)):
        assert isinstance(sm.as_directions(source), BlockDirections)
    monkeypatch.setattr(block_sources, "BLOCK_BYTES", 2048)
    for large in (mapped, mapped[10:, ::2], on_disk):
        assert isinstance(sm.as_directions(large), BlockDirections)
    for memory in (X, mapped * 2, csr):
        assert not isinstance(sm.as_directions(memory), BlockDirections)


def test_types_are_converted_block_by_block(stores):
    rng = np.random.default_rng(0)
    X = rng.integers(1, 9, size=(700, 5))
    for table in (X, X.astype(np.float16), X.astype(">f4"), X.astype(np.int8)):
        rows = sm.as_directions(stores["npy"](table))
        assert_array_equal(rows.take([0, 699]), sm.as_directions(table).take([0, 699]))
    rows = sm.as_directions(X.astype(object), block_rows=512)
    assert_array_equal(rows.take([0, 699]), sm.as_directions(X).take([0, 699]))


def test_bad_rows_are_named_by_their_global_number(stores):
    X = np.ones((3000, 4))
    X[[700, 2999]] = 0
    for store in ("npy", "iterable", "parquet"):
        with pytest.raises(ValueError, match=r"2 rows with zeros only.*: 700, 2999\."):
            sm.as_directions(stores[store](X), block_rows=512)
    X[1500, 2], X[2600, 1] = np.nan, np.nan
    for store in ("npy", "iterable", "parquet", "csr"):
        with pytest.raises(ValueError, match=r"row 1500 contains NaN \(2 rows in all\)"):
            sm.as_directions(stores[store](X), block_rows=512)


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
    for part, ending in enumerate(("parquet", "pq", "parquet")):
        write_parquet(tmp_path / f"part-{part}.{ending}", X[300 * part : 300 * part + 300])
    rows = sm.as_directions(tmp_path)
    whole = sm.as_directions(X)
    assert_array_equal(rows.take([0, 350, 899]), whole.take([0, 350, 899]))
    other = tmp_path / "other"
    other.mkdir()
    table = pa.table({"a": X.tolist(), "b": (2 - X).tolist(), "text": ["x"] * 900})
    pq.write_table(table, other / "two.pq")
    chosen = sm.as_directions(other / "two.pq", column="b")
    assert_array_equal(chosen.take([5]), sm.as_directions(2 - X).take([5]))


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


def test_iterable_is_read_no_further_than_needed():
    seen = []

    class Counting(Blocks):
        def __iter__(self):
            for table in super().__iter__():
                seen.append(len(table))
                yield table

    source = IterableSource(Counting(np.arange(1.0, 4001.0).reshape(2000, 2), (500,)), None)
    assert_array_equal(source.take(np.array([3, 600])), [[7.0, 8.0], [1201.0, 1202.0]])
    assert len(seen) == 2


def test_rows_that_change_between_two_readings():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 3))

    class Shuffled(Blocks):
        def __iter__(self):
            self.X = rng.permutation(self.X)
            return super().__iter__()

    class Growing(Blocks):
        def __iter__(self):
            self.X = np.vstack([self.X, self.X[:1]])
            return super().__iter__()

    scorer = Scorer(np.eye(3), np.zeros(3))
    for source in (Shuffled(X), Growing(X)):
        rows = sm.as_directions(source)
        with pytest.raises(RuntimeError, match=r"rows changed.*without shuffling"):
            rows.sweep([scorer])


def test_rows_that_change_before_a_few_are_taken():
    X = np.random.default_rng(0).normal(size=(1200, 3))
    source = Blocks(X.copy())
    rows = sm.as_directions(source)
    expected = rows.take([7, 1100])
    source.X[[5, 1100]] *= [[2.0], [3.0]]
    assert_array_equal(rows.take([7]), expected[:1])
    with pytest.raises(RuntimeError, match=r"rows changed .* near row 1100"):
        rows.take([7, 1100])
    source.X = X[:1000]
    for ids in ([1100], [3, 1199]):
        with pytest.raises(RuntimeError, match=r"rows changed.*without shuffling"):
            rows.take(ids)


class Refilled(Blocks):
    """Tables that are written into the same memory, one after another."""

    def __init__(self, X, sizes, make=np.asarray):
        super().__init__(X, sizes)
        self.make = make

    def __iter__(self):
        buffer = np.empty((max(self.sizes), self.X.shape[1]))
        for table in super().__iter__():
            buffer[: len(table)] = table
            yield self.make(buffer[: len(table)])
            buffer[:] = np.nan


@pytest.mark.parametrize("sizes", [(100,), (1024,), (1024, 10, 700)])
def test_tables_may_be_refilled(sizes):
    """What was read ahead, or kept to be joined, is not what is in the memory of a table later."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 3))
    scorer = Scorer(5 * rng.normal(size=(4, 3)), np.zeros(4))
    whole = sm.as_directions(X)
    for make in (np.asarray, torch.from_numpy, pd.DataFrame):
        rows = sm.as_directions(Refilled(X, sizes, make), block_rows=512)
        assert_resultants_same_bits(rows.sweep([scorer])[0], whole.sweep([scorer])[0])
        assert_array_equal(rows.map_rows(scorer, "scores"), whole.map_rows(scorer, "scores"))
        assert_array_equal(rows.take([5999, 0]), whole.take([5999, 0]))


def test_tables_in_a_list_are_not_copied():
    tables = [np.eye(3), np.eye(3)]
    for found, given in zip(IterableSource(tables, None).tables(), tables, strict=True):
        assert found is given


# --------------------------------------------------------------------------------------- the thread


def readers():
    return [thread for thread in threading.enumerate() if "spheremix-reader" in thread.name]


def test_reading_ahead_is_bounded_and_in_order():
    made = []

    def items():
        for i in range(20):
            made.append(i)
            yield i

    reader = read_ahead(items(), ahead=2)
    for i, item in enumerate(reader):
        assert item == i
        assert len(made) <= i + 4
    assert not readers()


def test_an_error_while_reading_reaches_the_caller():
    X = np.random.default_rng(0).normal(size=(3000, 3))

    class Failing(Blocks):
        def __iter__(self):
            for i, table in enumerate(super().__iter__()):
                if self.n_readings == 2 and i == 3:
                    raise OSError("the disk is gone")
                yield table

    source = Failing(X, (512,))
    rows = sm.as_directions(source, block_rows=512)
    with pytest.raises(OSError, match="the disk is gone"):
        rows.sweep([Scorer(np.eye(3), np.zeros(3))])
    assert not readers()
    assert source.n_open == 0
    assert rows.sweep([Scorer(np.eye(3), np.zeros(3))])[0].weight == 3000


def test_an_error_while_sweeping_ends_the_thread_and_closes_the_source():
    source = Blocks(np.random.default_rng(0).normal(size=(5000, 3)), (512,))
    rows = sm.as_directions(source, block_rows=512)
    with pytest.raises(ValueError, match="weights"):
        rows.sweep([Scorer(np.eye(3), np.zeros(3))], np.ones(7))
    assert not readers()
    assert source.n_open == 0

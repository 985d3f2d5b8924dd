"""Rows on disk: the results of memory to the last bit, whatever the file and its blocks."""

from __future__ import annotations

import numpy as np
import pytest
from blocks_common import Blocks, write_csr, write_parquet
from numpy.testing import assert_array_equal
from scipy import sparse

import spheremix as sm
from spheremix._optional import kernels
from spheremix.data import block_sources
from spheremix.data.block_sources import open_source
from spheremix.data.blocks import BlockDirections, on_grid
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


def test_stability_selection_takes_blocks(stores, simulated):
    path = sm.VMFPath(3, n_init=1, max_steps=5, random_state=0).fit(simulated)
    expected = sm.stability_selection(path, simulated, 5, random_state=0)
    found = sm.stability_selection(path, stores["npy"](simulated), 5, random_state=0)
    assert_array_equal(found, expected)


def test_wrong_number_of_columns_at_predict(stores, simulated):
    mixture = sm.VMFMixture(2, n_init=1, random_state=0).fit(stores["npy"](simulated))
    with pytest.raises(ValueError, match="X has 7 features, but VMFMixture is expecting 12"):
        mixture.predict(stores["npy"](simulated[:, :7]))


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

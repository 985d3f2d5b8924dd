"""Rows in the containers of other packages open as the same array does, or say what to type."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import spheremix as sm
from spheremix.data.containers import as_table
from spheremix.data.rows import open_rows

ROWS = np.random.default_rng(0).uniform(0.1, 1.0, (6, 4)).astype(np.float32)


def taken(X, **options):
    return sm.as_directions(X, n_threads=1, **options).take(np.arange(6))


WANTED = taken(ROWS)


def pandas_columns():
    pd = pytest.importorskip("pandas")
    lists = list(ROWS)
    yield pd.Series(lists)
    yield pd.Series([row.tolist() for row in ROWS], index=list("abcdef"))
    yield pd.DataFrame({"vector": lists})


def polars_columns():
    pl = pytest.importorskip("polars")
    array = pl.Series("vector", ROWS.tolist(), dtype=pl.Array(pl.Float32, 4))
    lists = pl.Series("vector", ROWS.tolist(), dtype=pl.List(pl.Float32))
    yield from (array, lists, array.to_frame(), lists.to_frame())


def arrow_columns():
    pa = pytest.importorskip("pyarrow")
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(ROWS.ravel()), 4)
    lists = pa.array(ROWS.tolist(), pa.list_(pa.float32()))
    yield from (fixed, lists, lists.cast(pa.large_list(pa.float32())))
    yield pa.chunked_array([fixed.slice(0, 2), fixed.slice(2)])
    yield pa.table({"vector": fixed})


@pytest.mark.parametrize("columns", [pandas_columns, polars_columns, arrow_columns])
def test_a_column_of_lists_is_a_table(columns):
    for column in columns():
        assert np.array_equal(taken(column), WANTED)
        assert np.array_equal(taken(column, block_rows=512), WANTED)
        model = sm.SphericalKMeans(2, n_init=1, random_state=0).fit(column)
        assert model.n_features_in_ == 4
        assert not hasattr(model, "feature_names_in_")
        assert np.array_equal(model.predict(column), model.predict(ROWS))


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_other_columns_beside_it_are_refused(package):
    library = pytest.importorskip(package)
    make = library.table if package == "pyarrow" else library.DataFrame
    with pytest.raises(ValueError, match=r"Column 'vector' of X .* give that column alone"):
        sm.as_directions(make({"name": list("abcdef"), "vector": ROWS.tolist()}))


def test_tables_without_lists_are_left_alone():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(ROWS, columns=list("abcd"))
    assert as_table(frame) is frame
    assert as_table(frame["a"]) is not None
    assert as_table(ROWS) is ROWS
    model = sm.SphericalKMeans(2, n_init=1, random_state=0).fit(frame)
    assert list(model.feature_names_in_) == list("abcd")


@pytest.mark.parametrize(
    ("lists", "said"),
    [
        ([[1.0, 2.0], [1.0, 2.0, 3.0]], "Row 1 of X has 3 numbers, the first row 2"),
        # Older versions of polars give an empty list where there is none.
        ([[1.0, 2.0], None], "Row 1 of X has (no list|0 numbers)"),
    ],
)
def test_a_row_of_another_length_is_named(lists, said):
    for package in ("pandas", "polars"):
        library = pytest.importorskip(package)
        with pytest.raises(ValueError, match=said):
            sm.as_directions(library.Series(lists))


class Tensor:
    """An array that knows nothing but DLPack."""

    def __init__(self, device=None):
        self.device = ROWS.__dlpack_device__() if device is None else device

    def __dlpack__(self, **options):
        return ROWS.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.device


class COO:
    """The part of the interface of sparse arrays of pydata that is used."""

    __module__ = "sparse.numba_backend._coo.core"

    def to_scipy_sparse(self):
        return sparse.coo_array(ROWS)


class Dataset:
    __module__ = "datasets.arrow_dataset"


@pytest.mark.parametrize(
    ("package", "make"),
    [
        ("numpy", lambda _: Tensor()),
        ("torch", lambda torch: torch.tensor(ROWS)),
        ("jax", lambda jax: jax.numpy.asarray(ROWS)),
        ("scipy", lambda _: COO()),
        ("sparse", lambda library: library.COO.from_numpy(ROWS)),
    ],
)
def test_arrays_of_other_packages(package, make):
    X = make(pytest.importorskip(package))
    wanted = taken(sparse.csr_array(ROWS)) if package in {"scipy", "sparse"} else WANTED
    assert np.array_equal(taken(X, engine="reference"), wanted)
    assert package != "numpy" or np.shares_memory(as_table(X), ROWS)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pytest.importorskip("polars").DataFrame(ROWS).lazy(), r"give X\.collect\(\)"),
        (lambda: Tensor((2, 0)), r"give torch\.from_dlpack\(X\)"),
        (Dataset, r"np\.asarray\(X\['embedding'\]\)"),
    ],
)
def test_what_is_told_what_to_type(make, message):
    for ask in (sm.as_directions, sm.VMFMixture(2).fit):
        with pytest.raises(ValueError, match=message):
            ask(make())


def test_short_floats_become_float32():
    assert open_rows(ROWS.astype(np.float16))[0].dtype == np.float32
    short = ROWS.astype(pytest.importorskip("ml_dtypes").bfloat16)
    assert np.array_equal(taken(short), taken(short.astype(np.float32)))
    assert np.array_equal(taken(short, block_rows=512), taken(short))


def test_lists_and_patterns_of_parquet_files(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    lists = pa.FixedSizeListArray.from_arrays(pa.array(ROWS.ravel()), 4)
    paths = [tmp_path / f"part-{i}.parquet" for i in range(2)]
    for path, part in zip(paths, (lists.slice(0, 2), lists.slice(2)), strict=True):
        parquet.write_table(pa.table({"vector": part}), path)
    for X in (paths, tuple(map(str, paths)), str(tmp_path / "part-*.parquet"), tmp_path):
        assert np.array_equal(taken(X), WANTED)
        assert np.array_equal(taken(X, column="vector"), WANTED)
    turned = [paths[1], paths[0]]  # in the order in which they are given
    assert np.array_equal(taken(turned), np.roll(WANTED, 4, axis=0))
    with pytest.raises(FileNotFoundError, match=r"none-\*\.parquet: no such file"):
        sm.as_directions(str(tmp_path / "none-*.parquet"))
    with pytest.raises(FileNotFoundError, match=r"absent\.parquet"):
        sm.as_directions([paths[0], tmp_path / "absent.parquet"])


def test_a_wide_parquet_file_is_told_how_to_be_loaded(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    wide = pa.table({f"x{j}": ROWS[:, j] for j in range(4)})
    parquet.write_table(wide, tmp_path / "wide.parquet")
    with pytest.raises(ValueError, match=r"pyarrow\.parquet\.read_table\(path\)"):
        sm.as_directions(tmp_path / "wide.parquet")
    assert np.array_equal(taken(parquet.read_table(tmp_path / "wide.parquet")), WANTED)

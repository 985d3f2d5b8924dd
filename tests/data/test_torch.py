"""The engine of torch: the protocol, on the CPU and on a CUDA device, and what it refuses."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import spheremix as sm
from spheremix.data.reference import ReferenceDirections
from spheremix.data.rows import open_rows
from spheremix.scorer import Scorer
from spheremix.testing import (
    CONTAINERS,
    ENGINE_CHECKS,
    assert_resultants_close,
    assert_resultants_same_bits,
)

torch = pytest.importorskip("torch", reason="pip install torch")

from spheremix.data import torch_gpu, torch_rows  # noqa: E402
from spheremix.data.torch_gpu import TorchDirections  # noqa: E402
from spheremix.data.torch_rows import open_tensor  # noqa: E402

DEVICES = ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


@pytest.fixture(autouse=True)
def one_thread():
    """The tests are small, and the threads of torch wait for each other on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def tensor_of(X, device="cpu"):
    """Return a tensor over the memory of an array or CSR matrix."""
    if not sparse.issparse(X):
        return torch_rows._shared(X).to(device)
    parts = [torch_rows._shared(part) for part in (X.indptr, X.indices, X.data)]
    return torch_rows._csr(*parts, X.shape).to(device)


# ------------------------------------------------------------------------------------ the protocol


@pytest.mark.parametrize("check", ENGINE_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("container", ["float64", "float32", "strided", "csr_int64", "csr_float32"])
@pytest.mark.parametrize("device", DEVICES)
def test_tensors(device, container, check):
    def make(X, *, first_row=0, n_threads=1):
        rows, scale = open_tensor(tensor_of(X, device))
        return TorchDirections(rows, scale, first_row=first_row, n_threads=n_threads)

    check(make, CONTAINERS[container], np.random.default_rng(0))


@pytest.mark.parametrize(
    "check", ["equals_reference", "input_unchanged", "take", "odd_shapes", "wrong_features"]
)
@pytest.mark.parametrize("container", ["float32", "fortran", "memmap", "csr_int32"])
def test_arrays(container, check):
    def make(X, *, first_row=0, n_threads=1):
        rows, scale = open_rows(X)
        return TorchDirections(rows, scale, first_row=first_row, n_threads=n_threads)

    [wanted] = [one for one in ENGINE_CHECKS if one.__name__ == f"check_{check}"]
    wanted(make, CONTAINERS[container], np.random.default_rng(0))


@pytest.fixture(scope="module")
def mixture():
    X, _, _ = sm.datasets.make_vmf_mixture(400, 12, 3, kappa=15.0, random_state=0)
    return X


def some_scorer(rng, K, d, assignment="soft"):
    return Scorer.centred(9 * rng.normal(size=(K, d)), rng.normal(size=K), assignment)


@pytest.mark.parametrize("make", [torch.tensor, lambda X: torch.tensor(X).to_sparse_coo()])
def test_tensors_go_into_fit(make, mixture):
    """Estimators end where they end on NumPy rows, and predict for tensors."""
    rows = np.where(np.abs(mixture) < 0.1, 0.0, mixture)
    expected = sm.VMFMixture(3, n_init=2, random_state=0).fit(rows)
    X = make(rows)
    found = sm.VMFMixture(3, n_init=2, random_state=0).fit(X)
    assert_allclose(found.log_likelihood_, expected.log_likelihood_, 1e-9)
    assert_array_equal(found.labels_, expected.labels_)
    assert_array_equal(found.predict(X), expected.predict(rows))
    assert found.n_features_in_ == 12
    with pytest.raises(ValueError, match="X has 3 features"):
        found.predict(torch.eye(3))


def test_every_estimator_takes_the_engine(mixture):
    dense = sm.VMFMixture(3, n_init=1, random_state=0, engine="torch").fit(mixture)
    expected = sm.VMFMixture(3, n_init=1, random_state=0).fit(mixture)
    assert_allclose(dense.prototypes_, expected.prototypes_, 0, 1e-6)
    path = sm.VMFPath(3, init=dense, engine="torch", min_relative_increase=0.2).fit(mixture)
    assert path.n_nonzero_[-1] == 3
    hard = sm.SphericalKMeans(3, random_state=0, engine="torch").fit(mixture)
    assert_allclose(
        hard.coherence_, sm.SphericalKMeans(3, random_state=0).fit(mixture).coherence_, 1e-9
    )
    corners = np.random.default_rng(0).exponential(0.1, (90, 9)) + np.kron(
        np.eye(3), np.ones((30, 3))
    )
    blocks = sm.VMFCoclustering(3, algorithm="sem", random_state=0, engine="torch").fit(corners)
    expected = sm.VMFCoclustering(3, algorithm="sem", random_state=0).fit(corners)
    assert_array_equal(blocks.labels_, expected.labels_)


def test_tensors_keep_their_device_and_are_not_copied(mixture):
    X = torch.tensor(mixture)
    directions = sm.as_directions(X)
    assert isinstance(directions, TorchDirections)
    assert directions.device == X.device
    assert directions._rows.X.data_ptr() == X.data_ptr()
    csr = X.to_sparse_csr()
    assert sm.as_directions(csr)._rows.X.values().data_ptr() == csr.values().data_ptr()


@pytest.mark.parametrize(
    ("dtype", "kept"),
    [
        (torch.int32, torch.float64),
        (torch.bool, torch.float64),
    ],
)
def test_other_types_are_converted_once(dtype, kept):
    X = torch.tensor([[3, 4], [0, 2]], dtype=dtype)
    for directions in (sm.as_directions(X), sm.as_directions(X.to_sparse_coo())):
        assert directions._rows.X.dtype == kept
        expected = sm.as_directions(X.double().numpy()).take([0, 1])
        assert_allclose(directions.take([0, 1]), expected, 1e-15)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("assignment", ["soft", "hard"])
def test_rows_of_16_bits_are_read_where_they_are(dtype, device, assignment):
    rng = np.random.default_rng(0)
    X = torch.tensor(rng.normal(size=(500, 96)), dtype=dtype, device=device)
    directions = sm.as_directions(X)
    assert directions._rows.X.data_ptr() == X.data_ptr()
    exact = sm.as_directions(X.double())
    assert_allclose(directions.take([3, 4]), exact.take([3, 4]), 1e-15)
    for n_components in (5, 300):
        prototypes, biases = rng.normal(size=(n_components, 96)), rng.normal(size=n_components)
        scorer = Scorer(prototypes, biases, assignment=assignment)
        [found], [expected] = directions.sweep([scorer]), exact.sweep([scorer])
        assert_allclose(found.vectors, expected.vectors, 0, 2e-5)
        assert_allclose(found.log_likelihood, expected.log_likelihood, 1e-6)
        for want in ("labels", "posteriors"):
            ours, theirs = (part.map_rows(scorer, want) for part in (directions, exact))
            assert_allclose(ours, theirs, 0, 1e-5)
    assert sm.as_directions(X.to_sparse_csr())._rows.X.dtype == torch.float32


def test_a_row_of_16_bits_that_overflowed_is_refused():
    X = torch.ones(4, 3, dtype=torch.float16)
    X[2, 1] = 1e6
    with pytest.raises(ValueError, match="row 2"):
        sm.as_directions(X)


def test_gradients_stay_where_they_are(mixture):
    X = torch.tensor(mixture, requires_grad=True)
    [found] = sm.as_directions(X).sweep([some_scorer(np.random.default_rng(0), 2, 12)])
    assert X.grad is None
    assert np.isfinite(found.log_likelihood)


# ------------------------------------------------------------------------- blocks, batches, runs


@pytest.mark.parametrize("assignment", ["soft", "hard", "drawn"])
def test_many_blocks(monkeypatch, assignment):
    """Sums and draws do not depend on where blocks end, dense or sparse."""
    monkeypatch.setitem(torch_rows.SPARSE_ROWS, "cpu", 64)
    monkeypatch.setitem(torch_rows.TILE, "cpu", 2048)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1300, 9)) * (rng.random((1300, 9)) < 0.6)
    rows[:, 0] += 2
    weights = rng.exponential(size=(2, 1300))
    scorers = [some_scorer(rng, K, 9, assignment) for K in (3, 5)]
    for X in (rows, sparse.csr_array(rows)):
        tested = TorchDirections(*open_tensor(tensor_of(X)))
        reference = ReferenceDirections(*open_rows(X))
        assert len(list(tested._rows.blocks(8, torch.float64))) > 2
        pairs = zip(
            tested.sweep(scorers, weights), reference.sweep(scorers, weights), scorers, strict=True
        )
        for found, expected, scorer in pairs:
            assert_resultants_close(found, expected, scorer, 1e-12)
        assert_array_equal(
            tested.map_rows(scorers[1], "labels"), reference.map_rows(scorers[1], "labels")
        )


def test_runs_cut_long_columns(monkeypatch):
    """What the kernels of a CUDA device sum: runs of the entries of a column, then the runs."""
    monkeypatch.setattr(torch_rows, "RUN", 4)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 6)) * (rng.random((50, 6)) < [1.0, 0.5, 0.1, 0.0, 0.3, 0.9])
    rows[:, 0] = 1.0
    directions = TorchDirections(*open_tensor(tensor_of(sparse.csr_array(rows))))
    entries, pointers, values = (part.numpy() for part in directions._rows.by_columns[0])
    runs, of_column = (part.numpy() for part in directions._rows.runs[0])
    assert (np.diff(runs) <= 4).all()
    assert (np.diff(runs) > 0).all()
    assert_array_equal(runs[of_column], pointers)
    shares = rng.random(50)
    sums = np.add.reduceat(values * shares[entries], runs[:-1])
    found = [sums[a:b].sum() for a, b in pairwise(of_column)]
    assert_allclose(found, shares @ rows, 0, 1e-13)


def test_kernels_get_what_fits_together(mixture):
    """Consecutive scorers of one assignment share a kernel; the rest is done without, in order."""
    directions = sm.as_directions(torch.tensor(mixture))
    rng = np.random.default_rng(0)
    kinds = ["soft", "soft", "soft", "hard", "drawn", "soft", "hard"]
    scorers = [some_scorer(rng, 3, 12, kind) for kind in kinds]
    expected = directions.sweep(scorers)
    calls = []

    def sweep(rows, scorers, weights, dtype, precision):
        calls.append((len(scorers), scorers[0].assignment))
        alone = TorchDirections(rows.X, rows.scale, precision=precision)
        assert weights is None
        assert dtype == torch.float64
        return alone._sums("plain", scorers, weights, dtype)

    def fits(rows, scorers, dtype):  # noqa: ARG001
        return sum(one.n_components for one in scorers) <= 6

    directions._kernels = SimpleNamespace(ASSIGNMENTS=("soft", "hard"), fits=fits, sweep=sweep)
    found = directions.sweep(scorers)
    assert calls == [(2, "soft"), (1, "soft"), (1, "hard")]
    for one, other, scorer in zip(found, expected, scorers, strict=True):
        assert_resultants_close(one, other, scorer, 1e-12)


# ------------------------------------------------------------------------------------- precision


def sweep_with(X, precision, scorer):
    [found] = sm.as_directions(X, engine="torch", precision=precision).sweep([scorer])
    return found


def test_precision(mixture):
    """Factors of eight bits show in the results; on the CPU tf32 is the highest."""
    X = torch.tensor(mixture, dtype=torch.float32)
    scorer = some_scorer(np.random.default_rng(1), 5, 12)
    [exact] = sm.as_directions(X.double()).sweep([scorer])
    error = {}
    for precision in ("highest", "tf32", "bf16"):
        found = sweep_with(X, precision, scorer)
        error[precision] = np.abs(found.vectors - exact.vectors).max() / np.abs(exact.vectors).max()
        assert_allclose(found.mass.sum(), 400, 1e-6)
    assert error["highest"] < 1e-6
    assert 1e-5 < error["bf16"] < 1e-2
    assert error["tf32"] == error["highest"]


def test_bf16_rounds_both_factors():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 8)).astype(np.float32)
    scorer = some_scorer(rng, 3, 8)
    rounded = torch.tensor(X).bfloat16().double().numpy()
    matrix = torch.tensor(scorer.matrix).bfloat16().double().numpy()
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    scores = rounded / norms @ matrix.T + scorer.biases + scorer.offset
    directions = sm.as_directions(torch.tensor(X), precision="bf16")
    assert_allclose(directions.map_rows(scorer, "scores"), scores, 0, 1e-4)


def test_the_settings_of_the_program_come_back(mixture, monkeypatch):
    X = torch.tensor(mixture, dtype=torch.float32)
    scorer = some_scorer(np.random.default_rng(1), 5, 12)
    expected = sweep_with(X, "highest", scorer)
    inside = []
    directions = sm.as_directions(X)
    original = torch_rows.DenseRows.scores

    def scores(*arguments):
        inside.append(torch.get_float32_matmul_precision())
        return original(*arguments)

    monkeypatch.setattr(torch_rows.DenseRows, "scores", scores)
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            [found] = directions.sweep([scorer])
        assert torch.get_float32_matmul_precision() == "medium"
        monkeypatch.setattr(torch_rows.DenseRows, "sums", None)
        with pytest.raises(TypeError):
            directions.sweep([scorer])
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)
    assert set(inside) == {"highest"}
    assert_resultants_same_bits(found, expected)


def bad(value, layout):
    X = torch.ones(9, 3, dtype=torch.float64)
    X[4:6] = 0
    X[4:6, 1] = value
    return X.to_sparse_csr() if layout == "csr" else X


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
@pytest.mark.parametrize("layout", ["strided", "csr"])
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (0.0, "2 rows with zeros only.*: 4, 5"),
        (float("nan"), "row 4 contains NaN"),
        (float("inf"), "row 4 contains infinity"),
    ],
)
def test_rows_without_direction_are_named(layout, value, message):
    with pytest.raises(ValueError, match=message):
        sm.as_directions(bad(value, layout))


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("layout", ["strided", "csr"])
def test_extreme_norms(layout, dtype):
    """Rows whose squares would be lost are read all the same, and X keeps its bits."""
    tiny, huge = (1e-40, 1e38) if dtype == torch.float32 else (1e-310, 1e300)
    base = torch.tensor([[3.0, 0.0, 4.0], [0.0, 1.0, 0.0], [1.0, 2.0, 2.0]], dtype=dtype)
    X = base * torch.tensor([[tiny], [1.0], [huge]], dtype=dtype)
    X = X.to_sparse_csr() if layout == "csr" else X
    before = X.clone()
    directions = sm.as_directions(X)
    unit = [[0.6, 0, 0.8], [0, 1, 0], [1 / 3, 2 / 3, 2 / 3]]
    assert_allclose(directions.take([0, 1, 2]), unit, 0, 1e-4 if dtype == torch.float32 else 1e-12)
    [found] = directions.sweep([Scorer(np.eye(3), np.zeros(3))])
    assert_allclose(found.mass.sum(), 3, 1e-6)
    same = X.values() == before.values() if layout == "csr" else before == X
    assert same.all()


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (torch.ones(4), {}, "2D array, got 1D"),
        (torch.ones(4, 1), {}, "minimum of 2"),
        (torch.ones(4, 2, dtype=torch.complex64), {}, "complex"),
        (torch.ones(4, 2, device="meta"), {}, r"device meta.*X\.cpu"),
        ("rows.npy", {"engine": "torch"}, "in blocks"),
        (np.eye(3), {"engine": "torch", "block_rows": 1000}, "in blocks"),
        (
            np.eye(3),
            {"engine": "torch", "precision": "high"},
            "one of highest, tf32, bf16, got 'high'",
        ),
        (np.eye(3), {"engine": "torch", "precision": "tf32"}, "float64"),
        (
            sparse.csr_array(np.eye(3, dtype=np.float32)),
            {"engine": "torch", "precision": "bf16"},
            "sparse",
        ),
        (np.eye(3), {"precision": "tf32"}, "engine='torch'"),
    ],
)
def test_what_is_refused(X, options, message):
    with pytest.raises(ValueError, match=message):
        sm.as_directions(X, **options)


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")
def test_invalid_csr_is_refused():
    X = torch.sparse_csr_tensor(
        torch.tensor([0, 1, 2]), torch.tensor([0, 7]), torch.ones(2), (2, 3), check_invariants=False
    )
    with pytest.raises(ValueError, match="no valid CSR tensor"):
        sm.as_directions(X)


def test_missing_torch_names_the_extra():
    code = """
import sys
import numpy as np, spheremix as sm

class Without:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")

sys.meta_path.insert(0, Without())
try:
    sm.as_directions(np.eye(3), engine="torch")
except ImportError as error:
    assert "pip install torch." in str(error), error
else:
    sys.exit("no error")
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)  # noqa: S603
    assert done.returncode == 0, done.stderr


def test_the_engine_imports_no_triton_on_the_cpu():
    assert torch_gpu._kernels(torch.empty(2, 2)) is None

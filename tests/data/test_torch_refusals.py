"""What the engine of torch refuses, and in which words."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

import spheremix as sm
from spheremix.scorer import Scorer

torch = pytest.importorskip("torch", reason="pip install torch")

from spheremix.data import torch_gpu  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread():
    """The tests are small, and the threads of torch wait for each other on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


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


def test_what_is_refused():
    with pytest.raises(ValueError, match="2D array, got 1D"):
        sm.as_directions(torch.ones(4))
    with pytest.raises(ValueError, match="minimum of 2"):
        sm.as_directions(torch.ones(4, 1))
    with pytest.raises(ValueError, match="complex"):
        sm.as_directions(torch.ones(4, 2, dtype=torch.complex64))
    with pytest.raises(ValueError, match=r"device meta.*X\.cpu"):
        sm.as_directions(torch.ones(4, 2, device="meta"))
    with pytest.raises(ValueError, match="in blocks"):
        sm.as_directions("rows.npy", engine="torch")
    with pytest.raises(ValueError, match="in blocks"):
        sm.as_directions(np.eye(3), engine="torch", block_rows=1000)
    with pytest.raises(ValueError, match="X has 3 features"):
        sm.VMFMixture(1, n_init=1).fit(torch.eye(4)).predict(torch.eye(3))


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
    assert "pip install torch" in str(error), error
else:
    sys.exit("no error")
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)  # noqa: S603
    assert done.returncode == 0, done.stderr


def test_the_engine_imports_no_triton_on_the_cpu():
    assert torch_gpu._kernels(torch.empty(2, 2)) is None

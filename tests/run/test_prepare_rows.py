"""Which rows of a matrix have a direction."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from spheremix.run.prepare import check_rows

from spheremix.text.matrices import Matrix


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.float32])
@pytest.mark.parametrize("contain", [np.asarray, sparse.csr_array])
def test_the_least_integer_is_not_empty(dtype, contain):
    """Its absolute value overflows: in int8, abs(-128) is -128, which is less than 0."""
    least = -1e30 if dtype == np.float32 else np.iinfo(dtype).min
    X = np.array([[least, 0, 0], [0, 0, 0], [1, 2, 0], [0, least, 1]], dtype=dtype)
    kept, reasons = check_rows(Matrix(contain(X), None, "rows.npy", "embeddings", [], ""))
    assert kept.tolist() == [0, 2, 3]
    assert reasons == {1: "empty row"}

"""Tables that are read in blocks: restartable blocks of rows, and files on disk."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse


class Blocks:
    """Tables of the rows of X, of the sizes asked for, as often as one likes."""

    def __init__(self, X, sizes=(1, 700, 3, 129)):
        self.X, self.sizes, self.n_readings, self.n_open = X, sizes, 0, 0

    def __iter__(self):
        self.n_readings += 1
        self.n_open += 1
        start = number = 0
        try:
            while start < self.X.shape[0]:
                stop = start + self.sizes[number % len(self.sizes)]
                yield self.X[start:stop]
                start, number = stop, number + 1
        finally:
            self.n_open -= 1


def write_csr(folder, X):
    folder.mkdir()
    X = sparse.csr_array(X)
    for name in ("data", "indices", "indptr", "shape"):
        np.save(folder / f"{name}.npy", getattr(X, name))
    return folder


def write_parquet(path, X, fixed=True, **options):
    values = pa.array(np.ascontiguousarray(X).ravel())
    if fixed:
        lists = pa.FixedSizeListArray.from_arrays(values, X.shape[1])
    else:
        lists = pa.ListArray.from_arrays(np.arange(len(X) + 1, dtype=np.int32) * X.shape[1], values)
    table = pa.table({"id": np.arange(len(X)), "embedding": lists})
    pq.write_table(table, path, **options)
    return path

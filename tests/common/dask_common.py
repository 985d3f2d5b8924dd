"""What the tests of Dask share: an array in chunks, and a mixture to sweep it with."""

from __future__ import annotations

from itertools import pairwise

import dask.array as da
import numpy as np
from dask.delayed import delayed
from scipy import sparse

import spheremix as sm
from spheremix.scorer import Scorer

QUIET = {"dashboard_address": ":0", "silence_logs": "CRITICAL"}


def in_chunks(X, cuts):
    """Return a Dask array whose blocks are slices of X, of its own type."""
    bounds = [0, *cuts, X.shape[0]]
    meta = type(X)((0, 0), dtype=X.dtype) if sparse.issparse(X) else np.empty((0, 0), X.dtype)
    blocks = [
        da.from_delayed(delayed(X[a:b]), (b - a, X.shape[1]), meta=meta)
        for a, b in pairwise(bounds)
    ]
    return da.concatenate(blocks)


def a_mixture(n=6000, d=30, seed=0):
    X, _, truth = sm.datasets.make_vmf_mixture(n, d, 4, kappa=20.0, random_state=seed)
    scorer = Scorer.centred(20.0 * truth.prototypes, np.log(truth.weights))
    return X, scorer
